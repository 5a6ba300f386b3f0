//! Pairs of addresses that connections are made between.

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

#[cfg(test)]
mod tests {
    use super::*;

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
