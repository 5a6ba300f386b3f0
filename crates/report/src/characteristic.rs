//! What a path document says, in words and rows for terminals and pages.

mod verdict;

use record::characteristics::{
    AvailableBandwidth, Buffers, Capacity, CapacityMethod, Hop, LeftOut, Load, Stamped, Trace,
    Variation, Way,
};
use record::{Characteristics, Method};

use crate::format::{self, ABSENT};
use crate::predicted::Rows;
use crate::text;

pub use verdict::verdict;

fn ms(seconds: f64) -> String {
    format!("{} ms", format::milliseconds(seconds))
}

/// Names and values of everything that is one number or two.
pub fn facts(body: &Characteristics) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: String, value: Option<String>| {
        facts.extend(value.map(|value| (name, value)));
    };
    add("round trip".to_owned(), round_trip(body));
    add("path MTU".to_owned(), mtu(body));
    for variation in &body.variations {
        add(variation.way.name().to_owned(), Some(one_way(variation)));
    }
    for capacity in &body.capacities {
        add(
            format!("capacity {}", arrow(capacity.way)),
            Some(self::capacity(capacity)),
        );
    }
    for available in &body.available {
        add(
            format!("available {}", arrow(available.way)),
            Some(self::available(available, capacity_of(body, available.way))),
        );
    }
    for load in &body.loads {
        add(format!("1 stream {}", arrow(load.way)), Some(stream(load)));
    }
    facts
}

/// A direction in two characters.
pub fn arrow(way: Way) -> &'static str {
    match way {
        Way::Forward => "->",
        Way::Reverse => "<-",
    }
}

/// A direction at the beginning of a line.
pub fn title(way: Way) -> &'static str {
    match way {
        Way::Forward => "Forward",
        Way::Reverse => "Reverse",
    }
}

