"""Campaigns: millions of files between many hosts, in shards that any engine can run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _text, _trunkline
from ._call import Call, OnProgress, Operation
from ._lazy import Lazy
from ._record import Record
from ._text import File, Time

if TYPE_CHECKING:
    import distributed

    from . import _dask
else:
    distributed, _dask = Lazy("distributed"), Lazy("trunkline._dask")


def _told(done: _trunkline.Done) -> Record:
    """What a call found, by the names of the program's JSON."""
    return Record(json.loads(done.told or "{}"))


def _asked(folder: File, host: str | None, patience: Time, wait: bool) -> dict[str, Any]:
    return {
        "folder": os.fspath(folder),
        "host": host,
        "patience": _text.span(patience),
        "wait": wait,
    }


def _plan(
    plan: File,
    folder: File,
    *,
    host: str | None = None,
    threads: int = 8,
    on_progress: OnProgress | None = None,
) -> Call[Campaign]:
    """Walks the sources of a plan and cuts what they have into shards.

    A second plan in the same folder holds only what is new or changed.

    Args:
        plan: The plan, a TOML file: `docs/reference/campaign-plan.md`.
        folder: Where the campaign is kept; made where there is none.
        host: Which host of the plan this machine is.
        threads: Threads that walk; more than processors help where folders are on a network.
        on_progress: Told of the names found, on the thread that waits.

    Returns:
        The campaign; its `planned` counts names and bytes of each group, and has notes.
    """

    def build(done: _trunkline.Done) -> Campaign:
        campaign = Campaign(folder)
        campaign.planned = _told(done)
        return campaign

    core = _trunkline.start_campaign_plan(os.fspath(plan), os.fspath(folder), host, threads)
    return Call(core, build, on_progress)


def _run_shard(
    folder: File,
    shard: str,
    *,
    host: str | None = None,
    patience: Time = 120,
    wait: bool = False,
    on_progress: OnProgress | None = None,
) -> Call[Record]:
    """Copies one shard, or goes on with it. What is at the destination is not sent again.

    Args:
        folder: The campaign's folder.
        shard: The shard's name, as `raw-1-00001`.
        host: Which host of the plan this machine is.
        patience: How long a far end may be gone before the run ends unfinished, in seconds.
        wait: Wait for a process that runs the same shard, instead of ending unfinished.
        on_progress: Told of what happens, on the thread that waits.

    Returns:
        What became of it: names, bytes and digests, as `result.json` of the shard has them.

    Raises:
        NotFinished: Some was not tried; the same call goes on.
        IncompleteCopy: All was tried, and some files failed; `partial` counts them by cause.
    """
    core = _trunkline.start_campaign_shard(_asked(folder, host, patience, wait), shard)
    return Call(core, _told, on_progress)


