//! What holds a setting back, and what people call it.

use observe::{Setting, StreamCount, Transport, Verdict, Window};

use crate::history::History;
use crate::tuning::Sample;

/// What holds a sample's setting back, as all samples say; where they tell nothing of the path, as
/// it says by itself.
pub(crate) fn verdict(history: &History, sample: &Sample) -> Verdict {
    let belief = history.belief();
    let inferred = belief.and_then(|belief| belief.verdict(&sample.setting));
    inferred.unwrap_or_else(|| inference::verdict(&sample.observation))
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
