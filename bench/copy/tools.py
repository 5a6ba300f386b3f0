"""The programs that are compared, each run as its manual recommends.

A tool makes a plan of what it needs: the server's command and port, the client's command, further environment. `host` is
where the server is; a tool that pulls has its client at the receiving end.
"""

import dataclasses
import getpass
import os
import pathlib
import shutil
import subprocess

SSH_PORT = 2222
GRIDFTP_PORT = 2811
XROOTD_PORT = 1094
TAR_PORT = 9000
RSYNC_PORT = 8730
COPY_PORT = 5201
# An unprivileged user for servers that refuse to be root.
NOBODY = "nobody"


@dataclasses.dataclass
class Place:
    """Where a run takes place."""
    keys: pathlib.Path      # shared by all runs: keys and configurations
    run: pathlib.Path       # of this run
    source: pathlib.Path
    target: pathlib.Path    # the folder into which the source is copied
    host: str               # of the server
    trunkline: str
    syq: str

    @property
    def is_tree(self):
        return self.source.is_dir()

    @property
    def result(self):
        return self.target / self.source.name


@dataclasses.dataclass
class Tool:
    """One program with one setting."""
    name: str
    plan: object                    # Place -> dict of server, port, client, environment
    kind: str = "peer"              # `ours`, `peer` or `baseline`
    only: tuple = ()                # data sets; empty for all
    pulls: bool = False
    default: bool = False           # what somebody gets who sets nothing
    needs: str = ""                 # the program that has to be there
    fast: bool = False              # differs from another one in processor time only
    # What it does to every byte, at both ends; None where that is not known. The code that an encrypted record has
    # against forgery is no hash of the file.
    hashes: bool | None = None
    encrypts: bool | None = None


# --- ssh ------------------------------------------------------------------------------------------------------------

def prepare_keys(folder):
    """Keys and configurations of an ssh server and its clients that touch nothing of this host's own."""
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    sftp = next((path for path in ("/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server")
                 if os.path.exists(path)), "internal-sftp")
    (folder / "sshd_config").write_text(f"""
Port {SSH_PORT}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
UseDNS no
MaxStartups 200
MaxSessions 200
Subsystem sftp {sftp}
""")
    (folder / "ssh_config").write_text(f"""
Host *
  Port {SSH_PORT}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking no
  BatchMode yes
  LogLevel ERROR
""")
    # sshd wants this folder for the part of it that has no rights.
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)


def over_ssh(client, environment=None):
    """A plan with an ssh server."""
    def plan(place):
        server = ["/usr/sbin/sshd", "-D", "-e", "-f", str(place.keys / "sshd_config")]
        return {"server": server, "port": SSH_PORT, "client": client(place),
                "environment": environment(place) if environment else {}}
    return plan


def ssh(place, *more):
    return " ".join(["ssh", "-F", str(place.keys / "ssh_config"), *more])


AES = "aes128-gcm@openssh.com"


def scp(*more):
    def client(place):
        recursive = ["-r"] if place.is_tree else []
        return ["scp", "-F", str(place.keys / "ssh_config"), "-q", *more, *recursive, str(place.source),
                f"{place.host}:{place.target}/"]
    return over_ssh(client)


def rsync(*more):
    def client(place):
        return ["rsync", "-a", "-e", ssh(place, *more), str(place.source), f"{place.host}:{place.target}/"]
    return over_ssh(client)


def nothing_over_ssh(place):
    """What starting ssh takes, and then the kernel's own copy: the least for a copy over ssh within one host."""
    return ["sh", "-c", f"{ssh(place)} {place.host} true && cp {place.source} {place.result}"]


def rclone(parts, pulls):
    def client(place):
        remote = f":sftp,host={place.host},port={SSH_PORT},user={getpass.getuser()},key_file={place.keys}/user_key:"
        ends = [str(place.source), remote + str(place.result if place.is_tree else place.target)]
        if pulls:
            ends = [remote + str(place.source), str(place.result if place.is_tree else place.target)]
        return ["rclone", "copy", "--config", "/dev/null", "--transfers", str(parts), "--checkers", str(max(parts, 8)),
                "--multi-thread-streams", str(parts), "--multi-thread-cutoff", "16M", *ends]
    return over_ssh(client)


