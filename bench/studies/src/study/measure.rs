//! What a run comes down to.

use sim::{RunResult, Scenario};
use stats::standard_deviation;

/// Goodput of all streams, in Mbit/s.
pub(super) fn goodput(_: &Scenario, result: &RunResult) -> Option<f64> {
    let rates = result.streams.iter().map(|stream| stream.goodput.as_f64());
    Some(rates.sum::<f64>() / 1e6)
}

/// Goodput of the cross traffic, in Mbit/s.
pub(super) fn cross_goodput(_: &Scenario, result: &RunResult) -> Option<f64> {
    let rates = result.cross.iter().map(|cross| cross.goodput.as_f64());
    Some(rates.sum::<f64>() / 1e6)
}

/// Goodput in percent of the bottleneck's rate.
pub(super) fn percent_of_link(scenario: &Scenario, result: &RunResult) -> Option<f64> {
    let link = scenario.path.forward.rate.as_f64() / 1e6;
    Some(goodput(scenario, result)? / link * 100.0)
}

/// When the last stream was done, in seconds.
pub(super) fn completion(_: &Scenario, result: &RunResult) -> Option<f64> {
    result.completion.map(|span| span.as_secs_f64())
}

/// How far apart the streams were done: the standard deviation, in seconds. Zero for one stream.
pub(super) fn completion_deviation(_: &Scenario, result: &RunResult) -> Option<f64> {
    let done = |stream: &sim::StreamResult| Some(stream.completed?.as_secs_f64());
    let times: Option<Vec<f64>> = result.streams.iter().map(done).collect();
    let times = times?;
    match times.len() {
        1 => Some(0.0),
        _ => standard_deviation(&times),
    }
}

/// Packets dropped in all, in thousands.
pub(super) fn thousand_drops(_: &Scenario, result: &RunResult) -> Option<f64> {
    Some(result.drops.total() as f64 / 1e3)
}

/// Percent of the data that the fastest tenth of the streams carried, at least one stream.
pub(super) fn fastest_tenth(_: &Scenario, result: &RunResult) -> Option<f64> {
    let mut carried: Vec<f64> = result
        .streams
        .iter()
        .map(|stream| stream.acknowledged.as_f64())
        .collect();
    carried.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = carried.iter().sum();
    let first = carried.len().div_ceil(10);
    (all > 0.0).then(|| carried[..first].iter().sum::<f64>() / all * 100.0)
}
