//! Packets from a stream of bytes.

use super::{SFTP_PACKET_MAX, SftpMistake};

/// Consumed bytes that are kept until they are removed together.
const CONSUMED_MAX: usize = 1 << 20;

/// Bytes that came, and the packets in them.
#[derive(Debug, Default)]
pub struct Packets {
    bytes: Vec<u8>,
    /// So many of them were taken.
    taken: usize,
}

impl Packets {
    /// Further bytes came.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        } else if self.taken > CONSUMED_MAX {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole packet without its length.
    ///
    /// # Errors
    /// When what comes is no packet; nothing behind it can be read.
    pub fn take(&mut self) -> Result<Option<&[u8]>, SftpMistake> {
        let rest = &self.bytes[self.taken..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length);
        let wrong = SftpMistake::Length(length);
        let length = usize::try_from(length).map_err(|_| wrong.clone())?;
        if !(5..=SFTP_PACKET_MAX).contains(&length) {
            return Err(wrong);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let start = self.taken + 4;
        self.taken = start + length;
        Ok(self.bytes.get(start..start + length))
    }
}
