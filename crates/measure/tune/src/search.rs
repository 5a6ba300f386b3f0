//! The search: the sample that tells most, until no other answer would be worth more.
//!
//! After each sample the paths that explain all of them are inferred (`belief.rs`). Every setting
//! that may be recommended is worth something on each of these paths (`worth.rs`). The answer is
//! the setting of the highest mean worth; its regret is how much more the best of each path would
//! be worth. While that is more than [`REGRET`], the next sample is the one after which the answer
//! is expected to be worth most. In the end the answer itself is looked at for longer, unless it is
//! known well enough; if that contradicts what was expected, the search goes on.
//!
//! The first sample is one stream with everything as the host has it, the second what an earlier
//! search found on this path. Eight streams are seen in any case. Where the samples tell nothing of
//! the path, streams are doubled as long as they bring something.

use observe::{SamplePlan, Setting, StreamCount, Then, Window};

use crate::controls;
use crate::history::History;
use crate::moving;
use crate::over_udp;
use crate::plan::{Axis, GAIN_MIN, Objective};
use crate::settings::{candidates, usual};
use crate::strategy::{Choice, Request, Strategy};
use crate::tuning::{Purpose, Sample};
use crate::verdict::name;

/// The search ends when its answer is expected to be worth so little less than the best.
const REGRET: f64 = 0.02;
/// A sample that is expected to improve the answer by less is not taken.
const GAIN: f64 = 0.01;
/// An answer is looked at for longer while half of its interval is more than this share of it.
const SURE: f64 = 0.1;
/// The second number of streams.
const SECOND: u64 = 8;
/// Looks at one setting, the longer one included.
const LOOKS: usize = 2;

/// See the page of this module.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inferred;

impl Strategy for Inferred {
    fn next(&self, history: &History) -> Option<Request> {
        if history.samples.is_empty() {
            return first(history);
        }
        let stages = [
            remembered,
            second_count,
            most_telling,
            doubling,
            moving::further,
            surer,
        ];
        let mut requests = stages.into_iter().filter_map(|stage| stage(history));
        requests.find(|request| !history.has_failed(&request.setting))
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        self.choose_where(history, &|_| true)
    }

    fn choose_where(&self, history: &History, may: &dyn Fn(&Setting) -> bool) -> Option<Choice> {
        let arrived = |one: &Sample| -> bool {
            one.rate() > units::Rate::ZERO && moving::counts(history, one)
        };
        let sampled = |setting: &Setting| {
            let mut of_it = history.samples.iter().filter(|one| one.setting == *setting);
            may(setting) && of_it.any(arrived)
        };
        let chosen = match history.table() {
            Some(table) => {
                let table = table.within(history, may)?;
                table.settings.get(table.best(sampled)?)?.clone()
            }
            None => highest(history, sampled)?,
        };
        let sample = history
            .samples
            .iter()
            .rposition(|one| one.setting == chosen)?;
        Some(Choice {
            sample,
            because: because(history, history.samples.get(sample)?),
        })
    }
}

fn first(history: &History) -> Option<Request> {
    let streams = match history.plan.searches(Axis::Streams) {
        true => StreamCount::ONE,
        false => history.plan.base.streams,
    };
    Some(Request {
        setting: history.setting(streams, Window::Auto),
        plan: history.sample_plan()?,
        purpose: Purpose::Streams,
        why: "one stream with everything as the host has it".to_owned(),
    })
}

/// What an earlier search recommended, as far as this one may recommend it.
fn remembered(history: &History) -> Option<Request> {
    let allowed = candidates(history);
    let earlier = history.plan.remembered.iter();
    let mut earlier = earlier.filter(|one| is_allowed(history, &allowed, &one.setting));
    let earlier = earlier.next().filter(|_| history.samples.len() == 1)?;
    history.of(&earlier.setting).is_none().then_some(Request {
        setting: earlier.setting.clone(),
        plan: history.sample_plan()?,
        purpose: Purpose::Remembered,
        why: format!(
            "an earlier search ({}) found {} with it",
            earlier.when,
            earlier.goodput.human()
        ),
    })
}

/// Within the bounds of the plan, and but for streams and window like a candidate.
fn is_allowed(history: &History, allowed: &[Setting], setting: &Setting) -> bool {
    let plan = &history.plan;
    let window = setting.window == Window::Auto || plan.searches(Axis::Window);
    let streams = plan.searches(Axis::Streams) && setting.streams <= plan.streams_max;
    let like = |other: &Setting| {
        let same = Setting {
            streams: setting.streams,
            window: setting.window,
            ..other.clone()
        };
        same == *setting
    };
    window && streams && allowed.iter().any(like)
}

/// Another number of streams than the first: what more of them bring must not rest on a model
/// alone.
fn second_count(history: &History) -> Option<Request> {
    let first = history.samples.first()?.streams();
    let is_one = history.samples.iter().all(|one| one.streams() == first);
    let most = history.plan.streams_max;
    let count = StreamCount::new(SECOND).ok()?.min(most);
    let wanted = is_one && history.plan.searches(Axis::Streams) && count != first;
    let plan = history
        .sample_plan()
        .filter(|_| wanted && history.belief().is_some())?;
    Some(Request {
        setting: usual(history, count),
        plan,
        purpose: Purpose::Streams,
        why: "what more streams bring is seen, and not only inferred".to_owned(),
    })
}

