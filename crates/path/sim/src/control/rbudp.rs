//! A sender that keeps the rate that it was given, after RBUDP (He, Leigh, Yu, DeFanti, "Reliable
//! Blast UDP: predictable high performance bulk data transfer", IEEE Cluster 2002).
//!
//! What is taken from there: all data goes at one rate that the user chose, whatever is lost, and
//! what is missing goes again at that rate. What is not: the list of what is missing comes with the
//! acknowledgements of TCP and not after all was sent once, so that repairs go between new data.
//! The user's rate is the path's over the streams, or the bound on a stream where one is set.

use units::Rate;

use super::{Facts, Window};

/// Sends at its rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rbudp {
    rate: Rate,
}

impl Rbudp {
    pub(crate) fn new(facts: &Facts) -> Self {
        Rbudp { rate: facts.share }
    }

    pub(crate) fn pacing(&self) -> Rate {
        self.rate
    }

    /// No window: the receiver's alone limits what is outstanding.
    pub(crate) fn open(window: &mut Window) {
        window.size = f64::from(u32::MAX);
        window.threshold = 0.0;
    }
}
