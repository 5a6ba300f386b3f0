//! Timers of flows, sources and samplers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

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
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, Alarm)>>,
}

impl Timers {
    #[inline]
    pub(crate) fn set(&mut self, at: Time, alarm: Alarm) {
        self.heap.push(Reverse((at, alarm)));
    }

    /// When the next one goes off.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, Alarm)> {
        self.heap.pop().map(|Reverse(timer)| timer)
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
    fn a_deadline_that_moved_later_sets_one_timer_at_a_time() {
        let (mut timers, mut deadline) = (Timers::default(), Deadline::NONE);
        let alarm = Alarm::Timeout(0);
        for due in 100..200 {
            deadline.move_to(AT(due), &mut timers, alarm);
        }
        assert_eq!(timers.heap.len(), 1);
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
