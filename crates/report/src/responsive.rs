//! What a responsiveness document says, in words for terminals and pages.

use record::responsiveness::{Confidence, Growth, ResponsivenessWay, Trimmed};

use crate::{characteristic, format, text};

/// Which way, for the beginning of a line.
pub fn title(way: &ResponsivenessWay) -> String {
    let way_name = characteristic::title(way.way);
    let confidence = way.confidence.name();
    match way.round_trips_per_minute {
        Some(rpm) => format!(
            "{way_name}: {rpm:.0} round trips a minute (RPM) under load, {confidence} confidence"
        ),
        None => format!("{way_name}: nobody told a round trip under load"),
    }
}

/// Names and values of one direction.
pub fn facts(way: &ResponsivenessWay) -> Vec<(&'static str, String)> {
    let facts = [
        idle(way).map(|text| ("idle", text)),
        way.foreign.map(|foreign| {
            (
                "foreign",
                trimmed(&foreign, "probes beside the streams") + &lost(way),
            )
        }),
        way.loaded.map(|loaded| {
            (
                "loaded",
                trimmed(&loaded, "readings of the streams' own round trip"),
            )
        }),
        formula(way).map(|text| ("formula", text)),
        Some(("streams", streams(way))),
        Some(("goodput", goodput(way))),
        Some(("cost", cost(way))),
    ];
    facts.into_iter().flatten().collect()
}

fn ms(seconds: f64) -> String {
    format!("{} ms", format::milliseconds(seconds))
}

fn idle(way: &ResponsivenessWay) -> Option<String> {
    let idle = way.idle.as_ref()?;
    let median = idle.median_seconds?;
    Some(format!(
        "{}, median of {} probes before any load",
        ms(median),
        idle.probes.len()
    ))
}

fn trimmed(of: &Trimmed, what: &str) -> String {
    format!(
        "{}, mean of the lowest 95 % of {} {what}",
        ms(of.mean.as_secs_f64()),
        of.samples
    )
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

fn formula(way: &ResponsivenessWay) -> Option<String> {
    let rpm = way.round_trips_per_minute?;
    let part =
        |trimmed: &Trimmed| format!("60000 / {}", format::milliseconds(trimmed.mean_seconds));
    let sum = match (&way.foreign, &way.loaded) {
        (Some(foreign), Some(loaded)) => format!("({} + {}) / 2", part(foreign), part(loaded)),
        (Some(one), None) | (None, Some(one)) => part(one),
        (None, None) => return None,
    };
    Some(format!("{sum} = {rpm:.0} a minute"))
}

fn streams(way: &ResponsivenessWay) -> String {
    let how = match way.growth {
        Growth::OneBySecond => "one more each second",
        Growth::AllAtOnce => "all at once, since the far end lets none join",
    };
    format!("{}, {how}", way.streams)
}

fn goodput(way: &ResponsivenessWay) -> String {
    let over = format!(
        "{} over the last {} s",
        format::rate(way.goodput_bits_per_second),
        way.intervals_averaged
    );
    match way.saturated_after_intervals {
        Some(after) => format!("{over}, steady (within 5 %) after {after} s of load"),
        None => format!("{over}; it never became steady (within 5 %)"),
    }
}

fn cost(way: &ResponsivenessWay) -> String {
    format!(
        "{} in {}",
        format::size(way.delivered_bytes),
        format::time(way.elapsed_seconds)
    )
}

/// What the figures mean, and how far they can be trusted.
pub fn sentences(way: &ResponsivenessWay) -> Vec<String> {
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
            "The far end does not tell its streams' round trips, so the figure is that of the probes \
             beside them alone."
                .to_owned(),
        ),
        (None, Some(_)) => Some(
            "Nobody answered probes beside the streams, so the figure is that of the streams alone."
                .to_owned(),
        ),
        _ => None,
    }
}

fn cut(way: &ResponsivenessWay) -> Option<String> {
    let why = way.cut_because.as_deref()?;
    Some(format!("It ended early: {}.", text::plain(why)))
}

/// What the figure is not.
pub const NOT_FOLLOWED: &str = "By IETF draft-ietf-ippm-responsiveness with one-packet probes in place of HTTP \
     requests: no TCP and TLS handshakes and no web server are in it, and the streams' part is TCP's own smoothed \
     round trip. Compare figures of one tool only; tools differ by a factor of three.";