/// The sample after which the answer is expected to be worth most.
fn most_telling(history: &History) -> Option<Request> {
    let plan = history.sample_plan()?;
    let table = history.table()?;
    let chosen = table.best(|_| true)?;
    if table.regret(chosen) < REGRET {
        return None;
    }
    let rows =
        (0..table.settings.len()).filter(|row| looks(history, &table.settings[*row]) < LOOKS);
    let telling = rows
        .map(|row| (row, table.gain(row)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, gain)| *gain > GAIN)?;
    let (setting, forecast) = (&table.settings[telling.0], &table.forecasts[telling.0]);
    let rate = |share| units::Rate::from_f64(forecast.quantile(share)).human();
    Some(Request {
        setting: setting.clone(),
        plan,
        purpose: purpose(history, setting),
        why: format!(
            "it may carry {} to {}, and that decides most",
            rate(0.05),
            rate(0.95)
        ),
    })
}

fn looks(history: &History, setting: &Setting) -> usize {
    history
        .samples
        .iter()
        .filter(|one| one.setting == *setting)
        .count()
}

fn purpose(history: &History, setting: &Setting) -> Purpose {
    match setting {
        one if history.of(one).is_some() => Purpose::Confirm,
        one if one.window != Window::Auto => Purpose::Window,
        one if *one == history.setting(one.streams, Window::Auto) => Purpose::Streams,
        _ => Purpose::Alternative,
    }
}

/// Twice the streams, where the samples tell nothing of the path and the last doubling brought
/// something.
fn doubling(history: &History) -> Option<Request> {
    if history.belief().is_some() || !history.plan.searches(Axis::Streams) {
        return None;
    }
    let last = history.samples.last()?;
    let before = history.samples.iter().rev().skip(1).map(Sample::rate).max();
    let brings =
        before.is_none_or(|before| last.rate().as_f64() > (1.0 + GAIN_MIN) * before.as_f64());
    let next = last
        .streams()
        .doubled()
        .filter(|next| brings && *next <= history.plan.streams_max)?;
    Some(Request {
        setting: history.setting(next, last.setting.window),
        plan: history.sample_plan()?,
        purpose: Purpose::Streams,
        why: "to see what more streams bring".to_owned(),
    })
}

/// The answer once more and longer, unless it was seen and is known well.
fn surer(history: &History) -> Option<Request> {
    let chosen = match history.table() {
        Some(table) => table.settings[table.best(|_| true)?].clone(),
        None => history
            .samples
            .get(Inferred.choose(history)?.sample)?
            .setting
            .clone(),
    };
    let was_seen = history.of(&chosen).is_some();
    let is_sure = history.belief().is_some_and(|belief| {
        let promise = belief.promise(&chosen);
        let half = promise
            .interval
            .map_or(f64::INFINITY, |one| one.half_width());
        half < SURE * promise.goodput.as_f64()
    });
    let was_confirmed = history
        .taken_for(Purpose::Confirm)
        .iter()
        .any(|one| one.setting == chosen);
    if was_seen && (is_sure || was_confirmed) {
        return None;
    }
    Some(Request {
        plan: SamplePlan {
            precision: None,
            then: Then::Stop,
            ..history.long_plan()?
        },
        purpose: if was_seen {
            Purpose::Confirm
        } else {
            purpose(history, &chosen)
        },
        setting: chosen,
        why: "it is the answer as far as is known; this look tells whether it lasts".to_owned(),
    })
}

/// Of what was sampled the setting that carried most.
fn highest(history: &History, may: impl Fn(&Setting) -> bool) -> Option<Setting> {
    let samples = history.samples.iter().filter(|one| may(&one.setting));
    let most = samples.max_by_key(|one| one.rate())?;
    Some(most.setting.clone())
}

/// Why a sample's setting is recommended, and what others pay for it.
fn because(history: &History, chosen: &Sample) -> String {
    let reason = reason(history, &chosen.setting);
    let bbr = controls::caution(history, &chosen.setting);
    format!("{reason}{bbr}{}", over_udp::caution(history, chosen))
}

fn reason(history: &History, chosen: &Setting) -> String {
    let Some(table) = history.table() else {
        return "it carried most of what was sampled".to_owned();
    };
    let most = table.forecasts.iter().map(|one| one.quantile(0.5));
    let most = most.fold(0.0, f64::max);
    let most = units::Rate::from_f64(most).human();
    match history.plan.objective {
        Objective::Max => {
            format!("no setting is expected to carry clearly more; the most is {most}")
        }
        Objective::Knee { share } => format!(
            "the least that is expected to reach {:.0} % of the most that any setting carries, \
             {most}",
            share * 100.0
        ),
        Objective::Power => {
            "its goodput is the highest for the round trip that it causes".to_owned()
        }
        Objective::Gentle {
            added_rtt_max,
            loss_max,
        } => {
            let bounds = format!(
                "{} to the round trip and lose no more than {} %",
                added_rtt_max.human(),
                loss_max * 100.0
            );
            match table.keeps_bounds(chosen) {
                true => format!("the most that is expected to add no more than {bounds}"),
                false => {
                    format!("nothing is expected to add no more than {bounds}; this adds least")
                }
            }
        }
    }
}

/// What the budget left open: that another setting may be worth clearly more.
pub(crate) fn untried(history: &History) -> Option<String> {
    let room = history.sample_plan().is_some();
    let table = history.table().filter(|_| !room)?;
    let sampled = table.best(|setting| history.of(setting).is_some())?;
    let best = table.best(|_| true)?;
    let missing = table.worth(best) - table.worth(sampled);
    let setting = &table.settings[best];
    (missing > REGRET).then(|| {
        format!(
            "{} may carry more, or as much for less: the budget ended before that was tried",
            name(history, setting)
        )
    })
}
