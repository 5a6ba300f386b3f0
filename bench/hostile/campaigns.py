"""Folders of campaigns: lost and damaged files, links, words that fit nothing, and what the next commands say of them."""

import datetime
import os
import shutil
import signal

from stage import Case

GROUP = "campaigns"
FILES = 24


class Campaign:
    """A planned campaign of some small files to a server of this machine."""

    def __init__(self, stage, link=""):
        self.stage, self.server = stage, stage.serve()
        self.source = stage.folder / "source"
        for number in range(FILES):
            stage.write(self.source / f"f{number}", f"{number} ".encode() * 500)
        self.plan_file, self.folder = stage.folder / "plan.toml", stage.folder / "campaign"
        self.write_plan(link)
        self.expect("plan", self.plan_file, self.folder)

    def write_plan(self, link=""):
        text = f"""
            [shards]
            files = 6
            [hosts]
            far = {{ address = "trunkline://{self.server.at}", token = "{self.stage.token_file}" }}
            [links.wan]
            copies = 2
            {link}
            [groups.raw]
            from = "{self.source}"
            to = "far:/copied"
            link = "wan"
            """
        self.stage.write(self.plan_file, text)

    def expect(self, command, *words, code=0, told=()):
        result = self.stage.run("campaign", command, *words)
        self.stage.expect(result, code=code, told=told)
        return result

    def run(self, *words, **more):
        return self.expect("run", self.folder, *words, **more)

    def status(self, **more):
        return self.expect("status", self.folder, **more)

    def done(self):
        """All is there, and the same, and said so."""
        self.run(told="shards are done")
        self.status(told="All is at its destination")
        self.expect("verify", self.folder)
        for file in self.source.iterdir():
            assert (self.stage.root / "copied" / file.name).read_bytes() == file.read_bytes(), f"{file.name} is another one"

    def a_run(self):
        return sorted((self.folder / "runs").iterdir())[0]


def case(name, play, finding="", link="", long=False):
    return Case(GROUP, name, lambda stage: play(Campaign(stage, link)), finding, long)


# --- what is lost is said ---------------------------------------------------------------------------------------------------------------


def lost():
    def without(name, damage, told):
        def play(campaign):
            damage(campaign.folder / "plans/1")
            for command in "run", "status", "verify", "retry":
                result = campaign.expect(command, campaign.folder, code=1, told=told)
                assert "is done" not in result.err and "destination." not in result.out, "what is lost is called done"

        return case(f"lost: {name}", play, "F3")

    def cut(lines):
        def damage(plan):
            list_ = plan / "shards.ndjson"
            list_.write_text("".join(list_.read_text().splitlines(True)[:lines]))

        return damage

    yield without("the list of shards", lambda plan: (plan / "shards.ndjson").unlink(), "lists 0 of")
    yield without("the list of shards, but its name", cut(0), "lists 0 of")
    yield without("lines of the list", cut(2), "lists 2 of")
    yield without("the whole plan", shutil.rmtree, "plan 1 of 1 is missing")
    yield without("the summary", lambda plan: (plan / "plan.json").unlink(), "no plan.json")

    def manifest(campaign):
        file = sorted((campaign.folder / "plans/1/raw").iterdir())[0]
        file.write_text("".join(file.read_text().splitlines(True)[:-1]))
        campaign.run(code=1, told="not what was planned")
        assert "All is at" not in campaign.status().out

    yield case("lost: a line of a manifest", manifest, "F3")


# --- damage costs its shard -------------------------------------------------------------------------------------------------------------


