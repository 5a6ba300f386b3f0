//! Throughput models of TCP: response functions, curves over streams, and rules that choose.
//!
//! Everything is a pure function from what a path is like (round-trip time, loss, windows) or from
//! what was measured on it to a rate or a choice.
//!
//! Left out, and what that costs:
//! - The models of one stream take loss and round-trip time as given. A stream that fills the
//!   bottleneck causes both itself; there the formulas only bound the rate, and
//!   [`Bottleneck::equilibrium`] answers.
//! - Loss is counted as events for each packet, independent of one another. Bursts count once, so
//!   the ratio of lost packets on a bursty path is larger than the `loss` meant here and would
//!   predict too little.
//! - Slow start is not described: curves and the equilibrium are about streams that
//!   have left it.
//!
//! Reading order: `conditions.rs` for the inputs; one stream in `response.rs`, `mathis.rs`,
//! `pftk.rs`, `window.rs`, `buffer.rs`; several by formula in `streams.rs`, as
//! solution of all at once in `equilibrium.rs`, fitted to measurements in `curve.rs`; then
//! `selection.rs` and `rank.rs` for which samples and which form, and `objective.rs` and
//! `choose.rs`. `linear.rs` and `root.rs` solve equations.

mod buffer;
mod choose;
mod conditions;
mod curve;
mod equilibrium;
mod linear;
mod mathis;
mod objective;
mod pftk;
mod rank;
mod response;
mod root;
mod selection;
mod streams;
mod window;

pub use buffer::{BufferRule, PathFacts};
pub use choose::{
    Candidate, Choice, ChoiceError, Cost, EQUAL, KNEE_FRACTION, Reason, Rule, choose,
};
pub use conditions::{Acks, Conditions};
pub use curve::{Curve, CurveError, Fit, Form};
pub use equilibrium::{Binds, Bottleneck, Control, Equilibrium, Flows};
pub use mathis::{loss_by_mathis, mathis_with_window};
pub use objective::Objective;
pub use pftk::pftk;
pub use rank::{LeftOut, Ranked, Spread, rank};
pub use response::Response;
pub use selection::{BestCombination, CombinationError, best_combination, exp_selection};
pub use streams::{altman_utilisation, hacker};
pub use window::{bandwidth_delay_product, window_limited};
