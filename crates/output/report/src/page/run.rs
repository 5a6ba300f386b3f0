//! What pages share that show runs: their figures, a table of them, their charts over time.

mod rates;
mod round_trips;
mod throughput;

use super::multipath;
use crate::text;
use draw::format::{self, ABSENT, RateUnit, or_absent};
use draw::page::{Block, Column, Fact, Standing};
use record::{DirectionFigures, Doubt, Run, StreamDirection};

/// Goodput, round trip, retransmissions, marks, processor and congestion control of one run.
pub fn facts(run: &Run) -> Vec<Fact> {
    let congestion = run.congestion_used.as_deref();
    let facts = [
        Some(goodput(run)),
        each_way(run),
        round_trip(run),
        resent(run),
        marked(run),
        processor(run),
        congestion.map(|name| Fact::plain("congestion", name)),
        run.mptcp.as_ref().and_then(multipath::fact),
    ];
    facts.into_iter().flatten().collect()
}

pub fn goodput(run: &Run) -> Fact {
    let settled = match run.steady.settled {
        true => "",
        false => ", not settled",
    };
    let steady = &run.steady;
    let (from, to) = (
        format::time(steady.from_seconds),
        format::time(steady.to_seconds),
    );
    let goodput = format::rate_with_margin(run.goodput_bits_per_second, run.interval.as_ref());
    Fact::new("goodput", goodput).after(format!(" from {from} to {to}{settled}"))
}

/// The goodput of each direction, of a run in both.
fn each_way(run: &Run) -> Option<Fact> {
    let figure = |direction: &DirectionFigures| {
        let rate = direction.goodput_bits_per_second;
        let rate = format::rate_with_margin(rate, direction.interval.as_ref());
        format!("{rate} {}", way(direction))
    };
    let figures: Vec<String> = run.directions.iter().map(figure).collect();
    (figures.len() > 1).then(|| Fact::plain("each way", figures.join(", ")))
}

pub fn round_trip(run: &Run) -> Option<Fact> {
    let ms = |seconds| format!("{} ms", format::milliseconds(seconds));
    let (unloaded, loaded) = (run.rtt.unloaded.as_ref(), run.rtt.loaded.as_ref());
    let idle = unloaded.and_then(|series| series.mean_seconds);
    let lost = loaded.and_then(|series| series.loss_ratio);
    let added = run.rtt.added_seconds;
    let rest = joined([
        added.map(|added| format!("{} ms added", format::added_milliseconds(added))),
        lost.map(|lost| format!("{} of probes lost", format::percent(lost))),
    ]);
    let rest = rest.map(|rest| format!(", {rest}")).unwrap_or_default();
    let fact = |value, what| Fact::new("round trip", ms(value)).after(format!(" {what}{rest}"));
    match (idle, run.rtt_loaded_seconds()) {
        (Some(idle), Some(loaded)) => {
            Some(fact(loaded, "loaded").before(format!("{} idle, ", ms(idle))))
        }
        (None, Some(loaded)) => Some(fact(loaded, "loaded")),
        (Some(idle), None) => Some(fact(idle, "idle")),
        (None, None) => None,
    }
}

pub fn resent(run: &Run) -> Option<Fact> {
    let segments = text::segments_again(run);
    let Some(share) = run.retransmitted_ratio() else {
        return segments.map(|segments| Fact::plain("resent", segments));
    };
    let segments = segments.map(|segments| format!(", {segments}"));
    let after = format!(" of the bytes{}", segments.unwrap_or_default());
    Some(Fact::new("resent", format::percent(share)).after(after))
}

/// What queues marked in place of drops; `None` where the connections had no ECN, and over UDP
/// where nothing was marked.
fn marked(run: &Run) -> Option<Fact> {
    let has_ecn = run.directions.iter().any(|way| way.tcp.ecn == Some(true));
    let share = run
        .mark_echoed_ratio()
        .filter(|share| has_ecn || *share > 0.0)?;
    let after = " of the segments, as the receiver echoed it (ECN)";
    Some(Fact::new("marked", format::percent(share)).after(after))
}

