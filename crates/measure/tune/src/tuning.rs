//! What the tuner found.

use errors::{Fault, Hint};
use observe::{MoverCommand, Observation, RateInterval, Setting, Summary, TargetError, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Rate, Span};

use crate::advice::SysctlLine;
use crate::plan::Objective;

/// What a sample was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To see what more streams bring.
    Streams,
    /// To see what a larger window brings where a buffer limits.
    Window,
    /// To see whether what an earlier search found still holds.
    Remembered,
    /// To find the fewest streams that reach the knee: of earlier searches.
    Knee,
    /// To see what another congestion control or a paced rate would give.
    Alternative,
    /// To see what another program makes of more files at once, more requests or larger blocks.
    Moving,
    /// To see whether a window that just fits the path keeps its queue from overflowing: of earlier
    /// searches.
    Fit,
    /// To be surer of a setting that was tried before.
    Confirm,
    /// To tell loss from a shallow queue: of earlier searches.
    Explain,
}

/// One setting that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What was asked for.
    pub setting: Setting,
    /// What it was taken for.
    pub purpose: Purpose,
    /// Why it was tried, as a sentence for people without a full stop.
    pub why: String,
    /// What was seen.
    pub observation: Observation,
    /// What that comes down to.
    pub summary: Summary,
}

/// A setting that could not be sampled.
#[derive(Debug)]
pub struct FailedSample {
    /// What was asked for.
    pub setting: Setting,
    /// Why there is no sample of it.
    pub error: TargetError,
    /// What it took, as far as data flowed.
    pub cost: Cost,
}

/// What a minute of a setting is expected to carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// The middle of it: of both directions together where both carry data.
    pub goodput: Rate,
    /// Where 95 in 100 such minutes lie; `None` where the samples tell nothing of the path.
    pub interval: Option<RateInterval>,
}

/// The setting that was recommended, run once more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confirmation {
    /// Which sample that is: an index into [`Tuning::samples`].
    pub sample: usize,
    /// What was promised before.
    pub promise: Promise,
}

/// The operating point.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommended {
    /// The setting.
    pub setting: Setting,
    /// Which sample showed it: an index into [`Tuning::samples`].
    pub sample: usize,
    /// What it is expected to carry.
    pub promise: Promise,
    /// Mean round-trip time beside it.
    pub rtt_loaded: Option<Span>,
    /// Mean round-trip time of the idle path.
    pub rtt_unloaded: Option<Span>,
    /// Why this one, as a sentence for people without a full stop.
    pub because: String,
}

/// What the tuning took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Time, with connecting and idle probes.
    #[serde(rename = "seconds")]
    pub elapsed: Span,
    /// Bytes delivered in all.
    pub bytes: Bytes,
}

/// What the samples say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What to use.
    pub recommended: Recommended,
    /// What to use where streams cannot be paced; `None` unless the recommendation is paced.
    pub unpaced: Option<Recommended>,
    /// What to use where a program leaves the congestion control to the host, and sends over TCP;
    /// `None` unless the recommendation has another control than was asked for, or is over UDP.
    pub own_control: Option<Recommended>,
    /// What limits the recommended setting.
    pub limit_recommended: Verdict,
    /// Which sample shows one stream with everything as the host has it: of several the one that
    /// counts; `None` where none was taken.
    pub default_sample: Option<usize>,
    /// What limits that stream; the recommended setting where there is none.
    pub limit_default: Verdict,
    /// Kernel settings that held that stream back, with values that would not.
    pub host_advice: Vec<SysctlLine>,
    /// How the program behind the target is told to use the recommendation; `None` where that is
    /// trunkline itself.
    pub command: Option<MoverCommand>,
}

/// How the search ended.
#[derive(Debug)]
pub enum Ended {
    /// The strategy had what it needed.
    Found(Answer),
    /// The target failed after at least one sample; the answer is the best of what was seen.
    Cut(Answer, TargetError),
    /// The user stopped it, or the target failed with only one setting seen: that is no answer.
    Stopped(TargetError),
}

/// Everything that the tuner found out.
#[derive(Debug)]
pub struct Tuning {
    /// What was sought.
    pub objective: Objective,
    /// Everything that was tried, in order.
    pub samples: Vec<Sample>,
    /// What each sample's setting is expected to carry, in the same order.
    pub promises: Vec<Promise>,
    /// What holds each sample's setting back, in the same order.
    pub verdicts: Vec<Verdict>,
    /// Mean round-trip time of the idle path.
    pub rtt_unloaded: Option<Span>,
    /// The path that explains the samples, as a path file; `None` where they tell nothing of it.
    pub path_file: Option<String>,
    /// Runs of what was recommended, in order: several where one led to another answer.
    pub confirmations: Vec<Confirmation>,
    /// What the settings that were asked for are expected to carry; empty where the samples tell
    /// nothing of the path.
    pub asked: Vec<Promise>,
    /// What it took.
    pub cost: Cost,
    /// What changed on the path while it was measured, as a sentence for people without a full
    /// stop.
    pub drift: Option<String>,
    /// What the budget left untried that might carry more, as a sentence for people without a full
    /// stop.
    pub untried: Option<String>,
    /// Settings that could not be sampled, where that did not end the search.
    pub failed: Vec<FailedSample>,
    /// What could not be removed from the far end, as a sentence for people without a full stop.
    pub left_behind: Option<String>,
    /// How the search ended, and what it found.
    pub ended: Ended,
}

impl Tuning {
    /// What the samples say together; `None` of a search that was stopped.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.ended {
            Ended::Found(answer) | Ended::Cut(answer, _) => Some(answer),
            Ended::Stopped(_) => None,
        }
    }
}

/// Why nothing can be recommended.
#[derive(Debug, Error)]
pub enum TuneError {
    /// The first sample failed, so nothing is known.
    #[error(transparent)]
    Target(TargetError),
    /// Samples were taken, but nothing arrived in any.
    #[error("no data arrived in {samples} samples over {elapsed}", elapsed = .elapsed.human())]
    NothingDelivered {
        /// How many.
        samples: usize,
        /// How long they took.
        elapsed: Span,
    },
}

impl Hint for TuneError {
    fn fault(&self) -> Fault {
        match self {
            TuneError::Target(error) => error.fault,
            TuneError::NothingDelivered { .. } => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            TuneError::Target(error) => error.hint.clone(),
            TuneError::NothingDelivered { .. } => None,
        }
    }
}
