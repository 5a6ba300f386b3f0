//! One search on one path, beside the truth.

use observe::{Limit, Target, Verdict};
use target::{EmulatedPath, SimulatedPath};
use tune::{TunePlan, Tuning};

use crate::cases::Case;
use crate::truth::{self, Truth};

/// How a verdict stands beside the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It names the true limit first.
    Right,
    /// It names the true limit among those that look the same.
    Listed,
    /// It says that the numbers do not tell, or that the samples were too short.
    Open,
    /// It names others only.
    Wrong,
    /// There is no single truth.
    NoTruth,
}

/// A case with truth and verdict.
#[derive(Debug)]
pub struct Judged {
    pub case: Case,
    pub truth: Truth,
    pub verdict: Verdict,
    pub outcome: Outcome,
    /// The samples of the search, in words.
    pub samples: Vec<String>,
    pub seconds: f64,
}

/// Searches on the case's path and compares what it says with the truth.
///
/// # Errors
/// When the path cannot be simulated or emulated, in words.
pub fn judge(case: &Case, emulated: bool) -> Result<Judged, String> {
    let truth = truth::of(&case.path).map_err(|error| error.to_string())?;
    let mut target = open(case, emulated)?;
    let tuning = tune::tune(&mut *target, &TunePlan::default(), &mut ());
    let tuning = tuning.map_err(|error| error.to_string())?;
    let answer = tuning.answer().ok_or("the search was stopped")?;
    Ok(Judged {
        case: case.clone(),
        outcome: outcome(truth.limit, &answer.limit_default),
        truth,
        samples: samples(&tuning),
        seconds: tuning.cost.elapsed.as_secs_f64(),
        verdict: answer.limit_default.clone(),
    })
}

fn open(case: &Case, emulated: bool) -> Result<Box<dyn Target>, String> {
    match emulated {
        true => match EmulatedPath::up(&case.path, case.seed) {
            Ok(path) => Ok(Box::new(path)),
            Err(error) => Err(error.to_string()),
        },
        false => Ok(Box::new(SimulatedPath::new(&case.path, case.seed))),
    }
}

fn outcome(truth: Option<Limit>, verdict: &Verdict) -> Outcome {
    match truth {
        None => Outcome::NoTruth,
        Some(truth) if verdict.limit == truth => Outcome::Right,
        Some(truth) if verdict.or.contains(&truth) => Outcome::Listed,
        Some(_) if !verdict.tells() => Outcome::Open,
        Some(_) => Outcome::Wrong,
    }
}

fn samples(tuning: &Tuning) -> Vec<String> {
    let one = |sample: &tune::Sample| {
        let way = sample.summary.main();
        let resent = way.and_then(|way| way.tcp.retransmitted_share);
        let rtt = way.and_then(|way| way.tcp.rtt);
        let steady = way.map_or(0.0, |way| way.steady.length().as_secs_f64());
        format!(
            "{} x {}{}: {} in {steady:.1} s, {} again, round trip {}: {}",
            sample.setting.streams,
            sample.setting.window,
            if sample.setting.pacing.is_some() {
                " paced"
            } else {
                ""
            },
            sample.summary.goodput().mean.human(),
            resent.map_or("-".to_owned(), |share| format!("{:.4} %", share * 100.0)),
            rtt.map_or("-".to_owned(), |rtt| rtt.human()),
            sample.why,
        )
    };
    tuning.samples.iter().map(one).collect()
}
