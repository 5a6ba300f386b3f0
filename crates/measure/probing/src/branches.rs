//! Ways of equal cost: routers that spread flows over several links, and which of these ways lose.
//!
//! A router that shares load sends all packets of a flow one way. So flows of other ports show
//! other ways: two equal ones stay hidden from eight flows once in 128 times. Flows that met the
//! same routers are one branch; what each branch loses is counted by echoes to the far end.
//!
//! Left out: branches of which all routers are silent, and ways that differ below IP.
//!
//! Source: Augustin, Friedman & Teixeira, "Multipath tracing with Paris traceroute", E2EMON 2007.

use std::net::IpAddr;

use observe::{Flow, Hop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::median;
use units::Span;

/// Losses from here on are a branch's own, and no single accident.
const LOST_MIN: u32 = 3;
/// And this share.
const LOSS_RATIO_MIN: f64 = 0.01;

/// Where flows part, and what each way loses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branches {
    /// Flows that were sent.
    pub flows: u32,
    /// Each hop, nearest first.
    pub hops: Vec<HopBranches>,
    /// Each way that flows took, the most frequent first.
    pub branches: Vec<Branch>,
}

/// Who answered at one hop, over all flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopBranches {
    /// Routers up to and including this one.
    pub distance: u8,
    /// Every address; empty without an answer.
    pub addresses: Vec<String>,
    /// Whether one flow met several: packets are shared one by one, or the route changed.
    pub within_a_flow: bool,
}

/// One way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// Its routers; `*` for one that answered none of its flows.
    pub hops: Vec<String>,
    /// The ports here of the flows that took it.
    pub ports: Vec<u16>,
    /// Echoes that its flows sent to the far end; zero where that answers too few to count.
    pub sent: u32,
    /// Those that were not answered.
    pub lost: u32,
    /// Median round trip to the far end; absent without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<f64>,
}

impl Branch {
    /// Whether it loses more than by a single accident.
    pub fn loses(&self) -> bool {
        let share = f64::from(self.lost) / f64::from(self.sent.max(1));
        self.lost >= LOST_MIN && share >= LOSS_RATIO_MIN
    }
}

/// A branch on the way to be found.
struct Group<'a> {
    hops: Vec<Option<IpAddr>>,
    flows: Vec<&'a Flow>,
}

