//! One client's probing session, from where both ends agreed on it.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use measure_protocol::EchoToken;
use measure_protocol::trains::{
    Cause, Collection, DatagramKind, ProbingServer, ProbingServerAction, TrainPlan,
};
use units::{Bytes, Span, Time};

use super::Shared;
use super::enforce;
use super::event::{SessionError, SessionSummary};
use super::probe_demux::{Door, uniform};
use super::trace_back;
use crate::control_connection::{ControlConnection, Heard};
use probe_net::trains::{SharedPort, Stamper, TrainSocket, TransmitError, least_packet, transmit};
use sockets::Clock;
use sockets::poll::{is_ready, readable, wait};

/// How soon a stop of the server is noticed.
const TICK: Span = Span::from_millis(100);
/// Longest time for a client to take what is sent to it.
const SEND_LIMIT: Duration = Duration::from_secs(30);
/// Packets are read so much later than the first of them came: the kernel has stamped them, and
/// reading each at once would take a processor from those who carry them.
const READ_LATER: Duration = Duration::from_millis(1);

/// A session at work.
pub(super) struct Probing<'a> {
    shared: &'a Shared<'a>,
    clock: Clock,
    control: &'a mut ControlConnection,
    token: EchoToken,
    local: SocketAddr,
    peer: SocketAddr,
    machine: ProbingServer,
    door: Door<'a>,
    route: Option<Route>,
    received: Bytes,
    sent: Bytes,
}

/// The way to the client's datagrams, and the train on it.
struct Route {
    socket: TrainSocket,
    stamper: Stamper,
}

impl<'a> Probing<'a> {
    /// Begins it for `peer`; datagrams have to carry `token`, and openers come through `demux`.
    pub(super) fn begin(
        shared: &'a Shared<'a>,
        control: &'a mut ControlConnection,
        peer: SocketAddr,
        token: EchoToken,
        door: Door<'a>,
    ) -> Result<Self, SessionError> {
        let clock = Clock::start();
        let local = uniform(control.local_address()?);
        let limits = shared.limits.probing;
        let least = least_packet(peer.ip());
        let mut bounds = limits.bounds;
        if let Some(most) = shared.limits.tests.rate_max {
            bounds.rate_max = bounds.rate_max.min(most);
        }
        Ok(Probing {
            shared,
            clock,
            control,
            token,
            local,
            peer,
            machine: ProbingServer::new(bounds, limits.waits, least, clock.now()),
            door,
            route: None,
            received: Bytes::ZERO,
            sent: Bytes::ZERO,
        })
    }

    /// Serves trains until the client leaves; `early` is what it has said already.
    pub(super) fn run(mut self, early: &[u8]) -> Result<SessionSummary, SessionError> {
        self.machine.on_bytes(self.clock.now(), early)?;
        loop {
            while let Some(action) = self.machine.next_action() {
                self.act(action)?;
            }
            self.wait()?;
            if self.shared.is_stopped() {
                return Err(SessionError::Stopped);
            }
            enforce::check_time(&self.shared.limits, self.clock.now().since(Time::ZERO))?;
            self.take_openers();
            self.take_packets();
            if self.hear()? == Presence::Gone {
                return Ok(self.summary());
            }
            if self
                .machine
                .deadline()
                .is_some_and(|at| at <= self.clock.now())
            {
                self.machine.on_deadline(self.clock.now())?;
            }
        }
    }

    fn act(&mut self, action: ProbingServerAction) -> Result<(), SessionError> {
        match action {
            ProbingServerAction::Send(bytes) => self.control.send(&bytes, SEND_LIMIT)?,
            ProbingServerAction::Receive(_) => {
                self.route
                    .iter_mut()
                    .for_each(|route| route.stamper = Stamper::start());
            }
            ProbingServerAction::Transmit(number, plan) => self.transmit(number, &plan),
            ProbingServerAction::Trace => self.trace(),
            ProbingServerAction::Judge(seen) => self.judge(&seen),
        }
        Ok(())
    }

