//! Sentences about a sweep, the same in the terminal and on the page.

mod fits;

use record::sweep::{
    Curve, DirectionAnalysis, DirectionsApart, Knee, OperatingPoint, RateSpread, RecommendedPoint,
    Starvation,
};
use record::{Sweep, SweepAnalysis, Window};
use units::{Bytes, Span};

use super::{point, sentence};
use draw::format::{self, RateUnit, milliseconds, percent};

pub use fits::fits;

/// What the headings of a table of settings mean.
pub const LEGEND: &str = "Medians over the visits. \u{b1}: half the 95 % interval of the median; \
    IQR: between its quartiles; dRTT: round trip beside the streams less that of the idle path; \
    RV: rate variability, 1 - shortest / mean round trip, 0 on a calm path; resent: share of the \
    bytes; Jain: 1 where all streams got the same; starved: visits in which a stream got next to \
    nothing. - where it is not known.";

/// What the rows of the table of variability are.
pub const VARIABILITY: &str = "In percent, over all visits. Goodput by the median of its setting \
    (three visits or more): sd is its coefficient of variation. RV: 1 - shortest / mean round \
    trip.";

/// A share of the highest above which nothing worth a word is left for others.
const NEARLY_ALL: f64 = 0.97;

/// Above this confidence a difference is told as one.
const SURE: f64 = 0.95;

/// The fewest visits of which the range holds the median with 95 %.
const CYCLES_FOR_INTERVALS: u32 = 6;

/// What was visited, and what went wrong.
pub fn visited(sweep: &Sweep) -> Vec<String> {
    let plan = &sweep.plan;
    let measured = sweep
        .cells
        .iter()
        .filter(|cell| cell.figures.is_some())
        .count();
    let mut sentences = vec![format!(
        "{}, {} of {}: {}.",
        counted(plan.settings.len(), "setting"),
        counted(plan.cycles as usize, "cycle"),
        times(&plan.durations),
        counted(measured, "visit"),
    )];
    sentences.extend(failures(sweep));
    if plan.cycles < CYCLES_FOR_INTERVALS {
        sentences.push(format!(
            "With {CYCLES_FOR_INTERVALS} cycles or more, medians have intervals (column \u{b1})."
        ));
    }
    if let Some(why) = &sweep.cut_because {
        sentences.push(sentence(&format!("It ended early: {why}")));
    }
    sentences
}

fn counted(count: usize, of: &str) -> String {
    match count {
        1 => format!("1 {of}"),
        n => format!("{n} {of}s"),
    }
}

/// How many visits failed, with the reason of most.
fn failures(sweep: &Sweep) -> Option<String> {
    let reasons = sweep.cells.iter().filter(|cell| cell.figures.is_none());
    let mut reasons: Vec<&str> = reasons
        .filter_map(|cell| cell.failed_because.as_deref())
        .collect();
    reasons.sort_unstable();
    let most = reasons
        .chunk_by(|a, b| a == b)
        .max_by_key(|same| same.len())?;
    let rest = match reasons.len() - most.len() {
        0 => String::new(),
        others => format!(", and {others} for other reasons"),
    };
    let times = match most.len() == reasons.len() {
        true => String::new(),
        false => format!("{} times ", most.len()),
    };
    Some(format!(
        "{} failed: {times}{}{rest}.",
        counted(reasons.len(), "visit"),
        most.first()?,
    ))
}

/// The window of a curve, and its congestion control where that was asked for.
pub fn curve_title(curve: &Curve, granted: Option<Bytes>) -> String {
    let windows = match (curve.window, granted) {
        (Window::Auto, _) => "Automatic windows".to_owned(),
        (window, None) => format!("Windows of {window}"),
        (window, Some(granted)) => {
            format!("Windows of {window} (Linux grants {granted})")
        }
    };
    match &curve.congestion {
        Some(name) => format!("{windows}, {name}"),
        None => windows,
    }
}

