//! What the analysis of a sweep consists of. Rates are in bits per second, times in seconds, shares
//! from 0 to 1.

use observe::{Direction, Limit, Setting};
use stats::{Exponential, Frequencies, Interval, Line, Logarithm, Shift, Spread};

/// What a sweep shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Each setting, ordered by direction, congestion control, window and streams.
    pub settings: Vec<SettingFigures>,
    /// Each direction that was visited, forward first.
    pub directions: Vec<DirectionAnalysis>,
    /// How forward and reverse differ; absent unless both were measured.
    pub directions_apart: Option<DirectionsApart>,
}

/// One setting over all its visits. A figure that no visit has is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingFigures {
    /// What was asked for.
    pub setting: Setting,
    /// Visits that were measured.
    pub visits: usize,
    /// Visits that failed.
    pub failures: usize,
    /// Goodput of all streams together.
    pub goodput: Option<Spread>,
    /// The visits' median round trips of the idle path.
    pub rtt_unloaded: Option<Spread>,
    /// The same beside the streams.
    pub rtt_loaded: Option<Spread>,
    /// dRTT: a visit's mean loaded round trip less its mean unloaded one.
    pub rtt_added: Option<Spread>,
    /// RV of the idle path: one less the smallest over the mean round trip of a visit.
    pub variability_unloaded: Option<Spread>,
    /// The same beside the streams.
    pub variability_loaded: Option<Spread>,
    /// Mean share of the probes of the idle path without an answer.
    pub probe_loss_unloaded: Option<f64>,
    /// The same beside the streams.
    pub probe_loss_loaded: Option<f64>,
    /// Share of the bytes sent again.
    pub retransmitted: Option<Spread>,
    /// Jain's index over the streams; absent of a single one.
    pub fairness: Option<Spread>,
    /// Streams below half their fair share; absent of a single stream.
    pub starvation: Option<Starvation>,
    /// Whether streams lost at the same times.
    pub losses_together: Option<Together>,
    /// This end's process in the program, as a share of one processor.
    pub cpu_user: Option<Spread>,
    /// The same in the kernel on its behalf.
    pub cpu_kernel: Option<Spread>,
    /// What limited most visits.
    pub limit: Option<Limit>,
}

/// Streams that got less than half of their fair share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Starvation {
    /// Share of the visits with one or more.
    pub visits: f64,
    /// Their mean number in a visit.
    pub streams: f64,
}

/// Medians over the visits with losses, see [`crate::sharing`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Together {
    /// Share of the moments with losses in which half of the streams or more lost.
    pub share: f64,
    /// The same if streams lost independently; absent where it was not computed.
    pub by_chance: Option<f64>,
}

/// What the visits of one direction show together.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionAnalysis {
    /// Which way.
    pub direction: Direction,
    /// Throughput against streams, for each window.
    pub curves: Vec<Curve>,
    /// The setting with the highest median goodput.
    pub highest: Option<OperatingPoint>,
    /// The setting with the least dRTT per throughput.
    pub gentlest: Option<OperatingPoint>,
    /// The setting to use.
    pub recommended: Option<Recommendation>,
    /// RV of the idle path, over all visits.
    pub variability_unloaded: Option<Distribution>,
    /// RV beside the streams, over all visits.
    pub variability_loaded: Option<Distribution>,
    /// RV against dRTT in seconds, over all visits: whether both tell the same.
    pub variability_against_added: Option<Fit>,
    /// Share of a processor against goodput in bit/s, over all visits.
    pub cpu_against_goodput: Option<Fit>,
    /// Median of kernel over user time.
    pub kernel_to_user: Option<f64>,
    /// Processor time against streams, where streams times window stayed the same.
    pub products: Vec<Product>,
    /// Interquartile range of the loaded round trips in seconds against `1 / (1 - L)`, over
    /// settings.
    pub rtt_spread_against_load: Option<LoadFit>,
    /// Goodput against the length of a visit; empty unless there were several lengths.
    pub durations: Vec<DurationFigures>,
    /// Jain's index over the streams, over all visits with several.
    pub fairness: Option<Spread>,
}

