"""Recomputes the table of months from probes: `months.py PROBES.ndjson MONTHS.csv`.

Written from PingER's tutorial, without a look at the Rust code: the two check each other.
"""

import csv
import datetime
import json
import math
import statistics
import sys


def quartile(values, share):
    """Definition 7 of Hyndman and Fan."""
    values = sorted(values)
    rank = share * (len(values) - 1)
    low = math.floor(rank)
    high = math.ceil(rank)
    return values[low] + (values[high] - values[low]) * (rank - low)


def month_of(at):
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m")


def figures(visits):
    found = {}
    answered = [v for v in visits if any(p is not None for p in v["probes"])]
    found["probed_visits"] = len(visits)
    found["unreachable_visits"] = len(visits) - len(answered)
    found["lossless_visits"] = sum(None not in v["probes"] for v in answered)
    found["probes_duplicated"] = sum(v["duplicated"] for v in visits)
    found["probes_reordered"] = sum(v["reordered"] for v in visits)
    followed = again = 0
    for visit in answered:
        for one, following in zip(visit["probes"], visit["probes"][1:]):
            followed += one is None
            again += one is None and following is None
    found["probes_lost_followed"], found["probes_lost_again"] = followed, again
    found["conditional_loss_ratio"] = again / followed if followed else None
    if not answered:
        return found
    sent = sum(len(v["probes"]) for v in answered)
    lost = sum(v["probes"].count(None) for v in answered)
    found["probes_sent"], found["probes_lost"] = sent, lost
    found["loss_ratio"] = lost / sent
    trips = [[p * 1e-9 for p in v["probes"] if p is not None] for v in answered]
    mean = statistics.fmean(statistics.fmean(t) for t in trips)
    found["rtt_min_seconds"] = min(map(min, trips))
    found["rtt_median_seconds"] = statistics.median(map(statistics.median_low, trips))
    found["rtt_mean_seconds"] = mean
    variations = []
    for visit in answered:
        pairs = zip(visit["probes"], visit["probes"][1:])
        steps = [(b - a) * 1e-9 for a, b in pairs if a is not None and b is not None]
        if len(steps) >= 2:
            variations.append(quartile(steps, 0.75) - quartile(steps, 0.25))
    ipdv = statistics.median(variations)
    found["ipdv_seconds"] = ipdv
    success = [1 - v["probes"].count(None) / len(v["probes"]) for v in answered]
    rate = [1 / statistics.fmean(t) for t in trips]
    s, r = (statistics.fmean(x) / max(x) for x in (success, rate))
    found["unpredictability_ratio"] = math.hypot(1 - s, 1 - r) / math.sqrt(2)
    loss = max(lost, 1) / sent
    found["derived_bits_per_second"] = 1460 * 8 / (mean * math.sqrt(loss))
    found["derived_from"] = "loss" if lost else "bound"
    delay = (mean + 2 * ipdv) * 1e3 + 10
    rating = 93.2 - (delay / 40 if delay < 160 else (delay - 120) / 10) - 2.5 * 100 * lost / sent
    rating = min(max(rating, 0), 100)
    found["mean_opinion_score"] = max(
        1, 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating)
    )
    return found


def differs(told, own):
    if own is None or told == "":
        return not (own is None and told == "")
    if isinstance(own, str):
        return told != own
    return not math.isclose(float(told), own, rel_tol=1e-5, abs_tol=2e-9)


def main(probes, months):
    visits = {}
    with open(probes) as lines:
        for line in lines:
            visit = json.loads(line)
            key = (visit["from"], visit["to"], month_of(visit["at"]))
            visits.setdefault(key, []).append(visit)
    agree, wrong = 0, []
    with open(months, newline="") as table:
        for row in csv.DictReader(table):
            key = (row["from_host"], row["to_host"], row["month"][:7])
            own = figures(visits.pop(key))
            off = [f"{key} {n}: {row[n]} told, {v} here" for n, v in own.items() if differs(row[n], v)]
            wrong += off
            agree += not off
    wrong += [f"{key} is missing" for key in visits]
    print("\n".join(wrong[:20]))
    print(f"{agree} months agree")
    sys.exit(bool(wrong))


main(*sys.argv[1:])
