//! What leaves a sender, and when.

use std::num::NonZeroU32;

use units::{Bytes, Rate, Time};

use super::{Outgoing, Phase, Repair, Sender};
use crate::scoreboard::DUPLICATES;

impl Sender {
    /// How fast segments may leave: what congestion control says, up to what the stream may.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        match (self.control.pacing(), self.rules.pacing_max) {
            (Some(rate), Some(max)) => Some(rate.min(max)),
            (rate, max) => rate.or(max),
        }
    }

    /// Until when pacing lets nothing leave; `None` when something may leave `now`.
    #[inline]
    pub(crate) fn pacing_waits(&self, now: Time) -> Option<Time> {
        self.pacing().and_then(|_| self.rare.pacer.waits(now))
    }

    /// A segment of so many bytes leaves. Without timestamps, times a new segment when none is
    /// being timed, and no longer one that is sent again.
    #[inline]
    pub(crate) fn on_sent(&mut self, outgoing: Outgoing, size: Bytes, now: Time) {
        if let Some(rate) = self.pacing() {
            self.rare.pacer.on_sent(size, rate, now);
        }
        let first = outgoing.number == self.una && self.next == self.una + 1;
        self.control.on_sent(outgoing.number, self.una, first, now);
        if let Some(prr) = &mut self.rare.prr {
            prr.on_sent();
        }
        if !self.rules.timestamps {
            self.time(outgoing, now);
        }
    }

    #[inline]
    fn time(&mut self, outgoing: Outgoing, now: Time) {
        let end = NonZeroU32::new(outgoing.number + 1);
        match self.timed_end {
            None if !outgoing.again => (self.timed_end, self.timed_at) = (end, now),
            timed if timed == end => self.timed_end = None,
            _ => {}
        }
    }

    /// Whether a segment may leave now.
    #[inline]
    pub(crate) fn may_transmit(&self) -> bool {
        let new = self.next
            < self
                .una
                .saturating_add(self.outstanding_max)
                .min(self.limit);
        let open = match self.repair {
            Repair::Selective(_) => f64::from(self.pipe()) + 1.0 <= self.window.size,
            _ => f64::from(self.next - self.una) + 1.0 <= self.allowed(),
        };
        self.must_repair
            || self.rare.tail.is_due()
            || open && (new || self.tainted && self.rare.board.has_lost(self.una))
    }

    /// The next segment that may leave now.
    #[inline]
    pub(crate) fn poll_transmit(&mut self) -> Option<Outgoing> {
        if self.phase == Phase::Connecting {
            return None;
        }
        match self.repair {
            Repair::Selective(_) => self.poll_selective(),
            _ => self.poll_by_duplicates(),
        }
    }

    /// A probe of the tail: something new where the receiver has room, or else the last segment
    /// again (RFC 8985 section 7.3).
    fn poll_probe(&mut self) -> Outgoing {
        let outgoing = self.poll_new().unwrap_or(Outgoing {
            number: self.highest - 1,
            again: true,
        });
        self.rare.tail.on_sent(self.highest, outgoing.again);
        self.rare.tally.retransmitted += u64::from(outgoing.again);
        outgoing
    }

    #[inline]
    fn poll_selective(&mut self) -> Option<Outgoing> {
        if self.rare.tail.is_due() {
            return Some(self.poll_probe());
        }
        let pipe = self.pipe();
        let open = f64::from(pipe) + 1.0 <= self.window.size;
        if !open && !self.must_repair {
            return None;
        }
        let repairs = self.tainted && self.phase != Phase::Open;
        let lost = repairs.then(|| self.rare.board.next_lost(self.una));
        self.must_repair = false;
        if let Some(number) = lost.flatten() {
            match self.rules.watches_repairs {
                true => self.rare.board.repeat_watched(number, self.highest),
                false => self.rare.board.repeat(number),
            }
            self.rare.tally.retransmitted += 1;
            return Some(Outgoing {
                number,
                again: true,
            });
        }
        if open { self.poll_new() } else { None }
    }

    fn poll_by_duplicates(&mut self) -> Option<Outgoing> {
        if self.must_repair {
            self.must_repair = false;
            self.rare.tally.retransmitted += 1;
            return Some(Outgoing {
                number: self.una,
                again: true,
            });
        }
        if f64::from(self.next - self.una) + 1.0 > self.allowed() {
            return None;
        }
        self.poll_new()
    }

    /// The window, and what duplicates say has left the path (RFC 3042, RFC 5681 section 3.2 step
    /// 4).
    fn allowed(&self) -> f64 {
        let left = match self.phase {
            Phase::Recovery => self.inflation,
            Phase::Open => self.duplicates.min(DUPLICATES - 1),
            Phase::Connecting | Phase::Loss => 0,
        };
        self.window.size + f64::from(left)
    }

    /// The next segment in order: new, or once more after a timeout that forgot.
    #[inline]
    fn poll_new(&mut self) -> Option<Outgoing> {
        let number = self.next;
        let end = self
            .una
            .saturating_add(self.outstanding_max)
            .min(self.limit);
        if number >= end {
            return None;
        }
        self.next += 1;
        let again = number < self.highest;
        if again {
            self.rare.tally.retransmitted += 1;
        }
        self.highest = self.highest.max(self.next);
        Some(Outgoing { number, again })
    }

    /// All was sent that may be sent now: notes whether something is on the way, and whether the
    /// buffers and not the congestion window keep it from being more.
    #[inline]
    pub(crate) fn note_limits(&mut self, now: Time) {
        let outstanding = self.outstanding();
        let by_buffer = outstanding >= self.outstanding_max
            && self.next < self.limit
            && f64::from((self.pipe() + 1).min(self.outstanding_max)) <= self.window.size;
        let stands = (outstanding > 0, by_buffer);
        if self.noted != stands {
            self.noted = stands;
            self.rare.held_back.note(stands.0, stands.1, now);
        }
    }

    /// Whether the next segment has to tell that the window was reduced; asked once for each.
    #[inline]
    pub(crate) fn takes_reduction_notice(&mut self) -> bool {
        std::mem::take(&mut self.tells_reduction)
    }
}