def syq(*more, remembers=False):
    def client(place):
        return [place.syq, "cp", str(place.source), *more, "--no-progress", "--quiet", "--rsh", ssh(place),
                "--syq-path", place.syq, "--to", place.host, "--into", str(place.target)]

    def environment(place):
        memory = place.keys / "syq" / place.run.parent.name
        memory.mkdir(parents=True, exist_ok=True)
        return {"SYQ_TUNING_CACHE": str(memory / "tuning.json") if remembers else "", "SYQ_NO_UPDATE_CHECK": "1"}
    return over_ssh(client, environment)


# --- servers of their own -------------------------------------------------------------------------------------------

def gridftp(streams, concurrency=1, two_servers=False):
    """With two servers the client only directs; its help says that pipelining is for that."""
    def plan(place):
        server = ["globus-gridftp-server", "-aa", "-anonymous-user", getpass.getuser(), "-allow-root", "-c", "/dev/null",
                  "-p", str(GRIDFTP_PORT), "-l", str(place.run / "gridftp.log"), "-data-interface"]
        url = f"ftp://{place.host}:{GRIDFTP_PORT}{place.result}"
        client = ["globus-url-copy", "-fast", "-p", str(streams)]
        source = f"file://{place.source}"
        if two_servers:
            source = f"ftp://near:{GRIDFTP_PORT}{place.source}"
        if place.is_tree:
            client += ["-r", "-cd", "-pp", "-cc", str(concurrency), f"{source}/", f"{url}/"]
        else:
            client += [source, url]
        # It would announce what it takes for its host's address, which in a fresh namespace is 127.0.0.1.
        plan = {"server": [*server, place.host], "port": GRIDFTP_PORT, "client": client, "environment": {}}
        # On loopback the one server is both.
        if two_servers and place.host == "far":
            plan["beside"] = [*server, "near"]
        if two_servers and place.host == "localhost":
            client[:] = [word.replace("ftp://near", "ftp://localhost") for word in client]
        return plan
    return plan


def xrootd(streams, parallel=4):
    def plan(place):
        configuration = place.run / "xrootd.cfg"
        admin = place.run / "xrootd"
        admin.mkdir(mode=0o777)
        admin.chmod(0o777)
        configuration.write_text(f"all.export {place.target}\nall.adminpath {admin}\nall.pidpath {admin}\n"
                                 f"xrd.port {XROOTD_PORT}\nxrd.network nodnr\n")
        server = ["xrootd", "-c", str(configuration), "-l", "-", "-n", "bench"]
        if os.geteuid() == 0:
            server += ["-R", NOBODY]
        url = f"root://{place.host}:{XROOTD_PORT}/"
        # xrdcp 5 takes 1 to 15 for -S and refuses 0, which is what it does without the option.
        client = ["xrdcp", "--silent", "--nopbar", *(["-S", str(streams)] if streams else [])]
        if place.is_tree:
            client += ["-r", "--parallel", str(parallel), str(place.source), f"{url}{place.target}/"]
        else:
            client += [str(place.source), f"{url}{place.result}"]
        return {"server": server, "port": XROOTD_PORT, "client": client, "environment": {}}
    return plan


def tar(place):
    """One TCP stream with buffers of 4 MiB, and tar at both ends: nothing waits for an answer per file."""
    buffers = "sndbuf=4194304,rcvbuf=4194304"
    server = ["socat", "-t", "600", f"TCP-LISTEN:{TAR_PORT},reuseaddr,{buffers}", f"EXEC:tar -C {place.target} -xf -"]
    client = (f"tar -C {place.source.parent} -cf - {place.source.name} | "
              f"socat -b 262144 -t 600 - TCP:{place.host}:{TAR_PORT},{buffers}")
    return {"server": server, "port": TAR_PORT, "client": ["sh", "-c", client], "environment": {}}


