//! A set of segment numbers within a moving range, as bits in a ring.

use smallvec::{SmallVec, smallvec};

/// Members lie within a range that moves upwards; the ring grows to the widest range asked for and
/// then stays, so that a run in its steady state allocates nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitRing {
    /// A power of two in number, or none.
    words: SmallVec<[u64; INLINE]>,
}

/// As many words as a vector's own fields take lie beside the flow: enough for windows of a hundred
/// segments, which is what thousands of flows on one link have at the most.
const INLINE: usize = 2;

/// The part of a range that lies in one word: the word's number and the bits.
fn parts(start: u32, end: u32) -> impl Iterator<Item = (u32, u64)> {
    let words = match start < end {
        true => start / 64..(end - 1) / 64 + 1,
        false => 0..0,
    };
    words.map(move |word| {
        let first = start.max(word * 64) - word * 64;
        let count = end.min(word.saturating_add(1).saturating_mul(64)) - word * 64 - first;
        let mask = if count == 64 { !0 } else { (1 << count) - 1 };
        (word, mask << first)
    })
}

impl BitRing {
    /// Makes room for numbers from `low` up to below `high`; all members must be at `low` or above.
    pub(crate) fn reserve(&mut self, low: u32, high: u32) {
        let needed = (high / 64 - low / 64 + 1) as usize;
        if needed <= self.words.len() {
            return;
        }
        let mut words = smallvec![0; needed.max(INLINE).next_power_of_two()];
        for word in (low / 64..).take(self.words.len()) {
            let place = word as usize & (words.len() - 1);
            words[place] = self.words[self.place(word)];
        }
        self.words = words;
    }

    #[inline]
    fn place(&self, word: u32) -> usize {
        word as usize & (self.words.len() - 1)
    }

    /// Whether `number` is a member.
    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        !self.words.is_empty() && self.words[self.place(number / 64)] >> (number % 64) & 1 == 1
    }

    /// Adds one number.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        let place = self.place(number / 64);
        self.words[place] |= 1 << (number % 64);
    }

    /// Takes out all numbers of a range; tells how many there were.
    pub(crate) fn remove_range(&mut self, start: u32, end: u32) -> u32 {
        if self.words.is_empty() {
            return 0;
        }
        let mut removed = 0;
        for (word, mask) in parts(start, end) {
            let place = self.place(word);
            removed += (self.words[place] & mask).count_ones();
            self.words[place] &= !mask;
        }
        removed
    }

    /// How many numbers of a range are members.
    pub(crate) fn count_range(&self, start: u32, end: u32) -> u32 {
        if self.words.is_empty() {
            return 0;
        }
        let ones = |(word, mask): (u32, u64)| (self.words[self.place(word)] & mask).count_ones();
        parts(start, end).map(ones).sum()
    }

    /// The word of 64 numbers from `word * 64` on.
    #[inline]
    pub(crate) fn word(&self, word: u32) -> u64 {
        self.words[self.place(word)]
    }

    /// Adds all numbers of a range; hands the new ones to `on_new`, a word at a time.
    pub(crate) fn insert_range(&mut self, start: u32, end: u32, mut on_new: impl FnMut(u32, u64)) {
        for (word, mask) in parts(start, end) {
            let place = self.place(word);
            let new = mask & !self.words[place];
            if new != 0 {
                self.words[place] |= new;
                on_new(word, new);
            }
        }
    }

    /// The lowest number from `start` up to below `end` that is no member.
    pub(crate) fn first_missing(&self, start: u32, end: u32) -> Option<u32> {
        if self.words.is_empty() {
            return (start < end).then_some(start);
        }
        let missing = |(word, mask): (u32, u64)| match !self.word(word) & mask {
            0 => None,
            bits => Some(word * 64 + bits.trailing_zeros()),
        };
        parts(start, end).find_map(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_at_words() {
        let cut: Vec<_> = parts(60, 130).collect();
        assert_eq!(cut, [(0, 0xf << 60), (1, !0), (2, 0b11)]);
        assert_eq!(parts(5, 5).count(), 0);
        assert_eq!(parts(64, 128).collect::<Vec<_>>(), [(1, !0)]);
    }

    #[test]
    fn members_survive_growth() {
        let mut ring = BitRing::default();
        ring.reserve(1000, 1100);
        ring.insert(1000);
        ring.insert(1099);
        ring.reserve(1000, 100_000);
        ring.insert(99_999);
        assert!(ring.contains(1000) && ring.contains(1099) && ring.contains(99_999));
        assert_eq!(ring.count_range(1000, 100_000), 3);
    }

    #[test]
    fn the_ring_is_used_again_as_the_range_moves() {
        let mut ring = BitRing::default();
        for number in (0..100_000).step_by(50) {
            ring.reserve(number, number + 100);
            ring.insert_range(number, number + 50, |_, _| {});
            assert_eq!(ring.remove_range(number, number + 50), 50);
        }
        assert!(ring.words.len() <= 4, "{}", ring.words.len());
    }

    #[test]
    fn the_first_missing_number_is_found_across_words() {
        let mut ring = BitRing::default();
        ring.reserve(0, 300);
        ring.insert_range(10, 200, |_, _| {});
        assert_eq!(ring.first_missing(10, 300), Some(200));
        assert_eq!(ring.first_missing(10, 200), None);
        assert_eq!(ring.first_missing(5, 300), Some(5));
    }
}
