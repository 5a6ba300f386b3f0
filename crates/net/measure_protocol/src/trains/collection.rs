//! The packets of one train that have arrived.

use units::{Span, Time};

use super::STRAGGLERS;

/// When a packet arrived, from a zero that the receiver chose for the train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// By the kernel's stamp; `None` where it gave none.
    pub by_kernel: Option<Span>,
    /// By the program's clock when it read the packet.
    pub by_program: Span,
}

/// What has arrived of a train.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// For each packet of the train; `None` while it has not come.
    pub arrivals: Vec<Option<Arrival>>,
    missing: usize,
    last: Time,
}

impl Collection {
    /// Nothing yet of so many packets.
    pub(super) fn empty(packets: usize, now: Time) -> Self {
        Collection {
            arrivals: vec![None; packets],
            missing: packets,
            last: now,
        }
    }

    /// A packet has arrived. Of copies the first counts, and numbers beyond the train are nothing.
    pub(super) fn put(&mut self, now: Time, packet: u32, arrival: Arrival) {
        let place = usize::try_from(packet).ok();
        let place = place.and_then(|place| self.arrivals.get_mut(place));
        if let Some(place @ None) = place {
            *place = Some(arrival);
            self.missing -= 1;
            self.last = now;
        }
    }

    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Whether nothing has come yet.
    pub fn is_empty(&self) -> bool {
        self.missing == self.arrivals.len()
    }

    /// When to stop waiting for the rest of a train that had left at `sent`.
    pub(super) fn given_up_at(&self, sent: Time) -> Time {
        match self.is_complete() {
            true => sent,
            false => sent.max(self.last) + STRAGGLERS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Arrival {
        Arrival {
            by_kernel: Some(Span::from_nanos(nanos)),
            by_program: Span::from_nanos(nanos + 9),
        }
    }

    #[test]
    fn copies_and_strangers_change_nothing() {
        let mut seen = Collection::empty(2, Time::ZERO);
        seen.put(Time::ZERO, 1, at(5));
        seen.put(Time::ZERO, 1, at(8));
        seen.put(Time::ZERO, 2, at(9));
        seen.put(Time::ZERO, u32::MAX, at(9));
        assert_eq!(seen.arrivals, [None, Some(at(5))]);
        assert!(!seen.is_complete() && !seen.is_empty());
        seen.put(Time::ZERO, 0, at(7));
        assert!(seen.is_complete());
    }

    #[test]
    fn the_rest_is_waited_for_from_the_last_that_came() {
        let time = |millis| Time::ZERO + Span::from_millis(millis);
        let mut seen = Collection::empty(3, Time::ZERO);
        assert_eq!(seen.given_up_at(time(50)), time(250));
        seen.put(time(100), 0, at(1));
        assert_eq!(seen.given_up_at(time(50)), time(300));
        seen.put(time(110), 1, at(1));
        seen.put(time(120), 2, at(1));
        assert_eq!(seen.given_up_at(time(50)), time(50));
    }
}