def socat(is_encrypted):
    """One file through one stream, with nothing else done to it: what reading, sending, receiving and writing cost.
    With TLS, its version 1.3 by OpenSSL, which prefers AES-256-GCM. Nothing is confirmed, so the client looks at the
    length of the result."""
    def plan(place):
        listen, connect = f"TCP-LISTEN:{TAR_PORT},reuseaddr", f"TCP:{place.host}:{TAR_PORT}"
        if is_encrypted:
            pem = place.run / "tls.pem"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                            "-nodes", "-days", "2", "-subj", "/CN=bench", "-keyout", pem, "-out", f"{pem}.crt"],
                           check=True, capture_output=True)
            pem.write_text(pem.read_text() + pathlib.Path(f"{pem}.crt").read_text())
            listen, connect = f"OPENSSL-LISTEN:{TAR_PORT},reuseaddr,verify=0,cert={pem}", f"OPENSSL{connect[3:]},verify=0"
        server = ["socat", "-u", "-b", "65536", listen, f"CREATE:{place.result}"]
        length = f'"$(stat -c %s {place.result} 2>/dev/null || echo 0)"'
        client = (f"socat -u -b 65536 OPEN:{place.source},rdonly {connect} && "
                  f"until [ {length} -ge {place.source.stat().st_size} ]; do sleep 0.005; done")
        return {"server": server, "port": TAR_PORT, "client": ["sh", "-c", client], "environment": {}}
    return plan


def rsync_daemon(place):
    """In the clear; a new file is hashed at both ends (xxh128 since rsync 3.2)."""
    configuration = place.run / "rsyncd.conf"
    rights = "uid = root\ngid = root\n" if os.geteuid() == 0 else ""
    configuration.write_text(f"use chroot = no\n{rights}[data]\npath = {place.target}\nread only = no\n")
    server = ["rsync", "--daemon", "--no-detach", f"--port={RSYNC_PORT}", f"--config={configuration}"]
    client = ["rsync", "-a", "--whole-file", str(place.source), f"rsync://{place.host}:{RSYNC_PORT}/data/"]
    return {"server": server, "port": RSYNC_PORT, "client": client, "environment": {}}


# --- ours -----------------------------------------------------------------------------------------------------------

def ours_over_ssh(*more):
    def client(place):
        return [place.trunkline, "copy", "-r", *more, "-e", ssh(place), "--far-program", place.trunkline, str(place.source),
                f"{place.host}:{place.target}/"]
    return over_ssh(client, own_archive)


def ours_to_server(*more):
    def plan(place):
        tokens = place.run / "tokens"
        made = subprocess.run([place.trunkline, "serve", "--tokens", tokens, "--new-token", "bench"], capture_output=True,
                              text=True, check=True)
        server = [place.trunkline, "serve", "--root", str(place.target), "--tokens", str(tokens), "-p", str(COPY_PORT)]
        client = [place.trunkline, "copy", "-r", *more, str(place.source), f"trunkline://{place.host}:{COPY_PORT}/"]
        return {"server": server, "port": COPY_PORT, "client": client,
                "environment": {**own_archive(place), "TRUNKLINE_TOKEN": made.stdout.strip()}}
    return plan


def own_archive(place):
    """Every run is the first to this host."""
    return {"XDG_DATA_HOME": str(place.run / "data"), "XDG_STATE_HOME": str(place.run / "state")}


TREES = ("tree", "mixed")

