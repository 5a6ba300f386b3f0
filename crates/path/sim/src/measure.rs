//! What is counted while a run goes, and what comes of it.

use hdrhistogram::Histogram;
use link::Counters;
use units::{Bytes, Rate, Span, Time, Way};

use crate::flow::Flows;
use crate::network::Network;
use crate::result::{
    CrossResult, Drops, QueueUse, RoundTrips, RunResult, Sample, StreamResult, WorkDone,
};
use crate::scenario::Scenario;

/// Round trips are kept to three significant digits, up to this.
const ROUND_TRIP_MAX_NANOS: u64 = 3_600_000_000_000;

/// Counts, and how they stood when the warm-up was over.
#[derive(Debug)]
pub(crate) struct Measure {
    /// Packets that any host has sent.
    pub sent: u64,
    warm: bool,
    at_warm: Standing,
    round_trips: Histogram<u32>,
    round_trip_sum: u128,
    completed: Vec<Option<Time>>,
    series: Vec<Sample>,
    payload: Bytes,
    cross: Vec<CrossStanding>,
}

/// All counts at one moment.
#[derive(Debug, Default)]
struct Standing {
    at: Time,
    flows: Vec<FlowStanding>,
    cross: Vec<CrossStanding>,
    drops: Drops,
    marks: u64,
    /// Put on the wire of the narrowest link.
    sent: Bytes,
    queue_packet_nanoseconds: u128,
}

/// What one group of cross traffic has delivered.
#[derive(Debug, Clone, Copy, Default)]
struct CrossStanding {
    payload: u64,
    transfers: u64,
    /// Transfers that have begun, and those that were not let in.
    begun: u64,
    turned_away: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct FlowStanding {
    acknowledged: Bytes,
    retransmitted: u64,
    timeouts: u32,
}

impl Standing {
    fn of(measure: &Measure, flows: &Flows, network: &mut Network, at: Time) -> Self {
        network.settle_all(at);
        let streams = 0..measure.completed.len();
        let flow = |stream: usize| {
            let place = flows.place(stream);
            let sender = &flows.senders[place];
            FlowStanding {
                acknowledged: flows.cards[place].payload(sender.acknowledged(), measure.payload),
                retransmitted: sender.tally().retransmitted,
                timeouts: sender.tally().timeouts,
            }
        };
        Standing {
            at,
            flows: streams.map(flow).collect(),
            cross: measure.cross.clone(),
            queue_packet_nanoseconds: network.queue_packet_nanoseconds(at),
            drops: drops(network.counters()),
            marks: network.marks(),
            sent: network.sent(),
        }
    }
}

/// Of all links: a packet that is lost on its way back is lost as well.
fn drops<'a>(links: impl Iterator<Item = &'a Counters>) -> Drops {
    let mut drops = Drops::default();
    for link in links {
        drops.queue_full += link.dropped_queue_full.packets;
        drops.early += link.dropped_early.packets;
        drops.sojourn += link.dropped_sojourn.packets;
        drops.policed += link.dropped_policed.packets;
        drops.wire_loss += link.dropped_wire_loss.packets;
    }
    drops
}

