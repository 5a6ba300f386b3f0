use super::*;

use path::{Class, CoDelSpec, Loss, QueueLimit, QueueSpec, RedSpec};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq)]
struct Numbered {
    number: u32,
    size: u64,
    class: Class,
    capable: bool,
    marked: bool,
}

impl Packet for Numbered {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    fn ecn_capable(&self) -> bool {
        self.capable
    }

    fn mark_congestion(&mut self) {
        self.marked = true;
    }

    fn class(&self) -> Class {
        self.class
    }
}

/// 12 Mbit/s, so that 1500 B take 1 ms; 10 ms of delay.
fn spec(limit: QueueLimit, loss: Loss) -> LinkSpec {
    LinkSpec {
        rate: "12Mbit/s".parse().unwrap(),
        delay: Span::from_millis(10),
        queue: QueueSpec::DropTail(limit),
        loss,
    }
}

fn packet(number: u32) -> Numbered {
    Numbered {
        number,
        size: 1500,
        class: Class::BestEffort,
        capable: false,
        marked: false,
    }
}

fn millis(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Polls exactly at each wakeup and tells when which packet came out.
fn drain(link: &mut Link<Numbered>) -> Vec<(Time, u32)> {
    let mut out = Vec::new();
    while let Some(now) = link.next_wakeup() {
        while let Some(packet) = link.poll(now) {
            out.push((now, packet.number));
        }
    }
    out
}

#[test]
fn packets_come_out_at_the_rate_after_the_delay() {
    let mut link = Link::new(&spec(QueueLimit::Packets(9), Loss::None), 1);
    for number in 0..3 {
        assert_eq!(link.offer(packet(number), Time::ZERO), Admission::Accepted);
    }
    let expected = [(millis(11), 0), (millis(12), 1), (millis(13), 2)];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn a_driver_that_wakes_late_does_not_slow_the_link() {
    let mut link = Link::new(&spec(QueueLimit::Packets(9), Loss::None), 1);
    for number in 0..3 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    // Nobody polls for 12.5 ms; the sender has worked all the same.
    let out = std::iter::from_fn(|| link.poll(Time::from_nanos(12_500_000)));
    assert_eq!(out.map(|packet| packet.number).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(link.next_wakeup(), Some(millis(13)));
}

#[test]
fn an_idle_link_does_not_save_up_time() {
    let mut link = Link::new(&spec(QueueLimit::Packets(9), Loss::None), 1);
    let _ = link.offer(packet(0), millis(100));
    let _ = link.offer(packet(1), millis(100));
    assert_eq!(drain(&mut link), [(millis(111), 0), (millis(112), 1)]);
}

#[test]
fn the_packet_being_sent_does_not_fill_the_queue() {
    let mut link = Link::new(&spec(QueueLimit::Packets(1), Loss::None), 1);
    let full = Admission::Dropped(DropCause::QueueFull);
    let admissions: Vec<_> = (0..3).map(|n| link.offer(packet(n), Time::ZERO)).collect();
    assert_eq!(admissions, [Admission::Accepted, Admission::Accepted, full]);
    assert_eq!(link.counters().dropped_queue_full.packets, 1);
    assert_eq!(link.counters().queue_peak, Bytes::new(1500));
    // One millisecond later the waiting packet is being sent and its place is free.
    assert_eq!(link.offer(packet(3), millis(1)), Admission::Accepted);
}

#[test]
fn a_packet_lost_on_the_wire_has_used_the_link() {
    let every_second = Loss::Random { rate: 0.5 };
    let mut link = Link::new(&spec(QueueLimit::Packets(100), every_second), 3);
    for number in 0..50 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    let out = drain(&mut link);
    assert!(out.len() < 50, "nothing was lost");
    for (at, number) in out {
        assert_eq!(at, millis(11 + u64::from(number)));
    }
    assert!(link.counters().dropped_wire_loss.packets > 0);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut link = Link::new(
            &spec(QueueLimit::Packets(99), Loss::Random { rate: 0.3 }),
            seed,
        );
        for number in 0..99 {
            let _ = link.offer(packet(number), Time::ZERO);
        }
        drain(&mut link)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

/// RED that drops one in two or so, whatever waits.
fn eager_red(loss: Loss) -> LinkSpec {
    let red = RedSpec {
        limit: QueueLimit::Packets(1000),
        min: 1,
        max: 20,
        probability: 0.5,
        weight: 1.0,
        ecn: false,
    };
    LinkSpec {
        queue: QueueSpec::Red(red),
        ..spec(QueueLimit::Packets(1), loss)
    }
}

/// Which of the packets that were sent the wire lost, and how many RED dropped before.
fn wire_losses(spec: &LinkSpec, seed: u64) -> (Vec<bool>, u64) {
    let mut link = Link::new(spec, seed);
    let mut lost = Vec::new();
    for number in 0..1000 {
        let before = *link.counters();
        // Twice as fast as they can be sent.
        let now = Time::from_nanos(500_000 * u64::from(number));
        let _ = link.offer(packet(number), now);
        let after = link.counters();
        let gone = after.dropped_wire_loss.packets > before.dropped_wire_loss.packets;
        lost.extend((after.sent.packets > before.sent.packets).then_some(gone));
    }
    (lost, link.counters().dropped_early.packets)
}

#[test]
fn the_wire_loses_the_same_packets_whatever_red_drops() {
    let loss = Loss::Random { rate: 0.1 };
    let (plain, none) = wire_losses(&spec(QueueLimit::Packets(1000), loss), 7);
    let (red, dropped) = wire_losses(&eager_red(loss), 7);
    assert!(none == 0 && dropped > 100, "{none}, {dropped}");
    assert_eq!(plain, red);
}

#[test]
fn packets_lost_inside_are_handed_over_to_who_asked() {
    let lossy = spec(QueueLimit::Packets(100), Loss::Random { rate: 0.5 });
    let mut silent = Link::new(&lossy, 3);
    let mut told = Link::new(&lossy, 3);
    told.report_losses();
    for number in 0..50 {
        let _ = silent.offer(packet(number), Time::ZERO);
        let _ = told.offer(packet(number), Time::ZERO);
    }
    let arrived: Vec<_> = drain(&mut told).iter().map(|(_, number)| *number).collect();
    let lost: Vec<_> = std::iter::from_fn(|| told.take_lost()).collect();
    assert_eq!(arrived.len() + lost.len(), 50);
    assert!(
        lost.iter()
            .all(|(packet, cause)| *cause == DropCause::WireLoss
                && !arrived.contains(&packet.number))
    );
    assert_eq!(drain(&mut silent).len(), arrived.len());
    assert_eq!(silent.take_lost(), None);
}

#[test]
fn settling_brings_queue_and_counters_up_to_the_moment() {
    let mut link = Link::new(&spec(QueueLimit::Packets(100), Loss::None), 1);
    for number in 0..10 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    assert_eq!(link.queue_packets(), 9);
    link.settle(Time::from_nanos(3_500_000));
    // Three have been sent in 3 ms and the fourth is being sent.
    assert_eq!(link.queue_packets(), 6);
    assert_eq!(link.queue_bytes(), Bytes::new(9000));
    assert_eq!(link.counters().sent.packets, 4);
    assert_eq!(link.counters().delivered.packets, 0);
}

#[test]
fn a_better_class_overtakes_what_waits_and_not_what_is_being_sent() {
    let limit = QueueLimit::Packets(10);
    let strict = LinkSpec {
        queue: QueueSpec::Strict { limit },
        ..spec(limit, Loss::None)
    };
    let mut link = Link::new(&strict, 1);
    for number in 0..3 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    let urgent = Numbered {
        class: Class::Priority,
        ..packet(9)
    };
    let _ = link.offer(urgent, Time::ZERO);
    let order: Vec<_> = drain(&mut link).iter().map(|(_, number)| *number).collect();
    assert_eq!(order, [0, 9, 1, 2]);
}

/// Every kind of queue with limits and thresholds that a few packets reach.
fn any_queue() -> impl Strategy<Value = QueueSpec> {
    let limit = prop_oneof![
        (1u32..40).prop_map(QueueLimit::Packets),
        (9000u64..60_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
    ];
    let shares = (0.001f64..0.5, 0.001f64..0.49);
    (0..5, limit, any::<bool>(), shares, 0.002f64..1.0).prop_map(
        |(kind, limit, ecn, (scavenger, priority), weight)| match kind {
            0 => QueueSpec::DropTail(limit),
            1 => QueueSpec::Red(RedSpec {
                limit,
                min: 1,
                max: 4,
                probability: 0.1,
                weight,
                ecn,
            }),
            2 => QueueSpec::CoDel(CoDelSpec {
                limit,
                target: Span::from_micros(100),
                interval: Span::from_millis(1),
                ecn,
            }),
            3 => QueueSpec::Strict { limit },
            _ => QueueSpec::Weighted {
                limit,
                scavenger,
                priority,
            },
        },
    )
}

fn any_packet() -> impl Strategy<Value = Numbered> {
    (40u64..9000, 0usize..3, any::<bool>()).prop_map(|(size, class, capable)| Numbered {
        number: 0,
        size,
        class: Class::ALL[class],
        capable,
        marked: false,
    })
}

proptest! {
    /// Any queue, any sequence of offers and polls: every packet is delivered, reported lost or
    /// refused, once; classes keep their order; the books agree with what was seen.
    #[test]
    fn every_queue_keeps_its_books(
        queue in any_queue(),
        steps in prop::collection::vec((0u64..3_000_000, any_packet(), 0u8..3), 1..300),
        loss in 0.0f64..0.5,
        seed: u64,
    ) {
        let spec = LinkSpec { queue, ..spec(QueueLimit::Packets(1), Loss::Random { rate: loss }) };
        let mut link = Link::new(&spec, seed);
        link.report_losses();
        let mut now = Time::ZERO;
        let (mut out, mut lost) = (Vec::new(), Vec::new());
        let (mut refused, mut bytes) = (Vec::new(), Bytes::ZERO);
        for (number, (step, packet, polls)) in (0..).zip(steps) {
            now += Span::from_nanos(step);
            bytes += packet.size();
            if let Admission::Dropped(cause) = link.offer(Numbered { number, ..packet }, now) {
                refused.push(cause);
            }
            if polls > 0 {
                out.extend(std::iter::from_fn(|| link.poll(now)));
                prop_assert!(link.next_wakeup().is_none_or(|wakeup| wakeup > now));
            }
            lost.extend(std::iter::from_fn(|| link.take_lost()));
            prop_assert!(link.counters().are_conserved());
            let limit = match queue {
                QueueSpec::Strict { .. } | QueueSpec::Weighted { .. } => 3,
                _ => 1,
            };
            match queue.limit() {
                QueueLimit::Packets(each) => prop_assert!(link.queue_packets() <= limit * each as usize),
                QueueLimit::Bytes(each) => prop_assert!(link.queue_bytes() <= each.times(limit as u64)),
            }
        }
        while let Some(wakeup) = link.next_wakeup() {
            now = now.max(wakeup);
            out.extend(std::iter::from_fn(|| link.poll(now)));
        }
        lost.extend(std::iter::from_fn(|| link.take_lost()));
        let counters = *link.counters();
        prop_assert_eq!(counters.in_flight.packets, 0);
        prop_assert_eq!(counters.offered.bytes, bytes);
        prop_assert_eq!(counters.delivered.packets, out.len() as u64);
        prop_assert_eq!(counters.sent.packets, counters.delivered.packets + counters.dropped_wire_loss.packets);
        prop_assert_eq!((link.queue_packets(), link.queue_bytes()), (0, Bytes::ZERO));
        for cause in [DropCause::QueueFull, DropCause::Early, DropCause::Sojourn, DropCause::WireLoss] {
            let seen = refused.iter().filter(|refused| **refused == cause).count()
                + lost.iter().filter(|(_, lost)| *lost == cause).count();
            prop_assert_eq!(counters.dropped(cause).packets, seen as u64);
        }
        let marked = out.iter().chain(lost.iter().map(|(packet, _)| packet)).filter(|packet| packet.marked);
        prop_assert_eq!(counters.marked.packets, marked.count() as u64);
        prop_assert!(out.iter().all(|packet| packet.capable || !packet.marked));
        for class in Class::ALL {
            let numbers = out.iter().filter(|packet| packet.class == class).map(|packet| packet.number);
            prop_assert!(numbers.is_sorted_by(|one, next| one < next));
        }
    }

    /// Any sequence of offers and polls keeps the books, the order and the rate.
    #[test]
    fn random_traffic_is_conserved_in_order_and_within_the_rate(
        steps in prop::collection::vec((0u64..3_000_000, 40u64..9000, 0u8..3), 1..300),
        limit in 1u32..40,
        loss in 0.0f64..0.9,
        seed: u64,
    ) {
        let mut link = Link::new(&spec(QueueLimit::Packets(limit), Loss::Random { rate: loss }), seed);
        let mut now = Time::ZERO;
        let mut out: Vec<(Time, Numbered)> = Vec::new();
        for (number, (step, size, polls)) in (0..).zip(steps) {
            now += Span::from_nanos(step);
            let _ = link.offer(Numbered { size, ..packet(number) }, now);
            prop_assert!(link.counters().are_conserved());
            if polls > 0 {
                out.extend(std::iter::from_fn(|| link.poll(now)).map(|packet| (now, packet)));
            }
            prop_assert!(link.counters().are_conserved());
            if polls > 0 {
                prop_assert!(link.next_wakeup().is_none_or(|wakeup| wakeup > now));
            }
        }
        while let Some(wakeup) = link.next_wakeup() {
            now = now.max(wakeup);
            out.extend(std::iter::from_fn(|| link.poll(now)).map(|packet| (now, packet)));
        }
        prop_assert!(out.windows(2).all(|pair| pair[0].1.number < pair[1].1.number));
        prop_assert_eq!(link.counters().in_flight.packets, 0);
        prop_assert_eq!(link.counters().delivered.packets, out.len() as u64);
        let bytes: u64 = out.iter().map(|(_, packet)| packet.size).sum();
        let least = spec(QueueLimit::Packets(1), Loss::None).rate.time_to_send(Bytes::new(bytes));
        if !out.is_empty() {
            prop_assert!(now.as_nanos() + out.len() as u64 >= least.as_nanos() + 10_000_000);
        }
    }
}
