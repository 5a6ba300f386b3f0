//! Splits files into pieces.

use std::collections::VecDeque;
use std::ops::Range;

use copy_protocol::PIECE_MAX;

use files::PIECE_MIN;

/// Length of the piece at the start of `range`, a range that [`normalised`] gave.
///
/// * `size`: bytes of the file.
/// * `piece_size`: most bytes that the piece should have.
/// * Returns the most bytes that are one subtree there: a power of two that divides the offset, of
///   at least [`PIECE_MIN`] and at most [`PIECE_MAX`] bytes, cut off at the end of the file.
///
/// Source: BLAKE3 paper, section 2.1: a subtree that starts at chunk N has at most as many chunks
/// as the largest power of two that divides N.
pub(crate) fn piece_length(size: u64, range: &Range<u64>, piece_size: u64) -> u64 {
    let left = range.end - range.start;
    let fits = piece_size.min(u64::from(PIECE_MAX)).max(PIECE_MIN);
    let span = power_of_two_below(fits).min(alignment(range.start));
    if range.end == size {
        // The last piece need not be a power of two.
        return span.min(left);
    }
    span.min(power_of_two_below(left.max(1)))
}

fn alignment(offset: u64) -> u64 {
    match offset {
        0 => u64::MAX,
        offset => 1 << offset.trailing_zeros(),
    }
}

fn power_of_two_below(number: u64) -> u64 {
    1 << number.ilog2()
}

/// What a receiver wants, as ranges that can be cut: within the file, in order, apart from each
/// other, and widened to multiples of [`PIECE_MIN`], so that a little may be sent that it has.
pub(super) fn normalised(size: u64, wanted: &[(u64, u64)]) -> VecDeque<Range<u64>> {
    let widened = |(start, length): &(u64, u64)| {
        let end = start.saturating_add(*length).min(size);
        let up = end.checked_next_multiple_of(PIECE_MIN).unwrap_or(size);
        start / PIECE_MIN * PIECE_MIN..up.min(size)
    };
    let is_some = |range: &Range<u64>| range.start < range.end;
    let wanted = wanted.iter().filter(|(_, length)| *length > 0);
    let mut ranges: Vec<_> = wanted.map(widened).filter(is_some).collect();
    ranges.sort_by_key(|range| range.start);
    let mut apart: VecDeque<Range<u64>> = VecDeque::with_capacity(ranges.len());
    for range in ranges {
        match apart.back_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push_back(range),
        }
    }
    apart
}

/// What of a hole can be cut into pieces of its own.
pub(super) fn hole_of(size: u64, hole: Range<u64>) -> Range<u64> {
    match hole.end >= size {
        true => hole.start..size,
        false => hole.start..hole.end / PIECE_MIN * PIECE_MIN,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use files::legal_piece;

    proptest! {
        #[test]
        fn every_piece_is_legal_and_none_is_left_out(
            size in 0_u64..40 << 20,
            wanted: Vec<(u32, u32)>,
            piece_sizes in proptest::collection::vec(0_u64..20 << 20, 1..5),
        ) {
            let wanted: Vec<(u64, u64)> = wanted
                .into_iter()
                .map(|(start, length)| (start % (50 << 20), length % (9 << 20)))
                .map(|(start, length)| (u64::from(start), u64::from(length)))
                .collect();
            let ranges = normalised(size, &wanted);
            for (start, length) in &wanted {
                let end = (start + length).min(size);
                let is_within = |range: &Range<u64>| range.start <= *start && end <= range.end;
                prop_assert!(start >= &end || ranges.iter().any(is_within));
            }
            let mut piece_sizes = piece_sizes.into_iter().cycle();
            for mut range in ranges {
                while !range.is_empty() {
                    let piece_size = piece_sizes.next().unwrap_or_default();
                    let length = piece_length(size, &range, piece_size);
                    prop_assert!(legal_piece(size, range.start, length), "{size} {range:?} \
                        {length}");
                    prop_assert!(length <= piece_size.max(PIECE_MIN));
                    prop_assert!(length <= range.end - range.start);
                    range.start += length;
                }
            }
        }
    }

    #[test]
    fn pieces_are_as_large_as_wished_once_they_are_aligned() {
        let size = 9 << 20;
        let mut range = 64 << 10..size;
        let mut lengths = Vec::new();
        while !range.is_empty() {
            let length = piece_length(size, &range, 4 << 20);
            lengths.push(length >> 10);
            range.start += length;
        }
        assert_eq!(lengths, [64, 128, 256, 512, 1024, 2048, 4096, 1024]);
    }
}
