//! A longer look at what is to be recommended.

use observe::SamplePlan;

use crate::choose::choose;
use crate::history::History;
use crate::strategy::Request;
use crate::tuning::Purpose;

/// The setting that would be recommended now, once more and longer, unless it was seen so already.
pub(crate) fn confirm(history: &History) -> Option<Request> {
    let chosen = history.samples.get(choose(history)?.sample)?;
    let plan = history.long_plan()?;
    (chosen.purpose != Purpose::Confirm).then(|| Request {
        setting: chosen.setting.clone(),
        plan: SamplePlan {
            precision: None,
            ..plan
        },
        purpose: Purpose::Confirm,
        why: "once more and longer: what a short sample shows may not last".to_owned(),
    })
}
