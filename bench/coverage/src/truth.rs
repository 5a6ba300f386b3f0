//! What a setting carries in the long run.
//!
//! Ten runs of 600 s, of which the last nine tenths count; of links beyond 200 Mbit/s ten runs of
//! 100 s, since each second of them has as many packets as ten of the others. Their seeds are not
//! those of the runs that are judged.

use netpath::PathSpec;
use observe::{Observation, SamplePlan, Target};
use target::SimulatedPath;
use units::{Rate, Span, Time};

use crate::cases::Case;

const SEEDS: std::ops::Range<u64> = 9_000..9_010;
const LENGTH: Span = Span::from_secs(600);
const LENGTH_FAST: Span = Span::from_secs(100);
const FAST: Rate = Rate::from_bits_per_second(200_000_000);

/// The long-run mean of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    pub case: Case,
    /// Bits per second.
    pub mean: f64,
    /// Standard error of that, from the scatter of the runs.
    pub error: f64,
}

/// As an earlier page has it: `| NAME | MEAN | ERROR | ...`, in Mbit/s.
pub fn on_page(case: &Case, page: &str) -> Option<Truth> {
    let name = case.name();
    let mut rows = page
        .lines()
        .map(|line| line.split('|').map(str::trim).skip(1));
    let mut row = rows.find_map(|mut row| (row.next()? == name).then_some(row))?;
    let mut bits = || Some(row.next()?.parse::<f64>().ok()? * 1e6);
    Some(Truth {
        case: *case,
        mean: bits()?,
        error: bits()?,
    })
}

/// `None`, and a line on standard error, where the path cannot be simulated.
pub fn of(case: &Case) -> Option<Truth> {
    let path = PathSpec::load(case.path).ok()?;
    let length = match path.forward.rate > FAST {
        true => LENGTH_FAST,
        false => LENGTH,
    };
    let runs = SEEDS.map(|seed| long_run(&path, case, length, seed));
    let means: Vec<f64> = runs.collect::<Option<_>>()?;
    let count = means.len() as f64;
    let truth = Truth {
        case: *case,
        mean: stats::mean(&means)?,
        error: stats::standard_deviation(&means)? / count.sqrt(),
    };
    eprintln!(
        "{}: {:.3} +- {:.3} Mbit/s",
        case.name(),
        truth.mean / 1e6,
        truth.error / 1e6
    );
    Some(truth)
}

fn long_run(path: &PathSpec, case: &Case, length: Span, seed: u64) -> Option<f64> {
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(length)
    };
    let seen = SimulatedPath::new(path, seed).observe(&case.setting()?, &plan, &mut ());
    match seen {
        Ok(seen) => Some(later_nine_tenths(&seen)),
        Err(error) => {
            eprintln!("{}: {error}", case.name());
            None
        }
    }
}

/// Bits per second over all streams. Readings of long runs are thinned out, so each stream's own
/// times count.
fn later_nine_tenths(seen: &Observation) -> f64 {
    let from = Time::ZERO + Span::from_nanos(seen.duration.as_nanos() / 10);
    let of_one = |stream: &observe::Stream| {
        let mut counted = stream.delivery.progress.iter();
        let first = *counted.find(|reading| reading.at >= from)?;
        let last = *counted.last()?;
        Some((last.bytes - first.bytes).as_f64() * 8.0 / last.at.since(first.at).as_secs_f64())
    };
    seen.streams.iter().filter_map(of_one).sum()
}
