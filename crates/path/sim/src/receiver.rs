//! The receiving end of a flow: what has arrived, and when to say so.

use units::{Span, Time};

use crate::bits::BitRing;
use crate::packet::{Block, Flags, Packet, SACK_BLOCKS};
use crate::timers::Deadline;

/// What to do about a segment that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Acknowledge now.
    Now,
    /// Acknowledge with the next segment, or after this time.
    Within(Span),
}

/// The receiving end of a flow. What every segment needs lies in one cache line; the rest, which
/// only losses need, is elsewhere.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Receiver {
    /// The segment that is expected next.
    next: u32,
    /// Segments that arrived in order and are not acknowledged yet.
    unacknowledged: u32,
    /// When the earliest of those was sent, or else the latest that was in order (RFC 7323).
    echo: Time,
    /// Whether congestion marks are echoed until the sender has reacted.
    echoes_congestion: bool,
    /// Whether anything beyond `next` has arrived.
    has_gap: bool,
    /// Segments that were acknowledged for being the first.
    quick: u8,
    pub(crate) delayed: Deadline,
    beyond: Box<Beyond>,
}

/// Segments that arrived before one that is missing.
#[derive(Debug, Clone, Default)]
struct Beyond {
    held: BitRing,
    /// One beyond the highest of them.
    top: u32,
    /// Runs among them, the latest first; the first three are told.
    recent: [Block; SACK_BLOCKS + 1],
    recent_count: u8,
    /// Segments that had arrived before.
    repeated: u32,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Receiver {
            next: 0,
            unacknowledged: 0,
            echo: Time::ZERO,
            echoes_congestion: false,
            has_gap: false,
            quick: 0,
            delayed: Deadline::NONE,
            beyond: Box::default(),
        }
    }

    /// Segments that have arrived in order.
    pub(crate) fn in_order(&self) -> u32 {
        self.next
    }

    /// One beyond the highest segment that has arrived, and how many below it have not.
    pub(crate) fn reached(&self) -> (u32, u32) {
        if !self.has_gap {
            return (self.next, 0);
        }
        let top = self.beyond.top;
        let held = self.beyond.held.count_range(self.next, top);
        (top, top - self.next - held)
    }

    /// Segments that arrived more than once, each time but the first.
    pub(crate) fn repeated(&self) -> u32 {
        self.beyond.repeated
    }

    /// A segment arrives. RFC 5681 section 4.2: every second one is acknowledged, and each one that
    /// is out of order or fills a hole. The first `quick` of the others are acknowledged each, as
    /// Linux does it, so that slow start goes faster.
    pub(crate) fn on_data(&mut self, packet: &Packet, patience: Option<Span>, quick: u8) -> Reply {
        self.note_congestion(packet.flags);
        if packet.number != self.next {
            if packet.number > self.next {
                self.beyond.hold(packet.number, self.next);
                self.has_gap = true;
            } else {
                self.beyond.repeated += 1;
            }
            return Reply::Now;
        }
        if self.unacknowledged == 0 {
            self.echo = packet.sent;
        }
        self.next += 1;
        self.unacknowledged += 1;
        if self.has_gap {
            self.next = self.beyond.release(self.next);
            self.has_gap = self.beyond.top > self.next;
            return Reply::Now;
        }
        if self.quick < quick {
            self.quick += 1;
            return Reply::Now;
        }
        match patience {
            Some(patience) if self.unacknowledged < 2 => Reply::Within(patience),
            _ => Reply::Now,
        }
    }

    /// Whether something waits to be acknowledged.
    pub(crate) fn owes(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Fills in an acknowledgement, which settles all that was owed.
    pub(crate) fn acknowledge(&mut self, packet: &mut Packet) {
        self.unacknowledged = 0;
        self.delayed.clear();
        packet.number = self.next;
        packet.sent = self.echo;
        packet.flags = Flags::default().with(Flags::ECHO, self.echoes_congestion);
        if self.has_gap {
            self.beyond.tell(packet);
        }
    }

    /// RFC 3168 section 6.1.3: marks are echoed until the sender says that it has reduced its
    /// window.
    fn note_congestion(&mut self, flags: Flags) {
        if flags.has(Flags::REDUCED) {
            self.echoes_congestion = false;
        }
        if flags.has(Flags::CONGESTION) {
            self.echoes_congestion = true;
        }
    }
}

impl Beyond {
    /// A segment beyond `next` arrives.
    fn hold(&mut self, number: u32, next: u32) {
        if number < self.top && self.held.contains(number) {
            self.repeated += 1;
            return;
        }
        self.held.reserve(next, number + 1);
        self.held.insert(number);
        self.top = self.top.max(number + 1);
        self.remember(number);
    }

    fn tell(&self, packet: &mut Packet) {
        let told = usize::from(self.recent_count).min(SACK_BLOCKS);
        packet.blocks[..told].copy_from_slice(&self.recent[..told]);
        packet.block_count = told as u8;
    }

