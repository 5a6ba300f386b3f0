//! Which scenarios can be run.

use netpath::CrossTraffic;
use units::{Bytes, Rate, Span, Way};

use crate::scenario::{Scenario, ScenarioError, Work};
use crate::setup::{WINDOW_MAX, auto_window, cross_variant};

/// The most streams of one run.
const STREAMS_MAX: u32 = 100_000;
/// The most segments that one run may send: more would take many minutes.
const SEGMENTS_MAX: u64 = 4_000_000_000;
/// The largest initial window: RFC 6928 has 10, content networks up to a few dozen.
const INITIAL_WINDOW_MAX: u32 = 1_000;

/// Slower than this one segment takes longer than the longest timeout allows.
const PACING_MIN: Rate = Rate::from_bits_per_second(1_000);

fn refuse<T>(problem: String, hint: &str) -> Result<T, ScenarioError> {
    Err(ScenarioError {
        problem,
        hint: hint.to_owned(),
    })
}

impl Scenario {
    /// Whether it can be run; cheap, nothing is set up.
    ///
    /// # Errors
    /// When it makes no sense, with the value, the bound and the next step.
    pub fn check(&self) -> Result<(), ScenarioError> {
        intact(self)?;
        streams(self)?;
        times(self)?;
        window(self)?;
        pacing(self)?;
        work(self)?;
        access(self)?;
        cross(self)?;
        size(self)
    }
}

/// Simulated packets carry no bytes.
fn intact(scenario: &Scenario) -> Result<(), ScenarioError> {
    let path = &scenario.path;
    let links = Way::BOTH.into_iter().flat_map(|way| path.links(way));
    match links.map(|link| link.corruption).find(|ratio| *ratio > 0.0) {
        Some(ratio) => refuse(
            format!(
                "simulated packets carry nothing that could change, and a link of this path has \
                 `corruption = {ratio}`"
            ),
            "emulate the path, `emu:PATH`, or leave `corruption` out",
        ),
        None => Ok(()),
    }
}

fn streams(scenario: &Scenario) -> Result<(), ScenarioError> {
    let streams = scenario.streams;
    if streams == 0 && scenario.path.cross.is_empty() {
        let problem = "no streams on a path without cross traffic: nothing would happen".to_owned();
        return refuse(problem, "give at least one stream");
    }
    if streams > STREAMS_MAX {
        let problem = format!("{streams} streams are more than {STREAMS_MAX}");
        return refuse(
            problem,
            "give fewer, or take a model in place of packets: `--fluid`",
        );
    }
    let initial = scenario.tcp.initial_window;
    if !(1..=INITIAL_WINDOW_MAX).contains(&initial) {
        let problem = format!(
            "an initial window of {initial} segments is not between 1 and {INITIAL_WINDOW_MAX}"
        );
        return refuse(problem, "RFC 6928 has 10, RFC 3390 has 2 to 4");
    }
    Ok(())
}

fn times(scenario: &Scenario) -> Result<(), ScenarioError> {
    let (warmup, duration, idle) = (scenario.warmup, scenario.duration, scenario.idle);
    if duration == Span::ZERO {
        return refuse(
            "a run of 0s shows nothing".to_owned(),
            "30s is a usual duration",
        );
    }
    if warmup >= duration {
        let problem = format!("a warm-up of {warmup} leaves nothing of a run of {duration}");
        return refuse(problem, "shorten the warm-up or lengthen the run");
    }
    if idle >= duration {
        let problem = format!("an idle path of {idle} leaves nothing of a run of {duration}");
        return refuse(problem, "shorten the idle time or lengthen the run");
    }
    Ok(())
}

fn window(scenario: &Scenario) -> Result<(), ScenarioError> {
    let hosts = auto_window(&scenario.path);
    let own = scenario.window.unwrap_or(hosts);
    holds_a_segment(scenario, own, "a window")?;
    if own > WINDOW_MAX {
        let problem = format!("a window of {own} is more than TCP can tell, {WINDOW_MAX}");
        return refuse(
            problem,
            "take more streams (RFC 7323 section 2.3 has the bound)",
        );
    }
    for cross in &scenario.path.cross {
        if let Some(window) = cross.traffic.window() {
            holds_a_segment(scenario, window, "a window of cross traffic")?;
        }
    }
    Ok(())
}

