//! Delays each way, and when nothing can be said of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// What packets each way showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneWay {
    /// Towards the far host.
    pub forward: WayDelay,
    /// Back from it.
    pub reverse: WayDelay,
    /// The most by which the clocks of both hosts together are off; absent where one is not kept
    /// right, or does not tell.
    #[serde(
        rename = "clock_error_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub clock_error: Option<Span>,
}

/// What packets one way showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WayDelay {
    /// How many were sent.
    pub sent: u32,
    /// How many did not arrive.
    pub lost: u32,
    /// The 95th percentile of the delays above the shortest, to which it does not matter what time
    /// the clocks have; absent where nothing arrived.
    #[serde(
        rename = "variation_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub variation: Option<Span>,
    /// The median delay.
    pub delay: Delay,
}

impl WayDelay {
    /// The share that did not arrive; `None` where none was sent.
    pub fn loss(&self) -> Option<f64> {
        (self.sent > 0).then(|| f64::from(self.lost.min(self.sent)) / f64::from(self.sent))
    }
}

/// A delay by two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// In seconds, off by the error of the clocks at the most.
    Seconds(Span),
    /// Nothing can be said.
    Unknown(Unknown),
}

impl Delay {
    /// Where it is known.
    pub fn known(self) -> Option<Span> {
        match self {
            Delay::Seconds(delay) => Some(delay),
            Delay::Unknown(_) => None,
        }
    }
}

/// Why nothing can be said of a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// The far end stamps no packets, or none could be sent.
    NotStamped,
    /// No packet arrived.
    NothingArrived,
    /// The far end does not say what its clock shows.
    FarTellsNoTime,
    /// Nothing keeps the clock of the near host right.
    NearClock,
    /// Nothing keeps the clock of the far host right.
    FarClock,
    /// The clocks may be further off than the delays vary.
    ClockError,
    /// Packets arrived before they left: a clock is further off than it says.
    BelowZero,
}

impl Unknown {
    /// In words, as a part of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Unknown::NotStamped => "the far end stamps no packets",
            Unknown::NothingArrived => "no packet arrived",
            Unknown::FarTellsNoTime => "the far end does not tell the time of its clock",
            Unknown::NearClock => "nothing such as chrony keeps the near host's clock right",
            Unknown::FarClock => "nothing such as chrony keeps the far host's clock right",
            Unknown::ClockError => "the clocks may be further off than the delays vary",
            Unknown::BelowZero => "packets arrived before they left, by clocks that are off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_said_and_not_a_number() {
        let way = |delay| WayDelay {
            sent: 40,
            lost: 1,
            variation: Some(Span::from_micros(300)),
            delay,
        };
        let one_way = OneWay {
            forward: way(Delay::Seconds(Span::from_millis(12))),
            reverse: way(Delay::Unknown(Unknown::ClockError)),
            clock_error: Some(Span::from_micros(500)),
        };
        let json = serde_json::to_string(&one_way).unwrap();
        assert!(json.contains(r#""delay":{"seconds":0.012}"#), "{json}");
        assert!(
            json.contains(r#""delay":{"unknown":"clock-error"}"#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<OneWay>(&json).unwrap(), one_way);
        assert_eq!(one_way.forward.loss(), Some(0.025));
    }
}
