//! What a sender knows about the segments beyond the acknowledged ones (RFC 6675 sections 3 and 4).

use std::collections::VecDeque;
use std::ops::Range;

use crate::bits::BitRing;
use crate::packet::Block;

/// Segments above a missing one before it counts as lost (RFC 6675: DupThresh).
pub(crate) const DUPLICATES: u32 = 3;

/// Which segments count as lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossRule {
    /// Those with three selectively acknowledged ones above (RFC 6675: IsLost).
    ThirdAbove,
    /// All below the highest acknowledged one, once it is more than three away (FACK).
    Forward,
}

/// Selectively acknowledged, lost and repeated segments between the first unacknowledged and the
/// highest sent.
///
/// Everything below `edge` that is not selectively acknowledged counts as lost; what was sent again
/// is outstanding once more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scoreboard {
    sacked: BitRing,
    repeated: BitRing,
    sacked_count: u32,
    sacked_below_edge: u32,
    /// Sent again and not acknowledged since.
    repeated_count: u32,
    /// One beyond the highest selectively acknowledged segment.
    top: u32,
    edge: u32,
    /// Nothing below this is left to be sent again.
    repair_from: u32,
    /// The blocks of the latest acknowledgements: mostly they come again, a little longer.
    seen: [Block; 4],
    /// Segments that were sent again and are not settled, in the order of sending.
    repairs: VecDeque<Repair>,
}

/// A segment that was sent again.
#[derive(Debug, Clone, Copy)]
struct Repair {
    number: u32,
    /// One beyond the highest segment sent before.
    highest: u32,
}

/// How many of the earliest repairs are looked at for each acknowledgement; the rest wait their
/// turn.
const REPAIRS_AT_ONCE: usize = 64;

impl Scoreboard {
    /// Whether it holds nothing.
    #[inline]
    pub(crate) fn is_clear(&self, una: u32) -> bool {
        self.sacked_count == 0 && self.repeated_count == 0 && self.edge <= una
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self, una: u32, next: u32) {
        self.sacked.remove_range(una, next);
        self.repeated.remove_range(una, next);
        (
            self.sacked_count,
            self.sacked_below_edge,
            self.repeated_count,
        ) = (0, 0, 0);
        (self.top, self.edge, self.repair_from) = (una, una, una);
        self.seen = Default::default();
        self.repairs.clear();
    }

    /// All below `una` is acknowledged; it was `before` until now. Tells how much of it was
    /// selectively acknowledged already.
    pub(crate) fn acknowledge(&mut self, before: u32, una: u32) -> u32 {
        let below_edge = una.min(self.edge.max(before));
        self.sacked_below_edge -= self.sacked.count_range(before, below_edge);
        let sacked = self.sacked.remove_range(before, una);
        self.sacked_count -= sacked;
        // Repeated ones that were sacked later have left the count already.
        self.repeated_count -= self.repeated.remove_range(before, una);
        self.rise_to(una);
        sacked
    }

    /// Nothing below `una` matters any more.
    fn rise_to(&mut self, una: u32) {
        self.edge = self.edge.max(una);
        self.top = self.top.max(una);
        self.repair_from = self.repair_from.max(una);
    }

    /// Enters the blocks of an acknowledgement; tells how many segments they newly cover, and hands
    /// the part of each block that was not told before to `on_part`.
    pub(crate) fn sack(
        &mut self,
        una: u32,
        next: u32,
        blocks: &[Block],
        mut on_part: impl FnMut(Range<u32>),
    ) -> u32 {
        self.sacked.reserve(una, next);
        self.repeated.reserve(una, next);
        self.rise_to(una);
        let before = self.sacked_count;
        for block in blocks {
            let known = self.seen.iter().find(|seen| seen.start == block.start);
            let known = known.map_or(block.start, |seen| seen.end);
            let (start, end) = (known.max(una), block.end.min(next));
            if start < end {
                self.enter(start, end);
                on_part(start..end);
            }
        }
        self.seen[..blocks.len()].copy_from_slice(blocks);
        self.sacked_count - before
    }

    fn enter(&mut self, start: u32, end: u32) {
        let edge = self.edge;
        let Scoreboard {
            sacked,
            repeated,
            sacked_count,
            sacked_below_edge,
            repeated_count,
            ..
        } = self;
        sacked.insert_range(start, end, |word, new| {
            *sacked_count += new.count_ones();
            let below = match edge.saturating_sub(word * 64) {
                0 => 0,
                many if many >= 64 => !0,
                some => (1 << some) - 1,
            };
            *sacked_below_edge += (new & below).count_ones();
            let mut again = new & repeated.word(word);
            *repeated_count -= again.count_ones();
            while again != 0 {
                let number = word * 64 + again.trailing_zeros();
                repeated.remove_range(number, number + 1);
                again &= again - 1;
            }
        });
        self.top = self.top.max(end);
    }

