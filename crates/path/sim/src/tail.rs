//! Tail loss probes (RFC 8985 section 7): of the last segments of a flight, when nothing comes.

use units::Span;

use crate::packet::{Block, Packet};

/// RFC 8985 section 7.2 asks for twice the round trip; Linux adds its shortest timer.
const TIMER_MIN: Span = Span::from_millis(2);

/// What a sender waits for after it has sent all that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// For an acknowledgement, up to the retransmission timeout.
    Answer,
    /// For an acknowledgement, before it probes the tail.
    Probe,
    /// For what may be late only, below something that has arrived.
    Late,
}

/// How long Linux waits before a probe: two round trips, and as long as an acknowledgement may be
/// delayed where a single segment is outstanding; never longer than the timeout.
pub(crate) fn probe_after(smoothed: Span, outstanding: u32, least: Span, timeout: Span) -> Span {
    let more = if outstanding == 1 { least } else { TIMER_MIN };
    (smoothed.times(2) + more).min(timeout)
}

/// How long a hole may be late, when nothing has ever come out of order: a quarter of the smallest
/// round trip (RFC 8985 section 6.2).
pub(crate) fn late_after(smallest: Span, smoothed: Span) -> Span {
    Span::from_nanos(smallest.as_nanos() / 4).min(smoothed)
}

/// The probe of a tail: one until it is answered.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tail {
    /// It leaves next, whatever the window says.
    is_due: bool,
    sent: Option<Sent>,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    /// One beyond the highest segment sent.
    end: u32,
    /// It was a segment that had been sent before.
    again: bool,
}

impl Tail {
    pub(crate) fn is_probing(&self) -> bool {
        self.is_due || self.sent.is_some()
    }

    pub(crate) fn begin(&mut self) {
        self.is_due = true;
    }

    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    pub(crate) fn on_sent(&mut self, end: u32, again: bool) {
        self.is_due = false;
        self.sent = Some(Sent { end, again });
    }

    pub(crate) fn clear(&mut self) {
        *self = Tail::default();
    }

    /// Whether an acknowledgement shows that the probe has arrived above a hole: what was sent
    /// before it is lost.
    pub(crate) fn has_arrived(&self, ack: &Packet) -> bool {
        let beyond = |end| ack.sacked().iter().any(|block: &Block| block.end >= end);
        self.sent.is_some_and(|sent| beyond(sent.end))
    }

    /// Takes in an acknowledgement that advances by `advanced`; whether the probe has repaired a
    /// loss, which counts as any other (RFC 8985 section 7.4). A plain duplicate says that both
    /// copies have arrived.
    pub(crate) fn has_repaired(&mut self, ack: &Packet, advanced: u32) -> bool {
        let Some(Sent { end, again }) = self.sent else {
            return false;
        };
        let is_plain = advanced == 0 && ack.block_count == 0;
        if ack.number < end || again && ack.number == end && !is_plain {
            return false;
        }
        self.clear();
        again && ack.number > end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn ack(number: u32, beyond: Option<Block>) -> Packet {
        let mut packet = Packet {
            number,
            ..Packet::empty(Time::ZERO)
        };
        if let Some(block) = beyond {
            (packet.blocks[0], packet.block_count) = (block, 1);
        }
        packet
    }

    #[test]
    fn a_probe_waits_two_round_trips_and_a_delayed_acknowledgement() {
        let millis = Span::from_millis;
        let after = |outstanding| probe_after(millis(40), outstanding, millis(200), millis(240));
        assert_eq!(after(9), millis(82));
        // 280 ms would be later than the timeout.
        assert_eq!(after(1), millis(240));
        assert_eq!(late_after(millis(40), millis(60)), millis(10));
        assert_eq!(late_after(millis(40), millis(5)), millis(5));
    }

    #[test]
    fn a_probe_that_was_sent_before_has_repaired_a_loss_if_more_is_acknowledged() {
        let sent = || {
            let mut tail = Tail::default();
            tail.begin();
            tail.on_sent(10, true);
            tail
        };
        let mut tail = sent();
        assert!(!tail.has_repaired(&ack(10, None), 1) && tail.is_probing());
        assert!(tail.has_repaired(&ack(11, None), 1) && !tail.is_probing());
        // Both copies have arrived.
        let mut tail = sent();
        assert!(!tail.has_repaired(&ack(10, None), 0) && !tail.is_probing());
        let above = Block { start: 9, end: 10 };
        assert!(sent().has_arrived(&ack(5, Some(above))));
        let below = Block { start: 6, end: 9 };
        assert!(!sent().has_arrived(&ack(5, Some(below))));
    }
}
