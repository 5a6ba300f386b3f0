"""The faults: what happens, and what has to come of it.

A scene says how its path differs, prepares what it needs, and plays at the near end. `check` says whether what came of it is what a
user may expect; that no wrong file ever has its final name is asked of all of them.
"""

import errno
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

import data
import tools
from playing import Play, wait

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]


# Bytes on the wire per byte of a file: 52 of TCP and IP in 1500, and TLS.
HEADERS = 1.045
# What may be lost with streams that break: a piece takes a quarter of a second, which is 3.1 MB of 100 Mbit/s over all streams,
# and 250 kB under way and 500 kB in the queue. As much again is left to TCP, which overruns the queue as each stream starts.
UNFINISHED_BYTES = 3_900_000


def play(run, plan):
    scene = next(one for one in ALL if one.name == plan["scene"])
    now = Play(run, plan)
    now.look()
    scene.play(now)
    now.look()
    final, left = now.files()
    completed = now.is_complete()
    result = {
        "completed": completed, "by_itself": completed and len(now.tries) == 1, "wrong": sorted(now.wrong),
        "wrong_bytes": sum(now.wrong.values()), "left": left, "bytes": now.bytes, "sent": now.sent(),
        "tries": [(one.get("code"), round(one.get("seconds", 0), 1)) for one in now.tries], "error": now.error(),
        "sent_most": scene.sent_most(now), "missed": now.missed,
    }
    why = scene.check(now, result)
    if why is None and completed and result["sent"] > (result["sent_most"] or float("inf")):
        why = f"sent {result['sent'] / now.bytes:.3f} of the files' bytes: more than unfinished pieces account for"
    if any("panicked" in one.get("said", "") for one in now.tries):
        why = "a panic"
    if any(one.get("code") == "hung" for one in now.tries):
        why = "a try that did not end"
    if now.wrong:
        why = f"wrong under its final name: {sorted(now.wrong)[:3]}"
    return result | {"expected": why is None, "why": why}


def make_token(run, plan):
    """A server's file of tokens and a client's of the one in it."""
    command = [plan["trunkline"], "serve", "--tokens", run / "tokens", "--new-token", "bench"]
    made = subprocess.run(plan.get("far_prefix", []) + command, capture_output=True, text=True, check=True)
    (run / "token").write_text(made.stdout)
    (run / "token").chmod(0o600)


class Scene:
    """A copy without a fault."""
    name, ways, by, plain, patience, megabytes = "none", ["put", "get"], ["ssh", "serve"], False, "60s", None
    # How often all streams break; None where no bound is known for what is sent.
    breaks = 0

    def sent_most(self, now):
        """The most bytes that all tries may have sent."""
        if self.breaks is None:
            return None
        return HEADERS * now.bytes + UNFINISHED_BYTES * (1 + self.breaks_in(now))

    def breaks_in(self, now):
        return self.breaks

    def path(self, draws):
        return ""

    def prepare(self, run, source, plan):
        pass

    def clear(self, run):
        pass

    def play(self, now):
        now.copy()

    def check(self, now, result):
        if not result["completed"]:
            return f"not complete; {now.error()}; left {result['left'][:2]}"
        return None


class ByItself(Scene):
    """The copy has to come through with one command."""

    def check(self, now, result):
        return super().check(now, result) or (None if len(now.tries) == 1 and now.tries[0]["code"] == 0 else
                                              f"ended with {now.tries[0]['code']}: {now.error()}")


class KillNear(Scene):
    """kill -9 of the near end, then the same command."""
    name, breaks = "kill-near", 1

    def play(self, now):
        process = now.start()
        now.moment()
        process.kill()
        now.finish(process)
        now.again()


class KillFar(ByItself):
    """kill -9 of the far end; a server is started again, ssh is asked again by the copy itself."""
    name, breaks = "kill-far", 1

    def play(self, now):
        process = now.start()
        now.moment()
        now.kill_far()
        now.finish(process)
        if not now.is_complete():
            now.again()