def damaged():
    def result(name, content):
        def play(campaign):
            campaign.run()
            (campaign.a_run() / "result.json").write_bytes(content)
            assert "All is at" not in campaign.status(told="is damaged").out
            campaign.run(told="is run again")
            campaign.done()

        return case(f"damaged: a result that is {name}", play, "F8")

    yield result("empty", b"")
    yield result("zeros", bytes(300))
    yield result("cut", b'{"shard":"raw-1-0')
    yield result("of another kind", b"[1, 2]\n")

    def notes(campaign):
        campaign.run()
        file = campaign.a_run() / "done.ndjson"
        file.write_bytes(file.read_bytes()[:250])
        campaign.expect("verify", campaign.folder, code=1, told="Not copied")
        assert "All is at" not in campaign.status().out
        campaign.done()

    yield case("damaged: a list of what is done", notes, "F8")

    def failures(campaign):
        (campaign.source / "f3").write_text("another length")
        campaign.run(code=1)
        for run in (campaign.folder / "runs").iterdir():
            (run / "failed.ndjson").write_bytes(bytes(200))
        campaign.status()
        campaign.expect("plan", campaign.plan_file, campaign.folder)
        campaign.expect("retry", campaign.folder, told="1 shard")
        campaign.done()

    yield case("damaged: a list of what failed", failures, "F8")

    def progress(campaign):
        run = campaign.folder / "runs/raw-1-00001"
        run.mkdir(parents=True)
        (run / "progress.json").write_bytes(b"\0" * 99)
        (run / "done-so-far.ndjson").write_bytes(b"\xff\xfe garbage\n{}\n")
        campaign.status()
        campaign.done()

    yield case("damaged: notes of a run that was killed", progress, "F8")

    def content(campaign):
        campaign.run()
        file = campaign.stage.root / "copied/f3"
        times = file.stat()
        file.write_bytes(b"X" * times.st_size)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        campaign.expect("verify", campaign.folder, code=1, told="1 differ")
        assert "All is at" not in campaign.status(told="retry").out
        campaign.run(code=1, told="retry")
        campaign.expect("retry", campaign.folder, told="1 shard")
        campaign.done()

    yield case("damaged: a copied file of the same size and time", content, "C3")


# --- links and rights -------------------------------------------------------------------------------------------------------------------


def links():
    def link(name, place, kind=os.symlink):
        def play(campaign):
            victim = campaign.stage.write(campaign.stage.folder / "victim", "mine")
            (campaign.folder / place).parent.mkdir(parents=True, exist_ok=True)
            (campaign.folder / place).unlink(missing_ok=True)
            kind(victim, campaign.folder / place)
            shard = "raw-1-00001"
            campaign.run(*([shard] if "runs" in place else []), code=1, told="is a")
            assert victim.read_text() == "mine", "a file beside the campaign was written to"

        return case(f"links: {name}", play, "F6")

    yield link("a lock that is a link", "runs/raw-1-00001/lock")
    yield link("a lock that is another file", "runs/raw-1-00001/lock", os.link)
    yield link("notes that are a link", "runs/raw-1-00001/done-so-far.ndjson")
    yield link("a place of a link that is a link", "links/wan/slot-0")

    def run(campaign):
        elsewhere = campaign.stage.folder / "elsewhere"
        elsewhere.mkdir()
        (campaign.folder / "runs").mkdir()
        (campaign.folder / "runs/raw-1-00001").symlink_to(elsewhere)
        campaign.run("raw-1-00001", code=1, told="is a link")
        assert not list(elsewhere.iterdir()), "files of a run went elsewhere"

    yield case("links: a run that is elsewhere", run, "F6")

    def compared(campaign):
        elsewhere = campaign.stage.folder / "elsewhere"
        elsewhere.mkdir()
        campaign.run()
        (campaign.folder / "verified").symlink_to(elsewhere)
        campaign.expect("verify", campaign.folder, code=1, told="is a link")
        assert not list(elsewhere.iterdir()), "what was compared went elsewhere"
        (campaign.folder / "verified").unlink()
        victim = campaign.stage.write(campaign.stage.folder / "victim", "mine")
        (campaign.folder / "verified").mkdir()
        for name in "report.json", "raw.b3":
            (campaign.folder / "verified" / name).symlink_to(victim)
        campaign.expect("verify", campaign.folder)
        assert victim.read_text() == "mine", "a file beside the campaign was written to"

    yield case("links: what was compared", compared, "F6")

    def plan(campaign):
        victim = campaign.stage.write(campaign.stage.folder / "victim", "mine")
        (campaign.folder / "plan.lock").unlink(missing_ok=True)
        (campaign.folder / "plan.lock").symlink_to(victim)
        campaign.expect("plan", campaign.plan_file, campaign.folder, code=1, told="is a link")
        assert victim.read_text() == "mine", "a file beside the campaign was written to"

    yield case("links: the lock of plans", plan, "F6")

    def rights(campaign):
        campaign.folder.chmod(0o777)
        campaign.run(code=1, told="may be written by everybody")
        campaign.folder.chmod(0o770)
        campaign.done()

    yield case("links: a folder that everybody may write", rights, "F6")


