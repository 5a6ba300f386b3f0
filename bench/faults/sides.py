"""The two ends of one trial. The near one gives the commands and judges; the far one serves, dies and comes back.

They speak through files of the trial's folder, which both see: `far.ready`, `far.kill`, `far.end`.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "copy")]

import playing
import scenes
import tools
from ends import hide_start_up_files, listens, wait_for

PORT = tools.COPY_PORT


def far_command(run, plan):
    if plan.get("far_command"):
        return plan["far_command"], plan["far_port"]
    if plan["by"] == "ssh":
        return ["/usr/sbin/sshd", "-D", "-e", "-f", f"{plan['keys']}/sshd_config"], tools.SSH_PORT
    tokens = run / "tokens"
    if not tokens.exists():
        scenes.make_token(run, plan)
    return [plan["trunkline"], "serve", "--root", str(run), "--tokens", str(tokens), "-p", str(PORT)], PORT


def far(run, plan):
    """Serves until told to end; what is killed is started again, as an init would."""
    hide_start_up_files()
    command, port = far_command(run, plan)
    log = open(run / "far.log", "ab")
    server = None
    while not (run / "far.end").exists():
        playing.note_arrived(run)
        if server is None or server.poll() is not None:
            server = subprocess.Popen(plan.get("far_prefix", []) + command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            wait_for(lambda: listens(port) or server.poll() is not None, 20)
            (run / "far.ready").touch()
        if (run / "far.kill").exists():
            (run / "far.kill").unlink()
            kill_trunklines(plan["trunkline"])
        time.sleep(0.01)
    server.kill()


def kill_trunklines(program):
    """kill -9 to every process of this namespace that is trunkline, but not to its first one."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(pid) > 1 and os.path.samefile(f"/proc/{pid}/exe", program):
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def main():
    role, run = sys.argv[1], pathlib.Path(sys.argv[2])
    plan = json.loads((run / "plan.json").read_text())
    if role == "far":
        far(run, plan)
    else:
        wait_for((run / "far.ready").exists, 30)
        result = scenes.play(run, plan)
        (run / "result.json").write_text(json.dumps(result))
        (run / "far.end").touch()


if __name__ == "__main__":
    main()
