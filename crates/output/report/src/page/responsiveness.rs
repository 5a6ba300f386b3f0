//! The page of a responsiveness document.

use record::Responsiveness;
use record::responsiveness::{
    Confidence, Growth, ResponsivenessInterval, ResponsivenessWay, Trimmed,
};

use super::path;
use draw::chart::{Chart, Curves, Line, Origin, Scale};
use draw::format;
use draw::page::{Block, Fact, Page};

pub fn page(body: &Responsiveness) -> Page {
    let mut blocks: Vec<Block> = body.ways.iter().flat_map(direction).collect();
    blocks.extend(super::left_out(&body.left_out));
    blocks.push(Block::heading("How to read it"));
    blocks.push(Block::Sentences(vec![NOT_FOLLOWED.to_owned()]));
    Page::new("responsiveness", &body.target.name, blocks)
}

fn direction(way: &ResponsivenessWay) -> [Block; 5] {
    let of = way.way.name();
    [
        Block::heading(title(way)),
        Block::Facts(facts(way)),
        Block::Why(sentences(way)),
        Block::figure(
            format!("round-trips-{of}"),
            "Mean round trip of each second, while one stream after another was added.",
            round_trips(way),
        ),
        Block::figure(
            format!("goodput-{of}"),
            "Goodput of all streams in the same seconds: where it no longer rises, the path is \
                full.",
            goodputs(way),
        ),
    ]
}

/// Which way, for the beginning of a line.
fn title(way: &ResponsivenessWay) -> String {
    let way_name = path::title(way.way);
    let confidence = way.confidence.name();
    match way.round_trips_per_minute {
        Some(rpm) => format!(
            "{way_name}: {rpm:.0} round trips a minute (RPM) under load, {confidence} confidence"
        ),
        None => format!("{way_name}: no round trip under load was measured"),
    }
}

/// The figures of one direction.
fn facts(way: &ResponsivenessWay) -> Vec<Fact> {
    let foreign = |of| trimmed("foreign", &of, "probes beside the streams", &lost(way));
    let loaded = |of| trimmed("loaded", &of, "readings of the streams' own round trip", "");
    let facts = [
        formula(way),
        idle(way),
        way.foreign.map(foreign),
        way.loaded.map(loaded),
        Some(Fact::new("streams", way.streams.to_string()).after(format!(", {}", growth(way)))),
        Some(goodput(way)),
        Some(cost(way)),
    ];
    facts.into_iter().flatten().collect()
}

fn ms(seconds: f64) -> String {
    format!("{} ms", format::milliseconds(seconds))
}

fn idle(way: &ResponsivenessWay) -> Option<Fact> {
    let idle = way.idle.as_ref()?;
    let count = idle.probes.len();
    let after = format!(", median of {count} probes before any load");
    Some(Fact::new("idle", ms(idle.median_seconds?)).after(after))
}

fn trimmed(name: &str, of: &Trimmed, what: &str, lost: &str) -> Fact {
    let count = of.samples;
    let after = format!(", mean of the lowest 95 % of {count} {what}{lost}");
    Fact::new(name, ms(of.mean.as_secs_f64())).after(after)
}

fn lost(way: &ResponsivenessWay) -> String {
    let first = way.intervals.len().saturating_sub(way.intervals_averaged);
    let lost = way.intervals[first..].iter().map(|one| one.foreign_lost);
    let lost = lost.fold(0, u32::saturating_add);
    match lost {
        0 => String::new(),
        lost => format!(", {lost} more lost"),
    }
}

fn formula(way: &ResponsivenessWay) -> Option<Fact> {
    let rpm = way.round_trips_per_minute?;
    let part = |of: &Trimmed| format!("60000 / {}", format::milliseconds(of.mean.as_secs_f64()));
    let sum = match (&way.foreign, &way.loaded) {
        (Some(foreign), Some(loaded)) => format!("({} + {}) / 2", part(foreign), part(loaded)),
        (Some(one), None) | (None, Some(one)) => part(one),
        (None, None) => return None,
    };
    let fact = Fact::new("formula", format!("{rpm:.0} a minute"));
    Some(fact.before(format!("{sum} = ")))
}

fn growth(way: &ResponsivenessWay) -> &'static str {
    match way.growth {
        Growth::OneBySecond => "one more each second",
        Growth::AllAtOnce => "all at once, since the far end lets none join",
    }
}

