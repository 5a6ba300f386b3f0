//! Takes the samples that a strategy asks for, and puts together what came of it.

use observe::{
    Fault, Observation, RunObserver, SamplePlan, Setting, Target, TargetError, Transport,
};

use crate::belief::promise;
use crate::controls;
use crate::drift::drift;
use crate::guard::Guard;
use crate::history::History;
use crate::host::host_advice;
use crate::plan::TunePlan;
use crate::search::{Inferred, untried};
use crate::strategy::{Choice, Request, Strategy};
use crate::tuning::{
    Answer, Confirmation, Ended, FailedSample, Promise, Purpose, Recommended, Sample, TuneError,
    Tuning,
};
use crate::verdict::verdict;

/// So many failures in a row may be of two settings, each of which was asked for twice; one more
/// says that the target is gone.
const FAILED_MAX: usize = 4;

/// Runs of what is recommended: where the third leads to yet another answer, that is left to stand.
const CONFIRMED_MAX: usize = 3;

/// Follows a search, sample after sample.
pub trait SampleObserver: RunObserver {
    /// A sample begins; `number` counts from 1.
    fn on_sample_started(&mut self, number: usize, request: &Request) {
        let _ = (number, request);
    }

    /// A sample is done.
    fn on_sample_done(&mut self, number: usize, sample: &Sample) {
        let _ = (number, sample);
    }

    /// A sample could not be taken, and the search goes on without it.
    fn on_sample_failed(&mut self, number: usize, failed: &FailedSample) {
        let _ = (number, failed);
    }
}

/// Follows nothing.
impl SampleObserver for () {}

/// Finds the operating point of `target` with the strategy of this crate, [`Inferred`].
///
/// # Errors
/// When the first sample fails, or nothing arrives in any. A failure after the first sample is no
/// error: the search goes on without that setting ([`Tuning::failed`]), and when the next ones
/// fail too, the best so far is recommended and [`Tuning::ended`] says so. Nor is a cancellation,
/// after which nothing is recommended.
pub fn tune(
    target: &mut dyn Target,
    plan: &TunePlan,
    observer: &mut dyn SampleObserver,
) -> Result<Tuning, TuneError> {
    tune_with(&Inferred, target, plan, observer)
}

/// The same with another strategy.
///
/// # Errors
/// As [`tune`].
pub fn tune_with(
    strategy: &dyn Strategy,
    target: &mut dyn Target,
    plan: &TunePlan,
    observer: &mut dyn SampleObserver,
) -> Result<Tuning, TuneError> {
    match samples_with(strategy, target, plan, observer) {
        (history, Some(error)) if history.samples.is_empty() => Err(TuneError::Target(error)),
        (history, cut) => conclude(strategy, target, history, cut),
    }
}

/// The samples of such a search, of which nothing is inferred yet, and what cut it short.
pub fn samples_with(
    strategy: &dyn Strategy,
    target: &mut dyn Target,
    plan: &TunePlan,
    observer: &mut dyn SampleObserver,
) -> (History, Option<TargetError>) {
    let described = target.describe();
    let plan = plan.clone().within(described.mover.as_ref());
    let mut history = History::new(plan, described);
    let cut = sample_until_known(strategy, target, &mut history, observer)
        .and_then(|()| confirm(strategy, target, &mut history, observer))
        .err();
    target.stop();
    (history, cut)
}

/// # Errors
/// What cut the search short.
fn sample_until_known(
    strategy: &dyn Strategy,
    target: &mut dyn Target,
    history: &mut History,
    observer: &mut dyn SampleObserver,
) -> Result<(), TargetError> {
    let mut failed_last = 0;
    while let Some(request) = strategy.next(history) {
        if observer.is_cancelled() {
            return Err(cancelled());
        }
        let number = history.samples.len() + 1;
        observer.on_sample_started(number, &request);
        let mut guard = Guard::new(history, observer);
        let observed = target.observe(&request.setting, &request.plan, &mut guard);
        let cost = guard.cost();
        let observation = match observed {
            Ok(observation) => observation,
            Err(error)
                if failed_last == FAILED_MAX || !is_of_its_setting(&error, history, &request) =>
            {
                return Err(error);
            }
            Err(error) => {
                let setting = request.setting;
                let failed = FailedSample {
                    setting,
                    error,
                    cost,
                };
                observer.on_sample_failed(number, &failed);
                history.failed.push(failed);
                failed_last += 1;
                continue;
            }
        };
        failed_last = 0;
        add(history, request, observation, observer);
    }
    Ok(())
}

