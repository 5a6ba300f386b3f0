//! What a plan says of flow records of routers: `[flows]`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use thiserror::Error;
use units::Span;

use crate::names::ApplicationName;

/// Where flow records of routers are taken, and what is told apart in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flows {
    /// The address and UDP port of the collector that routers send to.
    pub listen: SocketAddr,
    /// What is inside the border.
    pub inside: Vec<Prefix>,
    /// The time over which bytes are summed up: whole seconds, a whole part of an hour.
    pub interval: Span,
    /// Routers whose records are taken; those of all where none is named.
    pub routers: Vec<IpAddr>,
    /// One packet of so many is in a record, where its router does not say how it samples.
    pub sampling: u32,
    /// Applications of the site by their ports. They come before those that are known.
    pub applications: Vec<(ApplicationName, Vec<PortRange>)>,
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

/// Ports from the first to the last: `1094`, `50000-51000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange {
    /// The lowest.
    pub first: u16,
    /// The highest.
    pub last: u16,
}

/// A text that is no port and no range of ports.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no port of 1 to 65535 and no range; write it like `1094` or `50000-51000`")]
pub struct PortsError(String);

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

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl PortRange {
    /// Whether it has a port.
    pub fn has(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

impl FromStr for PortRange {
    type Err = PortsError;

    fn from_str(text: &str) -> Result<Self, PortsError> {
        let wrong = || PortsError(text.chars().take(60).collect());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
        let first = port(first).ok_or_else(wrong)?;
        let last = port(last).filter(|last| *last >= first).ok_or_else(wrong)?;
        Ok(PortRange { first, last })
    }
}