fn holds_a_segment(scenario: &Scenario, window: Bytes, what: &str) -> Result<(), ScenarioError> {
    let segment = scenario.segment();
    match window < segment {
        true => refuse(
            format!("{what} of {window} is smaller than one segment of {segment}"),
            "raise it (64KiB is a usual size), or lower `hosts.mtu`",
        ),
        false => Ok(()),
    }
}

fn pacing(scenario: &Scenario) -> Result<(), ScenarioError> {
    match scenario.pacing {
        Some(rate) if rate < PACING_MIN => refuse(
            format!("a pacing rate of {rate} is below {PACING_MIN}"),
            "leave it out to send as fast as congestion control allows",
        ),
        _ => Ok(()),
    }
}

fn work(scenario: &Scenario) -> Result<(), ScenarioError> {
    let streams = u64::from(scenario.streams);
    match scenario.work {
        Work::Endless => Ok(()),
        Work::PerStream(Bytes::ZERO) | Work::Striped(Bytes::ZERO) => {
            refuse("there are 0 bytes to carry".to_owned(), "give at least one")
        }
        Work::PerStream(_) => Ok(()),
        Work::Striped(bytes) => {
            let segments = bytes.get().div_ceil(scenario.segment().get());
            match segments < streams {
                true => refuse(
                    format!(
                        "{bytes} are too few for {streams} streams: a full segment carries {}",
                        scenario.segment()
                    ),
                    &format!(
                        "give at least {}, or fewer streams",
                        scenario.segment().times(streams)
                    ),
                ),
                false => Ok(()),
            }
        }
    }
}

fn access(scenario: &Scenario) -> Result<(), ScenarioError> {
    let Some(access) = scenario.tcp.access else {
        return Ok(());
    };
    let needed = access.delay.times(2);
    let least = scenario.path.forward.delay.min(scenario.path.reverse.delay);
    match least < needed {
        true => refuse(
            format!(
                "a one-way delay of {least} leaves no room for two access links of {}",
                access.delay
            ),
            "leave out the access links, or take a path with more delay",
        ),
        false => Ok(()),
    }
}

/// Cross traffic of a kind that is not simulated, and transfers that come faster than the link
/// carries them and would pile up without bound.
fn cross(scenario: &Scenario) -> Result<(), ScenarioError> {
    let rate = scenario.path.forward.rate;
    for (index, cross) in scenario.path.cross.iter().enumerate() {
        if cross_variant(&scenario.path, cross).is_none() {
            let hosts = &scenario.path.hosts.congestion;
            let name = cross.congestion.as_ref().unwrap_or(hosts);
            return refuse(
                format!(
                    "cross traffic {} asks for `{name}`, which is not simulated",
                    index + 1
                ),
                "take one that is: cubic, reno, bbr, vegas, highspeed, scalable, ...",
            );
        }
        let CrossTraffic::Transfers {
            per_second,
            mean_size,
            ..
        } = cross.traffic
        else {
            continue;
        };
        // A request and its answer's acknowledgement, and a header for each segment.
        let packets = 2.0 + (mean_size.as_f64() / scenario.segment().as_f64()).max(1.0);
        let bytes = mean_size.as_f64() + packets * scenario.tcp.header.as_f64();
        let load = Rate::from_f64(per_second * bytes * 8.0);
        if load >= rate {
            let number = index + 1;
            return refuse(
                format!(
                    "the transfers of cross traffic {number} ask for {} of a link of {rate}, \
                        headers included",
                    load.human()
                ),
                "let fewer of them come, or make them smaller",
            );
        }
    }
    Ok(())
}

/// Segment numbers have 32 bits; no simulation of that many would end.
fn size(scenario: &Scenario) -> Result<(), ScenarioError> {
    let segment = scenario.segment();
    let segments = match scenario.work {
        Work::Endless => {
            let carried = scenario
                .path
                .narrowest(Way::Forward)
                .rate
                .bytes_in(scenario.duration);
            carried.get() / segment.get()
        }
        Work::PerStream(bytes) => {
            let each = bytes.get().div_ceil(segment.get());
            each.saturating_mul(u64::from(scenario.streams))
        }
        Work::Striped(bytes) => bytes.get().div_ceil(segment.get()),
    };
    match segments > SEGMENTS_MAX {
        true => refuse(
            format!("the run would send {segments} segments, more than {SEGMENTS_MAX}"),
            "shorten it, carry less, or take larger packets (`hosts.mtu`)",
        ),
        false => Ok(()),
    }
}
