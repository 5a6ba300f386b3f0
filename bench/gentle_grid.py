#!/usr/bin/env python3
"""What others keep beside a gentle copy and LEDBAT++, or beside a copy over UDP and a second CUBIC flow, on simulated paths.

    bench/gentle_grid.py [--random COUNT] [--seed N] [--up-to MBITS] [--every N] [--udp] [--brief]

Without arguments the whole grid of 450 cells, an hour of two processors; `--random` draws cells anew within its bounds, `--every` takes
each N-th cell, `--brief` leaves out LEDBAT++ or the second CUBIC flow. Prints Markdown for bench/results.
"""

import subprocess
import sys

from common import ROOT, heading

print(heading("What others keep beside copies, on a grid of simulated paths"))
print(f"`bench/gentle_grid.py {' '.join(sys.argv[1:])}`\n", flush=True)
command = ["cargo", "bench", "--locked", "-p", "trunkline-steer", "--bench", "gentle_grid", "--", *sys.argv[1:]]
sys.exit(subprocess.run(command, cwd=ROOT).returncode)
