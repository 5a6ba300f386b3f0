//! Traffic of others that shares one link and does not give way.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Rate};

/// Datagrams of others that enter right before a link and leave right behind it.
///
/// They take part in everything that happens there, wait, are dropped and lost like any packet of
/// the class best effort, but its senders do not slow down: an open loop. What they leave of the
/// link's rate is known, which makes a path with loads the yardstick of measurements of available
/// bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Rate on average, of whole IP packets.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// When they come.
    pub arrivals: Arrivals,
    /// How large they are; the shares sum to 1.
    pub packets: Vec<PacketShare>,
}

/// When the packets of a load come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// A Poisson process: gaps are exponential and independent.
    #[default]
    Poisson,
    /// Evenly: each packet comes when the one before would have been sent at the load's rate.
    Constant,
}

/// A size and how many of the packets have it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketShare {
    /// Size of the whole IP packet.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// Share of the packets, not of the bytes.
    #[serde(rename = "packets_ratio")]
    pub share: f64,
}

/// A name that is not one of a process of arrivals.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a way to arrive")]
pub struct UnknownArrivals(pub String);

impl Load {
    /// Mean size of a packet in bytes.
    ///
    /// ```
    /// use netpath::{Arrivals, Load, PacketShare};
    /// use units::Bytes;
    /// let share = |size, share| PacketShare { size: Bytes::new(size), share };
    /// let load = Load {
    ///     rate: "30Mbit/s".parse().unwrap(),
    ///     arrivals: Arrivals::Poisson,
    ///     packets: vec![share(40, 0.5), share(1500, 0.5)],
    /// };
    /// assert_eq!(load.mean_size(), 770.0);
    /// // 30e6 / (770 x 8)
    /// assert!((load.packets_per_second() - 4870.1).abs() < 0.1);
    /// ```
    pub fn mean_size(&self) -> f64 {
        let part = |packet: &PacketShare| packet.size.as_f64() * packet.share;
        self.packets.iter().map(part).sum()
    }

    /// How many packets come in a second on average.
    pub fn packets_per_second(&self) -> f64 {
        self.rate.as_f64() / 8.0 / self.mean_size()
    }
}

impl Arrivals {
    /// All of them.
    pub const ALL: [Arrivals; 2] = [Arrivals::Poisson, Arrivals::Constant];

    /// Its name in path files.
    pub const fn name(self) -> &'static str {
        match self {
            Arrivals::Poisson => "poisson",
            Arrivals::Constant => "constant",
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Arrivals {
    type Err = UnknownArrivals;

    fn from_str(text: &str) -> Result<Self, UnknownArrivals> {
        let named = Arrivals::ALL.into_iter().find(|known| known.name() == text);
        named.ok_or_else(|| UnknownArrivals(text.to_owned()))
    }
}
