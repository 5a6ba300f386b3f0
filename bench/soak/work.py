"""What moves while a soak lasts: a campaign wave after wave, and plain copies; each is given again until it ends well."""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time

# A command that has not ended well after so many times is a finding.
TIMES = 30
# Words of an end that was never there: its name may be wrong, so that it is not waited for.
AWAY = ("refuses connections", "is silent", "said nothing for", "no route")
UNFINISHED = ("trunkline-part", "trunkline-journal", "trunkline-link")
NAMES = ["plain", "with space", "é", "quote'", "a\nb", "-dash", "%41", "x" * 100]


def make_tree(folder, drawn, files, largest):
    """Files of all sizes, most of them small, in folders up to three deep; links and empty folders too."""
    (folder / "empty").mkdir(parents=True)
    for number in range(files):
        place = folder.joinpath(*(drawn.choice("abc") for _ in range(drawn.randrange(4))))
        place.mkdir(parents=True, exist_ok=True)
        size = round(largest ** drawn.random()) - 1
        (place / f"{drawn.choice(NAMES)}-{number}").write_bytes(drawn.randbytes(size))
    (folder / "link").symlink_to("empty")


def differences(source, target):
    """Names that are missing, different or too many."""
    one, other = listed(source), listed(target)
    wrong = [f"missing {name}" for name in one.keys() - other.keys()]
    wrong += [f"{'left behind' if any(word in name for word in UNFINISHED) else 'extra'} {name}" for name in other.keys() - one.keys()]
    return wrong + [f"different {name}" for name in one.keys() & other.keys() if one[name] != other[name]]


def listed(folder):
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = pathlib.Path(place) / name
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(folder))] = content
    return found


class Worker(threading.Thread):
    """Gives one command at a time; another thread may kill it."""

    def __init__(self, name, soak, seed):
        super().__init__(daemon=True)
        self.name, self.soak, self.drawn = name, soak, random.Random(f"{seed} {name}")
        self.process, self.codes, self.findings, self.done, self.bytes = None, collections.Counter(), [], 0, 0
        self.log = soak.folder / f"{name}.log"
        self.most_lines, self.is_fatal = 0, False

    def run(self):
        while not self.soak.is_over and not self.is_fatal:
            try:
                self.once()
            except Exception as error:  # noqa: BLE001, a thread that ends without a word would pass for one that is done
                self.findings.append(f"{self.name}: the harness failed: {error!r}")
                self.is_fatal = True

    def give(self, host, *words, allowed=(0, 75), disks=()):
        """One command, until its end; its exit code."""
        began, start = time.monotonic(), self.log.stat().st_size if self.log.exists() else 0
        environment = {**os.environ, "TRUNKLINE_STATE": str(self.soak.folder / f"{self.name}.state"), "RUST_BACKTRACE": "1"}
        with open(self.log, "ab") as log:
            log.write(f"$ {' '.join(map(repr, map(str, words)))}\n".encode())
            log.flush()
            self.process = subprocess.Popen(["ip", "netns", "exec", self.soak.network.ns(host), self.soak.program,
                                             *map(str, words)], cwd=self.soak.folder, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment)
        code = self.process.wait()
        self.codes[words[0] if words[0] != "campaign" else f"campaign {words[1]}", code] += 1
        with open(self.log, "rb") as log:
            log.seek(start)
            said = log.read()
        lines = said.count(b"\n") * 10 / max(10, time.monotonic() - began)
        self.most_lines = max(self.most_lines, round(lines))
        text = said.decode(errors="replace")
        if "panicked" in text:
            self.findings.append(f"{self.name}: panicked: {tail(text)}")
        is_told = code == 1 and (any(word in text for word in AWAY) or any(disk.was_full(began) for disk in disks))
        if code not in (*allowed, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT) and not is_told:
            self.findings.append(f"{self.name}: `{' '.join(map(str, words[:2]))}` ended with {code}: {tail(text)}")
        return code

    def until_done(self, *words, **how):
        for _ in range(TIMES):
            if (code := self.give(*words, **how)) == 0 or self.soak.is_hurried:
                return code == 0
            time.sleep(self.drawn.choice([0.0, self.drawn.uniform(0.05, 1.0)]))
        self.findings.append(f"{self.name}: not done after {TIMES} times: {tail(self.log.read_text(errors='replace'))}")
        self.is_fatal = True
        return False

    def compare(self, what, source, target):
        if wrong := differences(source, target):
            self.findings.append(f"{self.name}: {what}: {len(wrong)} names are wrong: {wrong[:4]}")
            self.is_fatal = True
        self.done += 1
        self.bytes += sum(path.stat().st_size for path in source.rglob("*") if path.is_file() and not path.is_symlink())


