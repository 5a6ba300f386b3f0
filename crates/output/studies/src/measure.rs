//! What a run comes down to.

use netpath::{QueueLimit, QueueSpec};
use sim::{RunResult, Scenario};
use stats::{mean, standard_deviation};

/// Goodput of all streams, in Mbit/s.
pub(crate) fn goodput(_: &Scenario, result: &RunResult) -> Option<f64> {
    let rates = result.streams.iter().map(|stream| stream.goodput.as_f64());
    Some(rates.sum::<f64>() / 1e6)
}

/// Goodput of the cross traffic, in Mbit/s.
pub(crate) fn cross_goodput(_: &Scenario, result: &RunResult) -> Option<f64> {
    let rates = result.cross.iter().map(|cross| cross.goodput.as_f64());
    Some(rates.sum::<f64>() / 1e6)
}

/// Goodput in percent of the bottleneck's rate.
pub(crate) fn percent_of_link(scenario: &Scenario, result: &RunResult) -> Option<f64> {
    let link = scenario.path.forward.rate.as_f64() / 1e6;
    Some(goodput(scenario, result)? / link * 100.0)
}

/// When the last stream was done, in seconds.
pub(crate) fn completion(_: &Scenario, result: &RunResult) -> Option<f64> {
    result.completion.map(|span| span.as_secs_f64())
}

/// How far apart the streams were done: the standard deviation, in seconds. Zero for one stream.
pub(crate) fn completion_deviation(_: &Scenario, result: &RunResult) -> Option<f64> {
    let done = |stream: &sim::StreamResult| Some(stream.completed?.as_secs_f64());
    let times: Option<Vec<f64>> = result.streams.iter().map(done).collect();
    let times = times?;
    match times.len() {
        1 => Some(0.0),
        _ => standard_deviation(&times),
    }
}

/// Packets dropped in all, in thousands.
pub(crate) fn thousand_drops(_: &Scenario, result: &RunResult) -> Option<f64> {
    Some(result.drops.total() as f64 / 1e3)
}

/// Percent of the data that the fastest tenth of the streams carried, at least one stream.
pub(crate) fn fastest_tenth(_: &Scenario, result: &RunResult) -> Option<f64> {
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

/// Round trips in ms as pings once a second would see them beside the streams: what waits in the
/// queue, and the empty path.
pub(crate) fn pings(scenario: &Scenario, result: &RunResult) -> Vec<f64> {
    let link = &scenario.path.forward;
    let packet = link.rate.time_to_send(scenario.path.cross_datagram());
    let base = scenario.path.base_rtt().as_secs_f64() * 1e3;
    let wait = |queued: u64| queued as f64 * packet.as_secs_f64() * 1e3;
    let samples = result.series.iter();
    samples
        .map(|sample| base + wait(sample.queue_packets))
        .collect()
}

/// How far the mean of the pings is above the empty path, in ms.
pub(crate) fn added(scenario: &Scenario, result: &RunResult) -> Option<f64> {
    let base = scenario.path.base_rtt().as_secs_f64() * 1e3;
    Some(mean(&pings(scenario, result))? - base)
}

/// Rate variability in percent: 1 - min / mean of the pings.
pub(crate) fn variability(scenario: &Scenario, result: &RunResult) -> Option<f64> {
    let pings = pings(scenario, result);
    let least = pings.iter().copied().reduce(f64::min)?;
    Some((1.0 - least / mean(&pings)?) * 100.0)
}

/// Percent of the pings that find no room in the queue.
pub(crate) fn ping_loss(scenario: &Scenario, result: &RunResult) -> Option<f64> {
    let room = match scenario.path.forward.queue {
        QueueSpec::DropTail(QueueLimit::Packets(packets)) => f64::from(packets),
        QueueSpec::DropTail(QueueLimit::Bytes(bytes)) => {
            (bytes.as_f64() / scenario.path.cross_datagram().as_f64()).floor()
        }
        _ => return None,
    };
    let full = result.series.iter();
    let full = full.filter(|sample| sample.queue_packets as f64 >= room);
    let all = result.series.len();
    (all > 0).then(|| full.count() as f64 / all as f64 * 100.0)
}

/// Percent of the data packets that were dropped or lost.
pub(crate) fn drop_percent(_: &Scenario, result: &RunResult) -> Option<f64> {
    let sent = result.work.data_packets;
    (sent > 0).then(|| result.drops.total() as f64 / sent as f64 * 100.0)
}