class KillOften(Scene):
    """kill -9 of either end, again and again."""
    name = "kill-often"

    def breaks_in(self, now):
        return now.kills

    def play(self, now):
        for _ in range(5):
            process = now.start()
            now.moment(2.0)
            if now.draws.random() < 0.5:
                now.kill_far()
                now.kills += 1
                now.moment(1.0)
            process.kill()
            now.kills += 1
            now.finish(process)
        now.again()


class Once(Scene):
    """What is given again once has to come through."""

    def check(self, now, result):
        code, said = now.tries[-1].get("code"), now.tries[-1].get("said")
        if code != 0:
            return f"the command given again ended with {code}: {said}"
        return super().check(now, result)


class KillBoth(Once):
    """kill -9 of both ends at once, then the same command."""
    name, breaks = "kill-both", 1

    def play(self, now):
        process = now.start()
        now.moment()
        now.kill_far()
        process.kill()
        now.finish(process)
        wait(lambda: not (now.run / "far.kill").exists())
        time.sleep(0.3)     # a server that is started again has to listen
        now.copy()


class KillFlush(Once):
    """kill -9 of the receiver when all pieces of the large file are noted and it does not have its name yet."""
    name, breaks = "kill-last-flush", 1

    def play(self, now):
        size = int((now.run / "before.size").read_text())
        process = now.start()
        is_whole = lambda: sum(length for _, length in now.noted()) >= size
        wait(lambda: is_whole() or process.poll() is not None, 120)
        time.sleep(now.draws.choice([0, 0, now.draws.uniform(0, 0.1)]))
        now.kill_receiver(process)
        if now.plan["way"] == "put":
            # The near end would call again by itself; that has a scene of its own.
            wait(lambda: not (now.run / "far.kill").exists())
            process.kill()
        now.finish(process)
        now.missed = not now.unfinished()[0].exists()
        time.sleep(0.5)
        now.copy()


class Tampered(Once):
    """kill -9 of the near end; some bytes of what had arrived are changed; then the same command."""
    # Not kept is what was changed, in pieces of up to 4 MiB each.
    name, breaks = "tampered-bytes", None

    def play(self, now):
        process = now.start()
        wait(lambda: len(now.noted()) > 3 or process.poll() is not None, 60)
        now.moment(now.lasts() / 2)
        process.kill()
        now.finish(process)
        time.sleep(1)       # the far end notices and lets go of its files
        now.missed = not self.tamper(now)
        now.copy()

    def tamper(self, now):
        """Where something was changed, in pieces that are noted."""
        part, noted = now.unfinished()[0], now.noted()
        places = []
        for start, length in now.draws.sample(noted, min(len(noted), now.draws.randrange(1, 5))):
            size = min(length, now.draws.choice([1, 4096, 100_000]))
            at = start + now.draws.randrange(length - size + 1)
            self.change(part, at, size, now)
            places.append((at, size))
        return places

    def change(self, part, at, size, now):
        with open(part, "r+b") as file:
            file.seek(at)
            was = file.read(size)
            file.seek(at)
            file.write(bytes(byte ^ 0xFF for byte in was))


class Punched(Tampered):
    """kill -9 of the near end; holes are punched into what had arrived; then the same command."""
    name = "punched-holes"

    def change(self, part, at, size, now):
        subprocess.run(["fallocate", "--punch-hole", "--offset", str(at), "--length", str(size), part], check=True)


class Cut(ByItself):
    """Nothing passes for 5 s."""
    name, length, breaks = "cut-5s", 5, 1

    def path(self, draws):
        return f'cut = [{{ at = "{draws.uniform(0.5, 4.5):.3f}s", for = "{self.length}s" }}]'

    def play(self, now):
        # On a busy host the cut can come before the first contact; that ends in an error soon, as it should.
        if now.copy() != 0 and "cannot be reached" in now.error():
            now.met_cut = True
            time.sleep(self.length)
            now.again()

    def check(self, now, result):
        return Scene.check(self, now, result) if now.met_cut else super().check(now, result)