    /// Moves the edge below which missing segments are lost; tells how many more are lost now.
    pub(crate) fn judge(&mut self, una: u32, rule: LossRule) -> u32 {
        let edge = match rule {
            LossRule::ThirdAbove => self.third_from_top(una),
            LossRule::Forward => match self.top.saturating_sub(una) > DUPLICATES {
                true => self.top - 1,
                false => una,
            },
        };
        self.move_edge(edge)
    }

    /// Takes all below the highest that has arrived for lost when that is `certain`, or when three
    /// have arrived above holes; tells how many more are lost now.
    ///
    /// Source: RFC 8985 section 6.2 with no reordering seen: the time to wait for what is late is 0
    /// then (`tcp_rack_reo_wnd`). It is for paths without `reorder`.
    pub(crate) fn judge_by_time(&mut self, una: u32, certain: bool) -> u32 {
        match certain || self.sacked_count >= DUPLICATES {
            true => self.move_edge(self.top.max(una)),
            false => 0,
        }
    }

    /// Whether something has arrived above a hole.
    #[inline]
    pub(crate) fn has_arrivals(&self) -> bool {
        self.sacked_count > 0
    }

    fn move_edge(&mut self, edge: u32) -> u32 {
        if edge <= self.edge {
            return 0;
        }
        let sacked = self.sacked.count_range(self.edge, edge);
        let lost = edge - self.edge - sacked;
        self.sacked_below_edge += sacked;
        self.edge = edge;
        lost
    }

    /// The third selectively acknowledged segment from above; `una` when there are fewer.
    fn third_from_top(&self, una: u32) -> u32 {
        if self.sacked_count < DUPLICATES {
            return una;
        }
        let mut missing = DUPLICATES;
        for word in (una / 64..=(self.top - 1) / 64).rev() {
            let mut bits = self.sacked.word(word);
            while bits != 0 {
                let highest = 63 - bits.leading_zeros();
                missing -= 1;
                if missing == 0 {
                    return word * 64 + highest;
                }
                bits &= !(1 << highest);
            }
        }
        una
    }

    /// All that is not selectively acknowledged is lost, what was sent again too.
    pub(crate) fn lose_all(&mut self, una: u32, next: u32) {
        self.sacked.reserve(una, next);
        self.repeated.reserve(una, next);
        self.repeated.remove_range(una, next);
        self.repeated_count = 0;
        self.repairs.clear();
        self.rise_to(una);
        self.repair_from = una;
        self.move_edge(next);
    }

    /// Whether the first unacknowledged segment is lost.
    #[inline]
    pub(crate) fn has_lost(&self, una: u32) -> bool {
        self.edge > una
    }

    /// Segments between `una` and `next` that are believed to be on the way (RFC 6675: Pipe).
    #[inline]
    pub(crate) fn pipe(&self, una: u32, next: u32) -> u32 {
        let lost = self.edge.max(una) - una - self.sacked_below_edge;
        (next - una) + self.repeated_count - self.sacked_count - lost
    }

    /// The lowest lost segment that was not sent again yet.
    pub(crate) fn next_lost(&mut self, una: u32) -> Option<u32> {
        let mut from = self.repair_from.max(una);
        while let Some(number) = self.sacked.first_missing(from, self.edge) {
            if !self.repeated.contains(number) {
                self.repair_from = number;
                return Some(number);
            }
            from = number + 1;
        }
        self.repair_from = self.edge.max(una);
        None
    }

    /// Finds segments that were lost when they were sent again; tells how many.
    ///
    /// Source: the idea of RFC 8985 (RACK), without its clock. A path here keeps the order of
    /// packets, so what was sent before something that has arrived has arrived as well, or is lost.
    pub(crate) fn lose_repairs(&mut self, una: u32) -> u32 {
        let overtaken = |repair: &Repair| {
            self.has_arrived(repair.number, una) || self.top >= repair.highest + DUPLICATES
        };
        let early = 0..self.repairs.len().min(REPAIRS_AT_ONCE);
        let latest = early.rev().find(|index| overtaken(&self.repairs[*index]));
        let settled = latest.map_or(0, |index| index + 1);
        let mut lost = 0;
        for _ in 0..settled {
            let Some(Repair { number, .. }) = self.repairs.pop_front() else {
                break;
            };
            if !self.has_arrived(number, una) && self.repeated.contains(number) {
                self.repeated.remove_range(number, number + 1);
                self.repeated_count -= 1;
                self.repair_from = self.repair_from.min(number);
                lost += 1;
            }
        }
        lost
    }

    fn has_arrived(&self, number: u32, una: u32) -> bool {
        number < una || self.sacked.contains(number)
    }