/// What the curve of one window shows: its proportional part and its knee.
pub fn curve(curve: &Curve) -> Vec<String> {
    let knee = curve
        .knee
        .map(|knee| knee_sentence(&knee, curve.streams.last().copied()));
    let linear = curve.linear.map(|linear| {
        let unit = RateUnit::fitting(linear.fit.slope);
        let end = if linear.ends {
            "Up to"
        } else {
            "All the way to"
        };
        format!(
            "{end} {} streams, each adds {} {}{}.",
            linear.until_streams,
            unit.number(linear.fit.slope),
            unit.name,
            r_squared(linear.fit.r_squared)
        )
    });
    knee.into_iter().chain(linear).collect()
}

fn knee_sentence(knee: &Knee, last: Option<u16>) -> String {
    let streams = counted(knee.streams.into(), "stream");
    let interval = match (knee.low_streams, knee.high_streams) {
        (Some(low), Some(high)) if low == high => " in nearly all draws of the cycles".to_owned(),
        (Some(low), Some(high)) => format!(" ({low} to {high})"),
        _ => String::new(),
    };
    let (here, most) = (
        format::rate(knee.goodput_bits_per_second),
        format::rate(knee.highest_bits_per_second),
    );
    match last.filter(|_| knee.at_edge) {
        Some(last) => {
            format!("No knee up to {last} streams: up to {most}, and more streams may carry more.")
        }
        None => format!("The knee is at {streams}{interval}: {here} of at most {most}."),
    }
}

fn r_squared(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!(" (R\u{b2} {value:.2})"))
}

/// A median with half the width of its interval.
pub fn goodput(spread: &RateSpread) -> String {
    let unit = RateUnit::fitting(spread.median_bits_per_second as f64);
    let number = unit.number(spread.median_bits_per_second as f64);
    let half = half_width(spread).map(|half| format!(" \u{b1} {}", unit.number(half)));
    format!("{number}{} {}", half.unwrap_or_default(), unit.name)
}

/// The longer of the two sides of a median's interval.
pub fn half_width(spread: &RateSpread) -> Option<f64> {
    let below = spread
        .median_bits_per_second
        .saturating_sub(spread.low_bits_per_second?);
    let above = spread
        .high_bits_per_second?
        .saturating_sub(spread.median_bits_per_second);
    Some(below.max(above) as f64)
}

/// The setting to use, in one sentence.
pub fn recommendation(recommended: &RecommendedPoint) -> String {
    let at = &recommended.at;
    let granted = match (at.setting.window, at.window_granted) {
        (Window::Fixed(_), Some(granted)) => {
            format!(" as asked for, which Linux doubles to {granted}")
        }
        _ => String::new(),
    };
    format!(
        "Use {}{granted}: {}.",
        point(at.setting.streams, at.setting.window),
        goodput(&at.goodput)
    )
}

/// Why that one, and not the one with the highest goodput.
pub fn because(way: &DirectionAnalysis) -> Vec<String> {
    let (Some(recommended), Some(highest)) = (&way.recommended, &way.highest) else {
        return Vec::new();
    };
    let mut sentences = vec![share(recommended, highest)];
    sentences.extend(passed_over(recommended));
    sentences.extend(gentlest(way, recommended));
    sentences
}

fn share(recommended: &RecommendedPoint, highest: &OperatingPoint) -> String {
    if recommended.at.setting == highest.setting {
        return "It is also the setting that carries most.".to_owned();
    }
    let gains = gains(&recommended.at, highest);
    let gains = match gains.is_empty() {
        true => String::new(),
        false => format!(", with {}", gains.join(", ")),
    };
    let left = match recommended.share_of_highest_ratio < NEARLY_ALL {
        true => "; it leaves something for others",
        false => "",
    };
    format!(
        "That is {} of the most that any setting carried, {} by {}{left}{gains}.",
        percent(recommended.share_of_highest_ratio),
        format::rate(highest.goodput.median_bits_per_second),
        point(highest.setting.streams, highest.setting.window),
    )
}

