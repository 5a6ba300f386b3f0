//! The scavenger on simulated paths, beside a CUBIC flow that knows nothing of it. Shares are of
//! the link's rate, headers included, of which 96.5 % are payload.

mod bench;
mod hosts;

use bench::{Bench, link, load};

/// Mbit/s of the flow alone over its first minute.
fn alone(name: &str) -> f64 {
    let mut bench = Bench::new(load(name), 0, 1);
    bench.other_begins();
    bench.run(60);
    bench.mean(0, 60).1
}

/// A copy of four streams: 30 s alone, 60 s beside the flow, 30 s alone.
fn together(name: &str) -> Bench {
    let mut bench = Bench::new(load(name), 4, 1);
    bench.run(30);
    bench.other_begins();
    bench.run(60);
    bench.other_ends();
    bench.run(30);
    bench
}

#[test]
fn a_default_flow_keeps_what_it_has_alone_and_an_idle_path_is_taken() {
    for name in ["deep", "lan"] {
        let bench = together(name);
        let (kept, idle) = (
            bench.mean(30, 90).1 / alone(name),
            bench.mean(10, 30).0 / link(name),
        );
        assert!(kept > 0.95, "{name}: the flow keeps {kept:.3}");
        assert!(idle > 0.85, "{name}: the copy takes {idle:.3}");
    }
}

/// Random losses do not keep it from the rate, as long as there are enough
/// streams.
#[test]
fn an_idle_path_that_loses_packets_is_taken_too() {
    for (name, least) in [("slac-cern", 0.80), ("oc3-80ms", 0.85)] {
        let idle = (1..=3).map(|seed| {
            let mut bench = Bench::new(load(name), 4, seed).with_hosts_that_sleep(seed);
            bench.run(40);
            bench.mean(10, 40).0 / link(name) / 3.0
        });
        let idle: f64 = idle.sum();
        assert!(idle > least, "{name}: the copy takes {idle:.3}");
    }
}

#[test]
fn the_copy_gives_way_within_seconds_and_takes_the_rest_back() {
    for name in ["deep", "lan"] {
        let bench = together(name);
        let (during, after) = (
            bench.mean(40, 90).0 / link(name),
            bench.mean(98, 120).0 / link(name),
        );
        assert!(
            during < 0.05,
            "{name}: {during:.3} from ten seconds after the flow began"
        );
        assert!(
            after > 0.7,
            "{name}: {after:.3} from eight seconds after the flow was over"
        );
    }
}

#[test]
fn alone_it_adds_less_than_its_budget() {
    let mut bench = Bench::new(load("deep"), 4, 1);
    bench.run(60);
    let most = bench.queue_of_95_percent(10, 60);
    assert!(most < 0.010, "{most} of a budget of 10 ms");
    assert_eq!(bench.streams(), 4, "they reach the rate");
}

/// One that begins in the other's queue takes that for the path's own round trip, until the other
/// slows down.
#[test]
fn a_copy_that_comes_later_has_no_lasting_advantage() {
    let mut bench = Bench::new(load("deep"), 4, 1);
    bench.run(20);
    bench.another(4);
    bench.run(100);
    let (first, second) = bench.shares(80, 120);
    let both = first + second;
    // Each gives way to the other, so together they leave some.
    assert!(both > 0.65 * link("deep"), "{first:.1} and {second:.1}");
    assert!(
        first > 0.15 * both,
        "the first has {first:.1}, the second {second:.1}"
    );
}

#[test]
fn the_same_seed_shows_the_same() {
    let shown = || {
        let mut bench = Bench::new(load("oc3-80ms"), 4, 7);
        bench.run(20);
        format!("{:?}", bench.seen)
    };
    assert_eq!(shown(), shown());
}