ALL = [
    Tool("trunkline", ours_over_ssh(), kind="ours", default=True, needs="trunkline", hashes=True, encrypts=True),
    Tool("trunkline --plain", ours_over_ssh("--plain"), kind="ours", needs="trunkline", fast=True, hashes=True, encrypts=False),
    Tool("trunkline to serve", ours_to_server(), kind="ours", default=True, needs="trunkline", hashes=True, encrypts=True),
    Tool("trunkline to serve --plain", ours_to_server("--plain"), kind="ours", needs="trunkline", fast=True, hashes=True, encrypts=False),
    Tool("scp", scp(), default=True, needs="scp", hashes=False, encrypts=True),
    Tool("scp -c aes128-gcm", scp("-c", AES), needs="scp", fast=True, hashes=False, encrypts=True),
    Tool("rsync -a", rsync(), default=True, needs="rsync", hashes=True, encrypts=True),
    Tool("rsync -a, aes128-gcm", rsync("-c", AES), needs="rsync", fast=True, hashes=True, encrypts=True),
    Tool("globus -p 1", gridftp(1), only=("file",), default=True, needs="globus-url-copy", hashes=False, encrypts=False),
    Tool("globus -p 4", gridftp(4), only=("file",), needs="globus-url-copy", hashes=False, encrypts=False),
    Tool("globus -p 8", gridftp(8), only=("file",), needs="globus-url-copy", hashes=False, encrypts=False),
    Tool("globus -p 16", gridftp(16), only=("file",), needs="globus-url-copy", hashes=False, encrypts=False),
    Tool("globus -pp -cc 1 -p 1", gridftp(1, 1), only=TREES, default=True, needs="globus-url-copy"),
    Tool("globus -pp -cc 4 -p 4", gridftp(4, 4), only=TREES, needs="globus-url-copy"),
    Tool("globus -pp -cc 16 -p 1", gridftp(1, 16), only=TREES, needs="globus-url-copy"),
    Tool("globus two servers -pp -cc 1 -p 1", gridftp(1, 1, True), only=TREES, needs="globus-url-copy"),
    Tool("globus two servers -pp -cc 4 -p 4", gridftp(4, 4, True), only=TREES, needs="globus-url-copy"),
    Tool("globus two servers -pp -cc 16 -p 1", gridftp(1, 16, True), only=TREES, needs="globus-url-copy"),
    Tool("xrdcp -S 0", xrootd(0), only=("file",), default=True, needs="xrdcp"),
    Tool("xrdcp -S 4", xrootd(4), only=("file",), needs="xrdcp"),
    Tool("xrdcp -S 15", xrootd(15), only=("file",), needs="xrdcp"),
    Tool("xrdcp -S 0 --parallel 4", xrootd(0, 4), only=TREES, default=True, needs="xrdcp"),
    Tool("xrdcp -S 0 --parallel 64", xrootd(0, 64), only=TREES, needs="xrdcp"),
    Tool("xrdcp -S 4 --parallel 16", xrootd(4, 16), only=TREES, needs="xrdcp"),
    Tool("rclone put, 4", rclone(4, False), default=True, needs="rclone"),
    Tool("rclone put, 16", rclone(16, False), needs="rclone"),
    Tool("rclone get, 4", rclone(4, True), pulls=True, needs="rclone"),
    Tool("rclone get, 16", rclone(16, True), pulls=True, needs="rclone"),
    Tool("syq", syq(), default=True, needs="syq"),
    Tool("syq, remembering", syq(remembers=True), needs="syq", fast=True),
    Tool("syq --tcp-plain", syq("--tcp-plain"), needs="syq", fast=True),
    Tool("tar through one stream", tar, kind="baseline", needs="socat"),
    Tool("socat", socat(False), kind="baseline", only=("file",), needs="socat", fast=True, hashes=False, encrypts=False),
    Tool("socat, TLS", socat(True), kind="baseline", only=("file",), needs="socat", fast=True, hashes=False, encrypts=True),
    Tool("ssh true, then cp", over_ssh(nothing_over_ssh), kind="baseline", only=("file",), needs="ssh", fast=True,
         hashes=False, encrypts=False),
    Tool("rsync to a daemon", rsync_daemon, only=("file",), needs="rsync", fast=True, hashes=True, encrypts=False),
]
