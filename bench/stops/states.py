"""The states of every command that waits, and how it has to end there."""

import dataclasses
import datetime
import fcntl
import signal
import socket
import subprocess
import threading

from ends import wait_for
from stage import CLOSED, COLLECTOR, DROPPED, MARK, ONE_COPY, SECOND, SERVER, SILENT

# Commands that read and print, and then are over.
NEVER_WAIT = {
    "predict", "report", "history", "completion", "man", "help", "campaign pause", "campaign resume", "campaign retry",
    "campaign cancel", "campaign slurm", "watch check", "watch forecast", "watch months", "watch flows", "watch export",
}
TERM, INT, HUP = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
# Exit codes of a command that was stopped: README.md. A server was stopped as it should be.
STOPPED, GOES_ON, SERVED = {1}, {75}, {0}
# `emulate` ends as its program does, and programs mostly end by the signal.
ENDED = {129, 130, 143}


@dataclasses.dataclass
class State:
    """* `words`: of a stage and the trial's folder, the command after the program's name.
    * `within`: seconds, the latest moment of the signal after the state has begun.
    * `begins`: of the trial's folder and its log, whether the state has begun.
    * `begins_within`: seconds until then at most.
    * `prepare`: of a stage and the trial, starts what else is needed with `trial.helper(...)`.
    * `seconds`: by when it has to have ended; more than two need a reason here.
    * `lines`: the most that it says after the signal; measurements show what they have.
    * `is_plain`: it has nothing to clean up, and any signal ends it as it ends other programs.
    * `lingers`: seconds that its processes may outlive it; more than two need a reason here.
    * `outlives_hangup`: SIGHUP does not end it.
    * `prefix`: words before the program.
    """
    command: str
    name: str
    words: object
    codes: set
    within: float = 1.5
    begins: object = None
    begins_within: float = 20.0
    prepare: object = None
    seconds: float = 2.0
    lines: int = 20
    is_plain: bool = False
    lingers: float = 2.0
    outlives_hangup: bool = False
    prefix: tuple = ()
    holds_input: bool = False


def targets():
    """Each command that measures, at each kind of target."""
    hosts = {"server": f"127.0.0.1:{SERVER}", "silent host": f"127.0.0.1:{SILENT}", "dropped packets": f"{DROPPED}:5201",
             "sim": "sim:oc12-100ms", "emu": "emu:slac-cern"}
    own = {"measure": ["-t", "100s"], "tune": [], "path": [], "responsiveness": ["-t", "100s"], "sweep": ["--cycles", "50"]}
    # In virtual time a minute is over at once.
    simulated = {"measure": ["-t", "3000s", "-P", "64"], "path": ["-t", "3000s"]}
    for command, words in own.items():
        keep = ["--history", "history"] if command == "sweep" else ["--no-history"]
        for name, host in hosts.items():
            more = simulated.get(command, words) if name == "sim" else words
            soon = {"within": 0.4} if name == "sim" and command in ("tune", "responsiveness") else {}
            # A search of most simulated paths is over within half a second.
            host = "sim:anl-lbnl" if name == "sim" and command == "tune" else host
            yield State(command, name, lambda stage, run, w=[command, host, *more, *keep]: w, STOPPED, lines=100, **soon)
    for command in ("measure", "tune"):
        for name in ("server", "silent host", "dropped packets"):
            words = [command, hosts[name], "--transport", "udp", *own[command], "--no-history"]
            yield State(command, f"{name}, UDP", lambda stage, run, w=words: w, STOPPED)
    for name in ("server", "silent host", "dropped packets", "emu"):
        for rate in ("5M", "find"):
            words = ["measure", hosts[name], "--udp", rate, "-t", "100s", "--no-history"]
            yield State("measure", f"{name}, datagrams {rate}", lambda stage, run, w=words: w, STOPPED)


def ssh(stage, run):
    """Where the trial's mark reaches what sshd starts."""
    return [*ssh_alone(stage, run), "--far-program", stage.program]


def ssh_alone(stage, run):
    return ["-e", f"ssh -F {stage.keys}/ssh_config -o SetEnv={MARK}={run.name}"]


def copying(*more, source="large", port=SERVER, host="127.0.0.1", get=False):
    def words(stage, run):
        near, far = stage.files / source, stage.at(port, run.relative_to(stage.folder), host)
        if get:
            near, far = stage.at(port, f"files/{source}", host), run / "got"
        return stage.copy(near, far, *more)[1:]
    return words


