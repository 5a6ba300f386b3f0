//! Sentences about a document, the same in the terminal and on the page.

mod clamp;
pub mod copy;
pub mod datagrams;
mod run;
mod search;
pub mod simulated;
pub mod sweep;

use archive::Point;
use record::{
    Direction, Kind, Objective, Punctuality, Setting, StreamDirection, Transport, Window,
};

use units::Span;

use draw::format;
pub(crate) use draw::words::full_stop;
pub use draw::words::{count, limit, plain, sentence};

pub use run::{measure, segments_again, why};
pub(crate) use search::factor;
pub use search::{doubts, recommendation, sysctl, tune, which_to_believe};

/// That this host had no time to emulate the path, which has to be known before any figure.
///
/// ```
/// # use record::Punctuality;
/// # use units::Span;
/// let (bound, worst) = (Span::from_millis(2), Span::from_millis(38));
/// let seen = Punctuality { packets: 1000, late: 70, bound, worst };
/// assert_eq!(
///     report::text::host_was_busy(&seen).unwrap(),
///     "This host was too busy to emulate this path: 7.0 % of its packets were handed over more \
///      than 2.00 ms late, the latest 38.0 ms (1.0 % is the bound). The figures below may be this \
///      host's and not the path's: end other programs, or choose a slower path."
/// );
/// assert_eq!(report::text::host_was_busy(&Punctuality { late: 5, ..seen }), None);
/// ```
pub fn host_was_busy(seen: &Punctuality) -> Option<String> {
    let milliseconds = |span: Span| format::milliseconds(span.as_secs_f64());
    seen.host_was_busy().then(|| {
        format!(
            "This host was too busy to emulate this path: {} of its packets were handed over more \
             than {} ms late, the latest {} ms ({} is the bound). The figures below may be this \
             host's and not the path's: end other programs, or choose a slower path.",
            format::percent(seen.late_share()),
            milliseconds(seen.bound),
            milliseconds(seen.worst),
            format::percent(Punctuality::LATE_SHARE_MAX),
        )
    })
}

/// What the headings of a table of runs mean.
pub const RUNS_LEGEND: &str = "\u{b1}: half the 95 % interval, - where the run was too short or \
    too unsteady for one. RTT: mean round trip beside the streams; added: what of it the streams \
    add to the idle path. resent: share of the bytes. limit: of the first setting and the \
    recommended one.";

/// The same of the settings of a demonstration.
pub const DEMO_LEGEND: &str = "published: what was measured on the real path then. 60 s: what the \
    search expects of a minute, before it has seen this run. \u{b1}: half the 95 % interval, - \
    where there is none. RTT: mean round trip beside the streams; added: what of it the streams \
    add to the idle path.";

/// A setting in a few words: `8 streams with automatic windows`.
pub fn setting(setting: &Setting) -> String {
    let point = match setting.transport {
        Transport::Tcp => point(setting.streams, setting.window),
        Transport::Udp => over_udp(setting.streams.get()),
    };
    format!("{point}{}", moving(setting))
}

/// Streams over UDP, which have no window of the kernel's: `1 stream over UDP`.
pub(crate) fn over_udp(count: u16) -> String {
    format!("{} over UDP", streams(count))
}

/// Streams and window in a few words.
///
/// ```
/// use record::Window;
/// use units::Bytes;
/// let window = Window::Fixed(Bytes::from_kib(64));
/// assert_eq!(report::text::point(8_u32, window), "8 streams with windows of 64KiB");
/// assert_eq!(report::text::point(1_u32, Window::Auto), "1 stream with an automatic window");
/// ```
pub fn point(streams: impl Into<u32>, window: Window) -> String {
    match (streams.into(), window) {
        (1, Window::Auto) => "1 stream with an automatic window".to_owned(),
        (1, fixed) => format!("1 stream with a window of {}", fixed),
        (n, Window::Auto) => format!("{n} streams with automatic windows"),
        (n, fixed) => format!("{n} streams with windows of {}", fixed),
    }
}

/// A setting as it was asked for: `8 x 64KiB, reverse`.
pub fn asked(setting: &Setting) -> String {
    let point = point_in_full(&Point {
        transport: setting.transport,
        streams: setting.streams.into(),
        window: setting.window,
        direction: setting.direction,
        congestion: setting.congestion.clone(),
        pacing: setting.pacing,
        mss: setting.mss,
    });
    format!("{point}{}", moving(setting))
}

/// How another program moves the data, where that is not left to it: `, block 4MiB`.
fn moving(setting: &Setting) -> String {
    match setting.moving.is_default() {
        true => String::new(),
        false => format!(", {}", setting.moving),
    }
}

/// `8 x 64KiB`.
pub(crate) fn streams_and_window(point: &Point) -> String {
    match point.streams {
        // Of a copy that was over before its sender told.
        0 => format!("- x {}", point.window),
        streams => format!("{streams} x {}", point.window),
    }
}

/// The same with all that sets it apart: `8 x 64KiB, reverse, bbr`.
pub(crate) fn point_in_full(point: &Point) -> String {
    let way = match point.direction {
        Direction::Forward => "",
        Direction::Reverse => ", reverse",
        Direction::Both => ", both ways",
    };
    let congestion = point.congestion.as_ref();
    let congestion = congestion.map(|name| format!(", {name}"));
    let pacing = point.pacing;
    let pacing = pacing.map(|rate| format!(", paced at {}", rate.human()));
    let udp = match point.transport {
        Transport::Tcp => "",
        Transport::Udp => ", over UDP",
    };
    format!(
        "{}{udp}{way}{}{}",
        streams_and_window(point),
        congestion.unwrap_or_default(),
        pacing.unwrap_or_default()
    )
}

/// Which end sent, seen from this one.
pub fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "sending",
        Direction::Reverse => "receiving",
        Direction::Both => "both ways at once",
    }
}

/// The same of one stream.
pub fn stream_direction(direction: StreamDirection) -> &'static str {
    match direction {
        StreamDirection::Sending => "sending",
        StreamDirection::Receiving => "receiving",
    }
}

/// The kind of a target, as documents have it.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Live => "live",
        Kind::Emulated => "emulated",
        Kind::Simulated => "simulated",
    }
}

/// What was sought, to stand after "sought:".
pub fn objective(objective: &Objective) -> String {
    match objective {
        Objective::Knee { share } => {
            format!(
                "the fewest streams that reach {} of the highest goodput",
                format::percent(*share)
            )
        }
        Objective::Max => "the highest goodput".to_owned(),
        Objective::Power => "the highest goodput per loaded round-trip time".to_owned(),
        Objective::Gentle {
            added_rtt_max,
            loss_max,
        } => format!(
            "the highest goodput that adds at most {} and resends at most {}",
            format::time(added_rtt_max.as_secs_f64()),
            format::percent(*loss_max),
        ),
    }
}

/// `1 stream`, `8 streams`.
pub fn streams(number: impl Into<u64>) -> String {
    count(number.into(), "stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_cannot_reach_a_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\nc"), "a [2Jb c");
    }
    #[test]
    fn sentences_get_one_full_stop() {
        assert_eq!(sentence("it is so."), "It is so.");
        assert_eq!(sentence(" "), "");
    }
}
