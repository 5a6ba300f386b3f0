//! What does it cost, or gain, that the streams of a copy are steered while data flows?
//!
//! Copies over named paths in virtual time: with fixed numbers of streams, and steered by
//! [`steer::online`]. The table has the best fixed number of each path, its time, and the steered
//! copy's time as a share of it; medians over seeds.

mod copy;

use copy_protocol::CopyOptions;
use std::process::ExitCode;

use clap::Parser;
use netpath::PathSpec;
use observe::StreamCount;
use steer::online::{Online, OnlinePlan};
use tune::Objective;
use units::{Bytes, Span};

use copy::{Copied, copy};

/// Compares steered copies with fixed numbers of streams.
#[derive(Debug, Parser)]
struct Args {
    /// Path files or names.
    #[arg(default_values = ["slac-cern", "oc3-80ms", "twaren-cesnet", "capped-buffers", "shallow-queue", "lan"])]
    paths: Vec<String>,
    /// How much each copy carries.
    #[arg(long, default_value = "300MB")]
    bytes: Bytes,
    /// Copies with each setting: the median counts.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// max, knee, power or gentle; the copy's own knee by default.
    #[arg(long)]
    objective: Option<String>,
    /// Begins with so many streams instead of a number that follows from the round trip.
    #[arg(long)]
    start: Option<u16>,
    /// The fixed numbers to compare with.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 32, 64])]
    fixed: Vec<u16>,
    /// Tells each change, and what was carried each second, of the first seed.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    println!(
        "| path | best fixed | its time | steered | shortest, longest | over best | streams at the \
            ends | changes |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in &args.paths {
        let path = PathSpec::load(name).map_err(|error| error.to_string())?;
        row(args, &path)?;
    }
    Ok(())
}

fn row(args: &Args, path: &PathSpec) -> Result<(), String> {
    let mut best: Option<(u16, Span)> = None;
    for fixed in &args.fixed {
        let (took, _) = median(args, path, |_| fixed_plan(*fixed))?;
        if best.is_none_or(|(_, least)| took < least) {
            best = Some((*fixed, took));
        }
    }
    let (took, copies) = median(args, path, |rtt| steered_plan(args, rtt))?;
    let (streams, least) = best.unwrap_or((0, took));
    let changes: usize = copies.iter().map(|copy| copy.changes.len()).sum();
    println!(
        "| {} | {streams} | {:.2} s | {:.2} s | {} s | {:.3} | {} | {:.1} |",
        path.name,
        least.as_secs_f64(),
        took.as_secs_f64(),
        ends(copies.iter().map(|copy| copy.took.as_secs_f64())),
        took.as_secs_f64() / least.as_secs_f64(),
        ends(copies.iter().map(|copy| copy.streams.get().into())),
        changes as f64 / copies.len() as f64,
    );
    if args.trace {
        copies.first().into_iter().for_each(trace);
    }
    Ok(())
}

/// The smallest and the largest.
fn ends(values: impl Iterator<Item = f64>) -> String {
    let (least, most) = values.fold((f64::INFINITY, 0.0), |(least, most), value| {
        (f64::min(least, value), f64::max(most, value))
    });
    let least = (least * 100.0).round() / 100.0;
    format!("{least}, {}", (most * 100.0).round() / 100.0)
}

fn fixed_plan(streams: u16) -> Result<OnlinePlan, String> {
    Ok(OnlinePlan {
        streams: Some(count(streams)?),
        ..OnlinePlan::default()
    })
}

fn steered_plan(args: &Args, rtt: Span) -> Result<OnlinePlan, String> {
    let objective = match args.objective.as_deref() {
        None => CopyOptions::KNEE,
        Some("max") => Objective::Max,
        Some("knee") => Objective::KNEE,
        Some("power") => Objective::Power,
        Some("gentle") => Objective::GENTLE,
        Some(other) => return Err(format!("`{other}` is none of max, knee, power, gentle")),
    };
    Ok(OnlinePlan {
        objective,
        remembered: args.start.map(count).transpose()?,
        rtt: Some(rtt),
        ..OnlinePlan::default()
    })
}

fn count(streams: u16) -> Result<StreamCount, String> {
    StreamCount::new(streams.into()).map_err(|error| error.to_string())
}

/// The median time over all seeds, and every copy.
fn median(
    args: &Args,
    path: &PathSpec,
    plan: impl Fn(Span) -> Result<OnlinePlan, String>,
) -> Result<(Span, Vec<Copied>), String> {
    let one = |seed| copy(path, seed, args.bytes, Online::new(plan(path.base_rtt())?));
    let copies: Vec<Copied> = (1..=args.seeds).map(one).collect::<Result<_, _>>()?;
    let times: Vec<f64> = copies.iter().map(|copy| copy.took.as_secs_f64()).collect();
    let median = stats::median(&times).ok_or("no copies without a seed")?;
    Ok((Span::from_secs_f64(median), copies))
}

fn trace(copied: &Copied) {
    for (at, steer) in &copied.changes {
        println!(
            "    {:6.1} s  {:4} streams: {}",
            at.as_secs_f64(),
            steer.streams,
            steer.why
        );
    }
    let seconds: Vec<String> = copied
        .seconds
        .iter()
        .map(|rate| format!("{:.0}", rate.as_f64() / 1e6))
        .collect();
    println!("    Mbit/s: {}", seconds.join(" "));
    println!("    {}", copied.limited.clone().unwrap_or_default());
}
