//! Sentences about a document, the same in the terminal and on the page.

mod clamp;
pub mod simulated;
pub mod sweep;

use record::{
    Demo, Direction, End, Kind, Limit, Measure, Objective, Purpose, Run, Setting, Sysctl, Tune,
    Unsettled, Window,
};

use crate::comparison::{self, Role};
use crate::figure;

/// `text` in one line, without characters that could steer a terminal.
pub fn plain(text: &str) -> String {
    let safe = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    safe.collect()
}

/// `text` as a sentence: a capital at the front, a full stop at the end.
///
/// ```
/// assert_eq!(report::words::sentence("the path is full"), "The path is full.");
/// ```
pub fn sentence(text: &str) -> String {
    let text = plain(text);
    let mut rest = text.trim().chars();
    let Some(first) = rest.next() else {
        return String::new();
    };
    let stop = if text.trim_end().ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{}{stop}", first.to_uppercase(), rest.as_str())
}

/// So many of something: `1 visit`, `30 visits`.
///
/// ```
/// assert_eq!(report::words::count(1, "visit"), "1 visit");
/// assert_eq!(report::words::count(30, "visit"), "30 visits");
/// ```
pub fn count(number: u64, name: &str) -> String {
    match number {
        1 => format!("1 {name}"),
        many => format!("{many} {name}s"),
    }
}

/// A setting in a few words: `8 streams with automatic windows`.
pub fn setting(setting: &Setting) -> String {
    point(setting.streams, setting.window)
}

/// Streams and window in a few words.
///
/// ```
/// use record::Window;
/// assert_eq!(report::words::point(8_u32, Window::Bytes(65_536)), "8 streams with windows of 64KiB");
/// assert_eq!(report::words::point(1_u32, Window::Auto), "1 stream with an automatic window");
/// ```
pub fn point(streams: impl Into<u32>, window: Window) -> String {
    match (streams.into(), window) {
        (1, Window::Auto) => "1 stream with an automatic window".to_owned(),
        (1, fixed) => format!("1 stream with a window of {}", figure::window(fixed)),
        (n, Window::Auto) => format!("{n} streams with automatic windows"),
        (n, fixed) => format!("{n} streams with windows of {}", figure::window(fixed)),
    }
}

/// Which end sent, seen from this one.
pub fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "sending",
        Direction::Reverse => "receiving",
        Direction::Both => "both ways at once",
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

/// What a limit means, to stand after "limited by".
pub fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Link => "the link, which is full",
        Limit::Loss => "packet loss",
        Limit::Policer => "a policer, which drops what exceeds a rate",
        Limit::ShallowQueue => "a queue too short for bursts",
        Limit::Reordering => "packets that arrive out of order",
        Limit::PathMtu => "small packets",
        Limit::PerFlow => "something that holds each stream to one rate",
        Limit::ReceiveBuffer => "the receiver's buffer",
        Limit::SlowReader => "the receiving program, which reads slowly",
        Limit::SendBuffer => "the sender's buffer",
        Limit::Application => "the sending program",
        Limit::Host => "a processor",
        Limit::Network => "the network",
        Limit::SenderDisk => "the sender's disk",
        Limit::ReceiverDisk => "the receiver's disk",
        Limit::SenderProcessor => "the sender's processors",
        Limit::ReceiverProcessor => "the receiver's processors",
        Limit::RateLimit => "the rate that was set",
        Limit::Gentle => "being gentle",
        Limit::RoundTrips => "round trips",
        Limit::Several => "several parts",
        Limit::TooShort => "the length of the run",
        Limit::Unknown => "something that the numbers do not show",
    }
}

/// What was sought, to stand after "sought:".
pub fn objective(objective: &Objective) -> String {
    match objective {
        Objective::Knee { share } => {
            format!(
                "the fewest streams that reach {} of the highest goodput",
                figure::percent(*share)
            )
        }
        Objective::Max => "the highest goodput".to_owned(),
        Objective::Power => "the highest goodput per loaded round-trip time".to_owned(),
        Objective::Gentle {
            added_rtt_max_seconds,
            retransmitted_max_ratio,
        } => format!(
            "the highest goodput that adds at most {} and sends at most {} again",
            figure::time(*added_rtt_max_seconds),
            figure::percent(*retransmitted_max_ratio),
        ),
    }
}

/// Why a run was not faster; `None` when nobody asked.
pub fn why(run: &Run) -> Option<String> {
    let because = run.limit_because.as_deref().unwrap_or_default();
    let reach = run.could_reach_bits_per_second;
    Some(cause("It was", run.limit?, &run.limit_or, because, reach))
}

