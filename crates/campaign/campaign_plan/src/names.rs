//! Names of hosts, links and groups. They become names of files and of Slurm's licences.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// With the number of a shard behind it, a name stays below what file systems take.
const LENGTH: usize = 64;

/// A text that is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` is no name; use 1 to 64 letters, digits and `_ - .`, a letter or digit first")]
pub struct NameError {
    name: String,
}

fn checked(text: &str) -> Result<String, NameError> {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let character = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    match begins && text.len() <= LENGTH && text.chars().all(character) {
        true => Ok(text.to_owned()),
        false => Err(NameError {
            name: text.chars().take(80).collect(),
        }),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                checked(text).map($name)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// The name of a host.
    ///
    /// ```
    /// use campaign_plan::HostName;
    /// assert!("dtn01.cern.ch".parse::<HostName>().is_ok());
    /// assert!("../x".parse::<HostName>().is_err());
    /// ```
    HostName
);
name!(
    /// The name of a link.
    LinkName
);
name!(
    /// The name of a group of files.
    GroupName
);