/// Runs what is recommended once more where the plan says so, and again where the answer is another
/// one then.
///
/// # Errors
/// What cut it short.
fn confirm(
    strategy: &dyn Strategy,
    target: &mut dyn Target,
    history: &mut History,
    observer: &mut dyn SampleObserver,
) -> Result<(), TargetError> {
    let Some(length) = history.plan.confirms else {
        return Ok(());
    };
    for _ in 0..CONFIRMED_MAX {
        let choice = strategy.choose(history);
        let Some(chosen) = choice.and_then(|choice| history.samples.get(choice.sample)) else {
            return Ok(());
        };
        let setting = chosen.setting.clone();
        let mut confirmed = history.confirmations.iter();
        if confirmed.any(|one| history.samples[one.sample].setting == setting) {
            return Ok(());
        }
        let promise = promise(history, chosen);
        let request = Request {
            plan: SamplePlan::lasting(length),
            purpose: Purpose::Confirm,
            why: format!(
                "recommended, and promised to carry {}",
                promise.goodput.human()
            ),
            setting,
        };
        let sample = history.samples.len();
        observer.on_sample_started(sample + 1, &request);
        let observation = target.observe(&request.setting, &request.plan, observer)?;
        add(history, request, observation, observer);
        history.confirmations.push(Confirmation { sample, promise });
    }
    Ok(())
}

/// Enters what a request showed.
fn add(
    history: &mut History,
    request: Request,
    observation: Observation,
    observer: &mut dyn SampleObserver,
) {
    let sample = Sample {
        summary: observation.summary(),
        setting: request.setting,
        purpose: request.purpose,
        why: request.why,
        observation,
    };
    observer.on_sample_done(history.samples.len() + 1, &sample);
    history.add(sample);
}

/// Whether a failure may be one of this setting alone, as where the far end takes only so many
/// streams, or none over UDP: others were sampled, and this one was not.
fn is_of_its_setting(error: &TargetError, history: &History, request: &Request) -> bool {
    let is_new = history.of(&request.setting).is_none();
    error.fault == Fault::Run && is_new && !history.samples.is_empty()
}

fn cancelled() -> TargetError {
    TargetError {
        fault: Fault::Cancelled,
        what: "cancelled".to_owned(),
        hint: None,
        source: None,
    }
}

fn conclude(
    strategy: &dyn Strategy,
    target: &dyn Target,
    mut history: History,
    cut: Option<TargetError>,
) -> Result<Tuning, TuneError> {
    let is_alone = history.samples.len() < 2;
    let ended = match cut {
        Some(error) if error.fault == Fault::Cancelled || is_alone => Ended::Stopped(error),
        Some(error) => Ended::Cut(answer(strategy, target, &history)?, error),
        None => Ended::Found(answer(strategy, target, &history)?),
    };
    Ok(Tuning {
        objective: history.plan.objective,
        promises: history
            .samples
            .iter()
            .map(|one| promise(&history, one))
            .collect(),
        verdicts: history
            .samples
            .iter()
            .map(|one| verdict(&history, one))
            .collect(),
        rtt_unloaded: history.rtt_unloaded(),
        path_file: history.belief().map(|belief| belief.path_file()),
        confirmations: std::mem::take(&mut history.confirmations),
        asked: asked(&history),
        drift: drift(&history),
        untried: untried(&history),
        left_behind: target.left_behind(),
        cost: history.cost(),
        failed: history.take_failed(),
        samples: history.samples,
        ended,
    })
}

/// What the settings that the plan asks for are expected to carry.
fn asked(history: &History) -> Vec<Promise> {
    let belief = history.belief();
    let promise = |setting| belief.map(|belief| belief.promise(setting));
    history.plan.asked.iter().filter_map(promise).collect()
}

fn answer(
    strategy: &dyn Strategy,
    target: &dyn Target,
    history: &History,
) -> Result<Answer, TuneError> {
    let choice = strategy.choose(history);
    let chosen = choice.and_then(|choice| recommended(history, choice));
    let chosen = chosen.ok_or_else(|| TuneError::NothingDelivered {
        samples: history.samples.len(),
        elapsed: history.cost().elapsed,
    })?;
    let sample = &history.samples[chosen.sample];
    let default_sample = controls::default(history);
    let default = default_sample.map_or(sample, |index| &history.samples[index]);
    let own = &history.plan.base.congestion;
    let best_where = |may: &dyn Fn(&Setting) -> bool| {
        let choice = strategy.choose_where(history, may)?;
        recommended(history, choice)
    };
    Ok(Answer {
        limit_recommended: verdict(history, sample),
        default_sample,
        limit_default: verdict(history, default),
        host_advice: host_advice(history),
        command: target.command(&chosen.setting),
        unpaced: chosen
            .setting
            .pacing
            .and_then(|_| best_where(&|setting| setting.pacing.is_none())),
        own_control: is_ours_alone(&chosen.setting, own.as_deref())
            .then(|| best_where(&|one| !is_ours_alone(one, own.as_deref()) && one.pacing.is_none()))
            .flatten(),
        recommended: chosen,
    })
}

/// Whether a program that leaves the congestion control to the host, `own` where the user named
/// one, cannot send as this setting does.
fn is_ours_alone(setting: &Setting, own: Option<&str>) -> bool {
    setting.congestion.as_deref() != own || setting.transport == Transport::Udp
}

/// `None` where the choice names no sample.
fn recommended(history: &History, choice: Choice) -> Option<Recommended> {
    let chosen = history.samples.get(choice.sample)?;
    Some(Recommended {
        setting: chosen.setting.clone(),
        sample: choice.sample,
        promise: promise(history, chosen),
        rtt_loaded: chosen.summary.rtt_loaded,
        rtt_unloaded: history.rtt_unloaded(),
        because: choice.because,
    })
}