    /// Puts the run that `number` belongs to first (RFC 2018 section 4).
    fn remember(&mut self, number: u32) {
        let mut run = Block {
            start: number,
            end: number + 1,
        };
        let mut others = [Block::default(); SACK_BLOCKS + 1];
        let mut count = 0;
        for block in &self.recent[..usize::from(self.recent_count)] {
            if block.end == run.start {
                run.start = block.start;
            } else if block.start == run.end {
                run.end = block.end;
            } else {
                others[count] = *block;
                count += 1;
            }
        }
        let kept = count.min(SACK_BLOCKS);
        self.recent[0] = run;
        self.recent[1..=kept].copy_from_slice(&others[..kept]);
        self.recent_count = kept as u8 + 1;
    }

    /// The segment before `next` has arrived: what follows is in order now, up to what this
    /// returns.
    fn release(&mut self, next: u32) -> u32 {
        let missing = self.held.first_missing(next, self.top);
        let end = missing.unwrap_or(self.top).max(next);
        self.held.remove_range(next, end);
        let mut kept = 0;
        for index in 0..usize::from(self.recent_count) {
            if self.recent[index].end > end {
                self.recent[kept] = self.recent[index];
                kept += 1;
            }
        }
        self.recent_count = kept as u8;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Option<Span> = Some(Span::from_millis(100));

    fn segment(number: u32) -> Packet {
        Packet {
            number,
            size: 1500,
            ..Packet::empty(Time::from_nanos(u64::from(number)))
        }
    }

    fn after(numbers: &[u32]) -> (Receiver, Vec<Reply>) {
        let mut receiver = Receiver::new();
        let replies = numbers
            .iter()
            .map(|number| receiver.on_data(&segment(*number), PATIENCE, 0));
        let replies = replies.collect();
        (receiver, replies)
    }

    fn answer(receiver: &mut Receiver) -> Packet {
        let mut packet = segment(0);
        receiver.acknowledge(&mut packet);
        packet
    }

    #[test]
    fn every_second_segment_is_acknowledged() {
        let (mut receiver, replies) = after(&[0, 1]);
        assert_eq!(replies, [Reply::Within(Span::from_millis(100)), Reply::Now]);
        let ack = answer(&mut receiver);
        // The echo is that of the first of the two.
        assert_eq!((ack.number, ack.sent), (2, Time::ZERO));
        assert!(!receiver.owes());
    }

    #[test]
    fn the_first_segments_are_acknowledged_each() {
        let mut receiver = Receiver::new();
        let mut replies = Vec::new();
        for number in 0..5 {
            let reply = receiver.on_data(&segment(number), PATIENCE, 3);
            if reply == Reply::Now {
                answer(&mut receiver);
            }
            replies.push(reply);
        }
        let later = Reply::Within(Span::from_millis(100));
        assert_eq!(
            replies,
            [Reply::Now, Reply::Now, Reply::Now, later, Reply::Now]
        );
    }

    #[test]
    fn runs_are_told_the_latest_first_and_grow_together() {
        let (mut receiver, replies) = after(&[0, 2, 4, 6, 8, 3]);
        assert_eq!(replies[1..], [Reply::Now; 5]);
        let told = answer(&mut receiver);
        let runs: Vec<_> = told.sacked().iter().map(|b| (b.start, b.end)).collect();
        assert_eq!(told.number, 1);
        assert_eq!(runs, [(2, 5), (8, 9), (6, 7)]);
    }

    #[test]
    fn a_filled_hole_releases_what_follows() {
        let (mut receiver, replies) = after(&[0, 2, 3, 5, 1]);
        assert_eq!(replies[4], Reply::Now);
        let told = answer(&mut receiver);
        assert_eq!(told.number, 4);
        assert_eq!(told.sacked(), [Block { start: 5, end: 6 }]);
    }

    #[test]
    fn what_is_missing_is_told_with_how_far_it_has_come() {
        assert_eq!(after(&[0, 1]).0.reached(), (2, 0));
        // 1 and 4 are missing below 6.
        assert_eq!(after(&[0, 2, 3, 5]).0.reached(), (6, 2));
        assert_eq!(after(&[0, 2, 3, 5, 1]).0.reached(), (6, 1));
        assert_eq!(after(&[0, 2, 1]).0.reached(), (3, 0));
    }

    #[test]
    fn what_came_before_is_acknowledged_again_and_changes_nothing() {
        let (mut receiver, replies) = after(&[0, 1, 0]);
        assert_eq!(replies[2], Reply::Now);
        assert_eq!(answer(&mut receiver).number, 2);
    }

    #[test]
    fn marks_are_echoed_until_the_window_was_reduced() {
        let mut receiver = Receiver::new();
        let flagged = |number, flag| Packet {
            flags: Flags::default().with(flag, true),
            ..segment(number)
        };
        receiver.on_data(&flagged(0, Flags::CONGESTION), PATIENCE, 0);
        assert!(answer(&mut receiver).flags.has(Flags::ECHO));
        receiver.on_data(&segment(1), PATIENCE, 0);
        assert!(answer(&mut receiver).flags.has(Flags::ECHO));
        receiver.on_data(&flagged(2, Flags::REDUCED), PATIENCE, 0);
        assert!(!answer(&mut receiver).flags.has(Flags::ECHO));
    }
}
