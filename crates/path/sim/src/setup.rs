//! From a scenario to flows, timers and links.

use std::sync::Arc;

use link::CrossSource;
use netpath::{Class, Cross, CrossTraffic, PathSpec};
use rand_core::Rng;
use rand_pcg::Pcg64;
use units::{Bytes, Rate, Span, Time, Way};

use crate::Variant;
use crate::control::{Common, Facts};
use crate::flow::{Card, Flows, STREAMS};
use crate::network::Network;
use crate::packet::Flags;
use crate::scenario::{Scenario, Starts, TcpSettings, Work};
use crate::seeds::{Purpose, derive, generator};
use crate::sender::{Rules, Sender};
use crate::timers::{Alarm, Timers};

/// What all flows of a run have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// Size of a full segment on the wire.
    pub full: u32,
    /// Size of an acknowledgement.
    pub header: u32,
    pub delayed_ack: Option<Span>,
    /// Segments at the start of a flow that are acknowledged each.
    pub quick_acks: u8,
    pub jitter: Span,
    pub data_flags: Flags,
}

impl Scenario {
    /// The payload of a full segment.
    pub(crate) fn segment(&self) -> Bytes {
        Bytes::new(u64::from(self.path.mtu())) - self.tcp.header
    }

    /// How many segments a stream keeps outstanding at the most.
    fn outstanding_max(&self) -> u32 {
        let window = self.window.unwrap_or_else(|| auto_window(&self.path));
        segments_in(window, self.segment())
    }
}

/// The largest window that TCP can tell: 65,535 doubled fourteen times (RFC 7323 section 2.3).
pub(crate) const WINDOW_MAX: Bytes = Bytes::new(65_535 << 14);

/// What a receiver that scales its window tells at first.
const WINDOW_FIRST: Bytes = Bytes::new(65_535);

/// What fits into the buffers that a path's hosts grow to by themselves: the smaller of the two.
pub(crate) fn auto_window(path: &PathSpec) -> Bytes {
    let buffers = path.hosts.forward();
    buffers.send.min(buffers.receive).min(WINDOW_MAX)
}

fn segments_in(window: Bytes, segment: Bytes) -> u32 {
    u32::try_from(window.get() / segment.get())
        .unwrap_or(u32::MAX)
        .max(1)
}

pub(crate) fn terms(scenario: &Scenario) -> Terms {
    let tcp = &scenario.tcp;
    Terms {
        full: u32::from(scenario.path.mtu()),
        header: tcp.header.get() as u32,
        delayed_ack: tcp.delayed_ack,
        quick_acks: if tcp.kernel_hosts {
            quick_acks(scenario.segment())
        } else {
            0
        },
        jitter: tcp.send_jitter,
        data_flags: Flags::default().with(Flags::ECN_CAPABLE, tcp.ecn),
    }
}

/// How many segments Linux acknowledges one by one at the start of a connection: half of what its
/// first window of 64 KB holds, from 2 to 16 (`tcp_incr_quickack`). Of 1448 bytes it is 16, of 8948
/// it is 3.
fn quick_acks(segment: Bytes) -> u8 {
    let half_window = WINDOW_FIRST.get() / (2 * segment.get());
    half_window.clamp(2, 16) as u8
}

pub(crate) fn network(scenario: &Scenario, terms: &Terms) -> Network {
    let extra = scenario.path.cross.iter().map(|cross| cross.extra_delay);
    let joints: Vec<Span> = std::iter::once(Span::ZERO).chain(extra).collect();
    let sizes = [terms.full, terms.header].map(|size| Bytes::new(u64::from(size)));
    Network::new(
        &scenario.path,
        scenario.tcp.access,
        sizes,
        &joints,
        scenario.series_interval.is_some(),
        scenario.seed,
    )
}

