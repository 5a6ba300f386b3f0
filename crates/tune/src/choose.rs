//! Which sample to recommend: [`models::choose`] over the samples that count (`standing.rs`).

use models::{Candidate, Rule};
use observe::{Setting, Window};
use stats::{CONFIDENCE, Estimate, Interval};
use units::Rate;

use crate::controls;
use crate::history::History;
use crate::over_udp;
use crate::plan::Objective;
use crate::standing;
use crate::strategy::Choice;
use crate::tuning::{Sample, Standing};

/// The recommendation; `None` when nothing carried data.
pub(crate) fn choose(history: &History) -> Option<Choice> {
    choose_where(history, |_| true)
}

/// The recommendation among the settings that `may` be used.
pub(crate) fn choose_where(history: &History, may: impl Fn(&Setting) -> bool) -> Option<Choice> {
    among(history, &standing::standings(history), may)
}

/// What would be recommended if every sample that counts lasted as it was seen.
pub(crate) fn choose_as_shown(history: &History) -> Option<Choice> {
    let believed = |standing| match standing {
        Standing::CountsFor { .. } => Standing::Counts,
        other => other,
    };
    let standings = standing::standings(history).into_iter().map(believed);
    among(history, &standings.collect::<Vec<_>>(), |_| true)
}

fn among(
    history: &History,
    standings: &[Standing],
    may: impl Fn(&Setting) -> bool,
) -> Option<Choice> {
    let samples = history.samples.iter().zip(standings).enumerate();
    let counting = samples.filter(|(_, (sample, _))| may(&sample.setting));
    let counting = counting.filter_map(|(index, (sample, standing))| {
        Some((index, candidate(history, sample, standing)?))
    });
    let (places, candidates): (Vec<usize>, Vec<Candidate>) = counting.unzip();
    let (preface, rule) = rule(history, &candidates);
    let chosen = models::choose(&candidates, rule).ok()?;
    let place = |index: usize| {
        places
            .get(index)
            .and_then(|place| history.samples.get(*place))
    };
    let name = |index| place(index).map_or(String::new(), |one| standing::name(history, one));
    let sample = *places.get(chosen.index)?;
    let chosen_sample = history.samples.get(sample)?;
    let caution = controls::caution(history, chosen_sample);
    let caution_udp = over_udp::caution(history, chosen_sample);
    let because = chosen.because(&candidates, name);
    Some(Choice {
        sample,
        because: format!("{preface}{because}{caution}{caution_udp}"),
    })
}

/// What is asked of the candidates, and what to say first where that is not all that was asked for.
fn rule(history: &History, candidates: &[Candidate]) -> (String, Rule) {
    let delays = candidates.iter().any(|one| one.rtt_loaded.is_some());
    let blind = || {
        (
            "no round-trip time is known under load; ".to_owned(),
            Rule::Max,
        )
    };
    match history.plan.objective {
        Objective::Max => (String::new(), Rule::Max),
        Objective::Knee { share } => (String::new(), Rule::Knee(share)),
        Objective::Power | Objective::Gentle { .. } if !delays => blind(),
        Objective::Power => (String::new(), Rule::Power),
        Objective::Gentle {
            added_rtt_max,
            loss_max,
        } => {
            let budget = format!(
                "{} of added delay and {} % of loss",
                added_rtt_max.human(),
                loss_max * 100.0
            );
            match standing::keeps_any(history) {
                Some(true) => (format!("of what keeps within {budget}, "), Rule::Max),
                Some(false) => (
                    format!("nothing is known to keep within {budget}; "),
                    Rule::LeastDelay,
                ),
                None => blind(),
            }
        }
    }
}

/// What `models` is told of a sample; `None` of one that does not count.
fn candidate(history: &History, sample: &Sample, standing: &Standing) -> Option<Candidate> {
    Some(Candidate {
        streams: sample.streams().get().into(),
        window_rank: rank(history, sample.setting.window),
        goodput: counted_goodput(sample, standing)?,
        rtt_loaded: sample.summary.rtt_loaded,
        cost: None,
    })
}

/// What a sample counts for; `None` where it does not count.
pub(crate) fn counted_goodput(sample: &Sample, standing: &Standing) -> Option<Estimate<Rate>> {
    let shown = sample.goodput();
    match standing {
        Standing::SetAside { .. } => None,
        Standing::CountsFor { goodput, .. } => Some(Estimate::bare(*goodput)),
        Standing::Counts => Some(Estimate {
            value: shown.mean,
            interval: shown.interval.map(|interval| Interval {
                low: interval.low,
                high: interval.high,
                confidence: CONFIDENCE,
            }),
        }),
    }
}

/// Automatic, then the smaller ones.
fn rank(history: &History, window: Window) -> u32 {
    let smaller = history.samples.iter().map(|sample| sample.setting.window);
    let mut smaller: Vec<Window> = smaller.filter(|other| *other < window).collect();
    smaller.sort_unstable();
    smaller.dedup();
    u32::try_from(smaller.len()).unwrap_or(u32::MAX)
}
