//! Bytes as a sequence of small choices, where a check needs a plan rather than a text.

/// Gives out the bytes of an input one after the other; zeros once there are none.
#[derive(Debug)]
pub struct Words<'a> {
    bytes: &'a [u8],
}

impl<'a> Words<'a> {
    /// All of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Words { bytes }
    }

    /// Whether none are left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// The next 8 bytes as a number, the least significant first.
    pub fn number(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// The next bytes, at most `length`.
    pub fn some(&mut self, length: usize) -> &'a [u8] {
        let (some, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        some
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }
}
