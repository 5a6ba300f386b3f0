//! The version of the internet protocol that a task uses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;

/// A version of the internet protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum IpVersion {
    /// IPv4.
    #[serde(rename = "4")]
    V4,
    /// IPv6.
    #[serde(rename = "6")]
    V6,
}

impl IpVersion {
    /// The version of an address that is a number, with a port or without; a name has none.
    ///
    /// ```
    /// use watch_plan::IpVersion;
    /// assert_eq!(IpVersion::of("[2001:db8::1]:5202"), Some(IpVersion::V6));
    /// assert_eq!(IpVersion::of("192.0.2.1:5202"), Some(IpVersion::V4));
    /// assert_eq!(IpVersion::of("dtn.example.org"), None);
    /// ```
    pub fn of(address: &str) -> Option<IpVersion> {
        let in_brackets = address
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        let number = in_brackets.map_or(address, |(number, _)| number);
        let number: IpAddr = number.parse().ok().or_else(|| {
            let (number, _) = number.rsplit_once(':')?;
            number.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
        })?;
        Some(match number {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        })
    }
}

impl fmt::Display for IpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IpVersion::V4 => "IPv4",
            IpVersion::V6 => "IPv6",
        })
    }
}
