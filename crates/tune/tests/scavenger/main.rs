//! The scavenger on simulated paths, beside a CUBIC flow that knows nothing of it. Shares are of the link's rate, headers included,
//! of which 96.5 % are payload.

mod bench;
mod hosts;

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

/// Losses that are nobody's doing do not keep it from the rate, as long as there are enough streams.
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
    let most = queue_of_95_percent(&bench, 10, 60);
    assert!(most < 0.010, "{most} of a budget of 10 ms");
}

/// One that begins in the other's queue takes that for the path's own round trip, until the other slows down.
#[test]
fn a_copy_that_comes_later_has_no_lasting_advantage() {
    let mut bench = Bench::new(load("deep"), 4, 1);
    bench.run(20);
    bench.another(4);
    bench.run(100);
    let (first, second) = bench.shares(80, 120);
    let both = first + second;
    // Each takes the other for somebody to give way to, so together they leave some.
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

/// What the law does on paths of every kind, means over seeds:
/// `cargo test -p trunkline-tune --test scavenger -- --ignored --nocapture`.
#[test]
#[ignore = "a table for those who change the law; takes a minute"]
fn table() {
    println!("path          streams  alone  flow keeps  beside it  alone again  queue of 95 %");
    std::thread::scope(|scope| {
        let paths = ["slac-cern", "oc3-80ms", "lan", "shallow-queue", "deep"];
        for row in paths.map(|name| scope.spawn(move || row(name))) {
            println!("{}", row.join().unwrap());
        }
    });
}

/// A copy that is alone for 40 s, then 100 s beside a flow, then alone for 30 s.
fn row(name: &str) -> String {
    let seeds = 1..=8;
    let count = 8.0;
    let mut sums = [0.0; 6];
    let mut alone = 0.0;
    for seed in seeds {
        let mut flow = Bench::new(load(name), 0, seed);
        flow.other_begins();
        flow.run(100);
        alone += flow.mean(0, 100).1;
        let mut bench = Bench::new(load(name), 4, seed).with_hosts_that_sleep(seed);
        bench.run(40);
        bench.other_begins();
        bench.run(100);
        bench.other_ends();
        bench.run(30);
        let values = [
            bench.streams() as f64,
            bench.mean(8, 40).0 / link(name),
            bench.mean(40, 140).1,
            bench.mean(45, 140).0 / link(name),
            bench.mean(148, 170).0 / link(name),
            queue_of_95_percent(&bench, 10, 40) * 1e3,
        ];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
    let [streams, idle, _, beside, again, queue] = sums.map(|sum| sum / count);
    let kept = sums[2] / alone;
    format!(
        "{name:<14} {streams:>6.1} {idle:>6.2} {kept:>11.2} {beside:>10.2} {again:>12.2} {queue:>11.1} ms"
    )
}

/// Seconds that a small packet waits at the most in nineteen of twenty moments.
fn queue_of_95_percent(bench: &Bench, from: usize, until: usize) -> f64 {
    let moments = &bench.seen[40 * from..40 * until];
    let mut queues: Vec<f64> = moments.iter().map(|moment| moment.added()).collect();
    queues.sort_by(f64::total_cmp);
    queues[queues.len() * 19 / 20]
}