/// What is better at the recommended setting than at the highest.
fn gains(at: &OperatingPoint, highest: &OperatingPoint) -> Vec<String> {
    let less = |here: Option<f64>, there: Option<f64>, text: fn(f64) -> String| {
        let (here, there) = (here?, there?);
        (here < there).then(|| (text(here), text(there)))
    };
    let ms: fn(f64) -> String = |seconds| format!("{} ms", milliseconds(seconds));
    let scatter = |point: &OperatingPoint| {
        let spread = &point.goodput;
        let range = spread
            .quartile3_bits_per_second
            .saturating_sub(spread.quartile1_bits_per_second);
        (spread.median_bits_per_second > 0)
            .then(|| range as f64 / spread.median_bits_per_second as f64)
    };
    let starved = |point: &OperatingPoint| point.starvation.map(|starved| starved.visits_ratio);
    let queue = less(at.rtt_added_seconds, highest.rtt_added_seconds, ms);
    let scatter = less(scatter(at), scatter(highest), percent);
    let starved = less(starved(at), starved(highest), percent);
    let gains = [
        queue.map(|(here, there)| format!("a dRTT of {here} instead of {there}")),
        scatter.map(|(here, there)| format!("quartiles {here} apart instead of {there}")),
        starved.map(|(here, there)| {
            format!("a starved stream in {here} of the visits instead of {there}")
        }),
    ];
    gains.into_iter().flatten().collect()
}

fn passed_over(recommended: &RecommendedPoint) -> Option<String> {
    match recommended.passed_over {
        0 => None,
        1 => Some("One setting that carries as much starves a stream too often.".to_owned()),
        n => Some(format!(
            "{n} settings that carry as much starve streams too often."
        )),
    }
}

fn gentlest(way: &DirectionAnalysis, recommended: &RecommendedPoint) -> Option<String> {
    let gentlest = way.gentlest.as_ref()?;
    if gentlest.setting == recommended.at.setting {
        return Some("It also adds the least delay for its goodput.".to_owned());
    }
    Some(format!(
        "The least added delay (dRTT) for the goodput: {}, {} and {} ms.",
        point(gentlest.setting.streams, gentlest.setting.window),
        goodput(&gentlest.goodput),
        format::added_milliseconds(gentlest.rtt_added_seconds?),
    ))
}

/// The share of visits with a starved stream.
pub fn starved(starvation: Option<&Starvation>) -> String {
    format::or_absent(starvation, |starvation| percent(starvation.visits_ratio))
}

/// `10.0 s`, `10.0 s and 40.0 s`.
pub fn times(durations: &[Span]) -> String {
    let seconds = durations.iter().map(|one| one.as_secs_f64());
    let times: Vec<String> = seconds.map(format::time).collect();
    times.join(" and ")
}

/// Whether the two directions differ.
pub fn directions(analysis: &SweepAnalysis) -> Option<String> {
    let apart = analysis.directions_apart.as_ref()?;
    let (forward, reverse) = (apart.forward_bits_per_second, apart.reverse_bits_per_second);
    let rates = format!(
        "{} sending and {} receiving",
        format::rate(forward),
        format::rate(reverse)
    );
    if apart.shift.confidence <= SURE {
        return Some(
            match forward.abs_diff(reverse) <= forward.max(reverse) / 10 {
                true => format!("Both directions carry about the same at their best: {rates}."),
                false => format!(
                    "At their best {rates}{}: more cycles would make that surer.",
                    factor(apart)
                ),
            },
        );
    }
    Some(format!(
        "The directions differ: at their best {rates}{}.",
        factor(apart)
    ))
}

/// A confidence in percent; never all of it.
pub fn sure(confidence: f64) -> String {
    match confidence {
        c if c > 0.99 => "> 99 %".to_owned(),
        c => percent(c),
    }
}

fn factor(apart: &DirectionsApart) -> String {
    let (low, high) = match (apart.forward_bits_per_second, apart.reverse_bits_per_second) {
        (forward, reverse) if forward < reverse => (forward, reverse),
        (forward, reverse) => (reverse, forward),
    };
    let sure = sure(apart.shift.confidence);
    match low {
        0 => String::new(),
        low => format!(
            ", a factor of {:.2} ({sure} sure)",
            high as f64 / low as f64
        ),
    }
}

#[cfg(test)]
mod tests;