fn goodput(way: &ResponsivenessWay) -> Fact {
    let over = format!(" over the last {} s", way.intervals_averaged);
    let steady = match way.saturated_after_intervals {
        Some(after) => format!(", steady (within 5 %) after {after} s of load"),
        None => "; it never became steady (within 5 %)".to_owned(),
    };
    Fact::new("goodput", format::rate(way.goodput_bits_per_second)).after(over + &steady)
}

fn cost(way: &ResponsivenessWay) -> Fact {
    let elapsed = format::time(way.elapsed_seconds);
    Fact::new("cost", format::size(way.delivered_bytes)).after(format!(" in {elapsed}"))
}

/// What the figures mean, and how far they can be trusted.
fn sentences(way: &ResponsivenessWay) -> Vec<String> {
    let sentences = [
        growth_of_delay(way),
        Some(confidence(way)),
        one_part(way),
        cut(way),
    ];
    sentences.into_iter().flatten().collect()
}

fn growth_of_delay(way: &ResponsivenessWay) -> Option<String> {
    let idle = way.idle.as_ref()?.median_seconds?;
    let loaded = way.foreign.or(way.loaded)?.mean.as_secs_f64();
    Some(format!(
        "Load makes a round trip {} times as long: {} instead of {}.",
        format::three_digits(loaded / idle),
        ms(loaded),
        ms(idle)
    ))
}

fn confidence(way: &ResponsivenessWay) -> String {
    let why = match (way.confidence, way.saturated_after_intervals) {
        (Confidence::High, _) => {
            "goodput and then responsiveness stood still within 5 % for four seconds"
        }
        (Confidence::Medium, Some(_)) => "goodput was steady, and responsiveness still changed",
        (Confidence::Medium, None) => "goodput still changed; more time (`-t`) may settle it",
        (Confidence::Low, _) => "there was less than four seconds to average over",
    };
    format!("Confidence is {}: {why}.", way.confidence.name())
}

fn one_part(way: &ResponsivenessWay) -> Option<String> {
    match (&way.foreign, &way.loaded) {
        (Some(_), None) => Some(
            "The far end does not tell its streams' round trips, so the figure is that of the \
                probes beside them alone."
                .to_owned(),
        ),
        (None, Some(_)) => Some(
            "No probe beside the streams was answered, so the figure is that of the streams alone."
                .to_owned(),
        ),
        _ => None,
    }
}

fn cut(way: &ResponsivenessWay) -> Option<String> {
    let why = way.cut_because.as_deref()?;
    Some(format!("It ended early: {}.", why))
}

/// What the figure is not.
const NOT_FOLLOWED: &str = "By IETF draft-ietf-ippm-responsiveness with one-packet probes in place \
    of HTTP requests: no TCP and TLS handshakes and no web server are in it, and the streams' part \
    is TCP's own smoothed round trip. Compare figures of one tool only; tools differ by a factor \
    of three.";

/// Round trips of each second beside the streams.
fn round_trips(way: &ResponsivenessWay) -> Chart {
    let lines = vec![
        curve(way, "probes beside the streams", |one| {
            mean_ms(&one.foreign)
        }),
        curve(way, "the streams' own", |one| mean_ms(&one.loaded)),
    ];
    second_by_second("round trip [ms]", lines)
}

/// Goodput of each second.
fn goodputs(way: &ResponsivenessWay) -> Chart {
    let mbit = |one: &ResponsivenessInterval| Some(one.goodput.as_f64() / 1e6);
    second_by_second("goodput [Mbit/s]", vec![curve(way, "goodput", mbit)])
}

fn curve(
    way: &ResponsivenessWay,
    label: &str,
    of: impl Fn(&ResponsivenessInterval) -> Option<f64>,
) -> Line {
    let seconds = way.intervals.iter().zip(1_u32..);
    let place = |(one, second)| Some((f64::from(second), of(one)?));
    Line::new(label, Origin::Runs, seconds.filter_map(place).collect())
}

fn mean_ms(seconds: &[f64]) -> Option<f64> {
    Some(stats::mean(seconds)? * 1e3)
}

fn second_by_second(y: &'static str, lines: Vec<Line>) -> Chart {
    let (x, y) = (Scale::even("second of load"), Scale::even(y));
    Curves { x, y, lines }.shown().chart()
}
