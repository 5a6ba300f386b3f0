//! One run, judged by itself, beside the truth.

use netpath::PathSpec;
use observe::{SamplePlan, Target};
use target::SimulatedPath;
use units::Span;

use crate::cases::Case;
use crate::truth::Truth;

/// Lengths of the runs in seconds.
pub const LENGTHS: [u64; 4] = [5, 10, 30, 60];
/// The truth is known no better than to this many of its standard errors.
const TRUTH_ERRORS: f64 = 2.0;

/// A run that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    pub case: Case,
    pub seconds: u64,
    pub seed: u64,
}

/// What one run said.
#[derive(Debug, Clone)]
pub struct Judged {
    pub trial: Trial,
    /// What it carried, as a share of the truth.
    pub mean: f64,
    pub interval: Option<Given>,
    /// Why there is none.
    pub unsettled: Option<String>,
}

/// An interval that a run gave.
#[derive(Debug, Clone, Copy)]
pub struct Given {
    /// Half its width as a share of the truth.
    pub half_width: f64,
    pub holds: bool,
}

/// Runs of every length with every seed.
pub fn trials(cases: &[Case], first_seed: u64, seeds: u64) -> Vec<Trial> {
    let of_case = |case: &Case| {
        let case = *case;
        LENGTHS.into_iter().flat_map(move |seconds| {
            let seeds = first_seed..first_seed + seeds;
            seeds.map(move |seed| Trial {
                case,
                seconds,
                seed: target::seed_from(seed, seconds),
            })
        })
    };
    cases.iter().flat_map(of_case).collect()
}

/// `None` where the run failed.
pub fn judge(trial: &Trial, truth: &Truth) -> Option<Judged> {
    let path = PathSpec::load(trial.case.path).ok()?;
    let plan = SamplePlan::lasting(Span::from_secs(trial.seconds));
    let mut target = SimulatedPath::new(&path, trial.seed);
    let summary = target
        .observe(&trial.case.setting()?, &plan, &mut ())
        .ok()?
        .summary();
    let goodput = summary.goodput();
    let given = |interval: observe::RateInterval| {
        let (low, high) = (interval.low.as_f64(), interval.high.as_f64());
        let slack = TRUTH_ERRORS * truth.error;
        Given {
            half_width: (high - low) / 2.0 / truth.mean,
            holds: low - slack <= truth.mean && truth.mean <= high + slack,
        }
    };
    Some(Judged {
        trial: *trial,
        mean: goodput.mean.as_f64() / truth.mean,
        interval: goodput.interval.map(given),
        unsettled: summary.unsettled().map(|lacking| format!("{lacking:?}")),
    })
}
