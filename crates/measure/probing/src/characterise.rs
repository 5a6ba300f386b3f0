//! Everything that can be told of a path, one part after another.
//!
//! A part that fails is noted with its reason, and the next one begins: a path without routers that
//! answer still has a capacity, and a server of another program still has round trips. Small
//! packets come first and streams last, so that nothing queues behind what was sent before.
//!
//! Left out: everything but one stream of bulk data and eight of them. `trunkline tune` looks for
//! the best setting; this is about the path that it is to be the best on.
//!
//! Reading order: [`characterise`], then `small.rs` for the parts of small packets, `load.rs` for
//! streams and what is looked at beside them, `buffers.rs` for what follows for socket buffers.

mod buffers;
mod load;
mod small;
mod trains;

use observe::{
    Fault, Observation, PathMtu, ProbeSeries, Probes, ProbesError, RunObserver, SamplePlan,
    Setting, Target, TargetError, Trace, Way,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use crate::hops::QueueAt;
use crate::{Available, Branches, Capacity, HopCapacity, LeftOut, PartObserver, WayBack};
pub use buffers::{BufferAdvice, Buffers};
pub use small::Variation;

/// A path under examination: a target that can be observed and probed at once.
pub trait Examined {
    /// The target itself.
    fn target(&mut self) -> &mut dyn Target;

    /// Observes the target and meanwhile has `work` done, at most once and on another thread, with
    /// a watch that cancels when the streams failed. Where that is not possible, `work` is not
    /// done.
    ///
    /// # Errors
    /// As [`Target::observe`].
    fn beside(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
        work: &mut Work<'_>,
    ) -> Result<Observation, TargetError>;

    /// Time since the examination began; `None` where packets do not go by that time.
    fn elapsed(&self) -> Option<Span>;
}

/// What is done beside streams.
pub type Work<'a> = dyn FnMut(&mut dyn Probes, &mut dyn RunObserver) + Send + 'a;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which directions, where they can be told apart.
    pub ways: Vec<Way>,
    /// Whether trains are sent: slow ones for loss and delay, fast ones for capacity and available
    /// bandwidth, which load the path for moments.
    pub trains: bool,
    /// How long each of the streams' two runs takes in each direction; `None` runs none.
    pub load: Option<Span>,
    /// Whether the rate of each hop is looked for.
    pub hop_capacity: bool,
    /// With how many flows branches of equal cost are looked for; `None` looks for none.
    pub flows: Option<u8>,
    /// Whether the far end is asked for the way back.
    pub way_back: bool,
}

impl Wanted {
    /// How long streams run unless told otherwise.
    pub const LOAD: Span = Span::from_secs(10);
    /// The most flows: routers take two seconds for each.
    pub const FLOWS_MAX: u8 = 32;
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Characteristics {
    /// Round trips of small packets on the path as it was found.
    pub round_trips: Option<ProbeSeries>,
    /// Loss and delay of each direction by itself.
    pub variations: Vec<Variation>,
    /// The largest packet.
    pub mtu: Option<PathMtu>,
    /// Hops by each protocol that anybody answered.
    pub traces: Vec<Trace>,
    /// The rate of each hop, nearest first.
    pub hop_capacities: Vec<HopCapacity>,
    /// The way back, as the far end sees it.
    pub way_back: Option<WayBack>,
    /// Branches of equal cost.
    pub branches: Option<Branches>,
    /// Capacity of each direction.
    pub capacities: Vec<Capacity>,
    /// Available bandwidth of each direction.
    pub available: Vec<Available>,
    /// Streams in each direction.
    pub loads: Vec<Load>,
    /// What follows for socket buffers in each direction.
    pub buffers: Vec<Buffers>,
    /// What could not be told.
    pub left_out: Vec<LeftOut>,
    /// What it took, in order.
    pub costs: Vec<PartCost>,
}

/// Streams in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Which end sent.
    pub way: Way,
    /// One stream, everything as the hosts have it.
    pub one: Observation,
    /// Several, beside which hops were looked for; `None` where that was not possible.
    pub several: Option<Observation>,
    /// Hops beside them.
    pub trace: Option<Trace>,
    /// Where the queue grew; `None` where it cannot be told, or none did.
    pub queue: Option<QueueAt>,
}

