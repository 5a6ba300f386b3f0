"""The two ends of one run: a server and a client, each in its own network namespace.

Both are told what to do by a file `plan.json` in the folder of the run, and leave `client.json` and `server.json` there.
The folder is on a file system that both ends see, which is also how they wait for each other.
"""

import ctypes
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
LISTEN = "0A"


def wait_for(condition, seconds):
    """Whether the condition came true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def listens(port):
    """Whether anybody in this namespace listens on the port; asking the kernel disturbs no server."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in open(table).readlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and int(fields[1].rsplit(":", 1)[1], 16) == port:
                return True
    return False


def children():
    tasks = pathlib.Path("/proc/self/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]


def end_children(first):
    """Ends what is left of the server and collects all of it, orphans too, so that its processor time is counted."""
    if first.poll() is None:
        first.send_signal(signal.SIGTERM)
    hard = time.monotonic() + 1
    while children():
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        for pid in children():
            try:
                os.kill(pid, signal.SIGTERM if time.monotonic() < hard else signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def usage_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"processor_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


def hide_start_up_files():
    """ssh runs commands in the user's shell, and bash then reads `.bashrc`: what this host's user has in there is no
    program's merit. The mount is seen in this namespace only."""
    for name in (".bashrc", ".zshenv"):
        file = pathlib.Path.home() / name
        if os.geteuid() == 0 and file.exists():
            subprocess.run(["mount", "--bind", "/dev/null", file], check=True)


def serve(run, plan):
    """Runs the server until the client is done."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    hide_start_up_files()
    with open(run / "server.log", "wb") as log:
        server = subprocess.Popen(plan["server"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    ready = wait_for(lambda: listens(plan["port"]) or server.poll() is not None, 10)
    (run / "ready").write_text("yes" if ready and server.poll() is None else "no")
    wait_for((run / "client.json").exists, plan["cap_seconds"] + 30)
    end_children(server)
    publish(run / "server.json", usage_of_children())


def client(run, plan):
    """Runs the client; what is measured is from its start to its end."""
    if not wait_for((run / "ready").exists, 15) or (run / "ready").read_text() != "yes":
        publish(run / "client.json", {"error": "the server did not listen: " + last_line(run / "server.log")})
        return
    environment = {**os.environ, **plan["environment"]}
    with open(run / "client.log", "wb") as log:
        beside = start_beside(plan, log)
        begin = time.monotonic()
        process = subprocess.Popen(plan["client"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                   start_new_session=True)
        capped = threading.Timer(plan["cap_seconds"], lambda: os.killpg(process.pid, signal.SIGKILL))
        capped.start()
        code = process.wait()
        seconds = time.monotonic() - begin
        capped.cancel()
        if beside:
            end_children(beside)
    result = {"seconds": seconds, "code": code, "capped": seconds >= plan["cap_seconds"], **usage_of_children()}
    if code != 0 and not result["capped"]:
        result["error"] = f"exit status {code}: {last_line(run / 'client.log')}"
    publish(run / "client.json", result)


def start_beside(plan, log):
    """A server at this end too, where a tool copies between two of them."""
    if "beside" not in plan:
        return None
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    server = subprocess.Popen(plan["beside"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    wait_for(lambda: listens(plan["port"]), 10)
    return server


def publish(file, value):
    """Nobody reads half of it."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(value))
    part.rename(file)


def last_line(file):
    lines = file.read_text(errors="replace").strip().splitlines() if file.exists() else []
    return " / ".join(lines[-3:])[:500]


def loopback(port):
    """The address of this host that goes with a port: cases take turns over IPv6, as their ports do.

    TRUNKLINE_FAMILY decides for all, 4 or 6.
    """
    family = os.environ.get("TRUNKLINE_FAMILY") or ("6" if port % 2 else "4")
    return {"4": "127.0.0.1", "6": "::1"}[family]


def at(port):
    """The same with the port, as in a URL."""
    host = loopback(port)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def main():
    role, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    plan = json.loads((folder / "plan.json").read_text())
    if role == "serve":
        return serve(folder, plan)
    if role == "both":
        if os.fork() == 0:
            serve(folder, plan)
            os._exit(0)
        client(folder, plan)
    else:
        # `emulate` waits until somebody listens in the far namespace.
        with socket.create_server(("127.0.0.1", 0)):
            client(folder, plan)
    wait_for((folder / "server.json").exists, 10)


if __name__ == "__main__":
    main()
