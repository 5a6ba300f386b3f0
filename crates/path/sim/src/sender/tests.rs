//! The sender, step by step, with time and acknowledgements given.

use units::Bytes;

use super::*;
use crate::packet::Block;

const RULES: Rules = Rules {
    growth: Growth::PerAcknowledgement,
    timestamps: true,
    timeout_floor: TimeoutFloor::Whole(Span::from_millis(200)),
    timeout_forgets: false,
    watches_repairs: true,
    kernel: false,
    by_time: false,
    pacing_max: None,
};

const AT: fn(u64) -> Time = |millis| Time::from_nanos(millis * 1_000_000);

fn facts(initial_window: u32) -> Facts {
    Facts {
        segment: Bytes::new(1500),
        initial_window,
        share: Rate::from_bits_per_second(10_000_000),
        seed: 1,
    }
}

/// A sender with a window of `window` segments that has sent all of them.
fn sender(variant: Variant, window: u32) -> Sender {
    let mut sender = Sender::new(variant, Arc::new(RULES), &facts(window), 1000, u32::MAX);
    sender.on_connected(Span::from_millis(100), AT(0));
    assert_eq!(sent(&mut sender).len(), window as usize);
    sender
}

/// Everything that may leave now.
fn sent(sender: &mut Sender) -> Vec<Outgoing> {
    std::iter::from_fn(|| sender.poll_transmit()).collect()
}

fn new(numbers: std::ops::Range<u32>) -> Vec<Outgoing> {
    let outgoing = |number| Outgoing {
        number,
        again: false,
    };
    numbers.map(outgoing).collect()
}

fn again(number: u32) -> Outgoing {
    Outgoing {
        number,
        again: true,
    }
}

/// An acknowledgement up to below `number`, with what has arrived beyond.
fn ack(number: u32, beyond: &[(u32, u32)]) -> Packet {
    let mut packet = Packet {
        number,
        block_count: beyond.len() as u8,
        ..Packet::empty(Time::ZERO)
    };
    for (block, (start, end)) in packet.blocks.iter_mut().zip(beyond) {
        *block = Block {
            start: *start,
            end: *end,
        };
    }
    packet
}

// Slow start and congestion avoidance.

#[test]
fn slow_start_sends_two_for_each_acknowledgement() {
    let mut sender = sender(Variant::Sack, 2);
    sender.on_ack(&ack(1, &[]), AT(100));
    assert_eq!(sent(&mut sender), new(2..4));
    assert_eq!(sender.window().size, 3.0);
}

#[test]
fn the_receivers_window_bounds_what_is_outstanding() {
    let mut sender = Sender::new(Variant::Sack, Arc::new(RULES), &facts(10), 4, u32::MAX);
    sender.on_connected(Span::from_millis(100), AT(0));
    assert_eq!(sent(&mut sender), new(0..4));
    sender.on_ack(&ack(1, &[]), AT(100));
    assert_eq!(sent(&mut sender), new(4..5));
    assert_eq!(sender.window().size, 4.0);
}

#[test]
fn nothing_is_sent_beyond_the_last_segment() {
    let mut sender = Sender::new(Variant::Sack, Arc::new(RULES), &facts(10), 1000, 3);
    sender.on_connected(Span::from_millis(100), AT(0));
    assert_eq!(sent(&mut sender), new(0..3));
    sender.on_ack(&ack(3, &[]), AT(100));
    assert!(sender.is_done() && !sender.is_outstanding());
}

// Fast retransmit and recovery.

#[test]
fn limited_transmit_sends_a_new_segment_for_each_of_the_first_two_duplicates() {
    for variant in [Variant::Tahoe, Variant::Reno, Variant::NewReno] {
        let mut sender = sender(variant, 10);
        sender.on_ack(&ack(0, &[]), AT(100));
        assert_eq!(sent(&mut sender), new(10..11), "{variant}");
        sender.on_ack(&ack(0, &[]), AT(101));
        assert_eq!(sent(&mut sender), new(11..12), "{variant}");
    }
}

#[test]
fn the_third_duplicate_repairs_and_halves() {
    for variant in [Variant::Reno, Variant::NewReno] {
        let mut sender = sender(variant, 10);
        for millis in 100..102 {
            sender.on_ack(&ack(0, &[]), AT(millis));
            sent(&mut sender);
        }
        assert!(
            sender.on_ack(&ack(0, &[]), AT(102)),
            "the timer starts anew"
        );
        assert_eq!(sent(&mut sender), [again(0)], "{variant}");
        assert_eq!(sender.window().size, 5.0, "{variant}");
        assert_eq!(sender.phase, Phase::Recovery);
    }
}