fn cause(subject: &str, found: Limit, or: &[Limit], because: &str, reach: Option<u64>) -> String {
    let others: Vec<String> = or.iter().map(|or| format!("by {}", limit(*or))).collect();
    let or = match others.is_empty() {
        true => String::new(),
        false => format!(" (or {})", others.join(" or ")),
    };
    let head = format!("{subject} limited by {}{or}", limit(found));
    let mut sentences = vec![sentence(&head), sentence(because)];
    sentences
        .extend(reach.map(|bits| format!("Without that it could reach {}.", figure::rate(bits))));
    sentences.join(" ").trim_end().to_owned()
}

/// A measurement in sentences: how fast, why not faster, and whether the figure can be trusted.
pub fn measure(measure: &Measure) -> Vec<String> {
    let run = &measure.run;
    let all = [why(run), clamp::clamped(run), unsettled(run)];
    all.into_iter().flatten().collect()
}

fn unsettled(run: &Run) -> Option<String> {
    match (run.steady.settled, run.steady.unsettled) {
        (true, _) => None,
        (false, Some(Unsettled::TotalsOnly)) => {
            Some("The far end gave only totals, so the figures are over the whole run.".to_owned())
        }
        (false, _) => Some(
            "The rate never settled, so the figures are over the later half; a longer run would tell more."
                .to_owned(),
        ),
    }
}

/// Which host a kernel setting is for, what it is there, and why it should be another.
pub fn sysctl(line: &Sysctl, kind: Kind) -> String {
    let end = match line.host {
        End::Sender => "sending",
        End::Receiver => "receiving",
    };
    let made = match kind {
        Kind::Live => "",
        Kind::Emulated => "emulated ",
        Kind::Simulated => "simulated ",
    };
    let now = line.now_bytes.map(figure::size);
    let now = now.map_or(String::new(), |size| format!("now {size}; "));
    format!("on the {made}{end} host: {now}{}", line.why)
}

/// The recommendation of a search in one sentence.
pub fn recommendation(tune: &Tune) -> String {
    let chosen = &tune.recommended;
    let rate =
        figure::rate_with_margin(chosen.throughput_bits_per_second, chosen.interval.as_ref());
    let how = how(chosen.congestion.as_deref(), chosen.pacing_bits_per_second);
    let use_it = format!("Use {}{how}: {rate}", point(chosen.streams, chosen.window));
    match gain(tune) {
        Some(gain) => format!("{use_it}, {gain} times one stream with the host's defaults."),
        None => format!("{use_it}."),
    }
}

/// What sets a setting apart beside streams and window: `, congestion control bbr`.
fn how(congestion: Option<&str>, pacing: Option<u64>) -> String {
    let congestion = congestion.map(|name| format!(", congestion control {}", plain(name)));
    let pacing = pacing.map(|rate| format!(", each paced at {}", figure::rate(rate)));
    [congestion, pacing].into_iter().flatten().collect()
}

/// How many times the first sample, one default stream, the recommendation is.
fn gain(tune: &Tune) -> Option<String> {
    let first = tune.samples.first()?;
    let is_default = first.run.setting.streams == 1 && first.run.setting.window == Window::Auto;
    let (tuned, default) = (
        tune.recommended.throughput_bits_per_second,
        first.run.goodput_bits_per_second,
    );
    ratio(tuned, default).filter(|_| is_default)
}

/// How many times `small` is in `large`; `None` where that is not worth saying.
fn ratio(large: u64, small: u64) -> Option<String> {
    let ratio = large as f64 / small as f64;
    (ratio.is_finite() && ratio > 1.05).then(|| format!("{ratio:.1}"))
}

/// A search in sentences: why this point, what limits it, what it costs, what was tried.
pub fn tune(tune: &Tune) -> Vec<String> {
    let mut sentences = vec![sentence(&tune.recommended.because)];
    sentences.push(cause(
        "It is",
        tune.limit_recommended.limit,
        &tune.limit_recommended.limit_or,
        &tune.limit_recommended.limit_because,
        tune.limit_recommended.could_reach_bits_per_second,
    ));
    sentences.extend(default_limit(tune));
    sentences.extend(cost_in_delay(tune));
    sentences.push(effort(tune));
    sentences.extend(alternative(tune));
    sentences.extend(tune.drift.as_deref().map(drifted));
    sentences.extend(tune.cut_because.as_deref().map(cut_short));
    sentences
}

/// What another congestion control would have given, where that was sampled without being asked for.
fn alternative(tune: &Tune) -> Option<String> {
    let is_alternative = |sample: &&record::Sample| sample.purpose == Purpose::Alternative;
    let recommended = tune.recommended_sample()?;
    let mut alternatives = tune.samples.iter().filter(is_alternative);
    // Where they were asked for there are several, and the best of them is a candidate.
    let (sample, None) = (alternatives.next()?, alternatives.next()) else {
        return None;
    };
    let (run, chosen) = (&sample.run, &recommended.run);
    let name = run.setting.congestion.as_deref()?;
    (chosen.setting.congestion.as_deref() != Some(name)).then(|| {
        format!(
            "{name} with {}: {}.",
            streams(run.setting.streams),
            figure::rate(run.goodput_bits_per_second)
        )
    })
}

