//! What a visit can be asked for.
//!
//! A document may come from a stranger: what no path can show (a negative round trip, a share above
//! one, what is not a number) counts as not known.

use record::sweep::{CellFigures, RoundTripFigures};

/// One figure of a visit.
pub struct Metric {
    /// What it is called on an axis.
    pub title: &'static str,
    /// What it is in.
    pub scale: Scale,
    /// Its value in base units.
    pub of: fn(&CellFigures) -> Option<f64>,
    /// How several visits are told.
    pub middle: Middle,
}

/// What stands for several visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Middle {
    /// Their median, with quartiles.
    Median,
    /// Their mean: of what is zero in most of them the median tells nothing.
    Mean,
    /// Their standard deviation by their mean, of three visits or more.
    Scatter,
}

/// What the numbers of an axis are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Bits per second.
    Rate,
    /// Seconds, shown as milliseconds.
    Time,
    /// A share, shown in percent.
    Share,
    /// A plain number.
    Number,
    /// Shares of a processor for each bit per second, shown in percent for each Mbit/s.
    ShareOfRate,
}

const fn metric(title: &'static str, scale: Scale, of: fn(&CellFigures) -> Option<f64>) -> Metric {
    Metric {
        title,
        scale,
        of,
        middle: Middle::Median,
    }
}

/// What arrived.
pub const GOODPUT: Metric = metric("goodput", Scale::Rate, goodput);
/// How much it varies between the visits of a setting.
pub const GOODPUT_SCATTER: Metric = Metric {
    title: "CV of goodput",
    scale: Scale::Share,
    of: goodput,
    middle: Middle::Scatter,
};
/// Mean round trip beside the streams less the idle one's.
pub const ADDED_DELAY: Metric = metric("dRTT", Scale::Time, added_delay);
/// Share of the bytes resent.
pub const SENT_AGAIN: Metric = metric("resent", Scale::Share, |f| share(f.retransmitted_ratio?));
/// Share of the loaded probes without an answer.
pub const PROBES_LOST: Metric = Metric {
    title: "probes lost",
    scale: Scale::Share,
    of: |figures| share(figures.rtt_loaded?.loss),
    middle: Middle::Mean,
};
/// One less the smallest over the mean round trip, beside the streams.
pub const VARIABILITY_LOADED: Metric =
    metric("RV, loaded", Scale::Share, |f| variability(f.rtt_loaded?));
/// The same of the idle path.
pub const VARIABILITY_IDLE: Metric = metric("RV, unloaded", Scale::Share, |f| {
    variability(f.rtt_unloaded?)
});
/// Mean round trip of the idle path.
pub const IDLE: Metric = metric("unloaded RTT", Scale::Time, |f| time(f.rtt_unloaded?.mean));
/// Mean round trip beside the streams.
pub const LOADED: Metric = metric("loaded RTT", Scale::Time, |f| time(f.rtt_loaded?.mean));
/// Median round trip beside the streams less the shortest of the idle path.
pub const LOADED_MEDIAN: Metric = metric("median RTT added", Scale::Time, |f| {
    Some(time(f.rtt_loaded?.median)? - time(f.rtt_unloaded?.min)?)
});
/// Distance of the quartiles of the round trips beside the streams.
pub const LOADED_RANGE: Metric = metric("IQR of RTT", Scale::Time, |f| {
    let trips = f.rtt_loaded?;
    time(time(trips.quartile3)? - time(trips.quartile1)?)
});
/// Processor time in the program.
pub const USER: Metric = metric("user", Scale::Share, |f| processors(f.cpu_user_ratio?));
/// Processor time in the kernel.
pub const KERNEL: Metric = metric("kernel", Scale::Share, |f| processors(f.cpu_kernel_ratio?));
/// Processor time of the far end's program, where it said so.
pub const FAR_USER: Metric = metric("far user", Scale::Share, |f| {
    processors(f.cpu_far_user_ratio?)
});
/// The same in its kernel.
pub const FAR_KERNEL: Metric = metric("far kernel", Scale::Share, |f| {
    processors(f.cpu_far_kernel_ratio?)
});
/// Processor time of both over what arrived.
pub const COST: Metric = metric("both", Scale::ShareOfRate, cost);
/// How evenly the streams shared.
pub const FAIRNESS: Metric = metric("Jain's index", Scale::Number, CellFigures::fairness);
/// Visits in which a stream got less than half of its fair share.
pub const STARVED: Metric = Metric {
    title: "starved",
    scale: Scale::Share,
    of: starved,
    middle: Middle::Mean,
};

impl Scale {
    /// The unit's name and what one of it is in base units, so that `top` reads well.
    pub fn unit(self, top: f64) -> (&'static str, f64) {
        match self {
            Scale::Rate => {
                let unit = draw::format::RateUnit::fitting(top);
                (unit.name, unit.factor)
            }
            Scale::Time => ("ms", 1e-3),
            Scale::Share => ("%", 1e-2),
            Scale::Number => ("", 1.0),
            Scale::ShareOfRate => ("% per Mbit/s", 1e-8),
        }
    }
}

/// A day: no round trip is longer.
const LONGEST_SECONDS: f64 = 86_400.0;
/// More processors than any host has.
const PROCESSORS_MAX: f64 = 1e5;

fn within(value: f64, low: f64, high: f64) -> Option<f64> {
    (low..=high).contains(&value).then_some(value)
}

fn time(seconds: f64) -> Option<f64> {
    within(seconds, 0.0, LONGEST_SECONDS)
}

fn share(value: f64) -> Option<f64> {
    within(value, 0.0, 1.0)
}

fn processors(value: f64) -> Option<f64> {
    within(value, 0.0, PROCESSORS_MAX)
}

fn goodput(figures: &CellFigures) -> Option<f64> {
    Some(figures.goodput_bits_per_second as f64)
}

fn added_delay(figures: &CellFigures) -> Option<f64> {
    Some((LOADED.of)(figures)? - (IDLE.of)(figures)?)
}

fn variability(figures: RoundTripFigures) -> Option<f64> {
    let (min, mean) = (time(figures.min)?, time(figures.mean)?);
    (mean > 0.0).then(|| 1.0 - min / mean).and_then(share)
}

fn cost(figures: &CellFigures) -> Option<f64> {
    let both = (USER.of)(figures)? + (KERNEL.of)(figures)?;
    (figures.goodput_bits_per_second > 0).then(|| both / figures.goodput_bits_per_second as f64)
}

fn starved(figures: &CellFigures) -> Option<f64> {
    Some(f64::from(figures.starved()? > 0))
}
