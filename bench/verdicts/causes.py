"""What is made to limit a copy: each cause with its truth, and how the world is set up for it."""

import contextlib
import dataclasses
import os
import pathlib
import subprocess

BLKIO = pathlib.Path("/sys/fs/cgroup/blkio")
CPU = pathlib.Path("/sys/fs/cgroup/cpu")


@dataclasses.dataclass(frozen=True)
class Path:
    """An emulated path, or loopback where it has no rate."""

    name: str
    mbits: int = 0
    rtt_ms: float = 0


@dataclasses.dataclass(frozen=True)
class Cause:
    """What limits, by the names that are right; how large the file is, in seconds of the path at its full rate."""

    name: str
    right: tuple
    paths: tuple
    seconds: float = 4
    options: tuple = ()
    more: str = ""
    far_hosts: str = ""
    near_hosts: str = ""
    files: int = 1
    slow: str = ""
    part: float = 0.2


LAN = Path("lan", 200, 1)
METRO = Path("metro", 100, 20)
LONG = Path("long", 40, 100)
FAT = Path("fat", 1000, 300)
LOOPBACK = Path("loopback")
ALL = (LAN, METRO, LONG)

CAUSES = [
    Cause("slow source", ("sender-disk",), (LAN, LONG, LOOPBACK), seconds=1.5, slow="source"),
    Cause("slow destination", ("receiver-disk",), (LAN, LONG, LOOPBACK), seconds=1.5, slow="destination"),
    Cause("busy sender", ("sender-processor",), (LAN, METRO), seconds=1.5, slow="sender", part=0.15),
    Cause("busy receiver", ("receiver-processor",), (LAN, METRO), seconds=1.5, slow="receiver", part=0.15),
    Cause("small receive buffer", ("receive-buffer",), (METRO, LONG), seconds=1.5, options=("--streams", "2"),
          far_hosts='receive_buffer_max = "64KiB"'),
    Cause("small send buffer", ("send-buffer",), (METRO, LONG), seconds=1.5, options=("--streams", "2"),
          near_hosts='send_buffer_max = "64KiB"'),
    Cause("full link", ("link",), ALL, seconds=8),
    Cause("random loss", ("loss",), (METRO, LONG), seconds=1, options=("--streams", "2"),
          more='loss = { kind = "random", rate = 0.01 }'),
    Cause("rate limit", ("rate-limit",), (*ALL, LOOPBACK), seconds=2, options=("--max-rate",)),
    Cause("gentle", ("gentle",), (*ALL, LOOPBACK), seconds=6, options=("--gentle",)),
    Cause("tiny files, long round trip", ("round-trips",), (FAT,), files=300),
    Cause("one host", ("host", "several"), (LOOPBACK,), seconds=20),
]

# The rate to which loopback copies are compared where something slow is made.
LOOPBACK_MBITS = 200


def mbits(path):
    return path.mbits or LOOPBACK_MBITS


LARGE = '"64MiB"'


def path_file(folder, path, cause):
    """A queue of one product of rate and round trip, and buffers of either host that do not bind unless the cause is that."""
    queue = max(64, int(path.mbits * path.rtt_ms / 8))
    lines = [
        "[forward]", f'rate = "{path.mbits}Mbit/s"', f'delay = "{path.rtt_ms / 2}ms"',
        f'queue = {{ kind = "drop-tail", limit = "{queue}KiB" }}', cause.more,
        "[hosts]", 'congestion = "cubic"',
        cause.near_hosts or f"send_buffer_max = {LARGE}", f"receive_buffer_max = {LARGE}",
        "[hosts.far]", f"send_buffer_max = {LARGE}", cause.far_hosts or f"receive_buffer_max = {LARGE}",
    ]
    file = folder / f"{path.name}.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


@contextlib.contextmanager
def block_device(folder, name, megabytes):
    """A file system of its own on a loop device whose image is in memory. Gives the device's numbers and the mount point."""
    image, place = folder / f"{name}.image", folder / name
    place.mkdir()
    subprocess.run(["truncate", "-s", f"{megabytes}M", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-O", "^has_journal", image], check=True)
    device = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=True).stdout.strip()
    try:
        subprocess.run(["mount", device, place], check=True)
        numbers = os.stat(device).st_rdev
        yield device, f"{os.major(numbers)}:{os.minor(numbers)}", place
    finally:
        subprocess.run(["umount", place], check=False)
        subprocess.run(["losetup", "-d", device], check=False)


@contextlib.contextmanager
def group(root, **settings):
    """A control group whose processes are slowed down."""
    place = root / f"trunkline-verdicts-{os.getpid()}"
    place.mkdir(exist_ok=True)
    try:
        for name, value in settings.items():
            for kind in ("cpu.cfs_", "blkio.throttle."):
                if (place / (kind + name)).exists():
                    (place / (kind + name)).write_text(value)
        yield place
    finally:
        with contextlib.suppress(OSError):
            place.rmdir()


@contextlib.contextmanager
def throttled_writes(numbers, bytes_per_second):
    """The kernel writes dirty pages back from the root group."""
    file = BLKIO / "blkio.throttle.write_bps_device"
    file.write_text(f"{numbers} {bytes_per_second}")
    try:
        yield
    finally:
        file.write_text(f"{numbers} 0")
