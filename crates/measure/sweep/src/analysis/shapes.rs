//! What the analysis of a sweep consists of.

use observe::{Direction, Limit, Setting, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Exponential, Line, Logarithm};
use units::Bytes;

use super::quantities::{RateShift, RateSpread, RatioSpread, TimeSpread};

/// The analysis of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepAnalysis {
    /// Each setting, ordered by direction, congestion control, window and streams.
    pub settings: Vec<SettingFigures>,
    /// Each direction that was visited, forward first.
    pub directions: Vec<DirectionAnalysis>,
    /// How forward and reverse differ; absent unless both were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directions_apart: Option<DirectionsApart>,
}

/// One setting over all its visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingFigures {
    /// What was asked for.
    pub setting: Setting,
    /// Visits that were measured.
    pub visits: u64,
    /// Visits that failed.
    pub failures: u64,
    /// Goodput of all streams together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput: Option<RateSpread>,
    /// The visits' median round trips of the idle path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_unloaded: Option<TimeSpread>,
    /// The same beside the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_loaded: Option<TimeSpread>,
    /// dRTT: a visit's mean loaded round trip less its mean unloaded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added: Option<TimeSpread>,
    /// RV of the idle path: one less the smallest over the mean round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_variability_unloaded: Option<RatioSpread>,
    /// The same beside the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_variability_loaded: Option<RatioSpread>,
    /// RP of the idle path: one less the median RV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_predictability_unloaded_ratio: Option<f64>,
    /// The same beside the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_predictability_loaded_ratio: Option<f64>,
    /// Mean share of the probes of the idle path without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_loss_unloaded_ratio: Option<f64>,
    /// The same beside the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_loss_loaded_ratio: Option<f64>,
    /// Share of the bytes sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<RatioSpread>,
    /// Jain's index over the streams; absent of a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<RatioSpread>,
    /// Streams below half their fair share; absent of a single stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
    /// Median share of the moments with losses in which at least half of the streams lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses_together_ratio: Option<f64>,
    /// The same if streams lost independently of each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses_together_by_chance_ratio: Option<f64>,
    /// This end's process in the program, as a share of one processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_user: Option<RatioSpread>,
    /// The same in the kernel on its behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_kernel: Option<RatioSpread>,
    /// What limited most visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// Streams that got less than half of their fair share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Starvation {
    /// Share of the visits with one or more.
    pub visits_ratio: f64,
    /// Their mean number in a visit.
    pub streams_mean: f64,
}

/// What the visits of one direction show together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionAnalysis {
    /// Which way.
    pub direction: Direction,
    /// The setting to use: near the top of the knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<RecommendedPoint>,
    /// The setting with the highest median goodput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest: Option<OperatingPoint>,
    /// The setting with the least dRTT per throughput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentlest: Option<OperatingPoint>,
    /// Throughput against streams, for each window.
    pub curves: Vec<Curve>,
    /// RV of the idle path, over all visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_variability_unloaded: Option<Distribution>,
    /// RV beside the streams, over all visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_variability_loaded: Option<Distribution>,
    /// Loaded RV against dRTT in seconds, over all visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variability_against_added: Option<LineFit>,
    /// Share of one processor against goodput in bit/s, over all visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_against_goodput: Option<LineFit>,
    /// Median of kernel over user time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_to_user_ratio: Option<f64>,
    /// Processor time against streams, where streams times window stayed the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// Interquartile range of the loaded round trips in seconds against 1 / (1 - load), over
    /// settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_spread_against_load: Option<LoadFit>,
    /// Goodput against the length of a visit; absent unless there were several lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durations: Vec<DurationFigures>,
    /// Jain's index over all visits with several streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<RatioSpread>,
}

/// A straight line through points, in the units of what it is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LineFit {
    /// Change of y for each unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// Share of the variation of y that the line accounts for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
    /// Points behind it.
    pub count: u64,
}

impl LineFit {
    pub(crate) fn of(line: Line, count: usize) -> Self {
        LineFit {
            slope: line.slope,
            intercept: line.intercept,
            r_squared: line.r_squared,
            count: count as u64,
        }
    }
}

/// Throughput against streams with one window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// The window.
    pub window: Window,
    /// Congestion control that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The numbers of streams with a goodput, ascending.
    pub streams: Vec<u16>,
    /// Where it grows in proportion; absent below three numbers of streams that do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<Linear>,
    /// The fewest streams that carry 90 % of the most of this window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// The number of streams with the least dRTT per throughput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentlest_streams: Option<u16>,
}

