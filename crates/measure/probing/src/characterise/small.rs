//! The parts of small packets.

use observe::{
    FlowPlan, Passages, PathMtu, ProbeSeries, Probes, ProbesError, RunObserver, SizedPlan, Trace,
    TracePlan, TraceProtocol, Train, Way,
};
use units::{Bytes, Span};

use super::{Examination, Examined, Part, Wanted, named, trains};
use crate::available::Known;
use crate::{
    Branches, HopCapacity, LeftOut, PartObserver, WayBack, branches, hop_capacity, way_back,
};

/// Twenty probes a second: a hundred of them give quartiles that mean something.
const ROUND_TRIPS: Span = Span::from_secs(5);
/// Packets of one direction's slow train.
const SLOW_PACKETS: usize = 100;
/// Their size, as small as stamps and a cookie allow with some room.
const SLOW_SIZE: Bytes = Bytes::new(100);
/// Their distance: 40 kbit/s, which disturbs no traffic.
const SLOW_GAP: Span = Span::from_millis(20);
/// Probes to each hop by one protocol; routers answer about one a second, so more take long.
const ROUNDS: u16 = 4;
/// The same by one of several flows: a lost answer is made up for by another flow.
const ROUNDS_OF_A_FLOW: u16 = 2;
/// Echoes of each flow to the far end, and their distance: 32 kbit/s.
const ECHOES: u16 = 50;
const ECHO_SPACING: Span = Span::from_millis(15);
/// As other traceroutes.
const HOPS_MAX: u8 = 30;
/// Routers answer within this or not at all.
pub(super) const PATIENCE: Span = Span::from_secs(1);

/// Loss and delay of one direction, from packets so far apart that they meet nothing of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// Which direction.
    pub way: Way,
    /// What became of each packet.
    pub passages: Passages,
}

impl Variation {
    /// Share of the packets that never arrived; `None` when none was sent.
    pub fn loss_ratio(&self) -> Option<f64> {
        let sent = self.passages.packets.len();
        let lost = self
            .passages
            .packets
            .iter()
            .filter(|packet| packet.arrived.is_none());
        (sent > 0).then(|| lost.count() as f64 / sent as f64)
    }

    /// One-way delays in seconds above the smallest of them, in order of sending. The clocks of two
    /// hosts agree on differences only; what they drift apart within two seconds is some
    /// microseconds.
    ///
    /// ```
    /// # use observe::{Passage, Passages, Stamped, Way};
    /// # use probing::characterise::Variation;
    /// # use units::Span;
    /// let packet = |left, arrived| Passage {
    ///     left: Span::from_millis(left),
    ///     arrived: Some(Span::from_millis(arrived)),
    /// };
    /// // Clocks that differ by 900 ms: the second packet waited 4 ms longer than the others.
    /// let passages = Passages {
    ///     packets: vec![packet(0, 900), packet(20, 924), packet(40, 940)],
    ///     stamped: Stamped::ByKernel,
    ///     clocks: None,
    /// };
    /// let variation = Variation { way: Way::Forward, passages };
    /// let seconds = variation.above_smallest_seconds();
    /// assert!((seconds[1] - 0.004).abs() < 1e-9 && seconds[0].abs() < 1e-9);
    /// ```
    pub fn above_smallest_seconds(&self) -> Vec<f64> {
        let delay = |packet: &observe::Passage| {
            Some(packet.arrived?.as_secs_f64() - packet.left.as_secs_f64())
        };
        let delays: Vec<f64> = self.passages.packets.iter().filter_map(delay).collect();
        let smallest = delays.iter().copied().fold(f64::INFINITY, f64::min);
        delays.iter().map(|delay| delay - smallest).collect()
    }

    /// A quantile of them in seconds: 0.5 is the median; `None` when no packet arrived.
    pub fn above_smallest_quantile(&self, share: f64) -> Option<f64> {
        stats::quantile(&self.above_smallest_seconds(), share)
    }
}

impl Examination {
    /// Everything that small packets tell.
    pub(super) fn small_packets(
        &mut self,
        path: &mut dyn Examined,
        probes: &mut dyn Probes,
        wanted: &Wanted,
        observer: &mut dyn PartObserver,
    ) {
        let round_trips = self.part(path, "round trips", observer, |_, look| {
            round_trips(probes, look)
        });
        self.found.round_trips = round_trips;
        self.found.mtu = self.part(path, "path MTU", observer, |_, look| path_mtu(probes, look));
        for protocol in TraceProtocol::ALL {
            let name = format!("hops by {}", name_of(protocol));
            let trace = self.part(path, &name, observer, |_, look| {
                trace(probes, protocol, look)
            });
            self.found.traces.extend(trace);
        }
        if wanted.way_back {
            let back = self.part(path, "way back", observer, |_, look| {
                Ok((probes.trace_back(look)?, None))
            });
            let mut traces = self.found.traces.iter();
            let there = traces.find(|trace| trace.protocol == TraceProtocol::Udp);
            self.found.way_back = back.map(|trace| WayBack {
                compared: way_back::compare(there, &trace),
                trace,
            });
        }
        if let Some(count) = wanted.flows {
            self.found.branches = self.part(path, "branches", observer, |_, look| {
                branches(probes, count, look)
            });
        }
        if wanted.trains {
            for way in &wanted.ways {
                self.slow_train(path, probes, *way, observer);
            }
            for way in &wanted.ways {
                self.trains(path, probes, *way, observer);
            }
        }
        if wanted.hop_capacity {
            self.hop_capacities(path, probes, observer);
        }
    }

