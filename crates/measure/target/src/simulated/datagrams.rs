//! Datagrams at a rate over a simulated path: trains of them, and what their receiver counts.

use measure_protocol::iperf3::datagram::{Counter, Jitter, Receipts};
use netpath::PathSpec;
use observe::{
    DatagramPlan, DatagramStream, Datagrams, Direction, LeastDelays, Passage, Passages, Peer,
    Probes, ProbesError, RunObserver, TargetError, Train, Way,
};
use units::{Bytes, Rate, Span};

use super::probes::SimulatedProbes;
use super::{failure, refusal};

/// UDP in front of the data.
const UDP_HEADER: u16 = 8;
/// What is kept of one direction fits into a few hundred megabytes.
const DATAGRAMS_MAX: u64 = 4_000_000;
/// One rate for each.
const INTERVAL: Span = Span::from_millis(100);

/// What becomes of the datagrams of a plan.
pub(super) fn datagrams(
    path: &PathSpec,
    mut probes: SimulatedProbes,
    plan: &DatagramPlan,
    watch: &mut dyn RunObserver,
) -> Result<Datagrams, TargetError> {
    let header = Bytes::new((path.hosts.ip_header() + UDP_HEADER).into());
    let most = probes.path_mtu(watch).map_err(told)?.bytes;
    if plan.size + header > most {
        let fitting = most - header;
        return Err(refusal(
            format!(
                "datagrams of {} bytes do not fit the path's packets, and fragments are not \
                 simulated; at most {} do",
                plan.size.get(),
                fitting.get()
            ),
            format!(
                "write `-l {}`, or emulate it: `emu:{}`",
                fitting.get(),
                path.name
            ),
        ));
    }
    let train = train(plan, header)?;
    let ways: &[Way] = match plan.direction {
        Direction::Forward => &[Way::Forward],
        Direction::Reverse => &[Way::Reverse],
        // Neither way knows of the other.
        Direction::Both => &Way::BOTH,
    };
    let mut streams = Vec::new();
    for way in ways {
        let seen = probes.train(*way, &train, watch).map_err(told)?;
        streams.extend(counted(plan, *way, &seen));
    }
    let peer = Peer::Trunkline;
    Ok(Datagrams { peer, streams })
}

pub(super) fn told(error: ProbesError) -> TargetError {
    match error {
        ProbesError::Failed(error) => error,
        ProbesError::Unsupported { why, hint } => failure(observe::Fault::Request, why, hint),
    }
}

fn train(plan: &DatagramPlan, header: Bytes) -> Result<Train, TargetError> {
    let Some(rate) = plan.rate else {
        return Err(refusal(
            "a simulated path has no host that bounds a rate".to_owned(),
            "name a rate".to_owned(),
        ));
    };
    let count = rate.bytes_in(plan.duration).get() / plan.size.get().max(1);
    if count > DATAGRAMS_MAX {
        return Err(refusal(
            format!(
                "{rate} for {} are {count} datagrams, and at most {DATAGRAMS_MAX} are simulated",
                plan.duration.human()
            ),
            "ask for a lower rate, a shorter time (`-t`) or larger datagrams (`-l`)".to_owned(),
        ));
    }
    let at = |number| rate.time_to_send(plan.size.times(number));
    Ok(Train {
        packet: plan.size + header,
        departures: (0..count.max(1)).map(at).collect(),
    })
}

/// How long the datagrams that are simulated at most take at the rate of a plan.
pub(super) fn time_max(plan: &DatagramPlan) -> Option<Span> {
    Some(plan.rate?.time_to_send(plan.size.times(DATAGRAMS_MAX)))
}

/// Streams take turns.
fn counted(plan: &DatagramPlan, way: Way, seen: &Passages) -> Vec<DatagramStream> {
    let streams = usize::from(plan.streams.get());
    let of = |first| {
        let packets = seen.packets.iter().skip(first).step_by(streams);
        stream(plan, way, packets)
    };
    (0..streams).map(of).collect()
}

fn stream<'a>(
    plan: &DatagramPlan,
    way: Way,
    packets: impl Iterator<Item = &'a Passage>,
) -> DatagramStream {
    let mut arrivals: Vec<(Span, u64, Span)> = Vec::new();
    let mut sent = 0;
    for packet in packets {
        sent += 1;
        let arrival = packet.arrived.map(|at| (at, sent, packet.left));
        arrivals.extend(arrival);
    }
    arrivals.sort_unstable();
    let (mut receipts, mut jitter) = (Receipts::new(Counter::Wide), Jitter::default());
    let mut delays = LeastDelays::default();
    let mut intervals: Vec<Bytes> = Vec::new();
    let first = arrivals.first().map_or(Span::ZERO, |first| first.0);
    for (at, number, left) in &arrivals {
        receipts.take(*number, plan.size);
        jitter.take(*left, i128::from(at.as_nanos()));
        let passage = i128::from(at.as_nanos()) - i128::from(left.as_nanos());
        delays.take(*at - first, passage);
        let place = ((*at - first).as_nanos() / INTERVAL.as_nanos()) as usize;
        intervals.resize(intervals.len().max(place + 1), Bytes::ZERO);
        intervals[place] += plan.size;
    }
    let last = arrivals.last().map_or(Span::ZERO, |last| last.0);
    DatagramStream {
        way,
        sent,
        sent_bytes: plan.size.times(sent),
        sending: plan.duration,
        arrived: receipts.arrived,
        arrived_bytes: receipts.bytes,
        receiving: Some(last - first),
        lost: sent - receipts.arrived,
        not_sent: Some(0),
        dropped_by_receiver: Some(0),
        reordered: Some(receipts.reordered),
        duplicates: Some(receipts.duplicates),
        jitter: jitter.value(),
        delay_growth: delays.growth(),
        rates: intervals
            .iter()
            .map(|bytes| Rate::of(*bytes, INTERVAL))
            .collect(),
    }
}
