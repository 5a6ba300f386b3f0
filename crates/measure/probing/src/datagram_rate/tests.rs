use observe::{
    DatagramPlan, DatagramStream, Datagrams, LeastDelays, Observation, Peer, RunObserver,
    SamplePlan, Setting, Target, TargetError, TargetInfo, TargetKind, Way,
};

use super::*;

const SIZE: Bytes = Bytes::new(1_400);

/// A link with a queue, behind a host that sends no faster than it can.
#[derive(Debug, Clone, Copy)]
struct Model {
    capacity: f64,
    queue_bits: f64,
    chance: f64,
    host: f64,
}

impl Model {
    /// What becomes of a run.
    fn run(&self, rate: Rate, time: Span) -> DatagramTotals {
        let seconds = time.as_secs_f64();
        let sent = rate.as_f64().min(self.host);
        let survive = 1.0 - self.chance;
        let excess = (sent * survive - self.capacity).max(0.0) * seconds;
        let dropped = (excess - self.queue_bits).max(0.0);
        let waiting = (excess - dropped) / self.capacity;
        let arrived = sent * seconds * survive - dropped;
        let fills = (sent * survive - self.capacity).max(0.0) / self.capacity;
        let full = self.queue_bits / self.capacity;
        let datagram = 11_200.0;
        let count = |bits: f64| (bits / datagram).round() as u64;
        let (sent_count, arrived_count) = (count(sent * seconds), count(arrived));
        DatagramTotals {
            rate_sent: Rate::from_f64(sent),
            goodput: Rate::from_f64(arrived / (seconds + waiting)),
            sent: sent_count,
            arrived: arrived_count,
            lost: sent_count.saturating_sub(arrived_count),
            dropped_by_hosts: 0,
            reordered: None,
            duplicates: None,
            jitter: Span::ZERO,
            delay_growth: grown(seconds, &mut |at| (fills * at).min(full)),
        }
    }
}

/// How much delays grow that are these seconds at each second of a run.
fn grown(seconds: f64, delay: &mut dyn FnMut(f64) -> f64) -> Option<Span> {
    let mut delays = LeastDelays::default();
    for step in 0..200 {
        let at = seconds * f64::from(step) / 200.0;
        delays.take(Span::from_secs_f64(at), (delay(at) * 1e9) as i128);
    }
    delays.growth()
}

/// The answer, and what was tried.
fn searched(model: &Model) -> (Option<(Rate, Ceiling)>, Vec<Try>) {
    let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(10), SIZE);
    loop {
        match search.next() {
            Step::Try(purpose, rate, time) => {
                search.on_result(purpose, rate, &model.run(rate, time));
            }
            Step::Found(ceiling) => {
                let rate = search.tries.last().unwrap().sent;
                return (Some((rate, ceiling)), search.tries);
            }
            Step::Nothing => return (None, search.tries),
        }
    }
}

