//! Datagrams at a rate.

use observe::{DatagramPlan, Datagrams, Way};

use super::*;

/// 10 Mbit/s, 10 ms and ten packets of queue each way.
const NARROW: &str = "[forward]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"10packets\" }\n";

fn plan(mbit: u64, direction: Direction) -> DatagramPlan {
    let rate = Rate::from_bits_per_second(mbit * 1_000_000);
    DatagramPlan {
        direction,
        ..DatagramPlan::new(Some(rate), Span::from_secs(10))
    }
}

fn ran(text: &str, plan: &DatagramPlan) -> Datagrams {
    made(text).datagrams(plan, &mut ()).unwrap()
}

/// 1,400 of 1,428 bytes are data: 9.804 Mbit/s of them pass.
#[test]
fn what_the_link_does_not_carry_is_lost() {
    let seen = ran(NARROW, &plan(20, Direction::Forward));
    let totals = seen.totals(Way::Forward).unwrap();
    assert_eq!(totals.sent, 17_857);
    let goodput = totals.goodput.as_f64() / 1e6;
    assert!((9.79..9.81).contains(&goodput), "{goodput}");
    let expected = 1.0 - 9.804 / 20.0;
    assert!((totals.loss_ratio() - expected).abs() < 0.002, "{totals:?}");
    assert_eq!((totals.reordered, totals.duplicates), (Some(0), Some(0)));
    assert_eq!(totals.dropped_by_hosts, 0);
}

#[test]
fn below_its_rate_nothing_is_lost_in_either_direction() {
    let plan = DatagramPlan {
        streams: StreamCount::new(3).unwrap(),
        ..plan(9, Direction::Both)
    };
    let seen = ran(NARROW, &plan);
    assert_eq!(seen.streams.len(), 6);
    for way in Way::BOTH {
        let totals = seen.totals(way).unwrap();
        assert_eq!((totals.lost, totals.sent), (0, 8_035), "{way:?}");
        // Evenly spaced, and the queue is empty.
        assert!(totals.jitter < Span::from_micros(1), "{totals:?}");
    }
}

#[test]
fn more_than_can_be_simulated_is_refused_with_the_bound() {
    let long = DatagramPlan {
        duration: Span::from_secs(60),
        ..plan(40_000, Direction::Forward)
    };
    let error = made(NARROW).datagrams(&long, &mut ()).unwrap_err();
    assert!(error.what.contains("at most 4000000"), "{}", error.what);
    assert!(error.hint.unwrap().contains("`-t`"));
}

/// Ten seconds of 40 Gbit/s are too many, and as long as is said is not.
#[test]
fn the_longest_run_is_one_that_is_simulated() {
    for mbit in [1, 4_480, 40_000, 400_000] {
        let asked = plan(mbit, Direction::Forward);
        let time = made(NARROW).datagrams_time_max(&asked).unwrap();
        let count = asked.rate.unwrap().bytes_in(time).get() / asked.size.get();
        assert!((3_999_999..=4_000_000).contains(&count), "{mbit}: {count}");
    }
}

/// 1 % too fast for a queue of a second: nothing is lost within two, and it fills.
#[test]
fn a_queue_that_fills_is_seen_before_it_overflows() {
    let deep = NARROW.replace("10packets", "900packets");
    let rate = Rate::from_bits_per_second(9_900_000);
    let plan = DatagramPlan::new(Some(rate), Span::from_secs(2));
    let totals = ran(&deep, &plan).totals(Way::Forward).unwrap();
    let growth = totals.delay_growth.unwrap().as_secs_f64();
    // 2 s x (9.9 / 9.804 - 1) = 19.6 ms.
    assert_eq!(totals.lost, 0);
    assert!((0.018..0.021).contains(&growth), "{growth}");
}

#[test]
fn the_highest_rate_is_found() {
    let plan = plan(1, Direction::Forward);
    let mut target = made(NARROW);
    let found = probing::datagram_rate::search(&mut target, &plan, 0.01, &mut ()).unwrap();
    let (plan, seen, ceiling) = found.confirmed.unwrap();
    assert_eq!(ceiling, probing::datagram_rate::Ceiling::Path);
    let rate = plan.rate.unwrap().as_f64() / 1e6;
    assert!((9.5..9.9).contains(&rate), "{rate}");
    assert!(seen.totals(Way::Forward).unwrap().loss_ratio() <= 0.01);
}
