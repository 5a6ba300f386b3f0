//! What changes without being a number: routes, far hosts, the own processor.

use super::Detector;
use crate::causes::Evidence;

/// Visits before a change that it is compared with.
const BEFORE: usize = 48;
/// Visits from the first one on that speak for a change.
const AFTER: usize = 24;
/// Another route without anything else is an event where it is this well known that there was
/// none.
const ROUTES_MIN: usize = 12;
const NEW_ROUTES_MIN: usize = 3;

impl Detector {
    /// The visits on both sides of the one with the number `first`.
    pub(super) fn evidence(&self, first: u64) -> Evidence<'_> {
        let split = self.visits.partition_point(|one| one.number < first);
        let side = |from: usize, to: usize| {
            let range = self.visits.range(from..to.min(self.visits.len()));
            range.map(|one| &one.visit).collect()
        };
        Evidence {
            before: side(split.saturating_sub(BEFORE), split),
            after: side(split, split + AFTER),
        }
    }

    /// Whether route or far host became another with this visit, and stayed so.
    pub(super) fn has_witness(&self, first: u64) -> bool {
        let evidence = self.evidence(first);
        let all = |(new, known): (usize, usize)| new >= 2 && new == known;
        let (routes, routed) = evidence.new_routes();
        let (hosts, told) = evidence.new_far_hosts();
        all((routes.len(), routed)) || all((hosts.len(), told))
    }

    /// The number of the visit since which each one, and three at least, took a new route.
    pub(super) fn new_route(&self) -> Option<u64> {
        let routed = self.visits.iter().filter(|one| one.visit.route.is_some());
        let routed: Vec<u64> = routed.map(|one| one.number).collect();
        let first = *routed.get(routed.len().checked_sub(NEW_ROUTES_MIN)?)?;
        let evidence = self.evidence(first);
        let before = evidence.before.iter().filter(|visit| visit.route.is_some());
        let (new, _) = evidence.new_routes();
        (before.count() >= ROUTES_MIN && new.len() == NEW_ROUTES_MIN).then_some(first)
    }
}
