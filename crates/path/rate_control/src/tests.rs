//! The model on a small simulated path: a queue, a rate, a delay, losses.

use std::collections::VecDeque;

use units::{Bytes, Rate, Span, Time};

use crate::PathModel;

const SEGMENT: Bytes = Bytes::new(1_450);

/// A path, and what it does to packets.
#[derive(Clone, Copy)]
struct Path {
    rate: Rate,
    round_trip: Span,
    queue: Bytes,
    /// One packet of so many is lost, wherever chance has it.
    lost_of: Option<u64>,
    /// What is above the rate, and more than the queue, is dropped; nothing waits.
    polices: bool,
    /// A packet that meets a longer queue is marked.
    marks_above: Option<Bytes>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Arrives,
    IsMarked,
    IsLost,
}

/// Seeded, so that a failure repeats.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// What a run showed between `from` and its end.
#[derive(Debug)]
struct Seen {
    goodput: Rate,
    lost: f64,
    queue_mean: Bytes,
}

/// One sender with data without end, on a path alone.
struct Run {
    path: Path,
    model: PathModel,
    now: Time,
    next_send: Time,
    in_flight: Bytes,
    /// When the link is free again.
    free: Time,
    /// Packets on the way: when their acknowledgement comes, or their loss is seen; when they left.
    on_the_way: VecDeque<(Time, Time, Fate)>,
    chance: Chance,
    arrived: Bytes,
    sent: Bytes,
    lost: Bytes,
    queue_sum: f64,
}

impl Run {
    fn new(path: Path, seed: u64) -> Self {
        Run {
            path,
            model: PathModel::new(Time::ZERO, SEGMENT),
            now: Time::ZERO,
            next_send: Time::ZERO,
            in_flight: Bytes::ZERO,
            free: Time::ZERO,
            on_the_way: VecDeque::new(),
            chance: Chance(seed),
            arrived: Bytes::ZERO,
            sent: Bytes::ZERO,
            lost: Bytes::ZERO,
            queue_sum: 0.0,
        }
    }

    fn send(&mut self) {
        let waits = match self.free > self.now {
            true => self.free.since(self.now),
            false => Span::ZERO,
        };
        let queued = self.path.rate.bytes_in(waits);
        let is_dropped = queued + SEGMENT > self.path.queue;
        let lost_of = self.path.lost_of;
        let is_lost = is_dropped || lost_of.is_some_and(|of| self.chance.below(of) == 0);
        if !is_dropped {
            self.free = self.now + waits + self.path.rate.time_to_send(SEGMENT);
        }
        let delay = match self.path.polices {
            true => Span::ZERO,
            false => waits,
        };
        let back = self.now + delay + self.path.round_trip;
        let is_marked = self.path.marks_above.is_some_and(|above| queued > above);
        let fate = match is_lost {
            true => Fate::IsLost,
            false if is_marked => Fate::IsMarked,
            false => Fate::Arrives,
        };
        self.on_the_way.push_back((back, self.now, fate));
        self.model.on_sent(self.now, SEGMENT);
        self.in_flight += SEGMENT;
        self.sent += SEGMENT;
        self.queue_sum += queued.as_f64() * SEGMENT.as_f64();
        self.next_send = self.now + self.model.pacing_rate().time_to_send(SEGMENT);
    }

    fn hear(&mut self, sent: Time, fate: Fate) {
        self.in_flight = self.in_flight - SEGMENT;
        if fate == Fate::IsLost {
            self.lost += SEGMENT;
            self.model.on_lost(SEGMENT);
            return;
        }
        self.arrived += SEGMENT;
        self.model.on_acked(self.now, sent, SEGMENT);
        self.model.on_acks_end(self.now, self.in_flight, false);
        if fate == Fate::IsMarked {
            self.model.on_marked(self.now, sent);
        }
    }

