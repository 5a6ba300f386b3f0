//! What the formulas say about a path, without sending anything.
//!
//! Takes a path file to the inputs of [`models`]: payload in place of packets, a mean load in place
//! of traffic that comes and goes, loss events in place of lost packets.
//!
//! [`fluid()`] asks a model of many flows by classes instead, which has limits of its own.
//!
//! Left out of the formulas, and what that costs: acknowledgements that share the reverse link, and
//! queues other than drop-tail, which are taken for one of the same size; classes of traffic are
//! taken for equal. Weighted RED, which lives by them, is refused. A simulation has them all.
//!
//! Reading order: [`Question`], [`Prediction`], [`predict`]; `inputs.rs` for the path;
//! `calculator.rs` and `literature.rs` for what follows from it; `fluid.rs` for many flows.

mod calculator;
mod fit;
mod fluid;
mod inputs;
mod literature;

use errors::{Fault, Hint};
use models::{
    Acks, Bottleneck, BufferRule, Candidate, Conditions, Control, Equilibrium, Flows, PathFacts,
    Response, Rule, altman_utilisation, choose, hacker, mathis_with_window, pftk, window_limited,
};
use netpath::{PathError, PathSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Estimate;
use thiserror::Error;
use units::{Bytes, Rate, Span};

pub use calculator::{AcceptableLoss, Transfer, TransferTime};
pub use fit::{Fitting, Optimum, fit};
pub use fluid::{FLOWS_MAX, FlowClass, Fluid, FluidClass, FluidQuestion, fluid, fluid_unbounded};
use inputs::Inputs;
pub use literature::Choice;

/// Linux's least timeout above the round trip.
const TIMEOUT_MARGIN: Span = Span::from_millis(200);
/// Streams whose knee is looked for, unless more are asked for: the most that the tuner tries.
pub const STREAMS_MAX: u32 = 128;

/// Share of the highest throughput at which the knee lies unless another is asked for.
pub const KNEE_SHARE: f64 = models::KNEE_FRACTION;

/// What to predict.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The path.
    pub path: PathSpec,
    /// Congestion control of the streams; `None` for that of the path's hosts.
    pub congestion: Option<String>,
    /// The most that each stream keeps outstanding; `None` leaves it to the hosts' buffers.
    pub window: Option<Bytes>,
    /// Numbers of streams.
    pub streams: Vec<u32>,
    /// Share of the highest throughput at which the knee lies.
    pub knee: f64,
}

/// Why nothing can be predicted.
#[derive(Debug, Error)]
pub enum PredictError {
    /// The path file or its name is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// No formula describes the congestion control.
    #[error("no formula here describes `{name}`; known: reno, cubic, highspeed, scalable, bbr")]
    Congestion {
        /// Its name.
        name: String,
    },
    /// The fluid model does not describe the congestion control.
    #[error("the fluid model does not describe `{name}`; it has reno and cubic")]
    FluidCongestion {
        /// Its name.
        name: String,
    },
    /// A class of flows that cannot be.
    #[error("{problem}")]
    Class {
        /// What is wrong, with the bound.
        problem: String,
    },
    /// The formulas are about one link without other load.
    #[error("the formulas describe one link each way, and this path has a `{field}` ({value})")]
    NotOneLink {
        /// The field of the path file.
        field: &'static str,
        /// What it says.
        value: String,
    },
    /// Traffic that does not react takes all that the link has.
    #[error(
        "cross traffic of {load} in the mean leaves nothing of a link that carries {capacity} of \
            payload"
    )]
    Full {
        /// Mean load of the cross traffic.
        load: Rate,
        /// Payload that the link carries.
        capacity: Rate,
    },
    /// Packets no larger than their headers, or a path of no length.
    #[error("a path with packets of {mtu} bytes and a round trip of {rtt} has no equilibrium")]
    NoEquilibrium {
        /// Size of a packet.
        mtu: u16,
        /// Round trip of the empty path.
        rtt: Span,
    },
}

impl Hint for PredictError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            PredictError::Path(error) => return error.hint(),
            PredictError::Congestion { .. } => {
                "choose another with `-C cubic`, or simulate it: `trunkline simulate \
                    PATH`"
                    .to_owned()
            }
            PredictError::FluidCongestion { .. } => {
                "choose `congestion=reno` or `congestion=cubic` for that class, or simulate it: \
                    `trunkline simulate PATH`"
                    .to_owned()
            }
            PredictError::Class { .. } => {
                "write a class like `--flows 1000,rtt=50ms,congestion=reno,start=5s,stop=20s`, \
                    and how long they run like `--duration 30s`"
                    .to_owned()
            }
            PredictError::NotOneLink { .. } => "emulate it: `trunkline tune emu:PATH`".to_owned(),
            PredictError::Full { .. } => {
                "lower the cross traffic in the path file, or simulate it: `trunkline simulate \
                    PATH`"
                    .to_owned()
            }
            PredictError::NoEquilibrium { .. } => {
                "give the path a `delay` above 0 and hosts with an `mtu` above 100".to_owned()
            }
        };
        Some(hint)
    }
}

