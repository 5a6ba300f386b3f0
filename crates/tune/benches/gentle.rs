//! What the law of gentle copies does on simulated paths of every kind, for those who change it: a table in a minute of two processors.
//! Means over seeds; shares are of the link's rate, headers included.

#[path = "../tests/scavenger/bench.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod bench;
#[path = "../tests/scavenger/hosts.rs"]
mod hosts;

use bench::{Bench, link, load};

fn main() {
    println!("path          streams  alone  flow keeps  beside it  alone again  queue of 95 %");
    std::thread::scope(|scope| {
        let paths = ["slac-cern", "oc3-80ms", "lan", "shallow-queue", "deep"];
        for row in paths.map(|name| scope.spawn(move || row(name))) {
            println!("{}", row.join().expect("a row does not panic"));
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
            bench.queue_of_95_percent(10, 40) * 1e3,
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
