//! Takes the samples that a strategy asks for, and puts together what came of it.

use observe::{Fault, SamplePlan, Target, TargetError, Then, Verdict, Watch};

use crate::drift::drift;
use crate::explain;
use crate::guard::Guard;
use crate::history::History;
use crate::host::host_advice;
use crate::plan::TunePlan;
use crate::staged::Staged;
use crate::strategy::{Choice, Request, Strategy};
use crate::tuning::{Ended, Recommended, Sample, TuneError, Tuning};

/// Somebody who looks on while samples are taken.
pub trait Onlooker: Watch {
    /// A sample begins; `number` counts from 1.
    fn on_sample_started(&mut self, number: usize, request: &Request) {
        let _ = (number, request);
    }

    /// A sample is done.
    fn on_sample_done(&mut self, number: usize, sample: &Sample) {
        let _ = (number, sample);
    }
}

/// Nobody looks on.
impl Onlooker for () {}

/// Finds the operating point of `target` with the strategy of this crate, [`Staged`].
///
/// # Errors
/// When the first sample fails, or nothing arrives in any. A failure or cancellation after the
/// first sample is no error: the best so far is recommended and [`Tuning::ended`] says so.
pub fn tune(
    target: &mut dyn Target,
    plan: &TunePlan,
    onlooker: &mut dyn Onlooker,
) -> Result<Tuning, TuneError> {
    tune_with(&Staged, target, plan, onlooker)
}

/// The same with another strategy.
///
/// # Errors
/// As [`tune`].
pub fn tune_with(
    strategy: &dyn Strategy,
    target: &mut dyn Target,
    plan: &TunePlan,
    onlooker: &mut dyn Onlooker,
) -> Result<Tuning, TuneError> {
    let mut history = History::new(plan.clone(), target.describe());
    let ended = sample_until_known(strategy, target, &mut history, onlooker);
    target.stop();
    if let Ended::Cut(error) = ended {
        if history.samples.is_empty() {
            return Err(TuneError::Target(error));
        }
        return conclude(strategy, history, Ended::Cut(error));
    }
    conclude(strategy, history, ended)
}

fn sample_until_known(
    strategy: &dyn Strategy,
    target: &mut dyn Target,
    history: &mut History,
    onlooker: &mut dyn Onlooker,
) -> Ended {
    while let Some(request) = strategy.next(history) {
        if onlooker.is_cancelled() {
            return Ended::Cut(cancelled());
        }
        let number = history.samples.len() + 1;
        onlooker.on_sample_started(number, &request);
        let plan = SamplePlan {
            then: after(strategy, &request),
            ..request.plan
        };
        let mut guard = Guard::new(history, onlooker);
        let observation = match target.observe(&request.setting, &plan, &mut guard) {
            Ok(observation) => observation,
            Err(error) => return Ended::Cut(error),
        };
        let sample = Sample {
            summary: observation.summary(),
            setting: request.setting,
            purpose: request.purpose,
            why: request.why,
            observation,
        };
        onlooker.on_sample_done(number, &sample);
        history.samples.push(sample);
    }
    Ended::Found
}

/// Only a strategy that compares stages of one run may have streams that go on.
fn after(strategy: &dyn Strategy, request: &Request) -> Then {
    match strategy.grows() {
        true => request.plan.then,
        false => Then::Stop,
    }
}

fn cancelled() -> TargetError {
    TargetError {
        fault: Fault::Cancelled,
        what: "cancelled".to_owned(),
        hint: None,
        source: None,
    }
}

fn conclude(strategy: &dyn Strategy, history: History, ended: Ended) -> Result<Tuning, TuneError> {
    let cost = history.cost();
    let nothing = TuneError::NothingDelivered {
        samples: history.samples.len(),
        elapsed: cost.elapsed,
    };
    let Some(choice) = strategy.choose(&history) else {
        return Err(nothing);
    };
    let Some(chosen) = history.samples.get(choice.sample) else {
        return Err(nothing);
    };
    Ok(Tuning {
        objective: history.plan.objective,
        limit_default: limit_default(&history, chosen),
        limit_recommended: history.verdict(chosen),
        host_advice: host_advice(&history),
        drift: drift(&history),
        recommended: recommended(&history, chosen, choice),
        cost,
        samples: history.samples,
        ended,
    })
}

/// One stream with everything as the host has it: of several looks at it the longest.
fn limit_default(history: &History, chosen: &Sample) -> Verdict {
    history.verdict(explain::default(history).unwrap_or(chosen))
}

fn recommended(history: &History, chosen: &Sample, choice: Choice) -> Recommended {
    Recommended {
        setting: chosen.setting.clone(),
        sample: choice.sample,
        goodput: chosen.goodput(),
        rtt_loaded: chosen.summary.rtt_loaded,
        rtt_unloaded: history.rtt_unloaded(),
        because: choice.because,
    }
}
