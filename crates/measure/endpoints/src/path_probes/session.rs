//! A session with a server that stamps packets.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use measure_protocol::trains::{
    ProbingAction, ProbingClient, ProbingError, Refused, Seen, Stamp, Traced, TrainPlan, Zero,
};
use measure_protocol::{Answer, EchoToken};
use observe::{Clocks, Passage, Passages, RunObserver, Stamped, Way};
use probe_net::trains::{ClockWasSet, Departed, Stamper, TrainSocket, TransmitError, transmit};
use sockets::Clock;
use sockets::FarEnd;
use sockets::poll::{readable, wait};
use thiserror::Error;
use units::{Span, Time};

use crate::control_connection::{ControlConnection, Heard};

/// Distance of two openers, until the server shows that one has come.
const OPENER_INTERVAL: Span = Span::from_millis(50);
/// How soon a cancellation is noticed.
const TICK: Span = Span::from_millis(100);
/// Longest time for the server to take what is sent to it.
const SEND_LIMIT: Duration = Duration::from_secs(30);

/// The session.
#[derive(Debug)]
pub(super) struct ProbingSession {
    clock: Clock,
    control: ControlConnection,
    token: EchoToken,
    server: FarEnd,
    machine: ProbingClient,
    socket: Option<TrainSocket>,
    /// Whether the server looks for the way back.
    traces: bool,
}

/// What came of asking for a train.
#[derive(Debug)]
pub(super) enum Outcome {
    /// This became of it.
    Seen(Passages),
    /// The server did not send or stamp it; the session goes on.
    Refused(Refused),
    /// The stamps that were taken here cannot be compared.
    Unstamped(ClockWasSet),
}

