use super::*;

use netpath::{
    Class, CoDelSpec, DrawnRate, Loss, Policer, QueueLimit, QueueSpec, RedSpec, Reorder,
    Thresholds, Variation, WredSpec,
};
use units::{Rate, Span};

mod random;

#[derive(Debug, Clone, PartialEq)]
struct Numbered {
    number: u32,
    /// What it was corrupted with.
    corrupted: Option<u64>,
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

    fn corrupt(&mut self, draw: u64) {
        self.corrupted = Some(draw);
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
        variation: None,
        policer: None,
        queue: QueueSpec::DropTail(limit),
        loss,
        reorder: None,
        cuts: Vec::new(),
        corruption: 0.0,
        load: None,
        mtu: None,
    }
}

fn packet(number: u32) -> Numbered {
    Numbered {
        number,
        corrupted: None,
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
    // No poll for 12.5 ms; the sender has worked all the same.
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
        gentle: true,
        wait: false,
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
    for (at, packet, cause) in lost {
        assert_eq!(cause, DropCause::WireLoss);
        assert!(!arrived.contains(&packet.number));
        // One behind the other, 1 ms each: the last bit has left then.
        assert_eq!(at, millis(u64::from(packet.number) + 1));
    }
    assert_eq!(drain(&mut silent).len(), arrived.len());
    assert_eq!(silent.take_lost(), None);
}

#[test]
fn what_codel_drops_is_lost_when_it_would_have_been_sent() {
    let codel = LinkSpec {
        queue: QueueSpec::CoDel(CoDelSpec {
            limit: QueueLimit::Packets(1000),
            target: CoDelSpec::TARGET,
            interval: CoDelSpec::INTERVAL,
            ecn: false,
        }),
        ..spec(QueueLimit::Packets(1), Loss::None)
    };
    let mut link = Link::new(&codel, 1);
    link.report_losses();
    for number in 0..300 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    // No poll before the end of the first second.
    link.settle(millis(1000));
    let lost: Vec<_> = std::iter::from_fn(|| link.take_lost())
        .map(|(at, packet, cause)| (at, packet.number, cause))
        .collect();
    // The wait reaches 5 ms at 5 ms and has been above for an interval at 105 ms; the next drops
    // come 100 ms and 100/sqrt(2) ms later, and each is one packet less to be sent.
    let dropped = |at, number| (millis(at), number, DropCause::Sojourn);
    assert_eq!(
        lost,
        [dropped(105, 105), dropped(205, 206), dropped(276, 278)]
    );
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

#[test]
fn what_would_leave_while_the_link_is_cut_is_lost() {
    let cut = |at, length| netpath::Cut {
        at: Span::from_millis(at),
        length: Span::from_millis(length),
    };
    let mut spec = spec(QueueLimit::Packets(99), Loss::None);
    spec.cuts = vec![cut(3, 2), cut(5, 1), cut(8, 1)];
    let mut link = Link::new(&spec, 1);
    for number in 0..10 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    // The last bits leave at 1, 2, 3 ... ms. Of a cut the beginning counts and the end does not.
    let came: Vec<u32> = drain(&mut link)
        .into_iter()
        .map(|(_, number)| number)
        .collect();
    assert_eq!(came, [0, 1, 5, 6, 8, 9]);
    assert_eq!(link.counters().dropped_wire_loss.packets, 4);
}

#[test]
fn a_policer_drops_what_the_queue_had_room_for() {
    let mut spec = spec(QueueLimit::Packets(999), Loss::None);
    spec.policer = Some(Policer {
        rate: Rate::from_bits_per_second(1_200_000),
        bucket: Bytes::new(7500),
    });
    let mut link = Link::new(&spec, 1);
    for number in 0..10 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    // 10 ms later the bucket has one packet's tokens.
    let _ = link.offer(packet(10), millis(10));
    let came = drain(&mut link).into_iter().map(|(_, number)| number);
    assert_eq!(came.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 10]);
    assert_eq!(link.counters().dropped_policed.packets, 5);
}

#[test]
fn packets_on_the_longer_way_are_overtaken_by_those_that_leave_within_its_time() {
    let mut spec = spec(QueueLimit::Packets(20_000), Loss::None);
    spec.reorder = Some(Reorder {
        rate: 0.01,
        delay: Span::from_micros(3500),
    });
    let mut link = Link::new(&spec, 1);
    for number in 0..20_000 {
        let _ = link.offer(packet(number), Time::ZERO);
    }
    let out = drain(&mut link);
    // A packet leaves each millisecond and takes 10 ms; three overtake one that takes 3.5 more.
    let (mut late, mut positions) = (0, out.iter().enumerate());
    assert!(positions.all(|(at, (time, number))| {
        let punctual = millis(u64::from(*number) + 11);
        late += u32::from(*time > punctual);
        let is_late = *time == punctual + Span::from_micros(3500);
        (*time == punctual || is_late) && at.abs_diff(*number as usize) <= 3
    }));
    // Four standard deviations of 20,000 draws at 1 %.
    assert!((144..=256).contains(&late), "{late}");
    assert!(out.is_sorted_by_key(|(time, _)| *time));
}

#[test]
fn a_cut_does_not_change_what_is_lost_afterwards() {
    let mut with = spec(QueueLimit::Packets(999), Loss::Random { rate: 0.3 });
    with.cuts = vec![netpath::Cut {
        at: Span::from_millis(1),
        length: Span::from_millis(99),
    }];
    let came = |spec: &LinkSpec| {
        let mut link = Link::new(spec, 5);
        for number in 0..500 {
            let _ = link.offer(packet(number), Time::ZERO);
        }
        let came = drain(&mut link).into_iter().map(|(_, number)| number);
        came.filter(|number| *number >= 99).collect::<Vec<_>>()
    };
    let without = LinkSpec {
        cuts: Vec::new(),
        ..with.clone()
    };
    assert_eq!(came(&with), came(&without));
}

#[test]
fn corruption_has_its_rate_and_losses_stay_the_same() {
    let carried = |corruption| {
        let mut spec = spec(QueueLimit::Packets(20_000), Loss::Random { rate: 0.1 });
        spec.corruption = corruption;
        let mut link = Link::new(&spec, 3);
        for number in 0..20_000 {
            let _ = link.offer(packet(number), Time::ZERO);
        }
        let mut out = Vec::new();
        while let Some(now) = link.next_wakeup() {
            out.extend(link.poll(now));
        }
        out
    };
    let (clean, damaged) = (carried(0.0), carried(0.02));
    assert!(clean.iter().all(|packet| packet.corrupted.is_none()));
    let numbers = |packets: &[Numbered]| {
        packets
            .iter()
            .map(|packet| packet.number)
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(&clean), numbers(&damaged));
    let hit = damaged
        .iter()
        .filter(|packet| packet.corrupted.is_some())
        .count();
    // 18,000 packets at 2 %: 360, and four standard deviations are 75.
    assert!((285..=435).contains(&hit), "{hit}");
}
