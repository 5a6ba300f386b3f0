"""The two families of scenarios on which trunkline simulate is compared with ns-2.

`balancing`: socket buffers against streams, with and without cross traffic, 100 Mbit/s and 40 ms.
`striping`: half a gigabyte over 1 to 1000 streams, 155 Mbit/s and 80 ms; once as ns-2 does it by itself, and
once with a random delay of up to 0.12 ms before each packet is sent, as balancing has it in both simulators.
"""

import csv
import dataclasses
import statistics
from collections.abc import Callable

from common import ROOT

MSS = 1460
CROSS_BUFFER_KIB = 64

# Without it, senders in lockstep meet the same place in the queue again and again.
JITTER = {"jitter": 0.00012}
# What ns-2 is asked for in every cell; the rest is the cell's.
BALANCING = {"rate": 100e6, "rtt": 0.04, "queue_packets": 100, "duration": 100, "warmup": 20} | JITTER
STRIPING = {"rate": 155e6, "rtt": 0.08, "window_packets": 100000, "transfer": 500_000_000, "duration": 20000,
            "warmup": 0}


def window_packets(buffer_kib):
    """Whole segments that fit into a buffer."""
    return buffer_kib * 1024 // MSS


@dataclasses.dataclass(frozen=True)
class Family:
    name: str
    keys: tuple  # that name a cell
    cells: tuple  # values of the keys
    counted: tuple  # what ns-2 prints and the table keeps
    settings: Callable  # of a cell, for ns-2

    @property
    def file(self):
        return ROOT / "bench" / "results" / f"ns2-{self.name}.csv"

    def ns2_settings(self, cell):
        return self.settings(**dict(zip(self.keys, cell)))

    def stored(self):
        """Cell -> the row that ns-2 gave for it, as numbers."""
        if not self.file.exists():
            return {}
        with self.file.open() as file:
            rows = [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]
        return {tuple(row[key] for key in self.keys): row for row in rows}

    def store(self, rows):
        """Writes `rows` in the order of the grid."""
        columns = [*self.keys, "seeds", *(f"{name}_{kind}" for name in self.counted for kind in ("mean", "sd"))]
        part = self.file.with_suffix(".part")
        with part.open("w", newline="") as file:
            table = csv.DictWriter(file, columns, lineterminator="\n")
            table.writeheader()
            table.writerows(rows[cell] for cell in self.cells if cell in rows)
        part.replace(self.file)

    def row(self, cell, documents):
        """Means and standard deviations over the seeds."""
        row = dict(zip(self.keys, cell)) | {"seeds": len(documents)}
        for name in self.counted:
            values = [document[name] for document in documents]
            row[f"{name}_mean"] = f"{statistics.mean(values):.6g}"
            row[f"{name}_sd"] = f"{deviation(values):.4g}"
        return row


def number(text):
    return int(text) if text.isdigit() else float(text)


def deviation(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def bdp_packets(payload):
    """Packets in one bandwidth-delay product of the striping path."""
    return round(STRIPING["rate"] * STRIPING["rtt"] / 8 / (payload + 40))


def balancing_settings(cross, streams, buffer_kib):
    own = {"streams": streams, "window_packets": window_packets(buffer_kib)}
    others = {"cross": cross, "cross_window_packets": window_packets(CROSS_BUFFER_KIB)}
    return BALANCING | own | others


def balancing():
    cells = [(cross, streams, buffer)
             for cross in (0, 5, 12)
             for streams in (1, 2, 4, 6, 8, 10, 12, 16, 20, 30, 40)
             for buffer in (16, 32, 64, 128, 256, 512)]
    counted = ("goodput_mbps", "cross_mbps", "jain", "queue_drops", "resent", "timeouts", "utilisation",
               "mean_queue_packets")
    return Family("balancing", ("cross", "streams", "buffer_kib"), tuple(cells), counted, balancing_settings)


def striping(name, more):
    cells = [(payload, queue, loss, streams)
             for payload in (1460, 9000)
             for queue in (bdp_packets(payload), 100)
             for loss in (0, 0.001)
             for streams in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)]
    counted = ("completion_seconds", "goodput_mbps", "queue_drops", "wire_losses", "resent", "timeouts")
    keys = ("payload", "queue_packets", "loss", "streams")
    return Family(name, keys, tuple(cells), counted, lambda **cell: STRIPING | cell | more)


FAMILIES = [balancing(), striping("striping", {}), striping("striping-jittered", JITTER)]
