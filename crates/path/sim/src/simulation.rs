//! A run, event by event.

use link::{Counters, CrossDeed, CrossSource};
use rand_core::Rng;
use rand_pcg::Pcg64;
use units::{Bytes, Span, Time};

use crate::events::{Event, Fate};
use crate::flow::{Flows, STREAMS};
use crate::measure::Measure;
use crate::network::{Network, Place};
use crate::packet::{Flags, Kind, Packet};
use crate::receiver::Reply;
use crate::seeds::{Purpose, generator};
use crate::sender::Outgoing;
use crate::setup::{self, Terms};
use crate::timers::{Alarm, Timers};
use crate::{Probe, RunResult, Scenario, ScenarioError};

/// A run that can be advanced little by little, for progress and for telemetry on the way.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) terms: Terms,
    network: Network,
    pub(crate) timers: Timers,
    pub(crate) flows: Flows,
    pub(crate) probes: Vec<Probe>,
    sources: Vec<CrossSource>,
    jitter: Pcg64,
    events: Option<Vec<Event>>,
    pub(crate) measure: Measure,
    now: Time,
    pub(crate) end: Time,
    /// Streams that have something left to carry.
    pub(crate) unfinished: u32,
    handled: u64,
}

/// How many packets before its turn a flow's state is fetched: long enough for memory to answer,
/// and short enough for it to stay in the cache.
const LOOK_AHEAD: usize = 4;
/// So many flows stay in the cache by themselves.
const CROWD: usize = 300;

/// The most short transfers of one group at a time: a server has no room for more, and a run's
/// memory has a bound. Those that come then are turned away, and counted.
const TRANSFERS_MAX: u64 = 5_000;

/// IPv4 and UDP headers.
const DATAGRAM_HEADER: u32 = 28;

/// Runs `scenario` from beginning to end.
///
/// # Errors
/// When it cannot be run.
pub fn run(scenario: &Scenario) -> Result<RunResult, ScenarioError> {
    let mut simulation = Simulation::new(scenario)?;
    simulation.advance(simulation.end());
    Ok(simulation.finish())
}

