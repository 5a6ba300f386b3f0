//! Responsiveness: round trips a minute while the path is as full as streams can make it.
//!
//! Follows "Responsiveness under Working Conditions" (IETF draft-ietf-ippm-responsiveness): every
//! second one more stream, up to sixteen; small probes beside the streams; and an end when goodput,
//! and then responsiveness, no longer change. What differs, and what that costs:
//!
//! - The draft's probes are HTTP requests with a TCP and a TLS handshake before them. Ours are
//!   echoes of one datagram, so name look-ups, handshakes and web servers are not in the figure,
//!   and neither is what a network does to HTTP alone.
//! - The draft asks for a small object on each loaded connection. Ours has no room for requests
//!   among the data; TCP's own smoothed round trip stands for it, which the draft allows where
//!   requests cannot share a connection.
//! - The draft sends up to 100 probes a second, this one twenty, which a path of 1 Mbit/s bears as
//!   well.
//! - Both directions are loaded one after another, so that it can be told which of them queues.
//!
//! Tools that follow the same text differ by a factor of three; the inputs are therefore part of
//! the result.
//!
//! Reading order: [`measure`], then `growth.rs` for how streams are added, `intervals.rs` for the
//! cut into seconds and `judge.rs` for the formula and when it is stable.

mod growth;
mod intervals;
mod judge;

use observe::{Peer, ProbeSeries, StreamCount, Target, TargetError, Way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::{LeftOut, PartObserver};
pub use judge::{Confidence, Formula, Trimmed};

/// The draft's moving averages are over so many intervals (its MAD).
pub const INTERVALS_AVERAGED: usize = 4;
/// Length of an interval (the draft's ID).
pub const INTERVAL: Span = Span::from_secs(1);
/// The most streams that are added (the draft's MNP).
pub const STREAMS_MAX: u16 = 16;
/// What counts as stable: a standard deviation of this share (the draft's SDT).
pub const TOLERANCE: f64 = 0.05;
/// The lowest share of the round trips that is averaged (the draft's TMP).
pub const TRIMMED: f64 = 0.95;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which directions are loaded, one after another.
    pub ways: Vec<Way>,
    /// The longest that the streams of one direction run.
    pub duration_max: Span,
}

impl Plan {
    /// Twice the draft's ten seconds for each of its two stages.
    pub const DURATION_MAX: Span = Span::from_secs(20);
}

/// One second beside the streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Streams that ran.
    pub streams: StreamCount,
    /// What they delivered.
    #[serde(rename = "goodput_bits_per_second")]
    pub goodput: Rate,
    /// Probes without an answer.
    pub foreign_lost: u32,
    /// Round trips of the probes beside them, in seconds.
    #[serde(rename = "foreign_seconds")]
    pub foreign: Vec<f64>,
    /// Round trips as the streams' senders saw them, in seconds.
    #[serde(rename = "loaded_seconds")]
    pub loaded: Vec<f64>,
}

/// How the streams came to be as many as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// One more each second, beside those that ran: as the draft has it.
    OneBySecond,
    /// All at once, since the far end lets none join.
    AllAtOnce,
}

/// What one direction showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Responsiveness {
    /// Which end sent the load.
    pub way: Way,
    /// What the far end was.
    pub peer: Peer,
    /// The figure with its inputs, over the last [`INTERVALS_AVERAGED`] intervals; `None` where
    /// neither probes nor streams told a round trip.
    pub formula: Option<Formula>,
    /// How far it can be trusted.
    pub confidence: Confidence,
    /// After so many intervals goodput had stopped growing; `None` where it never did.
    pub saturated_after: Option<usize>,
    /// Whether responsiveness was stable at the end.
    pub stable: bool,
    /// How streams were added.
    pub growth: Growth,
    /// Mean goodput over the same last intervals.
    pub goodput: Rate,
    /// Round trips before there was any load.
    pub idle: Option<ProbeSeries>,
    /// Every second, in order.
    pub intervals: Vec<Interval>,
    /// What the streams delivered in all, with what is not in the intervals.
    pub delivered: Bytes,
    /// How long it all took.
    pub elapsed: Span,
    /// Why it ended before it should have.
    pub cut_because: Option<String>,
}

/// What all directions showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Each direction that could be loaded.
    pub ways: Vec<Responsiveness>,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// Loads each direction of `target` in turn.
///
/// # Errors
/// When no direction could be loaded, or the user had enough before the first of them was done.
pub fn measure(
    target: &mut dyn Target,
    plan: &Plan,
    observer: &mut dyn PartObserver,
) -> Result<Measured, TargetError> {
    let mut measured = Measured {
        ways: Vec::new(),
        left_out: Vec::new(),
    };
    let mut first = None;
    for way in &plan.ways {
        if observer.is_cancelled() && !measured.ways.is_empty() {
            let left = LeftOut::new(part(*way), "it was ended before", None);
            measured.left_out.push(left);
            continue;
        }
        observer.on_part(part(*way));
        let seen = growth::load(target, *way, plan.duration_max, observer);
        target.stop();
        match seen {
            Ok(seen) => measured.ways.push(judge::judge(*way, seen)),
            Err(error) => {
                let left = LeftOut::new(part(*way), error.to_string(), error.hint.clone());
                measured.left_out.push(left);
                first = first.or(Some(error));
            }
        }
    }
    match first {
        Some(error) if measured.ways.is_empty() => Err(error),
        _ => Ok(measured),
    }
}

fn part(way: Way) -> &'static str {
    match way {
        Way::Forward => "responsiveness forward",
        Way::Reverse => "responsiveness reverse",
    }
}

#[cfg(test)]
mod tests;
