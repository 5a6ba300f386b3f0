//! Names of hosts, groups and tasks.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

use units::Family;

/// As long as a host name may be (RFC 1035, section 2.3.4).
const LENGTH: usize = 253;

/// A text that is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{name}` is no name of 1 to 253 characters; use letters, digits and `. : _ -`, \
     as psconfig does"
)]
pub struct NameError {
    name: String,
}

fn checked(text: &str) -> Result<String, NameError> {
    let fits = (1..=LENGTH).contains(&text.len());
    let character = |c: char| c.is_ascii_alphanumeric() || ".:_-".contains(c);
    match fits && text.chars().all(character) {
        true => Ok(text.to_owned()),
        false => Err(NameError {
            name: text.chars().take(60).collect(),
        }),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
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
    /// The name of a host in a plan: 1 to 253 of the letters, digits and `. : _ -`.
    ///
    /// ```
    /// use watch_plan::HostName;
    /// assert!("dtn01.cern.ch".parse::<HostName>().is_ok());
    /// assert!("two words".parse::<HostName>().is_err());
    /// ```
    HostName
);
name!(
    /// The name of a group of hosts.
    GroupName
);
name!(
    /// The name of a task.
    TaskName
);
name!(
    /// The name of a machine. Hosts with several addresses are one machine, where visits collide.
    MachineName
);

impl GroupName {
    /// Stands for the same pairs, each from the second host to the first.
    pub(crate) fn turned(&self) -> GroupName {
        GroupName(format!("{}:turned", self.0))
    }
}

impl TaskName {
    /// The name of the part of a task that uses one version of the internet protocol.
    pub(crate) fn of_version(&self, ip: Family) -> TaskName {
        TaskName(format!("{}-{}", self.0, ip.to_string().to_lowercase()))
    }
}

impl MachineName {
    /// Stands in for a machine whose host has a name that was refused; no plan comes of it.
    pub(crate) fn unknown() -> MachineName {
        MachineName("unknown".to_owned())
    }

    /// The machine of a host that names none.
    pub(crate) fn of(host: &HostName) -> MachineName {
        MachineName(host.0.clone())
    }
}
