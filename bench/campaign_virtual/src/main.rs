//! What do campaigns of ten million files between 20 and 20 hosts come to by trunkline's rules, and
//! by those of FTS3 and Globus?
//!
//! In virtual time and by formulas: a link's streams carry what the equilibrium of [`models`] says,
//! hosts are shared max-min, and time goes from change to change. Hosts, links and workers go away
//! and come back. `validate` sets the formulas beside the packet simulator, `noise` measures how
//! much rates differ from second to second there.
//!
//! Reading order: `world.rs` (hosts, links, files, shards), `pipe.rs`, `max_min.rs`, `noise.rs`,
//! `failure.rs`, `chooser.rs` (the rules), `lane.rs`, `campaign.rs`, `outcome.rs`, `bound.rs`;
//! `validate.rs`.

mod bound;
mod campaign;
mod chooser;
mod failure;
mod lane;
mod max_min;
mod noise;
mod outcome;
mod pipe;
mod random;
mod table;
mod validate;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use netpath::PathSpec;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use units::{Span, Time};

use campaign::campaign;
use chooser::Rule;
use failure::Failures;
use world::{Size, World};

/// Campaigns in virtual time, by several rules.
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs campaigns by all rules.
    Run {
        /// Hosts at each side.
        #[arg(long, default_value_t = 20)]
        hosts: usize,
        /// Files of all links.
        #[arg(long, default_value_t = 10_000_000)]
        files: u64,
        /// The first seed.
        #[arg(long, default_value_t = 1)]
        first: u64,
        /// Campaigns by each rule.
        #[arg(long, default_value_t = 3)]
        seeds: u64,
    },
    /// Compares the formulas with packets: named paths, and links of a drawn campaign.
    Validate {
        /// Names of paths.
        #[arg(default_values = ["slac-cern", "oc3-80ms", "twaren-cesnet", "shallow-queue"])]
        paths: Vec<String>,
        /// Links of the campaign of seed 1.
        #[arg(long, default_value_t = 4)]
        links: usize,
        /// Runs of each.
        #[arg(long, default_value_t = 3)]
        seeds: u64,
        /// Each copy ends after about so long; a run lasts five times as long.
        #[arg(long, default_value = "60s")]
        each: Span,
    },
    /// Measures on packets how much rates differ from second to second.
    Noise {
        /// Names of paths.
        #[arg(default_values = ["slac-cern", "oc3-80ms", "twaren-cesnet", "shallow-queue"])]
        paths: Vec<String>,
        /// Links of the campaign of seed 1.
        #[arg(long, default_value_t = 8)]
        links: usize,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Run {
            hosts,
            files,
            first,
            seeds,
        } => runs(Size { hosts, files }, first..first + seeds),
        Command::Validate {
            paths,
            links,
            seeds,
            each,
        } => validate(&paths, links, seeds, each),
        Command::Noise { paths, links } => noise(&paths, links),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn runs(size: Size, seeds: std::ops::Range<u64>) -> Result<(), String> {
    table::head(&table::RUNS);
    for seed in seeds {
        let began = processor_seconds()?;
        let world = World::draw(size, seed)?;
        let failures = Failures::THREE_DAYS;
        let least = bound::least_time(&world, &failures, seed).since(Time::ZERO);
        table::least(seed, &world, least, processor_seconds()? - began);
        for rule in Rule::ALL {
            let began = processor_seconds()?;
            let shown = campaign(&world, rule, &failures, seed)?;
            table::run(seed, rule, &shown, least, processor_seconds()? - began);
        }
    }
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    println!("\nAt most {} MiB of memory", usage.max_rss() / 1024);
    Ok(())
}

/// Of this process so far.
fn processor_seconds() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn load(name: &str) -> Result<PathSpec, String> {
    PathSpec::load(name).map_err(|error| error.to_string())
}

fn named_and_drawn(names: &[String], links: usize) -> Result<Vec<PathSpec>, String> {
    let mut paths = names
        .iter()
        .map(|name| load(name))
        .collect::<Result<Vec<_>, _>>()?;
    let small = Size {
        hosts: 20,
        files: 100_000,
    };
    let drawn = World::draw(small, 1)?.links;
    paths.extend(drawn.into_iter().take(links).map(|link| link.path));
    Ok(paths)
}

fn validate(names: &[String], links: usize, seeds: u64, each: Span) -> Result<(), String> {
    table::head(&table::PAIRS);
    let mut apart = Vec::new();
    for path in &named_and_drawn(names, links)? {
        for pair in validate::path(path, seeds, each)? {
            apart.push(table::pair(&pair));
        }
    }
    table::summary(apart);
    Ok(())
}

fn noise(names: &[String], links: usize) -> Result<(), String> {
    table::head(&table::SCATTER);
    for path in named_and_drawn(names, links)? {
        for one in validate::scatter(&path, 1)? {
            table::scatter(&path.name, &one);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Away;

    const SMALL: Size = Size {
        hosts: 3,
        files: 20_000,
    };
    /// As many in some hours as there are in days else.
    const OFTEN: Failures = Failures {
        link: away(3_600, 120),
        host: away(7_200, 240),
        worker: away(3_600, 60),
    };

    const fn away(every: u64, lasts: u64) -> Away {
        Away {
            every: Span::from_secs(every),
            lasts: Span::from_secs(lasts),
        }
    }

    #[test]
    fn a_small_campaign_ends_whole_by_every_rule_with_failures() {
        for seed in 0..4 {
            let world = World::draw(SMALL, seed).unwrap();
            let least = bound::least_time(&world, &OFTEN, seed).as_secs_f64();
            let shards: usize = world.links.iter().map(|link| link.shards.len()).sum();
            let optimum = campaign(&world, Rule::Optimum, &OFTEN, seed).unwrap();
            assert!(optimum.killed > 0, "seed {seed}");
            for rule in Rule::ALL {
                let shown = campaign(&world, rule, &OFTEN, seed).unwrap();
                assert_eq!(shown.shards, shards, "{rule:?}, seed {seed}");
                let apart = (shown.carried / world.bytes() - 1.0).abs();
                assert!(apart < 1e-6, "{rule:?}, seed {seed}: {apart}");
                // Rules that keep no bounds may be faster than those who do.
                let took = shown.took.as_secs_f64();
                assert!(
                    took > least * 0.999 || !rule.keeps_bounds(),
                    "{rule:?}, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn the_same_seed_is_the_same_campaign() {
        let world = World::draw(SMALL, 9).unwrap();
        let run = || campaign(&world, Rule::Together, &OFTEN, 9).unwrap();
        assert_eq!(run(), run());
    }
}
