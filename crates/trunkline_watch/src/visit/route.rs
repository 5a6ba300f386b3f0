//! The way that packets take.

use std::collections::BTreeMap;
use std::net::IpAddr;

use changes::Route;
use observe::{Hop, Probes, RunObserver, Trace, TracePlan, TraceProtocol};
use units::Span;

/// Three probes to each hop: routers leave some without an answer.
const PLAN: TracePlan = TracePlan {
    protocol: TraceProtocol::Udp,
    rounds: 3,
    hops_max: 32,
    patience: Span::from_secs(1),
};

/// The route to the far end; `None` where no hop answers, or this user may not look for hops.
pub(super) fn route(probes: &mut dyn Probes, watch: &mut dyn RunObserver) -> Option<Route> {
    let trace = probes.trace(&PLAN, watch).ok()?;
    of(&trace)
}

/// Who answered most often at each hop, and a hash of that. `*` stands for a hop that never did.
pub(super) fn of(trace: &Trace) -> Option<Route> {
    let hops: Vec<Option<IpAddr>> = trace.hops.iter().map(usual).collect();
    if hops.iter().all(Option::is_none) {
        return None;
    }
    let name = |hop: &Option<IpAddr>| hop.map_or("*".to_owned(), |address| address.to_string());
    let hops: Vec<String> = hops.iter().map(name).collect();
    let hash = blake3::hash(hops.join(" ").as_bytes());
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    Some(Route {
        hash: u64::from_be_bytes(first),
        hops,
    })
}

fn usual(hop: &Hop) -> Option<IpAddr> {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for answer in hop.probes.iter().flatten() {
        *counts.entry(answer.from).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(address, _)| address)
}
