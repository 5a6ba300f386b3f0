//! Sentences about a search: what to use, and why.

use record::StreamCount;
use record::{
    Answer, End, FailedSample, Interval, Kind, Purpose, Recommended, Sample, Sysctl, Transport,
    Tune, Window,
};
use units::Rate;

use super::run::cause;
use super::{full_stop, objective, over_udp, plain, point, sentence, setting, streams};
use draw::format;

/// Which host a kernel setting is for, what it is there, and why it should be another.
pub fn sysctl(line: &Sysctl, kind: Kind) -> String {
    let end = match line.end {
        End::Sender => "sending",
        End::Receiver => "receiving",
    };
    let made = match kind {
        Kind::Live => "",
        Kind::Emulated => "emulated ",
        Kind::Simulated => "simulated ",
    };
    let now = line.now.map(|size| format::size(size.get()));
    let now = now.map_or(String::new(), |size| format!("now {size}; "));
    format!("on the {made}{end} host: {now}{}", line.why)
}

/// The recommendation of a search in one sentence.
pub fn recommendation(tune: &Tune) -> String {
    let Some(answer) = &tune.answer else {
        return "This search was stopped before it had an answer.".to_owned();
    };
    let use_it = format!("Use {}", recommended(&answer.recommended));
    match gain(tune, &answer.recommended) {
        Some(gain) => format!("{use_it}, {gain} times one stream with the host's defaults."),
        None => format!("{use_it}."),
    }
}

/// A setting with its goodput: `8 streams with automatic windows: 40.7 Mbit/s`.
fn recommended(chosen: &Recommended) -> String {
    let rate = format::rate_with_margin(chosen.goodput_bits_per_second, chosen.interval.as_ref());
    let mut how = how(chosen.streams, chosen.congestion.as_deref(), chosen.pacing);
    if !chosen.moving.is_default() {
        how.push_str(&format!(", {}", chosen.moving));
    }
    let point = match chosen.transport {
        Transport::Tcp => point(chosen.streams, chosen.window),
        Transport::Udp => over_udp(chosen.streams.get()),
    };
    format!("{point}{how}: {rate}")
}

/// What sets a setting apart beside streams and window: `, congestion control bbr`.
fn how(streams: StreamCount, congestion: Option<&str>, pacing: Option<Rate>) -> String {
    let each = if streams == StreamCount::ONE {
        ""
    } else {
        "each "
    };
    let congestion = congestion.map(|name| format!(", congestion control {}", plain(name)));
    let pacing = pacing.map(|rate| format!(", {each}paced at {}", rate.human()));
    [congestion, pacing].into_iter().flatten().collect()
}

/// How many times one default stream the recommendation is; `None` unless both have settled.
fn gain(tune: &Tune, chosen: &Recommended) -> Option<String> {
    let sample = tune.default_sample()?;
    let default = &sample.run;
    let is_default =
        default.setting.streams == StreamCount::ONE && default.setting.window == Window::Auto;
    let promised = sample
        .promise
        .as_ref()
        .map(|promise| promise.interval.as_ref());
    let interval = promised.unwrap_or(default.interval.as_ref());
    let times = factor(chosen.interval.as_ref(), interval);
    times.filter(|_| is_default)
}

/// How many times `small` is in `large`, from the ends of their intervals: `6.1 to 16`. `None`
/// without both, and where that is not worth saying.
pub(crate) fn factor(large: Option<&Interval>, small: Option<&Interval>) -> Option<String> {
    let (large, small) = (large?, small?);
    let least = large.low.as_f64() / small.high.as_f64();
    let most = large.high.as_f64() / small.low.as_f64();
    let texts = [least, most].map(|ratio| format!("{ratio:.1}"));
    (least > 1.05 && most.is_finite()).then(|| match texts[0] == texts[1] {
        true => texts[0].clone(),
        false => texts.join(" to "),
    })
}

/// A search in sentences: why this point, what limits it, what it costs, what was tried.
pub fn tune(tune: &Tune) -> Vec<String> {
    let mut sentences = match &tune.answer {
        Some(answer) => reasons(tune, answer),
        None => seen_so_far(tune).into_iter().collect(),
    };
    sentences.push(effort(tune));
    sentences.extend(alternative(tune));
    sentences.extend(tune.drift.as_deref().map(drifted));
    sentences.extend(tune.untried.as_deref().map(left_untried));
    sentences.extend(tune.failed.iter().map(failed));
    sentences.extend(tune.left_behind.as_deref().map(sentence));
    let cut = tune
        .cut_because
        .as_deref()
        .filter(|_| tune.answer.is_some());
    sentences.extend(cut.map(cut_short));
    sentences.extend(which_to_believe(tune.target.kind).map(str::to_owned));
    sentences
}

