//! Bytes that came while it was the driver's turn.

use std::mem;

/// A small bounded store: a polite peer sends nothing before it was answered.
#[derive(Debug, Default)]
pub(crate) struct Inbox(Vec<u8>);

/// More bytes came out of turn than are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the peer sent more than {} bytes out of turn", Inbox::BOUND)]
pub struct OutOfTurn;

impl Inbox {
    const BOUND: usize = 16 << 10;

    pub(crate) fn put(&mut self, input: &mut &[u8]) -> Result<(), OutOfTurn> {
        self.0.extend_from_slice(mem::take(input));
        match self.0.len() {
            ..=Self::BOUND => Ok(()),
            _ => Err(OutOfTurn),
        }
    }

    pub(crate) fn empty(&mut self) -> Vec<u8> {
        mem::take(&mut self.0)
    }
}
