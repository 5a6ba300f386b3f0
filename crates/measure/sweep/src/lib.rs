//! Grids of settings measured in cycles, and what they show.
//!
//! A sweep visits every setting of a grid many times, in shuffled order, and measures the idle path
//! and the loaded one each time: Cottrell's measurement cycle of 2000-2001. What it shows is told
//! with medians and quartiles, because cells scatter.
//!
//! Left out: where cells are kept and how they are drawn, which `record` and `report` do.
//!
//! Reading order: [`SweepPlan`] and [`Grid`] for what is visited, `order.rs` for the order,
//! [`run()`] for how it is done, [`Ledger`] for how far it is; [`Cell`] and [`CellFigures`] for
//! what one visit showed, [`sharing`] for how its streams shared, [`analysis`](mod@analysis) for
//! what all of them show, [`compare()`] for two sweeps.

pub mod analysis;
mod cell;
mod compare;
mod estimate;
mod figures;
mod order;
mod plan;
mod run;
pub mod sharing;

pub use analysis::{
    Curve, DirectionAnalysis, DirectionsApart, Distribution, DurationFigures, ExponentialFit, Knee,
    LineFit, Linear, LoadFit, LogarithmFit, OperatingPoint, Product, RateShift, RateSpread,
    RatioSpread, RecommendedPoint, SettingFigures, Starvation, SweepAnalysis, TimeShift,
    TimeSpread, analyse,
};
pub use cell::{Cell, CellFigures, Outcome, RoundTripFigures, StreamFigures};
pub use compare::{DirectionChange, SettingChange, SweepChange, compare};
pub use estimate::{Done, Ledger};
pub use order::{Visit, VisitKey, turns};
pub use plan::{Grid, GridError, LeftOut, SweepPlan, VISITS_MAX, WINDOW_MIN, Windows};
pub use run::{
    FAILED_AT_FIRST, FAILED_IN_A_ROW, Finished, KEEP_RETRIES, KeepError, Keeper, Measured, RETRIES,
    SweepError, SweepObserver, run,
};
