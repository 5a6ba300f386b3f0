//! The scavenger on simulated paths, beside a CUBIC flow that knows nothing of it. Shares are of the link's rate, headers included,
//! of which 96.5 % are payload.

mod bench;

use bench::Bench;
use path::PathSpec;

/// 100 Mbit/s and 40 ms before a buffer of 168 ms.
const DEEP: &str = "[forward]\nrate = \"100Mbit/s\"\ndelay = \"20ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"2MiB\" }\n[hosts]\ncongestion = \"cubic\"\n";

fn load(name: &str) -> PathSpec {
    match name {
        "deep" => PathSpec::from_toml("deep", DEEP).unwrap(),
        _ => PathSpec::load(name).unwrap(),
    }
}

/// Mbit/s of the link.
fn link(name: &str) -> f64 {
    load(name).forward.rate.as_f64() / 1e6
}

/// Mbit/s of the flow alone over its first minute.
fn alone(name: &str) -> f64 {
    let mut bench = Bench::new(load(name), 0, 1);
    bench.other_begins(1);
    bench.run(60);
    bench.mean(0, 60).1
}

/// A copy of four streams: 30 s alone, 60 s beside the flow, 30 s alone.
fn together(name: &str) -> Bench {
    let mut bench = Bench::new(load(name), 4, 1);
    bench.run(30);
    bench.other_begins(4);
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
    let mut queues: Vec<f64> = bench.seen[400..]
        .iter()
        .map(|moment| moment.added())
        .collect();
    queues.sort_by(f64::total_cmp);
    // Of 10 ms; nineteen of twenty moments.
    let most = queues[queues.len() * 19 / 20];
    assert!(most < 0.010, "{most}");
}

/// One that begins in the other's queue takes that for the path's own round trip, until the other slows down.
#[test]
fn a_copy_that_comes_later_has_no_lasting_advantage() {
    let mut bench = Bench::new(load("deep"), 4, 1);
    bench.run(20);
    bench.another(4, 4);
    bench.run(100);
    let (first, second) = bench.shares(80, 120);
    let both = first + second;
    assert!(both > 0.7 * link("deep"), "{first:.1} and {second:.1}");
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

/// What the law does on paths of every kind: `cargo test -p trunkline-tune --release --test scavenger -- --ignored --nocapture`.
#[test]
#[ignore = "a table for those who change the law; takes a minute"]
fn table() {
    println!("path              streams  idle  kept  beside  after  queue of 95 %");
    for name in ["slac-cern", "oc3-80ms", "lan", "shallow-queue", "deep"] {
        for streams in [4, bench::streams_of(&load(name))] {
            for seed in [1, 2] {
                println!("{}", row(name, streams, seed));
            }
        }
    }
}

fn row(name: &str, streams: u32, seed: u64) -> String {
    let mut alone = Bench::new(load(name), 0, seed);
    alone.other_begins(1);
    alone.run(40);
    let mut bench = Bench::new(load(name), streams, seed);
    bench.run(40);
    bench.other_begins(streams);
    bench.run(40);
    bench.other_ends();
    bench.run(30);
    let link = link(name);
    let mut queues: Vec<f64> = bench.seen[400..1600]
        .iter()
        .map(|moment| moment.added())
        .collect();
    queues.sort_by(f64::total_cmp);
    format!(
        "{name:<18} {streams:>6} {:>5.2} {:>5.2} {:>7.2} {:>6.2} {:>7.1} ms",
        bench.mean(8, 40).0 / link,
        bench.mean(40, 80).1 / alone.mean(0, 40).1,
        bench.mean(45, 80).0 / link,
        bench.mean(88, 110).0 / link,
        queues[queues.len() * 19 / 20] * 1e3,
    )
}
