use std::net::{IpAddr, Ipv4Addr};

use observe::TraceProtocol;

use super::*;

const MILLISECOND: Span = Span::from_millis(1);

/// What a made-up router does with a probe that dies there.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Router {
    Answers,
    Silent,
    /// Answers, but quotes too little to tell which probe.
    Terse,
    /// Lets nothing through, and says so.
    Bars,
}

/// A path in virtual time: hop `k` answers after `10 k` ms.
struct Path {
    routers: Vec<Router>,
    /// Whether the far end answers.
    far: bool,
    /// Probes that are lost, by their number.
    lost: Vec<u64>,
    at_once: usize,
    rounds: u16,
}

fn address(hops: usize) -> IpAddr {
    Ipv4Addr::new(198, 18, 0, hops as u8).into()
}

impl Default for Path {
    fn default() -> Self {
        Path {
            routers: vec![Router::Answers; 4],
            far: true,
            lost: Vec::new(),
            at_once: usize::MAX,
            rounds: 3,
        }
    }
}

/// A trace, when it was over, and the distance and time of each probe.
struct Seen {
    trace: Trace,
    over: Time,
    sent: Vec<(u8, Time)>,
    /// The most that were on their way together.
    together: usize,
}

impl Path {
    fn far_hop(&self) -> usize {
        self.routers.len() + 1
    }

    /// Who answers a probe to this distance, with which word, quoting enough or not, after how many
    /// hops.
    fn answer(&self, hops: usize) -> Option<(bool, Said, usize)> {
        let barred = self
            .routers
            .iter()
            .position(|router| *router == Router::Bars);
        if let Some(at) = barred.map(|at| at + 1).filter(|at| hops >= *at) {
            return Some((true, Said::Barred(address(at)), at));
        }
        match self.routers.get(hops - 1) {
            None => {
                self.far
                    .then_some((true, Said::Arrived(address(self.far_hop())), self.far_hop()))
            }
            Some(Router::Silent) => None,
            Some(router) => {
                let named = *router != Router::Terse;
                Some((named, Said::Passing(address(hops)), hops))
            }
        }
    }

    fn trace(&self) -> Seen {
        let plan = TracePlan {
            protocol: TraceProtocol::Udp,
            rounds: self.rounds,
            hops_max: 30,
            patience: Span::from_secs(1),
        };
        let mut rate_limit = RateLimit::default();
        let mut now = Time::ZERO;
        let mut search = Search::new(plan, self.at_once, false, &mut rate_limit, now);
        let mut coming: Vec<(Time, Option<u64>, Said)> = Vec::new();
        let (mut sent, mut together) = (Vec::new(), 0);
        loop {
            while let Some(index) = coming.iter().position(|(at, ..)| *at <= now) {
                let (at, number, said) = coming.remove(index);
                search.on_answer(number, said, at);
            }
            match search.next(now) {
                Step::Over => break,
                Step::Wait(until) => {
                    assert!(until > now, "waiting for the past");
                    let first = coming.iter().map(|(at, ..)| *at).min();
                    now = first.map_or(until, |first| first.min(until));
                }
                Step::Send { hops } => {
                    let number = sent.len() as u64;
                    sent.push((hops, now));
                    search.on_sent(now);
                    let answer = self.answer(usize::from(hops));
                    if let Some((named, said, at)) = answer.filter(|_| !self.lost.contains(&number))
                    {
                        let at = now + Span::from_millis(10 * at as u64);
                        coming.push((at, named.then_some(number), said));
                        coming.sort_by_key(|(at, ..)| *at);
                    }
                    together = together.max(coming.len());
                }
            }
        }
        Seen {
            trace: search.trace(),
            over: now,
            sent,
            together,
        }
    }
}

fn rtts(trace: &Trace, distance: usize) -> Vec<Option<u64>> {
    let hop = &trace.hops[distance - 1];
    assert_eq!(usize::from(hop.distance), distance);
    let rtt = |probe: &Option<HopAnswer>| probe.map(|answer| answer.rtt.as_nanos() / 1_000_000);
    hop.probes.iter().map(rtt).collect()
}

