//! The figures by which a document is listed and compared.

use schemars::JsonSchema;
use serde::Serialize;
use units::Rate;

use record::{Direction, Interval, Origin, Run, Schema, Target, Transport, Window};

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

/// One point of the space of settings. Unlike in [`record::Setting`], a simulation may have any
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

impl From<&record::Setting> for Point {
    fn from(setting: &record::Setting) -> Self {
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

/// A kept document with its number.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// The number under which it is found.
    pub id: i64,
    /// What it comes down to.
    #[serde(flatten)]
    pub essence: Essence,
}
