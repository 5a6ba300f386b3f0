"""ns-2 and ns-3 as programs: their command lines, and building the one for ns-3."""

import pathlib
import shutil
import subprocess

SCRIPTS = pathlib.Path(__file__).resolve().parent / "ns"
NS3_MODULES = ["applications", "point-to-point", "traffic-control", "internet", "network", "core"]


def ns2_command(settings):
    """For bench/ns/dumbbell.tcl, which names and explains the settings."""
    if shutil.which("ns") is None:
        raise SystemExit("ns-2 is not installed: apt-get install ns2")
    words = [word for setting in settings.items() for word in setting]
    return ["ns", SCRIPTS / "dumbbell.tcl", *words]


def ns3_command(program, settings):
    return [program, *(f"--{name}={value}" for name, value in settings.items())]


def build_ns3(folder):
    """Builds bench/ns/bulk.cc with optimisation; None, and a word why, where that cannot be done."""
    program = pathlib.Path(folder) / "bulk"
    libraries = [f"-lns3-{module}" for module in NS3_MODULES]
    if shutil.which("g++") is None or not pathlib.Path("/usr/include/ns3/core-module.h").exists():
        print("ns-3 is skipped: apt-get install libns3-dev g++")
        return None
    compiler = ["g++", "-std=c++17", "-O2", "-o", program, SCRIPTS / "bulk.cc", *libraries]
    build = subprocess.run(compiler, capture_output=True, text=True)
    if build.returncode != 0:
        print(f"ns-3 is skipped, its program does not build:\n{build.stderr[-1000:]}")
        return None
    return program