def over_ssh(get, *more, sftp=False):
    def words(stage, run):
        ends = (f"127.0.0.1:{stage.files}/large", run / "got") if get else (stage.files / "large", f"127.0.0.1:{run}/got")
        reach = [*ssh_alone(stage, run), "--sftp"] if sftp else ssh(stage, run)
        return ["copy", "-r", "--no-history", *reach, *more, *ends]
    return words


def third(port):
    return lambda stage, run: stage.copy(stage.at(SERVER, "files/large"), stage.at(port, run.relative_to(stage.folder)),
                                         "--source-token-file", stage.token(), "--max-rate", "4M")[1:]


def part_is_there(run, log):
    return any(run.rglob(".*trunkline-part"))


def outage(stage, trial):
    """A server of the trial's own, killed once the copy runs."""
    trial.port = next(stage.ports)
    server = trial.helper(*stage.server(trial.port))

    def watch():
        wait_for(lambda: part_is_there(trial.run, None), 20)
        server.kill()
        server.wait()
        (trial.run / "gone").touch()
    threading.Thread(target=watch, daemon=True).start()
    wait_for(lambda: trial.listens(trial.port), 10)


def to_own_server(*more):
    return lambda stage, run, trial: stage.copy(stage.files / "large", stage.at(trial.port, run.relative_to(stage.folder)), *more)[1:]


def says(words):
    return lambda run, log: words in log.read_text(errors="replace")


def holding(name, prepare=None):
    """This process has a file of the destination, as another copy has it."""
    def held(stage, trial):
        if prepare:
            prepare(stage, trial)
        (trial.run / name).parent.mkdir(exist_ok=True)
        trial.held = open(trial.run / name, "w")
        fcntl.flock(trial.held, fcntl.LOCK_EX)
    return held


def busy(stage, trial):
    trial.helper(stage.program, *copying("--max-rate", "1M")(stage, trial.run))
    wait_for(lambda: part_is_there(trial.run, None), 10)


def copies():
    slow = ["--max-rate", "4M"]
    yield State("copy", "put", copying(*slow), GOES_ON)
    yield State("copy", "put, nohup", copying(*slow), GOES_ON, outlives_hangup=True, prefix=("env", "--ignore-signal=HUP"))
    yield State("copy", "get", copying(*slow, get=True), GOES_ON)
    yield State("copy", "put, UDP", copying(*slow, "--transport", "udp"), GOES_ON)
    yield State("copy", "get, UDP", copying(*slow, "--transport", "udp", get=True), GOES_ON)
    yield State("copy", "many files, put", copying(source="many"), GOES_ON, within=0.8)
    yield State("copy", "many files, get", copying(source="many", get=True), GOES_ON, within=0.8)
    yield State("copy", "gentle", copying("--gentle", *slow), GOES_ON)
    # Between two passes everything that is finished is copied.
    yield State("copy", "following", copying("--follow", source="many"), SERVED, begins=says("following: "), begins_within=60.0)
    yield State("copy", "following, in a pass", copying("--follow", *slow), GOES_ON, begins=part_is_there)
    yield State("copy", "delta", copying("--delta", *slow), GOES_ON)
    yield State("copy", "verify", copying("--verify", "--plain", *slow), GOES_ON)
    yield State("copy", "turn at the server", copying(port=ONE_COPY), GOES_ON)
    yield State("copy", "list of files on standard input", lambda stage, run: stage.copy(
        stage.files, stage.at(SERVER, run.name), "--files-from", "-")[1:], GOES_ON, is_plain=True, holds_input=True)
    yield State("copy", "busy file", copying(), GOES_ON, prepare=busy, begins=says("waiting: another copy"))
    yield State("copy", "a single busy file", copying(), GOES_ON, prepare=holding("large/.b.trunkline-part"),
                begins=says("waiting: another copy"))
    for transport in ("tcp", "udp"):
        yield State("copy", f"server away, with patience, {transport}", copying("--patience", "100s", "--transport", transport, port=CLOSED),
                    GOES_ON, begins=says("trying again"))
    for name, host, port in (("silent host", "127.0.0.1", SILENT), ("dropped packets", DROPPED, SERVER)):
        for transport in ("tcp", "udp"):
            for get in (False, True):
                yield State("copy", f"{name}, {'get' if get else 'put'}, {transport}",
                            copying("--transport", transport, host=host, port=port, get=get), GOES_ON)
    yield State("copy", "outage", to_own_server(*slow), GOES_ON, prepare=outage, begins=lambda run, log: (run / "gone").exists())
    yield State("copy", "outage, UDP", to_own_server(*slow, "--transport", "udp"), GOES_ON, prepare=outage,
                begins=lambda run, log: (run / "gone").exists())
    yield State("copy", "third-party", third(SECOND), GOES_ON)
    yield State("copy", "third-party, silent destination", third(SILENT), GOES_ON)
    # Signals to the group end ssh, too. Then the far end waits as long as this one would try to connect.
    yield State("copy", "ssh, starting", over_ssh(False, *slow), GOES_ON, within=0.3, lingers=12.0)
    yield State("copy", "ssh put", over_ssh(False, *slow), GOES_ON, lingers=12.0)
    yield State("copy", "ssh get", over_ssh(True, *slow), GOES_ON, lingers=12.0)
    yield State("copy", "SFTP put", over_ssh(False, *slow, sftp=True), GOES_ON, lingers=12.0)
    yield State("copy", "SFTP get", over_ssh(True, *slow, sftp=True), GOES_ON, lingers=12.0)
    yield State("copy", "third-party, ssh source", lambda stage, run: [
        "copy", "-r", "--no-history", *ssh(stage, run), *slow, "--token-file", stage.token(), f"127.0.0.1:{stage.files}/large",
        stage.at(SERVER, run.name)], GOES_ON, lingers=12.0)
    yield State("copy", "ssh to a silent host", lambda stage, run: [
        "copy", "-r", "--no-history", "-e", f"ssh -F {stage.keys}/ssh_config -p {SILENT}", stage.files / "large", "127.0.0.1:/x"], GOES_ON)
    yield State("far clean", "silent host", lambda stage, run: [
        "far", "clean", "-e", f"ssh -F {stage.keys}/ssh_config -p {SILENT}", "127.0.0.1"], STOPPED, lingers=12.0)
    yield State("copy-far", "first line", lambda stage, run: ["copy-far"], STOPPED | SERVED, holds_input=True)