#[test]
fn tahoe_goes_back_to_one_segment_and_sends_in_order_again() {
    let mut sender = sender(Variant::Tahoe, 10);
    for millis in 100..103 {
        sender.on_ack(&ack(0, &[]), AT(millis));
    }
    assert_eq!(sent(&mut sender), [again(0)]);
    assert_eq!(
        (sender.window().size, sender.window().threshold),
        (1.0, 5.0)
    );
    sender.on_ack(&ack(1, &[]), AT(200));
    assert_eq!(sent(&mut sender), [again(1), again(2)]);
}

#[test]
fn duplicates_of_what_was_repeated_needlessly_are_no_new_loss() {
    let mut sender = sender(Variant::Tahoe, 10);
    for _ in 0..3 {
        sender.on_ack(&ack(0, &[]), AT(100));
    }
    assert_eq!(sent(&mut sender), [again(0)]);
    // All else had arrived, so what is acknowledged is just what was outstanding.
    sender.on_ack(&ack(10, &[]), AT(200));
    assert_eq!(sent(&mut sender).len(), 2);
    let window = sender.window().size;
    for _ in 0..3 {
        sender.on_ack(&ack(10, &[]), AT(210));
    }
    assert_eq!(sender.window().size, window);
    // Beyond that they count again.
    sender.on_ack(&ack(11, &[]), AT(300));
    for _ in 0..3 {
        sender.on_ack(&ack(11, &[]), AT(310));
    }
    assert_eq!(sender.window().size, 1.0);
}

#[test]
fn a_partial_acknowledgement_ends_reno_and_keeps_newreno_repairing() {
    let recovering = |variant| {
        let mut sender = sender(variant, 10);
        for millis in 100..103 {
            sender.on_ack(&ack(0, &[]), AT(millis));
        }
        sent(&mut sender);
        sender.on_ack(&ack(4, &[]), AT(200));
        sender
    };
    let mut reno = recovering(Variant::Reno);
    assert_eq!(reno.phase, Phase::Open);
    assert!(sent(&mut reno).iter().all(|outgoing| !outgoing.again));
    let mut newreno = recovering(Variant::NewReno);
    assert_eq!(newreno.phase, Phase::Recovery);
    assert_eq!(sent(&mut newreno)[0], again(4));
}

#[test]
fn selective_repair_sends_each_hole_once() {
    let mut sender = sender(Variant::Sack, 10);
    sender.on_ack(&ack(0, &[(1, 2)]), AT(100));
    sender.on_ack(&ack(0, &[(1, 2), (3, 4)]), AT(101));
    assert_eq!(sender.phase, Phase::Open);
    sender.on_ack(&ack(0, &[(3, 5), (1, 2)]), AT(102));
    assert_eq!(sender.phase, Phase::Recovery);
    // Seven of ten are on the way, the window is five: the first hole alone is sent regardless.
    assert_eq!(sent(&mut sender), [again(0)]);
    sender.on_ack(&ack(0, &[(3, 10), (1, 2)]), AT(103));
    // 0 is on the way once more; 2 has three above it now.
    let expected: Vec<_> = [again(2)].into_iter().chain(new(10..13)).collect();
    assert_eq!(sent(&mut sender), expected);
    sender.on_ack(&ack(13, &[]), AT(200));
    assert_eq!(sender.phase, Phase::Open);
}

#[test]
fn forward_acknowledgement_repairs_at_the_first_sign_of_a_wide_gap() {
    let mut sender = sender(Variant::Fack, 10);
    sender.on_ack(&ack(0, &[(4, 5)]), AT(100));
    assert_eq!(sender.phase, Phase::Recovery);
    assert_eq!(sent(&mut sender)[0], again(0));
}

#[test]
fn one_window_is_cut_once_however_much_of_it_is_lost() {
    let mut sender = sender(Variant::Sack, 20);
    for (millis, end) in (100..).zip(5..20) {
        sender.on_ack(&ack(0, &[(4, end)]), AT(millis));
        sent(&mut sender);
    }
    assert_eq!(sender.window().size, 10.0);
}

// Timeouts.

#[test]
fn a_timeout_sends_the_first_segment_again_and_starts_slowly() {
    for variant in [Variant::Reno, Variant::Sack] {
        let mut sender = sender(variant, 10);
        sender.on_timeout(AT(1000));
        assert_eq!(sent(&mut sender), [again(0)], "{variant}");
        assert_eq!(
            (sender.window().size, sender.window().threshold),
            (1.0, 5.0)
        );
    }
}

#[test]
fn what_was_selectively_acknowledged_is_not_sent_again_after_a_timeout() {
    let mut sender = sender(Variant::Sack, 5);
    sender.on_ack(&ack(0, &[(1, 3)]), AT(100));
    sent(&mut sender);
    sender.on_timeout(AT(1000));
    assert_eq!(sent(&mut sender), [again(0)]);
    sender.on_ack(&ack(3, &[]), AT(1100));
    assert_eq!(sent(&mut sender)[0], again(3));
}