/// Puts flows together that met the same routers.
pub fn of(flows: &[Flow]) -> Branches {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for flow in flows {
        let hops: Vec<Option<IpAddr>> = flow.trace.hops.iter().map(Hop::usual).collect();
        match groups.iter_mut().find(|group| agree(&group.hops, &hops)) {
            Some(group) => {
                for (known, seen) in group.hops.iter_mut().zip(hops) {
                    *known = known.or(seen);
                }
                group.flows.push(flow);
            }
            None => groups.push(Group {
                hops,
                flows: vec![flow],
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.flows.len()));
    let furthest = flows.iter().flat_map(|flow| &flow.trace.hops);
    let furthest = furthest.map(|hop| hop.distance).max().unwrap_or(0);
    Branches {
        flows: count(flows.len()),
        hops: (1..=furthest).map(|distance| at(flows, distance)).collect(),
        branches: groups.iter().map(branch).collect(),
    }
}

/// Whether two flows can have gone the same way: a silent router may be any.
fn agree(one: &[Option<IpAddr>], other: &[Option<IpAddr>]) -> bool {
    let mut pairs = one.iter().zip(other);
    let same = |(one, other): (&Option<IpAddr>, &Option<IpAddr>)| {
        one.is_none() || other.is_none() || one == other
    };
    one.len() == other.len() && pairs.all(same)
}

fn at(flows: &[Flow], distance: u8) -> HopBranches {
    let hops = flows.iter().flat_map(|flow| &flow.trace.hops);
    let of_flows: Vec<Vec<IpAddr>> = hops
        .filter(|hop| hop.distance == distance)
        .map(Hop::addresses)
        .collect();
    let mut all: Vec<IpAddr> = of_flows.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    HopBranches {
        distance,
        addresses: all.iter().map(ToString::to_string).collect(),
        within_a_flow: of_flows.iter().any(|addresses| addresses.len() > 1),
    }
}

fn branch(group: &Group<'_>) -> Branch {
    let name = |hop: &Option<IpAddr>| hop.map_or("*".to_owned(), |hop| hop.to_string());
    let echoes: Vec<Option<Span>> = group
        .flows
        .iter()
        .flat_map(|flow| flow.echoes.iter().copied())
        .collect();
    let answered = echoes.iter().flatten();
    let seconds: Vec<f64> = answered.map(|rtt| rtt.as_secs_f64()).collect();
    Branch {
        hops: group.hops.iter().map(name).collect(),
        ports: group.flows.iter().map(|flow| flow.port).collect(),
        sent: count(echoes.len()),
        lost: count(echoes.len() - seconds.len()),
        median_seconds: median(&seconds),
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use observe::{HopAnswer, Trace, TraceProtocol};

    use super::*;

    /// Hops by the last bytes of their addresses, 0 for silence; every `losing`-th echo is lost.
    fn flow(port: u16, hops: &[&[u8]], losing: usize) -> Flow {
        let answer = |last: &u8| {
            (*last > 0).then(|| HopAnswer {
                from: [192, 0, 2, *last].into(),
                rtt: Span::from_millis(5),
            })
        };
        let hop = |(distance, answers): (u8, &&[u8])| Hop {
            distance,
            probes: answers.iter().map(answer).collect(),
        };
        let echo = |number| (number % losing != 1).then(|| Span::from_millis(20));
        Flow {
            port,
            trace: Trace {
                protocol: TraceProtocol::Udp,
                one_flow: true,
                hops: (1..).zip(hops).map(hop).collect(),
                reached: true,
            },
            echoes: (0..50).map(echo).collect(),
        }
    }

    #[test]
    fn two_of_four_branches_lose() {
        let flows: Vec<Flow> = (0..8u16)
            .map(|port| {
                let way = port as u8 % 4;
                let losing = if way < 2 { 10 } else { 1_000 };
                // One of each losing way did not hear of its second router.
                let second = if port < 2 { 0 } else { 20 + way };
                flow(port, &[&[1, 1], &[10 + way], &[second], &[9]], losing)
            })
            .collect();
        let found = of(&flows);
        assert_eq!((found.flows, found.branches.len()), (8, 4));
        let losing: Vec<&Branch> = found.branches.iter().filter(|way| way.loses()).collect();
        assert_eq!(losing.len(), 2);
        for branch in &losing {
            assert_eq!((branch.sent, branch.lost), (100, 10));
            assert_eq!(branch.median_seconds, Some(0.020));
            assert!(!branch.hops.contains(&"*".to_owned()), "{branch:?}");
        }
        let counts: Vec<usize> = found.hops.iter().map(|hop| hop.addresses.len()).collect();
        assert_eq!(counts, [1, 4, 4, 1]);
        assert!(found.hops.iter().all(|hop| !hop.within_a_flow));
    }

    #[test]
    fn one_way_and_one_accident_are_no_branches_that_lose() {
        let flows = [flow(1, &[&[1], &[9]], 1_000), flow(2, &[&[1], &[9]], 1_000)];
        let found = of(&flows);
        assert_eq!(found.branches.len(), 1);
        // Each flow lost its second echo: two, which may happen.
        assert_eq!(
            (found.branches[0].lost, found.branches[0].loses()),
            (2, false)
        );
        assert!(of(&[]).branches.is_empty());
    }

    #[test]
    fn ways_of_another_length_and_packets_shared_one_by_one_are_told() {
        let flows = [
            flow(1, &[&[1], &[2, 3], &[9]], 1_000),
            flow(2, &[&[1], &[9]], 1_000),
        ];
        let found = of(&flows);
        assert_eq!(found.branches.len(), 2);
        assert!(found.hops[1].within_a_flow && !found.hops[0].within_a_flow);
        let silent = [flow(1, &[&[0], &[0]], 1_000)];
        assert_eq!(of(&silent).branches[0].hops, ["*", "*"]);
    }
}
