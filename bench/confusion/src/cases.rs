//! The paths on which verdicts are tried.
//!
//! A path made up for a limit has a rate of 10 to 200 Mbit/s and a round trip of 5 to 150 ms, both
//! log-uniform, Reno or CUBIC by the toss of a coin, and nothing else in the way: a queue of one
//! bandwidth-delay product, buffers of eight, no loss. The limit then comes on top. What really
//! bounds a stream on it is not taken from here but from `truth.rs`: a path made for a shallow
//! queue may turn out to be bounded by its rate.

use netpath::{Class, Cross, CrossTraffic, Hosts, LinkSpec, Loss, PathSpec, QueueLimit, QueueSpec};
use observe::Limit;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use units::{Bytes, Rate, Span};

/// Payload of a segment on Ethernet.
const SEGMENT: f64 = 1448.0;

/// A path and the seed of the search on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The preset's name, or limit and strength.
    pub name: String,
    /// Decides the search's share of chance and, of a path that is made up, the path itself.
    pub seed: u64,
    pub path: PathSpec,
}

/// What a path is made for, with the three strengths.
#[derive(Debug, Clone, Copy)]
enum Made {
    /// Queue in bandwidth-delay products of a path with nothing else in the way.
    Link([f64; 3]),
    /// The share of the path that a Reno stream keeps with these losses, by Mathis.
    Loss([f64; 3]),
    /// The same with losses in bursts of four.
    Bursts([f64; 3]),
    /// Queue in bandwidth-delay products.
    ShallowQueue([f64; 3]),
    /// Buffers in bandwidth-delay products of payload.
    ReceiveBuffer([f64; 3]),
    SendBuffer([f64; 3]),
    /// Streams of others.
    Others([u16; 3]),
}

const MADE: [Made; 7] = [
    Made::Link([1.0, 2.0, 4.0]),
    Made::Loss([0.5, 0.25, 0.1]),
    Made::Bursts([0.5, 0.25, 0.1]),
    Made::ShallowQueue([0.15, 0.08, 0.04]),
    Made::ReceiveBuffer([0.6, 0.3, 0.1]),
    Made::SendBuffer([0.6, 0.3, 0.1]),
    Made::Others([2, 8, 32]),
];

/// Every preset that can be simulated, with `seeds` searches on each.
pub fn presets(first_seed: u64, seeds: u64) -> Vec<Case> {
    let preset = |name: &'static str| {
        let path = PathSpec::load(name).ok()?;
        if path.extra().is_some() {
            return None;
        }
        Some((first_seed..first_seed + seeds).map(move |seed| Case {
            name: name.to_owned(),
            seed,
            path: path.clone(),
        }))
    };
    netpath::presets::names()
        .filter_map(preset)
        .flatten()
        .collect()
}

/// The paths that are made up, `seeds` of them for each limit and strength.
pub fn made_up(first_seed: u64, seeds: u64) -> Vec<Case> {
    let strengths = MADE
        .iter()
        .flat_map(|made| (0..3).map(move |strength| (*made, strength)));
    let cases = strengths.flat_map(|(made, strength)| {
        (first_seed..first_seed + seeds).map(move |seed| make(made, strength, seed))
    });
    cases.collect()
}

