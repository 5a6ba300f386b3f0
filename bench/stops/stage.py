"""Where the trials take place: namespaces of their own with servers, a silent host, and one that drops all packets."""

import itertools
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "copy")]

import tools
from ends import listens, wait_for

MARK = "TRUNKLINE_STOP"
SERVER, SECOND, ONE_COPY, COLLECTOR, SILENT, CLOSED = 5201, 5202, 5203, 5204, 7000, 7001
# Packets to this address go into a pair of devices whose other end is not the one that they are for.
DROPPED = "10.99.0.2"


def in_own_namespaces():
    """Starts again where no process, port, mount or file in /tmp of this host is met."""
    if os.environ.get("TRUNKLINE_STOPS") != "inside":
        command = ["unshare", "--net", "--mount", "--propagation", "private", "--pid", "--fork", "--mount-proc",
                   "--kill-child", sys.executable, *sys.argv]
        os.execvpe("unshare", command, {**os.environ, "TRUNKLINE_STOPS": "inside"})
    for words in (["ip", "link", "set", "lo", "up"], ["mount", "-t", "tmpfs", "none", "/tmp"],
                  ["ip", "link", "add", "hole", "type", "veth", "peer", "name", "other"],
                  ["ip", "link", "set", "hole", "arp", "off", "up"], ["ip", "link", "set", "other", "up"],
                  ["ip", "addr", "add", "10.99.0.1/24", "dev", "hole"]):
        subprocess.run(words, check=True)


class Stage:
    """What all trials share, below a folder."""

    def __init__(self, folder, program, seed):
        self.folder, self.program, self.helpers = folder, program, []
        self.ports, self.drawn = itertools.count(20000), random.Random(seed)
        self.keys, self.files = folder / "keys", folder / "files"

    def __enter__(self):
        self.keys.mkdir()
        tools.prepare_keys(self.keys)
        config = self.keys / "sshd_config"
        config.write_text(config.read_text() + f"AcceptEnv {MARK}\n")
        (self.files / "many").mkdir(parents=True)
        for number in range(10_000):
            (self.files / "many" / f"file-{number}").write_bytes(b"x" * (number % 700))
        (self.files / "large").mkdir()
        for name in "ab":
            (self.files / "large" / name).write_bytes(self.drawn.randbytes(32_000_000))
        for name in ("me", "a", "b"):
            made = subprocess.run([self.program, "serve", "--tokens", self.folder / "tokens", "--new-token", name],
                                  check=True, capture_output=True, text=True)
            self.token(name).write_text(made.stdout)
            self.token(name).chmod(0o600)
        tokens = self.folder / "tokens"
        tokens.write_text("".join(f"{line} to=127.0.0.1:{SECOND},127.0.0.1:{SILENT}\n" for line in tokens.read_text().splitlines()))
        self.serve(SERVER)
        self.serve(SECOND)
        self.serve(ONE_COPY, "--copies", "1")
        # It holds the one place for a copy.
        self.start(*self.copy(self.files / "large", self.at(ONE_COPY, "held"), "--max-rate", "100k"))
        self.start("/usr/sbin/sshd", "-D", "-e", "-f", self.keys / "sshd_config")
        self.watch_plan(self.folder, 5299)
        self.start(self.program, "watch", "serve", self.folder / "watch.toml", "--tokens", tokens, "--database",
                   self.folder / "watch.db", "-p", COLLECTOR)
        self.silent()
        ready = lambda: all(map(listens, (SERVER, SECOND, ONE_COPY, COLLECTOR, SILENT, tools.SSH_PORT)))  # noqa: E731
        if not wait_for(ready, 30):
            raise SystemExit(f"a server did not start; see {self.folder}/log")
        return self

    def __exit__(self, *_):
        for helper in self.helpers:
            helper.kill()
            helper.wait()

    def start(self, *words):
        with open(self.folder / "log", "ab") as log:
            self.helpers.append(subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 cwd=self.folder, start_new_session=True,
                                                 env=environment(self.folder / "helpers")))

    def serve(self, port, *more):
        self.start(*self.server(port, *more))

    def server(self, port, *more):
        return [self.program, "serve", "-B", "127.0.0.1", "-p", port, "--root", self.folder, "--tokens", self.folder / "tokens",
                "--clients-per-address", 64, "--copies-per-token", 64, *more]

    def silent(self):
        """Accepts connections and datagrams, and says nothing."""
        listener = socket.create_server(("127.0.0.1", SILENT), backlog=500)
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", SILENT))
        self.accepted = []
        threading.Thread(target=lambda: [self.accepted.append(listener.accept()) for _ in itertools.count()], daemon=True).start()

    def token(self, name="me"):
        return self.folder / f"{name}.token"

    @staticmethod
    def at(port, place, host="127.0.0.1"):
        return f"trunkline://{host}:{port}/{place}"

    def copy(self, source, target, *more):
        return [self.program, "copy", "-r", "--no-history", "--token-file", self.token(), *more, source, target]

    def watch_plan(self, run, port):
        """A watch of this machine: host b is the first server."""
        (run / "watch.toml").write_text(f"""gap = "1s"
[hosts.a]
address = "127.0.0.1:{port}"
[hosts.b]
address = "127.0.0.1:{SERVER}"
[groups]
both = {{ list = [["a", "b"]] }}
[tasks.goodput]
kind = "throughput"
group = "both"
every = "10s"
duration = "3s"
""")
        return run / "watch.toml"

    def campaign(self, run, *, port=SERVER, source="large", link='rate = "4Mbit/s"\ncopies = 1', plan=True, shard=1000):
        """A campaign's folder, planned unless told otherwise."""
        (run / "there").mkdir()
        (run / "plan.toml").write_text(f"""[shards]
files = {shard}
bytes = "40MB"
[hosts.far]
address = "trunkline://127.0.0.1:{port}"
token = "{self.token()}"
[links.wan]
{link}
[groups.raw]
from = "{self.files / source}"
to = "far:/{run.relative_to(self.folder)}/there"
link = "wan"
""")
        if plan:
            subprocess.run([self.program, "campaign", "plan", run / "plan.toml", run / "campaign"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return run / "campaign"


def environment(run, mark=""):
    """Nothing of this host's user, and files of one trial apart from those of others."""
    (run / "tmp").mkdir(parents=True, exist_ok=True)
    names = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TRUNKLINE_STATE")
    return {**os.environ, **{name: str(run / name) for name in names}, "TMPDIR": str(run / "tmp"), MARK: mark,
            "RUST_BACKTRACE": "1"}


def marked(mark):
    """Processes that a trial has started, their children too; what has ended is not counted."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            process = pathlib.Path("/proc", pid)
            words = process.joinpath("cmdline").read_bytes()
            if f"{MARK}={mark}\0".encode() in process.joinpath("environ").read_bytes() and words:
                found.append((int(pid), words.replace(b"\0", b" ").decode(errors="replace").strip()))
        except OSError:
            pass
    return found


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1]
    return bool(int(caught, 16) >> (number - 1) & 1)


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    time.sleep(0.01)
