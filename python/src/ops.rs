//! Operations: what was asked for is read on the caller's thread, the rest happens on its own.

mod copy;
mod formulas;
mod live;
mod simulate;
mod sweep;
mod verify;

pub use copy::start_copy;
pub use formulas::{start_fit, start_predict};
pub use live::{start_examine, start_measure, start_responsiveness, start_tune};
pub use simulate::start_simulate;
pub use sweep::start_sweep;
pub use verify::start_verify;
