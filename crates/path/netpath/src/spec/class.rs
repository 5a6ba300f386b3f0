//! Classes of service.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a packet may expect of a queue that tells classes apart.
///
/// From worst to best, so that they compare.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Less than best effort: what the other classes leave.
    Scavenger,
    /// What every packet is that asks for nothing.
    #[default]
    BestEffort,
    /// Before the others.
    Priority,
}

/// A name that is not one of a class.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a class of service")]
pub struct UnknownClass(pub String);

/// Lower Effort (RFC 8622).
const LE: u8 = 1;
/// Class selector 1: what scavenger traffic was marked with before RFC 8622 (RFC 4594, section
/// 4.10).
const CS1: u8 = 8;
/// Expedited Forwarding (RFC 3246).
const EF: u8 = 46;

impl Class {
    /// From worst to best.
    pub const ALL: [Class; 3] = [Class::Scavenger, Class::BestEffort, Class::Priority];

    /// The class of a packet with this DSCP, the upper six bits of the IPv4 TOS byte.
    ///
    /// ```
    /// use netpath::Class;
    /// assert_eq!(Class::from_dscp(1), Class::Scavenger); // LE, RFC 8622
    /// assert_eq!(Class::from_dscp(46), Class::Priority); // EF, RFC 3246
    /// assert_eq!(Class::from_dscp(34), Class::BestEffort); // AF41: no class of ours
    /// ```
    pub const fn from_dscp(dscp: u8) -> Class {
        match dscp {
            LE | CS1 => Class::Scavenger,
            EF => Class::Priority,
            _ => Class::BestEffort,
        }
    }

    /// The DSCP that asks for this class.
    pub const fn dscp(self) -> u8 {
        match self {
            Class::Scavenger => LE,
            Class::BestEffort => 0,
            Class::Priority => EF,
        }
    }

    /// Its name in path files.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Scavenger => "scavenger",
            Class::BestEffort => "best-effort",
            Class::Priority => "priority",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Class {
    type Err = UnknownClass;

    fn from_str(text: &str) -> Result<Self, UnknownClass> {
        let named = Class::ALL.into_iter().find(|class| class.name() == text);
        named.ok_or_else(|| UnknownClass(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_what_its_dscp_and_its_name_say() {
        for class in Class::ALL {
            assert_eq!(Class::from_dscp(class.dscp()), class);
            assert_eq!(class.to_string().parse(), Ok(class));
        }
    }

    #[test]
    fn the_scavengers_of_before_rfc_8622_are_known() {
        assert_eq!(Class::from_dscp(8), Class::Scavenger);
    }

    #[test]
    fn an_unknown_name_is_said() {
        let error = "gold".parse::<Class>().unwrap_err();
        assert_eq!(error.to_string(), "`gold` is not a class of service");
    }
}
