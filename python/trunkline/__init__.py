"""Moves bulk data over long, fat networks, measures and tunes their paths, simulates what would be.

Each operation can be called, started (`tune.start(...)` gives a `Call` at once) and awaited (`await
tune.aio(...)`). Names, units and defaults are those of the program `trunkline`, which is part of
this package. Results have a document (typed objects), tables (Arrow PyCapsule interface), a page
and plots. Errors are below `Error`, and have a `.hint`.
"""

from . import bars, plot
from ._call import Call, Operation
from ._campaign import Campaign
from ._emulate import FAR, NEAR, EmulatedPath, emulate
from ._errors import (
    Cancelled,
    Error,
    FileError,
    ForkedError,
    IncompleteCopy,
    InternalError,
    KeepWarning,
    Mismatch,
    NotFinished,
    RequestError,
    RunError,
)
from ._history import History, history
from ._operations import (
    PORT,
    copy,
    examine,
    fit,
    measure,
    predict,
    responsiveness,
    simulate,
    sweep,
    tune,
)
from ._paths import Path, path, path_names
from ._program import program
from ._record import Record
from ._results import Result, Results, gather, load, read_iperf3
from ._serve import Server, add_token, serve
from ._stream import ParallelStream, PipeOutcome, open_pipe
from ._trunkline import Progress, Table, __version__
from ._verify import verify
from ._watch import Watch, watch

__all__ = [
    "FAR",
    "NEAR",
    "PORT",
    "Call",
    "Campaign",
    "Cancelled",
    "EmulatedPath",
    "Error",
    "FileError",
    "ForkedError",
    "History",
    "IncompleteCopy",
    "InternalError",
    "KeepWarning",
    "Mismatch",
    "NotFinished",
    "Operation",
    "ParallelStream",
    "Path",
    "PipeOutcome",
    "Progress",
    "Record",
    "RequestError",
    "Result",
    "Results",
    "RunError",
    "Server",
    "Table",
    "Watch",
    "__version__",
    "add_token",
    "bars",
    "copy",
    "emulate",
    "examine",
    "fit",
    "gather",
    "history",
    "load",
    "measure",
    "open_pipe",
    "path",
    "path_names",
    "plot",
    "predict",
    "program",
    "read_iperf3",
    "responsiveness",
    "serve",
    "simulate",
    "sweep",
    "tune",
    "verify",
    "watch",
]
