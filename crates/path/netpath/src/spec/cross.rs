//! The traffic of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use super::Class;

/// A group of others on the forward link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cross {
    /// What they send.
    #[serde(flatten)]
    pub traffic: CrossTraffic,
    /// Congestion control of its TCP streams by its kernel name; `None` for that of the hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The class its packets ask for.
    pub class: Class,
    /// Added to the delay of the path for this group, once in each direction.
    #[serde(rename = "extra_delay_seconds")]
    pub extra_delay: Span,
}

/// What a group of others sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CrossTraffic {
    /// TCP streams that send for ever.
    Streams {
        /// How many.
        streams: u16,
        /// Socket buffer of each.
        #[serde(rename = "window_bytes")]
        window: Bytes,
    },
    /// Datagrams at a constant rate while a source is on; on and off periods are exponential.
    OnOff {
        /// How many sources.
        sources: u16,
        /// Rate of each while it is on, of whole IP packets.
        #[serde(rename = "rate_bits_per_second")]
        rate: Rate,
        /// Mean length of the periods in which a source sends.
        #[serde(rename = "on_seconds")]
        on: Span,
        /// Mean length of the periods in which it is silent.
        #[serde(rename = "off_seconds")]
        off: Span,
    },
    /// TCP transfers that begin at random, a Poisson process, and have sizes from a Pareto
    /// distribution: what a web server sends.
    Transfers {
        /// How many begin in a second, on average.
        #[serde(rename = "transfers_per_second")]
        per_second: f64,
        /// Mean size.
        #[serde(rename = "mean_size_bytes")]
        mean_size: Bytes,
        /// Shape of the distribution, above 1; the closer to 1, the more of the bytes are in few
        /// large transfers.
        shape: f64,
        /// Socket buffer of each.
        #[serde(rename = "window_bytes")]
        window: Bytes,
    },
}

impl CrossTraffic {
    /// The kind's name in path files.
    pub fn kind(&self) -> &'static str {
        match self {
            CrossTraffic::Streams { .. } => "streams",
            CrossTraffic::OnOff { .. } => "on-off",
            CrossTraffic::Transfers { .. } => "transfers",
        }
    }

    /// The socket buffers of what goes over TCP; `None` of datagrams.
    pub fn window(&self) -> Option<Bytes> {
        match *self {
            CrossTraffic::Streams { window, .. } | CrossTraffic::Transfers { window, .. } => {
                Some(window)
            }
            CrossTraffic::OnOff { .. } => None,
        }
    }

    /// Whether it is datagrams, which do not give way.
    pub fn is_datagrams(&self) -> bool {
        matches!(self, CrossTraffic::OnOff { .. })
    }

    /// The rate that is offered on average whatever the path carries; `None` of streams, which take
    /// what there is.
    ///
    /// ```
    /// use netpath::CrossTraffic;
    /// use units::{Rate, Span};
    /// let half_the_time = CrossTraffic::OnOff {
    ///     sources: 10,
    ///     rate: Rate::from_bits_per_second(2_000_000),
    ///     on: Span::from_millis(500),
    ///     off: Span::from_millis(500),
    /// };
    /// assert_eq!(half_the_time.mean_load().unwrap().to_string(), "10Mbit/s");
    /// ```
    pub fn mean_load(&self) -> Option<Rate> {
        match *self {
            CrossTraffic::Streams { .. } => None,
            CrossTraffic::OnOff {
                sources,
                rate,
                on,
                off,
            } => {
                let share = on.as_secs_f64() / (on + off).as_secs_f64();
                Some(Rate::from_f64(f64::from(sources) * rate.as_f64() * share))
            }
            CrossTraffic::Transfers {
                per_second,
                mean_size,
                ..
            } => Some(Rate::from_f64(per_second * mean_size.as_f64() * 8.0)),
        }
    }
}
