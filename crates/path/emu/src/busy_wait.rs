//! When a carrier watches the clock and its device instead of sleeping.
//!
//! A processor of a virtual machine that went idle takes about 100 us to wake. Where packets are
//! far apart the last stretch before one is due is always watched: that stays a fraction of the
//! time. Where they are closer, watching is paid for from a budget that grows only while nothing
//! happens. So the packets of a train, which come some tens of microseconds apart after a pause,
//! are taken in and handed over to within a few microseconds, and a bulk transfer, which never
//! pauses, sleeps and wakes as it would without all this.

use units::{Span, Time};

use crate::lateness::Lateness;

/// The last stretch before a packet is due that is always watched.
const ALWAYS: Span = Span::from_micros(60);
/// That stretch is watched for packets at least this far away.
const ALWAYS_FROM: Span = Span::from_micros(240);
/// As long as this a carrier with budget watches, for a packet that is due or for the next one of a
/// train.
const NEAR: Span = Span::from_micros(250);
/// A sleep as long as this is a pause; of a shorter one nothing is saved.
const PAUSE: Span = Span::from_millis(1);
/// One part in so many of a pause may be watched later.
const SAVED_PART: u64 = 2;
/// Enough for 200 packets of 1500 bytes at 60 Mbit/s; at 600 Mbit/s for 2,000.
const BUDGET_MAX: Span = Span::from_millis(40);

/// Decides between watching and sleeping.
#[derive(Debug)]
pub(crate) struct BusyWait {
    /// What may be watched beyond the last stretch before a packet is due.
    budget: Span,
    /// Until when a packet that follows the last one is expected.
    expected_until: Time,
    /// Since when watching goes on without a sleep.
    watching_since: Option<Time>,
    /// The packet whose last stretch is watched.
    awake_for: Option<Time>,
    lateness: Lateness,
}

impl BusyWait {
    pub(crate) fn new() -> Self {
        BusyWait {
            budget: BUDGET_MAX,
            expected_until: Time::ZERO,
            watching_since: None,
            awake_for: None,
            lateness: Lateness::default(),
        }
    }

    /// How late packets were handed over.
    pub(crate) fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// A packet came; where there is one there are often more.
    pub(crate) fn on_arrival(&mut self, now: Time) {
        self.expected_until = now + NEAR;
    }

    /// A packet was handed over, this late.
    pub(crate) fn on_delivery(&mut self, late: Span) {
        self.lateness.add(late);
    }

    /// Whether to look again at once. `due` is when the next packet comes out.
    pub(crate) fn goes_on(&mut self, due: Option<Time>, now: Time) -> bool {
        self.pay(now);
        let in_time = |due: Time| due > now && due.since(now) <= ALWAYS;
        if self.awake_for.is_some() && self.awake_for == due && due.is_some_and(in_time) {
            return true;
        }
        self.awake_for = None;
        let near = due.is_some_and(|due| due.since(now) <= NEAR);
        let goes_on = (near || now < self.expected_until) && self.budget > Span::ZERO;
        self.watching_since = goes_on.then_some(now);
        goes_on
    }

    /// When to wake for the packet that is due, `None` for never.
    pub(crate) fn sleep_until(&mut self, due: Option<Time>, now: Time) -> Option<Time> {
        let due = due?;
        if due.since(now) <= ALWAYS_FROM {
            return Some(due);
        }
        self.awake_for = Some(due);
        Some(due - ALWAYS)
    }

    /// A sleep is over that was to end at `until` at the latest; what it lasted longer, it waited
    /// for a processor.
    pub(crate) fn on_wake(&mut self, began: Time, until: Option<Time>, now: Time) {
        let slept = until.map_or(now, |until| until.min(now)).since(began);
        if slept >= PAUSE {
            let saved = Span::from_nanos(slept.as_nanos() / SAVED_PART);
            self.budget = (self.budget + saved).min(BUDGET_MAX);
        }
    }

    /// Takes what was watched since the last look from the budget.
    fn pay(&mut self, now: Time) {
        if let Some(since) = self.watching_since.take() {
            let watched = now.since(since);
            self.budget =
                Span::from_nanos(self.budget.as_nanos().saturating_sub(watched.as_nanos()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Looks each microsecond from `from` on while told to; when it was told to sleep, or the
    /// packet was there.
    fn watched_until(watch: &mut BusyWait, due: Option<Time>, from: u64) -> u64 {
        let over = |us: &u64| Some(micros(*us)) == due || !watch.goes_on(due, micros(*us));
        (from..).find(over).unwrap()
    }

    #[test]
    fn a_packet_far_away_is_slept_for_until_its_last_stretch() {
        let mut watch = BusyWait::new();
        let due = Some(micros(5_000));
        assert!(!watch.goes_on(due, micros(0)));
        watch.budget = Span::ZERO;
        assert_eq!(watch.sleep_until(due, micros(0)), Some(micros(4_940)));
        watch.on_wake(micros(0), None, micros(4_945));
        assert_eq!(watched_until(&mut watch, due, 4_945), 5_000);
    }

    #[test]
    fn the_last_stretch_is_watched_without_a_budget_too() {
        let mut watch = BusyWait::new();
        watch.budget = Span::ZERO;
        for packet in 1..1_000 {
            let due = Some(micros(packet * 300));
            let now = micros(packet * 300 - 300);
            assert!(!watch.goes_on(due, now));
            assert_eq!(watch.sleep_until(due, now), Some(micros(packet * 300 - 60)));
            watch.on_wake(now, None, micros(packet * 300 - 60));
            assert!(watch.goes_on(due, micros(packet * 300 - 30)));
        }
        assert_eq!(watch.budget, Span::ZERO);
    }

    #[test]
    fn close_packets_are_watched_while_the_budget_lasts() {
        let mut watch = BusyWait::new();
        // One each 100 us, for ever: 400 of them are watched for, then it sleeps until each is due.
        let watched = |packet: &u64| {
            let due = Some(micros(packet * 100));
            watched_until(&mut watch, due, packet * 100 - 100) == packet * 100
        };
        let watched = (1..1_000).filter(watched).count();
        assert!((395..=405).contains(&watched), "{watched}");
        let (due, now) = (Some(micros(100_000)), micros(99_900));
        assert!(!watch.goes_on(due, now));
        assert_eq!(watch.sleep_until(due, now), due);
    }

    #[test]
    fn a_pause_pays_for_the_next_train_and_short_sleeps_do_not() {
        let mut watch = BusyWait::new();
        watch.budget = Span::ZERO;
        for sleep in 0..1_000 {
            watch.on_wake(micros(sleep * 900), None, micros(sleep * 900 + 900));
        }
        // Nor does a short one that lasted longer because others had the processor.
        watch.on_wake(micros(0), Some(micros(900)), micros(8_000));
        assert_eq!(watch.budget, Span::ZERO);
        watch.on_wake(micros(0), Some(micros(9_000)), micros(8_000));
        assert_eq!(watch.budget, Span::from_millis(4));
        watch.on_wake(micros(0), None, micros(9_000_000));
        assert_eq!(watch.budget, BUDGET_MAX);
    }

    #[test]
    fn after_an_arrival_the_next_one_is_watched_for() {
        let mut watch = BusyWait::new();
        watch.on_arrival(micros(1_000));
        assert_eq!(watched_until(&mut watch, None, 1_000), 1_250);
        watch.budget = Span::ZERO;
        watch.on_arrival(micros(2_000));
        assert!(!watch.goes_on(None, micros(2_000)));
    }
}
