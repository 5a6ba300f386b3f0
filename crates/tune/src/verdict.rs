//! What holds a setting back, as the inferred path says it.

use inference::Binding;
use observe::{Context, Limit, Setting, StreamCount, Transport, Verdict, Window, diagnose};
use units::{Bytes, Rate};

use crate::belief::Belief;
use crate::history::History;
use crate::tuning::Sample;

/// A cause that is less likely is not named.
const LIKELY: f64 = 0.15;
/// One that is likelier needs no word on how likely it is.
const SURE: f64 = 0.9;
/// What a cause takes less of is no gain.
const GAIN_MIN: f64 = 1.05;

/// What holds a sample's setting back; where nothing is known of the path, what its own figures
/// say.
pub(crate) fn verdict(history: &History, sample: &Sample) -> Verdict {
    let alone = || diagnose(&sample.summary, &Context::alone(&sample.observation));
    let Some(belief) = history.belief() else {
        return alone();
    };
    let binding = belief.binding(&sample.setting);
    let Some(first) = binding.first().cloned() else {
        return alone();
    };
    let carries = belief.promise(&sample.setting).goodput;
    let others = binding
        .iter()
        .skip(1)
        .filter(|one| one.probability >= LIKELY);
    let reach = Rate::from_f64(first.without);
    let gains = reach.as_f64() > GAIN_MIN * carries.as_f64() && first.limit != Limit::Link;
    Verdict {
        limit: first.limit,
        or: others.map(|one| one.limit).collect(),
        because: because(belief, &sample.setting, &first),
        window_needed: window_needed(belief, &sample.setting, first.limit),
        could_reach: gains.then_some(reach),
    }
}

/// The window of each stream that fills the path, where a buffer is too small for that.
fn window_needed(belief: &Belief, setting: &Setting, limit: Limit) -> Option<Bytes> {
    let is_buffer = matches!(limit, Limit::ReceiveBuffer | Limit::SendBuffer);
    let product = middle(belief, |path| path.product());
    is_buffer.then(|| Bytes::new((product / f64::from(setting.streams)) as u64))
}

/// The figures that say so, as a sentence for people without a full stop.
fn because(belief: &Belief, setting: &Setting, binding: &Binding) -> String {
    let figures = figures(belief, setting, binding.limit);
    match binding.probability >= SURE {
        true => figures,
        false => format!(
            "{figures}; that is {:.0} % likely",
            100.0 * binding.probability
        ),
    }
}

fn figures(belief: &Belief, setting: &Setting, limit: Limit) -> String {
    let rate = |share| Rate::from_f64(quantile(belief, |path| path.rate, share)).human();
    let others = middle(belief, |path| path.others);
    let beside = if others >= 1.0 {
        ", beside streams of others"
    } else {
        ""
    };
    let window = || {
        let each = setting
            .window
            .fixed()
            .map_or(middle(belief, |path| path.window), Bytes::as_f64);
        Bytes::new(each as u64).human()
    };
    let queue = |share| Bytes::new(quantile(belief, |path| path.queue, share) as u64).human();
    let product = Bytes::new(middle(belief, |path| path.product()) as u64).human();
    match limit {
        Limit::Link => format!(
            "the path carries {} to {}{beside}, and the streams fill it",
            rate(0.05),
            rate(0.95)
        ),
        Limit::Loss => lost(belief),
        Limit::ShallowQueue => format!(
            "its queue of {} to {} is short beside the {product} that fill the path",
            queue(0.05),
            queue(0.95)
        ),
        Limit::ReceiveBuffer | Limit::SendBuffer => {
            format!(
                "a stream has no more than {} on the way, and {product} fill the path",
                window()
            )
        }
        Limit::Application => "the sending program left the connections idle".to_owned(),
        Limit::Host => "the threads that serve the streams had no processor left".to_owned(),
        Limit::RateLimit => "its streams send as fast as they were set to".to_owned(),
        _ => "no part of the path alone explains it".to_owned(),
    }
}

/// How many packets are lost by chance; the least may be none.
fn lost(belief: &Belief) -> String {
    let one_in = |share| 1.0 / quantile(belief, |path| path.loss, share);
    match (one_in(0.9), one_in(0.1)) {
        (most, least) if least.is_finite() => {
            format!("by chance one packet in {most:.0} to {least:.0} is lost")
        }
        (most, _) if most.is_finite() => {
            format!("by chance up to one packet in {most:.0} is lost")
        }
        _ => "packets are lost by chance".to_owned(),
    }
}

fn middle(belief: &Belief, of: impl Fn(&inference::Path) -> f64) -> f64 {
    quantile(belief, of, 0.5)
}

fn quantile(belief: &Belief, of: impl Fn(&inference::Path) -> f64, share: f64) -> f64 {
    belief.posterior().quantile(of, share)
}

/// What people call a setting: `4 streams`, `4 x 4MiB`, `1 stream of bbr`.
pub(crate) fn name(history: &History, setting: &Setting) -> String {
    let paced = if setting.pacing.is_some() {
        "paced "
    } else {
        ""
    };
    let congestion = setting.congestion.as_ref();
    let other = congestion.filter(|_| setting.congestion != history.plan.base.congestion);
    let other = match setting.transport {
        Transport::Tcp => other.map(|name| format!(" of {name}")).unwrap_or_default(),
        Transport::Udp => " over UDP".to_owned(),
    };
    match (setting.window, setting.streams) {
        (Window::Fixed(window), streams) => format!("{streams} x {window}{other}"),
        (Window::Auto, StreamCount::ONE) => format!("1 {paced}stream{other}"),
        (Window::Auto, streams) => format!("{streams} {paced}streams{other}"),
    }
}
