//! Timers of flows, sources and samplers.

mod ring;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use ring::{PLACES, RING_BITS, Ring};

/// What a timer is for. At the same moment they go off in this order, then by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// The state is recorded.
    Sample,
    /// The warm-up is over.
    WarmupOver,
    /// A flow begins.
    Start(u32),
    /// A delayed acknowledgement is due.
    DelayedAck(u32),
    /// A flow may send again.
    Send(u32),
    /// Nothing was acknowledged for too long.
    Timeout(u32),
    /// A source of cross traffic has something to do.
    Source(u32),
}

/// All timers, the earliest first.
///
/// Those of one cell, about a microsecond, are kept in order. Those of the other cells of the same
/// slot, about a millisecond, lie in a ring without order; so do those of the second after it, slot
/// by slot, and later ones in a heap: with thousands of flows most timers are moved before they go
/// off, and order is made for few of them.
#[derive(Debug)]
pub(crate) struct Timers {
    /// All that go off in the current cell or before its end; empty only when there are none at
    /// all.
    near: Heap,
    /// The number of the current cell.
    cell: u64,
    /// The cells of the current slot after this one.
    cells: Ring<Timer>,
    /// The slots after the current one.
    slots: Ring<Timer>,
    /// Beyond those.
    far: Heap,
}

type Timer = (Time, Alarm);
type Heap = BinaryHeap<Reverse<Timer>>;

/// A cell is this many doublings of a nanosecond long: 1.02 us. A slot is a ring of cells, 1.05 ms,
/// and a ring of slots 1.07 s.
const CELL_BITS: u32 = 10;
/// So many timers of a slot are not shared out among its cells, which would take longer than to
/// keep them in order.
const FEW: usize = 16;

fn cell_of(at: Time) -> u64 {
    at.as_nanos() >> CELL_BITS
}

impl Default for Timers {
    fn default() -> Self {
        Timers {
            near: Heap::new(),
            cell: 0,
            cells: Ring::new(),
            slots: Ring::new(),
            far: Heap::new(),
        }
    }
}

impl Timers {
    #[inline]
    pub(crate) fn set(&mut self, at: Time, alarm: Alarm) {
        let cell = cell_of(at);
        if cell <= self.cell {
            return self.near.push(Reverse((at, alarm)));
        }
        let (slot, current) = (cell >> RING_BITS, self.cell >> RING_BITS);
        if slot == current {
            self.cells.put(cell, (at, alarm));
        } else if slot - current < PLACES as u64 {
            self.slots.put(slot, (at, alarm));
        } else {
            self.far.push(Reverse((at, alarm)));
        }
        if self.near.is_empty() {
            self.turn();
        }
    }

    /// When the next one goes off.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.near.peek().map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Timer> {
        let Reverse(timer) = self.near.pop()?;
        if self.near.is_empty() {
            self.turn();
        }
        Some(timer)
    }

    /// Goes on to the next cell that holds something, and puts it in order.
    fn turn(&mut self) {
        if self.cells.is_empty() {
            self.open_slot();
        }
        if let Some(cell) = self.cells.next_after(self.cell)
            && self.near.is_empty()
        {
            self.cell = cell;
            self.near.extend(self.cells.take(cell).map(Reverse));
        }
    }

    /// Shares out the next slot that holds something among its cells.
    fn open_slot(&mut self) {
        let far = self.far.peek();
        let far = far.map(|Reverse((at, _))| cell_of(*at) >> RING_BITS);
        let next = self.slots.next_after(self.cell >> RING_BITS);
        let Some(slot) = next.into_iter().chain(far).min() else {
            return;
        };
        // All of a slot that counts as its last cell are kept in order.
        let is_sparse = self.slots.count_at(slot) <= FEW;
        self.cell = (slot + u64::from(is_sparse)).wrapping_shl(RING_BITS) - u64::from(is_sparse);
        let mut share_out = |timer: Timer| match cell_of(timer.0) {
            cell if cell <= self.cell => self.near.push(Reverse(timer)),
            cell => self.cells.put(cell, timer),
        };
        self.slots.take(slot).for_each(&mut share_out);
        while let Some(Reverse((at, _))) = self.far.peek() {
            if cell_of(*at) >> RING_BITS > slot {
                break;
            }
            self.far
                .pop()
                .into_iter()
                .for_each(|Reverse(timer)| share_out(timer));
        }
    }
}

