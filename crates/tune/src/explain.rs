//! A sample that tells causes apart, and what all samples together say of one.
//!
//! A default stream that loses packets may meet random loss or a queue too short for its bursts.
//! The same stream paced below the link's rate no longer bursts: random loss stays, a short queue
//! stops dropping. It is taken once, and only where the other samples leave the question open.
//!
//! Asked for once something else was sampled, mostly more streams: a pace just below the highest
//! rate seen then lies above what the default stream carries and below what the path does.
//!
//! Left out: paced looks at anything but the default stream, and a longer look where a window that
//! a loss in slow start has cut needs nothing but time. There the verdict says so (`too-short`).
//!
//! Reading order: [`explain`], then `explain/context.rs`.

mod context;

pub(crate) use context::context;

use observe::{Limit, Precision, SamplePlan, Setting, StreamCount, Window};
use units::Rate;

use crate::history::History;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// The default stream is paced at this share of the highest goodput seen: below the link's rate, so
/// that its bursts fit whatever queue there is, and above what it reaches unpaced. Its packets'
/// headers take some of it, and still it can reach a knee of 90 %.
const PACED_SHARE: f64 = 0.97;

/// The next sample that would tell causes of the default stream's limit apart.
pub(crate) fn explain(history: &History) -> Option<Request> {
    let default = history.samples.get(default(history)?)?;
    let verdict = (history.samples.len() > 1).then(|| history.verdict(default))?;
    let names = |limit| verdict.limit == limit || verdict.or.contains(&limit);
    let is_open = names(Limit::Loss) && names(Limit::ShallowQueue);
    is_open.then(|| paced(history, default))?
}

/// One stream with everything as the host has it: of several samples the last, which counts.
pub(crate) fn default(history: &History) -> Option<usize> {
    let setting = history.setting(StreamCount::ONE, Window::Auto);
    let same = |sample: &Sample| sample.setting == setting;
    history.samples.iter().rposition(same)
}

/// The default stream, paced; `None` when it was already, or nothing is left of the budget.
fn paced(history: &History, default: &Sample) -> Option<Request> {
    let paces = history
        .target
        .mover
        .as_ref()
        .is_none_or(|mover| mover.pacing);
    if !paces {
        return None;
    }
    if history
        .samples
        .iter()
        .any(|sample| is_paced(sample, default))
    {
        return None;
    }
    let pace = Rate::from_f64(PACED_SHARE * history.rate_best()?.as_f64());
    let plan = history.sample_plan()?;
    Some(Request {
        setting: Setting {
            pacing: Some(pace),
            ..default.setting.clone()
        },
        plan: SamplePlan {
            precision: plan.precision.map(any_width),
            ..plan
        },
        purpose: Purpose::Explain,
        why: format!(
            "one stream paced at {}: does it still lose packets?",
            pace.human()
        ),
    })
}

/// Whether `sample` is `default` but for its pace.
pub(crate) fn is_paced(sample: &Sample, default: &Sample) -> bool {
    let unpaced = Setting {
        pacing: None,
        ..sample.setting.clone()
    };
    sample.setting.pacing.is_some() && unpaced == default.setting
}

/// Its goodput does not matter, so its steady time alone ends it.
fn any_width(precision: Precision) -> Precision {
    Precision {
        relative_half_width: f64::INFINITY,
        ..precision
    }
}
