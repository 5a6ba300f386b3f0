//! Pairs of addresses that connections are made between, and which addresses can be of use there.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

use crate::{Family, FamilyClash, Source, SourceError};

/// An address of the far end, and where packets to it leave this host: `10.0.1.2`,
/// `10.0.1.1=10.0.1.2`, `%eth1=10.0.1.2`.
///
/// ```
/// use units::AddressPair;
/// let pair: AddressPair = "192.0.2.1=192.0.2.7".parse().unwrap();
/// assert_eq!(pair.far.to_string(), "192.0.2.7");
/// assert_eq!(pair.to_string(), "192.0.2.1=192.0.2.7");
/// assert_eq!("[2001:db8::7]".parse::<AddressPair>().unwrap().to_string(), "2001:db8::7");
/// assert!("dtn.example.org".parse::<AddressPair>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AddressPair {
    /// From where; what is missing is left to routing.
    pub source: Source,
    /// To where.
    pub far: IpAddr,
}

/// A text that is no `[FROM=]ADDRESS`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressPairError {
    /// The address of the far end is no number.
    #[error(
        "`{0}` names no address of the far end: write a number like `10.0.1.2`, or with an address \
         of this host before it, `10.0.1.1=10.0.1.2`; `getent ahosts NAME` shows the numbers of a \
         name"
    )]
    Far(String),
    /// What stands before the equals sign is no address of this host.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The two are of different families.
    #[error("the two addresses of `{0}` are of different families: {1}")]
    Family(String, FamilyClash),
}

impl FromStr for AddressPair {
    type Err = AddressPairError;

    fn from_str(text: &str) -> Result<Self, AddressPairError> {
        let (source, far) = match text.split_once('=') {
            Some((source, far)) => (source.parse::<Source>()?, far),
            None => (Source::default(), text),
        };
        let number = far.trim_start_matches('[').trim_end_matches(']');
        let far: IpAddr = number
            .parse()
            .map_err(|_| AddressPairError::Far(text.to_owned()))?;
        match source.check(Some(Family::of(&far))) {
            Ok(()) => Ok(AddressPair { source, far }),
            Err(clash) => Err(AddressPairError::Family(text.to_owned(), clash)),
        }
    }
}

impl fmt::Display for AddressPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source == Source::default() {
            true => write!(f, "{}", self.far),
            false => write!(f, "{}={}", self.source, self.far),
        }
    }
}

/// What a user says of the pairs of one copy: one of them, or `all` addresses that the far end
/// tells.
///
/// ```
/// use units::PairChoice;
/// assert_eq!("all".parse(), Ok(PairChoice::All));
/// assert_eq!("10.0.1.2".parse::<PairChoice>().unwrap().to_string(), "10.0.1.2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PairChoice {
    /// All addresses of the far end.
    All,
    /// One pair.
    One(AddressPair),
}

impl FromStr for PairChoice {
    type Err = AddressPairError;

    fn from_str(text: &str) -> Result<Self, AddressPairError> {
        match text {
            "all" => Ok(PairChoice::All),
            text => text.parse().map(PairChoice::One),
        }
    }
}

impl fmt::Display for PairChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PairChoice::All => f.write_str("all"),
            PairChoice::One(pair) => write!(f, "{pair}"),
        }
    }
}

/// Whether an address of one host can be of use to another: it is no address of a group, of a
/// single link, or of no host. One of the loopback device (127.0.0.0/8, ::1) is of use to the same
/// host alone.
///
/// ```
/// use units::can_be_dialed;
/// assert!(can_be_dialed("10.0.1.2".parse().unwrap(), false));
/// assert!(!can_be_dialed("fe80::1".parse().unwrap(), true));
/// assert!(!can_be_dialed("127.0.0.1".parse().unwrap(), false));
/// ```
pub fn can_be_dialed(address: IpAddr, is_same_host: bool) -> bool {
    match address.to_canonical() {
        loopback if loopback.is_loopback() => is_same_host,
        // 0.0.0.0/8 is "this network", 224.0.0.0/3 groups, reserved and broadcast (RFC 6890).
        IpAddr::V4(v4) => !v4.is_link_local() && (1..224).contains(&v4.octets()[0]),
        IpAddr::V6(v6) => !v6.is_unicast_link_local() && !v6.is_multicast() && !v6.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_lead_to_no_single_host_cannot_be_dialed() {
        let not = [
            "0.0.0.0",
            "0.1.2.3",
            "127.0.0.2",
            "169.254.7.7",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::7",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.1.1",
        ];
        for text in not {
            assert!(!can_be_dialed(text.parse().unwrap(), false), "{text}");
        }
        for text in [
            "192.0.2.7",
            "10.0.0.1",
            "223.255.255.255",
            "2001:db8::7",
            "fd00::1",
        ] {
            assert!(can_be_dialed(text.parse().unwrap(), false), "{text}");
        }
        for text in ["127.0.0.2", "::1", "::ffff:127.0.0.1", "192.0.2.7"] {
            assert!(can_be_dialed(text.parse().unwrap(), true), "{text}");
        }
    }

    #[test]
    fn a_pair_is_read_as_it_is_written() {
        for text in ["10.0.1.2", "10.0.1.1=10.0.1.2", "%eth1=2001:db8::7", "::1"] {
            let pair: AddressPair = text.parse().unwrap();
            assert_eq!(pair.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_pair_is_refused_with_what_is_wrong() {
        let refused = |text: &str| text.parse::<AddressPair>().unwrap_err().to_string();
        for text in ["", "dtn", "10.0.1.2:5201", "10.0.1.1=", "10.0.1.1=dtn"] {
            assert!(
                refused(text).contains("no address of the far end"),
                "{text}"
            );
        }
        assert!(refused("eth1=10.0.1.2").contains("no address of this host"));
        assert!(refused("10.0.1.1=::1").contains("no address of IPv6"));
    }
}
