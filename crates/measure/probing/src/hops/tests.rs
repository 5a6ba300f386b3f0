use observe::TraceProtocol;

use super::*;

/// Three probes to each hop, in milliseconds; an empty list for a silent hop.
fn trace(hops: &[&[u64]]) -> Trace {
    let answer = |distance: u8, millis: u64| HopAnswer {
        from: [192, 0, 2, distance].into(),
        rtt: Span::from_millis(millis),
    };
    let hop = |(distance, millis): (u8, &&[u64])| Hop {
        distance,
        probes: match millis.is_empty() {
            true => vec![None; 3],
            false => millis
                .iter()
                .map(|millis| Some(answer(distance, *millis)))
                .collect(),
        },
    };
    Trace {
        protocol: TraceProtocol::Udp,
        one_flow: true,
        hops: (1..).zip(hops).map(hop).collect(),
        reached: true,
    }
}

fn queue(idle: &[&[u64]], loaded: &[&[u64]]) -> Option<(u8, u8, u64)> {
    let queue = compare(&trace(idle), &trace(loaded)).queue?;
    Some((queue.after, queue.hop, queue.rise.as_nanos() / 1_000_000))
}

const IDLE: [&[u64]; 4] = [&[1, 1, 1], &[10, 10, 11], &[20, 20, 20], &[30, 30, 30]];

#[test]
fn the_queue_is_before_the_first_of_those_that_rose() {
    let loaded = |rises: [u64; 4]| {
        let hops: Vec<Vec<u64>> = IDLE
            .iter()
            .zip(rises)
            .map(|(hop, rise)| hop.iter().map(|millis| millis + rise).collect())
            .collect();
        let hops: Vec<&[u64]> = hops.iter().map(Vec::as_slice).collect();
        queue(&IDLE, &hops)
    };
    assert_eq!(loaded([50, 50, 50, 50]), Some((0, 1, 50)));
    assert_eq!(loaded([0, 50, 55, 50]), Some((1, 2, 50)));
    assert_eq!(loaded([0, 0, 1, 50]), Some((3, 4, 50)));
    assert_eq!(loaded([0, 0, 0, 0]), None);
    assert_eq!(loaded([0, 1, 1, 1]), None);
    // A queue that changed its length between the probes of two hops.
    assert_eq!(loaded([0, 30, 50, 40]), Some((1, 2, 30)));
    // A small rise in front of a large one is not the place.
    assert_eq!(loaded([0, 5, 50, 50]), Some((2, 3, 50)));
}

#[test]
fn a_router_that_answers_slowly_is_no_queue() {
    let loaded: [&[u64]; 4] = [&[1, 1, 1], &[90, 80, 95], &[20, 21, 20], &[60, 60, 60]];
    assert_eq!(queue(&IDLE, &loaded), Some((3, 4, 30)));
    let loaded: [&[u64]; 4] = [&[1, 1, 1], &[90, 80, 95], &[20, 21, 20], &[30, 30, 31]];
    assert_eq!(queue(&IDLE, &loaded), None);
}

#[test]
fn one_late_answer_is_no_rise() {
    let loaded: [&[u64]; 4] = [&[1, 1, 1], &[10, 90, 11], &[20, 20, 95], &[99, 30, 30]];
    assert_eq!(queue(&IDLE, &loaded), None);
}

#[test]
fn silent_hops_leave_a_gap() {
    let idle: [&[u64]; 4] = [&[1, 1, 1], &[], &[20, 20, 20], &[30, 30, 30]];
    let loaded: [&[u64]; 4] = [&[1, 1, 1], &[], &[60, 60, 60], &[70, 70, 70]];
    // It may be before the second hop or before the third.
    assert_eq!(queue(&idle, &loaded), Some((1, 3, 40)));
    let one_answer: [&[u64]; 4] = [&[1, 1, 1], &[50], &[60, 60, 60], &[70, 70, 70]];
    assert_eq!(queue(&IDLE, &one_answer), Some((1, 3, 40)));
}

#[test]
fn what_cannot_be_compared_says_nothing() {
    let loaded: [&[u64]; 4] = [&[51, 51, 51], &[60, 60, 60], &[70, 70, 70], &[80, 80, 80]];
    assert!(queue(&IDLE, &loaded).is_some());
    let mut other = trace(&loaded);
    other.one_flow = false;
    assert_eq!(compare(&trace(&IDLE), &other).queue, None);
    let mut other = trace(&loaded);
    other.protocol = TraceProtocol::Icmp;
    assert_eq!(compare(&trace(&IDLE), &other).queue, None);
    // Another way: none of the routers is the same.
    let mut other = trace(&loaded);
    for answer in other
        .hops
        .iter_mut()
        .flat_map(|hop| hop.probes.iter_mut().flatten())
    {
        answer.from = [198, 51, 100, 1].into();
    }
    let seen = compare(&trace(&IDLE), &other);
    assert_eq!((seen.hops.len(), seen.queue), (4, None));
    assert_eq!(compare(&trace(&[]), &trace(&[])).queue, None);
    assert_eq!(queue(&[&[], &[]], &[&[], &[]]), None);
}

#[test]
fn losses_and_round_trips_are_summed_up() {
    let mut lossy = trace(&[&[10, 12, 11]]);
    lossy.hops[0].probes.push(None);
    let seen = compare(&lossy, &trace(&[&[5, 5, 5]])).hops[0];
    assert_eq!((seen.idle.probes, seen.idle.answers), (4, 3));
    assert_eq!(seen.idle.loss_ratio(), Some(0.25));
    assert_eq!(seen.idle.rtt_min, Some(Span::from_millis(10)));
    assert_eq!(seen.idle.rtt_median, Some(Span::from_millis(11)));
    assert_eq!(seen.rise, Some(Span::ZERO));
    assert_eq!(HopSummary::default().loss_ratio(), None);
}
