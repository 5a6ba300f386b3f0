//! What the numbers of datagrams say of those that did not come.

use std::collections::VecDeque;

/// A number that is further ahead than this belongs to a router that was started again.
const AHEAD_MAX: i64 = 1_000_000;
/// One that is further behind, too; and of numbers behind so many in a row.
const BEHIND_MAX: i64 = 4096;
const IN_A_ROW: u32 = 16;
/// Datagrams among which copies are found.
const REMEMBERED: usize = 64;

/// The numbers of one stream of datagrams.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// What the next one may be.
    next: [Option<u32>; 2],
    /// Whether the router counts records where the standard counts datagrams.
    counts_records: bool,
    late_in_a_row: u32,
    digests: VecDeque<u64>,
}

impl Sequence {
    /// Whether the same datagram came a short time ago.
    pub fn is_repeated(&mut self, datagram: &[u8]) -> bool {
        let hash = blake3::hash(datagram);
        let digest = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        let digest = u64::from_le_bytes(digest);
        if self.digests.contains(&digest) {
            return true;
        }
        self.digests.truncate(REMEMBERED - 1);
        self.digests.push_front(digest);
        false
    }

    /// Takes the number of a datagram, and how far the next one is ahead; how much is missing
    /// before it. Less than zero where it is late, and was counted as missing.
    pub fn take(&mut self, number: u32, advances: [Option<u32>; 2]) -> i64 {
        let ahead = |next: u32| i64::from(number.wrapping_sub(next).cast_signed());
        let [one, other] = self.next.map(|next| next.map(ahead));
        // What is right at once says how this router counts.
        if let (Some(one), Some(other)) = (one, other)
            && one != other
            && (one == 0 || other == 0)
        {
            self.counts_records = other == 0;
        }
        let gap = if self.counts_records { other } else { one };
        let gap = gap.or(one).unwrap_or(0);
        if (-BEHIND_MAX..0).contains(&gap) && self.late_in_a_row < IN_A_ROW {
            self.late_in_a_row += 1;
            return -i64::from(self.advance(advances));
        }
        self.late_in_a_row = 0;
        self.next = advances.map(|advance| Some(number.wrapping_add(advance?)));
        match gap {
            1..=AHEAD_MAX => gap,
            _ => 0,
        }
    }

    /// By how much a datagram moves the router's count.
    pub fn advance(&self, advances: [Option<u32>; 2]) -> u32 {
        let own = advances[usize::from(self.counts_records)];
        own.or(advances[0]).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing after datagrams of these numbers, each of `step`.
    fn missing(step: u32, numbers: &[u32]) -> i64 {
        let mut sequence = Sequence::default();
        let take = |number: &u32| sequence.take(*number, [Some(step), None]);
        numbers.iter().map(take).sum()
    }

    #[test]
    fn gaps_are_counted_and_late_ones_make_up_for_them() {
        assert_eq!(missing(1, &[7, 8, 9]), 0);
        assert_eq!(missing(1, &[7, 10]), 2);
        assert_eq!(missing(1, &[7, 10, 8, 9, 11]), 0);
        assert_eq!(missing(30, &[0, 30, 90, 60, 120]), 0);
        assert_eq!(missing(30, &[0, 90]), 60);
        assert_eq!(missing(1, &[u32::MAX, 0, 3]), 2);
    }

    #[test]
    fn a_router_that_was_started_again_lost_nothing() {
        assert_eq!(missing(1, &[4_000_000_000, 1, 2, 3]), 0);
        assert_eq!(missing(1, &[5, 3_000_000, 3_000_001]), 0);
        // Near numbers look late at first.
        let numbers: Vec<u32> = (3000..3100).chain(0..200).collect();
        assert!(missing(1, &numbers) >= -i64::from(IN_A_ROW));
        let numbers: Vec<u32> = numbers.into_iter().chain([205]).collect();
        assert_eq!(missing(1, &numbers), 5 - i64::from(IN_A_ROW));
    }

    #[test]
    fn routers_that_count_records_are_understood() {
        let mut sequence = Sequence::default();
        let numbers = [(0, 20), (20, 30), (50, 10), (60, 1)];
        let take = |(number, records)| sequence.take(number, [Some(1), Some(records)]);
        assert_eq!(numbers.map(take), [0; 4]);
        assert_eq!(sequence.advance([Some(1), Some(24)]), 24);
    }

    /// A gap of about as many datagrams as one has records.
    #[test]
    fn datagrams_with_many_records_are_missed() {
        let mut sequence = Sequence::default();
        let numbers = [0, 1, 2, 18, 19];
        let take = |number| sequence.take(number, [Some(1), Some(24)]);
        assert_eq!(numbers.map(take), [0, 0, 0, 15, 0]);
    }

    #[test]
    fn a_copy_is_found_for_a_while() {
        let mut sequence = Sequence::default();
        assert!(!sequence.is_repeated(b"one"));
        assert!(sequence.is_repeated(b"one"));
        for number in 0..REMEMBERED as u64 {
            assert!(!sequence.is_repeated(&number.to_be_bytes()));
        }
        assert!(!sequence.is_repeated(b"one"));
    }
}