fn drawn(state: &mut u64) -> f64 {
    // Marsaglia's xorshift.
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn the_rate_of_a_thousand_drawn_links_is_found() {
    let seed = 0x5eed_0004_u64;
    let mut state = seed;
    for run in 0..1_000 {
        let capacity = 10_f64.powf(6.0 + 4.8 * drawn(&mut state));
        let model = Model {
            capacity,
            // From nothing to half a second.
            queue_bits: capacity * 0.5 * drawn(&mut state),
            chance: 0.008 * drawn(&mut state),
            host: 10_f64.powf(7.5 + 4.0 * drawn(&mut state)),
        };
        let (found, tries) = searched(&model);
        let told = format!("seed {seed:#x}, run {run}: {model:?}, {tries:?}");
        let (rate, ceiling) = found.unwrap_or_else(|| panic!("{told}"));
        // The loss that may be, and a queue that fills slowly, let a little more pass.
        let most = (capacity * 1.03).min(model.host);
        let share = rate.as_f64() / most;
        assert!((0.90..=1.001).contains(&share), "{share}: {told}");
        assert!(tries.len() <= 16, "{told}");
        let is_host = model.host < capacity;
        let is_close = (0.95..1.05).contains(&(model.host / capacity));
        assert!(is_close || (ceiling == Ceiling::Host) == is_host, "{told}");
    }
}

#[test]
fn more_loss_by_chance_than_may_be_is_told() {
    let model = Model {
        capacity: 1e9,
        queue_bits: 1e6,
        chance: 0.02,
        host: 1e10,
    };
    let (found, tries) = searched(&model);
    assert_eq!(found, None);
    assert!(tries.len() <= TRIES_MAX && tries.iter().all(|one| !one.carried));
}

/// Nine of the first 893 datagrams: an outage of ten milliseconds.
#[test]
fn a_short_outage_in_a_run_is_no_bound_of_the_path() {
    let model = Model {
        capacity: 1e9,
        queue_bits: 1e7,
        chance: 0.0,
        host: 1e11,
    };
    for hit in 0..4 {
        let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(10), SIZE);
        let mut run = 0;
        while let Step::Try(purpose, rate, time) = search.next() {
            let mut seen = model.run(rate, time);
            if run == hit && seen.lost == 0 {
                (seen.lost, seen.arrived) = (seen.sent / 90, seen.sent - seen.sent / 90);
                seen.lost = seen.lost.min(FEW - 1);
                seen.delay_growth = Some(times_span(time, 0.5));
            }
            run += 1;
            search.on_result(purpose, rate, &seen);
        }
        let rate = search.tries().last().unwrap().sent.as_f64();
        assert!(
            (0.95e9..1.04e9).contains(&rate),
            "{hit}: {:?}",
            search.tries()
        );
    }
}

fn times_span(span: Span, factor: f64) -> Span {
    Span::from_secs_f64(span.as_secs_f64() * factor)
}

/// Delays of 0 to 40 ms more, drawn anew for each datagram; the last one is late, too.
#[test]
fn delays_that_vary_are_no_queue_that_fills() {
    let seed = 0x5eed_0005_u64;
    let mut state = seed;
    let model = Model {
        capacity: 1e11,
        queue_bits: 1e9,
        chance: 0.0,
        host: 1e9,
    };
    let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(1), SIZE);
    while let Step::Try(purpose, rate, time) = search.next() {
        let mut seen = model.run(rate, time);
        let seconds = time.as_secs_f64();
        seen.delay_growth = grown(seconds, &mut |_| 0.04 * drawn(&mut state));
        seen.goodput = times(seen.goodput, seconds / (seconds + 0.04));
        search.on_result(purpose, rate, &seen);
    }
    let tries = search.tries();
    assert_eq!(search.next(), Step::Found(Ceiling::Host), "{tries:?}");
    let carried = tries.iter().all(|one| one.carried);
    assert!(carried, "seed {seed:#x}: {tries:?}");
}

/// A queue of a second behind a link that is 5 % too slow loses nothing within one.
#[test]
fn a_deep_queue_counts_where_delays_are_told_and_only_there() {
    let model = Model {
        capacity: 1e8,
        queue_bits: 1e8,
        chance: 0.0,
        host: 1.05e8,
    };
    for tells in [true, false] {
        let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(10), SIZE);
        let rate = Rate::from_f64(model.host);
        let mut seen = model.run(rate, SHORT);
        assert_eq!(seen.lost, 0);
        seen.delay_growth = seen.delay_growth.filter(|_| tells);
        search.on_result(TryPurpose::Bounds, rate, &seen);
        assert_eq!(search.tries()[0].carried, !tells);
    }
}

/// A target that makes no longer runs than it says.
struct Bounded(Model);