/// What the formulas say.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// About what.
    pub question: Question,
    /// The congestion control that was taken.
    pub congestion: String,
    /// The link, as the formulas see it.
    pub bottleneck: Bottleneck,
    /// The most that each stream keeps outstanding.
    pub window: Bytes,
    /// Mean load of cross traffic that does not react.
    pub background: Rate,
    /// Streams of others that do.
    pub others: u32,
    /// One stream by each response function.
    pub one_stream: Vec<OneStream>,
    /// Each number of streams that was asked for.
    pub points: Vec<Predicted>,
    /// The fewest streams that reach the share asked for, by the equilibrium.
    pub knee: StreamsAt,
    /// The fewest streams with the highest throughput, up to [`STREAMS_MAX`] or the most asked for.
    pub highest: StreamsAt,
    /// The rules for buffers, each with what it gives one of so many streams.
    pub buffers: Vec<BufferAdvice>,
}

/// One stream by one formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneStream {
    /// Which formula.
    pub model: String,
    /// Its rate; absent where the formula has none, as without loss.
    #[serde(
        rename = "rate_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub rate: Option<Rate>,
}

/// One number of streams by each formula.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// How many.
    pub streams: u32,
    /// By the equilibrium.
    #[serde(flatten)]
    pub equilibrium: Equilibrium,
    /// Reno streams that do not disturb each other, up to the capacity; absent without loss.
    #[serde(
        rename = "hacker_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub hacker: Option<Rate>,
    /// What streams without loss of their own use of a link with a short queue; absent for bbr.
    #[serde(
        rename = "altman_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub altman: Option<Rate>,
    /// All windows once a round trip, whatever the link carries.
    #[serde(
        rename = "window_cap_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub window_cap: Option<Rate>,
}

/// A number of streams and what they carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamsAt {
    /// How many.
    pub streams: u32,
    /// Payload of all of them.
    #[serde(rename = "goodput_bits_per_second")]
    pub throughput: Rate,
}

/// One rule for the buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferAdvice {
    /// Which rule.
    pub rule: BufferRule,
    /// Its formula in words.
    pub formula: String,
    /// What it gives each of so many streams.
    pub per_stream: Vec<StreamBuffer>,
}

/// A buffer of each of several streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamBuffer {
    /// How many streams.
    pub streams: u32,
    /// The buffer of each.
    pub bytes: Bytes,
}

/// Everything the formulas say about the path of `question`.
///
/// # Errors
/// When no formula covers the congestion control, or cross traffic takes everything.
/// ```
/// use predict::{Question, predict};
/// let question = Question {
///     path: netpath::PathSpec::load("slac-cern").unwrap(),
///     congestion: None,
///     window: Some(units::Bytes::from_kib(64)),
///     streams: vec![1, 8],
///     knee: 0.9,
/// };
/// let prediction = predict(question).unwrap();
/// // 45 segments of 1448 bytes each 165 ms, less what a loss of 4e-4 costs, 45 / (1 + 4e-4 x 45^2 / 8) = 40.86,
/// // are 2.87 Mbit/s. Eight times that is 22.9; Cottrell et al. measured 26.8 in 2000-2001.
/// let eight = prediction.points[1].equilibrium;
/// assert!((eight.throughput.as_f64() / 1e6 - 22.9).abs() < 0.1);
/// ```
pub fn predict(question: Question) -> Result<Prediction, PredictError> {
    let inputs = Inputs::of(&question)?;
    let most = question
        .streams
        .iter()
        .copied()
        .max()
        .unwrap_or(1)
        .max(STREAMS_MAX);
    let every: Vec<u32> = (1..=most).collect();
    let curve = inputs.bottleneck.curve(&inputs.own, &inputs.others, &every);
    let (knee, highest) =
        knee(&curve, question.knee).ok_or_else(|| PredictError::NoEquilibrium {
            mtu: question.path.hosts.mtu,
            rtt: question.path.base_rtt(),
        })?;
    let asked = curve
        .iter()
        .filter(|(streams, _)| question.streams.contains(streams));
    let points: Vec<Predicted> = asked.map(|point| inputs.predicted(point)).collect();
    Ok(Prediction {
        congestion: inputs.congestion.clone(),
        bottleneck: inputs.bottleneck,
        window: inputs.window,
        background: inputs.background,
        others: inputs.others.iter().map(|flows| flows.streams).sum(),
        one_stream: inputs.one_stream(&curve),
        buffers: inputs.buffers(&curve, &points, knee.streams),
        knee,
        highest,
        points,
        question,
    })
}

