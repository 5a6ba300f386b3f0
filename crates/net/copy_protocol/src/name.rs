//! Names of files relative to the place that is copied from or to.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::steers;

/// Longest relative name in bytes: Linux's `PATH_MAX` without the closing zero.
pub const PATH_MAX: usize = 4095;
/// Longest component in bytes: Linux's `NAME_MAX`.
pub const NAME_MAX: usize = 255;

/// Endings of what lies beside a file while it arrives, as `.NAME` with one of them. No source may
/// have such names.
const RESERVED_ENDINGS: [&[u8]; 3] = [PART_ENDING, JOURNAL_ENDING, LINK_ENDING];
/// Ending of the content on its way.
pub const PART_ENDING: &[u8] = b".trunkline-part";
/// Ending of the journal beside it.
pub const JOURNAL_ENDING: &[u8] = b".trunkline-journal";
/// Ending of a link before it replaces what is there.
pub const LINK_ENDING: &[u8] = b".trunkline-link";

/// Whether one component of a name is that of a temporary file of a copy.
/// ```
/// use copy_protocol::is_reserved;
/// assert!(is_reserved(b".hits.root.trunkline-part"));
/// assert!(!is_reserved(b"hits.root.trunkline-part"), "no dot before it");
/// ```
pub fn is_reserved(component: &[u8]) -> bool {
    let ends = |ending: &&[u8]| component.ends_with(ending);
    component.starts_with(b".") && RESERVED_ENDINGS.iter().any(ends)
}

/// A relative name that stays below where it starts: components parted by `/`, none of them empty,
/// `.` or `..`, none with a zero byte. The empty name is the place itself.
///
/// Names are bytes, as on Unix; they need not be UTF-8.
/// ```
/// use copy_protocol::Name;
/// let name = Name::new(b"run7/hits.root".to_vec()).unwrap();
/// assert_eq!(name.components().count(), 2);
/// assert!(Name::new(b"../etc/passwd".to_vec()).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct Name(Vec<u8>);

/// A name that could lead elsewhere, or that no file can have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// Begins with `/`.
    #[error("`{0}` begins with `/`; names are relative")]
    Absolute(String),
    /// Has an empty component, `.` or `..`.
    #[error("`{0}` has an empty component, `.` or `..`")]
    Component(String),
    /// Has a zero byte.
    #[error("`{0}` has a zero byte")]
    Zero(String),
    /// Too long.
    #[error(
        "a name of {0} bytes is longer than {PATH_MAX}, or a component of it longer than {NAME_MAX}"
    )]
    Long(usize),
}

impl Name {
    /// Checks the bytes.
    ///
    /// # Errors
    /// When the name is absolute, too long, or has a component that may not be.
    pub fn new(bytes: Vec<u8>) -> Result<Self, NameError> {
        if bytes.is_empty() {
            return Ok(Name(bytes));
        }
        let shown = || Name(bytes.clone()).to_string();
        let is_long = |component: &[u8]| component.len() > NAME_MAX;
        let is_wrong = |component: &[u8]| matches!(component, b"" | b"." | b"..");
        let mut components = bytes.split(|byte| *byte == b'/');
        if bytes.len() > PATH_MAX || components.clone().any(is_long) {
            return Err(NameError::Long(bytes.len()));
        }
        if bytes.first() == Some(&b'/') {
            return Err(NameError::Absolute(shown()));
        }
        if bytes.contains(&0) {
            return Err(NameError::Zero(shown()));
        }
        match components.any(is_wrong) {
            true => Err(NameError::Component(shown())),
            false => Ok(Name(bytes)),
        }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it is the place itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a component of it is that of a temporary file.
    pub fn is_reserved(&self) -> bool {
        self.components().any(is_reserved)
    }

    /// From the outermost folder to the file.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == b'/')
            .filter(|one| !one.is_empty())
    }
}

/// For people: what is no text is replaced, and characters that steer a terminal or turn others
/// round are spelt out.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for sign in String::from_utf8_lossy(&self.0).chars() {
            match steers(sign) {
                true if sign.is_control() => write!(f, "\\x{:02x}", u32::from(sign))?,
                true => write!(f, "{}", sign.escape_unicode())?,
                false => fmt::Write::write_char(f, sign)?,
            }
        }
        Ok(())
    }
}

impl TryFrom<Vec<u8>> for Name {
    type Error = NameError;

    fn try_from(bytes: Vec<u8>) -> Result<Self, NameError> {
        Name::new(bytes)
    }
}

impl From<Name> for Vec<u8> {
    fn from(name: Name) -> Vec<u8> {
        name.0
    }
}

/// Position of a file among the entries of this copy, from 0.
pub type FileId = u32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for text in ["/etc", "..", "a/..", "a/../b", ".", "a/./b", "a//b", "a/"] {
            assert!(Name::new(text.into()).is_err(), "{text}");
        }
        assert!(Name::new(b"a\0b".to_vec()).is_err());
        assert!(Name::new(vec![b'a'; NAME_MAX + 1]).is_err());
    }

    #[test]
    fn any_other_bytes_are_a_name() {
        for bytes in [&b"a"[..], b"a/b", b"\xFF\xFE", b"...", b"a b/ c", b"a\nb"] {
            assert!(Name::new(bytes.to_vec()).is_ok(), "{bytes:?}");
        }
        assert_eq!(Name::default().components().count(), 0);
        let steering = Name::new(b"\x1b[2J\xFFe".to_vec()).unwrap();
        assert_eq!(steering.to_string(), "\\x1b[2J\u{FFFD}e");
        let turned = Name::new("a\u{202E}txt.exe".into()).unwrap();
        assert_eq!(turned.to_string(), "a\\u{202e}txt.exe");
    }
}