// A path on which all is well.

#[test]
fn every_hop_is_seen_in_every_round() {
    let seen = Path::default().trace();
    assert!(seen.trace.reached && seen.trace.one_flow);
    assert_eq!(seen.trace.hops.len(), 5);
    for distance in 1..=5 {
        let expected = Some(10 * distance as u64);
        assert_eq!(rtts(&seen.trace, distance), [expected; 3]);
        let from = seen.trace.hops[distance - 1].probes[0].unwrap().from;
        assert_eq!(from, address(distance));
    }
}

#[test]
fn the_far_end_is_overshot_by_no_more_than_its_ration_of_answers() {
    let seen = Path::default().trace();
    let beyond = seen.sent.iter().filter(|(hops, _)| *hops > 5).count();
    // The question to begin with, and two that were under way when hop 5 answered.
    assert!(beyond <= OUTWARD, "{beyond}");
}

#[test]
fn later_rounds_see_all_hops_at_the_same_moment() {
    let seen = Path::default().trace();
    let last: Vec<Time> = seen.sent.iter().rev().take(5).map(|(_, at)| *at).collect();
    assert_eq!(last[0].since(last[4]), SPACING.times(4));
    // Two rounds after the first: three times the far end's 50 ms, and what spacing and going
    // outward take.
    assert!(
        seen.over < Time::ZERO + Span::from_millis(250),
        "{:?}",
        seen.over
    );
}

#[test]
fn a_flow_of_one_at_a_time_never_has_two() {
    let path = Path {
        at_once: 1,
        ..Path::default()
    };
    let seen = path.trace();
    assert_eq!(seen.together, 1);
    assert_eq!(rtts(&seen.trace, 5), [Some(50); 3]);
}

#[test]
fn a_neighbour_is_one_hop_away() {
    let path = Path {
        routers: Vec::new(),
        rounds: 1,
        ..Path::default()
    };
    let trace = path.trace().trace;
    assert_eq!((trace.hops.len(), trace.reached), (1, true));
    assert_eq!(rtts(&trace, 1), [Some(10)]);
}

// Silence and loss.

#[test]
fn a_silent_router_is_left_out_and_holds_no_other_up() {
    let mut path = Path::default();
    path.routers[1] = Router::Silent;
    for at_once in [1, usize::MAX] {
        path.at_once = at_once;
        let seen = path.trace();
        assert_eq!(rtts(&seen.trace, 2), [None; 3]);
        assert_eq!(rtts(&seen.trace, 3), [Some(30); 3]);
        // The far end answered in 50 ms, so 350 ms are enough for each of three probes.
        assert!(
            seen.over < Time::ZERO + Span::from_millis(1_600),
            "{:?}",
            seen.over
        );
    }
}

#[test]
fn a_lost_probe_is_lost_in_its_round_alone() {
    // 0 asks for the far end; 1 to 5 go outward, 6 and 7 too far, then 8 to 12 are the second
    // round.
    let path = Path {
        lost: vec![9],
        ..Path::default()
    };
    let seen = path.trace();
    assert_eq!(seen.sent[9].0, 2);
    assert_eq!(rtts(&seen.trace, 2), [Some(20), None, Some(20)]);
}

#[test]
fn a_far_end_that_a_loss_made_look_further_away_is_put_right() {
    // The fifth hop is the far end; its first probe is lost, so the sixth finds it first.
    let path = Path {
        lost: vec![5],
        ..Path::default()
    };
    let trace = path.trace().trace;
    assert_eq!(trace.hops.len(), 5);
    assert_eq!(rtts(&trace, 5), [None, Some(50), Some(50)]);
}

