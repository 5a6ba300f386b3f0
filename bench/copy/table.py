"""The page of results, from nothing but the figures of the runs."""

import statistics

import tools
from common import heading


def beginning(given):
    """The first lines, with the load average before anything ran."""
    return heading("Copies over emulated paths, side by side")


def text(head, given, results, took):
    lines = [head, *introduction(given, took), ""]
    by_cell = {}
    for (path, kind, name), runs in results.items():
        by_cell.setdefault((path, kind), {})[name] = runs
    lines += ["## Against the fastest", "", *summary(by_cell), ""]
    for cell in sorted(by_cell, key=order_of(results)):
        lines += section(cell, by_cell[cell])
    return "\n".join(lines) + "\n"


def order_of(results):
    """Paths and data in the order of the module that names them."""
    from run import DATA, PATHS
    paths = list(PATHS)
    return lambda cell: (paths.index(cell[0]), DATA.index(cell[1]))


def introduction(given, took):
    where = "memory (tmpfs)" if given.folder == "/dev/shm" else given.folder
    return [
        f"Files in {where} at both ends, which share two processors with the emulated path. Fresh namespaces for each run; "
        "congestion control at both ends is the path's. Time is that of the client's process from start to end, connecting "
        "included. Medians with the range over the rounds; processor time of all processes at that end but not of the "
        f"emulator; peak memory of the largest process, the 15 MiB of what starts it at least. Peers were ended after {given.cap:g} s at the latest, others after four times that: then the time is what the "
        "bytes that had arrived let expect, marked with ~. All other results have the hashes of their source.",
        "",
        f"{given.rounds} rounds in shuffled order (seed {given.seed}), {took / 60:.0f} minutes altogether; paths side by side "
        f"while their rates sum to at most {given.beside:g} Mbit/s." + (
            " Time was short: rounds after the first had only trunkline, the baseline and peers within 1.5 x of the fastest, until "
            f"{given.minutes:g} minutes were over." if given.minutes else ""),
    ]


def good(runs):
    return [run for run in runs if "error" not in run and (not run.get("capped") or run.get("arrived", 0) > 0)]


def seconds(run):
    """Measured, or what the bytes that arrived let expect."""
    if run.get("capped"):
        return run["seconds"] * run["bytes"] / run["arrived"]
    return run["seconds"]


def median(runs):
    return statistics.median(map(seconds, runs))


def summary(by_cell):
    lines = ["| path | data | fastest peer | s | best default | s | trunkline, as it comes | s | / fastest | default / it "
             "| fastest of trunkline | s | / fastest |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    kinds = {tool.name: tool for tool in tools.ALL}
    cells = sorted(by_cell, key=order_of(None))
    for path, kind in cells:
        medians = {name: median(good(runs)) for name, runs in by_cell[(path, kind)].items() if good(runs)}
        peers = {name: value for name, value in medians.items() if kinds[name].kind == "peer"}
        defaults = {name: value for name, value in peers.items() if kinds[name].default}
        ours = {name: value for name, value in medians.items() if kinds[name].kind == "ours"}
        plainly = {name: value for name, value in ours.items() if name == "trunkline"}
        cells = [path, kind, *best(peers), *best(defaults), *best(plainly), ratio(plainly, peers), ratio(defaults, plainly),
                 *best(ours), ratio(ours, peers)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def best(medians):
    if not medians:
        return ["", ""]
    name = min(medians, key=medians.get)
    return [name, f"{medians[name]:.2f}"]


def ratio(over, under):
    return f"{min(over.values()) / min(under.values()):.2f}" if over and under else ""


def section(cell, by_tool):
    path, kind = cell
    some = next((run for runs in by_tool.values() for run in runs if "bytes" in run), None)
    what = f"{some['files']} file{'s' * (some['files'] > 1)}, {some['bytes'] / 1e6:.1f} MB" if some else ""
    lines = [f"## {path}, {kind}: {what}", "",
             "| tool | s | range | runs | Mbit/s | client s/GB | server s/GB | both | hashes | encrypts | client MiB | server MiB |",
             "|---" * 12 + "|"]
    rated = {name: good(runs) for name, runs in by_tool.items()}
    for name in sorted((name for name in rated if rated[name]), key=lambda name: median(rated[name])):
        lines.append(row(name, rated[name]))
    for name, runs in sorted(by_tool.items()):
        errors = [run.get("error", "nothing arrived") for run in runs if run not in rated[name]]
        if errors:
            lines.append(f"| {name} | failed {len(errors)} of {len(runs)} | {clean(errors[0])} |" + " |" * 9)
    return [*lines, ""]


def clean(text):
    return text.replace("|", "/").replace("\n", " ")[:200]


def row(name, runs):
    times = sorted(map(seconds, runs))
    guess = "~" if any(run.get("capped") for run in runs) else ""
    middle = statistics.median(times)
    rate = runs[0]["bytes"] * 8 / middle / 1e6
    spread = f"{times[0]:.2f} to {times[-1]:.2f}" if len(times) > 1 else ""
    tool = next(tool for tool in tools.ALL if tool.name == name)
    client, server = (lambda run: [run]), (lambda run: [run["server"]])
    cells = [name, f"{guess}{middle:.2f}", spread, str(len(runs)), f"{rate:.4g}", processor(runs, client),
             processor(runs, server), processor(runs, lambda run: client(run) + server(run)), said(tool.hashes),
             said(tool.encrypts), memory(runs, lambda run: run), memory(runs, lambda run: run["server"])]
    return "| " + " | ".join(cells) + " |"


def said(does):
    return {None: "", True: "yes", False: "no"}[does]


def processor(runs, ends):
    """Processor seconds a gigabyte of all of `ends`."""
    counted = [run for run in runs if not run.get("capped") and all("processor_seconds" in end for end in ends(run))]
    values = [sum(end["processor_seconds"] for end in ends(run)) / run["bytes"] * 1e9 for run in counted]
    return f"{statistics.median(values):.2f}" if values else ""


def memory(runs, end):
    values = [end(run)["peak_bytes"] / (1 << 20) for run in runs if "peak_bytes" in end(run)]
    return f"{max(values):.0f}" if values else ""
