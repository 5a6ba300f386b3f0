//! What the found figures say about socket buffers.

use models::{BufferRule, PathFacts};
use observe::{HostLimits, ProbeSeries, StreamCount, Way};
use units::{Bytes, Rate, Span};

use super::{Characteristics, Load};

/// The rules that come of what was measured; the sixth is the hosts' own limit.
const RULES: [BufferRule; 5] = [
    BufferRule::Bdp1,
    BufferRule::Bdp2,
    BufferRule::Bdp3,
    BufferRule::Bdp4,
    BufferRule::Bdp5,
];
/// Linux keeps twice what was asked for: as much again for its bookkeeping.
const GRANTED: u64 = 2;

/// What the rules say about one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Buffers {
    /// Which direction.
    pub way: Way,
    /// What they read; the capacity is [`Rate::ZERO`] where it is not known, and no rule reads it
    /// then.
    pub facts: PathFacts,
    /// Each rule whose facts are known.
    pub advice: Vec<BufferAdvice>,
}

/// What one rule asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferAdvice {
    /// Which rule.
    pub rule: BufferRule,
    /// Buffer of all streams together: what is on its way at once.
    pub total: Bytes,
    /// The fewest streams with which each stays below the hosts' limit.
    pub streams: StreamCount,
    /// What each stream asks for.
    pub window: Bytes,
    /// What Linux then says it granted: twice as much.
    pub granted: Bytes,
    /// Whether one stream reaches it by itself, as far as this side knows: the kernel grows the
    /// buffers to twice the total. `None` where the limits are not known.
    pub automatic: Option<bool>,
}

pub(super) fn advise(found: &Characteristics, limits: Option<HostLimits>) -> Vec<Buffers> {
    let ways = Way::BOTH.into_iter();
    let of_way = ways.filter_map(|way| Some((way, facts(found, way)?)));
    let buffers = of_way.map(|(way, facts)| Buffers {
        way,
        facts,
        advice: RULES
            .into_iter()
            .filter_map(|rule| of_rule(rule, &facts, limits))
            .collect(),
    });
    buffers
        .filter(|buffers| !buffers.advice.is_empty())
        .collect()
}

/// `None` without any round trip.
fn facts(found: &Characteristics, way: Way) -> Option<PathFacts> {
    let load = found.loads.iter().find(|load| load.way == way);
    let capacity = found.capacities.iter().find(|capacity| capacity.way == way);
    let available = found
        .available
        .iter()
        .find(|available| available.way == way);
    let range = available.and_then(|available| available.range.as_ref().ok());
    Some(PathFacts {
        capacity: capacity.map_or(Rate::ZERO, |capacity| capacity.rate),
        available: range.map(|range| {
            // Nothing is free beyond the capacity: what packets say above it is their error.
            let seen = middle(range.low, range.high);
            capacity.map_or(seen, |capacity| seen.min(capacity.rate))
        }),
        rtt_min: rtt_min(found)?,
        rtt_max: load.and_then(longest),
        rtt_mean: load.and_then(|load| load.one.summary().rtt_loaded),
        bulk_transfer_capacity: load.map(|load| load.one.summary().goodput().mean),
        largest: None,
    })
}

fn middle(low: Rate, high: Rate) -> Rate {
    Rate::from_f64((low.as_f64() + high.as_f64()) / 2.0)
}

/// By the probes of the idle path, whichever part sent them.
pub(super) fn rtt_min(found: &Characteristics) -> Option<Span> {
    let loads = found.loads.iter();
    let unloaded = loads.filter_map(|load| load.one.round_trips.unloaded.as_ref());
    let series = found.round_trips.iter().chain(unloaded);
    series.filter_map(ProbeSeries::min).min()
}

/// The longest round trip beside streams.
fn longest(load: &Load) -> Option<Span> {
    let runs = [Some(&load.one), load.several.as_ref()];
    let series = runs.into_iter().flatten();
    let series = series.filter_map(|run| run.round_trips.loaded.as_ref());
    series
        .flat_map(|series| &series.probes)
        .filter_map(|probe| probe.rtt)
        .max()
}

fn of_rule(
    rule: BufferRule,
    facts: &PathFacts,
    limits: Option<HostLimits>,
) -> Option<BufferAdvice> {
    let reads_capacity = matches!(rule, BufferRule::Bdp1 | BufferRule::Bdp2);
    if reads_capacity && facts.capacity == Rate::ZERO {
        return None;
    }
    let total = rule.per_stream(facts, 1)?;
    let bound = limits.map(|limits| limits.send_fixed_max.min(limits.receive_fixed_max));
    let needed = bound.map_or(1, |bound| total.get().div_ceil(bound.get().max(1)).max(1));
    let streams = StreamCount::new(needed).unwrap_or(StreamCount::MAX);
    let window = rule.per_stream(facts, u32::from(streams.get()))?;
    let window = bound.map_or(window, |bound| window.min(bound));
    let grown = limits.map(|limits| limits.send_auto_max.min(limits.receive_auto_max));
    Some(BufferAdvice {
        rule,
        total,
        streams,
        window,
        granted: window.times(GRANTED),
        automatic: grown.map(|grown| total.times(GRANTED) <= grown),
    })
}