def pipes():
    def words(*more):
        return lambda stage, run: ["pipe", *ssh(stage, run), *[word.format(run=run) for word in more]]

    def to_server(stage, run):
        return ["pipe", "--token-file", stage.token(), "-", stage.at(SERVER, f"{run.relative_to(stage.folder)}/got")]

    def to_silent(host, port):
        return lambda stage, run: ["pipe", "--token-file", stage.token(), "-", stage.at(port, "got", host)]
    # The input has no end. A program gets two seconds, and the far end may have to find out that the near end is gone.
    waits = {"holds_input": True, "lingers": 12.0}
    yield State("pipe", "ssh, starting", words("-", "127.0.0.1:{run}/got"), STOPPED, within=0.3, **waits)
    yield State("pipe", "into a file", words("-", "127.0.0.1:{run}/got"), STOPPED, begins=part_is_there, **waits)
    yield State("pipe", "into a program", words("127.0.0.1", "--", "sh", "-c", "cat > {run}/part && mv {run}/part {run}/whole"), STOPPED,
                begins=lambda run, log: (run / "part").exists(), **waits)
    yield State("pipe", "into a program that ignores signals", words("127.0.0.1", "--", "sh", "-c", "trap '' TERM; touch {run}/part; cat; cat"),
                STOPPED, begins=lambda run, log: (run / "part").exists(), **waits)
    yield State("pipe", "out of a program", words("-n", "127.0.0.1", "--", "sleep", "100"), STOPPED, lingers=12.0)
    yield State("pipe", "into a server", to_server, STOPPED, begins=part_is_there, holds_input=True)
    yield State("pipe", "silent host", to_silent("127.0.0.1", SILENT), STOPPED, holds_input=True)
    yield State("pipe", "dropped packets", to_silent(DROPPED, SERVER), STOPPED, holds_input=True)


def copy_that_stands(stage, trial):
    """`limit` asks a copy that does not answer."""
    copy = trial.helper(stage.program, *copying("--max-rate", "1M")(stage, trial.run))
    wait_for(lambda: part_is_there(trial.run, None), 10)
    copy.send_signal(signal.SIGSTOP)


def with_campaign(**how):
    def prepare(stage, trial):
        trial.campaign = stage.campaign(trial.run, **how)
    return prepare


