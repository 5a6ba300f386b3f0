//! Packets on the way.

use std::collections::VecDeque;

use netpath::Reorder;
use units::{Span, Time};

use crate::random::{Purpose, Random};

/// Packets on the way and when they arrive, in the order of arrival.
#[derive(Debug)]
pub(crate) struct Wire<P> {
    delay: Span,
    longer: Option<Longer>,
    packets: VecDeque<(Time, P)>,
}

/// The longer way that some packets take.
#[derive(Debug)]
struct Longer {
    spec: Reorder,
    random: Random,
}

impl<P> Wire<P> {
    /// An empty wire; `seed` decides which packets take the longer way.
    pub(crate) fn new(delay: Span, reorder: Option<Reorder>, seed: u64) -> Self {
        Wire {
            delay,
            longer: reorder.map(|spec| Longer {
                spec,
                random: Random::new(seed, Purpose::Reorder),
            }),
            packets: VecDeque::new(),
        }
    }

    /// A packet whose last bit left the sender at `sent`.
    #[inline]
    pub(crate) fn put(&mut self, packet: P, sent: Time) {
        let arrival = sent + self.delay;
        match &mut self.longer {
            None => self.packets.push_back((arrival, packet)),
            Some(longer) => {
                let arrival = match longer.random.chance(longer.spec.rate) {
                    true => arrival + longer.spec.delay,
                    false => arrival,
                };
                let place = self.packets.partition_point(|(at, _)| *at <= arrival);
                self.packets.insert(place, (arrival, packet));
            }
        }
    }

    /// The packet that arrives next, if it has by `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Time) -> Option<(Time, P)> {
        let (arrival, _) = self.packets.front()?;
        match *arrival <= now {
            true => self.packets.pop_front(),
            false => None,
        }
    }

    /// The packet that comes out after `ahead` others, as things stand.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<&P> {
        self.packets.get(ahead).map(|(_, packet)| packet)
    }

    /// When the first packet on the way arrives, where nothing that waits can overtake it.
    #[inline]
    pub(crate) fn sure_arrival(&self) -> Option<Time> {
        match self.longer {
            None => self.packets.front().map(|(arrival, _)| *arrival),
            Some(_) => None,
        }
    }

    /// When something arrives next, where `sender_free` is when the next packet that waits begins
    /// to leave; `None` where nothing is on the way and none waits.
    #[inline]
    pub(crate) fn next_arrival(&self, sender_free: Option<Time>) -> Option<Time> {
        let arrival = self.packets.front().map(|(arrival, _)| *arrival);
        match (arrival, sender_free) {
            // What waits may overtake what is on the way.
            (Some(arrival), Some(free)) if self.longer.is_some() => {
                Some(arrival.min(free + self.delay))
            }
            // What waits arrives after what is on the way, so it needs no waking of its own,
            // unless everything before it was lost.
            (arrival, sender_free) => arrival.or(sender_free),
        }
    }
}
