"""Programs across an emulated path."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _trunkline
from ._lazy import Lazy
from ._paths import PathLike, path_of
from ._program import program
from ._results import Result
from ._text import File

if TYPE_CHECKING:
    from . import documents
else:
    documents = Lazy("trunkline.documents")

NEAR = "198.18.0.1"
"""Address of the near host."""
FAR = "198.18.0.2"
"""Address of the far host."""


class EmulatedPath:
    """A path between two hosts that are namespaces of this host, until its `with` block is over.

    Programs on it know each other's hosts as `near` and `far`.
    """

    def __init__(self, core: _trunkline.Emulated) -> None:
        """For `emulate`."""
        self._core = core
        self._processes: list[subprocess.Popen[Any]] = []
        self._commands: list[str] = []

    @property
    def is_default_congestion(self) -> bool:
        """Programs that choose none use the congestion control of the path's hosts."""
        return self._core.is_default_congestion

    def popen(
        self, command: Sequence[File], *, host: Literal["near", "far"] = "near", **further: Any
    ) -> subprocess.Popen[Any]:
        """Starts a program on one of the hosts.

        Args:
            command: The program with its arguments.
            host: Where it runs.
            further: What `subprocess.Popen` takes.

        Returns:
            The process, which ends with the path at the latest.
        """
        words = [os.fspath(word) for word in command]
        if host not in ("near", "far"):
            raise ValueError(f"`{host}` is no host of a path: there are near and far")
        outcome: list[Any] = []

        def start() -> None:
            # The thread goes to the host for good, and what it starts is there as well.
            try:
                self._core.enter(host == "far")
                argv = [program(), "emulate-init", "--", *words]
                outcome.append(subprocess.Popen(argv, **further))
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=start, name=f"trunkline-{host}")
        thread.start()
        thread.join()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        self._processes.append(outcome[0])
        self._commands.append(" ".join(words))
        process: subprocess.Popen[Any] = outcome[0]
        return process

    def run(
        self,
        command: Sequence[File],
        *,
        host: Literal["near", "far"] = "near",
        input: Any = None,
        timeout: float | None = None,
        check: bool = False,
        **further: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Runs a program on one of the hosts, as `subprocess.run` does.

        Args:
            command: The program with its arguments.
            host: Where it runs.
            input: What it reads.
            timeout: How long it may take, in seconds.
            check: Whether to raise `CalledProcessError` where it fails.
            further: What `subprocess.Popen` takes, and `capture_output`.
        """
        if further.pop("capture_output", False):
            further |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if input is not None:
            further["stdin"] = subprocess.PIPE
        process = self.popen(command, host=host, **further)
        try:
            out, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        done = subprocess.CompletedProcess(command, process.returncode, out, errors)
        if check:
            done.check_returncode()
        return done

    def counters(self) -> Result[documents.EmulateDocument]:
        """What went over the path until now, as a document."""
        return Result(self._core.counters(self._commands))

    def close(self) -> None:
        """Ends what runs on the path, and takes it down."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self._core.close()

    def __enter__(self) -> EmulatedPath:
        """The path."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()


def emulate(path: PathLike, *, seed: int = 1) -> EmulatedPath:
    """Brings a path up, so that programs can run across it. Needs root.

    ```python
    with emulate("slac-cern") as path:
        server = path.popen(["iperf3", "-s", "-1"], host="far")
        path.run(["iperf3", "-c", "far", "-P", "8"], check=True)
    ```

    Args:
        path: A named path, a path file, or a `Path`.
        seed: Decides which packets are lost.

    Raises:
        RunError: The user lacks a right, or the kernel a part.
    """
    return EmulatedPath(_trunkline.Emulated.up(path_of(path), seed, program()))
