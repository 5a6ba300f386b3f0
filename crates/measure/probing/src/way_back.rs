//! Both ways side by side: the links that packets take to the far end, and those back.
//!
//! A router answers from the address at which a packet came in, so the two ways never show the same
//! address of a link, but its two ends, which share a small network: two addresses of IPv4 (RFC
//! 3021) or four, one /64 of IPv6. Links to the hosts themselves are no such networks and are left
//! out. A way back with other links is common: each provider hands packets over where it is nearest
//! for it (Paxson, "End-to-end routing behavior in the Internet", SIGCOMM 1996).

use std::net::IpAddr;

use observe::{Hop, Trace};

/// The way back, as the far end saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct WayBack {
    /// From the far end on.
    pub trace: Trace,
    /// How it compares.
    pub compared: Compared,
}

/// Two ways compared, link by link from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// All links that can be told are the same.
    Same,
    /// From the link to this hop on they are others.
    From(u8),
    /// Too few routers answer.
    Unknown,
}

/// Compares the way there with the way back.
///
/// ```
/// use observe::{Hop, HopAnswer, Trace, TraceProtocol};
/// use probing::way_back::{Compared, compare};
/// let trace = |hops: &[[u8; 4]]| Trace {
///     protocol: TraceProtocol::Udp,
///     one_flow: true,
///     hops: (1..).zip(hops).map(|(distance, from)| {
///         let answer = HopAnswer { from: (*from).into(), rtt: units::Span::ZERO };
///         Hop { distance, probes: vec![Some(answer)] }
///     }).collect(),
///     reached: true,
/// };
/// // The link in the middle has the addresses 198.18.2.1 and 198.18.2.2.
/// let there = trace(&[[198, 18, 1, 2], [198, 18, 2, 2], [192, 0, 2, 9]]);
/// let back = trace(&[[198, 18, 3, 1], [198, 18, 2, 1], [192, 0, 2, 1]]);
/// assert_eq!(compare(Some(&there), &back), Compared::Same);
/// let longer = trace(&[[198, 18, 7, 1], [198, 18, 6, 1], [198, 18, 2, 1], [192, 0, 2, 1]]);
/// assert_eq!(compare(Some(&there), &longer), Compared::From(3));
/// ```
pub fn compare(there: Option<&Trace>, back: &Trace) -> Compared {
    let Some(there) = there.filter(|there| there.reached && back.reached) else {
        return Compared::Unknown;
    };
    let (from_here, from_there) = (usual(there), usual(back));
    let (count, others) = (from_here.len(), from_there.len());
    let inner = 2..count.min(others);
    let mut is_known = true;
    for link in inner {
        let near = from_there.get(others - link).copied().flatten();
        let far = from_here.get(link - 1).copied().flatten();
        match far.zip(near) {
            Some((far, near)) if share_a_link(far, near) => {}
            Some(_) => return Compared::From(number(link)),
            None => is_known = false,
        }
    }
    match (count == others, is_known) {
        (false, _) => Compared::From(number(count.min(others))),
        // With one router in between there is no link but those to the hosts.
        (true, true) if count != 2 => Compared::Same,
        (true, _) => Compared::Unknown,
    }
}

fn number(link: usize) -> u8 {
    u8::try_from(link).unwrap_or(u8::MAX)
}

fn usual(trace: &Trace) -> Vec<Option<IpAddr>> {
    trace.hops.iter().map(Hop::usual).collect()
}

/// Whether two addresses are the two ends of one link.
fn share_a_link(one: IpAddr, other: IpAddr) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => one.to_bits() >> 2 == other.to_bits() >> 2,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() >> 64 == other.to_bits() >> 64,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use observe::{HopAnswer, TraceProtocol};
    use units::Span;

    use super::*;

    /// Hops by the networks of their links; 0 for silence. `end` is which end of the link answers.
    fn trace(links: &[u8], end: u8) -> Trace {
        let answer = |link: u8| {
            (link > 0).then(|| HopAnswer {
                from: [198, 18, link, end].into(),
                rtt: Span::ZERO,
            })
        };
        let hop = |(distance, link): (u8, &u8)| Hop {
            distance,
            probes: vec![answer(*link)],
        };
        Trace {
            protocol: TraceProtocol::Udp,
            one_flow: true,
            hops: (1..).zip(links).map(hop).collect(),
            reached: true,
        }
    }

    fn compared(there: &[u8], back: &[u8]) -> Compared {
        compare(Some(&trace(there, 2)), &trace(back, 1))
    }

    #[test]
    fn links_are_compared_from_here() {
        assert_eq!(compared(&[1, 2, 3, 4], &[4, 3, 2, 1]), Compared::Same);
        assert_eq!(compared(&[1, 2, 3, 4], &[4, 9, 2, 1]), Compared::From(3));
        assert_eq!(compared(&[1, 2, 3, 4], &[4, 3, 9, 1]), Compared::From(2));
        // The links to the hosts do not count: hosts have other networks.
        assert_eq!(compared(&[1, 2, 3, 4], &[8, 3, 2, 7]), Compared::Same);
        let (five, seven) = ([1, 2, 3, 4, 5], [5, 14, 13, 12, 11, 2, 1]);
        assert_eq!(compared(&five, &seven), Compared::From(3));
        assert_eq!(compared(&[1], &[1]), Compared::Same);
    }

    #[test]
    fn what_cannot_be_told_is_not_said() {
        assert_eq!(compared(&[1, 0, 3, 4], &[4, 3, 2, 1]), Compared::Unknown);
        assert_eq!(compared(&[1, 2], &[2, 1]), Compared::Unknown);
        // One that differs does, whatever is silent.
        assert_eq!(compared(&[1, 0, 3, 4], &[4, 9, 2, 1]), Compared::From(3));
        let mut back = trace(&[3, 2, 1], 1);
        back.reached = false;
        assert_eq!(
            compare(Some(&trace(&[1, 2, 3], 2)), &back),
            Compared::Unknown
        );
        assert_eq!(compare(None, &trace(&[1], 1)), Compared::Unknown);
    }
}
