//! From readings to figures: the steady window, goodput with its interval, what the kernels said.

mod summary;

pub use summary::{
    DirectionSummary, Goodput, RateInterval, Steadiness, SteadyWindow, StreamGoodput, Summary,
    TcpSummary,
};