fn reasons(tune: &Tune, answer: &Answer) -> Vec<String> {
    let mut sentences = vec![sentence(&answer.recommended.because)];
    sentences.extend(answer.unpaced.as_ref().map(unpaced));
    let own = answer.own_control.as_ref();
    sentences.extend(own.map(match answer.recommended.transport {
        Transport::Tcp => own_control,
        Transport::Udp => over_tcp,
    }));
    sentences.push(cause("It is", &answer.limit));
    sentences.extend(default_limit(tune, answer));
    sentences.extend(cost_in_delay(&answer.recommended));
    sentences
}

fn unpaced(unpaced: &Recommended) -> String {
    format!(
        "Where streams cannot be paced: {}. {}",
        recommended(unpaced),
        sentence(&unpaced.because)
    )
}

fn over_tcp(own: &Recommended) -> String {
    format!("For programs that send over TCP: {}.", recommended(own))
}

fn own_control(own: &Recommended) -> String {
    format!(
        "Where a program leaves the congestion control to the host: {}; \
         `--axes streams,window` searches for the best of it.",
        recommended(own)
    )
}

/// What a stopped search saw, and that it is no answer.
fn seen_so_far(tune: &Tune) -> Option<String> {
    let runs = tune.samples.iter().map(|sample| &sample.run);
    let most = runs.max_by_key(|run| run.goodput_bits_per_second)?;
    Some(format!(
        "So far the most was {} with {}{}. That is no recommendation: what else there is was not \
            looked at.",
        format::rate(most.goodput_bits_per_second),
        setting(&most.setting),
        how(most.setting.streams, None, most.setting.pacing),
    ))
}

/// Which of several answers about one path to believe, and why they differ; nothing to add where
/// the path itself was measured.
pub fn which_to_believe(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Live => None,
        Kind::Emulated => Some(
            "Believe a measurement of the live path over this one, and this one over `sim:` and \
                `predict`: here real TCP crosses a link made after the path file, which may lack \
                what the real path has.",
        ),
        Kind::Simulated => Some(
            "Believe a measurement of the live path over `emu:`, that over this one, and this one \
                over `predict`: here TCP is simulated packet by packet, without real hosts, and \
                each seed loses other packets.",
        ),
    }
}

/// Why rows do not count for what they showed, each with what tells the row.
pub fn doubts(tune: &Tune) -> Vec<String> {
    let first = tune.samples.first();
    let usual = first.and_then(|first| first.run.setting.congestion.as_deref());
    let doubt = |sample| doubt(sample, usual);
    tune.samples.iter().filter_map(doubt).collect()
}

fn doubt(sample: &Sample, usual: Option<&str>) -> Option<String> {
    let doubt = sample.doubt.as_ref()?;
    let run = &sample.run;
    let counts = match doubt.counts_for_bits_per_second {
        Some(bits) => format!("counts for {}", format::rate(bits)),
        None => "does not count".to_owned(),
    };
    Some(format!(
        "{} x {}, {}: {counts}, {}",
        run.setting.streams,
        format::window_with(&run.setting, usual),
        format::rate(run.goodput_bits_per_second),
        full_stop(&doubt.because)
    ))
}

/// What another congestion control would have given, where that was sampled without being asked
/// for.
fn alternative(tune: &Tune) -> Option<String> {
    let is_alternative = |sample: &&record::Sample| {
        sample.purpose == Purpose::Alternative && sample.run.setting.transport == Transport::Tcp
    };
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
            streams(run.setting.streams.get()),
            format::rate(run.goodput_bits_per_second)
        )
    })
}

fn drifted(what: &str) -> String {
    format!(
        "The path seems to have changed while it was measured: {}",
        sentence(what)
    )
}

fn left_untried(what: &str) -> String {
    format!("{} `--budget` gives it more.", sentence(what))
}

fn failed(failed: &FailedSample) -> String {
    let (what, why) = (setting(&failed.setting), sentence(&failed.because));
    format!("Not sampled: {what}. {why}")
}