#[test]
fn a_repeated_timeout_holds_the_threshold() {
    let mut sender = sender(Variant::Sack, 16);
    sender.on_timeout(AT(1000));
    sent(&mut sender);
    sender.on_timeout(AT(2000));
    assert_eq!(sender.window().threshold, 8.0);
    assert_eq!(
        sender.patience(),
        Span::from_millis(1200),
        "300 ms, doubled twice"
    );
}

#[test]
fn without_timestamps_a_repeated_segment_measures_nothing() {
    let rules = Rules {
        timestamps: false,
        ..RULES
    };
    let mut sender = Sender::new(Variant::Sack, Arc::new(rules), &facts(2), 1000, u32::MAX);
    sender.on_connected(Span::from_millis(100), AT(0));
    for outgoing in sent(&mut sender) {
        sender.on_sent(outgoing, Bytes::new(1500), AT(0));
    }
    sender.on_timeout(AT(1000));
    let patience = sender.patience();
    for outgoing in sent(&mut sender) {
        sender.on_sent(outgoing, Bytes::new(1500), AT(1000));
    }
    sender.on_ack(&ack(1, &[]), AT(1100));
    assert_eq!(
        sender.patience(),
        patience,
        "the doubling stays (Karn's rule)"
    );
}

#[test]
fn a_lost_request_leaves_a_window_of_one_segment() {
    let mut sender = Sender::new(Variant::Sack, Arc::new(RULES), &facts(10), 1000, u32::MAX);
    sender.on_timeout(AT(1000));
    sender.on_connected(Span::from_millis(100), AT(1100));
    assert_eq!(sent(&mut sender), new(0..1));
}

#[test]
fn a_jump_over_what_had_arrived_does_not_count_it_again() {
    let mut sender = sender(Variant::Sack, 20);
    sender.on_ack(&ack(0, &[(1, 20)]), AT(100));
    sender.on_timeout(AT(1000));
    sent(&mut sender);
    sender.on_ack(&ack(20, &[]), AT(1100));
    assert!(sender.window().size <= 2.0, "{:?}", sender.window());
}

#[test]
fn without_timestamps_a_repeated_request_measures_nothing() {
    let rules = Rules {
        timestamps: false,
        ..RULES
    };
    let mut sender = Sender::new(Variant::Sack, Arc::new(rules), &facts(2), 1000, u32::MAX);
    sender.on_timeout(AT(1000));
    sender.on_connected(Span::from_millis(100), AT(1100));
    assert_eq!(sender.patience(), Span::from_secs(2), "1 s, doubled");
}

// Marks.

fn marked(number: u32, beyond: &[(u32, u32)]) -> Packet {
    Packet {
        flags: Flags::default().with(Flags::ECHO, true),
        ..ack(number, beyond)
    }
}

#[test]
fn a_mark_halves_once_a_round_trip_and_is_confirmed() {
    let mut sender = sender(Variant::Sack, 10);
    sender.on_ack(&marked(1, &[]), AT(100));
    // Not a fraction more: what echoes a mark opens no window.
    assert_eq!(sender.window().size, 5.0);
    assert!(sender.takes_reduction_notice() && !sender.takes_reduction_notice());
    sender.on_ack(&marked(2, &[]), AT(101));
    assert_eq!(sender.window().size, 5.0);
    sender.on_ack(&ack(3, &[]), AT(102));
    assert_eq!(sender.window().size, 5.2);
}

#[test]
fn the_old_mark_is_echoed_until_the_receiver_has_heard_of_the_reduction() {
    let mut sender = sender(Variant::Sack, 10);
    sender.on_ack(&marked(1, &[]), AT(100));
    // Segment 10 is the next to leave, and the first to tell of the reduction.
    sender.on_ack(&marked(10, &[]), AT(101));
    assert_eq!(sender.window().size, 5.0);
    assert_eq!(sent(&mut sender), new(10..15));
    // What acknowledges it and echoes a mark tells of another one.
    sender.on_ack(&marked(11, &[]), AT(200));
    assert_eq!(sender.window().size, 2.5);
}