/// What one part took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartCost {
    /// Which.
    pub part: String,
    /// How long; `None` in virtual time.
    #[serde(rename = "elapsed_seconds", skip_serializing_if = "Option::is_none")]
    pub time: Option<Span>,
    /// What it sent or had sent, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

/// Examines `path`.
///
/// # Errors
/// When nothing could be found at all; the first failure.
pub fn characterise(
    path: &mut dyn Examined,
    wanted: &Wanted,
    observer: &mut dyn PartObserver,
) -> Result<Characteristics, TargetError> {
    let mut examination = Examination {
        found: Characteristics::default(),
        failure: None,
    };
    match path.target().probes(observer) {
        Ok(mut probes) => examination.small_packets(path, &mut *probes, wanted, observer),
        Err(error) => examination.leave_out("small packets", error),
    }
    if let Some(duration) = wanted.load {
        examination.loads(path, duration, wanted, observer);
    }
    path.target().stop();
    examination.found.buffers =
        buffers::advise(&examination.found, path.target().describe().limits);
    examination.outcome(observer.is_cancelled())
}

/// An examination on its way.
struct Examination {
    found: Characteristics,
    failure: Option<TargetError>,
}

/// What a part gave, and what it sent.
type Part<T> = Result<(T, Option<Bytes>), ProbesError>;

impl Examination {
    /// Does one part and notes what it took, or why it could not be done.
    fn part<T>(
        &mut self,
        path: &mut dyn Examined,
        name: &str,
        observer: &mut dyn PartObserver,
        work: impl FnOnce(&mut dyn Examined, &mut dyn PartObserver) -> Part<T>,
    ) -> Option<T> {
        if observer.is_cancelled() {
            self.left(LeftOut::new(name, "it was ended before", None));
            return None;
        }
        observer.on_part(name);
        let before = path.elapsed();
        let outcome = work(path, observer);
        let time = path.elapsed().zip(before).map(|(now, before)| now - before);
        match outcome {
            Ok((found, bytes)) => {
                let part = name.to_owned();
                self.found.costs.push(PartCost { part, time, bytes });
                Some(found)
            }
            Err(error) => {
                self.leave_out(name, error);
                None
            }
        }
    }

    fn leave_out(&mut self, name: &str, error: ProbesError) {
        self.left(LeftOut::failed(name, &error));
        if let ProbesError::Failed(error) = error {
            self.failure.get_or_insert(error);
        }
    }

    fn left(&mut self, left: LeftOut) {
        self.found.left_out.push(left);
    }

    /// Nothing at all is a failure; of what failed with a reason the first.
    fn outcome(self, is_cancelled: bool) -> Result<Characteristics, TargetError> {
        if !self.found.is_empty() {
            return Ok(self.found);
        }
        let fault = match is_cancelled {
            true => Fault::Cancelled,
            false => Fault::Run,
        };
        let failure = self.failure;
        Err(failure.unwrap_or_else(|| nothing(&self.found.left_out, fault)))
    }
}

impl Characteristics {
    /// Whether nothing was found. What this host's kernel believes of packet sizes was not.
    fn is_empty(&self) -> bool {
        self.round_trips.is_none()
            && self.variations.is_empty()
            && self.mtu.is_none_or(|mtu| !mtu.confirmed)
            && self.traces.is_empty()
            && self.capacities.is_empty()
            && self.available.is_empty()
            && self.loads.is_empty()
    }
}

fn nothing(left_out: &[LeftOut], fault: Fault) -> TargetError {
    let why = left_out.first().map(|left| left.why.as_str());
    TargetError {
        fault,
        what: why.unwrap_or("nothing was asked for").to_owned(),
        hint: left_out.iter().find_map(|left| left.hint.clone()),
        source: None,
    }
}

/// `what` with its direction behind it.
fn named(what: &str, way: Way) -> String {
    match way {
        Way::Forward => format!("{what} forward"),
        Way::Reverse => format!("{what} reverse"),
    }
}

#[cfg(test)]
mod tests;