/// The part of a curve that grows in proportion to the streams.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Linear {
    /// The last number of streams on it.
    pub until_streams: u16,
    /// Whether more streams were visited and stayed below it.
    pub ends: bool,
    /// Goodput in bit/s against streams, through all visits up to there.
    pub fit: LineFit,
}

/// The fewest streams that carry a share of the highest goodput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// How many.
    pub streams: u16,
    /// Lower end of where it lies when the cycles are drawn anew; absent with too few cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_streams: Option<u16>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_streams: Option<u16>,
    /// Confidence of that interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The share of the highest that makes the knee.
    pub share_ratio: f64,
    /// Median goodput there.
    pub goodput_bits_per_second: u64,
    /// The highest median goodput of the window.
    pub highest_bits_per_second: u64,
    /// Whether the curve ends before it bends, so that more streams may carry more.
    pub at_edge: bool,
}

/// A setting with the figures by which settings are chosen: medians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatingPoint {
    /// The setting.
    pub setting: Setting,
    /// The window as this host's kernel grants it: doubled, and cut by its limit; absent of
    /// automatic windows.
    #[serde(
        rename = "window_granted_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub window_granted: Option<Bytes>,
    /// Goodput.
    pub goodput: RateSpread,
    /// dRTT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added_seconds: Option<f64>,
    /// Share of the bytes sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<f64>,
    /// Jain's index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Streams below half their fair share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
}

/// The setting to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecommendedPoint {
    /// The setting and its figures.
    #[serde(flatten)]
    pub at: OperatingPoint,
    /// Its goodput as a share of the highest.
    pub share_of_highest_ratio: f64,
    /// Settings that were passed over since streams starve there.
    pub passed_over: u64,
}

/// How a share scatters over all visits of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Median and quartiles.
    #[serde(flatten)]
    pub spread: RatioSpread,
    /// Mean.
    pub mean_ratio: f64,
    /// Standard deviation.
    pub standard_deviation_ratio: f64,
    /// Share of the visits with 10 % or less.
    pub at_most_tenth_ratio: f64,
    /// Width of the bins, from zero on; absent where nothing scatters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin_width_ratio: Option<f64>,
    /// Visits in each bin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bin_counts: Vec<u64>,
    /// Share of the visits in a bin against its middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponential: Option<ExponentialFit>,
    /// Share of the visits that are no larger, against the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logarithm: Option<LogarithmFit>,
}

/// `y = height exp(-x / scale)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExponentialFit {
    /// y at x = 0.
    pub height_ratio: f64,
    /// Where y has fallen to 1/e.
    pub scale_ratio: f64,
    /// Share of the variation of ln y that the curve accounts for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
}

/// `y = slope ln x + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogarithmFit {
    /// Growth of y while x grows e-fold.
    pub slope: f64,
    /// y at x = 1.
    pub offset: f64,
    /// Share of the variation of y that the curve accounts for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
}

/// Processor time against streams where streams times window is one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Product {
    /// Streams times window.
    pub product_bytes: u64,
    /// The numbers of streams, ascending.
    pub streams: Vec<u16>,
    /// Kernel time as a share of one processor against streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<LineFit>,
    /// User time likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<LineFit>,
}

/// A line through 1 / (1 - load).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadFit {
    /// The line.
    #[serde(flatten)]
    pub fit: LineFit,
    /// What the load is a share of: the highest goodput of any visit.
    pub reference_bits_per_second: u64,
    /// Settings above this load are left out.
    pub load_max_ratio: f64,
}

/// Visits of one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurationFigures {
    /// The length, to the second.
    pub duration_seconds: f64,
    /// Goodput as a share of the median of its setting over all lengths.
    pub relative_goodput: RatioSpread,
}

/// Forward and reverse compared, each at its setting with the highest goodput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionsApart {
    /// Median goodput forward.
    pub forward_bits_per_second: u64,
    /// Median goodput reverse.
    pub reverse_bits_per_second: u64,
    /// Reverse less forward.
    pub shift: RateShift,
}

impl From<Exponential> for ExponentialFit {
    fn from(fit: Exponential) -> Self {
        ExponentialFit {
            height_ratio: fit.height,
            scale_ratio: fit.scale,
            r_squared: fit.r_squared,
        }
    }
}

impl From<Logarithm> for LogarithmFit {
    fn from(fit: Logarithm) -> Self {
        LogarithmFit {
            slope: fit.slope,
            offset: fit.offset,
            r_squared: fit.r_squared,
        }
    }
}
