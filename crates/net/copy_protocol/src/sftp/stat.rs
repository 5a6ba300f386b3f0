//! What a server says, or is told, of a file.

use super::{Fields, SftpMistake};

const SIZE: u32 = 1;
const OWNER: u32 = 2;
const PERMISSIONS: u32 = 4;
const TIMES: u32 = 8;
const EXTENDED: u32 = 0x8000_0000;
/// The kind within a mode (stat(2)).
const KIND: u32 = 0o170_000;

/// Attributes of a file; what is not told, or not to be set, is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// Bytes.
    pub size: Option<u64>,
    /// Mode with the kind, as in stat(2).
    pub mode: Option<u32>,
    /// Times of last access and modification in seconds since 1970.
    pub times: Option<(u32, u32)>,
}

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device; the bits of its kind.
    Special(u32),
}

impl Stat {
    /// What it is; `None` where the server does not say.
    pub fn kind(&self) -> Option<FarKind> {
        Some(match self.mode? & KIND {
            0o100_000 => FarKind::File,
            0o040_000 => FarKind::Folder,
            0o120_000 => FarKind::Link,
            0 => return None,
            other => FarKind::Special(other),
        })
    }

    /// Time of last modification in seconds since 1970.
    pub fn modified(&self) -> Option<u32> {
        self.times.map(|(_, modified)| modified)
    }

    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        let flag = |is_there: bool, flag| if is_there { flag } else { 0 };
        let flags = flag(self.size.is_some(), SIZE)
            | flag(self.mode.is_some(), PERMISSIONS)
            | flag(self.times.is_some(), TIMES);
        into.extend(flags.to_be_bytes());
        if let Some(size) = self.size {
            into.extend(size.to_be_bytes());
        }
        if let Some(mode) = self.mode {
            into.extend(mode.to_be_bytes());
        }
        if let Some((accessed, modified)) = self.times {
            into.extend(accessed.to_be_bytes());
            into.extend(modified.to_be_bytes());
        }
    }

    pub(super) fn decode(fields: &mut Fields<'_>) -> Result<Self, SftpMistake> {
        let flags = fields.word()?;
        let mut stat = Stat::default();
        if flags & SIZE != 0 {
            stat.size = Some(fields.long()?);
        }
        if flags & OWNER != 0 {
            fields.long()?;
        }
        if flags & PERMISSIONS != 0 {
            stat.mode = Some(fields.word()?);
        }
        if flags & TIMES != 0 {
            stat.times = Some((fields.word()?, fields.word()?));
        }
        if flags & EXTENDED != 0 {
            // Each is two strings, so the packet ends before a count that is made up does.
            for _ in 0..fields.word()? {
                fields.string()?;
                fields.string()?;
            }
        }
        Ok(stat)
    }
}