/// All flows that run from the beginning, and the timers that start them.
pub(crate) fn flows(scenario: &Scenario, timers: &mut Timers) -> Flows {
    let mut flows = Flows::default();
    if scenario.variant == Variant::Ensemble {
        flows.common = Some(Common::new(scenario.tcp.initial_window));
    }
    let mut starts = StartTimes::new(&scenario.tcp, scenario.seed);
    let rules = Arc::new(rules(scenario, scenario.pacing));
    for stream in 0..scenario.streams {
        let share = Share::of(scenario, stream);
        let sender = Sender::new(
            scenario.variant,
            Arc::clone(&rules),
            &facts(scenario, scenario.streams, stream),
            scenario.outstanding_max(),
            share.segments,
        );
        let flow = flows.add(sender, share.card(scenario));
        timers.set(starts.next() + scenario.idle, Alarm::Start(flow));
    }
    flows.begun = flows.cards.len();
    for (index, cross) in scenario.path.cross.iter().enumerate() {
        let group = index as u16 + 1;
        if let CrossTraffic::Streams { streams, window } = cross.traffic {
            for _ in 0..streams {
                let sender = cross_sender(scenario, cross, window, u32::MAX, flows.cards.len());
                let flow = flows.add(sender, Card::endless(group, cross.class));
                timers.set(starts.next(), Alarm::Start(flow));
            }
        }
    }
    flows
}

/// The last `count` of the scenario's streams join those that run, from `now` on.
pub(crate) fn join(
    scenario: &Scenario,
    count: u32,
    now: Time,
    flows: &mut Flows,
    timers: &mut Timers,
) {
    let first = scenario.streams - count;
    let mut starts = StartTimes::joining(scenario, first);
    let rules = Arc::new(rules(scenario, scenario.pacing));
    for stream in first..scenario.streams {
        let share = Share::of(scenario, stream);
        // Cross traffic that is there from the beginning has a number among the flows too.
        let number = flows.cards.len() as u32;
        let sender = Sender::new(
            scenario.variant,
            Arc::clone(&rules),
            &facts(scenario, scenario.streams, number),
            scenario.outstanding_max(),
            share.segments,
        );
        let flow = flows.add(sender, share.card(scenario));
        flows.joined.push(flow);
        let due = starts.next() + now.since(Time::ZERO);
        timers.set(due, Alarm::Start(flow));
    }
}

/// How a group of cross traffic finds its rate: as it says, or as the hosts do; `None` of what is
/// not simulated. A transfer's streams with one window, and a rate that takes the whole path, are
/// nothing that others' traffic does.
pub(crate) fn cross_variant(path: &PathSpec, cross: &Cross) -> Option<Variant> {
    let name = cross
        .congestion
        .as_deref()
        .unwrap_or(&path.hosts.congestion);
    let variant = Variant::of_path(name)?;
    let alone = [Variant::Ensemble, Variant::Netblt, Variant::Rbudp].contains(&variant);
    (!alone).then_some(variant)
}

/// The sending end of one flow of cross traffic.
fn cross_sender(
    scenario: &Scenario,
    cross: &Cross,
    window: Bytes,
    segments: u32,
    place: usize,
) -> Sender {
    Sender::new(
        cross_variant(&scenario.path, cross).expect("checked before the run"),
        Arc::new(rules(scenario, None)),
        &facts(scenario, 1, place as u32),
        segments_in(window, scenario.segment()),
        segments,
    )
}

/// The sources of all cross traffic that comes and goes, and the timers that wake them.
pub(crate) fn sources(scenario: &Scenario, timers: &mut Timers) -> Vec<CrossSource> {
    let datagram = scenario.path.cross_datagram();
    let cross = scenario.path.cross.iter().enumerate();
    let own =
        cross.flat_map(|(index, cross)| CrossSource::of(cross, index, datagram, scenario.seed));
    let mut sources: Vec<CrossSource> = own.collect();
    for (index, source) in sources.iter_mut().enumerate() {
        timers.set(source.begin(), Alarm::Source(index as u32));
    }
    sources
}

/// The two ends of a short transfer.
pub(crate) fn transfer(scenario: &Scenario, source: &CrossSource, size: Bytes) -> (Sender, Card) {
    let segment = scenario.segment();
    let segments = size
        .get()
        .div_ceil(segment.get())
        .min(u64::from(u32::MAX - 1)) as u32;
    let last = Bytes::new((size.get() - 1) % segment.get() + 1);
    let cross = &scenario.path.cross[source.entry()];
    let card = Card {
        group: source.entry() as u16 + 1,
        class: source.class(),
        incarnation: 0,
        last_payload: last.get() as u32,
        last: segments - 1,
    };
    let window = cross.traffic.window().unwrap_or(Bytes::ZERO);
    let sender = cross_sender(scenario, cross, window, segments, source.entry());
    (sender, card)
}