def then(prepare, *words):
    """Another command on the same campaign before."""
    def both(stage, trial):
        prepare(stage, trial)
        trial.helper(stage.program, *[trial.campaign if word == "C" else word for word in words])
        wait_for(lambda: part_is_there(trial.run, None), 10)
    return both


def on(*words):
    """A command on the trial's campaign, C, or its plan, P."""
    def made(stage, run):
        places = {"C": run / "campaign", "P": run / "plan.toml", "WEB": f"127.0.0.1:{next(stage.ports)}"}
        return [places.get(word, word) for word in words]
    return made


def quiet_now():
    now = datetime.datetime.now(datetime.timezone.utc)
    ends = [(now + datetime.timedelta(hours=hours)).strftime("%H:%M") for hours in (-1, 2)]
    return f'rate = "4Mbit/s"\nquiet = ["{ends[0]}-{ends[1]}"]'


def quiet_soon(stage, trial):
    """From the next minute on, with shards so short that most of the time a slot is kept for the next one."""
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=65)
    ends = [(now + datetime.timedelta(hours=hours)).strftime("%H:%M") for hours in (0, 2)]
    trial.campaign = stage.campaign(trial.run, source="many", link=f'copies = 1\nquiet = ["{ends[0]}-{ends[1]}"]', shard=2)


def campaigns():
    shard = "raw-1-00001"
    yield State("campaign plan", "many files", on("campaign", "plan", "P", "C"), GOES_ON | STOPPED | SERVED, within=0.05,
                prepare=with_campaign(source="many", plan=False))
    yield State("campaign run", "copying", on("campaign", "run", "C"), GOES_ON, prepare=with_campaign())
    yield State("campaign run", "copying one shard", on("campaign", "run", "C", shard), GOES_ON, prepare=with_campaign())
    yield State("campaign run", "many files", on("campaign", "run", "C"), GOES_ON, prepare=with_campaign(source="many"))
    yield State("campaign run", "quiet hours", on("campaign", "run", "C"), GOES_ON, prepare=with_campaign(link=quiet_now()))
    yield State("campaign run", "quiet hours that begin between shards", on("campaign", "run", "C"), GOES_ON, begins=says("quiet"),
                begins_within=75.0, prepare=quiet_soon)
    yield State("campaign run", "files that another copy has", on("campaign", "run", "C"), GOES_ON, begins=says("another copy is writing"),
                prepare=holding("there/.a.trunkline-part", with_campaign()))
    yield State("campaign run", "far end away", on("campaign", "run", "C"), GOES_ON, prepare=with_campaign(port=CLOSED))
    yield State("campaign run", "silent far end", on("campaign", "run", "C"), GOES_ON, prepare=with_campaign(port=SILENT))
    yield State("campaign run", "another holds the slot", on("campaign", "run", "C"), GOES_ON,
                prepare=then(with_campaign(), "campaign", "run", "C"))
    yield State("campaign run", "--wait for another run", on("campaign", "run", "C", shard, "--wait"), GOES_ON,
                prepare=then(with_campaign(), "campaign", "run", "C", shard))
    yield State("campaign run", "turn at the server", on("campaign", "run", "C"), GOES_ON, prepare=with_campaign(port=ONE_COPY))
    yield State("campaign verify", "silent far end", on("campaign", "verify", "C"), GOES_ON | STOPPED,
                prepare=done_then_silent)
    yield State("campaign status", "page", on("campaign", "status", "C", "--web", "WEB"), SERVED, prepare=with_campaign())


def done_then_silent(stage, trial):
    """All shards are done, and then the far end says nothing."""
    trial.campaign = stage.campaign(trial.run, source="many", link='copies = 2')
    subprocess.run([stage.program, "campaign", "run", "-q", trial.campaign], check=True, stderr=subprocess.DEVNULL)
    for file in (*trial.campaign.rglob("*.toml"), *trial.campaign.rglob("plan.json"), trial.run / "plan.toml"):
        file.write_text(file.read_text().replace(f":{SERVER}", f":{SILENT}"))


def watching(collector):
    def words(stage, run):
        port = next(stage.ports)
        return ["watch", "run", stage.watch_plan(run, port), "--host", "a", "--collector", collector, "--token-file",
                stage.token("a"), "--state", run / "state", "-p", port]
    return words


def collector(stage, run, trial):
    return ["watch", "serve", stage.folder / "watch.toml", "--tokens", stage.folder / "tokens", "--database", run / "watch.db",
            "-p", next(stage.ports), "--web", f"127.0.0.1:{trial.port}"]


