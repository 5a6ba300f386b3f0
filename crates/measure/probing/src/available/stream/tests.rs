use observe::{Passage, Stamped};

use super::*;

const MTU: Bytes = Bytes::new(1500);

fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

fn plan(rate: u64) -> Plan {
    Plan::new(mbps(rate), mbps(100), MTU, 1)
}

/// The stream of `plan`, each packet delayed by `delay` seconds of its number.
fn passages(plan: &Plan, delay: impl Fn(u64) -> Option<f64>) -> Passages {
    let packet = |number: u64| {
        let left = plan.gap.times(number);
        let arrived = delay(number).map(|delay| left + Span::from_secs_f64(delay));
        Passage { left, arrived }
    };
    Passages {
        packets: (0..plan.packets).map(packet).collect(),
        stamped: Stamped::Exactly,
        clocks: None,
    }
}

fn trend(showing: Showing) -> Trend {
    match showing {
        Showing::Delays(delays) => delays.trend,
        other => panic!("{other:?}"),
    }
}

#[test]
fn packets_are_as_large_as_the_time_allows() {
    // 1500 B at 100 Mbit/s every 120 us: a hundred take 12 ms.
    let fast = plan(100);
    assert_eq!(
        (fast.packet, fast.gap, fast.packets),
        (MTU, Span::from_micros(120), 100)
    );
    // At 2 Mbit/s they would take 0.6 s: packets of 500 B take 0.2 s.
    let slow = plan(2);
    assert_eq!((slow.packet, slow.packets), (Bytes::new(500), 100));
    assert_eq!(slow.length(), Span::from_millis(200));
    // At 600 Mbit/s a hundred would be over in 2 ms.
    assert_eq!(plan(600).packets, 200);
    // Nothing is smaller than 200 B.
    assert_eq!(
        Plan::new(Rate::from_bits_per_second(20_000), mbps(100), MTU, 1).packet,
        Bytes::new(200)
    );
}

#[test]
fn where_others_are_slow_streams_are_long() {
    // 200 full packets at 1 Mbit/s take 2.4 s: the bound of 2 s.
    let slow = Plan::new(mbps(1), mbps(1), MTU, 1);
    assert_eq!(slow.packet, MTU);
    let slower = Plan::new(Rate::from_bits_per_second(300_000), mbps(1), MTU, 1);
    assert_eq!(slower.packet, Bytes::new(750));
}

#[test]
fn a_growing_queue_is_seen_with_its_slope() {
    let plan = plan(80);
    // Each packet 6 us later than the one before, 150 us apart: 0.04 s/s.
    let showing = judge(
        &passages(&plan, |number| Some(0.005 + 6e-6 * number as f64)),
        &plan,
        mbps(100),
    );
    let Showing::Delays(delays) = showing else {
        panic!("{showing:?}");
    };
    assert_eq!(delays.trend, Trend::Increasing);
    assert!((delays.slope - 0.04).abs() < 1e-6, "{delays:?}");
    assert!((delays.rate - 80e6).abs() < 1.0, "{delays:?}");
    assert!(!delays.coarse);
}

#[test]
fn clocks_that_drift_apart_are_no_queue() {
    let plan = plan(80);
    let drift = |number: u64| Some(0.005 + 500e-6 * plan.gap.as_secs_f64() * number as f64);
    assert_eq!(
        trend(judge(&passages(&plan, drift), &plan, mbps(100))),
        Trend::NotIncreasing
    );
}

#[test]
fn loss_says_too_fast() {
    let plan = plan(80);
    let every = |nth: u64| passages(&plan, |number| (number % nth != 0).then_some(0.005));
    assert!(matches!(
        judge(&every(50), &plan, mbps(100)),
        Showing::Delays(_)
    ));
    assert_eq!(judge(&every(20), &plan, mbps(100)), Showing::Lossy);
    assert_eq!(judge(&every(5), &plan, mbps(100)), Showing::Lost);
}

#[test]
fn a_sender_that_was_away_is_not_judged() {
    let plan = plan(80);
    let mut passages = passages(&plan, |_| Some(0.005));
    for packet in &mut passages.packets[50..60] {
        packet.left += Span::from_millis(1);
    }
    assert_eq!(judge(&passages, &plan, mbps(100)), Showing::SenderAway);
}

#[test]
fn batches_leave_their_last_packet() {
    let plan = plan(80);
    // Handed over in twos.
    let twos = |number: u64| {
        Some(
            0.005
                + if number.is_multiple_of(2) {
                    149e-6
                } else {
                    0.0
                },
        )
    };
    let Showing::Delays(delays) = judge(&passages(&plan, twos), &plan, mbps(100)) else {
        panic!("two in a batch leave fifty");
    };
    assert!(delays.coarse);
    assert_eq!(delays.trend, Trend::NotIncreasing);
    // In tens: ten times are left, too few.
    let tens = |number: u64| Some(0.005 + (9 - number % 10) as f64 * 149e-6);
    assert_eq!(
        judge(&passages(&plan, tens), &plan, mbps(100)),
        Showing::Batched
    );
}

#[test]
fn scatter_that_hides_a_queue_is_said() {
    let plan = plan(80);
    // Up and down by 1 ms from packet to packet in a stream of 15 ms; arrivals stay in order by
    // twos.
    let wild = |number: u64| Some(0.005 + (number * 7 % 10) as f64 * 400e-6);
    let showing = judge(&passages(&plan, wild), &plan, mbps(100));
    assert!(
        matches!(showing, Showing::Blurred | Showing::Batched),
        "{showing:?}"
    );
}
