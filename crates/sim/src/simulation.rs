//! A run, event by event.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Bytes, Span, Time};

use crate::check::check;
use crate::flow::{Flows, STREAMS};
use crate::measure::Measure;
use crate::network::{Network, Step, Way};
use crate::packet::{Flags, Kind, Packet};
use crate::receiver::Reply;
use crate::sender::Outgoing;
use crate::setup;
use crate::timers::{Alarm, Timers};
use crate::{Probe, RunResult, Scenario, ScenarioError};

/// A run that can be advanced little by little, for progress and for telemetry on the way.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) terms: Terms,
    network: Network,
    timers: Timers,
    pub(crate) flows: Flows,
    pub(crate) probes: Vec<Probe>,
    jitter: Pcg64,
    measure: Measure,
    now: Time,
    end: Time,
    /// Streams that have something left to carry.
    unfinished: u32,
    events: u64,
}

/// What all flows of a run have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// Size of a full segment on the wire.
    pub full: u32,
    /// Size of an acknowledgement.
    pub header: u32,
    pub delayed_ack: Option<Span>,
    pub jitter: Span,
    pub data_flags: Flags,
}

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
        check(scenario)?;
        let terms = setup::terms(scenario);
        let mut timers = Timers::default();
        let flows = setup::flows(scenario, &mut timers);
        timers.set(Time::ZERO + scenario.warmup, Alarm::WarmupOver);
        if scenario.series_interval.is_some() {
            timers.set(Time::ZERO, Alarm::Sample);
        }
        Ok(Simulation {
            terms,
            network: setup::network(scenario, &terms),
            timers,
            measure: Measure::new(scenario, flows.cards.len()),
            flows,
            probes: Vec::new(),
            jitter: Pcg64::seed_from_u64(scenario.seed ^ 0x6a69_7474_6572),
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            unfinished: scenario.streams,
            events: 0,
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
        while self.unfinished > 0 {
            let (at, place) = self.network.next();
            let alarm = self.timers.next();
            if at.min(alarm) > until {
                self.now = until;
                return until >= self.end;
            }
            self.events += 1;
            if at <= alarm {
                self.now = at;
                if let Some(step) = self.network.advance(place, at) {
                    self.on_step(step);
                }
            } else if let Some((at, alarm)) = self.timers.pop() {
                self.now = at;
                self.on_alarm(alarm);
            }
            debug_assert!(self.is_conserved(), "at {}", self.now.as_secs_f64());
        }
        true
    }

    /// What it showed.
    ///
    /// # Panics
    /// When packets were lost without a trace: an error in the simulator, never in the scenario.
    pub fn finish(mut self) -> RunResult {
        assert!(self.is_conserved(), "packets were lost without a trace");
        self.measure.finish(
            &self.scenario,
            &self.flows,
            &mut self.network,
            self.now,
            self.events,
        )
    }

    /// Every packet that was sent was delivered, was dropped, or is on its way.
    fn is_conserved(&self) -> bool {
        let links = [Way::Forward, Way::Backward].map(|way| self.network.counters(way));
        let offered: u64 = links.iter().map(|link| link.offered.packets).sum();
        links.iter().all(|link| link.are_conserved())
            && self.measure.sent == offered + self.network.entering()
    }

    #[inline]
    fn on_step(&mut self, step: Step) {
        match step {
            Step::Arrived(packet) => self.on_arrival(packet),
            Step::Queued(_) | Step::Dropped(..) => {}
        }
    }

    #[inline]
    fn on_arrival(&mut self, packet: Packet) {
        let flow = packet.flow as usize;
        if self.flows.cards[flow].incarnation != packet.incarnation {
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
        match receiver.on_data(&packet, self.terms.delayed_ack) {
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
        let sender = &mut self.flows.senders[packet.flow as usize];
        if sender.is_connecting() {
            sender.on_connected(self.now.since(packet.sent));
            self.transmit(packet.flow);
        }
    }

    #[inline]
    fn on_ack(&mut self, packet: Packet) {
        let flow = packet.flow;
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
        if sender.acknowledged() > before {
            let done = sender.is_done();
            self.on_progress(flow, packet.sent, done);
        }
        self.transmit(flow);
    }

    #[inline]
    fn on_progress(&mut self, flow: u32, sent: Time, done: bool) {
        if self.flows.cards[flow as usize].group != STREAMS {
            return;
        }
        self.measure.on_round_trip(self.now.since(sent));
        if done {
            self.measure.on_completed(flow, self.now);
            self.unfinished -= 1;
        }
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
            Alarm::Source(_) => {}
        }
    }

    /// Asks for a connection; again when nobody answers in time.
    fn connect(&mut self, flow: u32) {
        let syn = self.packet(Kind::Syn, flow);
        self.emit(syn);
        self.wait_for_answer(flow);
    }

    fn on_timeout(&mut self, flow: u32) {
        let sender = &mut self.flows.senders[flow as usize];
        sender.on_timeout(self.now);
        if sender.is_connecting() {
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
            let random = self.jitter.next_u64() % self.terms.jitter.as_nanos();
            let due = self.now + Span::from_nanos(random);
            sender
                .send
                .move_to(due, &mut self.timers, Alarm::Send(flow));
        }
    }

    /// Sends what window and pacing allow.
    #[inline]
    fn pump(&mut self, flow: u32) {
        let mut sent = false;
        loop {
            let sender = &mut self.flows.senders[flow as usize];
            let pacing = sender.pacing();
            if pacing.is_some() && sender.paced_until > self.now {
                let due = sender.paced_until;
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
            sender.on_sent(outgoing, self.now);
            let packet = self.segment(flow, outgoing);
            if let Some(rate) = pacing {
                let spacing = rate.time_to_send(Bytes::new(u64::from(packet.size)));
                self.flows.senders[flow as usize].paced_until = self.now + spacing;
            }
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
        let reduced = self.flows.senders[flow as usize].takes_reduction_notice();
        let size = match outgoing.number == card.last {
            true => card.last_size,
            false => self.terms.full,
        };
        Packet {
            number: outgoing.number,
            size,
            flags: self
                .terms
                .data_flags
                .with(Flags::AGAIN, outgoing.again)
                .with(Flags::REDUCED, reduced),
            ..self.packet(Kind::Data, flow)
        }
    }

    /// A packet with a header and nothing more.
    #[inline]
    pub(crate) fn packet(&self, kind: Kind, flow: u32) -> Packet {
        let card = &self.flows.cards[flow as usize];
        Packet {
            sent: self.now,
            flow,
            number: 0,
            kind,
            incarnation: card.incarnation,
            flags: Flags::default(),
            class: card.class,
            block_count: 0,
            size: self.terms.header,
            blocks: Default::default(),
        }
    }

    #[inline]
    pub(crate) fn emit(&mut self, packet: Packet) {
        let group = self.flows.cards[packet.flow as usize].group;
        self.measure.sent += 1;
        if let Some(step) = self.network.send(packet, group, self.now) {
            self.on_step(step);
        }
    }
}
