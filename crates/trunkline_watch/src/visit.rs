//! One visit to a path: what is measured, and what of it is kept.
//!
//! The same functions visit a live host, an emulated and a simulated path. A visit ends before its
//! time is over: figures that were not there by then are missing.

mod copy;
mod datagrams;
mod deadline;
mod one_way;
mod paced;
mod ping;
mod route;
mod throughput;

use std::path::PathBuf;

use changes::{Failure, LossPattern, ProbeCount, ProbeSequence, RoundTrips, Share, Visit};
use observe::{Passages, ProbeSeries, Setting, TargetError};
use units::{Bytes, Direction, Rate, Span};
use watch_plan::Kind;
use watch_run::agent::Shown;

pub(crate) use copy::FarFiles;
pub(crate) use deadline::Deadline;

use trunkline::Target;

/// What one visit is to do.
pub(crate) struct Order<'a> {
    /// What is measured.
    pub kind: Kind,
    /// Which end sends, of goodput.
    pub direction: Direction,
    /// How long it may take in all.
    pub duration: Span,
    /// Whether it leaves the path to others.
    pub is_gentle: bool,
    /// The most that it may send, where its budget says so.
    pub rate_max: Option<Rate>,
    /// The setting that a search has found; `None` before the first one.
    pub setting: Option<Setting>,
    /// Where copies of test files go.
    pub files: Option<&'a FarFiles>,
    /// The folder of this host's test files.
    pub folder: PathBuf,
}

/// What a visit came to.
pub(crate) struct Visited {
    pub shown: Shown,
    /// The setting that a search found in it.
    pub found: Option<Setting>,
}

/// Makes a visit to `target`.
///
/// * `begun`: a visit without figures, with its time and kind.
pub(crate) fn visit(
    target: &mut Target,
    order: &Order<'_>,
    begun: Visit,
    deadline: &mut Deadline<'_>,
) -> Visited {
    let mut part = Part::new(begun);
    let processor = sockets::processor::stolen();
    let done = match order.kind {
        Kind::Ping => ping::ping(target, order, &mut part, deadline),
        Kind::OneWay => one_way::one_way(target, order, &mut part, deadline),
        Kind::Udp { rate } => datagrams::datagrams(target, order, rate, &mut part, deadline),
        Kind::Path => ping::path(target, &mut part, deadline),
        Kind::Responsiveness => throughput::responsiveness(target, order, &mut part, deadline),
        Kind::Throughput => throughput::throughput(target, order, &mut part, deadline),
        Kind::Tune => throughput::search(target, order, &mut part, deadline),
        Kind::Copy { size } => copy::copy(target, order, size, &mut part, deadline),
    };
    part.shown.visit.stolen = share(processor.and_then(|since| since.share_until_now()));
    if let Err(error) = done {
        part.fail(failure(&error, order, deadline));
    }
    if part.shown.visit.failure.is_some() {
        // Hops up to where the path is cut are no other route.
        part.shown.visit.route = None;
    }
    Visited {
        shown: part.shown,
        found: part.found,
    }
}

/// A visit whose figures come one after another.
pub(crate) struct Part {
    pub shown: Shown,
    pub found: Option<Setting>,
}

impl Part {
    fn new(visit: Visit) -> Self {
        Part {
            shown: Shown {
                visit,
                rates: None,
                document: None,
            },
            found: None,
        }
    }

    /// Takes note of probes of the idle path.
    fn probed(&mut self, series: &ProbeSeries) {
        let visit = &mut self.shown.visit;
        let answered: Vec<Span> = series.probes.iter().filter_map(|probe| probe.rtt).collect();
        visit.probes = Some(ProbeCount {
            sent: count(series.probes.len()),
            lost: count(series.probes.len() - answered.len()),
            duplicated: series.duplicated,
            reordered: series.reordered(),
        });
        let probes: Vec<Option<Span>> = series.probes.iter().map(|probe| probe.rtt).collect();
        visit.sequence = Some(ProbeSequence::of(&probes));
        visit.losses = LossPattern::of(probes.iter().map(Option::is_none));
        visit.round_trips = RoundTrips::new(answered);
    }

    /// Takes note that a host answered no probe of any kind: as many as were to be sent are lost.
    fn unanswered(&mut self, probes: u32) {
        self.shown.visit.probes = Some(ProbeCount {
            sent: probes,
            lost: probes,
            duplicated: 0,
            reordered: 0,
        });
    }

    /// Adds what became of a train.
    fn counted(&mut self, seen: &Passages) {
        if let Some(counted) = &mut self.shown.visit.probes {
            counted.sent += count(seen.packets.len());
            counted.lost += lost(seen);
        }
    }

    fn fail(&mut self, reason: String) {
        self.shown.visit.failure = Some(Failure { reason });
    }
}

/// Packets of a train that did not arrive.
fn lost(seen: &Passages) -> u32 {
    let lost = seen.packets.iter();
    count(lost.filter(|packet| packet.arrived.is_none()).count())
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A share that a computation gave.
fn share(value: Option<f64>) -> Option<Share> {
    value.and_then(Share::new)
}

/// The same words for the same reason.
fn failure(error: &TargetError, order: &Order<'_>, deadline: &Deadline<'_>) -> String {
    match (deadline.is_over(), deadline.has_to_end()) {
        (true, _) => format!("it was not done within {}", order.duration.human()),
        (false, true) => "the agent was stopped during the visit".to_owned(),
        (false, false) => error.to_string(),
    }
}

/// A failure of this host, for the error of a target.
fn failed(what: impl Into<String>, hint: Option<String>) -> TargetError {
    TargetError {
        fault: observe::Fault::Run,
        what: what.into(),
        hint,
        source: None,
    }
}

/// The time in which streams run, of all that a visit may take: the rest is for connecting, probes
/// of the idle path, hops, and the exchange of results. Hops that do not answer take the most of
/// it; what they took in excess is taken off.
fn running_time(duration: Span, deadline: &Deadline<'_>) -> Span {
    const AROUND: Span = Span::from_secs(5);
    /// Behind the search for hops: connecting, a second of probes, results.
    const BEHIND: Span = Span::from_millis(2_500);
    const LEAST: Span = Span::from_secs(1);
    let usual = match duration > AROUND.times(2) {
        true => duration - AROUND,
        false => Span::from_secs_f64(duration.as_secs_f64() / 2.0),
    };
    let left = deadline.left().map_or(usual, |left| left - BEHIND);
    usual.min(left).max(LEAST)
}

/// The bytes that `rate` carries in `time`.
fn bytes_in(rate: Rate, time: Span) -> Bytes {
    Bytes::new((rate.as_f64() * time.as_secs_f64() / 8.0) as u64)
}

#[cfg(test)]
mod tests;
