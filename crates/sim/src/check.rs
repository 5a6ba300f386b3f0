//! Which scenarios can be run.

use path::CrossTraffic;
use units::{Bytes, Rate, Span};

use crate::Variant;
use crate::scenario::{Scenario, ScenarioError, Work};

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

/// Refuses what makes no sense, with the value, the bound and the next step.
pub(crate) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    streams(scenario)?;
    times(scenario)?;
    window(scenario)?;
    pacing(scenario)?;
    work(scenario)?;
    access(scenario)?;
    cross(scenario)?;
    size(scenario)
}

fn streams(scenario: &Scenario) -> Result<(), ScenarioError> {
    let streams = scenario.streams;
    if streams == 0 && scenario.path.cross.is_empty() {
        let problem = "no streams on a path without cross traffic: nothing would happen".to_owned();
        return refuse(problem, "give at least one stream");
    }
    if streams > STREAMS_MAX {
        let problem = format!("{streams} streams are more than {STREAMS_MAX}");
        return refuse(problem, "give fewer");
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
    let segment = scenario.segment();
    match scenario.window {
        Some(window) if window < segment => refuse(
            format!("a window of {window} is smaller than one segment of {segment}"),
            "64KiB is a usual size",
        ),
        _ => Ok(()),
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

/// Cross traffic of a kind that is not simulated, and transfers that come faster than the link carries
/// them and would pile up without bound.
fn cross(scenario: &Scenario) -> Result<(), ScenarioError> {
    let rate = scenario.path.forward.rate;
    for (index, cross) in scenario.path.cross.iter().enumerate() {
        let congestion = cross.congestion.as_deref();
        if let Some(name) = congestion.filter(|name| Variant::of_path(name).is_none()) {
            return refuse(
                format!(
                    "cross traffic {} asks for `{name}`, which is not simulated",
                    index + 1
                ),
                "take one that is: cubic, reno, bbr, vegas, highspeed, scalable, ...",
            );
        }
        let CrossTraffic::Transfers { .. } = cross.traffic else {
            continue;
        };
        match cross.traffic.mean_load() {
            Some(load) if load >= rate => {
                let number = index + 1;
                return refuse(
                    format!(
                        "the transfers of cross traffic {number} ask for {load} of a link of {rate}"
                    ),
                    "let fewer of them come, or make them smaller",
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// Segment numbers have 32 bits, and nobody waits for that many.
fn size(scenario: &Scenario) -> Result<(), ScenarioError> {
    let carried = scenario.path.forward.rate.bytes_in(scenario.duration);
    let work = match scenario.work {
        Work::Endless => carried,
        Work::PerStream(bytes) => carried.min(bytes.times(u64::from(scenario.streams))),
        Work::Striped(bytes) => carried.min(bytes),
    };
    let segments = work.get() / scenario.segment().get();
    match segments > SEGMENTS_MAX {
        true => refuse(
            format!("the run would send {segments} segments, more than {SEGMENTS_MAX}"),
            "shorten it, or take larger packets (`hosts.mtu`)",
        ),
        false => Ok(()),
    }
}