fn round_trip(body: &Characteristics) -> Option<String> {
    let seen = body.round_trips.as_ref()?;
    let series = &seen.series;
    let lost = series
        .loss_ratio
        .map(|lost| format!("{} lost", format::percent(lost)));
    let spread = seen.quartile3_seconds.zip(seen.quartile1_seconds);
    let parts = [
        series
            .min_seconds
            .map(|min| format!("{} at least", ms(min))),
        series
            .median_seconds
            .map(|median| format!("median {}", ms(median))),
        spread.map(|(high, low)| format!("IQR {}", ms(high - low))),
        lost,
        Some(format!(
            "{} probes by {}",
            series.probes.len(),
            method(series.method)
        )),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn method(method: Method) -> &'static str {
    match method {
        Method::UdpEcho => "UDP echo",
        Method::IcmpEcho => "ICMP echo",
        Method::TcpConnect => "TCP connection",
    }
}

fn mtu(body: &Characteristics) -> Option<String> {
    let mtu = body.mtu?;
    let how = match mtu.confirmed {
        true => "a packet of that size was answered",
        false => "what the kernel assumes; no answer confirmed it",
    };
    Some(format!("{} bytes, {how}", mtu.bytes.get()))
}

fn one_way(variation: &Variation) -> String {
    let lost = variation
        .loss_ratio
        .map(|lost| format!("{} lost", format::percent(lost)));
    let median = variation.above_smallest_median_seconds;
    let late = variation.above_smallest_95th_seconds;
    let parts = [
        lost,
        median.map(|median| format!("{} over the shortest delay in the middle", ms(median))),
        late.map(|late| format!("{} for one in twenty", ms(late))),
        Some(format!("stamped {}", stamped(variation.stamped))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn stamped(by: Stamped) -> &'static str {
    match by {
        Stamped::ByKernel => "by the kernel",
        Stamped::ByProgram => "by the program",
        Stamped::Exactly => "exactly",
    }
}

fn capacity(capacity: &Capacity) -> String {
    let method = match capacity.method {
        CapacityMethod::Pairs => "pairs",
        CapacityMethod::Bulks => "bulks",
    };
    let rate = format::rate(capacity.bits_per_second);
    let count = capacity.estimates_bits_per_second.len();
    match &capacity.doubt {
        None => format!("{rate}, from {count} {method} of packets"),
        Some(doubt) => format!(
            "{rate}, from {count} {method} of packets; in doubt: {}",
            text::plain(doubt)
        ),
    }
}

fn capacity_of(body: &Characteristics, way: Way) -> Option<u64> {
    let of_way = body.capacities.iter().find(|capacity| capacity.way == way);
    of_way.map(|capacity| capacity.rate.bits_per_second())
}

/// Nothing is free beyond the capacity: what packets say above it is their error, and said to be so.
fn available(available: &AvailableBandwidth, capacity: Option<u64>) -> String {
    let most = capacity.unwrap_or(u64::MAX);
    let chirps = available.chirps.map(|chirps| match chirps.bits_per_second {
        above if above > most => "; chirps say all of it".to_owned(),
        within => format!("; chirps say {}", format::rate(within)),
    });
    let chirps = chirps.unwrap_or_default();
    match (
        available.low_bits_per_second,
        available.high_bits_per_second,
    ) {
        (Some(low), Some(high)) => {
            let ends = [low, high].map(|end| format::rate(end.min(most)));
            format!("{}{chirps}", ends.join(" to "))
        }
        _ => {
            let why = available
                .unmeasurable_because
                .as_deref()
                .unwrap_or("the reason is not known");
            format!("unmeasurable: {}{chirps}", text::plain(why))
        }
    }
}

fn stream(load: &Load) -> String {
    let one = &load.one;
    let goodput = format::rate_with_margin(one.goodput_bits_per_second, one.interval.as_ref());
    let loaded = one.rtt_loaded_seconds();
    let loaded = loaded.map(|rtt| format!(", round trip {}", ms(rtt)));
    let again = one.retransmitted_ratio();
    let again = again.map(|share| format!(", {} resent", format::percent(share)));
    format!(
        "{goodput}{}{}",
        loaded.unwrap_or_default(),
        again.unwrap_or_default()
    )
}

/// Traces that found the same hops together, those with loaded ones beside them first.
pub fn trace_groups(body: &Characteristics) -> Vec<Vec<&Trace>> {
    let is_loaded = |trace: &&Trace| {
        let mut loaded = body.loads.iter().filter_map(|load| load.trace.as_ref());
        loaded.any(|other| other.protocol == trace.protocol)
    };
    let (mut traces, others): (Vec<_>, Vec<_>) = body.traces.iter().partition(is_loaded);
    traces.extend(others);
    let mut groups: Vec<Vec<&Trace>> = Vec::new();
    for trace in traces {
        match groups.iter_mut().find(|group| same_hops(group[0], trace)) {
            Some(group) => group.push(trace),
            None => groups.push(vec![trace]),
        }
    }
    groups
}

fn same_hops(one: &Trace, other: &Trace) -> bool {
    let hops = |trace: &Trace| -> Vec<(u8, Vec<String>)> {
        let hops = trace.hops.iter();
        hops.map(|hop| (hop.distance, hop.addresses.clone()))
            .collect()
    };
    one.reached == other.reached && hops(one) == hops(other)
}

/// What a group of traces is called; the figures below it are those of the first.
pub fn group_title(group: &[&Trace]) -> String {
    let Some((first, others)) = group.split_first() else {
        return String::new();
    };
    let others: Vec<&str> = others.iter().map(|trace| trace.protocol.name()).collect();
    match others.is_empty() {
        true => trace_title(first),
        false => format!(
            "{}; the same by {}",
            trace_title(first),
            others.join(" and ")
        ),
    }
}

/// What a trace is called.
fn trace_title(trace: &Trace) -> String {
    let flow = match trace.one_flow {
        true => "one flow",
        false => "several flows",
    };
    let reached = match trace.reached {
        true => "the far end answered",
        false => "the far end did not answer",
    };
    format!("Hops by {}: {flow}, {reached}", trace.protocol.name())
}

/// The hops of one idle trace, with what each load made of them.
pub fn hops(trace: &Trace, loads: &[Load]) -> Rows {
    let beside: Vec<(Way, &Trace)> = loads
        .iter()
        .filter_map(|load| Some((load.way, load.trace.as_ref()?)))
        .filter(|(_, loaded)| loaded.protocol == trace.protocol)
        .collect();
    let mut names: Vec<String> = ["hop", "address", "idle [ms]", "lost"]
        .map(str::to_owned)
        .to_vec();
    names.extend(
        beside
            .iter()
            .map(|(way, _)| format!("{} loaded [ms]", arrow(*way))),
    );
    let row = |hop: &Hop| {
        let mut cells = vec![
            hop.distance.to_string(),
            address(hop),
            format::or_absent(hop.median_seconds, format::milliseconds),
            format::or_absent(hop.loss_ratio, format::percent),
        ];
        let loaded = |(_, trace): &(Way, &Trace)| {
            let same = trace
                .hops
                .iter()
                .find(|other| other.distance == hop.distance);
            format::or_absent(
                same.and_then(|same| same.median_seconds),
                format::milliseconds,
            )
        };
        cells.extend(beside.iter().map(loaded));
        (is_queue(hop, loads), cells)
    };
    Rows {
        names,
        words: 2,
        rows: trace.hops.iter().map(row).collect(),
    }
}

fn is_queue(hop: &Hop, loads: &[Load]) -> bool {
    let queues = loads.iter().filter_map(|load| load.queueing.as_ref());
    queues.into_iter().any(|queue| queue.hop == hop.distance)
}

fn address(hop: &Hop) -> String {
    match &hop.addresses[..] {
        [] => ABSENT.to_owned(),
        [one] => text::plain(one),
        [first, others @ ..] => format!("{} and {} more", text::plain(first), others.len()),
    }
}

/// Which hop queues, one sentence for each direction in which that is known.
pub fn queues(body: &Characteristics) -> Vec<String> {
    let of = |load: &Load| {
        let queue = load.queueing.as_ref()?;
        Some(format!(
            "Under load {} the queue is between {} and hop {}: the round trip grew by {} from there on.",
            load.way.name(),
            place(queue.after),
            queue.hop,
            ms(queue.rise.as_secs_f64())
        ))
    };
    body.loads.iter().filter_map(of).collect()
}

fn place(hop: u8) -> String {
    match hop {
        0 => "this host".to_owned(),
        hop => format!("hop {hop}"),
    }
}

/// What the headings and rules of [`buffers`] mean.
pub const BUFFERS_LEGEND: &str = "Rules from the literature for how much must be outstanding, from the largest to the \
     smallest idea of the path; any above the bandwidth-delay product of what you hope for will do. asked each: for each \
     of so many streams; granted: what Linux then says; auto does: whether the kernel's own sizing gets there.";

/// The rules for buffers of one direction.
pub fn buffers(buffers: &Buffers) -> Rows {
    let names = [
        "rule",
        "is",
        "in all",
        "streams",
        "asked each",
        "granted",
        "auto does",
    ];
    let row = |advice: &record::characteristics::BufferAdvice| {
        let automatic = advice
            .automatic
            .map(|automatic| if automatic { "yes" } else { "no" });
        let cells = vec![
            text::plain(&advice.rule),
            text::plain(&advice.formula),
            format::size(advice.total_bytes),
            advice.streams.to_string(),
            format::size(advice.window_bytes),
            format::size(advice.granted_bytes),
            automatic.unwrap_or(ABSENT).to_owned(),
        ];
        (false, cells)
    };
    Rows {
        names: names.map(str::to_owned).to_vec(),
        words: 2,
        rows: buffers.advice.iter().map(row).collect(),
    }
}

/// What was left out, each reason once, and what would make it possible.
pub fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    let mut reasons: Vec<(&LeftOut, Vec<String>)> = Vec::new();
    for left in left_out {
        let part = text::plain(&left.part);
        let same = |(other, _): &&mut (&LeftOut, Vec<String>)| {
            (&other.why, &other.hint) == (&left.why, &left.hint)
        };
        match reasons.iter_mut().find(same) {
            Some((_, parts)) => parts.push(part),
            None => reasons.push((left, vec![part])),
        }
    }
    let text = |(left, parts): &(&LeftOut, Vec<String>)| {
        let hint = left.hint.as_deref();
        let hint = hint.map(|hint| format!(" ({})", text::plain(hint)));
        let hint = hint.unwrap_or_default();
        format!("{}: {}{hint}", parts.join(", "), text::plain(&left.why))
    };
    reasons.iter().map(text).collect()
}

/// What all parts took together.
pub fn cost(body: &Characteristics) -> String {
    let bytes = body.costs.iter().filter_map(|cost| Some(cost.bytes?.get()));
    // A document may say anything.
    let bytes = bytes.fold(0, u64::saturating_add);
    let seconds: Vec<f64> = body
        .costs
        .iter()
        .filter_map(|cost| Some(cost.time?.as_secs_f64()))
        .collect();
    let sent = match bytes {
        0 => "Cost: a few small packets".to_owned(),
        bytes => format!("Cost: {} and a few small packets", format::size(bytes)),
    };
    match seconds.is_empty() {
        true => format!("{sent}."),
        false => format!("{sent}, {} in all.", format::time(seconds.iter().sum())),
    }
}

/// What each part took.
pub fn costs(body: &Characteristics) -> Rows {
    let row = |cost: &record::characteristics::PartCost| {
        let cells = vec![
            text::plain(&cost.part),
            format::or_absent(cost.elapsed_seconds, format::time),
            format::or_absent(cost.bytes, format::size),
        ];
        (false, cells)
    };
    Rows {
        names: ["part", "took", "sent"].map(str::to_owned).to_vec(),
        words: 1,
        rows: body.costs.iter().map(row).collect(),
    }
}
