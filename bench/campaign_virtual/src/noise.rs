//! How much a rate differs from one second to the next, as the packet simulator has it.
//!
//! A first-order autoregressive process around the formula's rate. Its sizes are those that
//! `campaign-virtual noise` measures with 1 to 120 streams on named and drawn paths: of a link that
//! is full, drawn for each link from what those paths have.

use units::Span;

use crate::random::Random;

/// A process whose deviation is this over the root of the number of streams, as a share of the
/// rate.
#[derive(Debug, Clone, Copy)]
struct Size {
    deviation: f64,
    /// Correlation of one second with the next.
    next: f64,
}

/// While a link is not full: streams go up and down by themselves.
const FREE: Size = Size {
    deviation: 0.37,
    next: 0.88,
};
/// While it is full: the geometric mean over paths and numbers of streams.
const FULL: Size = Size {
    deviation: 0.096,
    next: 0.53,
};
/// Standard deviation of the logarithm of a path's geometric mean, among paths.
const AMONG_PATHS: f64 = 0.49;

/// The noise of one link.
#[derive(Debug, Clone)]
pub struct Noise {
    random: Random,
    full: Size,
    /// Standard deviations from the mean.
    now: f64,
}

impl Noise {
    pub fn new(mut random: Random) -> Self {
        let deviation = FULL.deviation * libm::exp(AMONG_PATHS * random.normal());
        let full = Size { deviation, ..FULL };
        Noise {
            random,
            full,
            now: 0.0,
        }
    }

    /// What the rate of an interval of this length is multiplied with.
    pub fn factor(&mut self, length: Span, streams: f64, is_full: bool) -> f64 {
        let size = if is_full { self.full } else { FREE };
        let seconds = length.as_secs_f64();
        let kept = libm::pow(size.next, seconds);
        self.now = kept * self.now + libm::sqrt(1.0 - kept * kept) * self.random.normal();
        // Of many seconds that hang together, the mean differs less.
        let together = (1.0 + size.next) / (1.0 - size.next);
        let mean = libm::sqrt(together / seconds).min(1.0);
        let deviation = size.deviation / libm::sqrt(streams.max(1.0));
        (1.0 + deviation * mean * self.now).max(0.0)
    }
}
