use super::*;

use path::{Loss, QueueLimit, QueueSpec};
use proptest::prelude::*;

#[derive(Debug, PartialEq)]
struct Numbered {
    number: u32,
    size: u64,
}

impl Packet for Numbered {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
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
    Numbered { number, size: 1500 }
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

proptest! {
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
            let _ = link.offer(Numbered { number, size }, now);
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