/// What limits one default stream, where that is not the recommendation itself.
fn default_limit(tune: &Tune, answer: &Answer) -> Option<String> {
    let default = tune.samples.get(answer.default_sample?)?;
    let minute = default.promise.as_ref();
    let minute = minute.map(|promise| promise.goodput_bits_per_second);
    let rate = format::rate(minute.unwrap_or(default.run.goodput_bits_per_second));
    let subject = format!("One stream with the host's defaults, {rate}, was");
    (answer.default_sample != Some(answer.recommended.sample))
        .then(|| cause(&subject, &answer.limit_default))
}

fn cost_in_delay(chosen: &Recommended) -> Option<String> {
    let (idle, loaded) = (chosen.rtt_unloaded_seconds?, chosen.rtt_loaded_seconds?);
    Some(format!(
        "Its cost to others: the round trip goes from {} ms to {} ms ({} ms).",
        format::milliseconds(idle),
        format::milliseconds(loaded),
        format::added_milliseconds(loaded - idle),
    ))
}

fn effort(tune: &Tune) -> String {
    let settings = match tune.samples.len() {
        1 => "1 setting was".to_owned(),
        n => format!("{n} settings were"),
    };
    let (time, bytes) = (
        format::time(tune.cost.elapsed.as_secs_f64()),
        format::size(tune.cost.bytes.get()),
    );
    let clock = match tune.target.kind {
        Kind::Simulated => " of simulated time",
        Kind::Live | Kind::Emulated => "",
    };
    format!(
        "{settings} tried in {time}{clock}, moving {bytes}; sought: {}.",
        objective(&tune.objective)
    )
}

fn cut_short(because: &str) -> String {
    format!(
        "The search was cut short; this is the best setting it tried: {}",
        sentence(because)
    )
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    fn answer(body: &mut Tune) -> &mut Answer {
        body.answer.as_mut().unwrap()
    }

    #[test]
    fn a_stopped_search_recommends_nothing_and_says_what_was_seen() {
        let mut body = synthetic::tune(7).body;
        body.answer = None;
        body.cut_because = Some("cancelled".to_owned());
        let text = format!("{} {}", recommendation(&body), tune(&body).join(" "));
        assert!(!text.contains("Use "), "{text}");
        assert!(text.contains("So far the most was "), "{text}");
        assert!(text.contains("That is no recommendation"), "{text}");
    }

    #[test]
    fn a_row_that_counts_for_less_says_why() {
        let mut body = synthetic::tune(7).body;
        body.samples[1].doubt = Some(record::Doubt {
            counts_for_bits_per_second: Some(5_000_000),
            because: "it was short".to_owned(),
        });
        let doubts = doubts(&body);
        assert!(
            doubts[0].ends_with(": counts for 5.00 Mbit/s, it was short."),
            "{doubts:?}"
        );
    }

    #[test]
    fn a_kernel_setting_names_its_host_and_only_what_is_known_of_it() {
        let mut line = answer(&mut synthetic::tune(7).body).sysctl.remove(0);
        line.why = "so".to_owned();
        assert_eq!(
            sysctl(&line, Kind::Emulated),
            "on the emulated receiving host: now 213 kB; so"
        );
        line.now = None;
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
        let recommended = &mut answer(&mut body).recommended;
        recommended.congestion = Some("bbr".to_owned());
        recommended.pacing = Some(Rate::from_bits_per_second(5_000_000));
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
        let default = body.default_sample().unwrap().run.interval;
        answer(&mut body).recommended.interval = default;
        assert!(!recommendation(&body).contains("times"));
    }

    #[test]
    fn a_gain_is_a_range_and_needs_two_settled_runs() {
        let interval = |low, high| {
            Interval::new(
                units::Rate::from_bits_per_second(low),
                units::Rate::from_bits_per_second(high),
            )
        };
        let (small, large) = (interval(4, 8), interval(40, 44));
        assert_eq!(
            factor(Some(&large), Some(&small)).as_deref(),
            Some("5.0 to 11.0")
        );
        let exact = interval(10, 10);
        assert_eq!(
            factor(Some(&interval(30, 30)), Some(&exact)).as_deref(),
            Some("3.0")
        );
        assert_eq!(factor(Some(&large), None), None);
        assert_eq!(factor(Some(&small), Some(&interval(0, 3))), None);
        let mut body = synthetic::tune(7).body;
        body.samples[0].promise.as_mut().unwrap().interval = None;
        assert!(!recommendation(&body).contains("times"));
    }
}
