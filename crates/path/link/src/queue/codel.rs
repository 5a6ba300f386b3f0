//! Controlled Delay (RFC 8289).

use netpath::CoDelSpec;
use units::{Bytes, Span, Time};

use super::drop_tail::DropTail;
use crate::accounts::{Accounts, Entry};
use crate::{Admission, DropCause, Packet};

/// First in, first out; drops or marks at the head what has waited too long for too long.
///
/// Names and steps are those of the pseudo-code in RFC 8289, section 5. A mark in place of a drop
/// takes the same place in the control law, and the packet is sent (as in Linux's `sch_codel`; the
/// RFC leaves marking open).
#[derive(Debug)]
pub(crate) struct CoDel<P> {
    spec: CoDelSpec,
    waiting: DropTail<Stamped<P>>,
    /// When the wait will have been above the target for an interval, if it stays so.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since the dropping state was entered.
    count: u32,
    /// `count` when it was entered.
    last_count: u32,
    /// With less than the largest packet behind it, a queue keeps the link busy no longer.
    largest: Bytes,
}

/// A packet and when it came.
#[derive(Debug)]
struct Stamped<P> {
    packet: P,
    arrived: Time,
}

impl<P: Packet> Packet for Stamped<P> {
    #[inline]
    fn size(&self) -> Bytes {
        self.packet.size()
    }
}

/// The packet at the head, and whether it may be dropped.
struct Head<P> {
    packet: P,
    too_late: bool,
}

/// What became of a head that was to be dropped.
enum Notified<P> {
    Marked(P),
    Dropped,
}

impl<P: Packet> CoDel<P> {
    pub(crate) fn new(spec: CoDelSpec) -> Self {
        CoDel {
            spec,
            waiting: DropTail::new(spec.limit),
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            largest: Bytes::ZERO,
        }
    }

    #[inline]
    pub(crate) fn packets(&self) -> usize {
        self.waiting.packets()
    }

    #[inline]
    pub(crate) fn bytes(&self) -> Bytes {
        self.waiting.bytes()
    }

    pub(crate) fn offer(&mut self, packet: P, now: Time) -> Admission {
        self.largest = self.largest.max(packet.size());
        self.waiting.offer(Stamped {
            packet,
            arrived: now,
        })
    }

    pub(crate) fn poll(&mut self, now: Time, accounts: &mut Accounts<P>) -> Option<P> {
        let Some(head) = self.head(now) else {
            self.dropping = false;
            return None;
        };
        match (self.dropping, head.too_late) {
            (true, true) => self.go_on(head, now, accounts),
            (false, true) => self.begin(head.packet, now, accounts),
            (_, false) => {
                self.dropping = false;
                Some(head.packet)
            }
        }
    }

    /// Drops as many as are due, until one that is in time comes to the head.
    fn go_on(&mut self, mut head: Head<P>, now: Time, accounts: &mut Accounts<P>) -> Option<P> {
        while now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            let marked = self.notify(head.packet, now, accounts);
            if let Notified::Marked(packet) = marked {
                self.drop_next = self.after_drop(self.drop_next);
                return Some(packet);
            }
            head = match self.head(now) {
                Some(head) => head,
                None => {
                    self.dropping = false;
                    return None;
                }
            };
            if !head.too_late {
                self.dropping = false;
                break;
            }
            self.drop_next = self.after_drop(self.drop_next);
        }
        Some(head.packet)
    }

    /// Enters the dropping state with a first drop.
    fn begin(&mut self, packet: P, now: Time, accounts: &mut Accounts<P>) -> Option<P> {
        let next = match self.notify(packet, now, accounts) {
            Notified::Marked(packet) => Some(packet),
            Notified::Dropped => self.head(now).map(|head| head.packet),
        };
        self.dropping = true;
        // Soon after the last time, the rate of drops that controlled the queue then is a better
        // start than one drop per interval.
        let drops = self.count - self.last_count;
        let recently = now.since(self.drop_next) < self.spec.interval.times(16);
        self.count = if drops > 1 && recently { drops } else { 1 };
        self.drop_next = self.after_drop(now);
        self.last_count = self.count;
        next
    }

    /// The RFC's `dodequeue`: the head, and whether the wait has been too long for an interval.
    fn head(&mut self, now: Time) -> Option<Head<P>> {
        let Some(Stamped { packet, arrived }) = self.waiting.poll() else {
            self.first_above = None;
            return None;
        };
        let wait = now.since(arrived);
        if wait < self.spec.target || self.waiting.bytes() <= self.largest {
            self.first_above = None;
            return Some(Head {
                packet,
                too_late: false,
            });
        }
        let first_above = *self.first_above.get_or_insert(now + self.spec.interval);
        Some(Head {
            packet,
            too_late: now >= first_above,
        })
    }

    fn notify(&self, mut packet: P, now: Time, accounts: &mut Accounts<P>) -> Notified<P> {
        if self.spec.ecn && packet.ecn_capable() {
            packet.mark_congestion();
            accounts.mark(Entry::of(&packet));
            return Notified::Marked(packet);
        }
        accounts.lose(packet, now, DropCause::Sojourn);
        Notified::Dropped
    }

    /// The control law: drops come closer with the square root of their count.
    fn after_drop(&self, last: Time) -> Time {
        let interval = self.spec.interval.as_secs_f64();
        last + Span::from_secs_f64(interval / f64::from(self.count).sqrt())
    }
}

#[cfg(test)]
mod tests;
