//! The page of a path document.

mod branches;
mod charts;
mod hop_capacity;
mod verdict;
mod way_back;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use draw::format::{self, ABSENT, or_absent};
use draw::page::{Block, Column, Fact, Page, Row, Standing, Table};
use draw::words;
use record::characteristics::{
    AvailableBandwidth, BufferAdvice, Buffers, Capacity, CapacityMethod, Hop, LeftOut, Load,
    PartCost, Stamped, Trace, Variation, Way,
};
use record::{Characteristics, Method};
use verdict::verdict;

pub fn page(body: &Characteristics) -> Page {
    let mut blocks = vec![Block::lead(verdict(body))];
    blocks.extend(black_hole(body).map(Block::lead));
    blocks.push(Block::Facts(facts(body)));
    blocks.extend(charts::figures(body));
    for group in trace_groups(body) {
        blocks.push(Block::heading(group_title(&group)));
        blocks.push(Block::Table(hops(group[0], &body.loads)));
    }
    blocks.push(Block::Sentences(queues(body)));
    blocks.extend(way_back::section(body));
    blocks.extend(branches::section(body));
    blocks.extend(hop_capacity::section(body));
    for buffers in &body.buffers {
        let way = buffers.way.name();
        blocks.push(Block::heading(format!("Socket buffers {way}")));
        blocks.push(Block::Table(self::buffers(buffers)));
    }
    if !body.buffers.is_empty() {
        blocks.push(Block::note(BUFFERS_LEGEND));
    }
    blocks.extend(super::left_out(&body.left_out));
    blocks.push(Block::heading("What it took"));
    blocks.push(Block::Sentences(vec![cost(body)]));
    blocks.push(Block::wide([Block::Table(costs(body))]));
    Page::new("path", &body.target.name, blocks)
}

fn ms(seconds: f64) -> String {
    format!("{} ms", format::milliseconds(seconds))
}

/// Everything that is one number or two.
fn facts(body: &Characteristics) -> Vec<Fact> {
    let mut facts: Vec<Fact> = [round_trip(body), mtu(body)]
        .into_iter()
        .flatten()
        .collect();
    facts.extend(body.variations.iter().map(one_way));
    facts.extend(body.capacities.iter().map(capacity));
    let available = body.available.iter();
    facts.extend(available.map(|seen| self::available(seen, capacity_of(body, seen.way))));
    facts.extend(body.loads.iter().map(stream));
    facts
}

/// A direction in two characters.
fn arrow(way: Way) -> &'static str {
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

fn round_trip(body: &Characteristics) -> Option<Fact> {
    let seen = body.round_trips.as_ref()?;
    let series = &seen.series;
    let spread = seen.quartile3_seconds.zip(seen.quartile1_seconds);
    let least = series.min_seconds.map(|_| "at least".to_owned());
    let parts = [
        series
            .median_seconds
            .map(|median| format!("median {}", ms(median))),
        spread.map(|(high, low)| format!("IQR {}", ms(high - low))),
        longest(body).map(|longest| format!("at most {} beside streams", ms(longest))),
        lost(series.loss_ratio),
        seen.losses.as_ref().map(words::losses),
        Some(format!(
            "{} probes by {}",
            series.probes.len(),
            method(series.method)
        )),
    ];
    let rest = [least]
        .into_iter()
        .chain(parts)
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    Some(match series.min_seconds {
        Some(min) => Fact::new("round trip", ms(min)).after(format!(" {rest}")),
        None => Fact::plain("round trip", rest),
    })
}

/// What the rules for socket buffers call the longest round trip.
fn longest(body: &Characteristics) -> Option<f64> {
    let longest = body.buffers.iter().filter_map(|one| one.rtt_max_seconds);
    longest.reduce(f64::max)
}

fn lost(share: Option<f64>) -> Option<String> {
    share.map(|share| format!("{} lost", format::percent(share)))
}

fn method(method: Method) -> &'static str {
    match method {
        Method::UdpEcho => "UDP echo",
        Method::IcmpEcho => "ICMP echo",
        Method::TcpConnect => "TCP connection",
    }
}

fn mtu(body: &Characteristics) -> Option<Fact> {
    let mtu = body.mtu?;
    let how = match mtu.confirmed {
        true => "a packet of that size was answered",
        false => "what the kernel assumes; no answer confirmed it",
    };
    Some(Fact::new("path MTU", format!("{} bytes", mtu.bytes.get())).after(format!(", {how}")))
}