fn make(made: Made, strength: usize, seed: u64) -> Case {
    let mut path = quiet(seed);
    let product = path.bandwidth_delay_product();
    let share = |of: f64| Bytes::new((of * product.as_f64()) as u64);
    let name = match made {
        Made::Link(queues) => {
            path.forward.queue = drop_tail(share(queues[strength]));
            format!("{}: queue {} BDP", Limit::Link, queues[strength])
        }
        Made::Loss(kept) => {
            let rate = loss_that_keeps(kept[strength], product);
            path.forward.loss = Loss::Random { rate };
            format!("{}: {} of the rate left", Limit::Loss, kept[strength])
        }
        Made::Bursts(kept) => {
            let enter = loss_that_keeps(kept[strength], product);
            path.forward.loss = bursts(enter);
            format!(
                "{} in bursts: {} of the rate left",
                Limit::Loss,
                kept[strength]
            )
        }
        Made::ShallowQueue(queues) => {
            path.forward.queue = drop_tail(share(queues[strength]).max(Bytes::new(4_500)));
            format!("{}: {} BDP", Limit::ShallowQueue, queues[strength])
        }
        Made::ReceiveBuffer(windows) => {
            // 160 of 256 bytes of a receive buffer are payload (the page of `buffers.rs` in `target`).
            path.hosts.receive_buffer_max = share(windows[strength] * 256.0 / 160.0);
            format!("{}: {} BDP", Limit::ReceiveBuffer, windows[strength])
        }
        Made::SendBuffer(windows) => {
            path.hosts.send_buffer_max = share(windows[strength]);
            format!("{}: {} BDP", Limit::SendBuffer, windows[strength])
        }
        Made::Others(streams) => {
            path.cross = vec![others(streams[strength], product)];
            format!("{}: {} other streams", Limit::Link, streams[strength])
        }
    };
    Case { name, seed, path }
}

/// A path with nothing in the way but its rate.
fn quiet(seed: u64) -> PathSpec {
    // Neighbouring seeds give first numbers that are close to each other.
    let mut random = Pcg32::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.next_u64();
    let mut uniform = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let mut between = |low: f64, high: f64| low * (high / low).powf(uniform());
    let rate = Rate::from_f64(between(10e6, 200e6));
    let rtt = Span::from_secs_f64(between(0.005, 0.15));
    let reno = between(1.0, 4.0) < 2.0;
    let one_way = Span::from_nanos(rtt.as_nanos() / 2);
    let product = rate.bytes_in(rtt);
    let link = |queue| LinkSpec {
        rate,
        delay: one_way,
        queue,
        loss: Loss::None,
        load: None,
        mtu: None,
        cuts: Vec::new(),
        variation: None,
        policer: None,
        reorder: None,
        corruption: 0.0,
    };
    PathSpec {
        name: "made".to_owned(),
        forward: link(drop_tail(product)),
        reverse: link(drop_tail(Bytes::from_mib(16))),
        before: Vec::new(),
        beyond: Vec::new(),
        hosts: Hosts {
            congestion: if reno { "reno" } else { "cubic" }.to_owned(),
            send_buffer_max: product.times(8),
            receive_buffer_max: product.times(13),
            ..Hosts::default()
        },
        cross: Vec::new(),
    }
}

fn drop_tail(limit: Bytes) -> QueueSpec {
    QueueSpec::DropTail(QueueLimit::Bytes(limit.max(Bytes::new(3_000))))
}

/// Mathis et al. (1997): a window of sqrt(1.5 / p) segments.
fn loss_that_keeps(share: f64, product: Bytes) -> f64 {
    let window = (share * product.as_f64() / SEGMENT).max(2.0);
    (1.5 / (window * window)).min(0.1)
}

/// Bursts of four packets on average, as often as single losses would be.
fn bursts(enter: f64) -> Loss {
    Loss::GilbertElliott {
        enter,
        leave: 0.25,
        loss_bad: 1.0,
        loss_good: 0.0,
    }
}

fn others(streams: u16, product: Bytes) -> Cross {
    Cross {
        traffic: CrossTraffic::Streams {
            streams,
            window: product.times(4),
        },
        congestion: None,
        class: Class::BestEffort,
        extra_delay: Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_path_and_no_two_make_one() {
        assert_eq!(made_up(7, 2), made_up(7, 2));
        assert_ne!(quiet(7), quiet(8));
    }

    #[test]
    fn every_limit_comes_at_three_strengths() {
        let mut names: Vec<String> = made_up(0, 1).into_iter().map(|case| case.name).collect();
        names.dedup();
        assert_eq!(names.len(), 3 * MADE.len(), "{names:?}");
    }
}
