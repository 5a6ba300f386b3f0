//! A longer look at what is to be recommended.

use observe::SamplePlan;

use crate::choose::{choose, choose_as_shown};
use crate::history::History;
use crate::lasting;
use crate::strategy::{Choice, Request};
use crate::tuning::{Purpose, Sample};

/// The setting that would be recommended now, once more and longer, unless it was seen so already.
pub(crate) fn confirm(history: &History) -> Option<Request> {
    let chosen = sample(history, &choose(history)?)?;
    longer(
        history,
        chosen,
        "once more and longer: what a short sample shows may not last",
    )
}

/// Fewer streams that would be recommended if they lasted as they were seen, and have lost nothing:
/// a longer look decides, and saves the search among more streams.
pub(crate) fn doubted(history: &History) -> Option<Request> {
    let chosen = sample(history, &choose(history)?)?;
    let shown = sample(history, &choose_as_shown(history)?)?;
    let why = "longer: it would do, if it lasts as it was seen";
    let may_do = shown.streams() < chosen.streams() && lasting::is_unproven(history, shown);
    may_do.then(|| longer(history, shown, why))?
}

fn sample<'a>(history: &'a History, choice: &Choice) -> Option<&'a Sample> {
    history.samples.get(choice.sample)
}

fn longer(history: &History, sample: &Sample, why: &str) -> Option<Request> {
    let plan = history.long_plan()?;
    (sample.purpose != Purpose::Confirm).then(|| Request {
        setting: sample.setting.clone(),
        plan: SamplePlan {
            precision: None,
            ..plan
        },
        purpose: Purpose::Confirm,
        why: why.to_owned(),
    })
}