    fn transmit(&mut self, number: u32, plan: &TrainPlan) {
        let Some(route) = &self.route else { return };
        let (shared, control) = (self.shared, &self.control);
        let mut is_over = || shared.is_stopped() || control.is_closed();
        let outcome = transmit(&route.socket, number, plan, &mut is_over);
        let now = self.clock.now();
        match outcome {
            Ok(departed) => {
                self.sent += plan.bytes();
                self.machine
                    .give_departures(now, &departed.left, departed.zero);
            }
            Err(error) => {
                let cause = match error {
                    TransmitError::TooLarge { .. } => Cause::Bound,
                    _ => Cause::Host,
                };
                self.machine
                    .refuse(now, cause, format!("at the server, {error}"));
            }
        }
    }

    fn trace(&mut self) {
        let found = trace_back::look(self.shared, self.control, self.peer);
        let now = self.clock.now();
        match found {
            Ok(trace) => {
                let hops = trace_back::told(&trace);
                self.machine.give_trace(now, trace.reached, hops);
            }
            Err((cause, why)) => self.machine.refuse(now, cause, why),
        }
    }

    fn judge(&mut self, seen: &Collection) {
        let Some(route) = &self.route else { return };
        let now = self.clock.now();
        match route.stamper.judge(seen) {
            Ok((stamped, arrived)) => {
                let zero = route.stamper.zero();
                self.machine.give_arrivals(now, stamped, &arrived, zero);
            }
            Err(set) => {
                let why = format!("at the server, {set}");
                self.machine.refuse(now, Cause::Clock, why);
            }
        }
    }

    fn wait(&self) -> Result<(), SessionError> {
        let now = self.clock.now();
        let deadline = self.machine.deadline().map_or(TICK, |at| at.since(now));
        let mut watched = vec![readable(self.control.as_fd()), readable(self.door.as_fd())];
        let socket = self.route.as_ref().map(|route| route.socket.as_fd());
        watched.extend(socket.map(readable));
        wait(&mut watched, deadline.min(TICK).into())?;
        if watched.get(2).is_some_and(is_ready) {
            thread::sleep(READ_LATER);
        }
        Ok(())
    }

    /// A client that comes from another port than before has a new way.
    fn take_openers(&mut self) {
        while let Some(opener) = self.door.next() {
            let now = self.clock.now();
            if self
                .route
                .as_ref()
                .is_none_or(|route| route.socket.peer() != opener.from)
            {
                // Closed before another is opened: both would have the same address here.
                self.route = None;
                match self.open(opener.from) {
                    Ok(socket) => {
                        let stamper = Stamper::start();
                        self.route = Some(Route { socket, stamper });
                    }
                    Err(error) => {
                        let why = format!("the server cannot open a socket for trains: {error}");
                        self.machine.refuse(now, Cause::Host, why);
                        continue;
                    }
                }
            }
            self.machine.on_opener(now, opener.train);
        }
    }

    fn open(&self, peer: SocketAddr) -> std::io::Result<TrainSocket> {
        let shared = self.shared.echo.ok_or(std::io::ErrorKind::Unsupported)?;
        let beside = SharedPort {
            shared,
            lock: &self.shared.port,
        };
        TrainSocket::on_shared_port(beside, self.local, peer, self.token)
    }

    fn take_packets(&mut self) {
        let Some(route) = &self.route else { return };
        let (machine, received, now) = (&mut self.machine, &mut self.received, self.clock.now());
        route.stamper.drain(&route.socket, |packet| {
            let datagram = packet.datagram;
            *received += packet.packet;
            match datagram.kind {
                DatagramKind::Opener => machine.on_opener(now, datagram.train),
                DatagramKind::Packet => machine.on_packet(
                    now,
                    datagram.train,
                    datagram.packet,
                    packet.packet,
                    packet.arrival,
                ),
            }
        });
    }

    fn hear(&mut self) -> Result<Presence, SessionError> {
        let mut buffer = [0; 16 << 10];
        match self.control.read(&mut buffer) {
            Heard::Nothing => {}
            Heard::Closed => {
                self.machine.on_closed()?;
                return Ok(Presence::Gone);
            }
            Heard::Bytes(got) => {
                let bytes = buffer.get(..got).unwrap_or_default();
                self.machine.on_bytes(self.clock.now(), bytes)?;
            }
        }
        Ok(Presence::There)
    }

    fn summary(&self) -> SessionSummary {
        SessionSummary {
            duration: self.clock.now().since(units::Time::ZERO),
            received: self.received,
            sent: self.sent,
            notes: Vec::new(),
        }
    }
}

#[derive(PartialEq)]
enum Presence {
    There,
    Gone,
}
