//! The SSH file transfer protocol, version 3, as a client speaks it, without I/O: requests to
//! bytes, bytes to replies.
//!
//! Sources: draft-ietf-secsh-filexfer-02 for the packets; OpenSSH's `PROTOCOL`, section 4, for the
//! extensions `posix-rename@openssh.com`, `fsync@openssh.com`, `limits@openssh.com`,
//! `lsetstat@openssh.com` and `statvfs@openssh.com`; draft-ietf-secsh-filexfer-extensions-00,
//! section 3, for `check-file-name`. OpenSSH takes the two names of a symbolic link
//! in the other order than the draft, and so do the servers that were tried with its client.
//!
//! Each packet is its length (4 bytes), a type, and for all but the first of each end a number that
//! the reply repeats. All numbers have their most significant byte first.
//!
//! Reading order: `stat`, `request`, `reply`, `packets`.

mod packets;
mod reply;
mod request;
mod stat;
#[cfg(test)]
mod tests;

use thiserror::Error;

pub use packets::Packets;
pub use reply::{Listed, Reply, Server, Space, Status, StatusCode, checked_sha256};
pub use request::{Open, Request, hello};
pub use stat::{FarKind, Stat};

/// The version that is spoken.
pub const SFTP_VERSION: u32 = 3;
/// Longest packet that is taken: what OpenSSH sends at most, and room for its header.
pub const SFTP_PACKET_MAX: usize = (256 << 10) + 1024;
/// Bytes of a read or write that every server takes (draft, section 3).
pub const SFTP_DATA_MIN: u32 = 32 << 10;
/// Most bytes of one read or write, whatever a server allows: what its reply needs beside them
/// still fits a packet.
pub const SFTP_DATA_MAX: u32 = 255 << 10;
/// Longest handle (draft, section 6.2).
const HANDLE_MAX: usize = 256;

/// What a server said that is no reply of this protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SftpMistake {
    /// A packet of a length that none has.
    #[error("a packet of {0} bytes, where 5 to {SFTP_PACKET_MAX} may come")]
    Length(u32),
    /// It ends in the middle of a field.
    #[error("a packet that ends too soon")]
    Short,
    /// Its type is none of a reply.
    #[error("a packet of type {0}")]
    Type(u8),
    /// An older version.
    #[error("version {0} of SFTP, where {SFTP_VERSION} is needed")]
    Version(u32),
    /// A handle that is longer than any.
    #[error("a handle of {0} bytes")]
    Handle(usize),
}

/// Reads fields one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn byte(&mut self) -> Result<u8, SftpMistake> {
        let (byte, rest) = self.0.split_first().ok_or(SftpMistake::Short)?;
        self.0 = rest;
        Ok(*byte)
    }

    fn word(&mut self) -> Result<u32, SftpMistake> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(SftpMistake::Short)?;
        self.0 = rest;
        Ok(u32::from_be_bytes(*bytes))
    }

    fn long(&mut self) -> Result<u64, SftpMistake> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(SftpMistake::Short)?;
        self.0 = rest;
        Ok(u64::from_be_bytes(*bytes))
    }

    fn string(&mut self) -> Result<&'a [u8], SftpMistake> {
        let length = usize::try_from(self.word()?).map_err(|_| SftpMistake::Short)?;
        let (string, rest) = self.0.split_at_checked(length).ok_or(SftpMistake::Short)?;
        self.0 = rest;
        Ok(string)
    }
}
