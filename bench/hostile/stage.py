"""Where a case plays: a folder of its own, the processes that it starts, and what is asked of all of them."""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "crash"), str(HERE.parent / "copy"), str(HERE.parent)]

from ends import at, listens, loopback, wait_for
from trial import free_port

import talking
from watching import Result, Watch, end, look, status, without_own_words

# Generous: what takes longer hangs, what has more grows without bound. No case asserts that something is fast.
SECONDS = 75
MIB = 1 << 20
MEMORY = 160 * MIB
# Ends of the kernel's trouble with a program, and of Rust's.
CRASHES = "panicked at", "stack backtrace", "RUST_BACKTRACE", "memory allocation of", "core dumped"


@dataclasses.dataclass(frozen=True)
class Case:
    """One bad input or one hostile sequence. `play(stage)` raises where something is not as it should be."""

    group: str
    name: str
    play: object
    finding: str = ""
    long: bool = False

    @property
    def whole_name(self):
        return f"{self.group}/{self.name}"


class Server:
    """A `trunkline serve`."""

    def __init__(self, stage, process, port, token, log):
        self.stage, self.process, self.port, self.token, self.log = stage, process, port, token, log
        self.watch = Watch(process)

    @property
    def at(self):
        return at(self.port)

    def near(self):
        near = talking.Near(self.port, self.token)
        self.stage.closes.append(near.close)
        return near

    def said(self):
        return self.log.read_text(errors="replace")

    def threads(self):
        return status(self.process.pid, "Threads")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def check(self):
        """It is still there, and serves."""
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}: {self.said()[-600:]}"
        self.watch.look()


def as_user(user):
    """Words for a process of another user."""
    return {"user": user, "group": user, "extra_groups": []} if user is not None else {}


