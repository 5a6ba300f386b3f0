//! What an earlier search recommended, tried right after the default.
//!
//! It is a sample like any other: the climb goes on from it if it brought something, and the knee
//! is looked for below it. So a memory that no longer holds costs one sample and decides nothing.

use observe::{Setting, Window};

use crate::controls;
use crate::history::History;
use crate::plan::{Axis, Remembered};
use crate::strategy::Request;
use crate::tuning::Purpose;

/// The operating point of an earlier search that this search could recommend too.
pub(crate) fn remembered(history: &History) -> Option<Request> {
    let only_default = history.samples.len() == 1;
    let earlier = history
        .plan
        .remembered
        .iter()
        .find(|one| is_ours(history, one));
    let earlier = earlier.filter(|_| only_default)?;
    let setting = earlier.setting.clone();
    history.of(&setting).is_none().then_some(Request {
        setting,
        plan: history.sample_plan()?,
        purpose: Purpose::Remembered,
        why: format!(
            "an earlier search ({}) found {} with it",
            earlier.when,
            earlier.goodput.human()
        ),
    })
}

/// Whether the search may recommend it: within its bounds, and all else as the plan has it.
fn is_ours(history: &History, earlier: &Remembered) -> bool {
    let setting = &earlier.setting;
    let plan = &history.plan;
    let window = setting.window == Window::Auto || plan.searches(Axis::Window);
    let streams = setting.streams <= plan.streams_max && plan.searches(Axis::Streams);
    let as_planned = history.setting(setting.streams, setting.window);
    let other = setting.congestion.as_deref();
    let same = Setting {
        congestion: as_planned.congestion.clone(),
        ..setting.clone()
    } == as_planned;
    let may_use = setting.congestion == as_planned.congestion
        || other.is_some_and(|name| controls::may_be_remembered(history, name));
    window && streams && same && may_use
}