class LongCut(Cut):
    """Nothing passes for 60 s."""
    name, length, patience = "cut-60s", 60, "180s"


class AnyCut(Cut):
    """Nothing passes for 1 to 60 s."""
    name, length, patience = "cut-any", 60, "180s"

    def path(self, draws):
        at, length = draws.uniform(0.3, 6), draws.uniform(1, 60)
        return f'cut = [{{ at = "{at:.3f}s", for = "{length:.3f}s" }}]'


class Loss(ByItself):
    """1 % of the packets are lost, both ways."""
    name = "loss"

    def path(self, draws):
        loss = 'loss = { kind = "random", rate = 0.01 }'
        reverse = 'rate = "100Mbit/s"\ndelay = "10ms"\nqueue = { kind = "drop-tail", limit = "500kB" }'
        return f"{loss}\n[reverse]\n{reverse}\n{loss}"


class Corruption(ByItself):
    """One packet in 2000 is damaged so that TCP does not notice, under TLS."""
    # Each breaks one stream: of how many, and with how much under way, is not known here.
    name, rate, breaks = "corruption", 5e-4, None

    def path(self, draws):
        link = 'rate = "100Mbit/s"\ndelay = "10ms"\nqueue = { kind = "drop-tail", limit = "500kB" }'
        return f"corruption = {self.rate}\n[reverse]\n{link}\ncorruption = {self.rate}"


    def play(self, now):
        # A damaged packet ends ssh itself, and a far end that was never there is not waited for.
        if now.copy() != 0 and "cannot be reached" in now.error():
            now.met_cut = True
            now.again()

    def check(self, now, result):
        return Scene.check(self, now, result) if now.met_cut else super().check(now, result)


class PlainCorruption(Corruption):
    """The same, with data in the clear."""
    name, plain = "corruption-plain", True


class DiskFull(Scene):
    """The receiver's disk is too small, then it has room."""
    name, breaks = "disk-full", 1

    def prepare(self, run, source, plan):
        size = random.Random(plan["seed"]).randrange(2_000_000, 30_000_000) // 4096 * 4096
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", run / "target"], check=True)

    def clear(self, run):
        subprocess.run(["umount", "-l", run / "target"], check=False)

    def play(self, now):
        now.code = now.copy()
        subprocess.run(["mount", "-o", "remount,size=200M", now.target], check=True)
        now.again()

    def check(self, now, result):
        if now.code == 0 or not says_full(now.error()):
            return f"ended with {now.code} and said: {now.error()}"
        return super().check(now, result)


class DiskFills(Scene):
    """Somebody else takes all room on the receiver's disk while the copy runs, and gives it back."""
    name, breaks = "disk-fills", 1
    clear = DiskFull.clear

    def prepare(self, run, source, plan):
        # In memory no room is reserved ahead, so whatever comes next finds none: files, journals, folders.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200M,mode=777", "tmpfs", run / "target"], check=True)

    def play(self, now):
        other = now.target / "other"
        now.allowed["../other"] = {"outside"}
        process = now.start()
        now.moment(3.0)
        fill(other)
        now.code = now.finish(process)
        other.unlink()
        now.again()

    def check(self, now, result):
        if now.code != 0 and not says_full(now.error()):
            return f"ended with {now.code} and said: {now.error()}"
        return super().check(now, result)


def says_full(error):
    return any(word in error.lower() for word in ("space", "full", "room"))


def fill(file):
    """Takes all room that there is, also what becomes free in the next half second."""
    with open(file, "wb") as opened:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            try:
                while opened.write(bytes(1 << 16)):
                    opened.flush()
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
            time.sleep(0.02)