def follower(stage, trial):
    """A browser that asks for a page and reads nothing."""
    trial.port = next(stage.ports)

    def follow():
        if wait_for(lambda: trial.listens(trial.port), 20):
            trial.browser = socket.create_connection(("127.0.0.1", trial.port))
            trial.browser.sendall(b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    threading.Thread(target=follow, daemon=True).start()


def alerts(stage, run):
    (run / "alerts.toml").write_text(f'[[webhook]]\nurl = "http://127.0.0.1:{SILENT}/"\n')
    return ["watch", "test-alerts", run / "alerts.toml"]


def servers():
    serve = lambda stage, run: stage.server(next(stage.ports))[1:]  # noqa: E731
    yield State("serve", "files and tests", serve, SERVED, outlives_hangup=True)
    yield State("serve", "tests alone", lambda stage, run: ["serve", "-p", next(stage.ports)], SERVED, is_plain=True)
    yield State("serve", "a copy and a test run", lambda stage, run, trial: stage.server(trial.port)[1:], SERVED, outlives_hangup=True,
                prepare=used, begins=lambda run, log: part_is_there(run, log))
    yield State("watch run", "collector away", watching(f"127.0.0.1:{CLOSED}"), SERVED, within=6.0)
    yield State("watch run", "collector silent", watching(f"127.0.0.1:{SILENT}"), SERVED, within=6.0)
    yield State("watch run", "collector dropped", watching(f"{DROPPED}:5203"), SERVED, within=6.0)
    yield State("watch run", "visits", watching(f"127.0.0.1:{COLLECTOR}"), SERVED, within=6.0)
    yield State("watch serve", "with pages", collector, SERVED, prepare=follower, outlives_hangup=True)
    yield State("watch demo", "computing", lambda stage, run: ["watch", "demo", "--web", f"127.0.0.1:{next(stage.ports)}"],
                STOPPED | SERVED, within=4.0)
    yield State("watch test-alerts", "silent receiver", alerts, STOPPED, is_plain=True)


def used(stage, trial):
    trial.port = next(stage.ports)

    def use():
        if wait_for(lambda: trial.listens(trial.port), 20):
            trial.helper(stage.program, "measure", f"127.0.0.1:{trial.port}", "-t", "60s", "--no-history")
            target = stage.at(trial.port, trial.run.relative_to(stage.folder))
            trial.helper(*stage.copy(stage.files / "large", target, "--max-rate", "4M"))
    threading.Thread(target=use, daemon=True).start()


def others():
    yield State("limit", "copy that stands still", lambda stage, run, trial: ["limit", trial.helpers[0].pid, "50M"], STOPPED, is_plain=True, prepare=copy_that_stands)
    yield State("simulate", "large grid", lambda stage, run: [
        "simulate", "slac-cern", "-P", "1..40", "-w", "auto,64k,256k", "--seeds", "20", "-t", "600s", "--no-cache", "--no-history"],
        STOPPED)
    yield State("simulate", "one long run", lambda stage, run: [
        "simulate", "slac-cern", "-P", "100", "-t", "86000s", "--no-cache", "--no-history"], STOPPED)
    yield State("verify", "list from a pipe", lambda stage, run: ["verify", "-"], STOPPED, is_plain=True, holds_input=True)
    yield State("study", "all", lambda stage, run: ["study", "all", "--no-cache", "--out", run / "studies"], STOPPED)
    yield State("study", "programs", lambda stage, run: ["study", "striping", "--programs", "--no-cache"], STOPPED)
    yield State("emulate", "program", lambda stage, run: ["emulate", "slac-cern", "--", "sleep", "100"], ENDED)
    yield State("emulate", "programs at both ends", lambda stage, run: [
        "emulate", "slac-cern", "--far", "sleep 100", "--", "sleep", "100"], ENDED)
    yield State("emulate", "program that ignores signals", lambda stage, run: [
        "emulate", "slac-cern", "--", "sh", "-c", "trap '' INT TERM HUP; sleep 100; sleep 100"], {137},
        # It is asked for two seconds, and then killed.
        seconds=3.0)
    yield State("demo", "running", lambda stage, run: ["demo", "--no-history", "--report", run / "demo.html"], STOPPED, within=5.0)


ALL = [*targets(), *copies(), *pipes(), *campaigns(), *servers(), *others()]