impl Measure {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let histogram = Histogram::new_with_bounds(1_000, ROUND_TRIP_MAX_NANOS, 3);
        Measure {
            sent: 0,
            warm: false,
            at_warm: Standing {
                flows: vec![FlowStanding::default(); scenario.streams as usize],
                cross: vec![CrossStanding::default(); scenario.path.cross.len()],
                ..Standing::default()
            },
            round_trips: histogram.expect("the bounds are constants that the crate accepts"),
            round_trip_sum: 0,
            completed: vec![None; scenario.streams as usize],
            series: Vec::new(),
            payload: scenario.segment(),
            cross: vec![CrossStanding::default(); scenario.path.cross.len()],
        }
    }

    /// A stream saw a round trip.
    #[inline]
    pub(crate) fn on_round_trip(&mut self, span: Span) {
        if self.warm {
            self.round_trips.saturating_record(span.as_nanos());
            self.round_trip_sum += u128::from(span.as_nanos());
        }
    }

    pub(crate) fn on_completed(&mut self, stream: usize, now: Time) {
        self.completed[stream] = Some(now);
    }

    /// So many streams join.
    pub(crate) fn on_joined(&mut self, count: u32) {
        let streams = self.completed.len() + count as usize;
        self.completed.resize(streams, None);
        self.at_warm.flows.resize(streams, FlowStanding::default());
    }

    /// Cross traffic of `group` delivered so many bytes.
    #[inline]
    pub(crate) fn on_cross_delivered(&mut self, group: u16, payload: u32) {
        self.cross[usize::from(group) - 1].payload += u64::from(payload);
    }

    /// A short transfer of `group` is complete.
    pub(crate) fn on_transfer(&mut self, group: u16) {
        self.cross[usize::from(group) - 1].transfers += 1;
    }

    /// Short transfers of `group` that have begun and are not complete.
    pub(crate) fn transfers_under_way(&self, group: u16) -> u64 {
        let cross = &self.cross[usize::from(group) - 1];
        cross.begun - cross.transfers
    }

    pub(crate) fn on_transfer_begun(&mut self, group: u16) {
        self.cross[usize::from(group) - 1].begun += 1;
    }

    /// There are too many transfers of `group` for one more.
    pub(crate) fn on_turned_away(&mut self, group: u16) {
        self.cross[usize::from(group) - 1].turned_away += 1;
    }

    pub(crate) fn on_warm(&mut self, flows: &Flows, network: &mut Network, now: Time) {
        self.warm = true;
        self.at_warm = Standing::of(self, flows, network, now);
    }

    pub(crate) fn sample(&mut self, flows: &Flows, network: &mut Network, now: Time) {
        let streams = self.completed.len();
        let places = (0..streams).map(|stream| flows.place(stream));
        let windows = places.clone().map(|place| &flows.senders[place]);
        let ends = windows.clone().zip(places.map(|place| &flows.cards[place]));
        let payload = ends.map(|(sender, card)| card.payload(sender.acknowledged(), self.payload));
        let cross: u64 = self.cross.iter().map(|cross| cross.payload).sum();
        let acknowledged = payload.sum();
        self.series.push(Sample {
            at: now,
            queue_packets: network.queue_packets(now),
            windows: windows.map(|sender| sender.window().size).collect(),
            acknowledged,
            cross_delivered: Bytes::new(cross),
        });
    }

    pub(crate) fn finish(
        self,
        scenario: &Scenario,
        flows: &Flows,
        network: &mut Network,
        now: Time,
        events: u64,
    ) -> RunResult {
        let end = Standing::of(&self, flows, network, now);
        let measured = now.since(self.at_warm.at);
        let streams = 0..scenario.streams as usize;
        RunResult {
            seed: scenario.seed,
            measured,
            streams: streams
                .map(|flow| self.stream(&end, flow, measured))
                .collect(),
            cross: self.cross(&end, measured),
            drops: end.drops.since(&self.at_warm.drops),
            marks: end.marks - self.at_warm.marks,
            queue: QueueUse {
                mean_packets: self.mean_queue(&end, measured),
                peak_bytes: network.queue_peak(),
            },
            utilisation: self.utilisation(scenario, &end, measured),
            round_trips: self.round_trips(),
            completion: self.completion(),
            work: WorkDone {
                data_packets: network.main().offered.packets,
                events,
            },
            series: self.series,
        }
    }

    fn stream(&self, end: &Standing, flow: usize, measured: Span) -> StreamResult {
        let (from, to) = (self.at_warm.flows[flow], end.flows[flow]);
        let acknowledged = to.acknowledged - from.acknowledged;
        StreamResult {
            goodput: Rate::of(acknowledged, measured),
            acknowledged,
            retransmitted: to.retransmitted - from.retransmitted,
            timeouts: u64::from(to.timeouts - from.timeouts),
            completed: self.completed[flow].map(|at| at.since(Time::ZERO)),
        }
    }

    fn cross(&self, end: &Standing, measured: Span) -> Vec<CrossResult> {
        let groups = self.at_warm.cross.iter().zip(&end.cross);
        let result = |(from, to): (&CrossStanding, &CrossStanding)| CrossResult {
            goodput: Rate::of(Bytes::new(to.payload - from.payload), measured),
            transfers: to.transfers - from.transfers,
            turned_away: to.turned_away - from.turned_away,
        };
        groups.map(result).collect()
    }

    fn mean_queue(&self, end: &Standing, measured: Span) -> f64 {
        let area = end.queue_packet_nanoseconds - self.at_warm.queue_packet_nanoseconds;
        match measured.as_nanos() {
            0 => 0.0,
            nanos => area as f64 / nanos as f64,
        }
    }

    fn utilisation(&self, scenario: &Scenario, end: &Standing, measured: Span) -> f64 {
        let bytes = end.sent - self.at_warm.sent;
        let rate = scenario.path.narrowest(Way::Forward).rate;
        Rate::of(bytes, measured).as_f64() / rate.as_f64()
    }

    fn round_trips(&self) -> Option<RoundTrips> {
        let histogram = &self.round_trips;
        let samples = histogram.len();
        let at = |quantile| Span::from_nanos(histogram.value_at_quantile(quantile));
        (samples > 0).then(|| RoundTrips {
            samples,
            min: Span::from_nanos(histogram.min()),
            mean: Span::from_nanos((self.round_trip_sum / u128::from(samples)) as u64),
            median: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: Span::from_nanos(histogram.max()),
        })
    }

    fn completion(&self) -> Option<Span> {
        let all: Option<Vec<Time>> = self.completed.iter().copied().collect();
        all?.into_iter().max().map(|at| at.since(Time::ZERO))
    }
}

/// One probe and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// When it was sent.
    pub sent: Time,
    /// How long its answer took; `None` while there is none.
    pub round_trip: Option<Span>,
}
