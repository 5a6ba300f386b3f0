//! What a document comes down to: the figures by which it is listed and compared.

use schemars::JsonSchema;
use serde::Serialize;
use units::Rate;

use super::copied::of_copy;
use super::examined::{of_characteristics, of_responsiveness};

use crate::simulate::SimulatedRun;
use crate::{
    Answer, AnyDocument, Demo, Direction, Interval, Kind, Measure, Origin, Path, Run, Schema,
    Simulate, Target, Transport, Tune, Window,
};

/// One document without its readings.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Essence {
    /// What kind of document it is.
    pub schema: Schema,
    /// When it was made: RFC 3339, UTC.
    pub created: String,
    /// The version of trunkline that made it.
    pub trunkline_version: String,
    /// The machine that it was made on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Release of its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// What was measured; without the limits on buffers.
    pub target: Target,
    /// What was sought, by its name; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Why a search ended early; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
    /// The setting measured or recommended, and what it gave.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Everything that was tried, in order; of a measurement itself.
    #[serde(skip)]
    pub samples: Vec<Tried>,
}

/// One row of what was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// What for, in a word or two.
    pub purpose: String,
    /// What it gave.
    pub outcome: Outcome,
}

/// A setting and what it gave.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    /// The setting.
    pub setting: Point,
    /// Delivered per time.
    pub goodput_bits_per_second: u64,
    /// Where the goodput of a longer run lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Degrees of freedom of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<f64>,
    /// Mean round-trip time of the idle path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_unloaded_seconds: Option<f64>,
    /// Mean round-trip time beside the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_loaded_seconds: Option<f64>,
    /// Share of the bytes that were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<f64>,
    /// What kept it from being faster, by its name in documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// One point of the space of settings. Unlike in [`crate::Setting`], a simulation may have any
/// number of streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Point {
    /// What carried the streams; absent where it was TCP.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// Parallel streams.
    pub streams: u32,
    /// Socket buffers of each.
    pub window: Window,
    /// Which end sent.
    pub direction: Direction,
    /// Congestion control that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Upper bound on each stream's rate.
    #[serde(
        rename = "pacing_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub pacing: Option<Rate>,
    /// Maximum segment size that was asked for.
    #[serde(rename = "mss_bytes", skip_serializing_if = "Option::is_none")]
    pub mss: Option<u16>,
}

impl Essence {
    /// What `document` comes down to; `None` of a kind without one operating point: programs across
    /// an emulated path, and campaigns.
    pub fn of(document: &AnyDocument) -> Option<Self> {
        let essence = match document {
            AnyDocument::Measure(document) => of_measure(&document.body, &document.origin),
            AnyDocument::Tune(document) => of_tune(&document.body, &document.origin)?,
            AnyDocument::Demo(document) => of_demo(&document.body, &document.origin)?,
            AnyDocument::Simulate(document) => of_simulate(&document.body, &document.origin),
            AnyDocument::Characteristics(document) => {
                of_characteristics(&document.body, &document.origin)?
            }
            AnyDocument::Responsiveness(document) => {
                of_responsiveness(&document.body, &document.origin)?
            }
            AnyDocument::Copy(document) => of_copy(&document.body, &document.origin)?,
            _ => return None,
        };
        Some(essence)
    }

    pub(super) fn new(schema: Schema, origin: &Origin, target: Target, outcome: Outcome) -> Self {
        Essence {
            schema,
            created: origin.created.clone(),
            trunkline_version: origin.trunkline_version.clone(),
            host: origin.host.name.clone(),
            kernel: origin.host.kernel.clone(),
            target: Target {
                limits: None,
                punctuality: None,
                ..target
            },
            objective: None,
            cut_because: None,
            outcome,
            samples: Vec::new(),
        }
    }
}

fn of_measure(body: &Measure, origin: &Origin) -> Essence {
    let outcome = Outcome::from(&body.run);
    let sample = Tried {
        purpose: "measure".to_owned(),
        outcome: outcome.clone(),
    };
    Essence {
        samples: vec![sample],
        ..Essence::new(Schema::Measure, origin, body.target.clone(), outcome)
    }
}

/// `None` where the recommendation names a sample that is not there, and of a stopped search
/// without samples.
fn of_tune(body: &Tune, origin: &Origin) -> Option<Essence> {
    let outcome = match &body.answer {
        Some(answer) => recommended(answer, &body.recommended_sample()?.run),
        None => Outcome {
            limit: Some(STOPPED.to_owned()),
            ..best_seen(body)?
        },
    };
    let samples = body.samples.iter().map(|sample| Tried {
        purpose: super::rows::word(&sample.purpose),
        outcome: Outcome::from(&sample.run),
    });
    Some(Essence {
        objective: Some(body.objective.name().to_owned()),
        cut_because: body.cut_because.clone(),
        samples: samples.collect(),
        ..Essence::new(Schema::Tune, origin, body.target.clone(), outcome)
    })
}

/// What stands in place of a limit where a search was stopped: it found none.
const STOPPED: &str = "stopped";

