//! What really limits one default stream on a path, found by taking limits away.
//!
//! The stream is simulated for a minute or 400 round trips, whichever is longer, with two seeds,
//! and what arrived in the last three quarters counts. Then the same with one limit gone: no loss,
//! a queue of four bandwidth-delay products, buffers without bound at one end, nobody else on the
//! path.
//!
//! * Where one of these brings more than a tenth, that limit is the truth: the one that brings most. If a
//!   second one brings more than half of that gain too, there is no single truth.
//! * Where none does and the stream with all others fills nine tenths of the link, the link is.
//! * Otherwise there is no single truth either: two limits lie behind each other.
//!
//! Where nobody else on the path would help most, the truth is the link: it is full, of others.

use netpath::{Hosts, Loss, PathSpec, QueueLimit, QueueSpec};
use observe::{Limit, Observation, SamplePlan, Setting, StreamCount, Target, TargetError, Window};
use target::SimulatedPath;
use units::{Bytes, Rate, Span, Time};

/// A removal that brings less is not the limit.
const GAIN_MIN: f64 = 0.1;
/// A second removal that brings this share of the first one's gain is as much the limit.
const RIVAL: f64 = 0.5;
/// A link that carries this share of its rate is full.
const FULL: f64 = 0.9;
/// Long enough that slow start is forgotten.
const LENGTH_MIN: Span = Span::from_secs(60);
const ROUND_TRIPS: u64 = 400;
/// Seeds of the runs; those of searches are others.
const SEEDS: [u64; 2] = [9_001, 9_002];
/// Packets of a queue nobody shares hold no headers in these figures: payload of 1500 bytes.
const PAYLOAD: f64 = 1448.0 / 1500.0;
const UNBOUNDED: Bytes = Bytes::from_mib(1024);

/// What limits a path, and the goodput with each limit gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// `None` where there is no single limit.
    pub limit: Option<Limit>,
    /// What one default stream carries.
    pub default: Rate,
    /// What it would without each limit.
    pub without: Vec<(Limit, Rate)>,
}

/// Takes one limit after the other away from `path`.
///
/// # Errors
/// When the path cannot be simulated.
pub fn of(path: &PathSpec) -> Result<Truth, TargetError> {
    let default = goodput(path)?;
    let mut without = Vec::new();
    for (limit, changed) in removals(path) {
        without.push((limit, goodput(&changed)?));
    }
    Ok(Truth {
        limit: decide(path, default, &without),
        default,
        without,
    })
}

fn decide(path: &PathSpec, default: Rate, without: &[(Limit, Rate)]) -> Option<Limit> {
    let gain = |rate: &Rate| rate.as_f64() / default.as_f64() - 1.0;
    let mut gains: Vec<(Limit, f64)> = without
        .iter()
        .map(|(limit, rate)| (*limit, gain(rate)))
        .collect();
    gains.sort_by(|a, b| b.1.total_cmp(&a.1));
    let helps = gains.first().filter(|(_, gain)| *gain > GAIN_MIN);
    let Some((limit, most)) = helps else {
        let full = default.as_f64() >= FULL * PAYLOAD * path.forward.rate.as_f64();
        return full.then_some(Limit::Link);
    };
    let rival = gains
        .get(1)
        .is_some_and(|(_, gain)| *gain > GAIN_MIN && *gain > RIVAL * most);
    (!rival).then_some(*limit)
}

/// The path without each of the limits that it may have.
fn removals(path: &PathSpec) -> Vec<(Limit, PathSpec)> {
    let all = [
        (Limit::Loss, lossless(path)),
        (Limit::ShallowQueue, deep(path)),
        (
            Limit::ReceiveBuffer,
            with_hosts(path, |hosts| hosts.receive_buffer_max = UNBOUNDED),
        ),
        (
            Limit::SendBuffer,
            with_hosts(path, |hosts| hosts.send_buffer_max = UNBOUNDED),
        ),
        (Limit::Link, alone(path)),
    ];
    all.into_iter()
        .filter(|(_, changed)| changed != path)
        .collect()
}

fn lossless(path: &PathSpec) -> PathSpec {
    let mut changed = path.clone();
    changed.forward.loss = Loss::None;
    changed.reverse.loss = Loss::None;
    changed
}

/// Four bandwidth-delay products, unless the queue holds more already.
fn deep(path: &PathSpec) -> PathSpec {
    let product = path.bandwidth_delay_product();
    let holds = match path.forward.queue.limit() {
        QueueLimit::Bytes(bytes) => bytes,
        QueueLimit::Packets(packets) => Bytes::new(u64::from(packets) * u64::from(path.hosts.mtu)),
    };
    let mut changed = path.clone();
    if holds < product.times(4) {
        changed.forward.queue = QueueSpec::DropTail(QueueLimit::Bytes(product.times(4)));
    }
    changed
}

fn with_hosts(path: &PathSpec, change: impl Fn(&mut Hosts)) -> PathSpec {
    let mut changed = path.clone();
    change(&mut changed.hosts);
    changed
}

fn alone(path: &PathSpec) -> PathSpec {
    PathSpec {
        cross: Vec::new(),
        ..path.clone()
    }
}

/// Goodput of one default stream in the last three quarters of a long run, mean of the seeds.
fn goodput(path: &PathSpec) -> Result<Rate, TargetError> {
    let length = path.base_rtt().times(ROUND_TRIPS).max(LENGTH_MIN);
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(length)
    };
    let mut sum = 0.0;
    for seed in SEEDS {
        let seen = SimulatedPath::new(path, seed).observe(&setting, &plan, &mut ())?;
        sum += last_three_quarters(&seen).as_f64();
    }
    Ok(Rate::from_f64(sum / SEEDS.len() as f64))
}

fn last_three_quarters(seen: &Observation) -> Rate {
    let from = Time::ZERO + Span::from_nanos(seen.duration.as_nanos() / 4);
    let progress = seen
        .streams
        .iter()
        .flat_map(|stream| &stream.delivery.progress);
    let counted: Vec<_> = progress.filter(|reading| reading.at >= from).collect();
    match (counted.first(), counted.last()) {
        (Some(first), Some(last)) if last.at > first.at => {
            Rate::of(last.bytes - first.bytes, last.at.since(first.at))
        }
        _ => Rate::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(default: u64, without: &[(Limit, u64)]) -> Option<Limit> {
        let path = PathSpec::load("shallow-queue").unwrap();
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        let without: Vec<_> = without
            .iter()
            .map(|(limit, n)| (*limit, mbit(*n)))
            .collect();
        decide(&path, mbit(default), &without)
    }

    #[test]
    fn the_removal_that_brings_most_names_the_limit() {
        use Limit::{Loss, ShallowQueue};
        assert_eq!(
            decided(20, &[(Loss, 23), (ShallowQueue, 40)]),
            Some(ShallowQueue)
        );
        assert_eq!(decided(20, &[(Loss, 34), (ShallowQueue, 40)]), None);
    }

    #[test]
    fn a_link_is_the_limit_only_when_nothing_helps_and_it_is_full() {
        use Limit::{Link, Loss};
        assert_eq!(decided(47, &[(Loss, 48)]), Some(Link));
        assert_eq!(decided(40, &[(Loss, 42)]), None);
    }
}
