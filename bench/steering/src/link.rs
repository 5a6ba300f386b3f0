//! Does it pay to steer all copies that share a link as one?
//!
//! Some copies over one simulated path, for minutes in virtual time, beside one stream of another
//! user that is there all the time. Each copy ends after a while and another one takes its place.
//! The streams are chosen by `trunkline`'s steering of each copy for itself, by that of the link,
//! by the rules of FTS3 and Globus, and by the best fixed number.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Parser;
use netpath::PathSpec;
use steer::LinkSteer;
use steer::online::Online;
use steering_bench::packets::Packets;
use steering_bench::rules::{Fts3, Globus, Rule, plan};
use steering_bench::shared_path::{RunPlan, Shown, run};
use units::{Bytes, Span};

/// Compares ways to choose the streams of copies that share a link.
#[derive(Debug, Clone, Parser)]
struct Args {
    /// Path files or names.
    #[arg(default_values = ["slac-cern", "oc3-80ms", "twaren-cesnet", "shallow-queue"])]
    paths: Vec<String>,
    /// Copies at a time.
    #[arg(long, default_value_t = 4)]
    copies: usize,
    /// How long, in virtual time.
    #[arg(long, default_value = "300s")]
    length: Span,
    /// Each copy ends after about so long.
    #[arg(long, default_value = "60s")]
    each: Span,
    /// Runs of each.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Tells the streams of each minute.
    #[arg(long)]
    trace: bool,
}

fn means(args: &Args, path: &PathSpec, rule: &dyn Fn() -> Rule) -> Result<Shown, String> {
    let plan = RunPlan {
        copies: args.copies,
        length: args.length,
        each: args.each,
        trace: args.trace,
    };
    let one = |seed| {
        let begin = |first: &[u16]| Packets::begin(path, seed, first, args.length);
        run(&plan, path.base_rtt(), rule(), begin)
    };
    let runs: Vec<Shown> = (1..=args.seeds).map(one).collect::<Result<_, _>>()?;
    Ok(Shown::mean(&runs))
}

fn table(args: &Args, path: &PathSpec) -> Result<(), String> {
    let (rtt, copies) = (path.base_rtt(), args.copies);
    let each = || Rule::Each((0..copies).map(|_| Online::new(plan(rtt))).collect());
    let link = || Rule::Link(Box::new(LinkSteer::new(plan(rtt), Span::ZERO)));
    let mut best: Option<(u16, Shown)> = None;
    for fixed in [1, 2, 4, 8, 16, 30] {
        let shown = means(args, path, &|| Rule::Fixed(fixed))?;
        if best.as_ref().is_none_or(|(_, best)| shown.rate > best.rate) {
            best = Some((fixed, shown));
        }
    }
    let mut rows: BTreeMap<u8, (String, Shown)> = BTreeMap::new();
    if let Some((fixed, shown)) = best {
        rows.insert(0, (format!("best fixed number, {fixed} each"), shown));
    }
    rows.insert(1, ("the link as one".to_owned(), means(args, path, &link)?));
    rows.insert(
        2,
        ("each copy for itself".to_owned(), means(args, path, &each)?),
    );
    let fts3 = || Rule::Fts3(Fts3::new(Fts3::FIRST));
    rows.insert(3, ("FTS3 from 66".to_owned(), means(args, path, &fts3)?));
    let fts3 = || Rule::Fts3(Fts3::new(Fts3::RANGE.0));
    rows.insert(4, ("FTS3 from 2".to_owned(), means(args, path, &fts3)?));
    let large = Globus::of(1_000, Bytes::new(1_000_000_000), Bytes::new(300_000_000));
    let globus = Args {
        copies: large.files.into(),
        ..args.clone()
    };
    rows.insert(
        5,
        (
            format!("Globus, {} copies of {}", large.files, large.streams),
            means(&globus, path, &|| Rule::Fixed(large.streams))?,
        ),
    );
    let most = rows.get(&0).map_or(0.0, |(_, best)| best.rate.as_f64());
    for (name, shown) in rows.values() {
        println!(
            "| {} | {name} | {} | {:.3} | {:.1} | {} | {:.2} % | {:.3} |",
            path.name,
            shown.rate.human(),
            shown.rate.as_f64() / most,
            shown.streams,
            shown.other.human(),
            100.0 * shown.retransmitted,
            shown.fairness,
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let args = Args::parse();
    println!("| path | rule | rate | over best | streams | the other stream | sent again | Jain |");
    println!("|---|---|---|---|---|---|---|---|");
    for name in &args.paths {
        let path = PathSpec::load(name).map_err(|error| error.to_string());
        if let Err(error) = path.and_then(|path| table(&args, &path)) {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