/// What flow `place` of those that share the path knows before it begins.
fn facts(scenario: &Scenario, streams: u32, place: u32) -> Facts {
    let rate = scenario.path.narrowest(Way::Forward).rate.bits_per_second();
    Facts {
        segment: Bytes::new(u64::from(scenario.path.mtu())),
        initial_window: scenario.tcp.initial_window,
        share: Rate::from_bits_per_second(rate / u64::from(streams)),
        seed: derive(scenario.seed, Purpose::Control, u64::from(place)),
    }
}

fn rules(scenario: &Scenario, pacing_max: Option<Rate>) -> Rules {
    let tcp = &scenario.tcp;
    let links = scenario.path.links(Way::Forward);
    let in_order = links.iter().all(|link| link.reorder.is_none());
    Rules {
        growth: tcp.growth,
        timestamps: tcp.timestamps,
        timeout_floor: tcp.timeout_floor,
        timeout_forgets: tcp.timeout_forgets,
        watches_repairs: tcp.watches_repairs,
        kernel: tcp.kernel_hosts,
        by_time: tcp.kernel_hosts && in_order,
        pacing_max,
    }
}

impl Card {
    /// A flow of cross traffic that never ends.
    fn endless(group: u16, class: Class) -> Self {
        Card {
            group,
            class,
            incarnation: 0,
            last_payload: 0,
            last: u32::MAX,
        }
    }
}

/// What one stream carries.
#[derive(Debug, Clone, Copy)]
struct Share {
    segments: u32,
    /// Payload of the last segment.
    last: Bytes,
}

impl Share {
    fn of(scenario: &Scenario, stream: u32) -> Self {
        let segment = scenario.segment();
        let last = |bytes: Bytes| match bytes.get() % segment.get() {
            0 => segment,
            rest => Bytes::new(rest),
        };
        match scenario.work {
            Work::Endless => Share {
                segments: u32::MAX,
                last: segment,
            },
            Work::PerStream(bytes) => Share {
                segments: bytes.get().div_ceil(segment.get()) as u32,
                last: last(bytes),
            },
            Work::Striped(bytes) => {
                let segments = bytes.get().div_ceil(segment.get());
                let streams = u64::from(scenario.streams);
                let extra = u64::from(u64::from(stream) < segments % streams);
                let is_last = stream + 1 == scenario.streams;
                Share {
                    segments: (segments / streams + extra) as u32,
                    last: if is_last { last(bytes) } else { segment },
                }
            }
        }
    }

    fn card(self, scenario: &Scenario) -> Card {
        Card {
            group: STREAMS,
            class: scenario.class,
            incarnation: 0,
            last_payload: self.last.get() as u32,
            last: match self.segments {
                u32::MAX => u32::MAX,
                segments => segments - 1,
            },
        }
    }
}

/// When the flows begin.
struct StartTimes {
    within: Span,
    source: StartSource,
}

enum StartSource {
    Seeded(Pcg64),
    ParkMiller(u64),
}

/// Park and Miller 1988: x = 16807 x mod 2^31 - 1.
const PARK_MILLER: u64 = 2_147_483_647;

impl StartTimes {
    fn new(tcp: &TcpSettings, seed: u64) -> Self {
        let source = match tcp.starts {
            Starts::Seeded => StartSource::Seeded(generator(seed, Purpose::Starts, 0)),
            Starts::ParkMiller => StartSource::ParkMiller((seed % PARK_MILLER).max(1)),
        };
        StartTimes {
            within: tcp.start_within,
            source,
        }
    }

    /// Of the streams that join, the first of them with number `first`.
    fn joining(scenario: &Scenario, first: u32) -> Self {
        let random = generator(scenario.seed, Purpose::Starts, first.into());
        StartTimes {
            within: scenario.tcp.start_within,
            source: StartSource::Seeded(random),
        }
    }

    fn next(&mut self) -> Time {
        let share = match &mut self.source {
            StartSource::Seeded(random) => (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64,
            StartSource::ParkMiller(state) => {
                *state = *state * 16_807 % PARK_MILLER;
                *state as f64 / PARK_MILLER as f64
            }
        };
        Time::ZERO + Span::from_secs_f64(self.within.as_secs_f64() * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_times_are_those_of_park_and_miller() {
        let path = PathSpec::load("lan").unwrap();
        let mut starts = StartTimes::new(&TcpSettings::ns2(&path), 1);
        // 16807 / (2^31 - 1) s.
        assert_eq!(starts.next(), Time::from_nanos(7_826));
    }
}