fn streams(count: u16) -> String {
    match count {
        1 => "1 stream".to_owned(),
        several => format!("{several} streams"),
    }
}

fn drifted(what: &str) -> String {
    format!(
        "The path seems to have changed while it was measured: {}",
        sentence(what)
    )
}

/// What limits one default stream, where that is not the recommendation itself.
fn default_limit(tune: &Tune) -> Option<String> {
    let subject = "One stream with the host's defaults was";
    let (because, reach) = (&tune.limit_because, tune.could_reach_bits_per_second);
    (tune.recommended.sample != 0)
        .then(|| cause(subject, tune.limit, &tune.limit_or, because, reach))
}

fn cost_in_delay(tune: &Tune) -> Option<String> {
    let (idle, loaded) = (
        tune.recommended.rtt_unloaded_seconds?,
        tune.recommended.rtt_loaded_seconds?,
    );
    Some(format!(
        "Its cost to others: the round trip goes from {} ms to {} ms ({} ms).",
        figure::milliseconds(idle),
        figure::milliseconds(loaded),
        figure::added_milliseconds(loaded - idle),
    ))
}

fn effort(tune: &Tune) -> String {
    let settings = match tune.samples.len() {
        1 => "1 setting was".to_owned(),
        n => format!("{n} settings were"),
    };
    let (time, bytes) = (
        figure::time(tune.cost.seconds),
        figure::size(tune.cost.bytes),
    );
    format!(
        "{settings} tried in {time}, moving {bytes}; sought: {}.",
        objective(&tune.objective)
    )
}

fn cut_short(because: &str) -> String {
    format!(
        "The search was cut short, so this is the best of what was seen: {}",
        sentence(because)
    )
}

/// A demonstration in one sentence: the slowest of the usual settings beside the tuned one.
pub fn demo(demo: &Demo) -> String {
    let settings = comparison::settings(demo);
    let usual = settings
        .iter()
        .filter(|compared| compared.role == Role::Usual);
    let Some(slowest) = usual.min_by_key(|compared| compared.run.goodput_bits_per_second) else {
        return recommendation(&demo.tune);
    };
    let (slow, tuned) = (slowest.run.goodput_bits_per_second, &demo.tune.recommended);
    format!(
        "One path, the same TCP: {} with \u{201c}{}\u{201d}, {} with {}{}.",
        figure::rate(slow),
        slowest.label,
        figure::rate(tuned.throughput_bits_per_second),
        point(tuned.streams, tuned.window),
        times_as_much(tuned.throughput_bits_per_second, slow),
    )
}

fn times_as_much(large: u64, small: u64) -> String {
    match ratio(large, small) {
        Some(ratio) => format!(": {ratio} times as much"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn control_characters_cannot_reach_a_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\nc"), "a [2Jb c");
    }

    #[test]
    fn sentences_get_one_full_stop() {
        assert_eq!(sentence("it is so."), "It is so.");
        assert_eq!(sentence(" "), "");
    }

    #[test]
    fn a_kernel_setting_names_its_host_and_only_what_is_known_of_it() {
        let mut line = synthetic::tune(7).body.sysctl.remove(0);
        line.why = "so".to_owned();
        assert_eq!(
            sysctl(&line, Kind::Emulated),
            "on the emulated receiving host: now 213 kB; so"
        );
        line.now_bytes = None;
        assert_eq!(sysctl(&line, Kind::Live), "on the receiving host: so");
    }

    #[test]
    fn the_recommendation_names_point_rate_and_gain() {
        let text = recommendation(&synthetic::tune(7).body);
        assert!(
            text.starts_with("Use 8 streams with automatic windows: "),
            "{text}"
        );
        assert!(text.contains(" times one stream"), "{text}");
    }

    #[test]
    fn the_recommendation_names_what_else_to_set() {
        let mut body = synthetic::tune(7).body;
        body.recommended.congestion = Some("bbr".to_owned());
        body.recommended.pacing_bits_per_second = Some(5_000_000);
        let text = recommendation(&body);
        let wanted = ", congestion control bbr, each paced at 5.00 Mbit/s: ";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn what_was_told_unasked_is_a_sentence_and_what_was_asked_for_is_not() {
        let mut body = synthetic::tune(7).body;
        for told in [5, 6] {
            body.samples[told].purpose = Purpose::Alternative;
            body.samples[told].run.setting.congestion = Some("bbr".to_owned());
            let sentences = tune(&body);
            let sentence = sentences.iter().any(|text| text.starts_with("bbr with "));
            assert_eq!(sentence, told == 5, "{sentences:?}");
        }
    }

    #[test]
    fn a_default_stream_that_wins_is_not_said_to_gain() {
        let mut body = synthetic::tune(7).body;
        body.recommended.throughput_bits_per_second = body.samples[0].run.goodput_bits_per_second;
        assert!(!recommendation(&body).contains("times"));
    }
}
