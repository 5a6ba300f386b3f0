//! Streams, and the hops beside them.

use observe::{
    Amount, Direction, Observation, ProbesError, SamplePlan, Setting, StreamCount, Then, Trace,
    TracePlan, Way, Window,
};
use units::{Bytes, Span};

use super::small::{PATIENCE, name_of};
use super::{Examination, Examined, Load, Part, Wanted, Work, named};
use crate::hops::{QueueAt, compare};
use crate::{LeftOut, PartObserver};

/// Streams that fill most paths; the same number as the measurements of 2000-2001 between SLAC and
/// CERN.
const SEVERAL: u16 = 8;
/// Idle probes before the streams.
const IDLE: Span = Span::from_secs(1);
/// What streams take to fill the queue before hops are looked for.
const FILLING: Span = Span::from_secs(2);

/// Probes to each hop beside them: they are delayed by a queue that moves.
const ROUNDS_LOADED: u16 = 8;

impl Examination {
    /// One stream and then several in each direction.
    pub(super) fn loads(
        &mut self,
        path: &mut dyn Examined,
        duration: Span,
        wanted: &Wanted,
        observer: &mut dyn PartObserver,
    ) {
        for way in &wanted.ways {
            let name = named("one stream", *way);
            let one = self.part(path, &name, observer, |path, look| {
                one_stream(path, *way, duration, look)
            });
            let Some(one) = one else {
                continue;
            };
            let (several, trace) = self.several(path, *way, duration, observer);
            self.found.loads.push(Load {
                way: *way,
                one,
                several,
                queue: self.queue(trace.as_ref()),
                trace,
            });
        }
    }

    fn queue(&self, loaded: Option<&Trace>) -> Option<QueueAt> {
        let loaded = loaded?;
        let traces = &self.found.traces;
        let idle = traces
            .iter()
            .find(|idle| idle.protocol == loaded.protocol)?;
        compare(idle, loaded).queue
    }

    /// Several streams with a trace beside them, where there are hops to look at.
    fn several(
        &mut self,
        path: &mut dyn Examined,
        way: Way,
        duration: Span,
        observer: &mut dyn PartObserver,
    ) -> (Option<Observation>, Option<Trace>) {
        let name = named("hops under load", way);
        let Some(idle) = best(&self.found.traces) else {
            let why = "no hops are known to compare with";
            self.left(LeftOut::new(name, why, None));
            return (None, None);
        };
        let plan = TracePlan {
            protocol: idle.protocol,
            rounds: ROUNDS_LOADED,
            hops_max: u8::try_from(idle.hops.len()).unwrap_or(u8::MAX),
            patience: PATIENCE,
        };
        let mut traced = None;
        let several = self.part(path, &name, observer, |path, look| {
            several_streams(path, way, duration, look, &mut |probes, watch| {
                probes.pause(FILLING);
                traced = Some(probes.trace(&plan, watch));
            })
        });
        let trace = match (traced, &several) {
            (Some(Ok(trace)), Some(_)) => Some(trace),
            (Some(Err(error)), Some(_)) => {
                self.leave_out(&name, error);
                None
            }
            (None, Some(_)) => {
                let why = format!(
                    "they were not probed by {} beside the streams",
                    name_of(plan.protocol)
                );
                self.left(LeftOut::new(name, why, None));
                None
            }
            (_, None) => None,
        };
        (several, trace)
    }
}

/// The trace that most routers answered; the first of several.
fn best(traces: &[Trace]) -> Option<&Trace> {
    let answers = |trace: &Trace| {
        let answered = trace
            .hops
            .iter()
            .flat_map(|hop| hop.probes.iter().flatten());
        answered.count()
    };
    // `max_by_key` would take the last of equals.
    traces.iter().rev().max_by_key(|trace| answers(trace))
}

fn one_stream(
    path: &mut dyn Examined,
    way: Way,
    duration: Span,
    observer: &mut dyn PartObserver,
) -> Part<Observation> {
    let plan = plan(duration, IDLE, Then::KeepRunning);
    let seen = path.target().observe(&setting(way, 1), &plan, observer);
    with_bytes(seen.map_err(ProbesError::Failed)?)
}

fn several_streams(
    path: &mut dyn Examined,
    way: Way,
    duration: Span,
    observer: &mut dyn PartObserver,
    work: &mut Work<'_>,
) -> Part<Observation> {
    let plan = plan(duration, Span::ZERO, Then::Stop);
    let seen = path.beside(&setting(way, SEVERAL), &plan, observer, work);
    with_bytes(seen.map_err(ProbesError::Failed)?)
}

fn with_bytes(seen: Observation) -> Part<Observation> {
    let bytes: Bytes = seen.bytes_delivered();
    Ok((seen, Some(bytes)))
}

fn plan(duration: Span, unloaded: Span, then: Then) -> SamplePlan {
    SamplePlan {
        amount: Amount::Time(duration),
        precision: None,
        unloaded,
        then,
    }
}

fn setting(way: Way, streams: u16) -> Setting {
    let streams = StreamCount::new(u64::from(streams)).unwrap_or(StreamCount::ONE);
    let direction = match way {
        Way::Forward => Direction::Forward,
        Way::Reverse => Direction::Reverse,
    };
    Setting {
        direction,
        ..Setting::new(streams, Window::Auto)
    }
}
