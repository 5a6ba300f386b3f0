use super::*;

const SPEC: RedSpec = RedSpec {
    limit: QueueLimit::Packets(1000),
    min: 50,
    max: 150,
    probability: 0.1,
    weight: 0.002,
    gentle: true,
    wait: false,
    ecn: false,
};

/// 12 Mbit/s: 1500 bytes take 1 ms.
const RATE: Rate = Rate::from_bits_per_second(12_000_000);

#[derive(Debug, Default)]
struct Plain {
    capable: bool,
    marked: bool,
    class: Class,
}

impl Packet for Plain {
    fn size(&self) -> Bytes {
        Bytes::new(1500)
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

fn close(seen: f64, expected: f64) {
    assert!((seen - expected).abs() < 1e-3, "{seen}, not {expected}");
}

mod the_average {
    use super::*;
    use units::Span;

    fn after(arrivals: usize, waiting: usize) -> Average {
        let mut average = Average::new(SPEC.weight, RATE);
        for _ in 0..arrivals {
            average.on_arrival(waiting, Time::ZERO);
        }
        average
    }

    #[test]
    fn follows_the_queue_by_its_weight() {
        close(after(1, 100).packets, 0.2);
        // 100 * (1 - 0.998^2) = 0.3996
        close(after(2, 100).packets, 0.3996);
        // 100 * (1 - 0.998^500) = 63.249: 1 / weight arrivals cover 63 % of a step.
        close(after(500, 100).packets, 63.249);
    }

    #[test]
    fn decays_while_the_queue_is_empty_by_the_packets_that_could_have_passed() {
        let mut average = after(10_000, 100);
        let before = average.packets;
        average.on_empty(Bytes::new(1500), Time::ZERO);
        // 500 ms are 500 packets of 1 ms: 0.998^500 = 0.36751.
        average.on_arrival(0, Time::ZERO + Span::from_millis(500));
        close(average.packets, before * 0.36751);
    }

    #[test]
    fn decays_to_the_same_bits_on_every_machine() {
        let decayed = |millis| {
            let mut average = after(0, 0);
            average.packets = 1.0;
            average.on_empty(Bytes::new(1500), Time::ZERO);
            average.on_arrival(0, Time::ZERO + Span::from_millis(millis));
            average.packets.to_bits()
        };
        // Powers of 0.998 at which the C library of one machine gave another last bit.
        for (millis, bits) in [
            (39, 0x3fed_98b7_7f4a_982a),
            (88, 0x3fea_d4bf_764d_7be8),
            (146, 0x3fe7_e3bd_49a0_5f80),
        ] {
            assert_eq!(decayed(millis), bits, "{millis} ms");
        }
    }

    #[test]
    fn decays_once_only() {
        let mut average = after(10_000, 100);
        average.on_empty(Bytes::new(1500), Time::ZERO);
        average.on_arrival(0, Time::ZERO + Span::from_millis(500));
        let before = average.packets;
        average.on_arrival(1, Time::ZERO + Span::from_millis(900));
        close(average.packets, before + 0.002 * (1.0 - before));
    }

    #[test]
    fn small_packets_would_have_passed_faster() {
        let mut average = after(10_000, 100);
        let before = average.packets;
        average.on_empty(Bytes::new(150), Time::ZERO);
        // 50 ms are 500 packets of 0.1 ms.
        average.on_arrival(0, Time::ZERO + Span::from_millis(50));
        close(average.packets, before * 0.36751);
    }
}

mod the_probability {
    use super::*;

    #[test]
    fn grows_in_a_line_to_max_and_gently_to_twice_max() {
        for (average, expected) in [
            (0.0, 0.0),
            (49.9, 0.0),
            (50.0, 0.0),
            (75.0, 0.025),
            (100.0, 0.05),
            (150.0, 0.1),
            // Half way from 150 to 300: 0.1 + 0.9 / 2.
            (225.0, 0.55),
            (299.999, 1.0),
            (300.0, 1.0),
            (900.0, 1.0),
        ] {
            let seen = base_probability(&SPEC.thresholds(), SPEC.gentle, average);
            assert!((seen - expected).abs() < 1e-4, "{average}: {seen}");
        }
    }

    #[test]
    fn is_spread_so_that_each_distance_to_the_next_drop_is_equally_likely() {
        let mut spread = Spread::new(false);
        // 1/10, 1/9, ... 1/1: uniform over the first ten arrivals.
        for left in (1..=10).rev() {
            close(spread.probability(0.1), 1.0 / f64::from(left));
        }
    }

    #[test]
    fn begins_anew_below_min() {
        let mut spread = Spread::new(false);
        for _ in 0..5 {
            spread.probability(0.1);
        }
        assert_eq!(spread.probability(0.0), 0.0);
        close(spread.probability(0.1), 0.1);
    }

    #[test]
    fn steps_to_one_at_max_where_it_is_not_gentle() {
        let steep = |average| base_probability(&SPEC.thresholds(), false, average);
        close(steep(149.999), 0.1);
        assert_eq!(steep(150.0), 1.0);
    }

    #[test]
    fn never_exceeds_one() {
        for wait in [false, true] {
            let mut spread = Spread::new(wait);
            for _ in 0..1000 {
                let seen = spread.probability(0.3);
                assert!((0.0..=1.0).contains(&seen), "{seen}");
            }
        }
    }

    #[test]
    fn waits_for_as_long_as_drops_are_spread_where_that_is_asked_for() {
        // 0.125 is exact in binary. Eight pass, then 1/8, 1/7, ... 1/1.
        let mut spread = Spread::new(true);
        for _ in 0..8 {
            assert_eq!(spread.probability(0.125), 0.0);
        }
        for left in (1..=8).rev() {
            close(spread.probability(0.125), 1.0 / f64::from(left));
        }
    }
}

mod the_queue {
    use super::*;

    /// A queue whose average is the queue itself, held at `waiting` packets while `arrivals` come.
    /// Tells how many were dropped, and how many of those let in were marked.
    fn held_at(waiting: usize, arrivals: usize, ecn: bool, seed: u64) -> (usize, u64) {
        held(RedSpec { ecn, ..SPEC }, waiting, arrivals, seed)
    }

    fn held(spec: RedSpec, waiting: usize, arrivals: usize, seed: u64) -> (usize, u64) {
        let spec = RedSpec {
            weight: 1.0,
            ..spec
        };
        let mut red = Red::new(spec, RATE, seed);
        let mut accounts = Accounts::new();
        while red.packets() < waiting {
            let _ = red.waiting.offer(Plain::default());
        }
        let mut dropped = 0;
        for _ in 0..arrivals {
            let packet = Plain {
                capable: spec.ecn,
                ..Plain::default()
            };
            match red.offer(packet, Time::ZERO, &mut accounts) {
                Admission::Accepted => drop(red.poll(Time::ZERO)),
                Admission::Dropped(cause) => {
                    assert_eq!(cause, DropCause::Early);
                    dropped += 1;
                }
            }
        }
        (dropped, accounts.counters.marked.packets)
    }

    #[test]
    fn below_min_nothing_is_dropped() {
        assert_eq!(held_at(49, 10_000, false, 1).0, 0);
    }

    #[test]
    fn between_min_and_max_the_share_is_twice_the_probability() {
        // At 100 packets the probability is 0.05. After a drop the distance to the next is uniform
        // over 1 to 19, mean 10. Its deviation is 5.5, so 1000 drops stray by 2 %; four times that.
        let (dropped, marked) = held_at(100, 10_000, false, 2);
        assert!(dropped.abs_diff(1000) < 80, "{dropped}");
        assert_eq!(marked, 0);
    }

    #[test]
    fn a_queue_that_waits_drops_a_third_as_often() {
        let waits = RedSpec { wait: true, ..SPEC };
        // At 0.05 the distance is uniform over 20 to 39, mean 29.5: 339 drops of 10,000, where the
        // paper's spread has 1000. The deviation of a distance is 5.8, that of the sum 1 %.
        let (dropped, _) = held(waits, 100, 10_000, 2);
        assert!(dropped.abs_diff(339) < 15, "{dropped}");
    }

    #[test]
    fn above_max_everything_is_dropped_where_it_is_not_gentle() {
        let steep = RedSpec {
            gentle: false,
            ecn: true,
            ..SPEC
        };
        assert_eq!(held(steep, 150, 1000, 5), (1000, 0));
    }

    #[test]
    fn what_understands_marks_is_marked_in_place_of_each_drop() {
        let (dropped, _) = held_at(100, 10_000, false, 3);
        assert_eq!(held_at(100, 10_000, true, 3), (0, dropped as u64));
    }

    #[test]
    fn above_max_even_what_understands_marks_is_dropped() {
        let (dropped, marked) = held_at(225, 10_000, true, 4);
        assert!(dropped > 5500, "{dropped}");
        assert_eq!(marked, 0);
    }

    #[test]
    fn above_twice_max_everything_is_dropped() {
        assert_eq!(held_at(300, 1000, false, 5), (1000, 0));
    }

    #[test]
    fn a_link_that_would_run_dry_gets_its_packets_however_high_the_average() {
        let mut red = Red::new(SPEC, RATE, 7);
        red.averages[0].packets = 1000.0;
        let mut accounts = Accounts::new();
        let mut offer = || red.offer(Plain::default(), Time::ZERO, &mut accounts);
        assert_eq!([offer(), offer()], [Admission::Accepted; 2]);
        // Far above twice `max`, and two packets wait.
        assert_eq!(offer(), Admission::Dropped(DropCause::Early));
    }

    #[test]
    fn a_full_queue_is_said_to_be_full() {
        let limit = QueueLimit::Packets(160);
        let mut red = Red::new(RedSpec { limit, ..SPEC }, RATE, 6);
        let mut accounts = Accounts::new();
        let offers = (0..200).map(|_| red.offer(Plain::default(), Time::ZERO, &mut accounts));
        let full = Admission::Dropped(DropCause::QueueFull);
        // The average of 200 arrivals is far below min, so all drops are for want of room.
        assert_eq!(offers.filter(|offer| *offer == full).count(), 40);
    }
}

mod classes {
    use super::*;

    const fn thresholds(min: u32, max: u32, probability: f64) -> Thresholds {
        Thresholds {
            min,
            max,
            probability,
        }
    }

    const WEIGHTED: WredSpec = WredSpec {
        limit: QueueLimit::Packets(1000),
        scavenger: thresholds(20, 60, 0.2),
        best_effort: thresholds(50, 150, 0.1),
        priority: thresholds(100, 200, 0.05),
        weight: 1.0,
        gentle: false,
        rio: false,
        ecn: false,
    };

    fn of(class: Class) -> Plain {
        Plain {
            class,
            ..Plain::default()
        }
    }

    /// Cisco's curve, that of the two classes of RIO as well: nothing below the lower threshold, a
    /// line up to the probability at the upper one, and everything from there on.
    #[test]
    fn each_has_a_curve_of_its_own() {
        let red = Red::<Plain>::weighted(WEIGHTED, RATE, 1);
        for (class, points) in [
            (
                Class::Scavenger,
                [
                    (19.9, 0.0),
                    (20.0, 0.0),
                    (30.0, 0.05),
                    (50.0, 0.15),
                    (60.0, 1.0),
                ],
            ),
            (
                Class::BestEffort,
                [
                    (49.9, 0.0),
                    (75.0, 0.025),
                    (100.0, 0.05),
                    (125.0, 0.075),
                    (150.0, 1.0),
                ],
            ),
            (
                Class::Priority,
                [
                    (99.9, 0.0),
                    (120.0, 0.01),
                    (150.0, 0.025),
                    (180.0, 0.04),
                    (200.0, 1.0),
                ],
            ),
        ] {
            let curve = &red.curves[class as usize];
            for (average, expected) in points {
                let seen = base_probability(&curve.thresholds, red.gentle, average);
                assert!((seen - expected).abs() < 1e-12, "{class} {average}: {seen}");
            }
        }
    }

    #[test]
    fn one_average_is_worth_another_share_of_drops_to_each() {
        let dropped = |class| {
            let mut red = Red::weighted(WEIGHTED, RATE, 2);
            let mut accounts = Accounts::new();
            while red.packets() < 100 {
                let _ = red.waiting.offer(Plain::default());
            }
            let mut dropped = 0;
            for _ in 0..10_000 {
                match red.offer(of(class), Time::ZERO, &mut accounts) {
                    Admission::Accepted => drop(red.poll(Time::ZERO)),
                    Admission::Dropped(cause) => {
                        assert_eq!(cause, DropCause::Early);
                        dropped += 1;
                    }
                }
            }
            dropped
        };
        let [worse, usual, better] = Class::ALL.map(dropped);
        // At a probability of 0.05 a tenth is dropped, as of plain RED.
        assert!(i32::abs_diff(usual, 1000) < 80, "{usual}");
        assert_eq!((worse, better), (10_000, 0));
    }

    #[test]
    fn packets_of_worse_classes_count_for_better_ones_unless_rio_says_otherwise() {
        let accepted = |rio| {
            let spec = WredSpec {
                best_effort: thresholds(900, 950, 0.1),
                rio,
                ..WEIGHTED
            };
            let mut red = Red::weighted(spec, RATE, 3);
            let mut accounts = Accounts::new();
            let mut offer = |class| {
                let packet = of(class);
                red.offer(packet, Time::ZERO, &mut accounts) == Admission::Accepted
            };
            let worse = (0..150).filter(|_| offer(Class::BestEffort)).count();
            let better = (0..40).filter(|_| offer(Class::Priority)).count();
            let left = std::iter::from_fn(|| red.poll(Time::ZERO)).count();
            assert_eq!(left, worse + better);
            assert!(red.by_class.is_none_or(|waiting| waiting.0 == [0; 3]));
            (worse, better)
        };
        // 150 to 190 packets wait: of 28 to 40 arrivals of priority one is dropped at the latest.
        let (worse, better) = accepted(false);
        assert_eq!(worse, 150);
        assert!(better < 40, "{better}");
        assert_eq!(accepted(true), (150, 40));
    }
}
