"""ruptures and Apache Otava on the series that `watch-detection --csv` wrote.

Both look at a finished series. To see when they would answer, each gets the two weeks up to the
third, the sixth and the 24th visit after the change, and up to a week after it; the change is found
when a change point lies within three visits of it. What they find in the two weeks before (and in
each two weeks of a series without a change) is false.

    offline.py SERIES.csv RESULTS.csv

Needs ruptures and apache-otava, see requirements.txt.
"""

import csv
import sys
from collections import defaultdict

import numpy
import ruptures
from otava.analysis import compute_change_points

WEEKS = 672
NEAR = 3


def pelt(values):
    """PELT with a Gaussian cost of the mean on standardised values, penalty 3 ln n."""
    spread = numpy.subtract(*numpy.percentile(values, [75, 25])) / 1.349
    signal = (values - numpy.median(values)) / max(spread, 1e-9)
    found = ruptures.Pelt(model="l2", min_size=3, jump=1).fit(signal)
    return found.predict(pen=3 * numpy.log(len(values)))[:-1]


def otava(values):
    """E-divisive with t tests as Otava runs it by default: windows of 50, p below 0.001."""
    return [point.index for point in compute_change_points(list(values))[0]]


METHODS = {"ruptures, PELT": pelt, "Otava": otava}


def points(method, rows):
    """The change points of all metrics, those within six visits counted once."""
    found = []
    for column in ("goodput", "rtt", "resent"):
        values = numpy.array([row[column] for row in rows])
        if len(values) > 20 and values.max() > values.min():
            found += method(values)
    merged = []
    for point in sorted(found):
        if not merged or point - merged[-1] > 6:
            merged.append(point)
    return found, merged


def delay(method, rows, changed):
    """Visits until the change is found, of 3, 6, 24 and 336; None where it is not."""
    for visits in (3, 6, 24, 336):
        end = changed + visits
        start = max(0, end - WEEKS)
        if end > len(rows):
            return None
        found, _ = points(method, rows[start:end])
        if any(abs(start + point - changed) <= NEAR for point in found):
            return visits
    return None


def main(series, results):
    rows = defaultdict(list)
    with open(series, newline="") as file:
        for row in csv.DictReader(file):
            key = (row["fault"], row["path"], int(row["seed"]), float(row["size"]))
            values = {name: float(row[name]) for name in ("goodput", "rtt", "resent")}
            rows[key].append((int(row["after"]), values))
    with open(results, "w", newline="") as file:
        out = csv.writer(file)
        for (fault, path, seed, size), visits in rows.items():
            values = [value for _, value in visits]
            changed = sum(1 for after, _ in visits if not after)
            for name, method in METHODS.items():
                first = max(0, changed - WEEKS)
                false = len(points(method, values[first:changed])[1])
                months = (changed - first) / 1440
                found = None if fault == "none" else delay(method, values, changed)
                out.writerow([name, fault, path, seed, size, found or "", false, months])
            print(fault, path, seed, file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
