//! UDT's own congestion control (Gu, Grossman, "UDT: UDP-based data transfer for high-speed wide
//! area networks", Computer Networks 51(7), 2007; draft-gg-udt-03): the rate grows by steps that
//! follow from what the link has left, and falls by a ninth at a loss.
//!
//! What differs: acknowledgements are TCP's, after two segments and not each 10 ms, and what they
//! show is looked at each 10 ms. UDT's pairs of packets would find the link's capacity: here it is
//! told, the path's rate over the streams. An acknowledgement that shows losses stands for one
//! negative acknowledgement.

use units::{Bytes, Rate, Span, Time};

use super::{Acked, Facts, Window};

/// How often the rate is looked at, whatever the round trip.
const INTERVAL: Span = Span::from_millis(10);
/// What a loss does to the time between two packets.
const DECREASE: f64 = 1.125;
/// How often it does so in one period of congestion.
const DECREASES: u32 = 5;
/// Packets a step adds for each bit per second that is left, rounded up to a power of ten and
/// divided by the size of a packet.
const BETA: f64 = 1.5e-6;
/// Below the rate before the last loss, no more than this share of the capacity is taken for left.
const LEFT_SHARE: f64 = 1.0 / 9.0;
/// The window: at first, on top of what arrives in a round trip, and where slow start ends.
const WINDOW_FIRST: f64 = 16.0;
const WINDOW_MAX: f64 = 25_600.0;
/// Share of a new value in a mean.
const NEW: f64 = 0.125;
/// Seconds between two packets of slow start: nothing but the window holds them back.
const PERIOD_FIRST: f64 = 1e-6;

/// Rate and window.
#[derive(Debug, Clone)]
pub(crate) struct Udt {
    segment: Bytes,
    /// Packets per second.
    capacity: f64,
    /// Seconds between two packets.
    period: f64,
    in_slow_start: bool,
    looked: Time,
    arrived: u32,
    /// Packets per second that arrive; none before the first look.
    arrival: Option<f64>,
    had_loss: bool,
    /// The report at hand began a period of congestion.
    is_counted: bool,
    /// The period before the last decrease; that of slow start before the first.
    period_before: f64,
    reports: Reports,
}

/// Negative acknowledgements of one period of congestion: only at some of them, drawn at random,
/// the rate falls again, so that flows do not fall in step.
#[derive(Debug, Clone, Copy)]
struct Reports {
    seen: u32,
    mean: f64,
    decreases: u32,
    /// The rate falls again at each report of so many.
    every: u32,
    periods: u32,
}

impl Udt {
    pub(crate) fn new(facts: &Facts) -> Self {
        Udt {
            segment: facts.segment,
            capacity: facts.share.as_f64() / bits(facts.segment),
            period: PERIOD_FIRST,
            in_slow_start: true,
            looked: Time::ZERO,
            arrived: 0,
            arrival: None,
            had_loss: false,
            is_counted: false,
            period_before: PERIOD_FIRST,
            reports: Reports {
                seen: 0,
                mean: 1.0,
                decreases: 0,
                every: 1,
                periods: (facts.seed % 1_000) as u32,
            },
        }
    }

    pub(crate) fn pacing(&self) -> Rate {
        Rate::from_f64(bits(self.segment) / self.period)
    }

    pub(crate) fn on_connected(&mut self, window: &mut Window, now: Time) {
        self.looked = now;
        window.size = WINDOW_FIRST;
        window.threshold = 0.0;
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        self.arrived += acked.delivered;
        if acked.lost > 0 {
            self.on_report(window, acked.round_trip_smoothed);
        }
        let since = acked.now.since(self.looked);
        if since < INTERVAL {
            return;
        }
        let arrived = f64::from(std::mem::take(&mut self.arrived));
        self.looked = acked.now;
        let rate = arrived / since.as_secs_f64();
        let mean = self.arrival.map_or(rate, |mean| mean + NEW * (rate - mean));
        self.arrival = Some(mean);
        self.look(window, arrived, acked.round_trip_smoothed);
    }

    /// Losses of what was sent since the last decrease.
    pub(crate) fn on_congestion(&mut self) {
        if self.in_slow_start {
            return;
        }
        self.period_before = self.period;
        self.reports.begin();
        self.is_counted = true;
        self.slow_down();
    }

