//! Names of hosts, tasks and databases.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use errors::{Fault, Hint};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::printable;
use watch_plan::{HostName, TaskName};

/// Longest name, in bytes; the longest host name of DNS has 253.
const LONGEST: usize = 253;

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// It has no letters.
    #[error("a name is empty; give each host and task a name")]
    Empty,
    /// It is too long.
    #[error("a name has {0} bytes, more than {LONGEST}; shorten it")]
    Long(usize),
    /// It would garble a page or a terminal.
    #[error("the name {0:?} has a control character; remove it")]
    Control(String),
}

impl Hint for NameError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        None
    }
}

/// Name of a host or a task: 1 to 253 bytes without control characters.
///
/// ```
/// use watch_store::Name;
/// assert_eq!("cern".parse::<Name>().unwrap().as_str(), "cern");
/// assert!("".parse::<Name>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        match text.len() {
            0 => Err(NameError::Empty),
            long if long > LONGEST => Err(NameError::Long(long)),
            _ if text.chars().any(char::is_control) => Err(NameError::Control(text)),
            _ => Ok(Name(text)),
        }
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Name::try_from(text.to_owned())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

/// For people: with U+FFFD for characters that turn others round.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&printable(&self.0, LONGEST))
    }
}

/// Names in a plan have narrower bounds.
impl From<&HostName> for Name {
    fn from(name: &HostName) -> Name {
        Name(name.as_str().to_owned())
    }
}

impl From<&TaskName> for Name {
    fn from(name: &TaskName) -> Name {
        Name(name.as_str().to_owned())
    }
}

/// The two hosts of a path, in the direction of the data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The sending host.
    pub from: Name,
    /// The receiving host.
    pub to: Name,
}

impl From<&watch_plan::Pair> for Pair {
    fn from(pair: &watch_plan::Pair) -> Pair {
        Pair {
            from: Name::from(&pair.from),
            to: Name::from(&pair.to),
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}

/// Which database: a SQLite file, or a PostgreSQL server by its URL.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseName {
    /// A file; it is made where it does not exist.
    Sqlite(PathBuf),
    /// `postgres://user@host/database`; it may hold a password.
    Postgres(String),
}

/// A kind of database that results cannot be stored in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}://` is no database for results; name a file for SQLite, or `postgres://HOST/NAME`")]
pub struct UnknownDatabase(String);

impl FromStr for DatabaseName {
    type Err = UnknownDatabase;

    /// A text that begins with `postgres://` or `postgresql://` is a URL, one without `://` a file.
    fn from_str(text: &str) -> Result<Self, UnknownDatabase> {
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(DatabaseName::Postgres(text.to_owned())),
            Some((kind, _)) => Err(UnknownDatabase(kind.to_owned())),
            None => Ok(DatabaseName::Sqlite(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for DatabaseName {
    /// Without user, password and options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseName::Sqlite(path) => path.display().fmt(f),
            DatabaseName::Postgres(url) => {
                let rest = url.split_once("://").map_or("", |(_, rest)| rest);
                let rest = rest.split('?').next().unwrap_or_default();
                let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
                write!(f, "postgres://{place}")
            }
        }
    }
}

impl fmt::Debug for DatabaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
