"""Documents as typed objects: each key of `docs/reference/json.md` is an attribute.

Keys are in base units of the SI, and the unit ends the name. What was not seen is absent from the
document, and `None` here. Made by tools/documents.py from the schema.
"""

from __future__ import annotations

from typing import Literal

from ._record import Record


SchemaName = Literal["trunkline/measure", "trunkline/tune", "trunkline/demo", "trunkline/emulate", "trunkline/simulate", "trunkline/campaign", "trunkline/fluid", "trunkline/predict", "trunkline/fit", "trunkline/sweep", "trunkline/path", "trunkline/responsiveness", "trunkline/datagrams", "trunkline/copy"]
TargetKind = Literal["live", "emulated", "simulated"]
Transport = Literal["tcp", "udp"]
Window = int | str
Direction = Literal["forward", "reverse", "both"]
Unsettled = Literal["never-settled", "totals-only", "few-losses", "uneven"]
Limit = Literal["link", "loss", "policer", "shallow-queue", "marks", "others", "way-back", "varying-rate", "reordering", "path-mtu", "per-flow", "receive-buffer", "slow-reader", "send-buffer", "application", "host", "network", "sender-disk", "receiver-disk", "sender-processor", "receiver-processor", "rate-limit", "gentle", "round-trips", "several", "too-short", "unknown"]
Peer = Literal["trunkline", "iperf3", "mover"]
ProbeMethod = Literal["udp-echo", "icmp-echo", "tcp-connect"]
StreamDirection = Literal["sending", "receiving"]
Counted = Literal["by-receiver", "by-acknowledgement", "by-sender"]
End = Literal["sender", "receiver"]
Purpose = Literal["streams", "window", "remembered", "knee", "alternative", "moving", "fit", "confirm", "explain"]
Arrivals = Literal["poisson", "constant"]
Class = Literal["scavenger", "best-effort", "priority"]
TimeoutPart = Literal["whole", "margin"]
Growth = Literal["per-acknowledgement", "per-byte"]
Starts = Literal["seeded", "park-miller"]
Binds = Literal["window", "loss", "link"]
BufferRule = Literal["BDP1", "BDP2", "BDP3", "BDP4", "BDP5", "BDP6"]
Form = Literal["partial second order", "Newton", "full second order", "full c", "logarithmic"]
Family = Literal["IPv4", "IPv6"]
Padding = Literal["oaep", "pkcs1"]
TraceProtocol = Literal["udp", "tcp", "icmp"]
Way = Literal["forward", "reverse"]
Stamped = Literal["by-kernel", "by-program", "exactly"]
CapacityMethod = Literal["pairs", "bulks"]
Trend = Literal["increasing", "not-increasing", "grey"]
Confidence = Literal["low", "medium", "high"]
RttGrowth = Literal["one-by-second", "all-at-once"]
Ceiling = Literal["path", "host"]
TryPurpose = Literal["bounds", "between", "confirm"]
Over = Literal["ssh", "server"]
Filter = Literal["update", "overwrite", "keep", "compare"]
ProblemKind = Literal["request", "not-found", "permission", "disk-full", "disk", "source-changed", "corrupt", "busy", "protocol", "cancelled", "no-content", "follows", "unfinished"]
CopyPhase = Literal["starting"] | Literal["queued"] | Literal["away"] | Literal["unclear"] | Literal["ending"] | Literal["following"] | Limit


class MeasureDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What was measured.
        setting: What was asked for.
        goodput_bits_per_second: Delivered to the receiver per time over the steady window, all
            streams together.
        interval: Where the goodput of a much longer run lies; absent when the run cannot say
            (`steady.unsettled`).
        steady: The part of the run over which the figures hold.
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
        retransmits: Segments retransmitted over the whole run; absent when a direction's senders
            did not tell.
        delivered_bytes: Bytes delivered over the whole run.
        duration_seconds: How long the streams ran.
        elapsed_seconds: How long it all took, with connecting and idle probes.
        peer: What the far end was.
        congestion_used: The congestion control that the sender really used.
        mptcp: What the streams went over; absent where multipath TCP was not asked for.
        rtt: Round trips, idle and loaded.
        cpu: Processor use.
        directions: Each direction that carried data: sending first.
        streams: Each stream, with its readings.
    """

    __slots__ = ()
    schema: Literal["trunkline/measure"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    setting: Setting
    goodput_bits_per_second: int
    interval: RateInterval | None
    steady: Steady
    limit: Limit | None
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str | None
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    retransmits: int | None
    delivered_bytes: int
    duration_seconds: float
    elapsed_seconds: float
    peer: Peer
    congestion_used: str | None
    mptcp: Multipath | None
    rtt: RoundTrips
    cpu: Cpu
    directions: list[DirectionFigures]
    streams: list[Stream]
    _records = {"host": "Host", "target": "Target", "setting": "Setting", "interval": "RateInterval", "steady": "Steady", "mptcp": "Multipath", "rtt": "RoundTrips", "cpu": "Cpu", "directions": "DirectionFigures", "streams": "Stream"}
    _optional = frozenset(["congestion_used", "could_reach_bits_per_second", "interval", "limit", "limit_because", "limit_or", "limit_probability", "mptcp", "retransmits", "seed", "window_needed_bytes"])


class Host(Record):
    """A machine, as far as it matters to throughput. What it does not tell is absent.

    Attributes:
        name: Its name.
        kernel: Release of its kernel.
        cpus: Processors that the program may use.
        memory_bytes: Memory in all.
    """

    __slots__ = ()
    name: str | None
    kernel: str | None
    cpus: int | None
    memory_bytes: int | None
    _records = {}
    _optional = frozenset(["cpus", "kernel", "memory_bytes", "name"])


class Target(Record):
    """What the bytes passed through.

    Attributes:
        name: The name under which the user gave it.
        kind: Which way it runs.
        limits: Bounds on socket buffers, where they can be read: this host's of a live target,
            those of both hosts of an emulated or simulated one.
        path_digest: Digest of the whole description of an emulated or simulated path: two paths
            with the same one are the same to the last number. Absent of a live host.
        punctuality: How punctually this host handed packets over. Of an emulated path alone; an
            archive does not keep it of a sweep.
    """

    __slots__ = ()
    name: str
    kind: TargetKind
    limits: HostLimits | None
    path_digest: str | None
    punctuality: Punctuality | None
    _records = {"limits": "HostLimits", "punctuality": "Punctuality"}
    _optional = frozenset(["limits", "path_digest", "punctuality"])


class HostLimits(Record):
    """The bounds that a Linux host sets on socket buffers.

    Attributes:
        send_fixed_max_bytes: `net.core.wmem_max`: the most that `SO_SNDBUF` gives, before doubling.
        receive_fixed_max_bytes: `net.core.rmem_max`: the most that `SO_RCVBUF` gives, before
            doubling.
        send_auto_max_bytes: `net.ipv4.tcp_wmem[2]`: how far the kernel grows a send buffer by
            itself.
        receive_auto_max_bytes: `net.ipv4.tcp_rmem[2]`: how far the kernel grows a receive buffer by
            itself.
    """

    __slots__ = ()
    send_fixed_max_bytes: int
    receive_fixed_max_bytes: int
    send_auto_max_bytes: int
    receive_auto_max_bytes: int
    _records = {}
    _optional = frozenset([])


class Punctuality(Record):
    """How punctually this host handed the packets of an emulated path over: whether it had the time
    to emulate it.

    Attributes:
        packets: Packets that came out of the path, both ways.
        late: Those of them that came out later than the bound.
        bound_seconds: So much after its time a packet counts as late: 1 ms, or 2 % of the path's
            round trip where that is more.
        worst_seconds: How late the latest one was, to within a fifth.
    """

    __slots__ = ()
    packets: int
    late: int
    bound_seconds: float
    worst_seconds: float
    _records = {}
    _optional = frozenset([])


class Setting(Record):
    """One point of the space that is measured.

    Attributes:
        transport: What carries the streams; absent in documents where it is TCP.
        streams: Parallel streams (in each direction, when both ends send).
        window: Socket buffers of each stream.
        direction: Which end sends.
        congestion: Congestion control by its kernel name; `None` leaves the host's default.
        pacing_bits_per_second: Upper bound on each stream's sending rate (`SO_MAX_PACING_RATE`).
        mss_bytes: Maximum segment size in bytes (`TCP_MAXSEG`); `None` leaves it to the path's MTU.
        moving: How another program moves the data; absent where that is left to it, and of our own
            streams.
    """

    __slots__ = ()
    transport: Transport | None
    streams: int
    window: Window
    direction: Direction
    congestion: str | None
    pacing_bits_per_second: int | None
    mss_bytes: int | None
    moving: Moving | None
    _records = {"moving": "Moving"}
    _optional = frozenset(["congestion", "moving", "mss_bytes", "pacing_bits_per_second", "transport"])


class Moving(Record):
    """What other programs let users set beside streams and window; `None` leaves it to them.

    Attributes:
        concurrency: Files at once.
        pipelining: Requests that each file may have without an answer.
        block_bytes: Data of one request, read or write.
    """

    __slots__ = ()
    concurrency: int | None
    pipelining: int | None
    block_bytes: int | None
    _records = {}
    _optional = frozenset(["block_bytes", "concurrency", "pipelining"])


class RateInterval(Record):
    """A range that holds the true rate with the stated confidence.

    Attributes:
        low_bits_per_second: Lower end.
        high_bits_per_second: Upper end.
        confidence: 0.95 for a 95 % interval.
    """

    __slots__ = ()
    low_bits_per_second: int
    high_bits_per_second: int
    confidence: float
    _records = {}
    _optional = frozenset([])


class Steady(Record):
    """The part of a run over which its figures hold.

    Attributes:
        from_seconds: Where the warm-up ends.
        to_seconds: Where the readings end.
        settled: Whether the run tells what a much longer one would carry; if not, there is no
            interval.
        unsettled: Why not; absent when it does.
        takes_seconds: How long a run would have to be to tell, about; absent where that is not
            known.
    """

    __slots__ = ()
    from_seconds: float
    to_seconds: float
    settled: bool
    unsettled: Unsettled | None
    takes_seconds: float | None
    _records = {}
    _optional = frozenset(["takes_seconds", "unsettled"])


class Multipath(Record):
    """What became of connections that were asked to be of multipath TCP.

    Attributes:
        connections: Connections that carried data.
        plain_connections: Those of them that are plain TCP: the far end has no multipath TCP, or
            something on the way removes it.
        subflows: What the others went over, by addresses.
    """

    __slots__ = ()
    connections: int
    plain_connections: int
    subflows: list[Subflow]
    _records = {"subflows": "Subflow"}
    _optional = frozenset([])


class Subflow(Record):
    """Subflows between two addresses, of all connections.

    Attributes:
        local: This end.
        far: The far end.
        count: How many there were, one after another or at once.
        carried_bytes: What they carried, both ways together.
    """

    __slots__ = ()
    local: str
    far: str
    count: int
    carried_bytes: int
    _records = {}
    _optional = frozenset([])


class RoundTrips(Record):
    """Round trips of one measurement: idle first, then beside the streams.

    Attributes:
        unloaded: Before the streams started; absent when nothing answers probes there.
        loaded: While the streams ran.
        added_seconds: dRTT: mean loaded less mean unloaded round-trip time; by chance it can be
            slightly negative.
    """

    __slots__ = ()
    unloaded: Series | None
    loaded: Series | None
    added_seconds: float | None
    _records = {"unloaded": "Series", "loaded": "Series"}
    _optional = frozenset(["added_seconds", "loaded", "unloaded"])


class Series(Record):
    """Probes sent one after another under the same conditions.

    Attributes:
        method: What carried the probes.
        min_seconds: Smallest round-trip time.
        mean_seconds: Mean round-trip time.
        median_seconds: Median round-trip time.
        loss_ratio: Share of the probes without an answer.
        rate_variability: `1 - min / mean`: 0 on a path without queueing.
        probes: Every probe, in the order in which they were sent.
    """

    __slots__ = ()
    method: ProbeMethod
    min_seconds: float | None
    mean_seconds: float | None
    median_seconds: float | None
    loss_ratio: float | None
    rate_variability: float | None
    probes: list[Probe]
    _records = {"probes": "Probe"}
    _optional = frozenset(["loss_ratio", "mean_seconds", "median_seconds", "min_seconds", "rate_variability"])


class Probe(Record):
    """One probe and its answer.

    Attributes:
        sent_seconds: When it was sent, from the start of its series.
        rtt_seconds: How long the answer took; `None` when none came.
    """

    __slots__ = ()
    sent_seconds: float
    rtt_seconds: float | None
    _records = {}
    _optional = frozenset(["rtt_seconds"])


class Cpu(Record):
    """Processor use over a run; an end that did not tell is absent.

    Attributes:
        near: This end.
        far: The far end.
    """

    __slots__ = ()
    near: Near | None
    far: Shares | None
    _records = {"near": "Near", "far": "Shares"}
    _optional = frozenset(["far", "near"])


class Near(Record):
    """This end's processor use, with its readings.

    Attributes:
        user_ratio: In the program, over the run; absent when it was too short to tell.
        kernel_ratio: In the kernel on its behalf.
        samples: The readings.
    """

    __slots__ = ()
    user_ratio: float | None
    kernel_ratio: float | None
    samples: list[CpuSample]
    _records = {"samples": "CpuSample"}
    _optional = frozenset(["kernel_ratio", "user_ratio"])


class CpuSample(Record):
    """Processor time that a process had used by a point in time.

    Attributes:
        at_seconds: When, from the start of the streams.
        user_seconds: Time in the program.
        kernel_seconds: Time in the kernel on the program's behalf.
    """

    __slots__ = ()
    at_seconds: float
    user_seconds: float
    kernel_seconds: float
    _records = {}
    _optional = frozenset([])


class Shares(Record):
    """Shares of one processor: 0.5 is half of one, 2.0 is two full ones.

    Attributes:
        user_ratio: In the program.
        kernel_ratio: In the kernel on its behalf.
    """

    __slots__ = ()
    user_ratio: float
    kernel_ratio: float
    _records = {}
    _optional = frozenset([])


class DirectionFigures(Record):
    """One direction of a run.

    Attributes:
        direction: Which way, seen from the client.
        goodput_bits_per_second: All its streams together, over its steady window.
        interval: Where the goodput of a longer run lies.
        steady: The part of the run over which the figures hold.
        counted: Who counted the bytes.
        fairness: Jain's fairness index over the streams: 1 when all get the same.
        retransmits: Segments retransmitted over the whole run.
        thread_cpu_ratio: The busiest thread at this end, as a share of one processor.
        tcp: What the senders' kernels said over the steady window.
    """

    __slots__ = ()
    direction: StreamDirection
    goodput_bits_per_second: int
    interval: RateInterval | None
    steady: Steady
    counted: Counted
    fairness: float | None
    retransmits: int | None
    thread_cpu_ratio: float | None
    tcp: TcpSummary
    _records = {"interval": "RateInterval", "steady": "Steady", "tcp": "TcpSummary"}
    _optional = frozenset(["fairness", "interval", "retransmits", "thread_cpu_ratio"])


class TcpSummary(Record):
    """What the senders' kernels said over the steady window: differences from its start to its end,
    summed over the streams of one direction.

    Attributes:
        busy_ratio: Time with data outstanding, as a share of the window.
        receive_window_limited_ratio: Busy time held back by the receiver's window, as a share of
            busy time.
        send_buffer_limited_ratio: Busy time held back by the send buffer, as a share of busy time.
        not_sent_empty_ratio: Readings at which the kernel had nothing left to send, as a share of
            all.
        window_full_ratio: Readings with at least 90 % of the peer's window in flight, as a share of
            all.
        peer_window_bytes: Mean window that the peer offered to one stream.
        flight_bytes: Mean bytes in flight of one stream.
        congestion_window_bytes: Mean congestion window of one stream.
        congestion_window_growth_ratio: Growth of one stream's congestion window from the first to
            the last third of the window.
        mss_bytes: Payload of a segment.
        retransmitted_ratio: Retransmitted bytes as a share of the bytes sent.
        retransmits: Retransmitted segments.
        mark_echoed_ratio: Segments of which an acknowledgement echoed a congestion mark, as a share
            of those that arrived. More than queues have marked: a receiver echoes a mark for about
            a round trip. Absent without ECN.
        ecn: Whether all streams agreed on ECN with the far end.
        duplicate_ratio: Retransmissions that the receiver reported as duplicates, as a share of
            retransmissions.
        reorderings: Reordering events.
        rtt_seconds: Mean smoothed round-trip time.
        rtt_min_seconds: Smallest round-trip time.
    """

    __slots__ = ()
    busy_ratio: float | None
    receive_window_limited_ratio: float | None
    send_buffer_limited_ratio: float | None
    not_sent_empty_ratio: float | None
    window_full_ratio: float | None
    peer_window_bytes: int | None
    flight_bytes: int | None
    congestion_window_bytes: int | None
    congestion_window_growth_ratio: float | None
    mss_bytes: int | None
    retransmitted_ratio: float | None
    retransmits: int | None
    mark_echoed_ratio: float | None
    ecn: bool | None
    duplicate_ratio: float | None
    reorderings: int | None
    rtt_seconds: float | None
    rtt_min_seconds: float | None
    _records = {}
    _optional = frozenset(["busy_ratio", "congestion_window_bytes", "congestion_window_growth_ratio", "duplicate_ratio", "ecn", "flight_bytes", "mark_echoed_ratio", "mss_bytes", "not_sent_empty_ratio", "peer_window_bytes", "receive_window_limited_ratio", "reorderings", "retransmits", "retransmitted_ratio", "rtt_min_seconds", "rtt_seconds", "send_buffer_limited_ratio", "window_full_ratio"])


class Stream(Record):
    """One stream of a run.

    Attributes:
        number: Its number within the run, from 1.
        direction: Which way it flowed, seen from the client.
        delivered_bytes: Bytes delivered over the whole run, by the best count there is.
        goodput_bits_per_second: Goodput over the steady window.
        retransmits: Segments that the sender retransmitted.
        thread_cpu_seconds: Processor time of the thread that served it at this end.
        buffers: This end's socket buffers; absent over UDP.
        buffers_far: The far end's, when it told them.
        delivery: How its bytes arrived.
        tcp: The sender's `TCP_INFO`, reading by reading; empty when the sender is a foreign peer.
    """

    __slots__ = ()
    number: int
    direction: StreamDirection
    delivered_bytes: int
    goodput_bits_per_second: int | None
    retransmits: int | None
    thread_cpu_seconds: float | None
    buffers: Buffers | None
    buffers_far: Buffers | None
    delivery: Delivery
    tcp: list[TcpSample]
    _records = {"buffers": "Buffers", "buffers_far": "Buffers", "delivery": "Delivery", "tcp": "TcpSample"}
    _optional = frozenset(["buffers", "buffers_far", "goodput_bits_per_second", "retransmits", "thread_cpu_seconds"])


class Buffers(Record):
    """The two buffers of one end's socket.

    Attributes:
        send: `SO_SNDBUF`.
        receive: `SO_RCVBUF`.
    """

    __slots__ = ()
    send: Buffer
    receive: Buffer
    _records = {"send": "Buffer", "receive": "Buffer"}
    _optional = frozenset([])


class Buffer(Record):
    """A socket buffer: what was asked of the kernel and what it answered.

    Attributes:
        asked_bytes: What was asked for; `None` leaves the size to the kernel.
        granted_bytes: What `getsockopt` says, doubled by Linux for its bookkeeping.
    """

    __slots__ = ()
    asked_bytes: int | None
    granted_bytes: int
    _records = {}
    _optional = frozenset(["asked_bytes"])


class Delivery(Record):
    """How the bytes of a stream arrived over time.

    Attributes:
        counted: Who counted.
        receiver_total_bytes: The receiver's own total at the end, when it gave one.
        progress: Cumulative readings every [`crate::SamplePlan::INTERVAL`], in order.
    """

    __slots__ = ()
    counted: Counted
    receiver_total_bytes: int | None
    progress: list[Progress]
    _records = {"progress": "Progress"}
    _optional = frozenset(["receiver_total_bytes"])


class Progress(Record):
    """Bytes that had reached the far application (or kernel) by a point in time, from the start.

    Attributes:
        at_seconds: When, from the start of the streams.
        bytes: How much, in all.
    """

    __slots__ = ()
    at_seconds: float
    bytes: int
    _records = {}
    _optional = frozenset([])


class TcpSample(Record):
    """One reading of `TCP_INFO`, of multipath TCP of all its subflows together. Counters run from
    the start of the connection.

    Attributes:
        at_seconds: When it was read, from the start of the streams.
        rtt_seconds: Smoothed round-trip time (`tcpi_rtt`).
        rtt_min_seconds: Smallest round-trip time seen (`tcpi_min_rtt`).
        congestion_window_segments: Congestion window, in segments (`tcpi_snd_cwnd`).
        slow_start_threshold_segments: Slow-start threshold, in segments; `None` also while it is
            still unset.
        mss_bytes: Payload of a segment (`tcpi_snd_mss`).
        unacknowledged_segments: Segments sent and not yet acknowledged (`tcpi_unacked`).
        peer_window_bytes: The window that the peer offers (`tcpi_snd_wnd`).
        acknowledged_bytes: Bytes the peer acknowledged (`tcpi_bytes_acked`).
        arrived_bytes: Bytes that reached the peer, in order or not, each counted once
            (`tcpi_delivered`, whole segments).
        received_bytes: Bytes received in order (`tcpi_bytes_received`).
        sent_bytes: Bytes sent, retransmissions included (`tcpi_bytes_sent`).
        retransmitted_bytes: Bytes retransmitted (`tcpi_bytes_retrans`).
        retransmits: Segments retransmitted (`tcpi_total_retrans`).
        not_sent_bytes: Written by the application but not yet sent (`tcpi_notsent_bytes`). Over UDP
            zero where nothing is left to send, and absent otherwise.
        delivery_rate_bits_per_second: The kernel's own estimate of the delivery rate
            (`tcpi_delivery_rate`).
        busy_seconds: Time with data outstanding (`tcpi_busy_time`); includes the two below.
        receive_window_limited_seconds: Busy time held back by the peer's window
            (`tcpi_rwnd_limited`).
        send_buffer_limited_seconds: Busy time held back by the send buffer (`tcpi_sndbuf_limited`).
        reorderings: Reordering events (`tcpi_reord_seen`).
        duplicates_reported: Duplicates that the peer reported (`tcpi_dsack_dups`): retransmissions
            sent in vain.
        mark_echoed_segments: Segments of which an acknowledgement echoed a congestion mark
            (`tcpi_delivered_ce`); absent where a TCP connection has no ECN. Its receiver echoes a
            mark until the sender says that it has slowed down (RFC 3168, section 6.1.3), so one
            mark counts the segments of a round trip. Over UDP the segments of which an
            acknowledgement told of further marks.
        ecn: Whether both ends agreed on ECN (RFC 3168; `tcpi_options`), so that queues may mark
            packets in place of drops; absent where that is not known.
        window_scaling: `false` where both ends did not agree on window scaling (`tcpi_options`), so
            that no window is beyond 65,535 bytes; absent otherwise.
    """

    __slots__ = ()
    at_seconds: float
    rtt_seconds: float | None
    rtt_min_seconds: float | None
    congestion_window_segments: int | None
    slow_start_threshold_segments: int | None
    mss_bytes: int | None
    unacknowledged_segments: int | None
    peer_window_bytes: int | None
    acknowledged_bytes: int | None
    arrived_bytes: int | None
    received_bytes: int | None
    sent_bytes: int | None
    retransmitted_bytes: int | None
    retransmits: int | None
    not_sent_bytes: int | None
    delivery_rate_bits_per_second: int | None
    busy_seconds: float | None
    receive_window_limited_seconds: float | None
    send_buffer_limited_seconds: float | None
    reorderings: int | None
    duplicates_reported: int | None
    mark_echoed_segments: int | None
    ecn: bool | None
    window_scaling: bool | None
    _records = {}
    _optional = frozenset(["acknowledged_bytes", "arrived_bytes", "busy_seconds", "congestion_window_segments", "delivery_rate_bits_per_second", "duplicates_reported", "ecn", "mark_echoed_segments", "mss_bytes", "not_sent_bytes", "peer_window_bytes", "receive_window_limited_seconds", "received_bytes", "reorderings", "retransmits", "retransmitted_bytes", "rtt_min_seconds", "rtt_seconds", "send_buffer_limited_seconds", "sent_bytes", "slow_start_threshold_segments", "unacknowledged_segments", "window_scaling"])


class TuneDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What was tuned.
        objective: What was sought.
        recommended: What to use.
        unpaced: What to use where streams cannot be paced; absent unless the recommendation is
            paced.
        own_control: What to use where a program leaves the congestion control to the host; absent
            unless the recommendation has another one.
        default_sample: Which sample shows one stream with everything as the host has it, counted
            from 0: of several the one that counts; absent where none was taken.
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
        limit_default: What limits that stream: what there is to overcome.
        settings: Ready-made commands.
        sysctl: Kernel settings that held the default stream back, with values that would not.
        cost: What the search took.
        cut_because: Why it ended before it had what it needed; absent when it had.
        drift: What changed on the path while it was measured: a sentence without a full stop;
            absent when nothing seems to have.
        untried: What the budget left untried that might carry more: a sentence without a full stop;
            absent when more streams had stopped to bring more.
        failed: Settings that could not be sampled; absent where all could.
        left_behind: What could not be removed from the far end: a sentence without a full stop;
            absent where nothing was left.
        confirmations: Runs of what was recommended, in order: several where one led to another
            answer. Of a demonstration.
        path_file: The path that explains the samples, as a path file; absent where they tell
            nothing of it.
        samples: Everything that was tried, in order.
    """

    __slots__ = ()
    schema: Literal["trunkline/tune"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    objective: Objective
    recommended: Recommended
    unpaced: Recommended | None
    own_control: Recommended | None
    default_sample: int | None
    limit: Limit | None
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str | None
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    limit_default: Verdict | None
    settings: list[ToolSetting] | None
    sysctl: list[SysctlLine] | None
    cost: Cost
    cut_because: str | None
    drift: str | None
    untried: str | None
    failed: list[FailedSample] | None
    left_behind: str | None
    confirmations: list[Confirmation] | None
    path_file: str | None
    samples: list[Sample]
    _records = {"host": "Host", "target": "Target", "objective": "Objective", "recommended": "Recommended", "unpaced": "Recommended", "own_control": "Recommended", "limit_default": "Verdict", "settings": "ToolSetting", "sysctl": "SysctlLine", "cost": "Cost", "failed": "FailedSample", "confirmations": "Confirmation", "samples": "Sample"}
    _optional = frozenset(["confirmations", "could_reach_bits_per_second", "cut_because", "default_sample", "drift", "failed", "left_behind", "limit", "limit_because", "limit_default", "limit_or", "limit_probability", "own_control", "path_file", "seed", "settings", "sysctl", "unpaced", "untried", "window_needed_bytes"])
    _promised = {"recommended": "this search ended before it could recommend a setting; `cut_because` says why"}


class Objective(Record):
    """What makes one operating point better than another.

    Attributes:
        name:
        share: Between 0 and 1.
        added_rtt_max_seconds: Delay that the run may add to the path's round-trip time.
        retransmitted_max_ratio: Retransmitted share that the run may cause.
    """

    __slots__ = ()
    name: Literal["knee", "max", "power", "gentle"]
    share: float | None
    added_rtt_max_seconds: float | None
    retransmitted_max_ratio: float | None
    _records = {}
    _optional = frozenset(["added_rtt_max_seconds", "retransmitted_max_ratio", "share"])


class Recommended(Record):
    """The operating point.

    Attributes:
        transport: What carries the streams; absent where it is TCP.
        streams: Parallel streams.
        window: Socket buffers of each stream: `"auto"` or bytes.
        moving: How another program is to move the data; absent where that is left to it.
        congestion: Congestion control, where it is not the host's default.
        pacing_bits_per_second: Upper bound on each stream's rate, where there is one.
        goodput_bits_per_second: What a minute of it is expected to carry.
        interval: Where 95 in 100 such minutes lie.
        rtt_loaded_seconds: Mean round-trip time beside it.
        rtt_unloaded_seconds: Mean round-trip time of the idle path.
        sample: Which sample showed it, counted from 0.
        because: Why this one: a sentence without a full stop.
    """

    __slots__ = ()
    transport: Transport | None
    streams: int
    window: Window
    moving: Moving | None
    congestion: str | None
    pacing_bits_per_second: int | None
    goodput_bits_per_second: int
    interval: RateInterval | None
    rtt_loaded_seconds: float | None
    rtt_unloaded_seconds: float | None
    sample: int
    because: str
    _records = {"moving": "Moving", "interval": "RateInterval"}
    _optional = frozenset(["congestion", "interval", "moving", "pacing_bits_per_second", "rtt_loaded_seconds", "rtt_unloaded_seconds", "transport"])


class Verdict(Record):
    """What limits a run, and how that is known.

    Attributes:
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
    """

    __slots__ = ()
    limit: Limit
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    _records = {}
    _optional = frozenset(["could_reach_bits_per_second", "limit_or", "limit_probability", "window_needed_bytes"])


class ToolSetting(Record):
    """How one tool is told to use the recommendation.

    Attributes:
        tool: The tool.
        command: A command; parts in capitals are the user's to fill in.
        note: What the tool does differently from what was asked; several remarks with semicolons.
    """

    __slots__ = ()
    tool: str
    command: str
    note: str | None
    _records = {}
    _optional = frozenset(["note"])


class SysctlLine(Record):
    """One line for `/etc/sysctl.d` or `sysctl -w`.

    Attributes:
        host: The host that it is for.
        key: The key, such as `net.core.wmem_max`.
        value: The value to give it: one number, or three for `tcp_rmem` and `tcp_wmem`.
        now_bytes: What it is now, where that is known; for `tcp_rmem` and `tcp_wmem` the last of
            the three.
        why: Why it stands in the way, and on which condition the line helps.
    """

    __slots__ = ()
    host: End
    key: str
    value: str
    now_bytes: int | None
    why: str
    _records = {}
    _optional = frozenset(["now_bytes"])


class Cost(Record):
    """What the tuning took.

    Attributes:
        seconds: Time, with connecting and idle probes.
        bytes: Bytes delivered in all.
    """

    __slots__ = ()
    seconds: float
    bytes: int
    _records = {}
    _optional = frozenset([])


class FailedSample(Record):
    """A setting that could not be sampled, where that did not end the search.

    Attributes:
        setting: What was asked for.
        because: Why there is no sample of it: a sentence without a full stop.
    """

    __slots__ = ()
    setting: Setting
    because: str
    _records = {"setting": "Setting"}
    _optional = frozenset([])


class Confirmation(Record):
    """What was recommended, run once more.

    Attributes:
        sample: Which sample that is: its index in `samples`, from 0.
        promise: What was promised before.
    """

    __slots__ = ()
    sample: int
    promise: Promise
    _records = {"promise": "Promise"}
    _optional = frozenset([])


class Promise(Record):
    """What a minute of a setting is expected to carry.

    Attributes:
        goodput_bits_per_second: The middle of it.
        interval: Where 95 in 100 such minutes lie.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    interval: RateInterval | None
    _records = {"interval": "RateInterval"}
    _optional = frozenset(["interval"])


class Sample(Record):
    """One setting that was tried.

    Attributes:
        purpose: What it was taken for.
        why: Why it was tried: a sentence without a full stop.
        promise: What a minute of its setting is expected to carry; absent in searches of before
            0.3.
        doubt: Why it did not count for what it showed, in searches of before 0.3.
        setting: What was asked for.
        goodput_bits_per_second: Delivered to the receiver per time over the steady window, all
            streams together.
        interval: Where the goodput of a much longer run lies; absent when the run cannot say
            (`steady.unsettled`).
        steady: The part of the run over which the figures hold.
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
        retransmits: Segments retransmitted over the whole run; absent when a direction's senders
            did not tell.
        delivered_bytes: Bytes delivered over the whole run.
        duration_seconds: How long the streams ran.
        elapsed_seconds: How long it all took, with connecting and idle probes.
        peer: What the far end was.
        congestion_used: The congestion control that the sender really used.
        mptcp: What the streams went over; absent where multipath TCP was not asked for.
        rtt: Round trips, idle and loaded.
        cpu: Processor use.
        directions: Each direction that carried data: sending first.
        streams: Each stream, with its readings.
    """

    __slots__ = ()
    purpose: Purpose
    why: str
    promise: Promise | None
    doubt: Doubt | None
    setting: Setting
    goodput_bits_per_second: int
    interval: RateInterval | None
    steady: Steady
    limit: Limit | None
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str | None
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    retransmits: int | None
    delivered_bytes: int
    duration_seconds: float
    elapsed_seconds: float
    peer: Peer
    congestion_used: str | None
    mptcp: Multipath | None
    rtt: RoundTrips
    cpu: Cpu
    directions: list[DirectionFigures]
    streams: list[Stream]
    _records = {"promise": "Promise", "doubt": "Doubt", "setting": "Setting", "interval": "RateInterval", "steady": "Steady", "mptcp": "Multipath", "rtt": "RoundTrips", "cpu": "Cpu", "directions": "DirectionFigures", "streams": "Stream"}
    _optional = frozenset(["congestion_used", "could_reach_bits_per_second", "doubt", "interval", "limit", "limit_because", "limit_or", "limit_probability", "mptcp", "promise", "retransmits", "window_needed_bytes"])


class Doubt(Record):
    """Why a sample did not count for what it showed where one was recommended.

    Attributes:
        counts_for_bits_per_second: What it counts for; absent where it does not count at all.
        because: Why: a sentence without a full stop.
    """

    __slots__ = ()
    counts_for_bits_per_second: int | None
    because: str
    _records = {}
    _optional = frozenset(["counts_for_bits_per_second"])


class DemoDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What was measured.
        runs: The settings to compare, in the order in which they are shown.
        tune: The search for the best one.
        tuned: What it recommends, run once more for longer than a search does, which is one of its
            samples as well; absent where it was not, and in documents of earlier versions.
    """

    __slots__ = ()
    schema: Literal["trunkline/demo"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    runs: list[LabelledRun]
    tune: Tune
    tuned: Run | None
    _records = {"host": "Host", "target": "Target", "runs": "LabelledRun", "tune": "Tune", "tuned": "Run"}
    _optional = frozenset(["seed", "tuned"])


class LabelledRun(Record):
    """One setting of the comparison.

    Attributes:
        label: Its name in tables and plots.
        promise: What the search promises for it, of whose samples it is none; absent in documents
            of earlier versions.
        published: What was published of this setting on the real path.
        setting: What was asked for.
        goodput_bits_per_second: Delivered to the receiver per time over the steady window, all
            streams together.
        interval: Where the goodput of a much longer run lies; absent when the run cannot say
            (`steady.unsettled`).
        steady: The part of the run over which the figures hold.
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
        retransmits: Segments retransmitted over the whole run; absent when a direction's senders
            did not tell.
        delivered_bytes: Bytes delivered over the whole run.
        duration_seconds: How long the streams ran.
        elapsed_seconds: How long it all took, with connecting and idle probes.
        peer: What the far end was.
        congestion_used: The congestion control that the sender really used.
        mptcp: What the streams went over; absent where multipath TCP was not asked for.
        rtt: Round trips, idle and loaded.
        cpu: Processor use.
        directions: Each direction that carried data: sending first.
        streams: Each stream, with its readings.
    """

    __slots__ = ()
    label: str
    promise: Promise | None
    published: Published | None
    setting: Setting
    goodput_bits_per_second: int
    interval: RateInterval | None
    steady: Steady
    limit: Limit | None
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str | None
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    retransmits: int | None
    delivered_bytes: int
    duration_seconds: float
    elapsed_seconds: float
    peer: Peer
    congestion_used: str | None
    mptcp: Multipath | None
    rtt: RoundTrips
    cpu: Cpu
    directions: list[DirectionFigures]
    streams: list[Stream]
    _records = {"promise": "Promise", "published": "Published", "setting": "Setting", "interval": "RateInterval", "steady": "Steady", "mptcp": "Multipath", "rtt": "RoundTrips", "cpu": "Cpu", "directions": "DirectionFigures", "streams": "Stream"}
    _optional = frozenset(["congestion_used", "could_reach_bits_per_second", "interval", "limit", "limit_because", "limit_or", "limit_probability", "mptcp", "promise", "published", "retransmits", "window_needed_bytes"])


class Published(Record):
    """A published measurement.

    Attributes:
        goodput_bits_per_second: Its throughput.
        source: Who measured it, and when.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    source: str
    _records = {}
    _optional = frozenset([])


class Tune(Record):
    """The body of a `trunkline/tune` document.

    Attributes:
        target: What was tuned.
        objective: What was sought.
        recommended: What to use.
        unpaced: What to use where streams cannot be paced; absent unless the recommendation is
            paced.
        own_control: What to use where a program leaves the congestion control to the host; absent
            unless the recommendation has another one.
        default_sample: Which sample shows one stream with everything as the host has it, counted
            from 0: of several the one that counts; absent where none was taken.
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
        limit_default: What limits that stream: what there is to overcome.
        settings: Ready-made commands.
        sysctl: Kernel settings that held the default stream back, with values that would not.
        cost: What the search took.
        cut_because: Why it ended before it had what it needed; absent when it had.
        drift: What changed on the path while it was measured: a sentence without a full stop;
            absent when nothing seems to have.
        untried: What the budget left untried that might carry more: a sentence without a full stop;
            absent when more streams had stopped to bring more.
        failed: Settings that could not be sampled; absent where all could.
        left_behind: What could not be removed from the far end: a sentence without a full stop;
            absent where nothing was left.
        confirmations: Runs of what was recommended, in order: several where one led to another
            answer. Of a demonstration.
        path_file: The path that explains the samples, as a path file; absent where they tell
            nothing of it.
        samples: Everything that was tried, in order.
    """

    __slots__ = ()
    target: Target
    objective: Objective
    recommended: Recommended | None
    unpaced: Recommended | None
    own_control: Recommended | None
    default_sample: int | None
    limit: Limit | None
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str | None
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    limit_default: Verdict | None
    settings: list[ToolSetting] | None
    sysctl: list[SysctlLine] | None
    cost: Cost
    cut_because: str | None
    drift: str | None
    untried: str | None
    failed: list[FailedSample] | None
    left_behind: str | None
    confirmations: list[Confirmation] | None
    path_file: str | None
    samples: list[Sample]
    _records = {"target": "Target", "objective": "Objective", "recommended": "Recommended", "unpaced": "Recommended", "own_control": "Recommended", "limit_default": "Verdict", "settings": "ToolSetting", "sysctl": "SysctlLine", "cost": "Cost", "failed": "FailedSample", "confirmations": "Confirmation", "samples": "Sample"}
    _optional = frozenset(["confirmations", "could_reach_bits_per_second", "cut_because", "default_sample", "drift", "failed", "left_behind", "limit", "limit_because", "limit_default", "limit_or", "limit_probability", "own_control", "path_file", "recommended", "settings", "sysctl", "unpaced", "untried", "window_needed_bytes"])


class Run(Record):
    """One run. In a measure document its keys stand beside the envelope's.

    Attributes:
        setting: What was asked for.
        goodput_bits_per_second: Delivered to the receiver per time over the steady window, all
            streams together.
        interval: Where the goodput of a much longer run lies; absent when the run cannot say
            (`steady.unsettled`).
        steady: The part of the run over which the figures hold.
        limit: The cause; of several that look the same, the likeliest.
        limit_probability: How likely it is that cause, 0 to 1, where a path was inferred.
        limit_or: The other causes that would look the same in these numbers, the likelier ones
            first.
        limit_because: The numbers that say so, as a sentence for people without a full stop.
        window_needed_bytes: The window per stream that would lift a buffer's limit, before the
            kernel's doubling.
        could_reach_bits_per_second: Goodput to expect once this limit is gone and nothing else has
            changed: as far as other runs have shown that the path carries it.
        retransmits: Segments retransmitted over the whole run; absent when a direction's senders
            did not tell.
        delivered_bytes: Bytes delivered over the whole run.
        duration_seconds: How long the streams ran.
        elapsed_seconds: How long it all took, with connecting and idle probes.
        peer: What the far end was.
        congestion_used: The congestion control that the sender really used.
        mptcp: What the streams went over; absent where multipath TCP was not asked for.
        rtt: Round trips, idle and loaded.
        cpu: Processor use.
        directions: Each direction that carried data: sending first.
        streams: Each stream, with its readings.
    """

    __slots__ = ()
    setting: Setting
    goodput_bits_per_second: int
    interval: RateInterval | None
    steady: Steady
    limit: Limit | None
    limit_probability: float | None
    limit_or: list[Limit] | None
    limit_because: str | None
    window_needed_bytes: int | None
    could_reach_bits_per_second: int | None
    retransmits: int | None
    delivered_bytes: int
    duration_seconds: float
    elapsed_seconds: float
    peer: Peer
    congestion_used: str | None
    mptcp: Multipath | None
    rtt: RoundTrips
    cpu: Cpu
    directions: list[DirectionFigures]
    streams: list[Stream]
    _records = {"setting": "Setting", "interval": "RateInterval", "steady": "Steady", "mptcp": "Multipath", "rtt": "RoundTrips", "cpu": "Cpu", "directions": "DirectionFigures", "streams": "Stream"}
    _optional = frozenset(["congestion_used", "could_reach_bits_per_second", "interval", "limit", "limit_because", "limit_or", "limit_probability", "mptcp", "retransmits", "window_needed_bytes"])


class EmulateDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        path: The path's name.
        path_description: What the path is, in one line.
        near_command: The program on the near host, word by word.
        far_command: The shell command on the far host.
        exit_code: The exit code of the program on the near host.
        forward: From near to far.
        reverse: From far to near.
        before: Links between the near host and this one, in order.
        beyond: Links between this one and the far host, in order.
    """

    __slots__ = ()
    schema: Literal["trunkline/emulate"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    path: str
    path_description: str
    near_command: list[str]
    far_command: str | None
    exit_code: int
    forward: LinkCounters
    reverse: LinkCounters
    before: list[DuplexCounters] | None
    beyond: list[DuplexCounters] | None
    _records = {"host": "Host", "forward": "LinkCounters", "reverse": "LinkCounters", "before": "DuplexCounters", "beyond": "DuplexCounters"}
    _optional = frozenset(["before", "beyond", "far_command", "seed"])


class LinkCounters(Record):
    """The books of one link: offered is always delivered + dropped by cause + in flight.

    Attributes:
        offered: Handed to the link.
        delivered: Came out at the far end.
        dropped_queue_full: Dropped because the queue was full.
        dropped_early: Dropped by RED before the queue was full.
        dropped_sojourn: Dropped by CoDel because they had waited too long.
        dropped_policed: Dropped by a policer in front of the queue.
        dropped_wire_loss: Lost on the wire.
        in_flight: Still inside when the counters were read.
        marked: Marked by the queue instead of dropped (ECN).
        queue_peak_bytes: The most that ever waited in the queue.
        load: The packets of others' load on this link, which are in none of the other counts;
            absent where there is none.
    """

    __slots__ = ()
    offered: Count
    delivered: Count
    dropped_queue_full: Count
    dropped_early: Count
    dropped_sojourn: Count
    dropped_policed: Count | None
    dropped_wire_loss: Count
    in_flight: Count
    marked: Count
    queue_peak_bytes: int
    load: LoadCounters | None
    _records = {"offered": "Count", "delivered": "Count", "dropped_queue_full": "Count", "dropped_early": "Count", "dropped_sojourn": "Count", "dropped_policed": "Count", "dropped_wire_loss": "Count", "in_flight": "Count", "marked": "Count", "load": "LoadCounters"}
    _optional = frozenset(["dropped_policed", "load"])


class Count(Record):
    """A number of packets and their bytes.

    Attributes:
        packets: How many.
        bytes: How large together.
    """

    __slots__ = ()
    packets: int
    bytes: int
    _records = {}
    _optional = frozenset([])


class LoadCounters(Record):
    """The books of others' load on one link: offered is always delivered + dropped by cause + in
    flight.

    Attributes:
        offered: Came to the link.
        delivered: Was put on the wire and not lost there.
        dropped_queue_full: Dropped because the queue was full.
        dropped_early: Dropped by RED before the queue was full.
        dropped_sojourn: Dropped by CoDel because they had waited too long.
        dropped_policed: Dropped by a policer in front of the queue.
        dropped_wire_loss: Lost on the wire.
        in_flight: Waited when the counters were read.
    """

    __slots__ = ()
    offered: Count
    delivered: Count
    dropped_queue_full: Count
    dropped_early: Count
    dropped_sojourn: Count
    dropped_policed: Count | None
    dropped_wire_loss: Count
    in_flight: Count
    _records = {"offered": "Count", "delivered": "Count", "dropped_queue_full": "Count", "dropped_early": "Count", "dropped_sojourn": "Count", "dropped_policed": "Count", "dropped_wire_loss": "Count", "in_flight": "Count"}
    _optional = frozenset(["dropped_policed"])


class DuplexCounters(Record):
    """The books of both directions between two neighbours.

    Attributes:
        forward: From near to far.
        reverse: From far to near.
    """

    __slots__ = ()
    forward: LinkCounters
    reverse: LinkCounters
    _records = {"forward": "LinkCounters", "reverse": "LinkCounters"}
    _optional = frozenset([])


class SimulateDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        path: What was simulated.
        scenario: What was run over it.
        setting: Streams, window and variant.
        aggregate: All streams together.
        cross: The cross traffic.
        drops: Packets dropped, of the streams and the cross traffic alike.
        drops_standard_deviation: Their standard deviation over the seeds; absent for a single one.
        drops_by_cause: The drops, by cause.
        marks: Packets marked instead of being dropped.
        retransmitted: Segments that the streams sent again.
        timeouts: Their retransmission timeouts.
        jain: Jain's index over the streams; absent when a run got nothing through.
        utilisation_ratio: Share of the time in which the forward link was sending.
        queue: The queue of the forward link; its peak is the highest of all seeds.
        rtt: Round trips; the smallest and the largest are those of all seeds.
        completion_seconds: When the last stream had finished, from the beginning of the run; absent
            when a run left data.
        completion_standard_deviation_seconds: Over the seeds; absent for a single one.
        completion_streams_standard_deviation_seconds: How far the streams of a run lie apart: the
            standard deviation of the times at which they finished, mean over the seeds; absent for
            a single stream.
        unfinished_runs: Runs that left data; absent when the streams send for ever.
        cost: What it took.
        runs: Each seed.
    """

    __slots__ = ()
    schema: Literal["trunkline/simulate"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    path: Path
    scenario: Terms
    setting: SimulatedSetting
    aggregate: Aggregate
    cross: CrossFigures
    drops: float
    drops_standard_deviation: float | None
    drops_by_cause: Causes
    marks: float
    retransmitted: float
    timeouts: float
    jain: float | None
    utilisation_ratio: float
    queue: QueueFigures
    rtt: RttFigures | None
    completion_seconds: float | None
    completion_standard_deviation_seconds: float | None
    completion_streams_standard_deviation_seconds: float | None
    unfinished_runs: int | None
    cost: SimulationCost
    runs: list[SimulatedRun]
    _records = {"host": "Host", "path": "Path", "scenario": "Terms", "setting": "SimulatedSetting", "aggregate": "Aggregate", "cross": "CrossFigures", "drops_by_cause": "Causes", "queue": "QueueFigures", "rtt": "RttFigures", "cost": "SimulationCost", "runs": "SimulatedRun"}
    _optional = frozenset(["completion_seconds", "completion_standard_deviation_seconds", "completion_streams_standard_deviation_seconds", "drops_standard_deviation", "jain", "rtt", "seed", "unfinished_runs"])


class Path(Record):
    """A path between two hosts.

    Attributes:
        name: The preset's name, or the file's without its ending.
        description: What it is, in one line.
        forward: From sender to receiver.
        reverse: From receiver to sender.
        before: Links between the near host and this one, in order.
        beyond: Links between this one and the far host, in order.
        hosts: The two end hosts.
        cross: The traffic that shares the forward link.
    """

    __slots__ = ()
    name: str
    description: str
    forward: LinkSpec
    reverse: LinkSpec
    before: list[Duplex] | None
    beyond: list[Duplex] | None
    hosts: Hosts
    cross: list[Cross] | None
    _records = {"forward": "LinkSpec", "reverse": "LinkSpec", "before": "Duplex", "beyond": "Duplex", "hosts": "Hosts", "cross": "Cross"}
    _optional = frozenset(["before", "beyond", "cross"])


class LinkSpec(Record):
    """One direction of a path.

    Attributes:
        rate_bits_per_second: How fast bits leave, on average where the rate varies; counts whole IP
            packets, headers included.
        variation: How the rate varies; `None` for a constant one.
        policer: What drops packets beyond a rate before they reach the queue.
        delay_seconds: Propagation delay, one way.
        queue: Where packets wait while the link is busy.
        loss: Packets lost on the wire for reasons other than a full queue.
        reorder: Packets that are overtaken on the wire.
        cuts: When nothing passes, in order and without overlap.
        corrupted_ratio: Probability per packet that two words of its TCP payload change places,
            which TCP's checksum does not see.
        load: Others' datagrams that share this link and do not give way.
        mtu_bytes: Largest IP packet that fits; `None` for that of the hosts.
    """

    __slots__ = ()
    rate_bits_per_second: int
    variation: Variation | None
    policer: Policer | None
    delay_seconds: float
    queue: QueueSpec
    loss: Loss | None
    reorder: Reorder | None
    cuts: list[Cut] | None
    corrupted_ratio: float | None
    load: Load | None
    mtu_bytes: int | None
    _records = {"policer": "Policer", "queue": "QueueSpec", "loss": "Loss", "reorder": "Reorder", "cuts": "Cut", "load": "Load"}
    _optional = frozenset(["corrupted_ratio", "cuts", "load", "loss", "mtu_bytes", "policer", "reorder", "variation"])


class DrawnRate(Record):
    """A rate that is drawn anew.

    Attributes:
        low_bits_per_second: The lowest rate.
        high_bits_per_second: The highest rate.
        every_seconds: Mean time for which a rate holds.
    """

    __slots__ = ()
    low_bits_per_second: int
    high_bits_per_second: int
    every_seconds: float
    _records = {}
    _optional = frozenset([])


class Trace(Record):
    """A recorded rate, in the format of mahimahi: when the link could deliver a packet.

    Attributes:
        trace: The file that it came from.
        trace_digest: The beginning of the BLAKE3 digest of the file, in hexadecimal digits.
        opportunities: How many opportunities it has.
        period_seconds: How long it is.
    """

    __slots__ = ()
    trace: str
    trace_digest: str
    opportunities: int
    period_seconds: float
    _records = {}
    _optional = frozenset([])


class Policer(Record):
    """A token bucket that drops packets beyond a rate instead of letting them wait.

    Attributes:
        rate_bits_per_second: The rate that passes in the long run.
        bucket_bytes: The largest burst that passes: the size of the bucket.
    """

    __slots__ = ()
    rate_bits_per_second: int
    bucket_bytes: int
    _records = {}
    _optional = frozenset([])


class QueueSpec(Record):
    """A queue discipline and its settings.

    Attributes:
        kind:
        scavenger_ratio: Share of the scavenger class.
        priority_ratio: Share of the priority class; best effort has the rest.
    """

    __slots__ = ()
    kind: Literal["drop-tail", "red", "wred", "codel", "strict", "weighted"]
    scavenger_ratio: float | None
    priority_ratio: float | None
    _records = {}
    _optional = frozenset(["priority_ratio", "scavenger_ratio"])


class RedSpec(Record):
    """Random Early Detection (Floyd & Jacobson 1993, section 4; Floyd 2000 for `gentle`).

    Attributes:
        min_packets: Average queue, in packets, at which dropping begins.
        max_packets: Average queue, in packets, at which `probability` is reached.
        drop_ratio: Drop probability at `max`.
        weight_ratio: Weight of one arrival in the average.
        gentle: Whether the probability grows to 1 between `max` and twice `max` instead of jumping
            there. Documents leave out what is true, so that a path keeps its digest.
        wait: Whether at least `1/p` arrivals lie between two drops at the probability `p`, and at
            most twice as many (`wait_` of ns-2, `Wait` of ns-3, on by default there). Without it,
            as in the paper and in Linux, at most `1/p` do. Documents leave out what is false.
        ecn: Whether packets that say they understand it are marked instead, up to `max`.
    """

    __slots__ = ()
    min_packets: int
    max_packets: int
    drop_ratio: float
    weight_ratio: float
    gentle: bool | None
    wait: bool | None
    ecn: bool
    _records = {}
    _optional = frozenset(["gentle", "wait"])


class Thresholds(Record):
    """From where on the average queue has packets dropped, and how often.

    Attributes:
        min_packets: Average queue, in packets, at which dropping begins.
        max_packets: Average queue, in packets, at which `probability` is reached.
        drop_ratio: Drop probability at `max`.
    """

    __slots__ = ()
    min_packets: int
    max_packets: int
    drop_ratio: float
    _records = {}
    _optional = frozenset([])


class WredSpec(Record):
    """Weighted Random Early Detection: RED in one queue, with thresholds for each class (Cisco IOS,
    "Congestion Avoidance Overview").

    Attributes:
        scavenger: Of the scavenger class.
        best_effort: Of best effort.
        priority: Of the priority class.
        weight_ratio: Weight of one arrival in the average.
        gentle: Whether the probability grows to 1 between `max` and twice `max` instead of jumping
            there.
        rio: Whether worse packets do not count for better ones.
        ecn: Whether packets that say they understand it are marked instead, up to `max`.
    """

    __slots__ = ()
    scavenger: Thresholds
    best_effort: Thresholds
    priority: Thresholds
    weight_ratio: float
    gentle: bool
    rio: bool
    ecn: bool
    _records = {"scavenger": "Thresholds", "best_effort": "Thresholds", "priority": "Thresholds"}
    _optional = frozenset([])


class CoDelSpec(Record):
    """Controlled Delay (RFC 8289).

    Attributes:
        target_seconds: The wait that is acceptable for ever.
        interval_seconds: How long the wait has to stay above `target` before the first drop.
        ecn: Whether packets that say they understand it are marked instead.
    """

    __slots__ = ()
    target_seconds: float
    interval_seconds: float
    ecn: bool
    _records = {}
    _optional = frozenset([])


class Loss(Record):
    """Loss on the wire.

    Attributes:
        kind:
        lost_ratio: Probability that a packet is lost.
        enter_ratio: Probability of going from good to bad.
        leave_ratio: Probability of going from bad to good.
        lost_bad_ratio: Probability that a packet is lost in the bad state.
        lost_good_ratio: Probability that a packet is lost in the good state.
    """

    __slots__ = ()
    kind: Literal["none", "random", "gilbert-elliott"]
    lost_ratio: float | None
    enter_ratio: float | None
    leave_ratio: float | None
    lost_bad_ratio: float | None
    lost_good_ratio: float | None
    _records = {}
    _optional = frozenset(["enter_ratio", "leave_ratio", "lost_bad_ratio", "lost_good_ratio", "lost_ratio"])


class Reorder(Record):
    """Some packets take a longer way, and those behind them overtake them.

    Attributes:
        reordered_ratio: Probability that a packet takes the longer way.
        delay_seconds: How much longer that way takes, added to the link's delay.
    """

    __slots__ = ()
    reordered_ratio: float
    delay_seconds: float
    _records = {}
    _optional = frozenset([])


class Cut(Record):
    """A span of time during which nothing passes: a cable that is pulled out and put back.

    Attributes:
        at_seconds: Since the path came up.
        length_seconds: How long.
    """

    __slots__ = ()
    at_seconds: float
    length_seconds: float
    _records = {}
    _optional = frozenset([])


class Load(Record):
    """Datagrams of others that enter right before a link and leave right behind it.

    Attributes:
        rate_bits_per_second: Rate on average, of whole IP packets.
        arrivals: When they come.
        packets: How large they are; the shares sum to 1.
    """

    __slots__ = ()
    rate_bits_per_second: int
    arrivals: Arrivals
    packets: list[PacketShare]
    _records = {"packets": "PacketShare"}
    _optional = frozenset([])


class PacketShare(Record):
    """A size and how many of the packets have it.

    Attributes:
        size_bytes: Size of the whole IP packet.
        packets_ratio: Share of the packets, not of the bytes.
    """

    __slots__ = ()
    size_bytes: int
    packets_ratio: float
    _records = {}
    _optional = frozenset([])


class Duplex(Record):
    """Both directions between two neighbours.

    Attributes:
        forward: The way of the data.
        reverse: The way back.
    """

    __slots__ = ()
    forward: LinkSpec
    reverse: LinkSpec
    _records = {"forward": "LinkSpec", "reverse": "LinkSpec"}
    _optional = frozenset([])


class Hosts(Record):
    """The end hosts of a path.

    Attributes:
        mtu_bytes: Largest IP packet.
        congestion: Congestion control by its kernel name.
        send_buffer_max_bytes: How far the kernel grows a send buffer: `tcp_wmem[2]`.
        receive_buffer_max_bytes: How far the kernel grows a receive buffer: `tcp_rmem[2]`.
        far: Those of the far host, where they are others: an untuned host at one end makes a path
            slow one way and fast the other. The two above are the near host's then.
        ecn: Whether their TCP asks for Explicit Congestion Notification (RFC 3168), so that queues
            mark its packets instead of dropping them: `tcp_ecn` is 1.
        ipv6: Whether they talk to each other over IPv6.
    """

    __slots__ = ()
    mtu_bytes: int
    congestion: str
    send_buffer_max_bytes: int
    receive_buffer_max_bytes: int
    far: BufferMaxima | None
    ecn: bool | None
    ipv6: bool | None
    _records = {"far": "BufferMaxima"}
    _optional = frozenset(["ecn", "far", "ipv6"])


class BufferMaxima(Record):
    """How far the kernel of one host grows socket buffers.

    Attributes:
        send_buffer_max_bytes: `tcp_wmem[2]`.
        receive_buffer_max_bytes: `tcp_rmem[2]`.
    """

    __slots__ = ()
    send_buffer_max_bytes: int
    receive_buffer_max_bytes: int
    _records = {}
    _optional = frozenset([])


class Cross(Record):
    """A group of others on the forward link.

    Attributes:
        congestion: Congestion control of its TCP streams by its kernel name; `None` for that of the
            hosts.
        class_: The class its packets ask for.
        extra_delay_seconds: Added to the delay of the path for this group, once in each direction.
    """

    __slots__ = ()
    congestion: str | None
    class_: Class
    extra_delay_seconds: float
    _records = {}
    _optional = frozenset(["congestion"])


class Terms(Record):
    """What was run, apart from the path and from what tells cells apart.

    Attributes:
        seeds: The seeds, one run each.
        duration_seconds: When a run ends at the latest.
        warmup_seconds: What is not counted at its beginning.
        bytes: Data in all, in equal shares of the streams; absent when they send for ever.
        per_stream_bytes: Data on each stream; absent when they send for ever.
        series_interval_seconds: How often the state was recorded; absent when it was not.
        class_: The class of service that the streams' packets ask for.
        tcp: How the hosts' TCP is set up.
    """

    __slots__ = ()
    seeds: list[int]
    duration_seconds: float
    warmup_seconds: float
    bytes: int | None
    per_stream_bytes: int | None
    series_interval_seconds: float | None
    class_: str
    tcp: SimulatedTcp
    _records = {"tcp": "SimulatedTcp"}
    _optional = frozenset(["bytes", "per_stream_bytes", "series_interval_seconds"])


class SimulatedTcp(Record):
    """How the hosts' TCP is set up.

    Attributes:
        initial_window_segments: Segments sent before the first acknowledgement.
        header_bytes: IP and TCP headers with options.
        timestamps: Whether every acknowledgement measures a round trip.
        timeout_min_seconds: The least retransmission timeout, or the least that is added to the
            round trip.
        timeout_min_of: Which of the two.
        delayed_ack_seconds: How long an acknowledgement may wait; absent when none waits.
        growth: What makes a window grow.
        ecn: Whether packets ask to be marked instead of dropped.
        send_jitter_seconds: The upper bound of a random delay before sending.
        access: Links between each group of hosts and the bottleneck; absent without them.
        start_within_seconds: Within what the streams start.
        starts: Whose generator draws the start times.
        timeout_forgets: Whether a timeout forgets what was selectively acknowledged.
        watches_repairs: What arrives later tells that a repeated segment was lost again.
        kernel_hosts: Whether hosts reduce windows, judge losses and acknowledge as Linux does;
            absent where they do not.
    """

    __slots__ = ()
    initial_window_segments: int
    header_bytes: int
    timestamps: bool
    timeout_min_seconds: float
    timeout_min_of: TimeoutPart
    delayed_ack_seconds: float | None
    growth: Growth
    ecn: bool
    send_jitter_seconds: float
    access: Access | None
    start_within_seconds: float
    starts: Starts
    timeout_forgets: bool
    watches_repairs: bool
    kernel_hosts: bool | None
    _records = {"access": "Access"}
    _optional = frozenset(["access", "delayed_ack_seconds", "kernel_hosts"])


class Access(Record):
    """A link between a group of hosts and the bottleneck.

    Attributes:
        rate_bits_per_second: How fast it is.
        delay_seconds: Its propagation delay.
    """

    __slots__ = ()
    rate_bits_per_second: int
    delay_seconds: float
    _records = {}
    _optional = frozenset([])


class SimulatedSetting(Record):
    """What tells the cells of a campaign apart.

    Attributes:
        streams: Parallel streams.
        window: The most that each stream keeps outstanding: bytes, or `"auto"` for the hosts'
            buffers.
        variant: How the streams find their rate.
    """

    __slots__ = ()
    streams: int
    window: Window
    variant: str
    _records = {}
    _optional = frozenset([])


class Aggregate(Record):
    """All streams together.

    Attributes:
        goodput_bits_per_second: Acknowledged payload over the measured time.
        standard_deviation_bits_per_second: Over the seeds; absent for a single one.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    standard_deviation_bits_per_second: int | None
    _records = {}
    _optional = frozenset(["standard_deviation_bits_per_second"])


class CrossFigures(Record):
    """The cross traffic together.

    Attributes:
        goodput_bits_per_second: Delivered payload over the measured time; 0 on a path without cross
            traffic.
        standard_deviation_bits_per_second: Over the seeds; absent for a single one.
        share_ratio: Its share of all payload delivered; absent when nothing was.
        alone_bits_per_second: Delivered payload over the same time when the cross traffic has the
            path for itself; absent without cross traffic, and of data with an end.
        taken_ratio: The share of it that the streams took; below 0 when the cross traffic got more
            than alone.
        groups: Each group, in the order of the path file.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    standard_deviation_bits_per_second: int | None
    share_ratio: float | None
    alone_bits_per_second: int | None
    taken_ratio: float | None
    groups: list[CrossGroup] | None
    _records = {"groups": "CrossGroup"}
    _optional = frozenset(["alone_bits_per_second", "groups", "share_ratio", "standard_deviation_bits_per_second", "taken_ratio"])


class CrossGroup(Record):
    """One group of cross traffic.

    Attributes:
        goodput_bits_per_second: Delivered payload over the measured time.
        transfers: Short transfers completed.
        turned_away: Short transfers that were not let in because too many were under way.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    transfers: float
    turned_away: float
    _records = {}
    _optional = frozenset([])


class Causes(Record):
    """Packets dropped, by cause.

    Attributes:
        queue_full: The queue had no room.
        early: Random early detection.
        sojourn: They had waited too long.
        policed: Beyond the rate of a policer.
        wire_loss: Lost on the wire.
    """

    __slots__ = ()
    queue_full: float
    early: float
    sojourn: float
    policed: float | None
    wire_loss: float
    _records = {}
    _optional = frozenset(["policed"])


class QueueFigures(Record):
    """The queue of the forward link.

    Attributes:
        mean_packets: The mean over the measured time.
        peak_bytes: The most, since the beginning of a run.
    """

    __slots__ = ()
    mean_packets: float
    peak_bytes: int
    _records = {}
    _optional = frozenset([])


class RttFigures(Record):
    """The distribution of round-trip times.

    Attributes:
        min_seconds: The smallest.
        mean_seconds: The mean.
        median_seconds: Half are below this.
        p95_seconds: 95 in 100 are below this.
        p99_seconds: 99 in 100 are below this.
        max_seconds: The largest.
    """

    __slots__ = ()
    min_seconds: float
    mean_seconds: float
    median_seconds: float
    p95_seconds: float
    p99_seconds: float
    max_seconds: float
    _records = {}
    _optional = frozenset([])


class SimulationCost(Record):
    """What simulating took; it differs from one time to the next.

    Attributes:
        cpu_seconds: Processor time of the whole command, or of one cell's runs.
        cached_runs: Runs that an earlier command had kept.
    """

    __slots__ = ()
    cpu_seconds: float
    cached_runs: int
    _records = {}
    _optional = frozenset([])


class SimulatedRun(Record):
    """One run, counted from the end of its warm-up unless a field says otherwise.

    Attributes:
        seed: The seed.
        goodput_bits_per_second: Payload that all streams saw acknowledged, over the measured time.
        cross_goodput_bits_per_second: Payload of the cross traffic that was delivered, over the
            same time.
        measured_seconds: From the end of the warm-up to the end of the run.
        drops: Packets dropped, of the streams and the cross traffic alike.
        drops_by_cause: The same, by cause.
        marks: Packets marked instead of being dropped.
        retransmitted: Segments that the streams sent again.
        timeouts: Their retransmission timeouts.
        jain: Jain's index over the streams' goodputs; absent when nothing got through.
        utilisation_ratio: Share of the time in which the forward link was sending.
        queue: The queue of the forward link.
        rtt: Round trips as the streams saw them; absent when nothing was acknowledged.
        completion_seconds: When the last stream finished, from the beginning of the run; absent
            when data was left.
        data_packets: Data packets offered to the forward link, from the beginning of the run.
        events: Events that the simulator handled.
        streams: Each stream; left out of campaigns.
        cross_groups: Each group of cross traffic, in the order of the path file.
        series: What was recorded over time, from the beginning of the run.
    """

    __slots__ = ()
    seed: int
    goodput_bits_per_second: int
    cross_goodput_bits_per_second: int
    measured_seconds: float
    drops: int
    drops_by_cause: Drops
    marks: int
    retransmitted: int
    timeouts: int
    jain: float | None
    utilisation_ratio: float
    queue: QueueFigures
    rtt: RttFigures | None
    completion_seconds: float | None
    data_packets: int
    events: int
    streams: list[StreamResult] | None
    cross_groups: list[CrossResult] | None
    series: list[SeriesSample] | None
    _records = {"drops_by_cause": "Drops", "queue": "QueueFigures", "rtt": "RttFigures", "streams": "StreamResult", "cross_groups": "CrossResult", "series": "SeriesSample"}
    _optional = frozenset(["completion_seconds", "cross_groups", "jain", "rtt", "series", "streams"])


class Drops(Record):
    """Packets that were dropped, by cause.

    Attributes:
        queue_full: The queue had no room.
        early: Random early detection.
        sojourn: They had waited too long (CoDel).
        policed: Beyond the rate of a policer.
        wire_loss: Lost on the wire.
    """

    __slots__ = ()
    queue_full: int
    early: int
    sojourn: int
    policed: int | None
    wire_loss: int
    _records = {}
    _optional = frozenset(["policed"])


class StreamResult(Record):
    """One stream.

    Attributes:
        goodput_bits_per_second: Acknowledged payload over the measured time.
        acknowledged_bytes: Acknowledged payload.
        retransmitted: Segments that were sent again.
        timeouts: Retransmission timeouts.
        completion_seconds: When its last byte was acknowledged, from the beginning of the run.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    acknowledged_bytes: int
    retransmitted: int
    timeouts: int
    completion_seconds: float | None
    _records = {}
    _optional = frozenset(["completion_seconds"])


class CrossResult(Record):
    """One group of cross traffic.

    Attributes:
        goodput_bits_per_second: Delivered payload over the measured time.
        transfers: Short transfers that were completed.
        turned_away: Short transfers that were not let in because too many were under way.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    transfers: int
    turned_away: int
    _records = {}
    _optional = frozenset([])


class SeriesSample(Record):
    """The state at one moment.

    Attributes:
        at_seconds: When.
        queue_packets: Packets that waited in the forward queue, of several links that of the
            narrowest.
        windows_segments: What each stream might have outstanding, in segments: its congestion
            window.
        acknowledged_bytes: Payload that all streams together had seen acknowledged.
        cross_delivered_bytes: Payload that the cross traffic had seen delivered.
    """

    __slots__ = ()
    at_seconds: float
    queue_packets: int
    windows_segments: list[float]
    acknowledged_bytes: int
    cross_delivered_bytes: int
    _records = {}
    _optional = frozenset([])


class CampaignDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        path: What was simulated.
        scenario: What was run over it in every cell.
        choices: For each variant, what stands out.
        cost: What it took.
        cells: Each setting: by variant, then by streams, then by window.
    """

    __slots__ = ()
    schema: Literal["trunkline/campaign"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    path: Path
    scenario: Terms
    choices: list[Choice]
    cost: SimulationCost
    cells: list[Cell]
    _records = {"host": "Host", "path": "Path", "scenario": "Terms", "choices": "Choice", "cost": "SimulationCost", "cells": "Cell"}
    _optional = frozenset(["seed"])


class Choice(Record):
    """What stands out among the cells of a variant.

    Attributes:
        variant: Which variant.
        best_cell: The cell of the highest throughput: its place in `cells`, from 0.
        knee_cell: The cell of the fewest streams that reach 90 % of it, and of those the smallest
            window.
    """

    __slots__ = ()
    variant: str
    best_cell: int
    knee_cell: int
    _records = {}
    _optional = frozenset([])


class Cell(Record):
    """One setting with all its seeds.

    Attributes:
        setting: Streams, window and variant.
        aggregate: All streams together.
        cross: The cross traffic.
        drops: Packets dropped, of the streams and the cross traffic alike.
        drops_standard_deviation: Their standard deviation over the seeds; absent for a single one.
        drops_by_cause: The drops, by cause.
        marks: Packets marked instead of being dropped.
        retransmitted: Segments that the streams sent again.
        timeouts: Their retransmission timeouts.
        jain: Jain's index over the streams; absent when a run got nothing through.
        utilisation_ratio: Share of the time in which the forward link was sending.
        queue: The queue of the forward link; its peak is the highest of all seeds.
        rtt: Round trips; the smallest and the largest are those of all seeds.
        completion_seconds: When the last stream had finished, from the beginning of the run; absent
            when a run left data.
        completion_standard_deviation_seconds: Over the seeds; absent for a single one.
        completion_streams_standard_deviation_seconds: How far the streams of a run lie apart: the
            standard deviation of the times at which they finished, mean over the seeds; absent for
            a single stream.
        unfinished_runs: Runs that left data; absent when the streams send for ever.
        cost: What it took.
        runs: Each seed, without its streams and series.
    """

    __slots__ = ()
    setting: SimulatedSetting
    aggregate: Aggregate
    cross: CrossFigures
    drops: float
    drops_standard_deviation: float | None
    drops_by_cause: Causes
    marks: float
    retransmitted: float
    timeouts: float
    jain: float | None
    utilisation_ratio: float
    queue: QueueFigures
    rtt: RttFigures | None
    completion_seconds: float | None
    completion_standard_deviation_seconds: float | None
    completion_streams_standard_deviation_seconds: float | None
    unfinished_runs: int | None
    cost: SimulationCost
    runs: list[SimulatedRun]
    _records = {"setting": "SimulatedSetting", "aggregate": "Aggregate", "cross": "CrossFigures", "drops_by_cause": "Causes", "queue": "QueueFigures", "rtt": "RttFigures", "cost": "SimulationCost", "runs": "SimulatedRun"}
    _optional = frozenset(["completion_seconds", "completion_standard_deviation_seconds", "completion_streams_standard_deviation_seconds", "drops_standard_deviation", "jain", "rtt", "unfinished_runs"])


class FluidDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        path: What the model was asked about.
        scenario: What packets would have been run over it.
        setting: Streams, window and variant.
        aggregate: All streams together.
        cross: The cross traffic.
        delivered_bits_per_second: Payload of the streams and the cross traffic together; known
            where their parts may not be.
        lost_ratio: Share of the streams' packets that were lost, in the queue or on the wire.
        queue: The queue of the forward link.
        rtt: Round trips of the streams' packets.
        outside: Why figures are absent.
        cost: What it took.
    """

    __slots__ = ()
    schema: Literal["trunkline/fluid"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    path: Path
    scenario: Terms
    setting: SimulatedSetting
    aggregate: FluidGoodput
    cross: FluidCross
    delivered_bits_per_second: int | None
    lost_ratio: float | None
    queue: FluidQueue | None
    rtt: FluidRtt | None
    outside: list[str] | None
    cost: SimulationCost
    _records = {"host": "Host", "path": "Path", "scenario": "Terms", "setting": "SimulatedSetting", "aggregate": "FluidGoodput", "cross": "FluidCross", "queue": "FluidQueue", "rtt": "FluidRtt", "cost": "SimulationCost"}
    _optional = frozenset(["delivered_bits_per_second", "lost_ratio", "outside", "queue", "rtt", "seed"])


class FluidGoodput(Record):
    """Goodput of several flows.

    Attributes:
        goodput_bits_per_second: Payload over the measured time.
    """

    __slots__ = ()
    goodput_bits_per_second: int | None
    _records = {}
    _optional = frozenset(["goodput_bits_per_second"])


class FluidCross(Record):
    """The cross traffic together.

    Attributes:
        goodput_bits_per_second: Delivered payload over the measured time; 0 on a path without cross
            traffic.
        alone_bits_per_second: The same when the cross traffic has the path for itself.
        taken_ratio: The share of it that the streams took; below 0 when the cross traffic got more
            than alone.
        groups: Each group, in the order of the path file.
    """

    __slots__ = ()
    goodput_bits_per_second: int | None
    alone_bits_per_second: int | None
    taken_ratio: float | None
    groups: list[FluidGoodput] | None
    _records = {"groups": "FluidGoodput"}
    _optional = frozenset(["alone_bits_per_second", "goodput_bits_per_second", "groups", "taken_ratio"])


class FluidQueue(Record):
    """The queue of the forward link.

    Attributes:
        mean_packets: The mean over the measured time.
    """

    __slots__ = ()
    mean_packets: float
    _records = {}
    _optional = frozenset([])


class FluidRtt(Record):
    """Round-trip times.

    Attributes:
        mean_seconds: The mean.
    """

    __slots__ = ()
    mean_seconds: float
    _records = {}
    _optional = frozenset([])


class PredictDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        path: About what.
        congestion: The congestion control of the streams.
        window: The most that each stream keeps outstanding: bytes, or `"auto"` for the hosts'
            buffers.
        window_bytes: The same in bytes.
        link: The path's link, as the formulas see it.
        knee: The fewest streams that reach a share of the highest throughput.
        highest: The fewest streams with the highest throughput.
        one_stream: One stream by each formula.
        points: Several streams by each formula.
        buffers: Rules for the buffers.
        transfer: How long data take; absent unless asked for.
        acceptable_losses: The loss that one stream bears, by rate and round trip; empty unless
            asked for.
        fluid: What the fluid model says of many flows by classes; absent unless asked for.
    """

    __slots__ = ()
    schema: Literal["trunkline/predict"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    path: Path
    congestion: str
    window: Window
    window_bytes: int
    link: PredictedLink
    knee: PredictedKnee
    highest: StreamsAt
    one_stream: list[OneStream]
    points: list[Predicted]
    buffers: list[BufferAdvice]
    transfer: Transfer | None
    acceptable_losses: list[AcceptableLoss] | None
    fluid: Fluid | None
    _records = {"host": "Host", "path": "Path", "link": "PredictedLink", "knee": "PredictedKnee", "highest": "StreamsAt", "one_stream": "OneStream", "points": "Predicted", "buffers": "BufferAdvice", "transfer": "Transfer", "acceptable_losses": "AcceptableLoss", "fluid": "Fluid"}
    _optional = frozenset(["acceptable_losses", "fluid", "seed", "transfer"])


class PredictedLink(Record):
    """A link in payload.

    Attributes:
        payload_bits_per_second: Payload that it carries beside traffic that does not react.
        rtt_seconds: Round trip of the empty path.
        queue_seconds: What a full queue adds to it.
        lost_ratio: Loss events for each packet that come of no queue.
        segment_bytes: Payload of a full segment.
        background_bits_per_second: Mean load of cross traffic that does not react.
        other_streams: Streams of others that do.
    """

    __slots__ = ()
    payload_bits_per_second: int
    rtt_seconds: float
    queue_seconds: float
    lost_ratio: float
    segment_bytes: int
    background_bits_per_second: int
    other_streams: int
    _records = {}
    _optional = frozenset([])


class PredictedKnee(Record):
    """A knee.

    Attributes:
        share_ratio: The share of the highest throughput that was asked for.
        streams: How many.
        goodput_bits_per_second: Payload of all of them.
    """

    __slots__ = ()
    share_ratio: float
    streams: int
    goodput_bits_per_second: int
    _records = {}
    _optional = frozenset([])


class StreamsAt(Record):
    """A number of streams and what they carry.

    Attributes:
        streams: How many.
        goodput_bits_per_second: Payload of all of them.
    """

    __slots__ = ()
    streams: int
    goodput_bits_per_second: int
    _records = {}
    _optional = frozenset([])


class OneStream(Record):
    """One stream by one formula.

    Attributes:
        model: Which formula.
        rate_bits_per_second: Its rate; absent where the formula has none, as without loss.
    """

    __slots__ = ()
    model: str
    rate_bits_per_second: int | None
    _records = {}
    _optional = frozenset(["rate_bits_per_second"])


class Predicted(Record):
    """One number of streams by each formula.

    Attributes:
        streams: How many.
        goodput_bits_per_second: Payload of all of one's own streams.
        others_bits_per_second: Payload of all streams of others.
        lost_ratio: Loss events for each packet, the path's own among them; absent where streams go
            by bandwidth and overrun a short queue, which no formula here describes.
        rtt_seconds: Mean round trip, queue included.
        limit: What keeps one's own streams from more.
        hacker_bits_per_second: Reno streams that do not disturb each other, up to the capacity;
            absent without loss.
        altman_bits_per_second: What streams without loss of their own use of a link with a short
            queue; absent for bbr.
        window_cap_bits_per_second: All windows once a round trip, whatever the link carries.
    """

    __slots__ = ()
    streams: int
    goodput_bits_per_second: int
    others_bits_per_second: int
    lost_ratio: float | None
    rtt_seconds: float
    limit: Binds
    hacker_bits_per_second: int | None
    altman_bits_per_second: int | None
    window_cap_bits_per_second: int | None
    _records = {}
    _optional = frozenset(["altman_bits_per_second", "hacker_bits_per_second", "lost_ratio", "window_cap_bits_per_second"])


class BufferAdvice(Record):
    """One rule for the buffers.

    Attributes:
        rule: Which rule.
        formula: Its formula in words.
        per_stream: What it gives each of so many streams.
    """

    __slots__ = ()
    rule: BufferRule
    formula: str
    per_stream: list[StreamBuffer]
    _records = {"per_stream": "StreamBuffer"}
    _optional = frozenset([])


class StreamBuffer(Record):
    """A buffer of each of several streams.

    Attributes:
        streams: How many streams.
        bytes: The buffer of each.
    """

    __slots__ = ()
    streams: int
    bytes: int
    _records = {}
    _optional = frozenset([])


class Transfer(Record):
    """How long data take.

    Attributes:
        bytes: How much.
        times: By each formula.
    """

    __slots__ = ()
    bytes: int
    times: list[TransferTime]
    _records = {"times": "TransferTime"}
    _optional = frozenset([])


class TransferTime(Record):
    """How long data take by one formula.

    Attributes:
        model: Which formula.
        streams: How many streams.
        lost_ratio: The loss events for each packet that it takes or finds; absent where it has
            none.
        rate_bits_per_second: Its rate, at most what the link carries.
        share_ratio: The rate as a share of the payload that the link carries.
        duration_seconds: The time.
    """

    __slots__ = ()
    model: str
    streams: int
    lost_ratio: float | None
    rate_bits_per_second: int
    share_ratio: float
    duration_seconds: float
    _records = {}
    _optional = frozenset(["lost_ratio"])


class AcceptableLoss(Record):
    """The loss at which one stream still reaches a rate.

    Attributes:
        rate_bits_per_second: The rate.
        rtt_seconds: The round trip.
        lost_ratio: Loss events for each packet; absent where even losing every packet would not
            hold a stream below the rate.
    """

    __slots__ = ()
    rate_bits_per_second: int
    rtt_seconds: float
    lost_ratio: float | None
    _records = {}
    _optional = frozenset(["lost_ratio"])


class Fluid(Record):
    """What the fluid model says, after the warm-up. A figure is absent where the model was not
    found within 5 % of packet simulations.

    Attributes:
        duration_seconds: How long the flows ran, of which the first half does not count.
        classes: Each class.
        goodput_bits_per_second: Payload of all of them.
        lost_ratio: Share of packets that were lost, in the queue or on the wire.
        queue_packets: Mean queue.
        queue_seconds: What it adds to a round trip, in the mean.
        outside: Why figures are absent.
    """

    __slots__ = ()
    duration_seconds: float
    classes: list[FluidClass]
    goodput_bits_per_second: int | None
    lost_ratio: float | None
    queue_packets: float | None
    queue_seconds: float | None
    outside: list[str]
    _records = {"classes": "FluidClass"}
    _optional = frozenset(["goodput_bits_per_second", "lost_ratio", "queue_packets", "queue_seconds"])


class FluidClass(Record):
    """What one class gets.

    Attributes:
        flows: How many flows.
        congestion: Their congestion control.
        idle_rtt_seconds: Round trip of their empty path.
        goodput_bits_per_second: Payload of all of them.
        lost_ratio: Share of their packets that were lost.
        rtt_seconds: Mean round trip of their packets.
    """

    __slots__ = ()
    flows: int
    congestion: str
    idle_rtt_seconds: float
    goodput_bits_per_second: int | None
    lost_ratio: float | None
    rtt_seconds: float | None
    _records = {}
    _optional = frozenset(["goodput_bits_per_second", "lost_ratio", "rtt_seconds"])


class FitDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        file: Where the points come from.
        knee_ratio: The share of the highest throughput at which a knee lies.
        samples: The measured points.
        recommended: What the best form recommends; absent when no form fits.
        models: The forms, the one that predicts best what it has not seen first.
        choices: What the rules of the literature would have chosen; empty unless asked for.
    """

    __slots__ = ()
    schema: Literal["trunkline/fit"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    file: str
    knee_ratio: float
    samples: list[StreamsAt]
    recommended: Optimum | None
    models: list[FitModel]
    choices: list[Choice2] | None
    _records = {"host": "Host", "samples": "StreamsAt", "recommended": "Optimum", "models": "FitModel", "choices": "Choice2"}
    _optional = frozenset(["choices", "recommended", "seed"])


class Optimum(Record):
    """A number of streams to use: the fewest that reach the share asked for, by the best form.

    Attributes:
        form: The form that says so.
        streams: How many.
        spread: Where the curve reaches the share, and how far that moves as samples are left out.
    """

    __slots__ = ()
    form: Form
    streams: int
    spread: Spread
    _records = {"spread": "Spread"}
    _optional = frozenset([])


class Spread(Record):
    """A number of streams and how far it moves as samples are left out; no confidence interval.

    Attributes:
        streams: From all samples, not rounded.
        low_streams: The lowest, that of all samples among them.
        high_streams: The highest, likewise.
    """

    __slots__ = ()
    streams: float
    low_streams: float
    high_streams: float
    _records = {}
    _optional = frozenset([])


class FitModel(Record):
    """One form.

    Attributes:
        form: Which form.
        formula: Its formula.
        problem: Why it does not fit; absent when it does.
        coefficients: Its coefficients, for throughput in Mbit/s.
        left_out_ratio: Root of the mean squared error of what was left out, in shares of what was
            measured; absent when that cannot be told.
        left_out_failed: Numbers of streams without which the rest gives no curve of this form.
        mean_absolute_error_bits_per_second: How far the curve lies from a sample in the mean,
            either way.
        residual_ratios: Predicted over measured less 1, for each sample.
        limit_bits_per_second: What throughput tends to with ever more streams; absent where there
            is no bound.
        peak: Streams at the peak; absent for a curve without one.
        knee: Streams at the knee.
        curve: The curve at every number of streams up to the most that were sampled.
    """

    __slots__ = ()
    form: Form
    formula: str
    problem: str | None
    coefficients: list[Coefficient]
    left_out_ratio: float | None
    left_out_failed: int | None
    mean_absolute_error_bits_per_second: int | None
    residual_ratios: list[float]
    limit_bits_per_second: int | None
    peak: Spread | None
    knee: Spread | None
    curve: list[StreamsAt]
    _records = {"coefficients": "Coefficient", "peak": "Spread", "knee": "Spread", "curve": "StreamsAt"}
    _optional = frozenset(["knee", "left_out_failed", "left_out_ratio", "limit_bits_per_second", "mean_absolute_error_bits_per_second", "peak", "problem"])


class Coefficient(Record):
    """A coefficient.

    Attributes:
        name: Its letter in the formula.
        value: Its value.
        standard_error: Its standard error; absent when the curve goes through all samples.
    """

    __slots__ = ()
    name: str
    value: float
    standard_error: float | None
    _records = {}
    _optional = frozenset(["standard_error"])


class Choice2(Record):
    """What one rule chooses.

    Attributes:
        rule: The rule, and the form of its curve.
        through_streams: The points that its curve goes through.
        streams: How many streams it chooses; absent when it chooses none.
        goodput_bits_per_second: What its curve promises there.
        problem: Why it chooses none, or where it had to stop; absent otherwise.
    """

    __slots__ = ()
    rule: str
    through_streams: list[int]
    streams: int | None
    goodput_bits_per_second: int | None
    problem: str | None
    _records = {}
    _optional = frozenset(["goodput_bits_per_second", "problem", "streams"])


class SweepDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What was measured.
        plan: What was asked for.
        cut_because: Why it ended before its time; absent where it did not.
        cells: Every visit so far, in the order of the plan. One that failed and was made again
            later keeps its place.
        beside: What the simulator carries on the path that explains the visits, where it was asked
            for: one for each direction.
        analysis: What the visits showed when the document was written; absent of one that was not
            analysed.
    """

    __slots__ = ()
    schema: Literal["trunkline/sweep"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    plan: SweepPlan
    cut_because: str | None
    cells: list[SweepCell]
    beside: list[Beside] | None
    analysis: SweepAnalysis | None
    _records = {"host": "Host", "target": "Target", "plan": "SweepPlan", "cells": "SweepCell", "beside": "Beside", "analysis": "SweepAnalysis"}
    _optional = frozenset(["analysis", "beside", "cut_because", "seed"])


class SweepPlan(Record):
    """A sweep as it was asked for. The same plan is visited in the same order for ever.

    Attributes:
        settings: Every setting once, in the order of the grid.
        cycles: How often each is visited.
        durations_seconds: How long the streams of a visit run; with several, each setting is
            visited with each of them.
        unloaded_seconds: How long the idle path is probed before each visit.
        seed: Decides the order of the visits, and what chance does on paths that this host makes.
        via: How packets leave this host; absent where the kernel decides.
        user: The user who logs in to the server; the password is never kept. Absent without one.
    """

    __slots__ = ()
    settings: list[Setting]
    cycles: int
    durations_seconds: list[float]
    unloaded_seconds: float
    seed: int
    via: Via | None
    user: ServerUser | None
    _records = {"settings": "Setting", "via": "Via", "user": "ServerUser"}
    _optional = frozenset(["user", "via"])


class Via(Record):
    """How packets leave this host; what is `None` is left to the kernel.

    Attributes:
        family: Only addresses of this family are tried.
        bind: From where: `ADDRESS`, `%DEVICE` or both.
        dscp: How packets are marked: `LE`, `CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA` or a
            number.
    """

    __slots__ = ()
    family: Family | None
    bind: str | None
    dscp: str | None
    _records = {}
    _optional = frozenset(["bind", "dscp", "family"])


class ServerUser(Record):
    """A user of a server, as plans have it: all of a login but its password.

    Attributes:
        name: The name that the server knows.
        key: The file with the server's public RSA key, in PEM form, on the host that logs in.
        padding: How the login is padded; absent where it is `oaep`.
    """

    __slots__ = ()
    name: str
    key: str
    padding: Padding | None
    _records = {}
    _optional = frozenset(["padding"])


class SweepCell(Record):
    """One visit of one setting.

    Attributes:
        number: Its place in the order of visits, from 1.
        cycle: The cycle that it belongs to, from 1.
        setting: What was asked for.
        duration_seconds: How long its streams were to run.
        started: When it began: RFC 3339, UTC.
        run: The archive's number of its measurement, with all readings; absent where none was kept.
        failed_because: Why it could not be measured; absent where it was.
        figures: What it showed; absent where it failed.
    """

    __slots__ = ()
    number: int
    cycle: int
    setting: Setting
    duration_seconds: float
    started: str
    run: int | None
    failed_because: str | None
    figures: CellFigures | None
    _records = {"setting": "Setting", "figures": "CellFigures"}
    _optional = frozenset(["failed_because", "figures", "run"])


class CellFigures(Record):
    """What a visit showed.

    Attributes:
        goodput_bits_per_second: Delivered to the receiver per time over the steady window, all
            streams and directions together.
        interval: Where the goodput of a longer run lies.
        duration_seconds: How long the streams ran.
        rtt_unloaded: Round trips of the idle path.
        rtt_loaded: Round trips beside the streams.
        retransmitted_ratio: Share of the bytes that were sent again.
        cpu_user_ratio: This end's process in the program, as a share of one processor.
        cpu_kernel_ratio: The same in the kernel on its behalf.
        cpu_far_user_ratio: The far end's process in the program, as a share of one processor;
            absent where it did not say.
        cpu_far_kernel_ratio: The same in the far end's kernel.
        limit: What kept it from being faster.
        losses_together_ratio: Share of the moments with losses in which at least half of the
            streams lost.
        losses_together_by_chance_ratio: The same share if streams lost independently of each other,
            as often as they did.
        streams: Each stream.
    """

    __slots__ = ()
    goodput_bits_per_second: int
    interval: RateInterval | None
    duration_seconds: float
    rtt_unloaded: RoundTripFigures | None
    rtt_loaded: RoundTripFigures | None
    retransmitted_ratio: float | None
    cpu_user_ratio: float | None
    cpu_kernel_ratio: float | None
    cpu_far_user_ratio: float | None
    cpu_far_kernel_ratio: float | None
    limit: Limit | None
    losses_together_ratio: float | None
    losses_together_by_chance_ratio: float | None
    streams: list[StreamFigures]
    _records = {"interval": "RateInterval", "rtt_unloaded": "RoundTripFigures", "rtt_loaded": "RoundTripFigures", "streams": "StreamFigures"}
    _optional = frozenset(["cpu_far_kernel_ratio", "cpu_far_user_ratio", "cpu_kernel_ratio", "cpu_user_ratio", "interval", "limit", "losses_together_by_chance_ratio", "losses_together_ratio", "retransmitted_ratio", "rtt_loaded", "rtt_unloaded"])


class RoundTripFigures(Record):
    """Round trips of small probes, in seconds; shares between 0 and 1.

    Attributes:
        min_seconds: The smallest.
        quartile1_seconds: First quartile.
        median_seconds: The middle.
        quartile3_seconds: Third quartile.
        mean_seconds: The mean.
        max_seconds: The largest.
        loss_ratio: Share of the probes without an answer.
    """

    __slots__ = ()
    min_seconds: float
    quartile1_seconds: float
    median_seconds: float
    quartile3_seconds: float
    mean_seconds: float
    max_seconds: float
    loss_ratio: float
    _records = {}
    _optional = frozenset([])


class StreamFigures(Record):
    """One stream of a visit.

    Attributes:
        number: Its number within the run, from 1.
        goodput_bits_per_second: Delivered per time over the steady window.
        retransmits: Segments sent again over the whole run.
    """

    __slots__ = ()
    number: int
    goodput_bits_per_second: int | None
    retransmits: int | None
    _records = {}
    _optional = frozenset(["goodput_bits_per_second", "retransmits"])


class Beside(Record):
    """The settings of one direction, simulated on the path that explains what was measured.

    Attributes:
        run: The run or sweep whose settings these are, of a comparison.
        direction: Which way data flowed.
        near_ratio: The share of the settings at which the simulator carries within 10 % of what was
            measured.
        settings: Each setting.
        path_file: The path, as a path file; its forward link is the one that carried the data.
    """

    __slots__ = ()
    run: int | None
    direction: Direction
    near_ratio: float
    settings: list[BesideSetting]
    path_file: str
    _records = {"settings": "BesideSetting"}
    _optional = frozenset(["run"])


class BesideSetting(Record):
    """One setting, measured and simulated.

    Attributes:
        setting: Which.
        duration_seconds: How long its streams ran.
        goodput_bits_per_second: Measured: the median where it was measured several times.
        simulated_bits_per_second: Simulated: the median of seven runs.
    """

    __slots__ = ()
    setting: Setting
    duration_seconds: float
    goodput_bits_per_second: int
    simulated_bits_per_second: int
    _records = {"setting": "Setting"}
    _optional = frozenset([])


class SweepAnalysis(Record):
    """The analysis of a sweep.

    Attributes:
        settings: Each setting, ordered by direction, congestion control, window and streams.
        directions: Each direction that was visited, forward first.
        directions_apart: How forward and reverse differ; absent unless both were measured.
    """

    __slots__ = ()
    settings: list[SettingFigures]
    directions: list[DirectionAnalysis]
    directions_apart: DirectionsApart | None
    _records = {"settings": "SettingFigures", "directions": "DirectionAnalysis", "directions_apart": "DirectionsApart"}
    _optional = frozenset(["directions_apart"])


class SettingFigures(Record):
    """One setting over all its visits.

    Attributes:
        setting: What was asked for.
        visits: Visits that were measured.
        failures: Visits that failed.
        goodput: Goodput of all streams together.
        rtt_unloaded: The visits' median round trips of the idle path.
        rtt_loaded: The same beside the streams.
        rtt_added: dRTT: a visit's mean loaded round trip less its mean unloaded one.
        rate_variability_unloaded: RV of the idle path: one less the smallest over the mean round
            trip.
        rate_variability_loaded: The same beside the streams.
        rate_predictability_unloaded_ratio: RP of the idle path: one less the median RV.
        rate_predictability_loaded_ratio: The same beside the streams.
        probe_loss_unloaded_ratio: Mean share of the probes of the idle path without an answer.
        probe_loss_loaded_ratio: The same beside the streams.
        retransmitted: Share of the bytes sent again.
        fairness: Jain's index over the streams; absent of a single one.
        starvation: Streams below half their fair share; absent of a single stream.
        losses_together_ratio: Median share of the moments with losses in which at least half of the
            streams lost.
        losses_together_by_chance_ratio: The same if streams lost independently of each other.
        cpu_user: This end's process in the program, as a share of one processor.
        cpu_kernel: The same in the kernel on its behalf.
        limit: What limited most visits.
    """

    __slots__ = ()
    setting: Setting
    visits: int
    failures: int
    goodput: RateSpread | None
    rtt_unloaded: TimeSpread | None
    rtt_loaded: TimeSpread | None
    rtt_added: TimeSpread | None
    rate_variability_unloaded: RatioSpread | None
    rate_variability_loaded: RatioSpread | None
    rate_predictability_unloaded_ratio: float | None
    rate_predictability_loaded_ratio: float | None
    probe_loss_unloaded_ratio: float | None
    probe_loss_loaded_ratio: float | None
    retransmitted: RatioSpread | None
    fairness: RatioSpread | None
    starvation: Starvation | None
    losses_together_ratio: float | None
    losses_together_by_chance_ratio: float | None
    cpu_user: RatioSpread | None
    cpu_kernel: RatioSpread | None
    limit: Limit | None
    _records = {"setting": "Setting", "goodput": "RateSpread", "rtt_unloaded": "TimeSpread", "rtt_loaded": "TimeSpread", "rtt_added": "TimeSpread", "rate_variability_unloaded": "RatioSpread", "rate_variability_loaded": "RatioSpread", "retransmitted": "RatioSpread", "fairness": "RatioSpread", "starvation": "Starvation", "cpu_user": "RatioSpread", "cpu_kernel": "RatioSpread"}
    _optional = frozenset(["cpu_kernel", "cpu_user", "fairness", "goodput", "limit", "losses_together_by_chance_ratio", "losses_together_ratio", "probe_loss_loaded_ratio", "probe_loss_unloaded_ratio", "rate_predictability_loaded_ratio", "rate_predictability_unloaded_ratio", "rate_variability_loaded", "rate_variability_unloaded", "retransmitted", "rtt_added", "rtt_loaded", "rtt_unloaded", "starvation"])


class RateSpread(Record):
    """A rate over several visits.

    Attributes:
        count: Visits behind it.
        median_bits_per_second: The middle one.
        quartile1_bits_per_second: First quartile.
        quartile3_bits_per_second: Third quartile.
        low_bits_per_second: Lower end of the median's interval; absent below six visits.
        high_bits_per_second: Upper end.
        confidence: Confidence of that interval.
    """

    __slots__ = ()
    count: int
    median_bits_per_second: int
    quartile1_bits_per_second: int
    quartile3_bits_per_second: int
    low_bits_per_second: int | None
    high_bits_per_second: int | None
    confidence: float | None
    _records = {}
    _optional = frozenset(["confidence", "high_bits_per_second", "low_bits_per_second"])


class TimeSpread(Record):
    """A time over several visits.

    Attributes:
        count: Visits behind it.
        median_seconds: The middle one.
        quartile1_seconds: First quartile.
        quartile3_seconds: Third quartile.
        low_seconds: Lower end of the median's interval; absent below six visits.
        high_seconds: Upper end.
        confidence: Confidence of that interval.
    """

    __slots__ = ()
    count: int
    median_seconds: float
    quartile1_seconds: float
    quartile3_seconds: float
    low_seconds: float | None
    high_seconds: float | None
    confidence: float | None
    _records = {}
    _optional = frozenset(["confidence", "high_seconds", "low_seconds"])


class RatioSpread(Record):
    """A share over several visits.

    Attributes:
        count: Visits behind it.
        median_ratio: The middle one.
        quartile1_ratio: First quartile.
        quartile3_ratio: Third quartile.
        low_ratio: Lower end of the median's interval; absent below six visits.
        high_ratio: Upper end.
        confidence: Confidence of that interval.
    """

    __slots__ = ()
    count: int
    median_ratio: float
    quartile1_ratio: float
    quartile3_ratio: float
    low_ratio: float | None
    high_ratio: float | None
    confidence: float | None
    _records = {}
    _optional = frozenset(["confidence", "high_ratio", "low_ratio"])


class Starvation(Record):
    """Streams that got less than half of their fair share.

    Attributes:
        visits_ratio: Share of the visits with one or more.
        streams_mean: Their mean number in a visit.
    """

    __slots__ = ()
    visits_ratio: float
    streams_mean: float
    _records = {}
    _optional = frozenset([])


class DirectionAnalysis(Record):
    """What the visits of one direction show together.

    Attributes:
        direction: Which way.
        recommended: The setting to use: near the top of the knee.
        highest: The setting with the highest median goodput.
        gentlest: The setting with the least dRTT per throughput.
        curves: Throughput against streams, for each window.
        rate_variability_unloaded: RV of the idle path, over all visits.
        rate_variability_loaded: RV beside the streams, over all visits.
        variability_against_added: Loaded RV against dRTT in seconds, over all visits.
        cpu_against_goodput: Share of one processor against goodput in bit/s, over all visits.
        kernel_to_user_ratio: Median of kernel over user time.
        products: Processor time against streams, where streams times window stayed the same.
        rtt_spread_against_load: Interquartile range of the loaded round trips in seconds against 1
            / (1 - load), over settings.
        durations: Goodput against the length of a visit; absent unless there were several lengths.
        fairness: Jain's index over all visits with several streams.
    """

    __slots__ = ()
    direction: Direction
    recommended: RecommendedPoint | None
    highest: OperatingPoint | None
    gentlest: OperatingPoint | None
    curves: list[Curve]
    rate_variability_unloaded: Distribution | None
    rate_variability_loaded: Distribution | None
    variability_against_added: LineFit | None
    cpu_against_goodput: LineFit | None
    kernel_to_user_ratio: float | None
    products: list[Product] | None
    rtt_spread_against_load: LoadFit | None
    durations: list[DurationFigures] | None
    fairness: RatioSpread | None
    _records = {"recommended": "RecommendedPoint", "highest": "OperatingPoint", "gentlest": "OperatingPoint", "curves": "Curve", "rate_variability_unloaded": "Distribution", "rate_variability_loaded": "Distribution", "variability_against_added": "LineFit", "cpu_against_goodput": "LineFit", "products": "Product", "rtt_spread_against_load": "LoadFit", "durations": "DurationFigures", "fairness": "RatioSpread"}
    _optional = frozenset(["cpu_against_goodput", "durations", "fairness", "gentlest", "highest", "kernel_to_user_ratio", "products", "rate_variability_loaded", "rate_variability_unloaded", "recommended", "rtt_spread_against_load", "variability_against_added"])


class RecommendedPoint(Record):
    """The setting to use.

    Attributes:
        setting: The setting.
        window_granted_bytes: The window as this host's kernel grants it: doubled, and cut by its
            limit; absent of automatic windows.
        goodput: Goodput.
        rtt_added_seconds: dRTT.
        retransmitted_ratio: Share of the bytes sent again.
        fairness: Jain's index.
        starvation: Streams below half their fair share.
        share_of_highest_ratio: Its goodput as a share of the highest.
        passed_over: Settings that were passed over since streams starve there.
    """

    __slots__ = ()
    setting: Setting
    window_granted_bytes: int | None
    goodput: RateSpread
    rtt_added_seconds: float | None
    retransmitted_ratio: float | None
    fairness: float | None
    starvation: Starvation | None
    share_of_highest_ratio: float
    passed_over: int
    _records = {"setting": "Setting", "goodput": "RateSpread", "starvation": "Starvation"}
    _optional = frozenset(["fairness", "retransmitted_ratio", "rtt_added_seconds", "starvation", "window_granted_bytes"])


class OperatingPoint(Record):
    """A setting with the figures by which settings are chosen: medians.

    Attributes:
        setting: The setting.
        window_granted_bytes: The window as this host's kernel grants it: doubled, and cut by its
            limit; absent of automatic windows.
        goodput: Goodput.
        rtt_added_seconds: dRTT.
        retransmitted_ratio: Share of the bytes sent again.
        fairness: Jain's index.
        starvation: Streams below half their fair share.
    """

    __slots__ = ()
    setting: Setting
    window_granted_bytes: int | None
    goodput: RateSpread
    rtt_added_seconds: float | None
    retransmitted_ratio: float | None
    fairness: float | None
    starvation: Starvation | None
    _records = {"setting": "Setting", "goodput": "RateSpread", "starvation": "Starvation"}
    _optional = frozenset(["fairness", "retransmitted_ratio", "rtt_added_seconds", "starvation", "window_granted_bytes"])


class Curve(Record):
    """Throughput against streams with one window.

    Attributes:
        window: The window.
        congestion: Congestion control that was asked for.
        streams: The numbers of streams with a goodput, ascending.
        linear: Where it grows in proportion; absent below three numbers of streams that do.
        knee: The fewest streams that carry 90 % of the most of this window.
        gentlest_streams: The number of streams with the least dRTT per throughput.
    """

    __slots__ = ()
    window: Window
    congestion: str | None
    streams: list[int]
    linear: Linear | None
    knee: Knee | None
    gentlest_streams: int | None
    _records = {"linear": "Linear", "knee": "Knee"}
    _optional = frozenset(["congestion", "gentlest_streams", "knee", "linear"])


class Linear(Record):
    """The part of a curve that grows in proportion to the streams.

    Attributes:
        until_streams: The last number of streams on it.
        ends: Whether more streams were visited and stayed below it.
        fit: Goodput in bit/s against streams, through all visits up to there.
    """

    __slots__ = ()
    until_streams: int
    ends: bool
    fit: LineFit
    _records = {"fit": "LineFit"}
    _optional = frozenset([])


class LineFit(Record):
    """A straight line through points, in the units of what it is fitted to.

    Attributes:
        slope: Change of y for each unit of x.
        intercept: y at x = 0.
        r_squared: Share of the variation of y that the line accounts for.
        count: Points behind it.
    """

    __slots__ = ()
    slope: float
    intercept: float
    r_squared: float | None
    count: int
    _records = {}
    _optional = frozenset(["r_squared"])


class Knee(Record):
    """The fewest streams that carry a share of the highest goodput.

    Attributes:
        streams: How many.
        low_streams: Lower end of where it lies when the cycles are drawn anew; absent with too few
            cycles.
        high_streams: Upper end.
        confidence: Confidence of that interval.
        share_ratio: The share of the highest that makes the knee.
        goodput_bits_per_second: Median goodput there.
        highest_bits_per_second: The highest median goodput of the window.
        at_edge: Whether the curve ends before it bends, so that more streams may carry more.
    """

    __slots__ = ()
    streams: int
    low_streams: int | None
    high_streams: int | None
    confidence: float | None
    share_ratio: float
    goodput_bits_per_second: int
    highest_bits_per_second: int
    at_edge: bool
    _records = {}
    _optional = frozenset(["confidence", "high_streams", "low_streams"])


class Distribution(Record):
    """How a share scatters over all visits of a direction.

    Attributes:
        count: Visits behind it.
        median_ratio: The middle one.
        quartile1_ratio: First quartile.
        quartile3_ratio: Third quartile.
        low_ratio: Lower end of the median's interval; absent below six visits.
        high_ratio: Upper end.
        confidence: Confidence of that interval.
        mean_ratio: Mean.
        standard_deviation_ratio: Standard deviation.
        at_most_tenth_ratio: Share of the visits with 10 % or less.
        bin_width_ratio: Width of the bins, from zero on; absent where nothing scatters.
        bin_counts: Visits in each bin.
        exponential: Share of the visits in a bin against its middle.
        logarithm: Share of the visits that are no larger, against the value.
    """

    __slots__ = ()
    count: int
    median_ratio: float
    quartile1_ratio: float
    quartile3_ratio: float
    low_ratio: float | None
    high_ratio: float | None
    confidence: float | None
    mean_ratio: float
    standard_deviation_ratio: float
    at_most_tenth_ratio: float
    bin_width_ratio: float | None
    bin_counts: list[int] | None
    exponential: ExponentialFit | None
    logarithm: LogarithmFit | None
    _records = {"exponential": "ExponentialFit", "logarithm": "LogarithmFit"}
    _optional = frozenset(["bin_counts", "bin_width_ratio", "confidence", "exponential", "high_ratio", "logarithm", "low_ratio"])


class ExponentialFit(Record):
    """`y = height exp(-x / scale)`.

    Attributes:
        height_ratio: y at x = 0.
        scale_ratio: Where y has fallen to 1/e.
        r_squared: Share of the variation of ln y that the curve accounts for.
    """

    __slots__ = ()
    height_ratio: float
    scale_ratio: float
    r_squared: float | None
    _records = {}
    _optional = frozenset(["r_squared"])


class LogarithmFit(Record):
    """`y = slope ln x + offset`.

    Attributes:
        slope: Growth of y while x grows e-fold.
        offset: y at x = 1.
        r_squared: Share of the variation of y that the curve accounts for.
    """

    __slots__ = ()
    slope: float
    offset: float
    r_squared: float | None
    _records = {}
    _optional = frozenset(["r_squared"])


class Product(Record):
    """Processor time against streams where streams times window is one size.

    Attributes:
        product_bytes: Streams times window.
        streams: The numbers of streams, ascending.
        kernel: Kernel time as a share of one processor against streams.
        user: User time likewise.
    """

    __slots__ = ()
    product_bytes: int
    streams: list[int]
    kernel: LineFit | None
    user: LineFit | None
    _records = {"kernel": "LineFit", "user": "LineFit"}
    _optional = frozenset(["kernel", "user"])


class LoadFit(Record):
    """A line through 1 / (1 - load).

    Attributes:
        slope: Change of y for each unit of x.
        intercept: y at x = 0.
        r_squared: Share of the variation of y that the line accounts for.
        count: Points behind it.
        reference_bits_per_second: What the load is a share of: the highest goodput of any visit.
        load_max_ratio: Settings above this load are left out.
    """

    __slots__ = ()
    slope: float
    intercept: float
    r_squared: float | None
    count: int
    reference_bits_per_second: int
    load_max_ratio: float
    _records = {}
    _optional = frozenset(["r_squared"])


class DurationFigures(Record):
    """Visits of one length.

    Attributes:
        duration_seconds: The length, to the second.
        relative_goodput: Goodput as a share of the median of its setting over all lengths.
    """

    __slots__ = ()
    duration_seconds: float
    relative_goodput: RatioSpread
    _records = {"relative_goodput": "RatioSpread"}
    _optional = frozenset([])


class DirectionsApart(Record):
    """Forward and reverse compared, each at its setting with the highest goodput.

    Attributes:
        forward_bits_per_second: Median goodput forward.
        reverse_bits_per_second: Median goodput reverse.
        shift: Reverse less forward.
    """

    __slots__ = ()
    forward_bits_per_second: int
    reverse_bits_per_second: int
    shift: RateShift
    _records = {"shift": "RateShift"}
    _optional = frozenset([])


class RateShift(Record):
    """Two groups of rates.

    Attributes:
        difference_bits_per_second: The second less the first: the median of all pairwise
            differences.
        low_bits_per_second: Lower end of where the true shift lies; absent with too few visits.
        high_bits_per_second: Upper end.
        confidence: One less the odds that chance alone sets the two apart as far.
    """

    __slots__ = ()
    difference_bits_per_second: float
    low_bits_per_second: float | None
    high_bits_per_second: float | None
    confidence: float
    _records = {}
    _optional = frozenset(["high_bits_per_second", "low_bits_per_second"])


class PathDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What was probed.
        round_trips: Round trips of small packets on the path as it was found.
        mtu: The largest packet that passes.
        traces: Hops by each protocol that anybody answered.
        way_back: The way back, as the far end sees it; absent where it was not asked for.
        branches: Branches of equal cost; absent where they were not asked for.
        hop_capacities: The rate of each hop, nearest first; absent where it was not asked for.
        variations: Loss and delay of each direction by itself.
        capacities: Rate of the narrowest link of each direction.
        available: What others leave of each direction.
        loads: Streams in each direction.
        buffers: What follows for socket buffers.
        path_file: The path that explains the streams of the first direction and the samples of a
            search, as a path file; absent where it was not asked for, or they tell nothing of it.
        left_out: What could not be told.
        costs: What each part took, in order.
    """

    __slots__ = ()
    schema: Literal["trunkline/path"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    round_trips: RoundTripsIdle | None
    mtu: PathMtu | None
    traces: list[Trace2] | None
    way_back: WayBack | None
    branches: Branches | None
    hop_capacities: list[HopCapacity] | None
    variations: list[Variation2] | None
    capacities: list[Capacity] | None
    available: list[AvailableBandwidth] | None
    loads: list[LoadedWay] | None
    buffers: list[PathBuffers] | None
    path_file: str | None
    left_out: list[LeftOut] | None
    costs: list[PartCost]
    _records = {"host": "Host", "target": "Target", "round_trips": "RoundTripsIdle", "mtu": "PathMtu", "traces": "Trace2", "way_back": "WayBack", "branches": "Branches", "hop_capacities": "HopCapacity", "variations": "Variation2", "capacities": "Capacity", "available": "AvailableBandwidth", "loads": "LoadedWay", "buffers": "PathBuffers", "left_out": "LeftOut", "costs": "PartCost"}
    _optional = frozenset(["available", "branches", "buffers", "capacities", "hop_capacities", "left_out", "loads", "mtu", "path_file", "round_trips", "seed", "traces", "variations", "way_back"])


class RoundTripsIdle(Record):
    """Round trips of small packets before there was any load.

    Attributes:
        quartile1_seconds: First quartile; absent like the next one without an answer.
        quartile3_seconds: Third quartile.
        losses: How losses lie among the probes; absent where none was lost.
        method: What carried the probes.
        min_seconds: Smallest round-trip time.
        mean_seconds: Mean round-trip time.
        median_seconds: Median round-trip time.
        loss_ratio: Share of the probes without an answer.
        rate_variability: `1 - min / mean`: 0 on a path without queueing.
        probes: Every probe, in the order in which they were sent.
    """

    __slots__ = ()
    quartile1_seconds: float | None
    quartile3_seconds: float | None
    losses: LossPattern | None
    method: ProbeMethod
    min_seconds: float | None
    mean_seconds: float | None
    median_seconds: float | None
    loss_ratio: float | None
    rate_variability: float | None
    probes: list[Probe]
    _records = {"losses": "LossPattern", "probes": "Probe"}
    _optional = frozenset(["loss_ratio", "losses", "mean_seconds", "median_seconds", "min_seconds", "quartile1_seconds", "quartile3_seconds", "rate_variability"])


class LossPattern(Record):
    """Lost packets among those of one stream, in the terms of RFC 3357.

    Attributes:
        periods: Packets lost in a row, for each loss period in order (RFC 3357, section 5.3).
        distances: From each lost packet to the next lost one, in packets: 1 for neighbours (RFC
            3357, section 5.2). One fewer than are lost.
    """

    __slots__ = ()
    periods: list[int]
    distances: list[int]
    _records = {}
    _optional = frozenset([])


class PathMtu(Record):
    """The largest packet that passes unfragmented.

    Attributes:
        bytes: Its size at the IP layer.
        confirmed: Whether a packet of that size was answered, or only the kernel's own belief is
            known.
        vanishing: The largest packet that this host sends there, where those above `bytes` vanish
            without a router's word (a black hole, RFC 2923); `None` where none vanish, or it is not
            known.
    """

    __slots__ = ()
    bytes: int
    confirmed: bool
    vanishing: int | None
    _records = {}
    _optional = frozenset(["vanishing"])


class Trace2(Record):
    """The hops between here and the far end.

    Attributes:
        protocol: What was sent.
        one_flow: Whether all probes were of one flow, as routers that share load tell flows apart.
        reached: Whether the far end answered.
        hops: From the first router on.
    """

    __slots__ = ()
    protocol: TraceProtocol
    one_flow: bool
    reached: bool
    hops: list[Hop]
    _records = {"hops": "Hop"}
    _optional = frozenset([])


class Hop(Record):
    """One hop.

    Attributes:
        distance: Routers up to and including this one.
        addresses: Who answered, the most frequent first; empty without an answer.
        min_seconds: Smallest round trip; absent like the next one without an answer.
        median_seconds: Median round trip.
        loss_ratio: Share of the probes without an answer. Routers answer some only, so that a loss
            here which the hops behind do not share is none.
        probes: Each probe.
    """

    __slots__ = ()
    distance: int
    addresses: list[str]
    min_seconds: float | None
    median_seconds: float | None
    loss_ratio: float | None
    probes: list[HopAnswer]
    _records = {"probes": "HopAnswer"}
    _optional = frozenset(["loss_ratio", "median_seconds", "min_seconds"])


class HopAnswer(Record):
    """One probe to a hop; both keys are absent without an answer.

    Attributes:
        from_: Who answered.
        rtt_seconds: After what time.
    """

    __slots__ = ()
    from_: str | None
    rtt_seconds: float | None
    _records = {}
    _optional = frozenset(["from", "rtt_seconds"])


class WayBack(Record):
    """The way from the far end to here, beside the way there by UDP.

    Attributes:
        trace: From the first router behind the far end on; round trips are the far end's.
        differs_from: The first link, counted from here, that is another on the way back; absent
            where none is, or it cannot be told.
        same: Whether all links are the same, as far as addresses tell.
    """

    __slots__ = ()
    trace: Trace2
    differs_from: int | None
    same: bool
    _records = {"trace": "Trace2"}
    _optional = frozenset(["differs_from"])


class Branches(Record):
    """Where flows part, and what each way loses.

    Attributes:
        flows: Flows that were sent.
        hops: Each hop, nearest first.
        branches: Each way that flows took, the most frequent first.
    """

    __slots__ = ()
    flows: int
    hops: list[HopBranches]
    branches: list[Branch]
    _records = {"hops": "HopBranches", "branches": "Branch"}
    _optional = frozenset([])


class HopBranches(Record):
    """Who answered at one hop, over all flows.

    Attributes:
        distance: Routers up to and including this one.
        addresses: Every address; empty without an answer.
        within_a_flow: Whether one flow met several: packets are shared one by one, or the route
            changed.
    """

    __slots__ = ()
    distance: int
    addresses: list[str]
    within_a_flow: bool
    _records = {}
    _optional = frozenset([])


class Branch(Record):
    """One way.

    Attributes:
        hops: Its routers; `*` for one that answered none of its flows.
        ports: The ports here of the flows that took it.
        sent: Echoes that its flows sent to the far end; zero where that answers too few to count.
        lost: Those that were not answered.
        median_seconds: Median round trip to the far end; absent without an answer.
    """

    __slots__ = ()
    hops: list[str]
    ports: list[int]
    sent: int
    lost: int
    median_seconds: float | None
    _records = {}
    _optional = frozenset(["median_seconds"])


class HopCapacity(Record):
    """The rate of the link that leads to a hop, at the IP layer.

    Attributes:
        distance: Routers up to and including this one.
        address: Who answered most often; absent without an answer.
        bits_per_second: The rate; absent like the next two where it cannot be told.
        low_bits_per_second: Lower end of the 95 % interval.
        high_bits_per_second: Upper end.
        unknown_because: Why there is no rate: a sentence without a full stop.
        probes: Probes sent.
        answers: Probes that this router answered.
        shortest: The shortest round trip of each size that was answered, smallest size first.
    """

    __slots__ = ()
    distance: int
    address: str | None
    bits_per_second: int | None
    low_bits_per_second: int | None
    high_bits_per_second: int | None
    unknown_because: str | None
    probes: int
    answers: int
    shortest: list[SizeTrip]
    _records = {"shortest": "SizeTrip"}
    _optional = frozenset(["address", "bits_per_second", "high_bits_per_second", "low_bits_per_second", "unknown_because"])


class SizeTrip(Record):
    """The shortest round trip of one size of packets.

    Attributes:
        packet_bytes: The size at the IP layer.
        rtt_seconds: The shortest round trip.
    """

    __slots__ = ()
    packet_bytes: int
    rtt_seconds: float
    _records = {}
    _optional = frozenset([])


class Variation2(Record):
    """Loss and delay of one direction, from packets far apart.

    Attributes:
        way: Which direction.
        loss_ratio: Share of the packets that never arrived.
        losses: How losses lie among the packets; absent where none was lost.
        above_smallest_median_seconds: Median of the one-way delays above the smallest; absent like
            the next one where none arrived.
        above_smallest_95th_seconds: Their 95th percentile.
        stamped: Who stamped the arrivals.
        packets: Each packet, in the order of leaving.
    """

    __slots__ = ()
    way: Way
    loss_ratio: float | None
    losses: LossPattern | None
    above_smallest_median_seconds: float | None
    above_smallest_95th_seconds: float | None
    stamped: Stamped
    packets: list[Passage]
    _records = {"losses": "LossPattern", "packets": "Passage"}
    _optional = frozenset(["above_smallest_95th_seconds", "above_smallest_median_seconds", "loss_ratio", "losses"])


class Passage(Record):
    """What became of one packet of a train.

    Attributes:
        left_seconds: When it left, by the sender's clock, from when the first was to leave.
        arrived_seconds: When it arrived, by the receiver's clock, from a zero that all packets of
            its train share and that is otherwise arbitrary; `None` of a packet that was lost.
    """

    __slots__ = ()
    left_seconds: float
    arrived_seconds: float | None
    _records = {}
    _optional = frozenset(["arrived_seconds"])


class Capacity(Record):
    """The rate of the narrowest link of one direction, at the IP layer.

    Attributes:
        way: Which direction.
        bits_per_second: The estimate.
        method: What it comes from.
        doubt: Why it may not be trusted: a sentence without a full stop; `None` where it passed its
            own test.
        sent_bytes: Bytes sent, headers included.
        trains: Trains sent.
        estimates_bits_per_second: What each pair or bulk says by itself, in the order of sending:
            those of the method that was used. Lost and reordered ones are left out.
    """

    __slots__ = ()
    way: Way
    bits_per_second: int
    method: CapacityMethod
    doubt: str | None
    sent_bytes: int
    trains: int
    estimates_bits_per_second: list[int]
    _records = {}
    _optional = frozenset(["doubt"])


class AvailableBandwidth(Record):
    """What others leave of the tightest link of one direction, at the IP layer.

    Attributes:
        way: Which direction.
        low_bits_per_second: Trains of this rate made no queue grow; absent like the next one where
            it is unmeasurable.
        high_bits_per_second: Trains of this rate did.
        unmeasurable_because: Why there is no range; absent where there is one.
        chirps: A second opinion from chirps.
        sent_bytes: What was sent, headers included.
        trains: Trains sent.
        fleets: What was tried, in order.
    """

    __slots__ = ()
    way: Way
    low_bits_per_second: int | None
    high_bits_per_second: int | None
    unmeasurable_because: str | None
    chirps: Chirps | None
    sent_bytes: int
    trains: int
    fleets: list[Fleet]
    _records = {"chirps": "Chirps", "fleets": "Fleet"}
    _optional = frozenset(["chirps", "high_bits_per_second", "low_bits_per_second", "unmeasurable_because"])


class Chirps(Record):
    """The mean of a few chirps.

    Attributes:
        bits_per_second: The estimate.
    """

    __slots__ = ()
    bits_per_second: int
    _records = {}
    _optional = frozenset([])


class Fleet(Record):
    """What streams of one rate did.

    Attributes:
        bits_per_second: The rate at which they left.
        streams: How many were judged.
        increasing: How many of them found a growing queue.
        trend: What they decided.
    """

    __slots__ = ()
    bits_per_second: int
    streams: int
    increasing: int
    trend: Trend
    _records = {}
    _optional = frozenset([])


class LoadedWay(Record):
    """Streams in one direction.

    Attributes:
        way: Which end sent.
        one: One stream, everything as the hosts have it.
        several: Several, beside which hops were looked for.
        trace: Hops beside them.
        queueing: Where the queue grew: absent where it cannot be told, or none did.
    """

    __slots__ = ()
    way: Way
    one: Run
    several: Run | None
    trace: Trace2 | None
    queueing: QueueAt | None
    _records = {"one": "Run", "several": "Run", "trace": "Trace2", "queueing": "QueueAt"}
    _optional = frozenset(["queueing", "several", "trace"])


class QueueAt(Record):
    """The queue of the link that leads to a hop.

    Attributes:
        after: The last hop that can be told to lie before it; 0 for this host itself.
        distance: The first hop behind it. More than one further than `after` where those between
            said nothing.
        added_seconds: What it adds to a round trip: the least rise of that hop and those behind it.
    """

    __slots__ = ()
    after: int
    distance: int
    added_seconds: float
    _records = {}
    _optional = frozenset([])


class PathBuffers(Record):
    """What the rules say about one direction.

    Attributes:
        way: Which direction.
        rtt_min_seconds: Shortest round trip, which two of the rules read.
        rtt_max_seconds: Longest round trip beside streams.
        rtt_mean_seconds: Mean round trip beside one stream.
        available_bits_per_second: Middle of the range of available bandwidth.
        bulk_transfer_capacity_bits_per_second: Goodput of one stream.
        advice: Each rule whose facts are known.
    """

    __slots__ = ()
    way: Way
    rtt_min_seconds: float
    rtt_max_seconds: float | None
    rtt_mean_seconds: float | None
    available_bits_per_second: int | None
    bulk_transfer_capacity_bits_per_second: int | None
    advice: list[BufferAdvice2]
    _records = {"advice": "BufferAdvice2"}
    _optional = frozenset(["available_bits_per_second", "bulk_transfer_capacity_bits_per_second", "rtt_max_seconds", "rtt_mean_seconds"])


class BufferAdvice2(Record):
    """What one rule asks for.

    Attributes:
        rule: Which rule: `BDP1` to `BDP5`.
        formula: What it multiplies.
        total_bytes: Buffer of all streams together.
        streams: The fewest streams with which each stays below the hosts' limit.
        window_bytes: What each stream asks for.
        granted_bytes: What Linux then says it granted.
        automatic: Whether the kernel's own sizing gets one stream there; absent where its limits
            are not known.
    """

    __slots__ = ()
    rule: str
    formula: str
    total_bytes: int
    streams: int
    window_bytes: int
    granted_bytes: int
    automatic: bool | None
    _records = {}
    _optional = frozenset(["automatic"])


class LeftOut(Record):
    """A part that could not be measured.

    Attributes:
        part: Which: a few words.
        why: Why: a sentence without a full stop.
        hint: What would make it possible.
    """

    __slots__ = ()
    part: str
    why: str
    hint: str | None
    _records = {}
    _optional = frozenset(["hint"])


class PartCost(Record):
    """What one part took.

    Attributes:
        part: Which.
        elapsed_seconds: How long; `None` in virtual time.
        bytes: What it sent or had sent, as far as that is known.
    """

    __slots__ = ()
    part: str
    elapsed_seconds: float | None
    bytes: int | None
    _records = {}
    _optional = frozenset(["bytes", "elapsed_seconds"])


class ResponsivenessDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What was saturated.
        duration_max_seconds: The longest that the streams of one direction were to run.
        ways: Each direction that could be loaded.
        left_out: What could not be measured; absent when all could.
    """

    __slots__ = ()
    schema: Literal["trunkline/responsiveness"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    duration_max_seconds: float
    ways: list[ResponsivenessWay]
    left_out: list[LeftOut] | None
    _records = {"host": "Host", "target": "Target", "ways": "ResponsivenessWay", "left_out": "LeftOut"}
    _optional = frozenset(["left_out", "seed"])


class ResponsivenessWay(Record):
    """One direction under load.

    Attributes:
        way: Which end sent the load.
        round_trips_per_minute: Round trips a minute: the mean of `60 / mean_seconds` of `foreign`
            and of `loaded`, or that of the one that is there; absent where neither is.
        foreign: Probes beside the streams over the last intervals.
        loaded: Round trips of the streams themselves over the same intervals.
        intervals_averaged: How many of the last intervals the two are over.
        confidence: How far the figure can be trusted.
        saturated_after_intervals: After so many intervals goodput had stopped growing; absent where
            it never did.
        stable: Whether responsiveness had stopped changing too.
        growth: How streams were added.
        streams: Streams in the end.
        goodput_bits_per_second: Mean goodput over the same intervals.
        peer: What the far end was.
        idle: Round trips before there was any load.
        delivered_bytes: What the streams delivered in all.
        elapsed_seconds: How long it all took.
        cut_because: Why it ended before it should have; absent where it did not.
        intervals: Every interval of a second, in order.
    """

    __slots__ = ()
    way: Way
    round_trips_per_minute: float | None
    foreign: Trimmed | None
    loaded: Trimmed | None
    intervals_averaged: int
    confidence: Confidence
    saturated_after_intervals: int | None
    stable: bool
    growth: RttGrowth
    streams: int
    goodput_bits_per_second: int
    peer: Peer
    idle: Series | None
    delivered_bytes: int
    elapsed_seconds: float
    cut_because: str | None
    intervals: list[Interval]
    _records = {"foreign": "Trimmed", "loaded": "Trimmed", "idle": "Series", "intervals": "Interval"}
    _optional = frozenset(["cut_because", "foreign", "idle", "loaded", "round_trips_per_minute", "saturated_after_intervals"])


class Trimmed(Record):
    """Round trips, the longest left out.

    Attributes:
        mean_seconds: Mean of the lowest 95 %.
        samples: Of how many.
    """

    __slots__ = ()
    mean_seconds: float
    samples: int
    _records = {}
    _optional = frozenset([])


class Interval(Record):
    """One second beside the streams.

    Attributes:
        streams: Streams that ran.
        goodput_bits_per_second: What they delivered.
        foreign_lost: Probes without an answer.
        foreign_seconds: Round trips of the probes beside them, in seconds.
        loaded_seconds: Round trips as the streams' senders saw them, in seconds.
    """

    __slots__ = ()
    streams: int
    goodput_bits_per_second: int
    foreign_lost: int
    foreign_seconds: list[float]
    loaded_seconds: list[float]
    _records = {}
    _optional = frozenset([])


class DatagramsDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: What they passed through.
        peer: What the far end was.
        direction: Which ends sent.
        streams: Streams of each direction.
        asked_bits_per_second: How fast they were to send together in each direction, counting the
            data of datagrams alone; absent where they sent as fast as they could.
        datagram_bytes: Data of each datagram.
        duration_seconds: How long they were to send.
        ways: Each direction in which some were sent.
        search: The search for the highest rate, whose last run the rest is of; absent where the
            rate was given.
    """

    __slots__ = ()
    schema: Literal["trunkline/datagrams"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    peer: Peer
    direction: Direction
    streams: int
    asked_bits_per_second: int | None
    datagram_bytes: int
    duration_seconds: float
    ways: list[DatagramWay]
    search: RateSearch | None
    _records = {"host": "Host", "target": "Target", "ways": "DatagramWay", "search": "RateSearch"}
    _optional = frozenset(["asked_bits_per_second", "search", "seed"])


class DatagramWay(Record):
    """One direction.

    Attributes:
        way: Which.
        sent_bits_per_second: At what rate they were really sent.
        goodput_bits_per_second: At what rate they arrived.
        sent: Datagrams that were sent.
        arrived: Those that arrived.
        lost: Those that did not.
        loss_ratio: The same as a share of those that were sent.
        lost_on_path: Of those lost, the ones that the receiving host is not known to have dropped.
        path_loss_ratio: The same as a share of those that were sent.
        reordered: Arrived behind one that was sent later; absent where the receiver does not tell.
        duplicates: Arrived once more; absent where the receiver does not tell.
        jitter_seconds: How much the delay varied from one to the next (RFC 3550, section 6.4.1),
            the mean over the streams.
        streams: Each stream.
    """

    __slots__ = ()
    way: Way
    sent_bits_per_second: int
    goodput_bits_per_second: int
    sent: int
    arrived: int
    lost: int
    loss_ratio: float
    lost_on_path: int
    path_loss_ratio: float
    reordered: int | None
    duplicates: int | None
    jitter_seconds: float
    streams: list[DatagramStream]
    _records = {"streams": "DatagramStream"}
    _optional = frozenset(["duplicates", "reordered"])


class DatagramStream(Record):
    """What became of the datagrams of one stream.

    Attributes:
        way: Which end sent.
        sent: Datagrams that the sender sent.
        sent_bytes: Their data.
        sending_seconds: How long it sent.
        arrived: Datagrams that arrived, each counted once.
        arrived_bytes: The data that arrived, copies included.
        receiving_seconds: From the first that arrived to the last; absent where the receiver does
            not tell.
        lost: Datagrams that were sent and did not arrive.
        not_sent: Due at the rate that was asked for, and neither sent nor lost: the sending host
            was too slow, or a queue of it was full; absent where it does not tell.
        dropped_by_receiver: Of those lost, dropped by the receiving host, whose buffer was full;
            absent where it does not tell.
        reordered: Arrived behind one that was sent later (RFC 4737); absent where the receiver does
            not tell.
        duplicates: Arrived once more; absent where the receiver does not tell.
        jitter_seconds: How much the delay varied from one to the next (RFC 3550, section 6.4.1).
        delay_growth_seconds: How much the least delay grew over the run, as it does while a queue
            fills; zero where it did not, and absent where the receiver does not tell.
        rates_bits_per_second: Data that arrived in each tenth of a second; absent where the
            receiver does not tell.
    """

    __slots__ = ()
    way: Way
    sent: int
    sent_bytes: int
    sending_seconds: float
    arrived: int
    arrived_bytes: int
    receiving_seconds: float | None
    lost: int
    not_sent: int | None
    dropped_by_receiver: int | None
    reordered: int | None
    duplicates: int | None
    jitter_seconds: float
    delay_growth_seconds: float | None
    rates_bits_per_second: list[int] | None
    _records = {}
    _optional = frozenset(["delay_growth_seconds", "dropped_by_receiver", "duplicates", "not_sent", "rates_bits_per_second", "receiving_seconds", "reordered"])


class RateSearch(Record):
    """A search for the highest rate.

    Attributes:
        loss_max_ratio: The share that may be lost.
        found_bits_per_second: The rate that was found and confirmed; absent where none was.
        ceiling: What bounds it.
        delays_seen: Whether the receiver told how delays grew. Where it did not, as an iperf3
            server does not, losses alone counted, and a queue that was filling was not seen.
        tries: Every run, in order.
    """

    __slots__ = ()
    loss_max_ratio: float
    found_bits_per_second: int | None
    ceiling: Ceiling | None
    delays_seen: bool
    tries: list[Try]
    _records = {"tries": "Try"}
    _optional = frozenset(["ceiling", "found_bits_per_second"])


class Try(Record):
    """One run of a search.

    Attributes:
        purpose: What for.
        asked_bits_per_second: At what rate.
        sent_bits_per_second: At what rate this host really sent.
        goodput_bits_per_second: At what rate it arrived.
        loss_ratio: The share that was lost.
        delay_growth_seconds: How much the least delay grew, as it does while a queue fills; absent
            where the receiver does not tell, so that losses alone counted.
        carried: Whether the path carried it.
    """

    __slots__ = ()
    purpose: TryPurpose
    asked_bits_per_second: int
    sent_bits_per_second: int
    goodput_bits_per_second: int
    loss_ratio: float
    delay_growth_seconds: float | None
    carried: bool
    _records = {}
    _optional = frozenset(["delay_growth_seconds"])


class CopyDocument(Record):
    """A document: the envelope and, beside it on the same level, the keys of the body.

    Attributes:
        schema:
        schema_version: The version of its shapes.
        trunkline_version: The version of trunkline that wrote it.
        created: When it was made: RFC 3339, UTC, whole seconds.
        seed: The seed of every random choice; absent when none was drawn.
        command_line: The command, word by word.
        host: The machine that it ran on.
        target: The far end, by the name under which it is remembered.
        direction: Which way the files went: `forward` from here, `reverse` to here.
        over: How the far end was reached.
        source_host: The host that sent the files at the command of this one: of a third-party copy
            alone.
        sources: What was copied, as the user wrote it.
        destination: Where to.
        asked: What else was asked for.
        cut_because: Why it ended before its end; absent where it did not.
        planned: All there was to copy; absent when the copy ended before that was known.
        elapsed_seconds: Length of the copy.
        goodput_bits_per_second: Bytes of files sent over all of this time but that of waiting for a
            place or for files; absent when none were.
        streams: Stream count that carried most of it.
        rtt_mean_seconds: Mean of the streams' round trips over the readings.
        ecn: Whether the streams agreed on ECN (RFC 3168), so that queues may mark packets in place
            of drops; absent where that is not known: over UDP, and of a third-party copy.
        files: Regular files that got their final name.
        folders: Folders made.
        links: Symbolic links made.
        skipped_files: Files that were there already.
        failed: Files that were not copied, and why.
        left_out: What is no part of it: pipes, sockets and devices, which have no content to copy,
            and unfinished files of copies that were broken off, at either end.
        removed: Files, links and folders that were removed at the destination, or would be; absent
            where that was not asked for.
        checksum_lists: Lists of checksums that were written, by the names of their files.
        waiting_files: Files that were new or being written when it ended, and so are not copied;
            absent where the copy did not go on while its sources were written.
        bytes: Bytes of all files that are there now. Where the copy went on while its sources were
            written, a file that was copied again counts again, here and among the files.
        sent_bytes: Bytes of files that arrived at the receiver this time, before compression, as
            far as this end was told.
        hole_bytes: Bytes of files that are holes, and were told in place of being sent.
        unchanged_bytes: Bytes of files that were the same in older versions at the receiver, and so
            were not sent; absent where that was not asked for.
        hard_linked_names: Names that share their file with another one of those copied; each became
            a file of its own.
        wire_bytes: Bytes on the streams, after compression, with headers.
        sent_again_bytes: Bytes that had to be sent twice.
        reconnects: How often the far end was lost and found again.
        streams_replaced: Streams that were replaced.
        pairs: What each pair of addresses carried, where the streams were dealt over any.
        mptcp: What the streams went over; absent where multipath TCP was not asked for.
        cpu_seconds: Processor time of this process.
        time: What its time went to, the largest part first; the shares add up to one. Absent in
            documents of older versions.
        limit: What limited it; absent where it was over too soon to say.
        steps: Every change of the number of streams.
        outages: Every time that the far end was gone.
        readings: Where it stood, twice a second.
    """

    __slots__ = ()
    schema: Literal["trunkline/copy"]
    schema_version: int
    trunkline_version: str
    created: str
    seed: int | None
    command_line: list[str]
    host: Host
    target: Target
    direction: Direction
    over: Over
    source_host: str | None
    sources: list[str]
    destination: str
    asked: Asked
    cut_because: str | None
    planned: Planned | None
    elapsed_seconds: float
    goodput_bits_per_second: int | None
    streams: int
    rtt_mean_seconds: float | None
    ecn: bool | None
    files: int
    folders: int
    links: int
    skipped_files: int
    failed: list[FileProblem] | None
    left_out: list[FileProblem] | None
    removed: int | None
    checksum_lists: list[str] | None
    waiting_files: int | None
    bytes: int
    sent_bytes: int
    hole_bytes: int
    unchanged_bytes: int | None
    hard_linked_names: int
    wire_bytes: int
    sent_again_bytes: int
    reconnects: int
    streams_replaced: int
    pairs: list[PairShare] | None
    mptcp: Multipath | None
    cpu_seconds: float
    time: list[TimeShare] | None
    limit: CopyLimit | None
    steps: list[Step] | None
    outages: list[Outage] | None
    readings: list[CopyReading]
    _records = {"host": "Host", "target": "Target", "asked": "Asked", "planned": "Planned", "failed": "FileProblem", "left_out": "FileProblem", "pairs": "PairShare", "mptcp": "Multipath", "time": "TimeShare", "limit": "CopyLimit", "steps": "Step", "outages": "Outage", "readings": "CopyReading"}
    _optional = frozenset(["checksum_lists", "cut_because", "ecn", "failed", "goodput_bits_per_second", "left_out", "limit", "mptcp", "outages", "pairs", "planned", "removed", "rtt_mean_seconds", "seed", "source_host", "steps", "time", "unchanged_bytes", "waiting_files"])


class Asked(Record):
    """What the user asked for beside names.

    Attributes:
        recursive: Folders with what is in them.
        existing: What was to happen with files that were there already.
        rules: Names that were left out, or taken nevertheless, in order.
        listed: How many names a list had, which alone were copied.
        permissions: Permission bits were kept.
        times: Times of modification were kept.
        links: Symbolic links were copied as links.
        kept: What else was: `hard-links`, `xattrs`, `acls`, `owner-names`, `owner-numbers`,
            `atimes`.
        verify: Files were read again from the receiver's disk.
        transport: What carried the streams; absent from what older versions wrote.
        via: Pairs of addresses over which the streams were dealt: `10.0.1.1=10.0.1.2`, or the far
            address alone; `all` alone where the far end told its addresses.
        mptcp: Connections of multipath TCP; absent where none were asked for.
        plain: Data without encryption.
        compress: Pieces could be compressed.
        dry_run: Nothing was to be written.
        objective: What the number of streams was chosen for.
        streams: A fixed number of streams.
        streams_remembered: Streams to begin with, from memory of the host.
        window: Socket buffers of each stream.
        congestion: Congestion control: asked for, or found by a search on this path.
        rate_max_bits_per_second: The most that was to be sent over all streams together.
        rate_schedule: The same by the time of day of the near end: `08:00=50Mbit/s,18:00=none`.
        gentle_added_rtt_max_seconds: The queueing delay that a gentle copy could add.
        follow: The copy was to go on with files that were new or changed; absent where it was not.
        delta: Only what differed from older versions at the receiver was to be sent; absent where
            all was.
    """

    __slots__ = ()
    recursive: bool
    existing: Filter
    rules: list[SelectionRule] | None
    listed: int | None
    permissions: bool
    times: bool
    links: bool
    kept: list[str] | None
    verify: bool
    transport: Transport | None
    via: list[str] | None
    mptcp: bool | None
    plain: bool
    compress: bool
    dry_run: bool
    objective: str
    streams: int | None
    streams_remembered: int | None
    window: Window
    congestion: str | None
    rate_max_bits_per_second: int | None
    rate_schedule: str | None
    gentle_added_rtt_max_seconds: float | None
    follow: AskedFollow | None
    delta: bool | None
    _records = {"rules": "SelectionRule", "follow": "AskedFollow"}
    _optional = frozenset(["congestion", "delta", "follow", "gentle_added_rtt_max_seconds", "kept", "listed", "mptcp", "rate_max_bits_per_second", "rate_schedule", "rules", "streams", "streams_remembered", "transport", "via"])


class SelectionRule(Record):
    """A pattern and what is done with what fits.

    Attributes:
        leaves_out: What fits is left out; otherwise it is copied.
        pattern: For names below the destination, as the user wrote it.
    """

    __slots__ = ()
    leaves_out: bool
    pattern: str
    _records = {}
    _optional = frozenset([])


class AskedFollow(Record):
    """How a copy was to go on while its sources were written.

    Attributes:
        every_seconds: Between two looks at the sources.
        until_idle_seconds: It was to end once nothing had changed for so long; absent where the
            user was to end it.
    """

    __slots__ = ()
    every_seconds: float
    until_idle_seconds: float | None
    _records = {}
    _optional = frozenset(["until_idle_seconds"])


class Planned(Record):
    """All there was to copy.

    Attributes:
        files: Regular files.
        folders: Folders.
        links: Symbolic links.
        bytes: Bytes of all files.
        present_bytes: Bytes that were there already.
    """

    __slots__ = ()
    files: int
    folders: int
    links: int
    bytes: int
    present_bytes: int
    _records = {}
    _optional = frozenset([])


class FileProblem(Record):
    """A file that was not copied.

    Attributes:
        name: Its name below the destination, that of a folder with a `/` at its end; empty where it
            is about all of them.
        kind: Kind of a problem.
        what: What happened.
        hint: The next step.
        below: Of a folder: what is in it, and so was not copied either; absent where that is
            nothing.
    """

    __slots__ = ()
    name: str
    kind: ProblemKind
    what: str
    hint: str | None
    below: int | None
    _records = {}
    _optional = frozenset(["below", "hint"])


class PairShare(Record):
    """What one pair of addresses carried.

    Attributes:
        addresses: Which: `10.0.1.1=10.0.1.2`, or the far address alone.
        wire_bytes: Bytes on its streams.
        share_ratio: Its share of what all pairs carried; absent where they carried nothing.
        gone_from_seconds: Since when it carried no stream any more, as they broke or none could be
            connected; absent where it did until the end.
    """

    __slots__ = ()
    addresses: str
    wire_bytes: int
    share_ratio: float | None
    gone_from_seconds: float | None
    _records = {}
    _optional = frozenset(["gone_from_seconds", "share_ratio"])


class TimeShare(Record):
    """One part of a copy's time.

    Attributes:
        to: What it went to.
        share_ratio: Its share of the copy's length.
    """

    __slots__ = ()
    to: CopyPhase
    share_ratio: float
    _records = {}
    _optional = frozenset([])


class CopyLimit(Record):
    """What limited a copy.

    Attributes:
        by: What bound for at least half of the time in which data flowed; `several` where nothing
            did.
        share_ratio: Share of the copy's length during which it did; of several, that of the
            largest.
        shares: Only in documents from before `time`: everything that bound, the largest share
            first, in the last conversation.
        because: How it is known, a sentence.
        advice: What can be done about it.
    """

    __slots__ = ()
    by: Limit
    share_ratio: float
    shares: list[LimitShare] | None
    because: str
    advice: str | None
    _records = {"shares": "LimitShare"}
    _optional = frozenset(["advice", "shares"])


class LimitShare(Record):
    """One part of a copy that bound.

    Attributes:
        by: Which.
        share_ratio: Share of the time during which it did.
    """

    __slots__ = ()
    by: Limit
    share_ratio: float
    _records = {}
    _optional = frozenset([])


class Step(Record):
    """A change of the number of streams.

    Attributes:
        at_seconds: Since the copy began.
        streams: Streams from then on.
        because: Why.
    """

    __slots__ = ()
    at_seconds: float
    streams: int
    because: str
    _records = {}
    _optional = frozenset([])


class Outage(Record):
    """A time without the far end.

    Attributes:
        at_seconds: When it was lost, since the copy began.
        because: What was seen.
        until_seconds: When it was back; absent where it never was.
    """

    __slots__ = ()
    at_seconds: float
    because: str
    until_seconds: float | None
    _records = {}
    _optional = frozenset(["until_seconds"])


class CopyReading(Record):
    """Where a copy stood.

    Attributes:
        at_seconds: Since the copy began.
        rate_bits_per_second: What the streams delivered over the last seconds, as bytes of files.
        files: Files that have their final name; absent in documents of older versions.
        streams: Streams that carried data.
        rtt_seconds: Mean smoothed round trip of the streams.
        retransmitted_ratio: Bytes sent again as a share of those sent.
        mark_echoed_ratio: Segments of which an acknowledgement echoed a congestion mark, as a share
            of those that arrived; absent without ECN.
        limited_by: What bound.
        sender: What the sender's threads spent their time on; absent where that is not known.
        receiver: The same of the receiver.
    """

    __slots__ = ()
    at_seconds: float
    rate_bits_per_second: int
    files: int | None
    streams: int
    rtt_seconds: float | None
    retransmitted_ratio: float | None
    mark_echoed_ratio: float | None
    limited_by: Limit | None
    sender: EndShares | None
    receiver: EndShares | None
    _records = {"sender": "EndShares", "receiver": "EndShares"}
    _optional = frozenset(["files", "limited_by", "mark_echoed_ratio", "receiver", "retransmitted_ratio", "rtt_seconds", "sender"])


class EndShares(Record):
    """What the threads of one end spent their time on, as shares of it. The rest they were idle.

    Attributes:
        disk_ratio: Waiting for files to be read or written.
        network_ratio: Waiting for the connection to take or to bring data.
        processor_ratio: On a processor, or waiting for one.
    """

    __slots__ = ()
    disk_ratio: float
    network_ratio: float
    processor_ratio: float
    _records = {}
    _optional = frozenset([])


Variation = DrawnRate | Trace

AnyDocument = MeasureDocument | TuneDocument | DemoDocument | EmulateDocument | SimulateDocument | CampaignDocument | FluidDocument | PredictDocument | FitDocument | SweepDocument | PathDocument | ResponsivenessDocument | DatagramsDocument | CopyDocument
KINDS: dict[str, type[AnyDocument]] = {
    "trunkline/measure": MeasureDocument,
    "trunkline/tune": TuneDocument,
    "trunkline/demo": DemoDocument,
    "trunkline/emulate": EmulateDocument,
    "trunkline/simulate": SimulateDocument,
    "trunkline/campaign": CampaignDocument,
    "trunkline/fluid": FluidDocument,
    "trunkline/predict": PredictDocument,
    "trunkline/fit": FitDocument,
    "trunkline/sweep": SweepDocument,
    "trunkline/path": PathDocument,
    "trunkline/responsiveness": ResponsivenessDocument,
    "trunkline/datagrams": DatagramsDocument,
    "trunkline/copy": CopyDocument,
}
