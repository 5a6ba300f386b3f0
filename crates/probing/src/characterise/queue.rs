//! Which hop the queue is at.

use observe::{Hop, Trace};
use units::Span;

/// Answers without which a median says nothing.
const ANSWERS_MIN: usize = 3;
/// A rise that is no accident of a router's processor: these answer within some hundred microseconds ...
const RISE_MIN: f64 = 1e-3;
/// ... and is where most of the delay comes from.
const SHARE_MIN: f64 = 0.5;

/// Where a queue grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// The first hop behind it: the link that leads there, or back from there, is the one.
    pub distance: u8,
    /// What the load added to the round trip between the hop before and this one.
    pub added: Span,
}

/// Compares the round trips to the hops of an idle path with those beside streams.
///
/// A queue delays the answers of every hop behind it, while a router that is slow to answer delays its own
/// alone. What a hop and all behind it have in common is therefore taken for the delay up to that hop, and
/// the queue is where this rises most. `None` where it rises by less than a millisecond, where no rise is at
/// least half of the whole, or where too few hops answered in both.
///
/// Both traces have to be by the same protocol; load in the reverse direction shows in the same way as long
/// as answers come back by the same links.
pub fn queue(idle: &Trace, loaded: &Trace) -> Option<Queue> {
    let mut rises: Vec<(u8, f64)> = Vec::new();
    for hop in &idle.hops {
        let same = loaded
            .hops
            .iter()
            .find(|other| other.distance == hop.distance);
        let Some(beside) = same.and_then(median) else {
            continue;
        };
        if let Some(before) = median(hop) {
            rises.push((hop.distance, beside - before));
        }
    }
    // From the last hop on: what all behind share.
    let mut shared = f64::INFINITY;
    for (_, rise) in rises.iter_mut().rev() {
        shared = shared.min(*rise);
        *rise = shared;
    }
    let whole = rises.last()?.1;
    let before = [0.0]
        .into_iter()
        .chain(rises.iter().map(|(_, rise)| rise.max(0.0)));
    let steps = rises.iter().zip(before);
    let steps = steps.map(|((distance, rise), before)| (*distance, rise - before));
    let (distance, step) = steps.max_by(|one, other| one.1.total_cmp(&other.1))?;
    (step >= RISE_MIN && step >= SHARE_MIN * whole).then(|| Queue {
        distance,
        added: Span::from_secs_f64(step),
    })
}

/// Median round trip in seconds; `None` of too few answers.
fn median(hop: &Hop) -> Option<f64> {
    let answered = hop.probes.iter().flatten();
    let seconds: Vec<f64> = answered.map(|answer| answer.rtt.as_secs_f64()).collect();
    (seconds.len() >= ANSWERS_MIN).then(|| stats::median(&seconds))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{HopAnswer, TraceProtocol};
    use std::net::{IpAddr, Ipv4Addr};

    fn trace(millis: &[Option<f64>]) -> Trace {
        let hop = |(distance, rtt): (u8, &Option<f64>)| Hop {
            distance,
            probes: vec![
                rtt.map(|ms| HopAnswer {
                    from: IpAddr::V4(Ipv4Addr::LOCALHOST),
                    rtt: Span::from_secs_f64(ms / 1e3),
                });
                5
            ],
        };
        Trace {
            protocol: TraceProtocol::Udp,
            one_flow: true,
            hops: (1..).zip(millis).map(hop).collect(),
            reached: true,
        }
    }

    fn found(idle: &[Option<f64>], loaded: &[Option<f64>]) -> Option<(u8, f64)> {
        let queue = queue(&trace(idle), &trace(loaded))?;
        Some((queue.distance, queue.added.as_secs_f64() * 1e3))
    }

    #[test]
    fn the_queue_is_where_every_hop_behind_is_late_too() {
        let idle = [Some(1.0), Some(5.0), Some(9.0), Some(20.0)];
        let loaded = [Some(1.2), Some(5.1), Some(39.5), Some(50.0)];
        let (distance, added) = found(&idle, &loaded).unwrap();
        assert_eq!(distance, 3);
        assert!((added - 29.9).abs() < 0.01, "{added}");
    }

    #[test]
    fn a_router_that_is_slow_to_answer_is_no_queue() {
        let idle = [Some(1.0), Some(5.0), Some(9.0)];
        assert_eq!(found(&idle, &[Some(1.0), Some(45.0), Some(9.2)]), None);
        // Beside a real queue behind it, neither.
        let (distance, _) = found(&idle, &[Some(1.0), Some(45.0), Some(29.0)]).unwrap();
        assert_eq!(distance, 2);
    }

    #[test]
    fn silent_hops_are_stepped_over_and_the_first_can_be_it() {
        let idle = [Some(1.0), None, Some(9.0)];
        assert_eq!(found(&idle, &[Some(21.0), None, Some(29.0)]).unwrap().0, 1);
        assert_eq!(
            found(&idle, &[Some(1.0), Some(7.0), Some(29.0)]).unwrap().0,
            3
        );
        assert_eq!(found(&[None, None], &[None, None]), None);
    }

    #[test]
    fn queues_of_the_same_size_at_three_hops_are_no_one_hops() {
        let idle = [Some(1.0), Some(5.0), Some(9.0)];
        assert_eq!(found(&idle, &[Some(6.0), Some(15.0), Some(24.0)]), None);
    }
}
