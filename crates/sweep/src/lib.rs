//! Grids of settings measured in cycles, and what they show.
//!
//! A sweep visits every setting of a grid many times, in shuffled order, and measures the idle path and the
//! loaded one each time: Cottrell's measurement cycle of 2000-2001. What it shows is told with medians and
//! quartiles, because cells scatter.
//!
//! Left out: where cells are kept and how they are drawn, which `record` and `report` do.
//!
//! Reading order: [`Cell`] and [`CellFigures`] for what one visit showed, [`sharing`] for how its streams shared,
//! [`analysis`](mod@analysis) for what all of them show,
//! [`compare()`] for two sweeps.

pub mod analysis;
mod cell;
mod compare;
pub mod sharing;

pub use analysis::{
    Analysis, Curve, DirectionAnalysis, DirectionsApart, Distribution, DurationFigures, Fit, Knee,
    Linear, LoadFit, OperatingPoint, Product, Recommendation, SettingFigures, Starvation, Together,
    analyse,
};
pub use cell::{Cell, CellFigures, Outcome, RoundTripFigures, StreamFigures};
pub use compare::{Change, DirectionChange, SettingChange, SweepChange, compare};