class ReadError(Scene):
    """The large source file cannot be read behind some place: the file under a loop device ends there."""
    name = "read-error"

    def prepare(self, run, source, plan):
        mounted = run / "disk"
        # Direct reads of the image need a file system that has them; memory may not.
        image = pathlib.Path("/var/tmp") / f"trunkline-faults-{os.getpid()}-{run.name}.img"
        (run / "image").write_text(str(image))
        mounted.mkdir()
        size = data.bytes_of(source / "large")
        with open(image, "wb") as file:
            file.truncate(size + (16 << 20))
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", image], check=True)
        device = self.attach(run, image)
        subprocess.run(["mount", device, mounted], check=True)
        shutil.copy2(source / "large", mounted / "large")
        subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
        # The device keeps its size, and what it would read behind the image's new end is an error.
        os.truncate(image, size * random.Random(plan["seed"]).randrange(30, 95) // 100)
        subprocess.run(["mount", "--bind", mounted / "large", source / "large"], check=True)
        self.forget(source / "large")
        (run / "breaks_at").write_text(str(self.first_error(source / "large")))
        self.forget(source / "large")

    def forget(self, file):
        """Reads come from the device again."""
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def first_error(self, file):
        """Where reading breaks; that it does is what this scene rests on."""
        with open(file, "rb", buffering=0) as opened:
            at = 0
            try:
                while part := os.pread(opened.fileno(), 1 << 16, at):
                    at += len(part)
            except OSError as error:
                if error.errno == errno.EIO:
                    return at
                raise
        raise SystemExit("the source file can be read to its end although its device is cut off")

    def attach(self, run, image):
        made = subprocess.run(["losetup", "-f", "--show", "--direct-io=on", image], capture_output=True, text=True, check=True)
        (run / "device").write_text(made.stdout.strip())
        return made.stdout.strip()

    def clear(self, run):
        for path in (run / "source" / "large", run / "disk"):
            subprocess.run(["umount", "-l", path], check=False)
        subprocess.run(["losetup", "-d", (run / "device").read_text()], check=False)
        pathlib.Path((run / "image").read_text()).unlink(missing_ok=True)

    def play(self, now):
        now.code = now.copy()

    def check(self, now, result):
        final = now.files()[0]
        others = {name: digest for name, digest in now.before.items() if name != "large"}
        if now.code in (0, "hung") or "large" not in now.error() + pathlib.Path(now.tries[0]["log"]).read_text():
            return f"ended with {now.code} and said: {now.error()}"
        if final != others:
            return f"{len(final)} of {len(others)} other files are there"
        return None


class UnreadableSource(Scene):
    """The sender may not read one file; then it may."""
    name, by, nobody_when = "permission-source", ["serve"], {"put": "near", "get": "far"}

    def prepare(self, run, source, plan):
        if self.nobody_when[plan["way"]] == "far":
            plan["far_prefix"] = AS_NOBODY
        (run / "target").chmod(0o777)
        (run / "plan.json").write_text(json.dumps(plan))

    def play(self, now):
        self.become_nobody(now)
        (now.source / "middle").chmod(0)
        now.code = now.copy()
        (now.source / "middle").chmod(0o644)
        now.again()

    def become_nobody(self, now):
        """The far end is nobody from its start on, the near one from here on: the token is nobody's then."""
        if self.nobody_when[now.plan["way"]] == "near":
            now.prefix = AS_NOBODY
            os.chown(now.run / "token", 65534, 65534)

    def check(self, now, result):
        if now.code == 0 or "ermission" not in pathlib.Path(now.tries[0]["log"]).read_text():
            return f"ended with {now.code} and said: {now.error()}"
        return super().check(now, result)


class UnwritableTarget(UnreadableSource):
    """The receiver may not write into the destination; then it may."""
    name, nobody_when = "permission-target", {"put": "far", "get": "near"}

    def play(self, now):
        self.become_nobody(now)
        now.target.chmod(0o755)
        now.code = now.copy()
        now.target.chmod(0o777)
        now.again()


class SourceChanges(Scene):
    """The large source file becomes shorter while it is copied."""
    # What it had before is of no use.
    name, breaks = "source-truncated", None

    def change(self, large, now):
        os.truncate(large, now.draws.randrange(large.stat().st_size))

    def play(self, now):
        process = now.start()
        now.moment()
        large = now.source / "large"
        self.change(large, now)
        now.allowed["large"].add(data.hashes(large)[""])
        now.finish(process)
        now.again()

    def check(self, now, result):
        # Where the change came after the file was done, nobody can know of it before the command is given again.
        return super().check(now, result)


class SourceGrows(SourceChanges):
    """The large source file grows by a little, again and again."""
    name = "source-growing"

    def change(self, large, now):
        now.grows = "large"
        for _ in range(20):
            with open(large, "ab") as file:
                file.write(now.draws.randbytes(10_000))
            time.sleep(0.05)


class SourceReplaced(SourceChanges):
    """The large source file is replaced by another one of the same size and time."""
    name = "source-replaced"

    def change(self, large, now):
        stat, other = large.stat(), large.with_name("other")
        other.write_bytes(now.draws.randbytes(stat.st_size))
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        now.allowed["large"].add(data.hashes(other)[""])
        other.rename(large)

    def check(self, now, result):
        # Same size, same time: once it is done, no later command can see the change. What is there has to be one of the two.
        final, left = now.files()
        whole = set(final) == set(now.before) and not left
        return None if whole and final["large"] in now.allowed["large"] else f"left {left}; {now.error()}"


class TwoCopies(Scene):
    """Two copies to one destination at the same time."""
    # Both send what neither has finished.
    name, breaks = "two-copies", 2

    def play(self, now):
        first = now.start()
        now.moment(1.0)
        second = now.start()
        now.codes = [now.finish(first), now.finish(second)]
        if 0 not in now.codes or not now.is_complete():
            now.again()


class ClockStep(ByItself):
    """The near end's clock is set an hour on, then a day back. Only its own: by libfaketime."""
    name = "clock-step"

    def play(self, now):
        steps = now.run / "clock"
        steps.write_text("+0")
        library = next(pathlib.Path("/usr/lib").rglob("libfaketime.so.1"))
        now.environment = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(steps), "FAKETIME_NO_CACHE": "1",
                           "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
                           # A clock that is set does not change what a file says of itself.
                           "NO_FAKE_STAT": "1"}
        process = now.start()
        for step in ("+3600", "-86400"):
            now.moment(1.5)
            steps.write_text(step)
        now.finish(process)