# --- words ------------------------------------------------------------------------------------------------------------------------------


def words():
    def wrong(name, *words, told, more=lambda campaign: ()):
        def play(campaign):
            result = campaign.run(*words, *more(campaign), code=2, told=told)
            assert "shards are done" not in result.err

        return case(f"words: {name}", play, "F4")

    yield wrong("a link that is none", "--link", "nosuch", told="`wan`")
    yield wrong("a task that is none", "--task", "3", "--of", "3", told="count from 0 to 2")
    yield wrong("a host that is none", "--host", "nosuch", told="`far`")
    yield wrong("a shard that is none", "raw-9-00001", told="raw-1-00001")
    yield wrong("a file that is no manifest", "/etc/passwd", told="no manifest")
    yield wrong("a file that is not there", "../../nosuch/x", told="cannot read")

    def by_hand(campaign):
        manifest = sorted((campaign.folder / "plans/1/raw").iterdir())[0]
        return [campaign.stage.write(campaign.stage.folder / "hand.ndjson", manifest.read_bytes() + b"../../evil\n")]

    def no_campaign(campaign):
        shutil.rmtree(campaign.folder / "plans")
        for command in "run", "status", "pause", "cancel", "retry", "slurm", "verify":
            campaign.expect(command, campaign.folder, code=2, told="holds no campaign")
        assert not (campaign.folder / "cancelled").exists()

    yield case("words: a folder that only has a plan", no_campaign, "F15")

    def changed(campaign):
        (campaign.source / "f3").write_text("another length")
        (campaign.source / "f4").unlink()
        campaign.run(code=1)
        assert "check the spelling" not in "".join(file.read_text() for file in campaign.folder.glob("runs/*/failed.ndjson"))
        campaign.expect("plan", campaign.plan_file, campaign.folder)
        campaign.run()
        assert "23 of 23" in campaign.status(told="All is at its destination").out, "names of two plans count twice"
        campaign.expect("retry", campaign.folder, told="0 shards")

    yield case("words: files that changed, and a new plan", changed, "watch 27")

    def doubts(campaign):
        campaign.stage.write(campaign.plan_file, campaign.plan_file.read_text().replace("far:/copied", "far:/nope/z"))
        campaign.expect("plan", campaign.plan_file, campaign.stage.folder / "second", told="there is no folder `nope`")
        campaign.server.process.kill()
        campaign.server.process.wait()
        campaign.stage.servers.clear()
        campaign.expect("plan", campaign.plan_file, campaign.stage.folder / "third", told="cannot be reached now")

    yield case("words: a plan for a place that is not there", doubts, "watch 28")

    yield wrong("a manifest made by hand", told="no manifest of the campaign", more=by_hand)


# --- stops and waits --------------------------------------------------------------------------------------------------------------------


def waits():
    now = datetime.datetime.now(datetime.timezone.utc)
    quiet = "-".join((now + datetime.timedelta(minutes=minutes)).strftime("%H:%M") for minutes in (-60, 60))

    def stopped(sign):
        def play(campaign):
            process = campaign.stage.start(campaign.stage.bench.trunkline, "campaign", "run", campaign.folder)
            assert b"is quiet until" in process.stderr.readline(), "it does not say that it waits"
            campaign.status(told="is quiet until")
            process.send_signal(sign)
            result = campaign.stage.finish(process, 20)
            campaign.stage.expect(result, code=75)
            assert len(result.err.splitlines()) < 10, f"{len(result.err.splitlines())} lines"

        return case(f"waits: quiet hours and {sign.name}", play, "C1", f'quiet = ["{quiet}"]')

    yield from map(stopped, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))

    def gone(campaign):
        campaign.server.process.kill()
        campaign.server.process.wait()
        campaign.stage.servers.clear()
        result = campaign.run("--patience", "2s", code=75, told="refuses connections")
        assert len(result.err.splitlines()) < 20, f"{len(result.err.splitlines())} lines"
        campaign.status(told="refuses connections")
        campaign.expect("verify", campaign.folder, "--patience", "1s", code=1)

    yield case("waits: a server that is gone", gone, "C2")


CASES = [*lost(), *damaged(), *links(), *words(), *waits()]
