//! Which blocks of a piece are data and which are holes.

use std::ops::Range;

use super::{PIECE_MAX, PieceError};

/// Bytes of a block: what most file systems give out at least. Smaller holes, and those that lie
/// otherwise, are sent as zeros.
pub const HOLE_BLOCK: u32 = 4 << 10;

/// One bit for each [`HOLE_BLOCK`] of a piece, the most significant of the first byte for the first
/// block: 1 is data, 0 a hole. The last block may be shorter; bits behind it are 0. At least one
/// block is data and one a hole.
/// ```
/// use copy_protocol::DataMap;
/// let mut map = DataMap::holes(10_000);
/// map.set_data(5_000..5_001);
/// assert_eq!(map.as_bytes(), [0b0100_0000]);
/// assert_eq!(map.data_length(), 4096);
/// let runs: Vec<_> = map.runs().collect();
/// assert_eq!(runs, [(0..4096, false), (4096..8192, true), (8192..10_000, false)]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataMap {
    length: u32,
    bits: Vec<u8>,
}

impl DataMap {
    /// Bytes of the map of a piece of `length` bytes: at most 128.
    pub const fn size(length: u32) -> u32 {
        length.div_ceil(HOLE_BLOCK).div_ceil(8)
    }

    /// Of a piece of `length` bytes without data.
    pub fn holes(length: u32) -> Self {
        let length = length.min(PIECE_MAX);
        let bits = vec![0; DataMap::size(length) as usize];
        DataMap { length, bits }
    }

    /// The blocks in which these bytes of the piece lie are data.
    pub fn set_data(&mut self, bytes: Range<u32>) {
        let bytes = bytes.start..bytes.end.min(self.length);
        if bytes.is_empty() {
            return;
        }
        for block in bytes.start / HOLE_BLOCK..bytes.end.div_ceil(HOLE_BLOCK) {
            if let Some(byte) = self.bits.get_mut(block as usize / 8) {
                *byte |= 0x80 >> (block % 8);
            }
        }
    }

    /// As it came over the stream, for a piece of `length` bytes.
    ///
    /// # Errors
    /// When it has another length, no data, no hole, or bits behind its last block.
    pub fn decode(length: u32, bytes: &[u8]) -> Result<Self, PieceError> {
        let blocks = length.div_ceil(HOLE_BLOCK);
        let fits = bytes.len() == DataMap::size(length) as usize;
        let surplus = bytes.last().is_some_and(|last| match blocks % 8 {
            0 => false,
            used => last & (0xFF >> used) != 0,
        });
        let map = DataMap {
            length,
            bits: bytes.to_vec(),
        };
        match fits && !surplus && (1..length).contains(&map.data_length()) {
            true => Ok(map),
            false => Err(PieceError::Map(length)),
        }
    }

    /// As it goes over the stream.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bits
    }

    /// Bytes of the piece that are data.
    pub fn data_length(&self) -> u32 {
        let data = self.runs().filter(|(_, is_data)| *is_data);
        data.map(|(run, _)| run.end - run.start).sum()
    }

    /// The piece from its start to its end, as ranges of its bytes, each with whether it is data.
    pub fn runs(&self) -> impl Iterator<Item = (Range<u32>, bool)> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let is_data = self.is_data(from)?;
            let start = from;
            while self.is_data(from) == Some(is_data) {
                from += HOLE_BLOCK;
            }
            Some((start..from.min(self.length), is_data))
        })
    }

    /// Whether the block at this byte is data; `None` behind the piece.
    fn is_data(&self, at: u32) -> Option<bool> {
        let block = at / HOLE_BLOCK;
        let byte = self.bits.get(block as usize / 8)?;
        (at < self.length).then_some(byte & (0x80 >> (block % 8)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_map_comes_back_and_its_runs_make_up_the_piece(
            length in 1..=PIECE_MAX, data in proptest::collection::vec((0..PIECE_MAX, 1..100_000_u32), 0..20),
        ) {
            let mut map = DataMap::holes(length);
            for (start, bytes) in &data {
                map.set_data(*start..start + bytes);
            }
            let mut end = 0;
            let mut sum = 0;
            let mut before = None;
            for (run, is_data) in map.runs() {
                prop_assert!(run.start == end && run.start < run.end && run.end <= length);
                prop_assert!(run.start.is_multiple_of(HOLE_BLOCK) && before != Some(is_data));
                (end, before) = (run.end, Some(is_data));
                sum += if is_data { run.end - run.start } else { 0 };
            }
            prop_assert_eq!((end, sum), (length, map.data_length()));
            for (start, bytes) in data {
                let runs: Vec<_> = map.runs().filter(|(run, _)| run.contains(&start)).collect();
                prop_assert!(start >= length || runs[0].1, "{} bytes at {}", bytes, start);
            }
            let back = DataMap::decode(length, map.as_bytes());
            prop_assert_eq!(back.ok(), (sum > 0 && sum < length).then_some(map));
        }

        #[test]
        fn any_bytes_are_a_map_or_an_error(length in 1..=PIECE_MAX, bytes in proptest::collection::vec(any::<u8>(), 0..130)) {
            if let Ok(map) = DataMap::decode(length, &bytes) {
                prop_assert_eq!(map.as_bytes(), &bytes[..]);
                prop_assert!((1..length).contains(&map.data_length()));
            }
        }
    }

    #[test]
    fn bits_behind_the_last_block_are_refused() {
        assert!(DataMap::decode(3 * HOLE_BLOCK, &[0b1010_0000]).is_ok());
        assert!(DataMap::decode(3 * HOLE_BLOCK, &[0b1011_0000]).is_err());
        assert!(DataMap::decode(8 * HOLE_BLOCK, &[0b1010_0001]).is_ok());
        assert!(DataMap::decode(3 * HOLE_BLOCK, &[0b1110_0000]).is_err());
        assert!(DataMap::decode(3 * HOLE_BLOCK, &[0]).is_err());
        assert!(DataMap::decode(3 * HOLE_BLOCK, &[0b1010_0000, 0]).is_err());
    }
}
