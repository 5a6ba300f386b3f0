//! The scavenger on simulated paths, beside a flow that knows nothing of it.

mod bench;

use bench::Bench;
use path::PathSpec;

const DEEP: &str = "[forward]\nrate = \"100Mbit/s\"\ndelay = \"20ms\"\nqueue = { kind = \"drop-tail\", limit = \"2MiB\" }\n[hosts]\ncongestion = \"cubic\"\n";

fn load(name: &str) -> PathSpec {
    match name {
        "deep" => PathSpec::from_toml("deep", DEEP).unwrap(),
        _ => PathSpec::load(name).unwrap(),
    }
}

#[test]
fn explore() {
    for (name, streams) in [
        ("slac-cern", 16),
        ("oc3-80ms", 8),
        ("lan", 2),
        ("shallow-queue", 1),
        ("deep", 4),
    ] {
        if std::env::var("ONLY").is_ok_and(|only| only != name) {
            continue;
        }
        let mut alone = Bench::new(load(name), 0, 1);
        alone.other_begins(1);
        alone.run(60);
        let capacity = load(name).forward.rate.as_f64() / 1e6;
        let mut both = Bench::new(load(name), streams, 1);
        both.run(60);
        both.other_begins(streams);
        both.run(60);
        both.other_ends();
        both.run(30);
        let a = alone.mean(0, 60).1;
        let (idle, _) = both.mean(10, 60);
        let (beside, kept) = both.mean(60, 120);
        let back = both.mean(125, 150).0;
        println!(
            "{name:14} cap {capacity:6.0}  alone {a:6.1} beside {kept:6.1} = {:.3}   idle {:.3} (0-10 s {:.3}) with {beside:6.1}  back {:.3}",
            kept / a,
            idle / capacity,
            both.mean(0, 10).0 / capacity,
            back / capacity
        );
        if std::env::var("ONLY").is_ok() {
            for (i, t) in both.seen.iter().enumerate() {
                println!(
                    "{:6.1} g {:6.1} o {:6.1} allow {:6.1} q {:7.2} T {:5.2} rtt {:6.1}",
                    i as f64 / 40.0,
                    t.gentle.as_f64() * 320.0 / 1e6,
                    t.other.as_f64() * 320.0 / 1e6,
                    t.allowed / 1e6,
                    t.queueing.as_secs_f64() * 1e3,
                    t.target.as_secs_f64() * 1e3,
                    t.rtt.map_or(0.0, |r| r.as_secs_f64() * 1e3)
                );
            }
        }
    }
}