impl Simulation {
    /// A run that has not begun.
    ///
    /// # Errors
    /// When the scenario cannot be run.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        scenario.check()?;
        let terms = setup::terms(scenario);
        let mut timers = Timers::default();
        let flows = setup::flows(scenario, &mut timers);
        let sources = setup::sources(scenario, &mut timers);
        timers.set(Time::ZERO + scenario.warmup, Alarm::WarmupOver);
        if scenario.series_interval.is_some() {
            timers.set(Time::ZERO, Alarm::Sample);
        }
        let mut network = setup::network(scenario, &terms);
        if scenario.log {
            network.report_losses();
        }
        Ok(Simulation {
            terms,
            network,
            timers,
            measure: Measure::new(scenario),
            flows,
            probes: Vec::new(),
            sources,
            events: scenario.log.then(Vec::new),
            jitter: generator(scenario.seed, Purpose::Jitter, 0),
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            unfinished: scenario.streams,
            handled: 0,
            scenario: scenario.clone(),
        })
    }

    /// When it ends at the latest.
    pub fn end(&self) -> Time {
        self.end
    }

    /// How far it has come.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Goes on until `until`; true when everything is done: all data carried, or the end reached.
    pub fn advance(&mut self, until: Time) -> bool {
        let until = until.min(self.end);
        while self.unfinished > 0 || self.scenario.streams == 0 {
            let (at, place) = self.network.next();
            let alarm = self.timers.next();
            if at.min(alarm) > until {
                self.now = until;
                // Not after each event: what is lost once stays lost, and the sum is not cheap.
                debug_assert!(self.is_conserved(), "at {}", self.now.as_secs_f64());
                if self.events.is_some() {
                    self.log_losses();
                }
                return until >= self.end;
            }
            self.handled += 1;
            self.now = at.min(alarm);
            if self.events.is_some() {
                self.log_losses();
            }
            if at <= alarm {
                if self.flows.cards.len() > CROWD {
                    self.look_ahead(place);
                }
                if let Some(packet) = self.network.advance(place, at) {
                    self.on_arrival(packet);
                }
            } else if let Some((_, alarm)) = self.timers.pop() {
                self.on_alarm(alarm);
            }
            if self.events.is_some() {
                self.log_losses();
            }
        }
        debug_assert!(self.is_conserved(), "at {}", self.now.as_secs_f64());
        true
    }

    /// Fetches into the cache what a packet will need that arrives soon.
    #[inline]
    fn look_ahead(&self, place: Place) {
        if let Some(packet) = self.network.upcoming(place, LOOK_AHEAD) {
            self.flows.fetch(packet.flow, packet.is_forward());
        }
    }

    /// What happened to packets since this was last asked; nothing unless the scenario wants a log.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    #[inline]
    fn log(&mut self, packet: &Packet, fate: Fate) {
        if let Some(events) = &mut self.events {
            events.push(Event::of(packet, fate, self.now));
        }
    }

    fn log_losses(&mut self) {
        while let Some((at, packet, cause)) = self.network.take_lost(self.now) {
            if let Some(events) = &mut self.events {
                events.push(Event::of(&packet, Fate::Dropped(cause), at));
            }
        }
    }

    /// What it showed.
    ///
    /// # Panics
    /// When packets were lost without a trace: an error in the simulator, never in the scenario.
    pub fn finish(mut self) -> RunResult {
        assert!(self.is_conserved(), "packets were lost without a trace");
        assert!(
            self.flows.are_consistent(),
            "something was acknowledged that had not arrived, or arrived unsent"
        );
        self.measure.finish(
            &self.scenario,
            &self.flows,
            &mut self.network,
            self.now,
            self.handled,
        )
    }

    /// Every packet that was sent was delivered, was dropped, or is on its way.
    fn is_conserved(&self) -> bool {
        self.network.counters().all(Counters::are_conserved)
            && self.measure.sent == self.network.offered() + self.network.entering()
    }

    #[inline]
    fn on_arrival(&mut self, packet: Packet) {
        self.log(&packet, Fate::Received);
        if packet.kind == Kind::Datagram {
            let payload = packet.size.saturating_sub(DATAGRAM_HEADER);
            return self.measure.on_cross_delivered(packet.group, payload);
        }
        if self.flows.cards[packet.flow as usize].incarnation != packet.incarnation {
            return;
        }
        match packet.kind {
            Kind::Data => self.on_data(packet),
            Kind::Ack => self.on_ack(packet),
            Kind::Syn => self.emit(Packet {
                kind: Kind::SynAck,
                ..packet
            }),
            Kind::SynAck => self.on_connected(packet),
            Kind::Datagram => {}
            Kind::Echo => self.emit(Packet {
                kind: Kind::EchoReply,
                ..packet
            }),
            Kind::EchoReply => self.on_echo_reply(&packet),
        }
    }

    #[inline]
    fn on_data(&mut self, packet: Packet) {
        let receiver = &mut self.flows.receivers[packet.flow as usize];
        match receiver.on_data(&packet, self.terms.delayed_ack, self.terms.quick_acks) {
            Reply::Now => self.acknowledge(packet.flow),
            Reply::Within(patience) => {
                let alarm = Alarm::DelayedAck(packet.flow);
                let due = self.now + patience;
                receiver.delayed.move_to(due, &mut self.timers, alarm);
            }
        }
    }

    fn acknowledge(&mut self, flow: u32) {
        let mut ack = self.packet(Kind::Ack, flow);
        self.flows.receivers[flow as usize].acknowledge(&mut ack);
        self.emit(ack);
    }

    fn on_connected(&mut self, packet: Packet) {
        self.flows.lend(packet.flow);
        let sender = &mut self.flows.senders[packet.flow as usize];
        if sender.is_connecting() {
            sender.on_connected(self.now.since(packet.sent), self.now);
            self.flows.settle(packet.flow);
            self.transmit(packet.flow);
        }
    }

    #[inline]
    fn on_ack(&mut self, packet: Packet) {
        let flow = packet.flow;
        self.flows.lend(flow);
        let sender = &mut self.flows.senders[flow as usize];
        let before = sender.acknowledged();
        let restart = sender.on_ack(&packet, self.now);
        if restart && sender.is_outstanding() {
            let due = self.now + sender.patience();
            let alarm = Alarm::Timeout(flow);
            sender.timeout.move_to(due, &mut self.timers, alarm);
        } else if restart {
            sender.timeout.clear();
        }
        let advanced = sender.acknowledged() - before;
        let done = sender.is_done();
        self.flows.settle(flow);
        if advanced > 0 {
            self.on_progress(&packet, advanced, done);
        }
        self.transmit(flow);
    }

    #[inline]
    fn on_progress(&mut self, ack: &Packet, advanced: u32, done: bool) {
        if ack.group == STREAMS {
            self.measure.on_round_trip(self.now.since(ack.sent));
            if done {
                self.on_completed(ack.flow);
            }
        } else {
            let flow = ack.flow as usize;
            let full = self.scenario.segment();
            let sent = |segments| self.flows.cards[flow].payload(segments, full).get();
            let after = self.flows.senders[flow].acknowledged();
            let payload = (sent(after) - sent(after - advanced)) as u32;
            self.measure.on_cross_delivered(ack.group, payload);
            if done {
                self.measure.on_transfer(ack.group);
                self.flows.retire(ack.flow);
            }
        }
    }

    /// All that a stream had to send is acknowledged.
    pub(crate) fn on_completed(&mut self, flow: u32) {
        let number = self.flows.number(flow);
        self.measure.on_completed(number, self.now);
        self.flows.leave();
        self.unfinished -= 1;
    }

    fn on_alarm(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Sample => {
                self.measure
                    .sample(&self.flows, &mut self.network, self.now);
                if let Some(interval) = self.scenario.series_interval {
                    self.timers.set(self.now + interval, Alarm::Sample);
                }
            }
            Alarm::WarmupOver => {
                let (flows, network) = (&self.flows, &mut self.network);
                self.measure.on_warm(flows, network, self.now);
            }
            Alarm::Start(flow) => self.connect(flow),
            Alarm::DelayedAck(flow) => {
                let receiver = &mut self.flows.receivers[flow as usize];
                let due = receiver.delayed.has_come(self.now, &mut self.timers, alarm);
                if due && receiver.owes() {
                    self.acknowledge(flow);
                }
            }
            Alarm::Send(flow) => {
                let sender = &mut self.flows.senders[flow as usize];
                if sender.send.has_come(self.now, &mut self.timers, alarm) {
                    self.pump(flow);
                }
            }
            Alarm::Timeout(flow) => {
                let sender = &mut self.flows.senders[flow as usize];
                let due = sender.timeout.has_come(self.now, &mut self.timers, alarm);
                if due && sender.is_outstanding() {
                    self.on_timeout(flow);
                }
            }
            Alarm::Source(index) => self.on_source(index),
        }
    }

    /// A source of cross traffic does what it does.
    fn on_source(&mut self, index: u32) {
        let source = &mut self.sources[index as usize];
        let (deed, next) = source.act(self.now);
        self.timers.set(next, Alarm::Source(index));
        let group = source.entry() as u16 + 1;
        match deed {
            CrossDeed::Nothing => {}
            CrossDeed::Datagram => {
                let packet = Packet {
                    group,
                    class: source.class(),
                    flow: index,
                    kind: Kind::Datagram,
                    size: self.scenario.path.cross_datagram().get() as u32,
                    ..Packet::empty(self.now)
                };
                self.emit(packet);
            }
            CrossDeed::Transfer(size) => {
                if self.measure.transfers_under_way(group) >= TRANSFERS_MAX {
                    return self.measure.on_turned_away(group);
                }
                self.measure.on_transfer_begun(group);
                let (sender, card) = setup::transfer(&self.scenario, source, size);
                let flow = self.flows.add_transfer(sender, card);
                self.connect(flow);
            }
        }
    }

    /// Asks for a connection; again without an answer in time.
    fn connect(&mut self, flow: u32) {
        let syn = self.packet(Kind::Syn, flow);
        self.emit(syn);
        self.wait_for_answer(flow);
    }

    fn on_timeout(&mut self, flow: u32) {
        self.flows.lend(flow);
        let sender = &mut self.flows.senders[flow as usize];
        sender.on_timeout(self.now);
        let connecting = sender.is_connecting();
        self.flows.settle(flow);
        if connecting {
            return self.connect(flow);
        }
        self.wait_for_answer(flow);
        self.pump(flow);
    }

    fn wait_for_answer(&mut self, flow: u32) {
        let sender = &mut self.flows.senders[flow as usize];
        let due = self.now + sender.patience();
        sender
            .timeout
            .move_to(due, &mut self.timers, Alarm::Timeout(flow));
    }

    /// Sends what may be sent, now or after a random delay.
    #[inline]
    fn transmit(&mut self, flow: u32) {
        if self.terms.jitter == Span::ZERO {
            return self.pump(flow);
        }
        let sender = &mut self.flows.senders[flow as usize];
        if sender.may_transmit() && !sender.send.is_set() {
            let random =
                u128::from(self.jitter.next_u64()) * u128::from(self.terms.jitter.as_nanos());
            let due = self.now + Span::from_nanos((random >> 64) as u64);
            sender
                .send
                .move_to(due, &mut self.timers, Alarm::Send(flow));
        }
    }

    /// Sends what window and pacing allow.
    #[inline]
    fn pump(&mut self, flow: u32) {
        let mut sent = false;
        self.flows.lend(flow);
        loop {
            let sender = &mut self.flows.senders[flow as usize];
            if let Some(due) = sender.pacing_waits(self.now) {
                if sender.may_transmit() {
                    sender
                        .send
                        .move_to(due, &mut self.timers, Alarm::Send(flow));
                }
                break;
            }
            let Some(outgoing) = sender.poll_transmit() else {
                break;
            };
            let packet = self.segment(flow, outgoing);
            let sender = &mut self.flows.senders[flow as usize];
            sender.on_sent(outgoing, Bytes::new(u64::from(packet.size)), self.now);
            self.emit(packet);
            sent = true;
        }
        self.flows.senders[flow as usize].note_limits(self.now);
        if sent && !self.flows.senders[flow as usize].timeout.is_set() {
            self.wait_for_answer(flow);
        }
    }

    #[inline]
    fn segment(&mut self, flow: u32, outgoing: Outgoing) -> Packet {
        let card = self.flows.cards[flow as usize];
        // RFC 3168 sections 6.1.2 and 6.1.5: what is sent again is neither marked by the path nor
        // tells of a reduction.
        let reduced = !outgoing.again && self.flows.senders[flow as usize].takes_reduction_notice();
        let speaks = self.flows.senders[flow as usize].always_speaks_ecn();
        let marks = match outgoing.again {
            true => Flags::default(),
            false if speaks => Flags::default().with(Flags::ECN_CAPABLE, true),
            false => self.terms.data_flags,
        };
        let size = match outgoing.number == card.last {
            true => card.last_payload + self.terms.header,
            false => self.terms.full,
        };
        Packet {
            number: outgoing.number,
            size,
            flags: marks
                .with(Flags::AGAIN, outgoing.again)
                .with(Flags::REDUCED, reduced),
            ..self.packet(Kind::Data, flow)
        }
    }

    /// A packet of `flow` with a header and nothing more.
    #[inline]
    pub(crate) fn packet(&self, kind: Kind, flow: u32) -> Packet {
        let card = &self.flows.cards[flow as usize];
        Packet {
            flow,
            kind,
            group: card.group,
            class: card.class,
            incarnation: card.incarnation,
            size: self.terms.header,
            ..Packet::empty(self.now)
        }
    }

    #[inline]
    pub(crate) fn emit(&mut self, packet: Packet) {
        self.measure.sent += 1;
        self.log(&packet, Fate::Sent);
        self.network.send(packet, self.now);
    }
}
