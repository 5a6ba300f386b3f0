//! Loss on the wire.

/// Loss on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each packet alone, with this probability.
    Random {
        /// Probability that a packet is lost.
        rate: f64,
    },
    /// Bursts: a good and a bad state, changed before each packet (Gilbert 1960, Elliott 1963).
    ///
    /// With `loss_bad` 1 and `loss_good` 0 the loss rate is `enter / (enter + leave)` and a burst
    /// lasts `1 / leave` packets on average.
    GilbertElliott {
        /// Probability of going from good to bad.
        enter: f64,
        /// Probability of going from bad to good.
        leave: f64,
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64,
        /// Probability that a packet is lost in the good state.
        loss_good: f64,
    },
}

impl Loss {
    /// The long-run share of packets that are lost.
    ///
    /// ```
    /// # use netpath::Loss;
    /// let bursty = Loss::GilbertElliott { enter: 0.01, leave: 0.24, loss_bad: 1.0, loss_good: 0.0 };
    /// // 0.01 / (0.01 + 0.24) = 4 % of the time in the bad state.
    /// assert!((bursty.mean_rate() - 0.04).abs() < 1e-12);
    /// ```
    pub fn mean_rate(&self) -> f64 {
        match *self {
            Loss::None => 0.0,
            Loss::Random { rate } => rate,
            Loss::GilbertElliott {
                enter,
                leave,
                loss_bad,
                loss_good,
            } => {
                let bad = enter / (enter + leave);
                bad * loss_bad + (1.0 - bad) * loss_good
            }
        }
    }
}
