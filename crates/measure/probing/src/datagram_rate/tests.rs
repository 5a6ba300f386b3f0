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
        }
    }
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
                seen.goodput = times(seen.goodput, 0.97);
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