    /// After the trains, because the narrowest link tells how fast its packets may come.
    fn hop_capacities(
        &mut self,
        path: &mut dyn Examined,
        probes: &mut dyn Probes,
        observer: &mut dyn PartObserver,
    ) {
        let name = "capacity of hops";
        let traces = &self.found.traces;
        let by_udp = traces
            .iter()
            .find(|trace| trace.protocol == TraceProtocol::Udp);
        let Some(trace) = by_udp else {
            let why = "no hop is known that answers UDP";
            self.left(LeftOut::new(name, why, None));
            return;
        };
        let capacities = &self.found.capacities;
        let forward = capacities.iter().find(|seen| seen.way == Way::Forward);
        let capacity = forward.map(|seen| seen.rate);
        match hop_capacity::plan(trace, trains::largest(&self.found), capacity, PATIENCE) {
            Ok(plan) => {
                let found = self.part(path, name, observer, |_, look| {
                    hop_capacities(probes, &plan, look)
                });
                self.found.hop_capacities = found.unwrap_or_default();
            }
            Err(why) => self.left(LeftOut::new(name, why, None)),
        }
    }

    fn slow_train(
        &mut self,
        path: &mut dyn Examined,
        probes: &mut dyn Probes,
        way: Way,
        observer: &mut dyn PartObserver,
    ) {
        let name = named("loss and delay", way);
        let variation = self.part(path, &name, observer, |_, look| {
            slow_train(probes, way, look)
        });
        self.found.variations.extend(variation);
    }

    fn trains(
        &mut self,
        path: &mut dyn Examined,
        probes: &mut dyn Probes,
        way: Way,
        observer: &mut dyn PartObserver,
    ) {
        let (packet, rtt) = (trains::packet(&self.found), trains::rtt(&self.found));
        let capacity = self.part(path, &named("capacity", way), observer, |_, look| {
            trains::capacity(probes, way, packet, look)
        });
        let known = capacity.as_ref().zip(rtt).map(|(capacity, rtt)| Known {
            mtu: packet,
            capacity: capacity.rate,
            rtt,
        });
        self.found.capacities.extend(capacity);
        let name = named("available bandwidth", way);
        let Some(known) = known else {
            let why = "it needs the capacity and the round trip, one of which is not known";
            self.left(LeftOut::new(name, why, None));
            return;
        };
        let available = self.part(path, &name, observer, |_, look| {
            trains::available(probes, way, &known, look)
        });
        self.found.available.extend(available);
    }
}

fn round_trips(probes: &mut dyn Probes, watch: &mut dyn RunObserver) -> Part<ProbeSeries> {
    Ok((probes.round_trips(ROUND_TRIPS, watch)?, None))
}

fn path_mtu(probes: &mut dyn Probes, watch: &mut dyn RunObserver) -> Part<PathMtu> {
    Ok((probes.path_mtu(watch)?, None))
}

fn slow_train(probes: &mut dyn Probes, way: Way, watch: &mut dyn RunObserver) -> Part<Variation> {
    let train = Train::spaced(SLOW_PACKETS, SLOW_SIZE, SLOW_GAP);
    let passages = probes.train(way, &train, watch)?;
    Ok((Variation { way, passages }, Some(train.bytes())))
}

fn branches(probes: &mut dyn Probes, flows: u8, watch: &mut dyn RunObserver) -> Part<Branches> {
    let plan = FlowPlan {
        flows,
        trace: TracePlan {
            rounds: ROUNDS_OF_A_FLOW,
            ..plan(TraceProtocol::Udp)
        },
        echoes: ECHOES,
        spacing: ECHO_SPACING,
    };
    Ok((branches::of(&probes.flows(&plan, watch)?), None))
}

fn hop_capacities(
    probes: &mut dyn Probes,
    plan: &SizedPlan,
    watch: &mut dyn RunObserver,
) -> Part<Vec<HopCapacity>> {
    let hops = probes.sized_hops(plan, watch)?;
    let sizes = hops.iter().flat_map(|hop| &hop.probes);
    let sent = sizes.map(|probe| u64::from(probe.size)).sum();
    Ok((hop_capacity::analyse(&hops), Some(Bytes::new(sent))))
}

/// A trace without an answer tells nothing.
fn trace(
    probes: &mut dyn Probes,
    protocol: TraceProtocol,
    watch: &mut dyn RunObserver,
) -> Part<Trace> {
    let trace = probes.trace(&plan(protocol), watch)?;
    let mut answers = trace
        .hops
        .iter()
        .flat_map(|hop| hop.probes.iter().flatten());
    match answers.next() {
        Some(_) => Ok((trace, None)),
        None => Err(ProbesError::Unsupported {
            why: format!("no host on the way answers {}", name_of(protocol)),
            hint: None,
        }),
    }
}

fn plan(protocol: TraceProtocol) -> TracePlan {
    TracePlan {
        protocol,
        rounds: ROUNDS,
        hops_max: HOPS_MAX,
        patience: PATIENCE,
    }
}

pub(super) fn name_of(protocol: TraceProtocol) -> &'static str {
    match protocol {
        TraceProtocol::Udp => "UDP",
        TraceProtocol::Tcp => "TCP",
        TraceProtocol::Icmp => "ICMP",
    }
}
