//! The visits on both sides of a change.

use std::collections::BTreeMap;

use observe::Limit;
use stats::median;

use crate::{Route, UnixTime, Visit};

/// Visits before a change and from its first one on.
pub(crate) struct Evidence<'a> {
    pub before: Vec<&'a Visit>,
    pub after: Vec<&'a Visit>,
}

impl<'a> Evidence<'a> {
    /// Medians of what `value` finds in the visits of both sides.
    pub fn medians(&self, value: impl Fn(&Visit) -> Option<f64>) -> Option<(f64, f64)> {
        let of = |side: &[&Visit]| {
            let values: Vec<f64> = side.iter().filter_map(|visit| value(visit)).collect();
            median(&values)
        };
        Some((of(&self.before)?, of(&self.after)?))
    }

    /// The visits on the new side that know their route and took one that was not taken before;
    /// and how many know it.
    pub fn new_routes(&self) -> (Vec<UnixTime>, usize) {
        let known = self.before.iter();
        let known: Vec<&Route> = known.filter_map(|visit| visit.route.as_ref()).collect();
        let routed = self.after.iter();
        let routed = routed.filter_map(|visit| Some((visit.at, visit.route.as_ref()?)));
        let routed: Vec<(UnixTime, &Route)> = routed.collect();
        let is_new = |route: &Route| known.iter().all(|known| !known.may_be(route));
        let new = routed.iter().filter(|(_, route)| is_new(route));
        let visits = new.map(|(at, _)| *at).collect();
        match known.is_empty() {
            true => (Vec::new(), 0),
            false => (visits, routed.len()),
        }
    }

    /// The same for a far host that is another than the last one before.
    pub fn new_far_hosts(&self) -> (Vec<UnixTime>, usize) {
        let Some(last) = self.before.iter().rev().find_map(|v| v.far_host.as_ref()) else {
            return (Vec::new(), 0);
        };
        let told = self
            .after
            .iter()
            .filter_map(|v| Some((v.at, v.far_host.as_ref()?)));
        let told: Vec<_> = told.collect();
        let other = told.iter().filter(|(_, host)| *host != last);
        (other.map(|(at, _)| *at).collect(), told.len())
    }

    /// The usual limits of both sides, where they are two.
    pub fn limits(&self) -> Option<(Limit, Limit)> {
        let (before, _) = usual(&self.before)?;
        let (after, share) = usual(&self.after)?;
        (before != after && share >= 0.6).then_some((before, after))
    }

    /// Queueing beside our own streams, after over before: round trips beside the streams less the
    /// shortest idle one.
    pub fn queue_ratio(&self) -> Option<f64> {
        let queue = |visit: &Visit| {
            let idle = visit.round_trips.as_ref()?.min();
            Some(visit.loaded?.as_secs_f64() - idle.as_secs_f64())
        };
        let (before, after) = self.medians(queue)?;
        // Below a tenth of a millisecond there is no queue to compare.
        (before > 1e-4).then(|| after.max(0.0) / before)
    }
}

/// The most frequent limit, of those that tell something, and its share.
fn usual(side: &[&Visit]) -> Option<(Limit, f64)> {
    let mut counts: BTreeMap<Limit, usize> = BTreeMap::new();
    let limits = side.iter().filter_map(|visit| visit.limit);
    for limit in limits.filter(|limit| !matches!(limit, Limit::Unknown | Limit::TooShort)) {
        *counts.entry(limit).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let (limit, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some((limit, count as f64 / all as f64))
}
