//! Throughput models of TCP: response functions, curves over streams, and rules that choose.
//!
//! Everything is a pure function from what a path is like (round-trip time, loss, windows) or from
//! what was measured on it to a rate or a choice.
//!
//! Left out, and what that costs:
//! - The models of one stream take loss and round-trip time as given. A stream that fills the
//!   bottleneck causes both itself; there the formulas only bound the rate.
//! - Loss is counted as events for each packet, independent of one another. Bursts count once, so the ratio
//!   of lost packets on a bursty path is larger than the `loss` meant here and would predict too little.
//! - Curves with an interior peak (full second order, Newton) are not fitted; a path whose
//!   throughput falls with more streams is left to the rule over measured points.
//!
//! Reading order: `conditions.rs` for the inputs; one stream in `response.rs`, `mathis.rs`, `pftk.rs`,
//! `window.rs`, `slow_start.rs`; several in `streams.rs` and `curve.rs`; then `choose.rs`.

mod choose;
mod conditions;
mod curve;
mod mathis;
mod pftk;
mod response;
mod root;
mod selection;
mod slow_start;
mod streams;
mod window;

pub use choose::{Candidate, ChoiceError, KNEE_FRACTION, Objective, choose};
pub use conditions::{Acks, Conditions};
pub use curve::{Curve, CurveError, Form};
pub use mathis::{loss_by_mathis, mathis_with_window};
pub use pftk::pftk;
pub use response::Response;
pub use selection::{BestCombination, CombinationError, best_combination, exp_selection};
pub use slow_start::{Ramp, SlowStart};
pub use streams::{altman_utilisation, hacker};
pub use window::{bandwidth_delay_product, window_limited};
