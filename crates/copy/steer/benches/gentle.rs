//! What the law of gentle copies does on simulated paths of every kind, for those who change it: a
//! table in five minutes of two processors. Means over seeds with their standard errors; shares are
//! of the link's rate, headers included.

#[path = "../tests/scavenger/bench.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod bench;
#[path = "../tests/scavenger/hosts.rs"]
mod hosts;

use bench::{Bench, link, load};

/// So many that random losses in a flow's first seconds, which decide much of what it gets, tell
/// within some per cent.
const SEEDS: u64 = 96;
/// Seconds of a flow beside the copy.
const FLOW: usize = 100;
/// Seconds of its beginning, and seconds after which it is steady.
const BEGINS: usize = 10;
const UNDER_WAY: usize = 20;
/// Seconds of the copy before the flow comes.
const BEFORE: usize = 40;

fn main() {
    println!(
        "path           streams  alone  beside it  alone again  queue of 95 %  flow keeps      of \
        its first 10 s  after 20 s"
    );
    std::thread::scope(|scope| {
        let paths = ["slac-cern", "oc3-80ms", "lan", "shallow-queue", "deep"];
        for row in paths.map(|name| scope.spawn(move || row(name))) {
            println!("{}", row.join().expect("a row does not panic"));
        }
    });
}

/// What one seed shows.
struct Seen {
    streams: f64,
    /// The copy's shares of the link.
    alone: f64,
    beside: f64,
    again: f64,
    queue: f64,
    /// The flow, in Mbit/s, without and with the copy: in all, in its beginning, when it is under
    /// way.
    flow: [(f64, f64); 3],
}

fn row(name: &str) -> String {
    let seen: Vec<Seen> = (1..=SEEDS).map(|seed| one(name, seed)).collect();
    let mean = |of: fn(&Seen) -> f64| mean_of(seen.iter().map(of));
    let kept = |part: usize| kept(seen.iter().map(|one| one.flow[part]));
    format!(
        "{name:<14} {:>7.1} {:>6.2} {:>10.2} {:>12.2} {:>11.1} ms  {:<15} {:<18} {}",
        mean(|one| one.streams),
        mean(|one| one.alone),
        mean(|one| one.beside),
        mean(|one| one.again),
        mean(|one| one.queue) * 1e3,
        kept(0),
        kept(1),
        kept(2),
    )
}

/// A copy that is alone, then beside a flow, then alone for 30 s; and the flow without it.
fn one(name: &str, seed: u64) -> Seen {
    let mut flow = Bench::new(load(name), 0, seed);
    flow.other_begins();
    flow.run(FLOW as u64);
    let mut bench = Bench::new(load(name), 4, seed).with_hosts_that_sleep(seed);
    bench.run(BEFORE as u64);
    bench.other_begins();
    bench.run(FLOW as u64);
    bench.other_ends();
    bench.run(30);
    let both = |from, until| {
        let beside = bench.mean(BEFORE + from, BEFORE + until).1;
        (flow.mean(from, until).1, beside)
    };
    Seen {
        streams: bench.streams() as f64,
        alone: bench.mean(8, BEFORE).0 / link(name),
        beside: bench.mean(BEFORE + 5, BEFORE + FLOW).0 / link(name),
        again: bench.mean(BEFORE + FLOW + 8, BEFORE + FLOW + 30).0 / link(name),
        queue: bench.queue_of_95_percent(10, BEFORE),
        flow: [both(0, FLOW), both(0, BEGINS), both(UNDER_WAY, FLOW)],
    }
}

/// The ratio of both means, with the standard error that follows from the residuals (Cochran,
/// Sampling Techniques, section 6.4).
fn kept(pairs: impl Iterator<Item = (f64, f64)>) -> String {
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let alone = mean_of(pairs.iter().map(|pair| pair.0));
    let ratio = mean_of(pairs.iter().map(|pair| pair.1)) / alone;
    let squares = pairs
        .iter()
        .map(|(without, with)| (with - ratio * without).powi(2));
    let error = (squares.sum::<f64>() / (pairs.len() * (pairs.len() - 1)) as f64).sqrt() / alone;
    format!("{ratio:.3} +- {error:.3}")
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}
