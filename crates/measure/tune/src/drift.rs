//! Signs that the path changed while it was measured.
//!
//! Two are looked for: another shortest round trip in all samples from one on than before, as after
//! a change of route; and a setting that carried something else when it was sampled again. What was
//! seen before such a change says little of now, so it is told beside the recommendation.

use observe::Setting;
use units::Span;

use crate::history::{History, main_direction};
use crate::tuning::{Purpose, Sample};

/// Samples on either side of a change: one alone may have met a queue from beginning to end.
const SAMPLES_EACH: usize = 2;
/// Shortest round trips that differ by more than this share, and this time, are of two routes.
const ROUTE_SHARE: f64 = 0.2;
const ROUTE_MIN: Span = Span::from_millis(2);
/// Goodputs of one setting that differ by more than this factor are of two states of the path.
const RATE_FACTOR: f64 = 1.5;

/// What changed, as a sentence for people without a full stop; `None` when nothing seems to have.
pub(crate) fn drift(history: &History) -> Option<String> {
    route(history).or_else(|| rate(history))
}

fn route(history: &History) -> Option<String> {
    let seen: Vec<Span> = history.samples.iter().filter_map(shortest).collect();
    let splits = SAMPLES_EACH..(seen.len() + 1).saturating_sub(SAMPLES_EACH);
    let mut changes = splits.filter_map(|at| seen.split_at_checked(at));
    changes.find_map(|(before, after)| {
        let (before, after) = (before.iter().min()?, after.iter().min()?);
        let apart = (*before - *after).max(*after - *before);
        let share = apart.as_secs_f64() / before.as_secs_f64();
        (*before > Span::ZERO && share > ROUTE_SHARE && apart > ROUTE_MIN).then(|| {
            format!(
                "the shortest round trip was {} in the first samples and {} in the later ones",
                before.human(),
                after.human()
            )
        })
    })
}

fn shortest(sample: &Sample) -> Option<Span> {
    main_direction(sample)?.tcp.rtt_min
}

fn rate(history: &History) -> Option<String> {
    let confirmed = history.taken_for(Purpose::Confirm);
    confirmed.into_iter().find_map(|later| {
        let earlier = earlier(history, &later.setting)?;
        let (before, after) = (earlier.rate(), later.rate());
        let factor = before.max(after).as_f64() / before.min(after).as_f64();
        let known = earlier.goodput().interval.is_some() && later.goodput().interval.is_some();
        (known && factor > RATE_FACTOR).then(|| {
            format!(
                "{} x {} carried {} first and {} later",
                later.streams(),
                later.setting.window,
                before.human(),
                after.human()
            )
        })
    })
}

fn earlier<'a>(history: &'a History, setting: &Setting) -> Option<&'a Sample> {
    let same = |sample: &&Sample| sample.setting == *setting && sample.purpose != Purpose::Confirm;
    history.samples.iter().find(same)
}