fn recommended(answer: &Answer, run: &Run) -> Outcome {
    let recommended = &answer.recommended;
    Outcome {
        goodput_bits_per_second: recommended.goodput_bits_per_second,
        interval: recommended.interval,
        rtt_unloaded_seconds: recommended.rtt_unloaded_seconds,
        rtt_loaded_seconds: recommended.rtt_loaded_seconds,
        limit: Some(answer.limit.limit.name().to_owned()),
        ..Outcome::from(run)
    }
}

fn best_seen(body: &Tune) -> Option<Outcome> {
    let runs = body.samples.iter().map(|sample| &sample.run);
    runs.max_by_key(|run| run.goodput_bits_per_second)
        .map(Outcome::from)
}

/// The search of the demonstration, with the settings that stand beside it as samples before its
/// own.
fn of_demo(body: &Demo, origin: &Origin) -> Option<Essence> {
    let mut essence = of_tune(&body.tune, origin)?;
    let labelled = body.runs.iter().map(|labelled| Tried {
        purpose: labelled.label.clone(),
        outcome: Outcome::from(&labelled.run),
    });
    essence.samples = labelled.chain(essence.samples).collect();
    essence.schema = Schema::Demo;
    Some(essence)
}

fn of_simulate(body: &Simulate, origin: &Origin) -> Essence {
    let seed = |run: &SimulatedRun| Tried {
        purpose: format!("seed {}", run.seed),
        outcome: of_seed(body, run),
    };
    let target = Target {
        name: format!("sim:{}", body.path.name),
        kind: Kind::Simulated,
        limits: None,
        path_digest: Some(Path::digest(&body.path)),
        punctuality: None,
    };
    Essence {
        samples: body.runs.iter().map(seed).collect(),
        ..Essence::new(Schema::Simulate, origin, target, of_seeds(body))
    }
}

/// All seeds together, with the interval that they give.
fn of_seeds(body: &Simulate) -> Outcome {
    let rates = body.runs.iter();
    let rates: Vec<f64> = rates
        .map(|run| run.goodput_bits_per_second as f64)
        .collect();
    let mean = stats::Mean::of_repeats(&rates);
    Outcome {
        setting: simulated_point(body),
        goodput_bits_per_second: body.figures.aggregate.goodput_bits_per_second,
        interval: mean.and_then(|mean| mean.interval()).map(interval),
        degrees_of_freedom: mean.map(|mean| mean.degrees),
        rtt_unloaded_seconds: None,
        rtt_loaded_seconds: body.figures.rtt.map(|rtt| rtt.mean_seconds),
        retransmitted_ratio: None,
        limit: None,
    }
}

fn of_seed(body: &Simulate, run: &SimulatedRun) -> Outcome {
    Outcome {
        goodput_bits_per_second: run.goodput_bits_per_second,
        interval: None,
        degrees_of_freedom: None,
        rtt_loaded_seconds: run.rtt.map(|rtt| rtt.mean_seconds),
        ..of_seeds(body)
    }
}

fn simulated_point(body: &Simulate) -> Point {
    Point {
        transport: Transport::Tcp,
        streams: body.setting.streams,
        window: body.setting.window,
        direction: Direction::Forward,
        congestion: Some(body.setting.variant.clone()),
        pacing: None,
        mss: None,
    }
}

fn interval(interval: stats::Interval<f64>) -> Interval {
    // A rate below zero is none.
    let rate = |rate: f64| Rate::from_f64(rate.max(0.0));
    Interval {
        low: rate(interval.low),
        high: rate(interval.high),
        confidence: interval.confidence,
    }
}

impl From<&Run> for Outcome {
    fn from(run: &Run) -> Self {
        let idle = run.rtt.unloaded.as_ref();
        Outcome {
            setting: Point::from(&run.setting),
            goodput_bits_per_second: run.goodput_bits_per_second,
            interval: run.interval,
            degrees_of_freedom: run.interval.map(|_| stats::BATCH_DEGREES),
            rtt_unloaded_seconds: idle.and_then(|series| series.mean_seconds),
            rtt_loaded_seconds: run.rtt_loaded_seconds(),
            retransmitted_ratio: run.retransmitted_ratio(),
            limit: run.limit().map(|limit| limit.name().to_owned()),
        }
    }
}

impl Outcome {
    /// The goodput as it is compared: with its standard error, where it has an interval.
    pub fn mean(&self) -> Option<stats::Mean> {
        let value = self.goodput_bits_per_second as f64;
        // The lower end may have been cut off at zero.
        let half_width = self.interval?.high.as_f64() - value;
        stats::Mean::from_interval(value, half_width, self.degrees_of_freedom?)
    }
}

impl From<&crate::Setting> for Point {
    fn from(setting: &crate::Setting) -> Self {
        Point {
            transport: setting.transport,
            streams: setting.streams.get().into(),
            window: setting.window,
            direction: setting.direction,
            congestion: setting.congestion.clone(),
            pacing: setting.pacing,
            mss: setting.mss,
        }
    }
}