class OtherPeer(Scene):
    """What listens at the far end is iperf3."""
    name, by, ways, patience = "peer-iperf3", ["serve"], ["put", "get"], "5s"

    def prepare(self, run, source, plan):
        plan |= {"far_command": ["iperf3", "-s", "-p", str(tools.COPY_PORT)], "far_port": tools.COPY_PORT}
        (run / "plan.json").write_text(json.dumps(plan))
        make_token(run, plan)

    def play(self, now):
        now.code = now.copy()

    def check(self, now, result):
        if now.code in (0, "hung") or not now.error() or now.tries[0]["seconds"] > 30:
            return f"ended with {now.code} after {now.tries[0]['seconds']:.0f} s and said: {now.error()}"
        return None


class OlderPeer(OtherPeer):
    """What listens at the far end is a trunkline from before there were copies ($TRUNKLINE_OLD)."""
    name = "peer-older"

    def prepare(self, run, source, plan):
        super().prepare(run, source, plan)
        plan["far_command"] = [os.environ.get("TRUNKLINE_OLD", plan["trunkline"]), "serve", "-p", str(tools.COPY_PORT)]
        (run / "plan.json").write_text(json.dumps(plan))


ALL = [one() for one in (
    Scene, KillNear, KillFar, KillOften, KillBoth, KillFlush, Tampered, Punched, Cut, LongCut, AnyCut, Loss, Corruption,
    PlainCorruption, DiskFull, DiskFills, ReadError, UnreadableSource, UnwritableTarget, SourceChanges, SourceGrows, SourceReplaced,
    TwoCopies, ClockStep, OtherPeer, OlderPeer,
)]