impl Target for Bounded {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: "bounded".to_owned(),
            kind: TargetKind::Simulated,
            limits: None,
            congestion: Vec::new(),
            mover: None,
        }
    }

    fn observe(
        &mut self,
        _setting: &Setting,
        _plan: &SamplePlan,
        _watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        unreachable!("datagrams are no streams")
    }

    fn datagrams(
        &mut self,
        plan: &DatagramPlan,
        _watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, TargetError> {
        assert!(
            Some(plan.duration) <= self.datagrams_time_max(plan),
            "{plan:?}"
        );
        let rate = plan.rate.unwrap();
        let seen = self.0.run(rate, plan.duration);
        Ok(Datagrams {
            peer: Peer::Trunkline,
            streams: vec![DatagramStream {
                way: Way::Forward,
                sent: seen.sent,
                sent_bytes: SIZE.times(seen.sent),
                sending: plan.duration,
                arrived: seen.arrived,
                arrived_bytes: SIZE.times(seen.arrived),
                receiving: None,
                lost: seen.lost,
                not_sent: None,
                dropped_by_receiver: None,
                reordered: None,
                duplicates: None,
                jitter: Span::ZERO,
                delay_growth: seen.delay_growth,
                rates: Vec::new(),
            }],
        })
    }

    fn datagrams_time_max(&self, plan: &DatagramPlan) -> Option<Span> {
        Some(plan.rate?.time_to_send(plan.size.times(4_000_000)))
    }
}

/// 4,000,000 datagrams are all that is simulated: 4.5 s of the 10 Gbit/s that this link carries.
#[test]
fn runs_are_no_longer_than_the_target_makes_them() {
    let mut target = Bounded(Model {
        capacity: 1e10,
        queue_bits: 1e7,
        chance: 0.0,
        host: 1e12,
    });
    let plan = DatagramPlan::new(None, Span::from_secs(10));
    let found = search(&mut target, &plan, LOSS_MAX, &mut ()).unwrap();
    let (confirmed, _, ceiling) = found.confirmed.unwrap();
    assert_eq!(ceiling, Ceiling::Path);
    let gbit = confirmed.rate.unwrap().as_f64() / 1e9;
    assert!((9.5..10.3).contains(&gbit), "{gbit}");
    assert!(confirmed.duration < Span::from_secs(5), "{confirmed:?}");
}

#[test]
fn a_path_that_carries_nothing_ends_the_search() {
    let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(10), SIZE);
    let nothing = DatagramTotals {
        rate_sent: FIRST,
        goodput: Rate::ZERO,
        sent: 100,
        arrived: 0,
        lost: 100,
        dropped_by_hosts: 0,
        reordered: None,
        duplicates: None,
        jitter: Span::ZERO,
        delay_growth: None,
    };
    while let Step::Try(purpose, rate, _) = search.next() {
        search.on_result(purpose, rate, &nothing);
    }
    assert_eq!(search.next(), Step::Nothing);
    assert!(search.tries().len() < 10, "{:?}", search.tries());
}

#[test]
fn what_a_host_drops_is_not_the_paths() {
    let model = Model {
        capacity: 1e8,
        queue_bits: 0.0,
        chance: 0.0,
        host: 1e10,
    };
    let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(10), SIZE);
    let ceiling = loop {
        match search.next() {
            Step::Try(purpose, rate, time) => {
                let mut seen = model.run(rate, time);
                seen.dropped_by_hosts = seen.lost;
                search.on_result(purpose, rate, &seen);
            }
            Step::Found(ceiling) => break ceiling,
            Step::Nothing => panic!("{:?}", search.tries()),
        }
    };
    assert_eq!(ceiling, Ceiling::Host);
}

/// A run that no longer carries what short ones did: the next is slower.
#[test]
fn an_answer_that_is_not_confirmed_is_lowered() {
    let model = Model {
        capacity: 1e8,
        queue_bits: 1e5,
        chance: 0.0,
        host: 1e10,
    };
    let worse = Model {
        capacity: 0.93e8,
        ..model
    };
    let mut search = RateSearch::new(LOSS_MAX, Span::from_secs(10), SIZE);
    let mut confirmed = Vec::new();
    while let Step::Try(purpose, rate, time) = search.next() {
        let seen = match purpose {
            TryPurpose::Confirm => {
                confirmed.push(rate);
                worse.run(rate, time)
            }
            _ => model.run(rate, time),
        };
        search.on_result(purpose, rate, &seen);
    }
    assert_eq!(search.next(), Step::Found(Ceiling::Path));
    assert_eq!(confirmed.len(), 2, "{confirmed:?}");
    assert!(confirmed[1] < Rate::from_f64(0.93e8), "{confirmed:?}");
}