    fn look(&mut self, window: &mut Window, arrived: f64, round_trip: Span) {
        if self.in_slow_start {
            window.size = (window.size + arrived).min(WINDOW_MAX);
            if window.size >= WINDOW_MAX {
                self.leave_slow_start(window, round_trip);
            }
            return;
        }
        let time = (round_trip + INTERVAL).as_secs_f64();
        window.size = (self.arrival.unwrap_or(0.0) * time + WINDOW_FIRST).min(WINDOW_MAX);
        if !std::mem::take(&mut self.had_loss) {
            self.speed_up();
        }
    }

    fn speed_up(&mut self) {
        let mut left = self.capacity - 1.0 / self.period;
        if self.period > self.period_before {
            left = left.min(self.capacity * LEFT_SHARE);
        }
        let size = self.segment.as_f64();
        let least = 1.0 / size;
        let step = match left > 0.0 {
            true => 10_f64.powf((left * bits(self.segment)).log10().ceil()) * BETA / size,
            false => least,
        };
        let interval = INTERVAL.as_secs_f64();
        self.period = self.period * interval / (self.period * step.max(least) + interval);
    }

    fn on_report(&mut self, window: &Window, round_trip: Span) {
        if self.in_slow_start {
            self.leave_slow_start(window, round_trip);
            return;
        }
        self.had_loss = true;
        let is_counted = std::mem::take(&mut self.is_counted);
        if !is_counted && self.reports.is_one_to_slow_down_at() {
            self.slow_down();
        }
    }

    fn leave_slow_start(&mut self, window: &Window, round_trip: Span) {
        self.in_slow_start = false;
        let time = (round_trip + INTERVAL).as_secs_f64();
        let rate = self.arrival.unwrap_or(window.size / time);
        self.period = 1.0 / rate.max(1.0);
    }

    fn slow_down(&mut self) {
        self.period *= DECREASE;
    }
}

impl Reports {
    /// A period of congestion begins.
    fn begin(&mut self) {
        self.mean += NEW * (f64::from(self.seen) - self.mean);
        self.periods += 1;
        // Multiples of the golden ratio fall everywhere.
        let drawn = (f64::from(self.periods) * 0.618_034).fract();
        self.every = ((self.mean * drawn).ceil() as u32).max(1);
        (self.seen, self.decreases) = (1, 1);
    }

    fn is_one_to_slow_down_at(&mut self) -> bool {
        self.seen += 1;
        let falls = self.decreases < DECREASES && self.seen.is_multiple_of(self.every);
        if falls {
            self.decreases += 1;
        }
        falls
    }
}

fn bits(segment: Bytes) -> f64 {
    8.0 * segment.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Mbit/s with segments of 1500 bytes, out of slow start at half of it.
    fn udt() -> Udt {
        let mut udt = Udt::new(&Facts::of(Rate::from_bits_per_second(100_000_000)));
        udt.arrival = Some(udt.capacity / 2.0);
        udt.leave_slow_start(&Window::new(10), Span::from_millis(100));
        udt
    }

    #[test]
    fn the_step_follows_what_is_left() {
        // 50 Mbit/s are left, and a ninth of 100 is taken for it: 10^8 * 1.5e-6 / 1500, a tenth of
        // a packet more in 10 ms. Of all 50 the next power of ten is the same.
        let mut udt = udt();
        udt.speed_up();
        let step = 1.0 / udt.period - udt.capacity / 2.0;
        assert!((step - 10.0).abs() < 1e-6, "{step}");
        // A ninth of 60 Mbit/s is 6.7: a hundredth of a packet.
        let mut slow = Udt::new(&Facts::of(Rate::from_bits_per_second(60_000_000)));
        slow.arrival = Some(slow.capacity / 2.0);
        slow.leave_slow_start(&Window::new(10), Span::from_millis(100));
        slow.speed_up();
        let step = 1.0 / slow.period - slow.capacity / 2.0;
        assert!((step - 1.0).abs() < 1e-6, "{step}");
    }

    #[test]
    fn a_loss_takes_a_ninth_and_further_reports_at_most_four_times_more() {
        let mut udt = udt();
        let before = udt.period;
        let report = |udt: &mut Udt| udt.on_report(&Window::new(10), Span::from_millis(100));
        udt.on_congestion();
        // It is the same one.
        report(&mut udt);
        assert_eq!(udt.period, before * DECREASE);
        (0..100).for_each(|_| report(&mut udt));
        let falls = (udt.period / before).ln() / DECREASE.ln();
        assert!((falls - 5.0).abs() < 1e-9, "{falls}");
    }
}