#[test]
fn a_mark_and_a_loss_in_one_window_halve_once() {
    for variant in [Variant::Sack, Variant::NewReno] {
        let mut sender = sender(variant, 10);
        sender.on_ack(&marked(1, &[]), AT(100));
        for top in 3..=5 {
            sender.on_ack(&marked(1, &[(2, top)]), AT(100 + u64::from(top)));
        }
        assert_eq!(sender.phase, Phase::Recovery, "{variant}");
        assert_eq!(sender.window().size, 5.0, "{variant}");
        assert_eq!(sent(&mut sender), [again(1)], "{variant}");
        // Beyond what was on the way then, a loss counts again.
        sender.on_ack(&ack(10, &[]), AT(200));
        assert!(sent(&mut sender).starts_with(&new(10..15)), "{variant}");
        sender.on_ack(&ack(11, &[]), AT(300));
        let before = sender.window().size;
        for top in 13..=15 {
            sender.on_ack(&ack(11, &[(12, top)]), AT(300 + u64::from(top)));
        }
        assert_eq!(sender.window().size, before / 2.0, "{variant}");
    }
}

// As Linux: RACK-TLP (RFC 8985), PRR (RFC 9937).

fn linux(window: u32, limit: u32) -> Sender {
    let rules = Rules {
        kernel: true,
        by_time: true,
        timeout_floor: TimeoutFloor::Margin(Span::from_millis(200)),
        ..RULES
    };
    let facts = facts(window);
    let mut sender = Sender::new(Variant::Sack, Arc::new(rules), &facts, 1000, limit);
    sender.on_connected(Span::from_millis(40), AT(0));
    assert_eq!(leave(&mut sender, 0).len(), window as usize);
    sender
}

/// Everything that may leave now, and leaves.
fn leave(sender: &mut Sender, millis: u64) -> Vec<Outgoing> {
    let sent = sent(sender);
    for outgoing in &sent {
        sender.on_sent(*outgoing, Bytes::new(1500), AT(millis));
    }
    sent
}

#[test]
fn a_silent_tail_is_probed_and_its_holes_are_repaired_without_a_timeout() {
    // RFC 8985 section 7: the last three of ten are lost.
    let mut sender = linux(10, 10);
    sender.on_ack(&ack(7, &[]), AT(40));
    assert_eq!(leave(&mut sender, 40), []);
    assert!(sender.patience() < Span::from_millis(200));
    sender.on_timeout(AT(122));
    assert_eq!(leave(&mut sender, 122), [again(9)]);
    assert!(
        sender.patience() > Span::from_millis(200),
        "the next wait is the timeout"
    );
    // The probe arrives: what was sent before it is lost.
    assert!(sender.on_ack(&ack(7, &[(9, 10)]), AT(162)));
    assert_eq!(sender.phase, Phase::Recovery);
    assert_eq!(leave(&mut sender, 162)[0], again(7));
    assert_eq!(sender.tally().timeouts, 0);
}

#[test]
fn a_probe_takes_new_data_where_there_is_some() {
    let mut sender = linux(10, 100);
    sender.on_timeout(AT(100));
    assert_eq!(leave(&mut sender, 100), new(10..11));
    sender.on_ack(&ack(11, &[]), AT(140));
    assert_eq!(sender.window().threshold, f64::INFINITY, "nothing was lost");
}

#[test]
fn a_hole_below_one_arrival_is_lost_after_a_quarter_of_the_round_trip() {
    let mut sender = linux(4, 4);
    assert!(sender.on_ack(&ack(2, &[(3, 4)]), AT(40)));
    assert_eq!(
        (leave(&mut sender, 40), sender.phase),
        (vec![], Phase::Open)
    );
    assert_eq!(sender.patience(), Span::from_millis(10));
    sender.on_timeout(AT(50));
    assert_eq!(leave(&mut sender, 50), [again(2)]);
    assert_eq!(
        (sender.phase, sender.tally().timeouts),
        (Phase::Recovery, 0)
    );
}

#[test]
fn recovery_sends_half_of_what_arrives_and_ends_at_the_threshold() {
    let mut sender = linux(20, u32::MAX);
    let mut sent = Vec::new();
    for (millis, top) in (40..).zip(2..=20) {
        sender.on_ack(&ack(0, &[(1, top)]), AT(millis));
        sent.push(leave(&mut sender, millis).len());
    }
    // One new segment for each of the first two, the repair, then one for every other.
    assert_eq!(sent[..7], [1, 1, 1, 0, 1, 0, 1]);
    assert_eq!(sender.pipe(), 10);
    sender.on_ack(&ack(22, &[]), AT(80));
    assert_eq!(
        (sender.phase, sender.window().threshold),
        (Phase::Open, 10.0)
    );
    assert!(
        (10.0..11.1).contains(&sender.window().size),
        "{:?}",
        sender.window()
    );
}

#[test]
fn a_timeout_of_a_repair_keeps_the_threshold_of_its_loss() {
    let mut sender = linux(20, u32::MAX);
    sender.on_ack(&ack(0, &[(1, 12)]), AT(40));
    leave(&mut sender, 40);
    sender.on_timeout(AT(400));
    assert_eq!(
        (sender.window().size, sender.window().threshold),
        (1.0, 10.0)
    );
}