    fn until(&mut self, end: Time) {
        loop {
            let may_send = self.in_flight + SEGMENT <= self.model.window();
            let sends = may_send.then_some(self.next_send.max(self.now));
            let hears = self.on_the_way.front().map(|(at, ..)| *at);
            let next = [sends, hears].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.now = end;
                return;
            };
            self.now = next;
            match hears {
                Some(at) if at == next => {
                    if let Some((_, sent, fate)) = self.on_the_way.pop_front() {
                        self.hear(sent, fate);
                    }
                }
                _ => self.send(),
            }
        }
    }

    /// What the time until `end` shows.
    fn see(&mut self, end: Time) -> Seen {
        let begin = self.now;
        let (arrived, sent, lost, sum) = (self.arrived, self.sent, self.lost, self.queue_sum);
        self.until(end);
        let sent = (self.sent - sent).as_f64();
        Seen {
            goodput: Rate::of(self.arrived - arrived, end.since(begin)),
            lost: (self.lost - lost).as_f64() / sent,
            queue_mean: Bytes::new(((self.queue_sum - sum) / sent) as u64),
        }
    }
}

fn at(seconds: u64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

fn mbps(megabits: u64) -> Rate {
    Rate::from_bits_per_second(megabits * 1_000_000)
}

const LONG: Path = Path {
    rate: mbps_const(300),
    round_trip: Span::from_millis(100),
    queue: Bytes::new(3_750_000),
    lost_of: None,
    polices: false,
    marks_above: None,
};

const fn mbps_const(megabits: u64) -> Rate {
    Rate::from_bits_per_second(megabits * 1_000_000)
}

fn share(goodput: Rate, of: Rate) -> f64 {
    goodput.as_f64() / of.as_f64()
}

#[test]
fn a_long_path_is_full_within_two_seconds_and_stays_so() {
    let mut run = Run::new(LONG, 1);
    let first = run.see(at(2));
    let later = run.see(at(40));
    assert!(share(first.goodput, LONG.rate) > 0.5, "{first:?}");
    assert!(share(later.goodput, LONG.rate) > 0.95, "{later:?}");
    assert!(later.lost < 0.001, "{later:?}");
    assert!(later.queue_mean < Bytes::new(1_000_000), "{later:?}");
}

#[test]
fn losses_without_a_queue_cost_what_they_lose() {
    for (lost_of, seed) in [(1_000, 1), (100, 2), (67, 3)] {
        let path = Path {
            lost_of: Some(lost_of),
            ..LONG
        };
        let mut run = Run::new(path, seed);
        run.until(at(3));
        let seen = run.see(at(40));
        let kept = 1.0 - 1.0 / lost_of as f64;
        assert!(
            share(seen.goodput, path.rate) > 0.94 * kept,
            "one of {lost_of}, seed {seed}: {seen:?}"
        );
    }
}

#[test]
fn losses_by_chance_above_the_bound_are_found_out() {
    for (lost_of, seed) in [(60, 1), (50, 2), (40, 3), (30, 4), (20, 5), (10, 6)] {
        let path = Path {
            lost_of: Some(lost_of),
            ..LONG
        };
        let mut run = Run::new(path, seed);
        run.until(at(10));
        let seen = run.see(at(60));
        let kept = 1.0 - 1.0 / lost_of as f64;
        assert!(
            share(seen.goodput, path.rate) > 0.8 * kept,
            "one of {lost_of}, seed {seed}: {seen:?}"
        );
    }
}

#[test]
fn a_policer_is_not_taken_for_chance() {
    for (queue, seed) in [(30_000, 1), (375_000, 2), (3_750_000, 3)] {
        let path = Path {
            queue: Bytes::new(queue),
            polices: true,
            ..LONG
        };
        let mut run = Run::new(path, seed);
        run.until(at(5));
        let seen = run.see(at(60));
        assert!(seen.lost < 0.03, "{queue} B: {seen:?}");
        assert!(share(seen.goodput, path.rate) > 0.6, "{queue} B: {seen:?}");
    }
}

#[test]
fn a_shallow_queue_is_not_kept_overflowing() {
    let path = Path {
        queue: Bytes::new(375_000),
        ..LONG
    };
    let mut run = Run::new(path, 1);
    run.until(at(5));
    let seen = run.see(at(45));
    assert!(seen.lost < 0.01, "{seen:?}");
    assert!(share(seen.goodput, path.rate) > 0.75, "{seen:?}");
}

#[test]
fn marks_end_the_start_before_the_queue_is_full() {
    let marking = Path {
        marks_above: Some(Bytes::new(100_000)),
        ..LONG
    };
    let first = [LONG, marking].map(|path| Run::new(path, 1).see(at(2)));
    let [plain, marked] = &first;
    assert!(marked.queue_mean < plain.queue_mean, "{first:?}");
    let mut run = Run::new(marking, 1);
    run.until(at(5));
    let later = run.see(at(45));
    assert!(share(later.goodput, LONG.rate) > 0.7, "{later:?}");
}

#[test]
fn marks_of_packets_that_were_on_the_way_together_are_one_signal() {
    let mut run = Run::new(LONG, 1);
    run.until(at(5));
    let (before, marked) = (run.model.window(), run.now);
    run.model.on_marked(marked, marked);
    assert!(run.model.window() < before, "{before}");
    // Another round has begun, and what is acknowledged left before the first mark was answered.
    run.until(marked + Span::from_millis(99));
    let mut again = run.model.clone();
    again.on_marked(run.now, marked);
    assert_eq!(again.window(), run.model.window());
    assert_eq!(again.pacing_rate(), run.model.pacing_rate());
}

#[test]
fn short_slow_and_fast_paths_are_filled() {
    for (rate, micros) in [(mbps(1), 20_000), (mbps(10), 500_000), (mbps(5_000), 200)] {
        let round_trip = Span::from_micros(micros);
        let queue = rate.bytes_in(round_trip) + Bytes::from_kib(256);
        let path = Path {
            rate,
            round_trip,
            queue,
            lost_of: None,
            polices: false,
            marks_above: None,
        };
        let mut run = Run::new(path, 1);
        run.until(at(8));
        let seen = run.see(at(12));
        assert!(
            share(seen.goodput, rate) > 0.9,
            "{rate}, {round_trip}: {seen:?}"
        );
    }
}

#[test]
fn a_path_that_changes_is_followed() {
    let mut run = Run::new(LONG, 1);
    run.until(at(10));
    run.path.rate = mbps(30);
    run.until(at(20));
    let less = run.see(at(30));
    assert!(share(less.goodput, mbps(30)) > 0.9, "{less:?}");
    assert!(less.lost < 0.02, "{less:?}");
    run.path.rate = mbps(300);
    run.until(at(60));
    let more = run.see(at(70));
    assert!(share(more.goodput, mbps(300)) > 0.8, "{more:?}");
}

#[test]
fn nothing_that_is_told_makes_rate_or_window_zero() {
    let mut model = PathModel::new(Time::ZERO, SEGMENT);
    let mut chance = Chance(7);
    let mut now = Time::ZERO;
    for _ in 0..20_000 {
        now += Span::from_nanos(chance.below(3_000_000_000));
        let bytes = Bytes::new(chance.below(1 << 20));
        match chance.below(5) {
            0 => model.on_sent(now, bytes),
            1 => model.on_acked(now, now - Span::from_nanos(chance.below(1 << 30)), bytes),
            2 => model.on_lost(bytes),
            3 => model.on_marked(now, now - Span::from_nanos(chance.below(1 << 30))),
            _ => model.on_acks_end(now, bytes, chance.below(2) == 0),
        }
        assert!(model.window() >= SEGMENT, "seed 7");
        assert!(model.pacing_rate() > Rate::ZERO, "seed 7");
    }
}