/// Why a session is over.
#[derive(Debug, Error)]
pub(super) enum LinkError {
    /// The server broke the protocol or went silent.
    #[error(transparent)]
    Server(#[from] ProbingError),
    /// A train could not be sent from here.
    #[error(transparent)]
    Transmit(#[from] TransmitError),
    /// This host failed.
    #[error("a socket of this host failed: {0}")]
    Host(#[from] io::Error),
    /// The user ended it.
    #[error("the train was cancelled")]
    Cancelled,
}

impl ProbingSession {
    /// The session that `answer` agreed to.
    pub(super) fn new(control: ControlConnection, answer: &Answer, server: FarEnd) -> Self {
        let clock = Clock::start();
        ProbingSession {
            clock,
            control,
            token: answer.echo_token,
            server,
            machine: ProbingClient::new(clock.now()),
            socket: None,
            traces: answer.trace,
        }
    }

    /// What the server answers echoes with, as long as the session lasts.
    pub(super) fn token(&self) -> EchoToken {
        self.token
    }

    /// Whether the server is still there, as far as the connection shows.
    pub(super) fn is_open(&mut self) -> bool {
        self.hear().is_ok()
    }

    /// Tells the server that this silent client is still there.
    pub(super) fn stay_alive(&mut self) {
        self.machine.stay_alive();
        // A server that is gone shows when the next train is asked for.
        let _ = self.say();
    }

    /// The socket for trains, made for the first of them.
    pub(super) fn socket(&mut self) -> io::Result<&TrainSocket> {
        let made = match self.socket.take() {
            Some(socket) => socket,
            None => TrainSocket::towards(&self.server, self.token)?,
        };
        Ok(self.socket.insert(made))
    }

    /// Asks for a train, and sends or receives it. After an error the session is over.
    pub(super) fn train(
        &mut self,
        plan: &TrainPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Outcome, LinkError> {
        self.socket()?;
        let stamper = Stamper::start();
        self.machine.ask(self.clock.now(), plan);
        let mut departed = Departed::default();
        let mut next_opener = Time::ZERO;
        loop {
            while let Some(action) = self.machine.next_action() {
                match action {
                    ProbingAction::Send(bytes) => self.control.send(&bytes, SEND_LIMIT)?,
                    ProbingAction::Transmit => departed = self.transmit(plan, watch)?,
                    ProbingAction::Done(seen) => return Ok(outcome(&stamper, &departed, seen)),
                    ProbingAction::Refused(refused) => return Ok(Outcome::Refused(refused)),
                    // Not asked for, so that it never comes.
                    ProbingAction::Traced(_) => {}
                }
            }
            if watch.is_cancelled() {
                return Err(LinkError::Cancelled);
            }
            next_opener = self.open(next_opener);
            self.wait(next_opener)?;
            self.take_packets(&stamper);
            self.hear()?;
            if self
                .machine
                .deadline()
                .is_some_and(|at| at <= self.clock.now())
            {
                self.machine.on_deadline()?;
            }
        }
    }

    /// Whether the server looks for the way back where it is asked to.
    pub(super) fn traces_back(&self) -> bool {
        self.traces
    }

    /// Asks for the way from the server to this host, which the server may refuse. After an error
    /// the session is over.
    pub(super) fn trace_back(
        &mut self,
        watch: &mut dyn RunObserver,
    ) -> Result<Result<Traced, Refused>, LinkError> {
        self.machine.ask_trace(self.clock.now());
        loop {
            while let Some(action) = self.machine.next_action() {
                match action {
                    ProbingAction::Send(bytes) => self.control.send(&bytes, SEND_LIMIT)?,
                    ProbingAction::Traced(traced) => return Ok(Ok(traced)),
                    ProbingAction::Refused(refused) => return Ok(Err(refused)),
                    ProbingAction::Transmit | ProbingAction::Done(_) => {}
                }
            }
            if watch.is_cancelled() {
                return Err(LinkError::Cancelled);
            }
            self.wait(self.clock.now())?;
            self.hear()?;
            let deadline = self.machine.deadline();
            if deadline.is_some_and(|at| at <= self.clock.now()) {
                self.machine.on_deadline()?;
            }
        }
    }

    fn transmit(
        &mut self,
        plan: &TrainPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Departed, LinkError> {
        let number = self.machine.number();
        let departed = transmit(self.socket()?, number, plan, &mut || watch.is_cancelled())?;
        self.machine.on_sent(self.clock.now());
        Ok(departed)
    }

    /// Sends an opener when one is due; when the next one is.
    fn open(&self, due: Time) -> Time {
        let now = self.clock.now();
        match &self.socket {
            Some(socket) if self.machine.wants_opener() && now >= due => {
                socket.open(self.machine.number());
                now + OPENER_INTERVAL
            }
            _ => due,
        }
    }

    fn wait(&self, next_opener: Time) -> io::Result<()> {
        let now = self.clock.now();
        let opener = self.machine.wants_opener().then_some(next_opener);
        let moments = [opener, self.machine.deadline()].into_iter().flatten();
        let limit = moments.map(|at| at.since(now)).fold(TICK, Span::min);
        let mut watched = vec![readable(self.control.as_fd())];
        watched.extend(self.socket.iter().map(|socket| readable(socket.as_fd())));
        wait(&mut watched, limit.into())?;
        Ok(())
    }

    fn take_packets(&mut self, stamper: &Stamper) {
        let (machine, now) = (&mut self.machine, self.clock.now());
        if let Some(socket) = &self.socket {
            stamper.drain(socket, |packet| {
                let datagram = packet.datagram;
                machine.on_packet(
                    now,
                    datagram.train,
                    datagram.packet,
                    packet.packet,
                    packet.arrival,
                );
            });
        }
    }

    fn hear(&mut self) -> Result<(), ProbingError> {
        let mut buffer = [0; 64 << 10];
        match self.control.read(&mut buffer) {
            Heard::Nothing => Ok(()),
            Heard::Closed => self.machine.on_closed(),
            Heard::Bytes(got) => {
                let bytes = buffer.get(..got).unwrap_or_default();
                self.machine.on_bytes(self.clock.now(), bytes)
            }
        }
    }

    fn say(&mut self) -> io::Result<()> {
        while let Some(action) = self.machine.next_action() {
            if let ProbingAction::Send(bytes) = action {
                self.control.send(&bytes, SEND_LIMIT)?;
            }
        }
        Ok(())
    }
}

fn outcome(stamper: &Stamper, near: &Departed, seen: Seen) -> Outcome {
    match seen {
        Seen::Forward {
            stamped,
            arrived,
            zero,
        } => {
            let clocks = clocks(Way::Forward, near.zero, zero);
            Outcome::Seen(passages(&near.left, &arrived, stamped, clocks))
        }
        Seen::Reverse {
            left,
            zero,
            collection,
        } => match stamper.judge(&collection) {
            Ok((stamped, arrived)) => {
                let clocks = clocks(Way::Reverse, stamper.zero(), zero);
                Outcome::Seen(passages(&left, &arrived, stamped, clocks))
            }
            Err(set) => Outcome::Unstamped(set),
        },
    }
}

/// How the zeros of both ends stand to each other, and how far each clock is off at the most.
fn clocks(way: Way, near: Option<Zero>, far: Option<Zero>) -> Option<Clocks> {
    let (near, far) = (near?, far?);
    let (sender, receiver) = match way {
        Way::Forward => (near, far),
        Way::Reverse => (far, near),
    };
    let ahead = i128::from(receiver.unix_ns) - i128::from(sender.unix_ns);
    Some(Clocks {
        // Nothing is said of clocks that are centuries apart.
        ahead_nanos: i64::try_from(ahead).ok()?,
        error_near: near.error_ns.map(Span::from_nanos),
        error_far: far.error_ns.map(Span::from_nanos),
    })
}

fn passages(
    left: &[Span],
    arrived: &[Option<Span>],
    stamped: Stamp,
    clocks: Option<Clocks>,
) -> Passages {
    let packets = left.iter().zip(arrived);
    Passages {
        packets: packets
            .map(|(left, arrived)| Passage {
                left: *left,
                arrived: *arrived,
            })
            .collect(),
        stamped: match stamped {
            Stamp::Kernel => Stamped::ByKernel,
            Stamp::Program => Stamped::ByProgram,
        },
        clocks,
    }
}