/// That large packets vanish, and what helps.
fn black_hole(body: &Characteristics) -> Option<String> {
    let mtu = body.mtu?;
    let sent = mtu.vanishing?.get();
    let passes = mtu.bytes.get();
    let segment = |far: IpAddr| mtu.segment_max(far).get();
    Some(format!(
        "Packets above {passes} bytes vanish, and no router says so: this host sends up to {sent} \
         bytes, so connections open and then hang (a black hole). An MSS of {} bytes passes over \
         IPv4, and of {} over IPv6: set it on the route (`ip route change ... advmss`), have the \
         router clamp it, or have ICMP's \"too big\" let through.",
        segment(Ipv4Addr::UNSPECIFIED.into()),
        segment(Ipv6Addr::UNSPECIFIED.into()),
    ))
}

fn one_way(variation: &Variation) -> Fact {
    let median = variation.above_smallest_median_seconds;
    let late = variation.above_smallest_95th_seconds;
    let parts = [
        lost(variation.loss_ratio),
        variation.losses.as_ref().map(words::losses),
        median.map(|median| format!("{} over the shortest delay in the middle", ms(median))),
        late.map(|late| format!("{} for one in twenty", ms(late))),
        Some(format!("stamped {}", stamped(variation.stamped))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Fact::plain(variation.way.name(), parts.join(", "))
}

fn stamped(by: Stamped) -> &'static str {
    match by {
        Stamped::ByKernel => "by the kernel",
        Stamped::ByProgram => "by the program",
        Stamped::Exactly => "exactly",
    }
}

fn capacity(capacity: &Capacity) -> Fact {
    let method = match capacity.method {
        CapacityMethod::Pairs => "pairs",
        CapacityMethod::Bulks => "bulks",
    };
    let count = capacity.estimates.len();
    let doubt = capacity.doubt.as_ref();
    let doubt = doubt
        .map(|doubt| format!("; in doubt: {doubt}"))
        .unwrap_or_default();
    let name = format!("capacity {}", arrow(capacity.way));
    Fact::new(name, format::rate(capacity.rate.bits_per_second()))
        .after(format!(", from {count} {method} of packets{doubt}"))
}

fn capacity_of(body: &Characteristics, way: Way) -> Option<u64> {
    let of_way = body.capacities.iter().find(|capacity| capacity.way == way);
    of_way.map(|capacity| capacity.rate.bits_per_second())
}

/// Nothing is free beyond the capacity: what packets say above it is their error, and said to be
/// so.
fn available(available: &AvailableBandwidth, capacity: Option<u64>) -> Fact {
    let most = capacity.unwrap_or(u64::MAX);
    let chirps = available.chirps.map(|chirps| match chirps.bits_per_second {
        above if above > most => "; trains sent ever faster (chirps): all of it".to_owned(),
        within => format!(
            "; trains sent ever faster (chirps): {}",
            format::rate(within)
        ),
    });
    let chirps = chirps.unwrap_or_default();
    let name = format!("available {}", arrow(available.way));
    let (low, high) = (
        available.low_bits_per_second,
        available.high_bits_per_second,
    );
    if let Some((low, high)) = low.zip(high) {
        let ends = [low, high].map(|end| format::rate(end.min(most)));
        return Fact::new(name, ends.join(" to ")).after(chirps);
    }
    let why = available.unmeasurable_because.as_deref();
    let why = why.unwrap_or("the reason is not known");
    Fact::plain(name, format!("unmeasurable: {why}{chirps}"))
}

fn stream(load: &Load) -> Fact {
    let one = &load.one;
    let goodput = format::rate_with_margin(one.goodput_bits_per_second, one.interval.as_ref());
    let loaded = one.rtt_loaded_seconds();
    let loaded = loaded.map(|rtt| format!(", round trip {}", ms(rtt)));
    let again = one.retransmitted_ratio();
    let again = again.map(|share| format!(", {} resent", format::percent(share)));
    Fact::new(format!("1 stream {}", arrow(load.way)), goodput)
        .after([loaded, again].into_iter().flatten().collect::<String>())
}

/// Traces that found the same hops together, those with loaded ones beside them first.
fn trace_groups(body: &Characteristics) -> Vec<Vec<&Trace>> {
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
fn group_title(group: &[&Trace]) -> String {
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
fn hops(trace: &Trace, loads: &[Load]) -> Table {
    let loaded = |load: &'_ Load| -> Option<(Way, Trace)> {
        let loaded = load.trace.clone()?;
        (loaded.protocol == trace.protocol).then_some((load.way, loaded))
    };
    let beside: Vec<(Way, Trace)> = loads.iter().filter_map(loaded).collect();
    let mut columns = vec![Column::words("hop"), Column::words("address")];
    columns.extend(["idle [ms]", "lost"].map(Column::number));
    let heading = |(way, _): &(Way, Trace)| format!("{} loaded [ms]", arrow(*way));
    columns.extend(beside.iter().map(|loaded| Column::number(heading(loaded))));
    let row = |hop: &Hop| {
        let mut cells = vec![
            hop.distance.to_string(),
            address(hop),
            or_absent(hop.median_seconds, format::milliseconds),
            or_absent(hop.loss_ratio, format::percent),
        ];
        let loaded = |(_, trace): &(Way, Trace)| {
            let mut hops = trace.hops.iter();
            let same = hops.find(|other| other.distance == hop.distance);
            or_absent(
                same.and_then(|same| same.median_seconds),
                format::milliseconds,
            )
        };
        cells.extend(beside.iter().map(loaded));
        Row::new(cells).standing(Standing::chosen(is_queue(hop, loads)))
    };
    Table::new(columns, trace.hops.iter().map(row))
}

fn is_queue(hop: &Hop, loads: &[Load]) -> bool {
    let queues = loads.iter().filter_map(|load| load.queueing.as_ref());
    queues.into_iter().any(|queue| queue.hop == hop.distance)
}

fn address(hop: &Hop) -> String {
    match &hop.addresses[..] {
        [] => ABSENT.to_owned(),
        [one] => one.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    }
}

/// Which hop queues, one sentence for each direction in which that is known.
fn queues(body: &Characteristics) -> Vec<String> {
    let of = |load: &Load| {
        let queue = load.queueing.as_ref()?;
        Some(format!(
            "Under load {} the queue is between {} and hop {}: the round trip grew by {} from \
                there on.",
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
const BUFFERS_LEGEND: &str = "Rules from the literature for how much must be outstanding, from the \
    largest to the smallest idea of the path; any above the bandwidth-delay product of what you \
    hope for will do. asked each: for each of so many streams; granted: what Linux then says; auto \
    does: whether the kernel's own sizing gets there.";

/// The rules for buffers of one direction.
fn buffers(buffers: &Buffers) -> Table {
    let numbers = ["in all", "streams", "asked each", "granted", "auto does"];
    let words = ["rule", "is"].map(Column::words).into_iter();
    let row = |advice: &BufferAdvice| {
        let automatic = match advice.automatic {
            Some(true) => "yes",
            Some(false) => "no",
            None => ABSENT,
        };
        Row::new([
            advice.rule.clone(),
            advice.formula.clone(),
            format::size(advice.total_bytes),
            advice.streams.to_string(),
            format::size(advice.window_bytes),
            format::size(advice.granted_bytes),
            automatic.to_owned(),
        ])
    };
    Table::new(
        words.chain(numbers.map(Column::number)),
        buffers.advice.iter().map(row),
    )
}

/// What was left out, each reason once, and what would make it possible.
pub fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    let mut reasons: Vec<(&LeftOut, Vec<String>)> = Vec::new();
    for left in left_out {
        let part = left.part.clone();
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
        let hint = hint.map(|hint| format!(" ({})", hint));
        let hint = hint.unwrap_or_default();
        format!("{}: {}{hint}", parts.join(", "), left.why)
    };
    reasons.iter().map(text).collect()
}

/// What all parts took together.
fn cost(body: &Characteristics) -> String {
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
        false => format!(
            "{sent}, {} for the parts that were measured.",
            format::time(seconds.iter().sum())
        ),
    }
}

/// What each part took.
fn costs(body: &Characteristics) -> Table {
    let columns = [
        Column::words("part"),
        Column::number("took"),
        Column::number("sent"),
    ];
    let row = |cost: &PartCost| {
        Row::new([
            cost.part.clone(),
            or_absent(cost.time, |time| format::time(time.as_secs_f64())),
            or_absent(cost.bytes, |bytes| format::size(bytes.get())),
        ])
    };
    Table::new(columns, body.costs.iter().map(row))
}
