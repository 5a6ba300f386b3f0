//! What a plan says of flow records of routers: `[flows]`.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use thiserror::Error;
use units::Span;

/// Where flow records of routers are taken, and what is told apart in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flows {
    /// The address and UDP port of the collector that routers send to.
    pub listen: SocketAddr,
    /// What is inside the border.
    pub inside: Vec<Prefix>,
    /// The time over which bytes are summed up: whole seconds, a whole part of an hour.
    pub interval: Span,
    /// Routers whose records are taken; those of all where the list is empty.
    pub routers: Vec<Prefix>,
    /// One packet of so many is in a record, where its router does not say how it samples.
    pub sampling: u32,
}

/// The first bits of addresses: `10.0.0.0/8`, `2001:db8::/32`; an address alone has all of its own.
///
/// ```
/// use watch_plan::Prefix;
/// let site: Prefix = "192.0.2.0/25".parse().unwrap();
/// assert!(site.contains("192.0.2.127".parse().unwrap()));
/// assert!(!site.contains("192.0.2.128".parse().unwrap()));
/// assert!(!site.contains("2001:db8::1".parse().unwrap()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u32,
}

/// A text that is no prefix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no prefix of addresses; write it like `192.0.2.0/24` or `2001:db8::/32`")]
pub struct PrefixError(String);

impl Prefix {
    /// Whether an address begins with it.
    pub fn contains(self, address: IpAddr) -> bool {
        let alike = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (u32::from(own) ^ u32::from(other)).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (u128::from(own) ^ u128::from(other)).leading_zeros()
            }
            _ => return false,
        };
        alike >= self.length
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let wrong = || PrefixError(text.chars().take(60).collect());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most: u32 = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) => length.parse::<u32>().map_err(|_| wrong())?,
            None => most,
        };
        match length <= most {
            true => Ok(Prefix { address, length }),
            false => Err(wrong()),
        }
    }
}
