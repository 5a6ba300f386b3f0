//! What all the baselines share: the samples they take, what these carried, and what may be spent.
//!
//! Left out: cutting the first sample to the bytes of the budget, as nobody knows how fast it will
//! be. The driver ends it when they are delivered.

use observe::{Amount, SamplePlan, StreamCount, Window};
use tune::{Choice, History, Purpose, Request, Sample};
use units::{Bytes, Rate, Span};

/// Less than this, as a share of what is there, is no gain.
pub(super) const GAIN_MIN: f64 = 0.05;

/// The largest window that any of them tries.
const WINDOW_MAX: Bytes = Bytes::from_mib(64);

/// The window that nobody chose: the plan's own.
pub(super) fn default_window(history: &History) -> Window {
    history.plan.base.window
}

/// `wanted` streams, within what the plan allows.
pub(super) fn within_streams_max(history: &History, wanted: f64) -> StreamCount {
    let max = u64::from(history.plan.streams_max.get());
    // As a cast saturates, what is not a number becomes no streams, and those become one.
    let wanted = (wanted.round() as u64).clamp(1, max);
    StreamCount::new(wanted).unwrap_or(StreamCount::ONE)
}

/// Twice the streams, where the plan allows them.
pub(super) fn doubled(history: &History, streams: StreamCount) -> Option<StreamCount> {
    let within = |next: &StreamCount| *next <= history.plan.streams_max;
    streams.doubled().filter(within)
}

/// The largest window that either end grants, as far as the host tells; never above 64 MiB.
pub(super) fn granted_max(history: &History) -> Bytes {
    let granted = history
        .limits()
        .map(|limits| limits.send_fixed_max.max(limits.receive_fixed_max));
    granted.map_or(WINDOW_MAX, |granted| granted.min(WINDOW_MAX))
}

/// What this setting carried, where it was sampled.
pub(super) fn carried(history: &History, streams: StreamCount, window: Window) -> Option<Rate> {
    let sample = history.of(&history.setting(streams, window))?;
    Some(sample.goodput().mean)
}

/// Whether `rate` is clearly more than `before`.
pub(super) fn gains(before: Rate, rate: Rate) -> bool {
    rate.as_f64() > (1.0 + GAIN_MIN) * before.as_f64()
}

/// A sample of the usual length.
pub(super) fn request(
    history: &History,
    streams: StreamCount,
    window: Window,
    purpose: Purpose,
    why: String,
) -> Request {
    Request {
        setting: history.setting(streams, window),
        plan: history.plan.sample_plan(history.rtt_for_sampling()),
        purpose,
        why,
    }
}

/// The highest goodput among the samples that `counts` lets in; of equals the fewest streams, then
/// the smallest window. `None` when nothing arrived in any.
pub(super) fn highest(
    history: &History,
    counts: impl Fn(&Sample) -> bool,
    because: &str,
) -> Option<Choice> {
    // Of several samples of one setting the last counts: it was taken to be surer.
    let all = history.samples.iter().enumerate();
    let all = all.filter(|(_, one)| history.of(&one.setting) == Some(*one));
    let delivered = |sample: &Sample| sample.goodput().mean > Rate::ZERO;
    let all = all.filter(|(_, sample)| delivered(sample) && counts(sample));
    let size = |sample: &Sample| (sample.streams(), sample.setting.window);
    let best = all.min_by(|(_, one), (_, other)| {
        let by_rate = other.goodput().mean.cmp(&one.goodput().mean);
        by_rate.then(size(one).cmp(&size(other)))
    });
    best.map(|(sample, _)| Choice {
        sample,
        because: because.to_owned(),
    })
}

/// The request, cut to what the plan's budget leaves; `None` when that is too little to tell
/// anything.
///
/// See the page of [`super`] for what is bounded.
pub(super) fn within_budget(history: &History, request: Request) -> Option<Request> {
    let Amount::Time(wanted) = request.plan.amount else {
        return Some(request);
    };
    let rtt = history.rtt_for_sampling();
    let least = history.plan.sample_time_min(rtt).min(wanted);
    let left = match history.samples.last() {
        Some(last) => left(history, last),
        None => first_left(history, &request.plan),
    };
    let begun = history.samples.len() < history.plan.budget.samples;
    (begun && left >= least).then(|| Request {
        plan: SamplePlan {
            amount: Amount::Time(wanted.min(left)),
            ..request.plan
        },
        ..request
    })
}

/// Sending time that the budget allows one more sample, with as much around it as the last one had,
/// and as fast as the fastest so far.
fn left(history: &History, last: &Sample) -> Span {
    let around = last.observation.elapsed - last.observation.duration;
    let spent = history.cost().elapsed + around;
    let by_time = history
        .plan
        .budget
        .time
        .map_or(Span::MAX, |most| most - spent);
    let rate = history.rate_best().filter(|rate| *rate > Rate::ZERO);
    let by_bytes = history.bytes_left().zip(rate);
    by_bytes.map_or(by_time, |(bytes, rate)| {
        by_time.min(rate.time_to_send(bytes))
    })
}

/// The same before anything is known.
fn first_left(history: &History, plan: &SamplePlan) -> Span {
    let most = history.plan.budget.time;
    most.map_or(Span::MAX, |most| most - plan.unloaded)
}