/// A deadline that moves often, mostly to later: the timer behind it is set again only when it goes
/// off too early, so that moving the deadline costs nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    due: Time,
    /// When the earliest timer goes off that was set for it.
    set: Time,
}

impl Deadline {
    pub(crate) const NONE: Deadline = Deadline {
        due: Time::MAX,
        set: Time::MAX,
    };

    /// Moves the deadline.
    #[inline]
    pub(crate) fn move_to(&mut self, due: Time, timers: &mut Timers, alarm: Alarm) {
        self.due = due;
        if due < self.set {
            self.set = due;
            timers.set(due, alarm);
        }
    }

    /// There is none any more.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.due = Time::MAX;
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.due != Time::MAX
    }

    /// A timer went off: whether the deadline has come. Otherwise the timer is set again.
    #[inline]
    pub(crate) fn has_come(&mut self, now: Time, timers: &mut Timers, alarm: Alarm) -> bool {
        if self.set == now {
            self.set = Time::MAX;
        }
        if self.due <= now {
            self.due = Time::MAX;
            return true;
        }
        if self.due < self.set {
            self.set = self.due;
            timers.set(self.due, alarm);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    const AT: fn(u64) -> Time = Time::from_nanos;

    #[test]
    fn ties_are_ordered_by_kind_and_place() {
        let mut timers = Timers::default();
        timers.set(AT(5), Alarm::Timeout(1));
        timers.set(AT(5), Alarm::Start(2));
        timers.set(AT(5), Alarm::Start(1));
        timers.set(AT(4), Alarm::Source(9));
        let order = std::iter::from_fn(|| timers.pop()).map(|(_, alarm)| alarm);
        let expected = [
            Alarm::Source(9),
            Alarm::Start(1),
            Alarm::Start(2),
            Alarm::Timeout(1),
        ];
        assert_eq!(order.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn timers_come_in_order_from_near_and_far() {
        // A fixed sequence of spans from nanoseconds to a minute, set while others go off.
        let mut timers = Timers::default();
        let mut state = 1u64;
        let mut span = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % 10u64.pow(1 + (state >> 60) as u32 % 10)
        };
        let mut set = Vec::new();
        let mut gone = Vec::new();
        let mut now = AT(0);
        for index in 0..20_000 {
            let at = now + Span::from_nanos(span());
            timers.set(at, Alarm::Timeout(index));
            set.push((at, Alarm::Timeout(index)));
            if index % 3 == 2 {
                let timer = timers.pop().unwrap();
                now = timer.0;
                gone.push(timer);
            }
        }
        gone.extend(std::iter::from_fn(|| timers.pop()));
        set.sort();
        assert_eq!(gone, set);
    }

    #[test]
    fn a_deadline_that_moved_later_sets_one_timer_at_a_time() {
        let (mut timers, mut deadline) = (Timers::default(), Deadline::NONE);
        let alarm = Alarm::Timeout(0);
        for due in 100..200 {
            deadline.move_to(AT(due), &mut timers, alarm);
        }
        assert_eq!(timers.near.len(), 1);
        let (at, _) = timers.pop().unwrap();
        assert!(!deadline.has_come(at, &mut timers, alarm));
        let (at, _) = timers.pop().unwrap();
        assert_eq!(at, AT(199));
        assert!(deadline.has_come(at, &mut timers, alarm));
        assert_eq!(timers.next(), Time::MAX);
    }

    #[test]
    fn a_deadline_that_moved_earlier_comes_in_time() {
        let (mut timers, mut deadline) = (Timers::default(), Deadline::NONE);
        let alarm = Alarm::DelayedAck(0);
        deadline.move_to(AT(100), &mut timers, alarm);
        deadline.move_to(AT(50), &mut timers, alarm);
        let (at, _) = timers.pop().unwrap();
        assert!(deadline.has_come(at, &mut timers, alarm));
        // The timer for the old deadline is still there and comes to nothing.
        let (at, _) = timers.pop().unwrap();
        assert!(!deadline.has_come(at, &mut timers, alarm));
        assert_eq!(timers.next(), Time::MAX);
    }
}
