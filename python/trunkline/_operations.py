"""The operations, each with the names, units and defaults of the program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from . import _text, _trunkline
from ._call import Call, OnProgress, Operation, let_go
from ._errors import RequestError
from ._lazy import Lazy
from ._paths import PathLike, Target, path_of, target_of
from ._program import own_program
from ._results import Result
from ._text import Counts, File, History, Rate, Size, Sizes, Time

if TYPE_CHECKING:
    from . import documents
    from ._measure import Measure
    from ._simulate import Simulate
else:
    documents = Lazy("trunkline.documents")

PORT = 5201


def _leaving(ipv4: bool, ipv6: bool, bind: str | None, dscp: str | int | None) -> dict[str, Any]:
    """How packets leave this host."""
    return {
        "ipv4": ipv4,
        "ipv6": ipv6,
        "bind": bind,
        "dscp": None if dscp is None else str(dscp),
    }
"""The port of `trunkline serve` and `iperf3 -s`."""
Ways = Literal["forward", "reverse", "both"]
Attribute = Literal["times", "permissions"]
Axis = Literal["streams", "window", "congestion", "pacing"]


def _command(name: str, given: dict[str, Any], defaults: dict[str, Any] | None) -> str:
    """The call as Python has it, without what was left as it is; no secrets."""
    secret = {"token", "password", "on_progress"}
    defaults = defaults or {}
    parts = []
    for key, value in given.items():
        if key in secret or (key in defaults and repr(defaults[key]) == repr(value)):
            continue
        parts.append(repr(value) if key in _POSITIONAL else f"{key}={value!r}")
    return f"trunkline.{name}({', '.join(parts)})"


_POSITIONAL = {"target", "path", "file"}


def _login(
    user: str | None, user_key: File | None, user_padding: str, password: str | None
) -> dict[str, Any]:
    """Who asks a server with users."""
    return {
        "user": user,
        "user_key": None if user_key is None else os.fspath(user_key),
        "user_padding": user_padding,
        "password": password,
    }


def _call(
    start: Callable[[dict[str, Any]], _trunkline.Call],
    name: str,
    given: dict[str, Any],
    asked: dict[str, Any],
    on_progress: OnProgress | None,
    operation: Callable[..., object],
) -> Call[Result[Any]]:
    asked["command"] = _command(name, given, getattr(operation, "__kwdefaults__", None))
    return Call(start(asked), Result, on_progress)


def _common(
    target: Target,
    port: int,
    leaving: dict[str, Any],
    login: dict[str, Any],
    seed: int,
    history: History,
) -> dict[str, Any]:
    return {
        "target": target_of(target),
        "port": port,
        "leaving": leaving,
        "login": login,
        "seed": seed,
        "history": _text.history(history),
    }


def _tcp(
    reverse: bool, bidir: bool, congestion: str | None, set_mss: int | None
) -> dict[str, Any]:
    return {
        "reverse": reverse,
        "bidir": bidir,
        "congestion": congestion,
        "set_mss": _text.count(set_mss),
    }


def _words(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _files(given: File | Iterable[File]) -> list[str]:
    return [os.fspath(one) for one in _text.several(given)]


def _measure(
    target: Target,
    *,
    streams: int = 1,
    window: Size = "auto",
    transport: Literal["tcp", "udp"] = "tcp",
    mptcp: bool = False,
    duration: Time | None = None,
    bytes: Size | None = None,
    pacing: Rate | None = None,
    reverse: bool = False,
    bidir: bool = False,
    congestion: str | None = None,
    set_mss: int | None = None,
    requests: int | None = None,
    block: Size | None = None,
    mover_option: str | Iterable[str] = (),
    udp: Rate | None = None,
    length: int | None = None,
    port: int = PORT,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
    user: str | None = None,
    user_key: File | None = None,
    user_padding: Literal["oaep", "pkcs1"] = "oaep",
    password: str | None = None,
    seed: int = 1,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[Result[documents.MeasureDocument | documents.DatagramsDocument]]:
    """Measures one setting in detail, and finds what limited it.

    Args:
        target: A host that runs `trunkline serve` or `iperf3 -s`, as `HOST` or `HOST:PORT`; a path
            as `emu:NAME` (real TCP, needs rights) or `sim:NAME`; or `path.sim()`, `path.emu()`;
            a file of another program, such as `gridftp://HOST/FILE`.
        streams: Parallel streams, 1 to 128.
        window: Socket buffers of each stream; `"auto"` leaves them to the kernel.
        transport: What carries the streams; `"udp"` fills paths that lose packets without `"bbr"`
            in the sender's kernel, and needs `trunkline serve` at the far end.
        mptcp: Connections of multipath TCP: the kernel sends each stream over all links that
            `ip mptcp endpoint` names; `r.document.mptcp` says over which.
        duration: How long to send; 10 s without.
        bytes: How much to send over all streams together, instead of how long.
        pacing: Upper bound on each stream's rate.
        reverse: The far end sends.
        bidir: Both ends send at once.
        congestion: Congestion control by its kernel name, such as `"cubic"`.
        set_mss: Maximum segment size, in bytes.
        requests: Requests that another program has without an answer.
        block: Data of one request, read or write of another program.
        mover_option: Words that the client of another program is given as they stand.
        udp: Datagrams are sent at this rate, of all streams together, in place of bulk data;
            `"find"` looks for the highest rate that loses no more than 1 %.
        length: Data of each datagram, in bytes; 1400 without.
        port: The server's port, where the target names none.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: The address, the device, or both to send from: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`.
        dscp: How routers are to treat what this host sends: `"LE"`, `"CS1"`, `"AF41"`, `"EF"`, or
            a number from 0 to 63.
        user: Log in to a server with users, as iperf3 has them.
        user_key: A file with the server's public RSA key, in PEM form.
        user_padding: How the login is padded; `"pkcs1"` for servers of iperf3 before 3.17.
        password: The user's; that of the variable IPERF3_PASSWORD without. No document has it.
        seed: Decides which packets an emulated path loses, and all that chance does on a
            simulated one.
        history: Where the result is kept.
        on_progress: Told of what happens, on the thread that waits.

    Returns:
        The result: `r.document.goodput_bits_per_second`, `r.document.limit`, `r.samples`, ...; of
        datagrams `r.document.ways[0].loss_ratio`, `r.document.search`, ...
    """
    given = dict(locals())
    leaving = _leaving(ipv4, ipv6, bind, dscp)
    login = _login(user, user_key, user_padding, password)
    asked = _common(target, port, leaving, login, seed, history)
    asked |= _tcp(reverse, bidir, congestion, set_mss)
    asked |= {
        "streams": _text.count(streams),
        "window": _text.size(window),
        "transport": transport,
        "mptcp": mptcp,
        "duration": _text.optional_span(duration),
        "bytes": _text.optional_size(bytes),
        "pacing": _text.rate(pacing),
        "requests": _text.count(requests),
        "block": _text.optional_size(block),
        "mover_option": _words(mover_option),
        "udp": _text.rate(udp),
        "length": _text.count(length),
    }
    return _call(_trunkline.start_measure, "measure", given, asked, on_progress, _measure)


def _tune(
    target: Target,
    *,
    objective: Literal["knee", "max", "power", "gentle"] = "knee",
    knee: float = 0.9,
    added_rtt: Time | None = None,
    loss: float | str | None = None,
    streams_max: int = 128,
    budget: Time | str | None = None,
    axes: Axis | Iterable[Axis] | None = None,
    transport: Literal["tcp", "udp"] = "tcp",
    reverse: bool = False,
    bidir: bool = False,
    congestion: str | None = None,
    set_mss: int | None = None,
    mover_option: str | Iterable[str] = (),
    port: int = PORT,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
    user: str | None = None,
    user_key: File | None = None,
    user_padding: Literal["oaep", "pkcs1"] = "oaep",
    password: str | None = None,
    seed: int = 1,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[Result[documents.TuneDocument]]:
    """Finds the streams and the window to use, and why those.

    Args:
        target: As for `measure`.
        objective: What makes one setting better than another: the fewest streams that reach `knee`
            of the highest goodput; the highest goodput; the highest goodput per round trip; the
            highest that adds at most `added_rtt` and `loss`.
        knee: Share of the highest goodput that the fewest streams must reach.
        added_rtt: Delay that a gentle setting may add to the round trip; 30 ms without.
        loss: Share of the data that a gentle setting may send again; 0.001 without.
        streams_max: The most streams to try, 1 to 128.
        budget: What the search may spend: a time, an amount of data or both: `"20s,500MB"`.
        axes: What the search may vary, one or several; the rest stays as the hosts have it. Without this streams
            and window, and bbr where losses hold the default congestion control back.
        transport: What carries the streams; over `"udp"` the number of streams is searched.
        reverse: The far end sends.
        bidir: Both ends send at once.
        congestion: Congestion control by its kernel name.
        set_mss: Maximum segment size, in bytes.
        mover_option: Words that the client of another program is given as they stand.
        port: The server's port, where the target names none.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: The address, the device, or both to send from: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`.
        dscp: How routers are to treat what this host sends: `"LE"`, `"CS1"`, `"AF41"`, `"EF"`, or
            a number from 0 to 63.
        user: Log in to a server with users; `user_key`, `user_padding` and `password` as for
            `measure`.
        user_key: The server's public key.
        user_padding: How the login is padded.
        password: The user's.
        seed: Decides all that chance does on an emulated or simulated path.
        history: Where the result is kept, and earlier ones are looked up.
        on_progress: Told of what happens, on the thread that waits.

    Returns:
        The result: `r.document.recommended.streams`, `.window`, `.goodput_bits_per_second`, ...

    Raises:
        RunError: The search ended early; `.partial` has what it found.
    """
    given = dict(locals())
    leaving = _leaving(ipv4, ipv6, bind, dscp)
    login = _login(user, user_key, user_padding, password)
    asked = _common(target, port, leaving, login, seed, history)
    asked |= _tcp(reverse, bidir, congestion, set_mss)
    asked |= {
        "objective": objective,
        "knee": str(knee),
        "added_rtt": _text.optional_span(added_rtt),
        "loss": _text.number(loss),
        "streams_max": _text.whole(streams_max),
        "budget": _text.optional_span(budget),
        "axes": None if axes is None else _words(axes),
        "transport": transport,
        "mover_option": _words(mover_option),
    }
    return _call(_trunkline.start_tune, "tune", given, asked, on_progress, _tune)


def _sweep(
    target: Target | None = None,
    *,
    streams: Counts = "1,2,4,8,16,32",
    windows: Sizes | None = None,
    product: Sizes | None = None,
    cycles: int = 5,
    duration: Time | Iterable[Time] = "10s",
    reverse: bool = False,
    bidir: bool = False,
    both_ways: bool = False,
    congestion: str | None = None,
    set_mss: int | None = None,
    port: int = PORT,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
    user: str | None = None,
    user_key: File | None = None,
    user_padding: Literal["oaep", "pkcs1"] = "oaep",
    password: str | None = None,
    seed: int = 1,
    beside: Literal["sim"] | None = None,
    resume: bool | int = False,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[Result[documents.SweepDocument]]:
    """Measures a grid of settings in cycles, in shuffled order, and keeps each visit at once.

    Args:
        target: As for `measure`, by its name; not needed with `resume`.
        streams: Numbers of parallel streams.
        windows: Socket buffers of each stream; `"auto"` without.
        product: Instead of windows, what streams times window come to.
        cycles: How often every setting is visited.
        duration: How long the streams of each visit send; with several, each setting is visited
            with each of them.
        reverse: The far end sends.
        bidir: Both ends send at once.
        both_ways: Each way by itself.
        congestion: Congestion control by its kernel name.
        set_mss: Maximum segment size, in bytes.
        port: The server's port, where the target names none.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: The address, the device, or both to send from: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`.
        dscp: How routers are to treat what this host sends: `"LE"`, `"CS1"`, `"AF41"`, `"EF"`, or
            a number from 0 to 63.
        user: Log in to a server with users, as iperf3 has them; kept with the sweep, and not
            needed with `resume`.
        user_key: A file with the server's public RSA key, in PEM form.
        user_padding: How the login is padded; `"pkcs1"` for servers of iperf3 before 3.17.
        password: The user's; that of the variable IPERF3_PASSWORD without. It is not kept: give it
            again with `resume`.
        seed: Decides the order of the visits, and chance on emulated and simulated paths.
        beside: `"sim"` infers the path that explains the visits afterwards and simulates every setting
            on it: `r.document.beside`, with the share of settings within 10 %; with `resume` also of
            a sweep that is finished.
        resume: Go on with the newest unfinished sweep, or with that of this number. Its target and
            its settings are those that it began with; of the other arguments only `beside`,
            `password` and `history` count, and another user is refused.
        history: The archive that keeps the visits.
        on_progress: Told of what happens, on the thread that waits.

    Raises:
        RunError: It ended before its last visit; `resume` goes on.
    """
    given = dict(locals())
    leaving = _leaving(ipv4, ipv6, bind, dscp)
    asked = _tcp(reverse, bidir, congestion, set_mss) | {
        "target": None if target is None else target_of(target),
        "streams": _text.counts(streams),
        "windows": _text.optional_sizes(windows),
        "product": _text.optional_sizes(product),
        "cycles": _text.whole(cycles),
        "duration": _text.spans(duration),
        "both_ways": both_ways,
        "port": port,
        "leaving": leaving,
        "login": _login(user, user_key, user_padding, password),
        "seed": seed,
        "beside": beside,
        "resume": resume,
        "history": _text.history(history),
    }
    return _call(_trunkline.start_sweep, "sweep", given, asked, on_progress, _sweep)


def _simulate(
    path: PathLike,
    *,
    streams: Counts = 1,
    window: Sizes = "auto",
    variant: str | Iterable[str] | None = None,
    class_: Literal["scavenger", "best-effort", "priority"] | None = None,
    duration: Time | None = None,
    warmup: Time | None = None,
    seeds: int = 1,
    seed: int = 1,
    bytes: Size | None = None,
    per_stream_bytes: Size | None = None,
    compat: Literal["ns2"] | None = None,
    initial_window: int | None = None,
    ecn: bool = False,
    series: Time | None = None,
    fluid: bool = False,
    cache: bool | File = True,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[
    Result[documents.SimulateDocument | documents.CampaignDocument | documents.FluidDocument]
]:
    """Asks "what if": TCP over a path, packet by packet, in virtual time, on all processors.

    Args:
        path: A named path, a path file, or a `Path`.
        streams: Numbers of parallel streams, up to 100000, with `fluid` up to 1000000.
        window: The most that each stream keeps outstanding; `"16k..512k"` doubles.
        variant: How streams find their rate, one or several: `"sack"`, `"cubic"`, `"bbr"`, ...;
            what the path's hosts use without.
        class_: The class of service that the streams ask for.
        duration: Simulated time; 30 s without, with data to carry a day.
        warmup: What is not counted at the beginning; a fifth without, with data nothing.
        seeds: How many seeds to run each setting with.
        seed: The first seed.
        bytes: How much to carry in all; a run ends when it is done.
        per_stream_bytes: How much each stream carries.
        compat: Set the hosts' TCP up as comparisons with another simulator have it.
        initial_window: Segments sent before the first acknowledgement.
        ecn: Let queues mark packets instead of dropping them.
        series: Record windows, queue and goodput this often; for a single setting.
        fluid: Take a fluid model in place of packets, for one setting of endless data: less than
            a second, however many streams. It has `"sack"` and `"cubic"`.
        cache: Where finished runs are kept, so that none is computed twice.
        history: Where the result of a single setting is kept.
        on_progress: Told of what happens, on the thread that waits.

    Returns:
        One setting or a campaign; `r.visits` has a row for each setting.
    """
    given = dict(locals())
    asked = {
        "path": path_of(path),
        "streams": _text.counts(streams),
        "window": _text.sizes(window),
        "variant": _text.words(variant),
        "class": class_,
        "duration": _text.optional_span(duration),
        "warmup": _text.optional_span(warmup),
        "seeds": _text.whole(seeds),
        "seed": seed,
        "bytes": _text.optional_size(bytes),
        "per_stream_bytes": _text.optional_size(per_stream_bytes),
        "compat": compat,
        "initial_window": _text.count(initial_window),
        "ecn": ecn,
        "series": _text.optional_span(series),
        "fluid": fluid,
        "cache": _text.history(cache),
        "history": _text.history(history),
    }
    return _call(_trunkline.start_simulate, "simulate", given, asked, on_progress, _simulate)


def _predict(
    path: PathLike,
    *,
    streams: Counts = "1,2,4,8,16,32,64,128",
    window: Size | None = None,
    congestion: str | None = None,
    bytes: Size | None = None,
    loss_table: bool = False,
    knee: float | None = None,
    flows: int | str | Iterable[int | str] = (),
    duration: Time | None = None,
) -> Call[Result[documents.PredictDocument]]:
    """Asks formulas: throughput, loss and delay of a path for each number of streams.

    Args:
        path: A named path, a path file, or a `Path`.
        streams: Numbers of parallel streams, up to 4096.
        window: The most that each stream keeps outstanding; what the hosts' buffers hold without.
        congestion: `"reno"`, `"cubic"`, `"highspeed"`, `"scalable"` or `"bbr"`; what the path's
            hosts use without.
        bytes: Also how long so much takes by each formula, such as `"1TB"`.
        loss_table: Also which loss one stream bears, by rate and round trip.
        knee: Share of the highest throughput that the fewest streams must reach.
        flows: Also what so many flows get by a fluid model, one class or several: `10**6`, or
            `"1000,rtt=50ms,congestion=reno,window=64k,loss=1e-4,start=5s,stop=20s"`.
        duration: How long those run, of which the first half does not count.
    """
    given = dict(locals())
    classes: Iterable[int | str] = [flows] if isinstance(flows, int | str) else flows
    asked = {
        "path": path_of(path),
        "flows": [str(one) for one in classes],
        "duration": _text.optional_span(duration),
        "streams": _text.counts(streams),
        "window": _text.optional_size(window),
        "congestion": congestion,
        "bytes": _text.optional_size(bytes),
        "loss_table": loss_table,
        "knee": _text.number(knee),
    }
    return _call(_trunkline.start_predict, "predict", given, asked, None, _predict)


def _fit(
    file: File,
    *,
    window: Size | None = None,
    knee: float | None = None,
    explain: bool = False,
) -> Call[Result[documents.FitDocument]]:
    """Puts curves through measured points, and says how many streams they speak for.

    Args:
        file: A CSV file with the columns `streams` and `goodput`, or a saved document.
        window: Of a file with several windows, the one whose points count.
        knee: Share of the highest throughput at which the knee lies.
        explain: Also what the rules of the literature would have chosen from the points.
    """
    given = dict(locals())
    asked = {
        "file": os.fspath(file),
        "window": _text.optional_size(window),
        "knee": _text.number(knee),
        "explain": explain,
    }
    return _call(_trunkline.start_fit, "fit", given, asked, None, _fit)


def _examine(
    target: Target,
    *,
    quick: bool = False,
    no_load: bool = False,
    ways: Ways = "both",
    duration: Time | None = None,
    path_file: bool = False,
    way_back: bool = False,
    hop_capacity: bool = False,
    flows: int | None = None,
    port: int = PORT,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
    user: str | None = None,
    user_key: File | None = None,
    user_padding: Literal["oaep", "pkcs1"] = "oaep",
    password: str | None = None,
    seed: int = 1,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[Result[documents.PathDocument]]:
    """Tells what a path is like: round trips, hops, capacity, available bandwidth, buffers.

    Args:
        target: As for `measure`.
        quick: Only what a few small packets tell in a quarter of a minute.
        no_load: No streams.
        ways: Which directions are examined.
        duration: How long each of the streams' two runs takes in each direction.
        path_file: Also take the samples of a search, in the first of `ways`, and infer the path that
            explains them and the streams: `result.path_file`.
        way_back: Also the way back, hop by hop, which `trunkline serve` at the far end looks for.
        hop_capacity: Also the rate of each hop, from how much longer larger packets take to it: at
            most a minute more.
        flows: Also look for branches of equal cost, with so many flows of different ports (2 to
            32): what each branch loses. Two seconds for each flow.
        port: The server's port, where the target names none.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: The address, the device, or both to send from: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`.
        dscp: How routers are to treat what this host sends: `"LE"`, `"CS1"`, `"AF41"`, `"EF"`, or
            a number from 0 to 63.
        user: Log in to a server with users; `user_key`, `user_padding` and `password` as for
            `measure`.
        user_key: The server's public key.
        user_padding: How the login is padded.
        password: The user's.
        seed: Decides all that chance does on an emulated or simulated path.
        history: Where the result is kept.
        on_progress: Told of what happens, on the thread that waits.

    Raises:
        Cancelled: It was cancelled; `.partial` has what was found.
    """
    given = dict(locals())
    login = _login(user, user_key, user_padding, password)
    asked = _common(target, port, _leaving(ipv4, ipv6, bind, dscp), login, seed, history)
    asked |= {
        "quick": quick,
        "no_load": no_load,
        "ways": ways,
        "duration": _text.optional_span(duration),
        "path_file": path_file,
        "way_back": way_back,
        "hop_capacity": hop_capacity,
        "flows": _text.count(flows),
    }
    return _call(_trunkline.start_examine, "examine", given, asked, on_progress, _examine)


def _responsiveness(
    target: Target,
    *,
    ways: Ways = "both",
    duration: Time | None = None,
    port: int = PORT,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
    user: str | None = None,
    user_key: File | None = None,
    user_padding: Literal["oaep", "pkcs1"] = "oaep",
    password: str | None = None,
    seed: int = 1,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[Result[documents.ResponsivenessDocument]]:
    """Tells how long round trips take while streams fill the path.

    Args:
        target: As for `measure`.
        ways: Which directions are loaded, one after another.
        duration: The longest that the streams of one direction run.
        port: The server's port, where the target names none.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: The address, the device, or both to send from: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`.
        dscp: How routers are to treat what this host sends: `"LE"`, `"CS1"`, `"AF41"`, `"EF"`, or
            a number from 0 to 63.
        user: Log in to a server with users; `user_key`, `user_padding` and `password` as for
            `measure`.
        user_key: The server's public key.
        user_padding: How the login is padded.
        password: The user's.
        seed: Decides all that chance does on an emulated or simulated path.
        history: Where the result is kept.
        on_progress: Told of what happens, on the thread that waits.
    """
    given = dict(locals())
    login = _login(user, user_key, user_padding, password)
    asked = _common(target, port, _leaving(ipv4, ipv6, bind, dscp), login, seed, history)
    asked |= {"ways": ways, "duration": _text.optional_span(duration)}
    start = _trunkline.start_responsiveness
    return _call(start, "responsiveness", given, asked, on_progress, _responsiveness)


def _copy(
    *places: File | Iterable[File],
    recursive: bool = False,
    no_preserve: Attribute | Iterable[Attribute] = (),
    copy_links: bool = False,
    hard_links: bool = False,
    xattrs: bool = False,
    acls: bool = False,
    owner: Literal["names", "numbers"] | None = None,
    atimes: bool = False,
    dry_run: bool = False,
    overwrite: bool = False,
    ignore_existing: bool = False,
    checksum: bool = False,
    exclude: str | Iterable[str] = (),
    include: str | Iterable[str] = (),
    files_from: File | Iterable[File] | None = None,
    delete: bool = False,
    verify: bool = False,
    digest: Mapping[str, File] | None = None,
    delta: bool = False,
    compress: bool = False,
    plain: bool = False,
    max_rate: Rate | None = None,
    gentle: bool | Time = False,
    follow: bool | Time = False,
    objective: Literal["max", "knee", "power"] | None = None,
    streams: int | None = None,
    window: Size = "auto",
    congestion: str | None = None,
    transport: Literal["tcp", "udp"] = "tcp",
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
    via: str | Iterable[str] = (),
    mptcp: bool = False,
    connect: Literal["to-far", "from-far"] = "to-far",
    port_range: str | None = None,
    ssh: str = "ssh",
    far_program: str | None = None,
    no_install: bool = False,
    sftp: bool = False,
    token: str | None = None,
    token_file: File | None = None,
    source_token_file: File | None = None,
    patience: Time | None = None,
    history: History = True,
    on_progress: OnProgress | None = None,
) -> Call[Result[documents.CopyDocument]]:
    """Copies files to, from or between other hosts, over as many streams as the path needs.

    What was interrupted goes on when the same copy is asked for again.

    Args:
        places: What to copy, by name or as lists of names, and as the last where to: `PATH`,
            `[USER@]HOST:PATH` or `trunkline://HOST[:PORT]/PATH`.
        recursive: Copy folders with what is in them.
        no_preserve: Leave these as the receiver makes them.
        copy_links: Copy what symbolic links point to, instead of the links.
        hard_links: Names of one file become names of one file, and its content is sent once.
        xattrs: Keep extended attributes of users, `user.*`.
        acls: Keep POSIX ACLs, by the numbers of users and groups.
        owner: Keep owners and groups by their names or their numbers; the receiver has to be root.
        atimes: Keep times of last access, as they were before the copy read the files.
        dry_run: Only say what would be copied.
        overwrite: Send also files that are there with the same size and time.
        ignore_existing: Leave files that are there as they are.
        checksum: Compare what is in files, instead of their sizes and times.
        exclude: Leave out names that fit, as rsync does.
        include: Copy names that fit, whatever `exclude` says.
        files_from: Copy only these names below the one source: several, or a file that lists them.
        delete: Once everything is copied, remove what the sources do not have.
        verify: Read each file again from the receiver's disk before it has its name.
        digest: Lists of checksums to write once all is copied, as `sha256sum` does: files by the name
            of the checksum, like `{"sha256": "SHA256SUMS"}`.
        delta: Of files that are there in an older version send only what differs.
        compress: Compress while that is faster.
        plain: Send file data without encryption, once both ends have shown who they are.
        max_rate: The most to send over all streams together, by this host's clock where it changes:
            `"08:00=50M,18:00=none"`.
        gentle: Give way to all others: add no more than this to the round trip; `True` means 10 ms.
        follow: Go on with files that are new or changed, once two looks 5 s apart see the same: until
            the call is cancelled, or with a time until nothing has changed for so long.
        objective: What the number of streams is chosen for; `"knee"` without.
        streams: This many streams, and no search.
        window: Socket buffers; `"auto"` leaves them to the kernel.
        congestion: Congestion control of the sender by its kernel name.
        transport: What carries the data to and from a `trunkline://` server; `"udp"` fills paths
            that lose packets without `bbr` in the sender's kernel.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: The address, the device, or both to send from: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`.
        dscp: How routers are to treat what this host sends: `"LE"`, `"CS1"`, `"AF41"`, `"EF"`, or
            a number from 0 to 63.
        via: Deal the streams over these addresses of the far end, `["10.0.1.2", "10.0.2.2"]`, or
            pairs with an address of this host, `"10.0.1.1=10.0.1.2"`, or `"all"`: those that the far
            end tells. One that fails is left out and tried again.
        mptcp: Connections of multipath TCP: the kernel sends each stream over all links that
            `ip mptcp endpoint` names; `r.document.mptcp` says over which.
        connect: Which end opens the data connections, where ssh starts the far end.
        port_range: Ports to listen on, where ssh starts the far end: `"50000-50100"`.
        ssh: The ssh client with its options.
        far_program: The program at the far end; without, `trunkline`, and where that is absent or
            of another version, this package's is sent there and kept.
        no_install: Send no program to a far end that has none, or another version.
        sftp: Start no program at the far end: the SFTP server of its ssh takes the place, and is
            slower. A copy does so by itself where it can start no program there.
        token: What opens a `trunkline://` server; `$TRUNKLINE_TOKEN` has it otherwise.
        token_file: A file that has it.
        source_token_file: A file with the token of the source, where both ends are on other hosts
            and both servers; `token` opens both without.
        patience: How long to go on trying when the far end is away, a server that does not answer
            the first connection, too; ten minutes once it was there without.
        history: Where the result is kept.
        on_progress: Told of what happens, on the thread that waits.

    Returns:
        The result; `r.files` has a row for each file.

    Raises:
        IncompleteCopy: Some files were not copied; `.partial.files` says which and why.
        NotFinished: The far end was gone for too long, or another copy is at its files; the same
            copy goes on.
        RunError: It failed.
    """
    given = dict(locals())
    # An interrupted copy to the same place may still hold its lock.
    let_go()
    named = [name for place in given.pop("places") for name in _files(place)]
    if len(named) < 2:
        raise RequestError(
            f"a copy needs what to copy and where to, and was given {len(named)} of them",
            'write `copy("run7", "HOST:/store")`',
        )
    command = {"places": tuple(named)} | given
    includes, excludes = _words(include), _words(exclude)
    listed: File | list[str] | None
    if files_from is None or isinstance(files_from, str | os.PathLike):
        listed = files_from
    else:
        listed = _files(files_from)
    asked = {
        "places": named,
        "recursive": recursive,
        "no_preserve": _words(no_preserve),
        "copy_links": copy_links,
        "hard_links": hard_links,
        "xattrs": xattrs,
        "acls": acls,
        "owner": owner,
        "atimes": atimes,
        "dry_run": dry_run,
        "overwrite": overwrite,
        "ignore_existing": ignore_existing,
        "checksum": checksum,
        "rules": [(False, one) for one in includes] + [(True, one) for one in excludes],
        "files_from": listed,
        "delete": delete,
        "verify": verify,
        "digest": [(name, os.fspath(file)) for name, file in (digest or {}).items()],
        "delta": delta,
        "compress": compress,
        "plain": plain,
        "max_rate": _text.rate(max_rate),
        "gentle": {True: "10ms", False: None}[gentle]
        if isinstance(gentle, bool)
        else _text.span(gentle),
        "follow": {True: "until-stopped", False: None}[follow]
        if isinstance(follow, bool)
        else _text.span(follow),
        "objective": objective,
        "streams": _text.count(streams),
        "window": _text.size(window),
        "congestion": congestion,
        "transport": transport,
        "leaving": _leaving(ipv4, ipv6, bind, dscp),
        "via": _words(via),
        "mptcp": mptcp,
        "connect": connect,
        "port_range": port_range,
        "ssh": ssh,
        "far_program": far_program,
        "own_program": None if no_install or sftp else own_program(),
        "sftp": sftp,
        "token": token,
        "token_file": None if token_file is None else os.fspath(token_file),
        "source_token_file": None
        if source_token_file is None
        else os.fspath(source_token_file),
        "patience": None if patience is None else _text.span(patience),
        "history": _text.history(history),
    }
    return _call(_trunkline.start_copy, "copy", command, asked, on_progress, _copy)


measure = cast("Measure", Operation(_measure))
tune = Operation(_tune)
sweep = Operation(_sweep)
simulate = cast("Simulate", Operation(_simulate))
predict = Operation(_predict)
fit = Operation(_fit)
examine = Operation(_examine)
responsiveness = Operation(_responsiveness)
copy = Operation(_copy)

__all__ = [
    "PORT",
    "copy",
    "examine",
    "fit",
    "measure",
    "predict",
    "responsiveness",
    "simulate",
    "sweep",
    "tune",
]
