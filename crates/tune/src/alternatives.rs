//! Other congestion controls, and paced streams, where they were asked for.

use observe::{Setting, StreamCount, Window};
use units::Rate;

use crate::choose::choose;
use crate::history::History;
use crate::lasting;
use crate::plan::{Axis, Controls};
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// Each paced stream sends its share of this much of the highest goodput seen: just below the
/// link's rate, so that no queue grows, and no more is given away than runs of one setting differ.
const PACED_SHARE: f64 = 0.97;

/// The next candidate along an axis that was asked for.
pub(crate) fn asked(history: &History) -> Option<Request> {
    let chosen = history.samples.get(choose(history)?.sample)?;
    congestion(history, chosen).or_else(|| paced(history, chosen))
}

fn congestion(history: &History, chosen: &Sample) -> Option<Request> {
    if history.plan.controls() != Controls::All {
        return None;
    }
    let default = history.target.congestion.first();
    let others = history
        .target
        .congestion
        .iter()
        .filter(|name| Some(*name) != default);
    let settings = others.flat_map(|name| {
        let alone = history.setting(StreamCount::ONE, Window::Auto);
        let together = Setting {
            pacing: None,
            ..chosen.setting.clone()
        };
        [alone, together].map(|setting| with_congestion(&setting, name))
    });
    let is_new = |one: &Setting| history.of(one).is_none() && !history.has_failed(one);
    let mut new = settings.filter(is_new);
    let setting = new.find(|setting| is_promising(history, setting))?;
    let name = setting.congestion.clone().unwrap_or_default();
    request(history, setting, format!("what {name} makes of it"))
}

/// More streams with a congestion control of which one stream carried nearly everything add
/// nothing.
fn is_promising(history: &History, setting: &Setting) -> bool {
    let alone = Setting {
        streams: StreamCount::ONE,
        window: Window::Auto,
        ..setting.clone()
    };
    let best = history.rate_best().map_or(0.0, Rate::as_f64);
    let enough = |sample: &Sample| lasting::expected(history, sample) >= best;
    setting.streams == StreamCount::ONE || !history.of(&alone).is_some_and(enough)
}

fn paced(history: &History, chosen: &Sample) -> Option<Request> {
    if !history.plan.searches(Axis::Pacing) || chosen.setting.pacing.is_some() {
        return None;
    }
    let all = PACED_SHARE * history.rate_best()?.as_f64();
    let each = Rate::from_f64(all / f64::from(chosen.streams().get()));
    let setting = Setting {
        pacing: Some(each),
        ..chosen.setting.clone()
    };
    let tried = history
        .samples
        .iter()
        .any(|sample| sample.setting.pacing.is_some() && sample.purpose == Purpose::Alternative);
    let why = format!("each stream paced at {}: no bursts, no queue", each.human());
    (!tried).then(|| request(history, setting, why))?
}

fn with_congestion(setting: &Setting, name: &str) -> Setting {
    Setting {
        congestion: Some(name.to_owned()),
        ..setting.clone()
    }
}

fn request(history: &History, setting: Setting, why: String) -> Option<Request> {
    Some(Request {
        setting,
        plan: history.sample_plan()?,
        purpose: Purpose::Alternative,
        why,
    })
}
