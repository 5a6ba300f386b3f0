//! The state machine, step by step.

use super::*;
use units::Bytes;

const RTT: Span = Span::from_millis(100);

/// A path that delivers one segment each millisecond after 100 ms, and the sender in front of it.
struct Bench {
    bbr: Bbr,
    window: Window,
    now: Time,
    next: u32,
    una: u32,
}

impl Bench {
    fn new() -> Self {
        let mut bbr = Bbr::new(&Facts::of(Rate::from_bits_per_second(12_000_000)));
        let window = Window::new(10);
        bbr.on_connected(&window, RTT, Time::ZERO);
        Bench {
            bbr,
            window,
            now: Time::ZERO,
            next: 0,
            una: 0,
        }
    }

    /// Sends a window, and acknowledges it after a round trip at one segment a millisecond.
    fn round(&mut self) {
        let count = self.window.size as u32;
        for number in self.next..self.next + count {
            self.bbr
                .on_sent(number, self.una, number == self.una, self.now);
        }
        self.next += count;
        self.now += Span::from_millis(99);
        while self.una < self.next {
            self.now += Span::from_millis(1);
            self.ack(Some(RTT), 0, false);
        }
    }

    fn ack(&mut self, round_trip: Option<Span>, lost: u32, in_recovery: bool) {
        self.bbr.on_delivered(self.una, self.now);
        self.una += 1;
        let acked = Acked {
            now: self.now,
            round_trip,
            round_trip_min: RTT,
            round_trip_smoothed: RTT,
            pipe: self.next - self.una,
            una: self.una,
            next: self.next,
            lost,
            must_not_grow: in_recovery,
            in_recovery,
            ..Acked::of(1)
        };
        self.bbr.on_ack(&mut self.window, &acked);
    }
}

#[test]
fn the_first_rate_is_the_window_once_a_round_trip_times_the_high_gain() {
    // 10 segments of 1500 bytes in 100 ms are 1.2 Mbit/s; times 2.885, less one per cent.
    let rate = Bench::new().bbr.pacing().unwrap().as_f64();
    assert!((rate - 1.2e6 * 2.885 * 0.99).abs() < 1.0, "{rate}");
}

#[test]
fn startup_ends_three_rounds_after_the_rate_stopped_growing() {
    let mut bench = Bench::new();
    let mut rounds = 0;
    while bench.bbr.stage == Stage::Startup {
        bench.round();
        rounds += 1;
        assert!(rounds < 20, "{:?}", bench.bbr);
    }
    assert!(bench.bbr.model.is_full());
    // A flight leaves at once and the next one waits for its end: 200 segments in 299 ms at last.
    let bandwidth = bench.bbr.model.bandwidth();
    assert!((bandwidth - 200.0 / 0.3).abs() < 5.0, "{bandwidth}");
    // The flight was acknowledged to the end, so the queue is empty and the rate varies already.
    assert!(matches!(bench.bbr.stage, Stage::ProbeBandwidth { .. }));
}

/// In the steady state with a known rate of 1000 segments a second.
fn steady(phase: usize) -> Bench {
    let mut bench = Bench::new();
    while bench.bbr.stage == Stage::Startup {
        bench.round();
    }
    bench.bbr.model.bandwidth_is(1000.0);
    bench.bbr.stage = Stage::ProbeBandwidth {
        phase,
        since: bench.now,
    };
    bench.window.size = 200.0;
    bench
}

#[test]
fn the_window_is_twice_what_the_path_holds_and_three_bursts() {
    let mut bench = steady(2);
    bench.bbr.set_pacing();
    // 11.88 Mbit/s send a burst of two segments.
    assert_eq!(bench.bbr.pacing().unwrap().bits_per_second(), 11_880_000);
    assert!((bench.bbr.inflight(2.0) - 206.0).abs() < 1e-6);
}

