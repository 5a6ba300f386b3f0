"""trunkline simulate as a program: path files, command lines, and what is read from its documents."""

import math
import pathlib

from common import TRUNKLINE

AS_NS2 = ["--compat", "ns2"]  # the TCP settings of the scripts in bench/ns

HOSTS = '[hosts]\nmtu = {mtu}\ncongestion = "reno"\nsend_buffer_max = "{buffer}"\nreceive_buffer_max = "{buffer}"\n'
FORWARD = '[forward]\nrate = "{rate:.0f}bit/s"\ndelay = "{delay:g}ms"\n' \
          'queue = {{ kind = "drop-tail", limit = "{queue_packets}packets" }}\n'
LOSS = 'loss = {{ kind = "random", rate = {loss} }}\n'


def path_file(folder, name, rate, rtt, queue_packets, loss=0, payload=1460, buffer="16MiB"):
    """Writes a path file for a dumbbell as ns-2 is asked for it: bit/s, seconds, packets.

    ns-2 counts the packet that is being sent as one of the queue; a path file does not.
    """
    forward = FORWARD.format(rate=rate, delay=rtt / 2 * 1e3, queue_packets=queue_packets - 1)
    forward += LOSS.format(loss=loss) if loss else ""
    file = pathlib.Path(folder) / f"{name}.toml"
    file.write_text(forward + "\n" + HOSTS.format(mtu=payload + 40, buffer=buffer))
    return file


def managed_path_file(folder, name, rate, rtt, queue, buffer="64MiB"):
    """Writes a path file for a dumbbell with another queue than drop-tail, whose fields are in `queue`."""
    forward = f'[forward]\nrate = "{rate:.0f}bit/s"\ndelay = "{rtt / 2 * 1e3:g}ms"\nqueue = {{ {queue} }}\n'
    file = pathlib.Path(folder) / f"{name}.toml"
    file.write_text(forward + "\n" + HOSTS.format(mtu=1500, buffer=buffer))
    return file


def command(path, streams, seeds, *more, variant="sack"):
    return [TRUNKLINE, "simulate", path, "-P", streams, "--variant", variant, "--seeds", seeds, *more,
            "--no-cache", "--json"]


def data_packets(document):
    """Offered to the bottleneck, by the streams and the cross traffic, over the whole of the first run."""
    return document["runs"][0]["data_packets"]


def per_seed(document):
    """What each seed gave, under the names that bench/ns/dumbbell.tcl uses."""
    return [
        {
            "goodput_mbps": run["goodput_bits_per_second"] / 1e6,
            "cross_mbps": run["cross_goodput_bits_per_second"] / 1e6,
            "queue_drops": run["drops_by_cause"]["queue_full"],
            "completion_seconds": run.get("completion_seconds", math.inf),
        }
        for run in document["runs"]
    ]
