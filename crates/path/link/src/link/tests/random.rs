//! Random sequences of offers and polls, kept small and printed by proptest when one fails.

use super::*;

use proptest::prelude::*;

/// Every kind of queue with limits and thresholds that a few packets reach.
fn any_queue() -> impl Strategy<Value = QueueSpec> {
    let limit = prop_oneof![
        (1u32..40).prop_map(QueueLimit::Packets),
        (9000u64..60_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
    ];
    let shares = (0.001f64..0.5, 0.001f64..0.49);
    (0..6, limit, any::<[bool; 3]>(), shares, 0.002f64..1.0).prop_map(
        |(kind, limit, [ecn, gentle, wait], (scavenger, priority), weight)| match kind {
            0 => QueueSpec::DropTail(limit),
            1 => QueueSpec::Red(RedSpec {
                limit,
                min: 1,
                max: 4,
                probability: 0.1,
                weight,
                gentle,
                wait,
                ecn,
            }),
            2 => QueueSpec::CoDel(CoDelSpec {
                limit,
                target: Span::from_micros(100),
                interval: Span::from_millis(1),
                ecn,
            }),
            3 => QueueSpec::Strict { limit },
            4 => QueueSpec::Wred(any_wred(limit, weight, [ecn, gentle, wait])),
            _ => QueueSpec::Weighted {
                limit,
                scavenger,
                priority,
            },
        },
    )
}

fn any_wred(limit: QueueLimit, weight: f64, [ecn, gentle, rio]: [bool; 3]) -> WredSpec {
    let thresholds = |min| Thresholds {
        min,
        max: min + 3,
        probability: 0.1,
    };
    WredSpec {
        limit,
        scavenger: thresholds(1),
        best_effort: thresholds(2),
        priority: thresholds(4),
        weight,
        gentle,
        rio,
        ecn,
    }
}

fn any_packet() -> impl Strategy<Value = Numbered> {
    (40u64..9000, 0usize..3, any::<bool>()).prop_map(|(size, class, capable)| Numbered {
        corrupted: None,
        number: 0,
        size,
        class: Class::ALL[class],
        capable,
        marked: false,
    })
}

const CAUSES: [DropCause; 5] = [
    DropCause::QueueFull,
    DropCause::Early,
    DropCause::Sojourn,
    DropCause::Policed,
    DropCause::WireLoss,
];

/// What may stand beside a queue: a policer, packets that are overtaken, a rate that varies.
fn any_extras() -> impl Strategy<Value = (Option<Policer>, Option<Reorder>, Option<DrawnRate>)> {
    let rates = (1_000_000u64..50_000_000).prop_map(Rate::from_bits_per_second);
    let policer = (rates, 9000u64..60_000).prop_map(|(rate, bucket)| Policer {
        rate,
        bucket: Bytes::new(bucket),
    });
    let reorder = (0.0f64..=1.0, 1u64..9_000_000).prop_map(|(rate, nanos)| Reorder {
        rate,
        delay: Span::from_nanos(nanos),
    });
    let variation = (1_000_000u64..12_000_000, 1u64..9_000).prop_map(|(low, micros)| DrawnRate {
        low: Rate::from_bits_per_second(low),
        high: Rate::from_bits_per_second(24_000_000 - low),
        every: Span::from_micros(micros),
    });
    (
        prop::option::of(policer),
        prop::option::of(reorder),
        prop::option::of(variation),
    )
}

proptest! {
    /// Any queue, any sequence of offers and polls: every packet is delivered, reported lost or
    /// refused, once; classes keep their order unless packets are overtaken; the accounts agree
    /// with what was seen.
    #[test]
    fn every_queue_keeps_its_books(
        queue in any_queue(),
        (policer, reorder, variation) in any_extras(),
        steps in prop::collection::vec((0u64..3_000_000, any_packet(), 0u8..3), 1..300),
        loss in 0.0f64..0.5,
        seed: u64,
    ) {
        let plain = spec(QueueLimit::Packets(1), Loss::Random { rate: loss });
        let variation = variation.map(Variation::Drawn);
        let spec = LinkSpec { queue, policer, reorder, variation, ..plain };
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
        prop_assert!(lost.is_sorted_by_key(|(at, ..)| *at));
        let counters = *link.counters();
        prop_assert_eq!(counters.in_flight.packets, 0);
        prop_assert_eq!(counters.offered.bytes, bytes);
        prop_assert_eq!(counters.delivered.packets, out.len() as u64);
        prop_assert_eq!(counters.sent.packets, counters.delivered.packets + counters.dropped_wire_loss.packets);
        prop_assert_eq!((link.queue_packets(), link.queue_bytes()), (0, Bytes::ZERO));
        for cause in CAUSES {
            let seen = refused.iter().filter(|refused| **refused == cause).count()
                + lost.iter().filter(|(.., lost)| *lost == cause).count();
            prop_assert_eq!(counters.dropped(cause).packets, seen as u64);
        }
        let marked = out.iter().chain(lost.iter().map(|(_, packet, _)| packet)).filter(|packet| packet.marked);
        prop_assert_eq!(counters.marked.packets, marked.count() as u64);
        prop_assert!(out.iter().all(|packet| packet.capable || !packet.marked));
        for class in Class::ALL {
            let numbers = out.iter().filter(|packet| packet.class == class).map(|packet| packet.number);
            prop_assert!(reorder.is_some() || numbers.is_sorted_by(|one, next| one < next));
        }
    }

    /// Any sequence of offers and polls keeps the accounts, the order and the rate.
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