/// A straight line through points. Units are those of what it is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Change of y for each unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// Share of the variation of y that the line accounts for; absent where y does not vary.
    pub r_squared: Option<f64>,
    /// Points behind it.
    pub count: usize,
}

impl Fit {
    pub(crate) fn of(line: Line, count: usize) -> Self {
        Fit {
            slope: line.slope,
            intercept: line.intercept,
            r_squared: line.r_squared,
            count,
        }
    }
}

/// Throughput against streams with one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The setting with the fewest streams, which all others share but for the streams.
    pub setting: Setting,
    /// The numbers of streams with a goodput, ascending.
    pub streams: Vec<u16>,
    /// Where it grows in proportion; absent below three numbers of streams that do.
    pub linear: Option<Linear>,
    /// The fewest streams that carry 90 % of the most of this window.
    pub knee: Option<Knee>,
    /// The number of streams with the least dRTT per throughput.
    pub gentlest_streams: Option<u16>,
}

/// The part of a curve that grows in proportion to the streams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    /// The last number of streams on it.
    pub until_streams: u16,
    /// Whether more streams were visited and stayed below it.
    pub ends: bool,
    /// Goodput in bit/s against streams, through all visits up to there.
    pub fit: Fit,
}

/// The fewest streams that carry a share of the highest goodput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// How many.
    pub streams: u16,
    /// Where it lies when the cycles are drawn anew; absent below five cycles.
    pub interval: Option<Interval<u16>>,
    /// The share of the highest, 0.9.
    pub share: f64,
    /// Median goodput there.
    pub goodput: f64,
    /// The highest median goodput of the window.
    pub highest: f64,
    /// Whether the curve ends before it bends: it grows in proportion to its last number of
    /// streams, or only that one carries the share. More streams may carry more.
    pub at_edge: bool,
}

/// A setting with the figures by which settings are chosen: medians.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatingPoint {
    /// The setting.
    pub setting: Setting,
    /// Goodput.
    pub goodput: Spread,
    /// dRTT.
    pub rtt_added: Option<f64>,
    /// Share of the bytes sent again.
    pub retransmitted: Option<f64>,
    /// Jain's index.
    pub fairness: Option<f64>,
    /// Streams below half their fair share.
    pub starvation: Option<Starvation>,
}

/// The setting to use: near the top of the knee.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// It.
    pub at: OperatingPoint,
    /// Its goodput as a share of the highest.
    pub share_of_highest: f64,
    /// Settings that were passed over since streams starve there.
    pub passed_over: usize,
}

/// How a share scatters over all visits of a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Median and quartiles.
    pub spread: Spread,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Share of the visits with 10 % or less.
    pub at_most_tenth: f64,
    /// Visits in bins.
    pub frequencies: Option<Frequencies>,
    /// Share of the visits in a bin against its middle.
    pub exponential: Option<Exponential>,
    /// Share of the visits that are no larger, against the value.
    pub logarithm: Option<Logarithm>,
}

/// Processor time against streams where streams times window is one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Streams times window, in bytes.
    pub bytes: f64,
    /// The numbers of streams, ascending.
    pub streams: Vec<u16>,
    /// Kernel time as a share of one processor against streams, over all visits.
    pub kernel: Option<Fit>,
    /// User time likewise.
    pub user: Option<Fit>,
}

/// A line through `1 / (1 - L)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadFit {
    /// The line.
    pub fit: Fit,
    /// What L is a share of: the highest goodput of any visit.
    pub reference: f64,
    /// The largest L that counts.
    pub load_max: f64,
}

/// Visits of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DurationFigures {
    /// The length, to the second.
    pub duration: f64,
    /// Goodput as a share of the median of its setting over all lengths.
    pub relative_goodput: Spread,
}

/// Forward and reverse compared, each at its setting with the highest goodput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectionsApart {
    /// Median goodput forward.
    pub forward: f64,
    /// Median goodput reverse.
    pub reverse: f64,
    /// Reverse less forward.
    pub shift: Shift,
}