fn processor(run: &Run) -> Option<Fact> {
    let shares = |end, user, kernel| {
        let (user, kernel) = (format::percent(user), format::percent(kernel));
        format!("{end} {user} user, {kernel} kernel")
    };
    let near = run.cpu.near.as_ref();
    let near = near.and_then(|near| Some(shares("here", near.user_ratio?, near.kernel_ratio?)));
    let far = run.cpu.far;
    let far = far.map(|far| shares("far end", far.user_ratio, far.kernel_ratio));
    let known: Vec<String> = [near, far].into_iter().flatten().collect();
    (!known.is_empty()).then(|| Fact::plain("processor", known.join("; ")))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// The unit in which the rates of a table of `runs` read well.
pub fn unit<'a>(runs: impl Iterator<Item = &'a Run>) -> RateUnit {
    let top = runs.map(|run| run.goodput_bits_per_second).max();
    RateUnit::fitting(top.unwrap_or(0) as f64)
}

/// The columns that every table of runs ends with: goodput, round trip, retransmissions, limit.
pub fn columns(unit: RateUnit) -> [Column; 6] {
    let numbers = [unit.name, "\u{b1}", "RTT ms", "added", "resent", "limit"];
    numbers.map(|heading| match heading {
        // Broken at its hyphen the name of a limit is read as two limits.
        "limit" => Column::name(heading),
        heading => Column::number(heading),
    })
}

/// The cells of one run in these columns.
pub fn cells(run: &Run, unit: RateUnit) -> [String; 6] {
    let goodput = run.goodput_bits_per_second as f64;
    let interval = run.interval.as_ref();
    [
        unit.number(goodput),
        or_absent(interval, |interval| unit.margin(goodput, interval)),
        or_absent(run.rtt_loaded_seconds(), format::milliseconds),
        or_absent(run.rtt.added_seconds, format::added_milliseconds),
        or_absent(run.retransmitted_ratio(), format::percent),
        run.limit().map_or(ABSENT, |limit| limit.name()).to_owned(),
    ]
}

/// How a run stands that counts for less than it showed, or for nothing.
pub fn doubted(doubt: Option<&Doubt>) -> Standing {
    match doubt.map(|doubt| doubt.counts_for_bits_per_second) {
        None => Standing::Other,
        Some(Some(_)) => Standing::Less,
        Some(None) => Standing::Aside,
    }
}

/// Throughput over time of each direction, and round trips over time. `prefix` begins the names of
/// their files.
pub fn figures(run: &Run, prefix: &str) -> Vec<Block> {
    let mut figures = over_time(run, prefix);
    let caption = "Round-trip times before the streams started and beside them.";
    let name = format!("{prefix}round-trips");
    let round_trips = round_trips::chart(run);
    figures.extend(round_trips.map(|chart| Block::figure(name, caption, chart)));
    figures
}

fn over_time(run: &Run, prefix: &str) -> Vec<Block> {
    let figure = |direction: &DirectionFigures| {
        let chart = throughput::chart(run, direction)?;
        let name = format!("{prefix}over-time-{}", way(direction));
        Some(Block::figure(name, caption(run, direction), chart))
    };
    run.directions.iter().filter_map(figure).collect()
}

fn way(direction: &DirectionFigures) -> &'static str {
    text::stream_direction(direction.direction)
}

fn caption(run: &Run, direction: &DirectionFigures) -> String {
    let way = match (run.directions.len(), direction.direction) {
        (0 | 1, _) => "",
        (_, StreamDirection::Sending) => " Sending.",
        (_, StreamDirection::Receiving) => " Receiving.",
    };
    let streams = run.streams.iter();
    let ours = streams.filter(|stream| stream.direction == direction.direction);
    let ranked = match ours.count() > throughput::BANDS_MAX {
        true => " Streams of like rank share an area; rank 1 moved the most.",
        false => "",
    };
    format!("Throughput over time, stacked by stream.{way}{ranked} The line is the goodput.")
}

/// Throughput over time of one visit of a sweep, a figure for each direction.
pub fn one_visit(run: &Run) -> Vec<Block> {
    let figure = |direction: &DirectionFigures| {
        let chart = throughput::chart(run, direction)?;
        let (apart, suffix) = match run.directions.len() {
            0 | 1 => (String::new(), String::new()),
            _ => (
                format!(", {}", way(direction)),
                format!("-{}", way(direction)),
            ),
        };
        let caption = format!(
            "One visit over time ({}{apart}): throughput stacked by stream; the line is the \
                goodput.",
            text::setting(&run.setting)
        );
        Some(Block::figure(format!("one-visit{suffix}"), caption, chart))
    };
    run.directions.iter().filter_map(figure).collect()
}