    /// A segment was sent again, after all below `highest` were sent; [`lose_repairs`] will look
    /// after it.
    ///
    /// [`lose_repairs`]: Scoreboard::lose_repairs
    pub(crate) fn repeat_watched(&mut self, number: u32, highest: u32) {
        self.repairs.push_back(Repair { number, highest });
        self.repeat(number);
    }

    /// A segment was sent again.
    pub(crate) fn repeat(&mut self, number: u32) {
        self.repeated.insert(number);
        self.repeated_count += 1;
        self.repair_from = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: u32, end: u32) -> Block {
        Block { start, end }
    }

    /// Segments 0 to 9 are sent, 0 and 4 are missing.
    fn two_holes() -> Scoreboard {
        let mut board = Scoreboard::default();
        board.sack(0, 10, &[block(1, 4)], |_| {});
        board.sack(0, 10, &[block(5, 7), block(1, 4)], |_| {});
        board
    }

    #[test]
    fn a_segment_is_lost_with_three_above_it() {
        let mut board = two_holes();
        board.judge(0, LossRule::ThirdAbove);
        // 1, 2, 3, 5, 6 have arrived: the third from above is 3, so 0 is lost and 4 is not yet.
        assert_eq!(board.next_lost(0), Some(0));
        board.repeat(0);
        assert_eq!(board.next_lost(0), None);
        board.sack(0, 10, &[block(5, 8), block(1, 4)], |_| {});
        board.judge(0, LossRule::ThirdAbove);
        assert_eq!(board.next_lost(0), Some(4));
    }

    #[test]
    fn forward_acknowledgement_takes_all_holes_below_the_top_for_lost() {
        let mut board = two_holes();
        board.judge(0, LossRule::Forward);
        assert_eq!(board.next_lost(0), Some(0));
        board.repeat(0);
        assert_eq!(board.next_lost(0), Some(4));
    }

    #[test]
    fn the_pipe_leaves_out_what_arrived_and_what_is_lost() {
        let mut board = two_holes();
        // 10 sent, 5 arrived.
        assert_eq!(board.pipe(0, 10), 5);
        board.judge(0, LossRule::ThirdAbove);
        assert_eq!(board.pipe(0, 10), 4);
        board.repeat(0);
        assert_eq!(board.pipe(0, 10), 5);
        board.acknowledge(0, 4);
        // 4, 7, 8, 9 are on the way.
        assert_eq!(board.pipe(4, 10), 4);
        board.acknowledge(4, 10);
        assert!(board.is_clear(10));
        assert_eq!(board.pipe(10, 10), 0);
    }

    #[test]
    fn what_was_sent_before_something_that_arrived_is_lost_if_it_has_not() {
        let mut board = two_holes();
        board.judge(0, LossRule::Forward);
        board.repeat_watched(0, 10);
        board.repeat_watched(4, 10);
        assert_eq!(board.lose_repairs(0), 0);
        // The second repair arrives, the first has not.
        board.sack(0, 10, &[block(1, 7)], |_| {});
        assert_eq!(board.lose_repairs(0), 1);
        assert_eq!(board.next_lost(0), Some(0));
        // 7, 8, 9 are on the way; 0 will be once more.
        assert_eq!(board.pipe(0, 10), 3);
    }

    #[test]
    fn a_repair_is_lost_when_three_newer_segments_have_arrived() {
        let mut board = two_holes();
        board.judge(0, LossRule::ThirdAbove);
        board.repeat_watched(0, 10);
        board.sack(0, 13, &[block(5, 12), block(1, 4)], |_| {});
        assert_eq!(board.lose_repairs(0), 0);
        board.sack(0, 13, &[block(5, 13), block(1, 4)], |_| {});
        assert_eq!(board.lose_repairs(0), 1);
        assert_eq!(board.next_lost(0), Some(0));
    }

    #[test]
    fn after_a_timeout_only_what_arrived_is_spared() {
        let mut board = two_holes();
        board.judge(0, LossRule::ThirdAbove);
        board.repeat(0);
        board.lose_all(0, 10);
        assert_eq!(board.pipe(0, 10), 0);
        let mut again = Vec::new();
        while let Some(number) = board.next_lost(0) {
            board.repeat(number);
            again.push(number);
        }
        assert_eq!(again, [0, 4, 7, 8, 9]);
    }

    #[test]
    fn a_repeated_segment_that_arrives_out_of_order_leaves_the_pipe() {
        let mut board = two_holes();
        board.judge(0, LossRule::Forward);
        board.repeat(0);
        board.repeat(4);
        board.sack(0, 10, &[block(1, 7)], |_| {});
        assert_eq!(board.repeated_count, 1);
        // 0 again, 7, 8, 9.
        assert_eq!(board.pipe(0, 10), 4);
    }
}