class Stage:
    def __init__(self, bench, case):
        self.bench = bench
        self.folder = bench.folder / re.sub(r"[^\w.-]+", "-", case.whole_name)
        self.world, self.root = self.folder / "world", self.folder / "root"
        self.closes, self.servers, self.results, self.fars = [], [], [], []
        self.allowed_memory = MEMORY
        for folder in (self.world / "dst", self.root):
            folder.mkdir(parents=True)
        self.token_file = self.folder / "token"
        self.write(self.token_file, bench.token, 0o600)
        # What must never change, here and beside a served folder.
        self.write(self.world / "dst/thesis.tex", "years of work")
        self.write(self.world / "canary", "as it was")
        self.write(self.folder / "outside/canary", "as it was")
        self.before = look(self.world)
        self.outside = look(self.folder / "outside")

    def write(self, path, content, mode=0o644):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    # --- processes ----------------------------------------------------------------------------------------------------------

    def environment(self, more=()):
        home = {name: str(self.folder / "home") for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
        return {**os.environ, **home, "RUST_BACKTRACE": "0", **dict(more)}

    def start(self, *words, cwd=None, environment=(), user=None):
        """A program with what it says in pipes."""
        process = subprocess.Popen(
            [str(word) if not isinstance(word, bytes) else word for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or self.world,
            env=self.environment(environment),
            start_new_session=True,
            **as_user(user),
        )
        self.closes.append(lambda: end(process))
        return process

    def finish(self, process, seconds=SECONDS):
        watch = Watch(process)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise AssertionError(
                f"did not end within {seconds} s: {process.stderr.read()[-500:] if process.stderr else ''}"
            ) from None
        result = Result(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), watch.peak)
        self.results.append(result)
        return result

    def run(self, *words, seconds=SECONDS, **more):
        return self.finish(self.start(self.bench.trunkline, *words, **more), seconds)

    def start_copy(self, *words, **more):
        options = ["--no-history", "--json", "--patience", "1s"]
        return self.start(self.bench.trunkline, "copy", *options, *words, **more)

    def copy(self, *words, seconds=SECONDS, **more):
        return self.finish(self.start_copy(*words, **more), seconds)

    def serve(self, *options, rights="rw", token_line="", user=None, umask=0o022):
        tokens = self.folder / "tokens"
        name, secret = self.bench.token.strip().removeprefix("tl1-").rsplit("-", 1)
        self.write(tokens, f"{name} {rights} {secret} {token_line}\n", 0o600)
        if user is not None:
            os.chown(tokens, user, user)
        words = ["serve", "--root", self.root, "--tokens", tokens, *options]
        return self.listening(lambda port: [*words, "-B", loopback(port), "-p", port], umask=umask, **as_user(user))

    def listening(self, words, kind=Server, **more):
        """A program of which `words(port)` says how it listens there."""
        for _ in range(5):
            server = self.try_to_listen(words, kind, more)
            if wait_for(lambda: listens(server.port) or server.process.poll() is not None, 30) and server.process.poll() is None:
                self.servers.append(server)
                return server
            # Others on this host take ports too.
            if "in use" not in server.said():
                break
            server.log.unlink()
        raise AssertionError(f"the server did not start: {server.said()}")

    def try_to_listen(self, words, kind, more):
        port, log = free_port(), self.folder / f"server-{len(self.servers)}.log"
        with open(log, "ab") as file:
            process = subprocess.Popen(
                [self.bench.trunkline, *map(str, words(port))],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd=self.folder,
                env=self.environment(),
                start_new_session=True,
                **more,
            )
        self.closes.append(lambda: end(process))
        return kind(self, process, port, self.bench.token, log)

    def far(self, script, kind=talking.Far, **more):
        far = kind(self.bench.token, script, **more)
        self.closes.append(far.close)
        self.fars.append(far)
        return far

    def get(self, far, path="notes.txt", *options, to="dst", **more):
        """What a user asks of a far end that may be hostile."""
        return self.copy(f"trunkline://{far.at}/{path}", to, "--token-file", self.token_file, *options, **more)

    def put(self, far, source, *options, to="", **more):
        return self.copy(source, f"trunkline://{far.at}/{to}", "--token-file", self.token_file, *options, **more)

    # --- what is asked ------------------------------------------------------------------------------------------------------

    def expect(self, result, code=1, told=(), never=()):
        said = result.err + result.out
        assert code is None or result.code == code, f"ended with {result.code}, not {code}: {result.err[-600:]}"
        for part in [told] if isinstance(told, str) else told:
            assert part in said, f"nothing says `{part}`: {result.err[-600:]}"
        for part in never:
            assert part not in said, f"it says `{part}`"

    def expect_world(self, *new):
        """Nothing in the user's folders has changed or come but these."""
        now = look(self.world)
        for name in sorted(set(now) | set(self.before)):
            is_known = any(name == one or name.startswith(one + "/") for one in new)
            assert is_known or now.get(name) == self.before.get(
                name
            ), f"`{name}` was {self.before.get(name)} and is {now.get(name)}"

    def file_errors(self):
        return [error for far in self.fars for error in far.errors]

    def settle(self):
        """What holds for each case, whatever it is about."""
        for server in self.servers:
            server.check()
            assert server.watch.peak < self.allowed_memory, f"the server took {server.watch.peak / MIB:.0f} MiB"
        for result in self.results:
            assert result.peak < self.allowed_memory, f"the command took {result.peak / MIB:.0f} MiB"
            assert result.code in (
                0,
                1,
                2,
                75,
                -signal.SIGINT,
                -signal.SIGTERM,
                -signal.SIGKILL,
            ), f"ended with {result.code}: {result.err[-300:]}"
        said = [result.err + result.out for result in self.results] + [server.said() for server in self.servers]
        for text in said:
            for crash in CRASHES:
                assert crash not in text, f"`{crash}`: {text[text.index(crash) - 100:][:500]}"
        # JSON repeats the user's own command as it was given.
        told = [result.err + without_own_words(result.out) for result in self.results] + [server.said() for server in self.servers]
        assert not any(sign in text for text in told for sign in "\x1b\u202e"), "a terminal is steered"
        assert self.outside == look(self.folder / "outside"), "something outside the served folder changed"
        assert not self.file_errors(), f"the peer broke: {self.file_errors()}"

    def close(self):
        for close in reversed(self.closes):
            close()
        shutil.rmtree(self.folder, ignore_errors=True)