/// The fewest streams that reach `share` of the highest throughput, and the fewest that reach it
/// within a thousandth.
fn knee(curve: &[(u32, Equilibrium)], share: f64) -> Option<(StreamsAt, StreamsAt)> {
    let points: Vec<(u32, Rate)> = curve
        .iter()
        .map(|(n, point)| (*n, point.throughput))
        .collect();
    let first = |share: f64| {
        let (streams, throughput) = fewest(&points, share)?;
        Some(StreamsAt {
            streams,
            throughput,
        })
    };
    Some((first(share)?, first(0.999)?))
}

/// The fewest streams that reach `share` of the highest of these points.
fn fewest(points: &[(u32, Rate)], share: f64) -> Option<(u32, Rate)> {
    let candidate = |(streams, rate): &(u32, Rate)| Candidate {
        streams: *streams,
        window_rank: 0,
        goodput: Estimate::bare(*rate),
        rtt_loaded: None,
        cost: None,
    };
    let candidates: Vec<Candidate> = points.iter().map(candidate).collect();
    let choice = choose(&candidates, Rule::Knee(share)).ok()?;
    points.get(choice.index).copied()
}

impl Inputs {
    fn conditions(&self) -> Conditions {
        Conditions {
            segment: self.bottleneck.segment,
            rtt: self.bottleneck.rtt,
            loss: self.bottleneck.loss,
        }
    }

    fn predicted(&self, (streams, equilibrium): &(u32, Equilibrium)) -> Predicted {
        let all = self.conditions();
        let capacity = self.bottleneck.capacity;
        let kept = match self.own.control {
            Control::Loss(response) => {
                Some(response.kept(self.window.as_f64() / all.segment.as_f64()))
            }
            Control::Bandwidth => None,
        };
        let used = kept.and_then(|kept| altman_utilisation(*streams, kept));
        Predicted {
            streams: *streams,
            equilibrium: *equilibrium,
            hacker: hacker(&vec![all; *streams as usize], Acks::Every, Some(capacity)),
            altman: used.map(|used| Rate::from_f64(used * capacity.as_f64())),
            window_cap: window_limited(self.window.times(u64::from(*streams)), all.rtt),
        }
    }

    fn one_stream(&self, curve: &[(u32, Equilibrium)]) -> Vec<OneStream> {
        let at = self.conditions();
        let timeout = at.rtt + TIMEOUT_MARGIN;
        let of = |model: &str, rate| OneStream {
            model: model.to_owned(),
            rate,
        };
        vec![
            of("window", window_limited(self.window, at.rtt)),
            of("Mathis", Response::Reno(Acks::Every).rate(&at)),
            of("Mathis with window", mathis_with_window(&at, self.window)),
            of("PFTK", pftk(&at, Some(self.window), timeout, Acks::Every)),
            of("CUBIC", Response::Cubic.rate(&at)),
            of("HighSpeed", Response::HighSpeed.rate(&at)),
            of("Scalable", Response::Scalable.rate(&at)),
            of("equilibrium", curve.first().map(|(_, one)| one.throughput)),
        ]
    }

    fn buffers(
        &self,
        curve: &[(u32, Equilibrium)],
        points: &[Predicted],
        knee: u32,
    ) -> Vec<BufferAdvice> {
        let facts = self.facts(curve, knee);
        let mut streams: Vec<u32> = points
            .iter()
            .map(|point| point.streams)
            .chain([knee])
            .collect();
        streams.sort_unstable();
        streams.dedup();
        let each = |rule: BufferRule| BufferAdvice {
            rule,
            formula: rule.formula().to_owned(),
            per_stream: streams
                .iter()
                .filter_map(|streams| {
                    Some(StreamBuffer {
                        streams: *streams,
                        bytes: rule.per_stream(&facts, *streams)?,
                    })
                })
                .collect(),
        };
        BufferRule::ALL.map(each).to_vec()
    }

    /// What the rules read, with the mean round trip of the knee.
    fn facts(&self, curve: &[(u32, Equilibrium)], knee: u32) -> PathFacts {
        let path = &self.bottleneck;
        let at = |n: u32| {
            curve
                .iter()
                .find(|(streams, _)| *streams == n)
                .map(|(_, point)| point)
        };
        let free = Flows {
            window: None,
            ..self.own
        };
        let free = path.equilibrium(&Flows { streams: 1, ..free }, &self.others);
        PathFacts {
            capacity: self.link_payload,
            available: Some(path.capacity),
            rtt_min: path.rtt,
            rtt_max: Some(path.rtt + path.capacity.time_to_send(path.queue)),
            rtt_mean: at(knee).map(|point| point.rtt),
            bulk_transfer_capacity: free.map(|free| free.throughput),
            largest: Some(self.window_auto),
        }
    }
}