def tail(text):
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("hint")]
    return " / ".join(lines[-2:])[:300]


class Copies(Worker):
    """One copy after another: put, get, third-party; TCP and UDP; with and without what people set."""

    number = 0

    def once(self):
        soak, drawn, self.number = self.soak, self.drawn, self.number + 1
        mark = f"{self.name}-{self.number}"
        kind, server = drawn.choice(["put", "put", "get", "third"]), drawn.choice(sorted(soak.servers))
        here = soak.folder / mark
        far = soak.root(server)
        source, target = (here, far / mark) if kind == "put" else (soak.root("source") / mark, far / mark if kind == "third" else here)
        make_tree(source, drawn, drawn.randrange(1, 120), 4e6)
        words = ["copy", "-r", "--patience", "20s", "--max-rate", "60M", "--token-file", soak.token(server)]
        words += [word for word in ("--verify", "-z", "--plain", "--gentle", "-q", "--no-history", "--delete") if drawn.random() < 0.2]
        if kind == "third":
            words += ["--source-token-file", soak.token("source")]
        elif "--plain" not in words and drawn.random() < 0.4:
            words += ["--transport", "udp"]
        ends = {"put": (f"{here}/", soak.at(server, mark)), "get": (soak.at("source", f"{mark}/"), here),
                "third": (soak.at("source", f"{mark}/"), soak.at(server, mark))}[kind]
        if kind == "get":
            words[words.index("--token-file") + 1] = soak.token("source")
        target.mkdir(exist_ok=True)
        if self.until_done("client", *words, *ends, disks=[soak.disk]):
            self.compare(f"{kind} {' '.join(map(str, words[6:]))}", source, target)
        if not self.is_fatal:
            shutil.rmtree(source)
            shutil.rmtree(target)


class Campaign(Worker):
    """Wave after wave: some files come, change and go; plan, run until done, verify, compare."""

    wave = 0

    def once(self):
        soak, drawn = self.soak, self.drawn
        source, folder = soak.root("source") / "campaign", soak.folder / "campaign"
        if self.wave % 6 == 0:
            for old in (source, folder, *(soak.root(server) / "campaign" for server in soak.servers)):
                shutil.rmtree(old, ignore_errors=True)
            for group in soak.servers:
                make_tree(source / group, drawn, 300, 3e6)
                (soak.root(group) / "campaign").mkdir()
            (soak.folder / "campaign.toml").write_text(self.plan())
        else:
            for group in soak.servers:
                files = [path for path in (source / group).rglob("*") if path.is_file() and not path.is_symlink()]
                for path in drawn.sample(files, 20):
                    path.write_bytes(drawn.randbytes(drawn.randrange(100_000)))
                make_tree(source / group / f"wave-{self.wave}", drawn, 30, 1e6)
        self.wave += 1
        if not self.until_done("client", "campaign", "plan", soak.folder / "campaign.toml", folder, allowed=(0, 1)):
            return
        if not self.until_done("client", "campaign", "run", folder, "--patience", "20s", disks=[soak.disk]):
            return
        for group in soak.servers:
            self.compare(f"wave {self.wave}", source / group, soak.root(group) / "campaign" / group)
        self.until_done("client", "campaign", "verify", folder, "--patience", "20s", allowed=(0, 1, 75))

    def plan(self):
        soak = self.soak
        quote = json.dumps
        lines = ["[shards]", "files = 100", 'bytes = "20MB"']
        for name in ["source", *soak.servers]:
            lines += [f"[hosts.{name}]", f"address = {quote(soak.at(name, '').rstrip('/'))}", f"token = {quote(str(soak.token(name)))}"]
        for name in soak.servers:
            lines += [f"[links.{name}]", 'rate = "40Mbit/s"', "copies = 2", f"[groups.{name}]", f'from = "source:/campaign/{name}"',
                      f'to = "{name}:/campaign/{name}"', f'link = "{name}"']
        return "\n".join(lines) + "\n"