#[test]
fn the_cycle_goes_on_after_a_round_trip_and_from_the_high_rate_only_when_it_filled_the_path() {
    let mut bench = steady(0);
    bench.now += Span::from_millis(101);
    let acked = |pipe, now| Acked {
        now,
        pipe,
        ..Acked::of(1)
    };
    // 1.25 x 100 and 3 x 2 segments are needed.
    bench.bbr.vary_rate(&acked(100, bench.now));
    assert_eq!(bench.bbr.pacing_gain(), 1.25);
    bench.bbr.vary_rate(&acked(131, bench.now));
    assert_eq!(bench.bbr.pacing_gain(), 0.75);
    // The low rate ends early once the queue is gone.
    bench.bbr.vary_rate(&acked(120, bench.now));
    assert_eq!(bench.bbr.pacing_gain(), 0.75);
    bench.bbr.vary_rate(&acked(100, bench.now));
    assert_eq!(bench.bbr.pacing_gain(), 1.0);
    bench
        .bbr
        .vary_rate(&acked(100, bench.now + Span::from_millis(100)));
    assert!(matches!(
        bench.bbr.stage,
        Stage::ProbeBandwidth { phase: 2, .. }
    ));
}

#[test]
fn ten_seconds_without_a_short_round_trip_shrink_the_window_to_four_for_200_ms() {
    let mut bench = steady(2);
    for number in bench.next..bench.next + 50 {
        bench
            .bbr
            .on_sent(number, bench.una, number == bench.una, bench.now);
    }
    bench.next += 50;
    bench.now += Span::from_secs(11);
    bench.ack(Some(RTT + RTT), 0, false);
    assert_eq!(bench.bbr.stage, Stage::ProbeRoundTrip { until: None });
    assert_eq!(bench.window.size, 4.0);
    while bench.next - bench.una > 4 {
        bench.ack(Some(RTT), 0, false);
    }
    let Stage::ProbeRoundTrip {
        until: Some((end, _)),
    } = bench.bbr.stage
    else {
        panic!("{:?}", bench.bbr.stage);
    };
    assert_eq!(end, bench.now + Span::from_millis(200));
    // Long enough, but a round has not passed yet: what is acknowledged was sent before.
    bench.now = end + Span::from_millis(1);
    bench.ack(Some(RTT), 0, false);
    assert!(matches!(bench.bbr.stage, Stage::ProbeRoundTrip { .. }));
    bench.round();
    assert!(matches!(bench.bbr.stage, Stage::ProbeBandwidth { .. }));
    assert!(bench.window.size >= 200.0, "{}", bench.window.size);
}

#[test]
fn the_first_round_of_a_repair_sends_as_much_as_arrives() {
    let mut bench = steady(2);
    let count = 100;
    for number in bench.next..bench.next + count {
        bench
            .bbr
            .on_sent(number, bench.una, number == bench.una, bench.now);
    }
    bench.next += count;
    bench.now += RTT;
    bench.bbr.on_congestion(&bench.window);
    bench.ack(None, 1, true);
    // 99 on the way and one arrived.
    assert_eq!(bench.window.size, 100.0);
    bench.ack(None, 0, true);
    assert_eq!(bench.window.size, 100.0);
    assert!(matches!(bench.bbr.repair, Repair::Conserves { .. }));
    // All repaired: back to the window before.
    bench.ack(Some(RTT), 0, false);
    assert!(
        (bench.window.size - 201.0).abs() < 1e-9,
        "{}",
        bench.window.size
    );
}

#[test]
fn a_timeout_leaves_one_segment_until_something_arrives() {
    let mut bench = steady(2);
    bench.bbr.on_timeout(&mut bench.window);
    assert_eq!(bench.window.size, 1.0);
    let acked = Acked {
        now: bench.now,
        after_timeout: true,
        ..Acked::of(1)
    };
    bench.bbr.on_ack(&mut bench.window, &acked);
    assert_eq!(bench.window.size, 4.0);
    let acked = Acked {
        after_timeout: false,
        ..acked
    };
    bench.bbr.on_ack(&mut bench.window, &acked);
    assert_eq!(bench.window.size, 201.0);
}

#[test]
fn the_burst_is_counted_in_whole_segments() {
    let segment = Bytes::new(1500);
    // 100 Mbit/s: 12,500 bytes are eight segments.
    let burst = pacer::burst(Rate::from_bits_per_second(100_000_000), segment);
    assert_eq!(burst.get() / segment.get(), 8);
}
