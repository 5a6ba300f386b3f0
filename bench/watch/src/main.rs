//! How well changes of a path are found in the results of repeated visits.
//!
//! `pool.rs` simulates what single visits show on the named paths, `series.rs` makes series of
//! visits from that with one fault each or none, `score.rs` compares what trunkline and the
//! detectors of `baselines.rs` say with what happened, `table.rs` writes the page. `offline.py`
//! does the same for ruptures and Otava on the series that `--csv` writes.

mod baselines;
mod forecasts;
mod life;
mod others;
mod pool;
mod score;
mod series;
mod table;

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use changes::Metric;
use clap::Parser;

use forecasts::Forecasts;
use pool::Pool;
use score::Outcome;
use series::{Begins, Fault, Series};

/// How well changes are found in series of visits, as Markdown on standard output.
#[derive(Debug, Parser)]
struct Arguments {
    /// First seed; 0 to 199 were used for development.
    #[arg(long, default_value_t = 2000)]
    first_seed: u64,
    /// Series of each fault.
    #[arg(long, default_value_t = 48)]
    seeds: u64,
    /// File of simulated visits; made if it is not there.
    #[arg(long, default_value = "target/watch-pool.csv")]
    pool: PathBuf,
    /// Simulations at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Goes on with a file of simulated visits that has not all paths, and does nothing else.
    #[arg(long)]
    build: bool,
    /// Only trunkline's own detector.
    #[arg(long)]
    ours: bool,
    /// Writes all series to this file and does nothing else.
    #[arg(long)]
    csv: Option<PathBuf>,
    /// What `offline.py` found in the same series.
    #[arg(long)]
    others: Option<PathBuf>,
    /// Faults of the first three days of a watch instead of settled ones.
    #[arg(long)]
    first_days: bool,
    /// Lists the events of each series on standard error.
    #[arg(long)]
    list: bool,
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
    if arguments.build || !arguments.pool.exists() {
        pool::build(&arguments.pool, arguments.jobs).map_err(|error| error.to_string())?;
    }
    if arguments.build {
        return Ok(());
    }
    let pools = pool::read(&arguments.pool)?;
    if pools.is_empty() {
        return Err(format!("{} has no visits", arguments.pool.display()).into());
    }
    if let Some(file) = &arguments.csv {
        return write_series(&pools, arguments, file);
    }
    if arguments.first_days {
        print!("{}", table::first_days(&first_days(&pools, arguments)?));
        return Ok(());
    }
    let mut outcomes = Vec::new();
    let mut forecasts = Forecasts::default();
    let mut lives = Vec::new();
    each(&pools, arguments, |pool, fault, seed, series| {
        outcomes.extend(judge(pool, fault, seed, series, arguments));
        lives.push(life::judge(fault, series));
        if fault == Fault::None {
            forecasts.add(&series.visits);
        }
        Ok(())
    })?;
    if let Some(file) = &arguments.others {
        outcomes.extend(others::read(file)?);
    }
    print!(
        "{}{}",
        table::page(&outcomes, &forecasts),
        life::table(&lives)
    );
    Ok(())
}

type Each<'a> = dyn FnMut(&Pool, Fault, u64, &Series) -> Result<(), Box<dyn Error>> + 'a;

/// Every series: 60 days with a fault, 90 without; 16 for faults of the first days.
fn each(
    pools: &[Pool],
    arguments: &Arguments,
    mut what: impl FnMut(&Pool, Fault, u64, &Series) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let what: &mut Each<'_> = &mut what;
    for fault in Fault::ALL {
        let (days, begins) = match (arguments.first_days, fault) {
            (true, _) => (16, Begins::FirstDays),
            (false, Fault::None) => (90, Begins::Settled),
            (false, _) => (60, Begins::Settled),
        };
        for seed in arguments.first_seed..arguments.first_seed + arguments.seeds {
            let pool = &pools[seed as usize % pools.len()];
            let series = series::series(pool, fault, seed * 100 + fault as u64, days, begins);
            what(pool, fault, seed, &series)?;
        }
    }
    Ok(())
}

/// Outcomes of faults that begin in the first three days; a drift takes longer.
fn first_days(pools: &[Pool], arguments: &Arguments) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut outcomes = Vec::new();
    each(pools, arguments, |pool, fault, seed, series| {
        if fault != Fault::Drift {
            outcomes.extend(judge(pool, fault, seed, series, arguments));
        }
        Ok(())
    })?;
    Ok(outcomes)
}

fn judge(
    pool: &Pool,
    fault: Fault,
    seed: u64,
    series: &Series,
    arguments: &Arguments,
) -> Vec<Outcome> {
    let ours = score::ours(&series.visits);
    if arguments.list {
        eprintln!("{}", table::list(pool, fault, seed, series, &ours));
    }
    let mut outcomes = vec![score::judge(table::OURS, fault, series, &ours)];
    if !arguments.ours {
        outcomes.extend(baselines::Baseline::ALL.map(|(name, method)| {
            let alarms = score::baseline(method, &series.visits);
            score::judge(name, fault, series, &alarms)
        }));
    }
    outcomes
}

fn write_series(pools: &[Pool], arguments: &Arguments, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut out = csv::Writer::from_writer(File::create(file)?);
    out.write_record([
        "fault", "path", "seed", "size", "after", "goodput", "rtt", "resent",
    ])?;
    each(pools, arguments, |pool, fault, seed, series| {
        let size = score::size(series);
        for visit in &series.visits {
            let values = [Metric::Goodput, Metric::RoundTripMin, Metric::Resent];
            let values = values.map(|metric| metric.of(visit));
            let [Some(goodput), Some(rtt), Some(resent)] = values else {
                continue;
            };
            out.write_record([
                fault.name(),
                &pool.path,
                &seed.to_string(),
                &format!("{size:.3}"),
                &u8::from(visit.at >= series.changed).to_string(),
                &goodput.to_string(),
                &rtt.to_string(),
                &resent.to_string(),
            ])?;
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}
