//! How well changes of a path are found in the results of repeated visits.

mod baselines;
mod pool;
mod score;
mod series;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use score::Outcome;
use series::Fault;

#[derive(Debug, Parser)]
struct Arguments {
    /// First seed; 0 to 199 are for development.
    #[arg(long, default_value_t = 1000)]
    first_seed: u64,
    /// Series of each fault.
    #[arg(long, default_value_t = 40)]
    seeds: u64,
    /// File of simulated visits; made if it is not there.
    #[arg(long, default_value = "target/watch-pool.csv")]
    pool: PathBuf,
    /// Only trunkline's own detector.
    #[arg(long)]
    ours: bool,
    /// Lists what was missed, and false events.
    #[arg(long)]
    misses: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if !arguments.pool.exists() {
        pool::build(&arguments.pool, 2).map_err(|error| error.to_string())?;
    }
    let pools = pool::read(&arguments.pool)?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    for fault in Fault::ALL {
        let days = if fault == Fault::None { 90 } else { 60 };
        for seed in arguments.first_seed..arguments.first_seed + arguments.seeds {
            let pool = &pools[seed as usize % pools.len()];
            let series = series::series(pool, fault, seed * 100 + fault as u64, days);
            let alarms = score::ours(&series.visits);
            if arguments.misses {
                let base = series.changed.seconds();
                let list: Vec<String> = alarms
                    .iter()
                    .map(|a| {
                        format!(
                            "{:+.1}d {:?} {:?} {:?}",
                            (a.at.seconds() as f64 - base as f64) / 86400.0,
                            a.kind.unwrap(),
                            a.metric,
                            a.cause
                        )
                    })
                    .collect();
                println!(
                    "{:24} {:22} {} size {:.1} {:?}",
                    fault.name(),
                    pool.path,
                    seed,
                    score::size(&series),
                    list
                );
            }
            outcomes.push(score::judge(
                "trunkline",
                &pool.path,
                fault,
                seed,
                &series,
                &alarms,
            ));
            if arguments.ours {
                continue;
            }
            for (name, method) in baselines::Baseline::ALL {
                let alarms = score::baseline(method, &series.visits);
                outcomes.push(score::judge(
                    name, &pool.path, fault, seed, &series, &alarms,
                ));
            }
        }
    }
    let mut methods: Vec<String> = Vec::new();
    for o in &outcomes {
        if !methods.contains(&o.method) {
            methods.push(o.method.clone());
        }
    }
    for m in &methods {
        let of = |f: &dyn Fn(&Outcome) -> bool| {
            outcomes
                .iter()
                .filter(|o| &o.method == m && f(o))
                .cloned()
                .collect::<Vec<_>>()
        };
        let all = of(&|_| true);
        let months: f64 = all.iter().map(|o| o.months).sum();
        let fa: usize = all.iter().map(|o| o.false_alarms).sum();
        let none = of(&|o| o.fault == Fault::None);
        println!(
            "== {m}: false/month {:.3} (none only {:.3})",
            fa as f64 / months,
            none.iter().map(|o| o.false_alarms).sum::<usize>() as f64
                / none.iter().map(|o| o.months).sum::<f64>()
        );
        let mut rows: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
        for o in all.iter().filter(|o| {
            o.fault != Fault::None
                && o.fault != Fault::Drift
                && o.fault != Fault::Flapping
                && o.fault != Fault::RouteOnly
        }) {
            let s = if o.size < 1.0 {
                "a <1"
            } else if o.size < 2.0 {
                "b 1-2"
            } else if o.size < 3.0 {
                "c 2-3"
            } else if o.size < 5.0 {
                "d 3-5"
            } else {
                "e >5"
            };
            rows.entry(s).or_default().push(o.clone());
            if o.size >= 2.0 {
                rows.entry("f >=2").or_default().push(o.clone());
            }
        }
        for o in &all {
            if o.fault != Fault::None {
                rows.entry(o.fault.name()).or_default().push(o.clone());
            }
        }
        for (s, os) in rows {
            let n = os.len() as f64;
            let w = |d: usize| {
                100.0
                    * os.iter()
                        .filter(|o| o.delay.is_some_and(|x| x <= d))
                        .count() as f64
                    / n
            };
            let found: Vec<_> = os.iter().filter(|o| o.delay.is_some()).collect();
            let right = found.iter().filter(|o| o.cause == o.fault.cause()).count() as f64
                / found.len().max(1) as f64
                * 100.0;
            println!(
                "  {s:26} n {n:4} in3 {:5.1} in6 {:5.1} in24 {:5.1} ever {:5.1} cause {right:5.1}",
                w(3),
                w(6),
                w(24),
                w(100000)
            );
        }
    }
    Ok(())
}