class Campaign:
    """A campaign in its folder.

    Args:
        folder: What `Campaign.plan` or `trunkline campaign plan` made.
    """

    planned: Record | None = None
    """What the plan found, of a campaign that was planned by this object."""

    plan = Operation(_plan)
    run_shard = Operation(_run_shard)

    def __init__(self, folder: File) -> None:
        """Opens it; its files are read when they are asked for."""
        self._core = _trunkline.Campaign.open(os.fspath(folder))

    @property
    def folder(self) -> str:
        """The folder, from `/`."""
        return self._core.path

    def shards(self) -> list[Record]:
        """All shards, in the order in which they are to run.

        Each has its name, group, link, priority, names, bytes, the hosts where it can run, and
        whether it is left, done or failed.
        """
        return [Record(shard) for shard in json.loads(self._core.shards())]

    def status(self) -> Record:
        """Where it stands: each link with rate, verdict and time left; failures by cause."""
        return Record(json.loads(self._core.status()))

    def run(
        self,
        *,
        link: str | None = None,
        host: str | None = None,
        patience: Time = 120,
        wait: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Record:
        """Runs all shards that are left from this process, without an engine.

        Args:
            link: Only those of this link.
            host: Which host of the plan this machine is.
            patience: How long a far end may be gone before a shard ends unfinished, in seconds.
            wait: Wait for processes that run the same shards.
            on_progress: Told of what happens.

        Returns:
            The status afterwards.

        Raises:
            NotFinished: Some shards are left; the same call goes on.
            IncompleteCopy: Some files failed.
        """
        core = _trunkline.start_campaign_run(_asked(self.folder, host, patience, wait), link)
        return Call(core, _told, on_progress).result()

    def run_on(
        self,
        client: distributed.Client,
        *,
        patience: Time = 120,
        wait_for_workers: float = 600.0,
        on_progress: Callable[[_dask.OnDask], object] | None = None,
    ) -> _dask.OnDask:
        """Runs all shards that are left on the workers of a Dask cluster.

        Each shard is one task. A worker that is named like a host of the plan (`slac`, or `slac-1`
        and so on) runs the shards that have an end there; a group whose plan names no host for one
        end runs on any worker. All of them see the campaign's folder under the same name. A link
        has as many tasks at once as the plan gives it copies, over all campaigns of the cluster
        that have a link of this name with this number.

        Workers may die, and so may the scheduler: the same call goes on, and what is at the
        destination is not sent again. Ctrl-C ends all tasks cleanly.

        Args:
            client: The cluster's client.
            patience: How long a far end may be gone before a shard is put back, in seconds.
            wait_for_workers: How long a shard waits for a worker that may run it, in seconds: until
                a batch system starts the first one, say, or one that was lost is back.
            on_progress: Told each time a shard ends.

        Returns:
            What was done.

        Raises:
            NotFinished: Some shards are left; the same call goes on.
            IncompleteCopy: Some files failed.
        """
        return _dask.run_on(self, client, patience, wait_for_workers, on_progress)

    def verify(
        self,
        *,
        host: str | None = None,
        patience: Time = 120,
        on_progress: OnProgress | None = None,
    ) -> Record:
        """Has both ends read every file that was copied, and compares their digests.

        Args:
            host: Which host of the plan this machine is.
            patience: How long a far end may be gone, in seconds.
            on_progress: Told of what is compared.

        Raises:
            IncompleteCopy: They differ, or something was not copied; `partial` says what.
        """
        core = _trunkline.start_campaign_verify(_asked(self.folder, host, patience, False))
        return Call(core, _told, on_progress).result()

    def pause(self) -> None:
        """Nothing starts until `resume()`, and what runs ends cleanly within a second."""
        self._core.pause()

    def resume(self) -> None:
        """Ends a pause."""
        self._core.resume()

    def cancel(self) -> None:
        """Nothing starts any more, and what runs ends cleanly. What arrived stays."""
        self._core.cancel()

    def retry(self) -> int:
        """Has the next run try files again that failed; gives the number of their shards."""
        return self._core.retry()

    def slurm_script(
        self,
        link: str,
        *,
        program: File = "trunkline",
        host: str | None = None,
        partition: str | None = None,
        licence: str | None = None,
        tasks: int = 1000,
        time: str | None = None,
    ) -> str:
        """A script for `sbatch` that runs the shards of a link as an array.

        Args:
            link: The link.
            program: The program as the nodes have it.
            host: Which host of the plan the nodes are.
            partition: The partition; the default one without.
            licence: A licence that each task takes one of.
            tasks: Most tasks; shards are dealt to them in turn.
            time: The longest time of a task, as Slurm takes it.
        """
        return self._core.slurm_script(
            link, os.fspath(program), host, partition, licence, tasks, time
        )

    def __reduce__(self) -> tuple[type[Campaign], tuple[str]]:
        """By its folder."""
        return type(self), (self.folder,)

    def __repr__(self) -> str:
        """Its folder."""
        return f"<Campaign {self.folder}>"
