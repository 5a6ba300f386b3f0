//! Loss on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each packet alone, with this probability.
    Random {
        /// Probability that a packet is lost.
        #[serde(rename = "lost_ratio")]
        rate: f64,
    },
    /// Bursts: a good and a bad state, changed before each packet (Gilbert 1960, Elliott 1963).
    ///
    /// With `loss_bad` 1 and `loss_good` 0 the loss rate is `enter / (enter + leave)` and a burst
    /// lasts `1 / leave` packets on average.
    GilbertElliott {
        /// Probability of going from good to bad.
        #[serde(rename = "enter_ratio")]
        enter: f64,
        /// Probability of going from bad to good.
        #[serde(rename = "leave_ratio")]
        leave: f64,
        /// Probability that a packet is lost in the bad state.
        #[serde(rename = "lost_bad_ratio")]
        loss_bad: f64,
        /// Probability that a packet is lost in the good state.
        #[serde(rename = "lost_good_ratio")]
        loss_good: f64,
    },
}

impl Loss {
    /// Whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        *self == Loss::None
    }

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
