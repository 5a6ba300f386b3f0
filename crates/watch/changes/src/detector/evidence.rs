//! The visits on both sides of a change.

use super::Detector;
use crate::causes::Evidence;

/// Visits before a change that it is compared with.
const BEFORE: usize = 48;
/// Visits from the first one on that speak for a change.
const AFTER: usize = 24;

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
}