#[test]
fn a_silent_far_end_ends_the_search_six_hops_on() {
    let path = Path {
        far: false,
        ..Path::default()
    };
    let seen = path.trace();
    assert!(!seen.trace.reached);
    assert_eq!(rtts(&seen.trace, 4), [Some(40); 3]);
    let furthest = seen
        .sent
        .iter()
        .filter(|(hops, _)| *hops < 30)
        .map(|(hops, _)| *hops);
    assert!(furthest.max().unwrap() <= 4 + 6 + OUTWARD as u8);
    let asked = seen.sent.iter().filter(|(hops, _)| *hops == 30).count();
    assert_eq!(asked, ASKED_MAX);
}

#[test]
fn many_silent_routers_before_a_far_end_that_answers_are_gone_past() {
    let path = Path {
        routers: vec![Router::Silent; 12],
        ..Path::default()
    };
    let trace = path.trace().trace;
    assert_eq!((trace.hops.len(), trace.reached), (13, true));
    assert_eq!(rtts(&trace, 13), [Some(130); 3]);
}

#[test]
fn a_path_without_answers_is_no_endless_search() {
    let path = Path {
        routers: vec![Router::Silent; 40],
        far: false,
        at_once: 1,
        ..Path::default()
    };
    let seen = path.trace();
    assert!(!seen.trace.reached);
    let answered = |hop: &observe::Hop| hop.probes.iter().any(Option::is_some);
    assert!(!seen.trace.hops.iter().any(answered));
    assert!(
        seen.over < Time::ZERO + Span::from_secs(12),
        "{:?}",
        seen.over
    );
}

// Routers that quote too little.

#[test]
fn a_terse_router_is_probed_while_nothing_else_is_on_the_way() {
    let mut path = Path::default();
    path.routers[1] = Router::Terse;
    path.routers[3] = Router::Terse;
    let trace = path.trace().trace;
    for distance in 1..=5 {
        let expected = Some(10 * distance as u64);
        assert_eq!(rtts(&trace, distance), [expected; 3], "hop {distance}");
        let from = trace.hops[distance - 1].probes[2].unwrap().from;
        assert_eq!(from, address(distance));
    }
}

#[test]
fn terse_and_silent_routers_are_told_apart() {
    let mut path = Path::default();
    path.routers[1] = Router::Terse;
    path.routers[2] = Router::Silent;
    let trace = path.trace().trace;
    assert_eq!(rtts(&trace, 2), [Some(20); 3]);
    assert_eq!(rtts(&trace, 3), [None; 3]);
}

// Firewalls.

#[test]
fn where_nothing_goes_on_the_trace_ends() {
    let mut path = Path {
        far: false,
        ..Path::default()
    };
    path.routers[2] = Router::Bars;
    let trace = path.trace().trace;
    assert_eq!((trace.hops.len(), trace.reached), (3, false));
    assert_eq!(rtts(&trace, 3), [Some(30); 3]);
}

// Time.

#[test]
fn more_than_five_rounds_come_one_a_second() {
    let path = Path {
        rounds: 8,
        ..Path::default()
    };
    let seen = path.trace();
    let firsts: Vec<Time> = seen
        .sent
        .iter()
        .filter(|(hops, _)| *hops == 1)
        .map(|(_, at)| *at)
        .collect();
    assert_eq!(firsts.len(), 8);
    assert!(firsts[4] < Time::ZERO + Span::from_millis(500));
    assert!(firsts[7].since(firsts[4]) >= Span::from_millis(2_500));
}

#[test]
fn unasked_answers_change_nothing() {
    let mut rate_limit = RateLimit::default();
    let plan = TracePlan {
        protocol: TraceProtocol::Udp,
        rounds: 1,
        hops_max: 1,
        patience: MILLISECOND,
    };
    let mut search = Search::new(plan, 1, false, &mut rate_limit, Time::ZERO);
    search.on_answer(Some(77), Said::Arrived(address(1)), Time::ZERO);
    search.on_answer(None, Said::Passing(address(1)), Time::ZERO);
    search.on_answer(Some(u64::MAX), Said::TooBig(0), Time::ZERO);
    assert!(!search.trace().reached);
}
