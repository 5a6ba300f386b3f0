//! The server's side of a session.

use std::collections::VecDeque;

use thiserror::Error;
use units::{Bytes, Span, Time, Way};

use super::budget::Budget;
use super::message::{self, Announcement};
use super::{
    Arrival, Bounds, Cause, Collection, FromClient, FromServer, MESSAGE_BOUND, Refused, Stamp,
    Stamps, Traced, TracedHop, TrainPlan, Zero,
};
use crate::FrameError;
use crate::frame::FrameReader;

/// What the driver has to do, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbingServerAction {
    /// Write these bytes to the control connection.
    Send(Vec<u8>),
    /// Packets of this train are about to come: note the zero of their stamps, and call
    /// [`ProbingServer::on_packet`] for each.
    Receive(u32),
    /// Send this train to where the client's datagram came from; call
    /// [`ProbingServer::give_departures`] or [`ProbingServer::refuse`].
    Transmit(u32, TrainPlan),
    /// Look for the way to the client's address. Call [`ProbingServer::give_trace`] or
    /// [`ProbingServer::refuse`].
    Trace,
    /// This is all that came of the train. Call [`ProbingServer::give_arrivals`] or
    /// [`ProbingServer::refuse`].
    Judge(Collection),
}

/// Traces of one session at the most: each costs routers on the way some of their answers.
const TRACES_MAX: u32 = 8;

/// How long a server waits for a client that probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbingWaits {
    /// For the next message, between two trains.
    pub idle: Span,
    /// For the client's datagram, from when the train is announced.
    pub opener: Span,
    /// For the end of a forward train, beyond its length.
    pub grace: Span,
}

impl Default for ProbingWaits {
    /// Clients say every 30 s that they are alive; datagrams are repeated, so that 5 s are many.
    fn default() -> Self {
        ProbingWaits {
            idle: Span::from_secs(120),
            opener: Span::from_secs(5),
            grace: Span::from_secs(15),
        }
    }
}

/// Why a session ended early.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProbingServerError {
    /// A message with an impossible length.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A message that cannot be read.
    #[error("the client's message cannot be read: {0}")]
    Message(String),
    /// A second train at the same time.
    #[error("the client asked for train {asked} while train {running} was not over")]
    Overlap {
        /// The one that was asked for.
        asked: u32,
        /// The one on its way.
        running: u32,
    },
    /// Nothing was asked for.
    #[error("the client has asked for nothing for {0}")]
    Idle(Span),
    /// The control connection ended in the middle of a train.
    #[error("the client vanished during train {0}")]
    Vanished(u32),
}

/// The conversation, from where both ends agreed to probe.
#[derive(Debug)]
pub struct ProbingServer {
    bounds: Bounds,
    waits: ProbingWaits,
    least: Bytes,
    budget: Budget,
    traces: u32,
    phase: Phase,
    since: Time,
    /// The train that the client's last datagram was for.
    opened: Option<u32>,
    reader: FrameReader,
    actions: VecDeque<ProbingServerAction>,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Opening(u32, TrainPlan),
    Receiving(Receiving),
    /// The driver is to move.
    Working(u32),
}

#[derive(Debug)]
struct Receiving {
    number: u32,
    packet: Bytes,
    length: Span,
    collection: Collection,
    sent: Option<Time>,
}

type Outcome = Result<(), ProbingServerError>;

impl ProbingServer {
    /// A session; `least` is the size of a packet that carries a [`super::Datagram`] and nothing
    /// else.
    pub fn new(bounds: Bounds, waits: ProbingWaits, least: Bytes, now: Time) -> Self {
        ProbingServer {
            bounds,
            waits,
            least,
            budget: Budget::full(bounds.rate_max, bounds.at_once(), now),
            traces: 0,
            phase: Phase::Idle,
            since: now,
            opened: None,
            reader: FrameReader::new(MESSAGE_BOUND),
            actions: VecDeque::new(),
        }
    }

    /// The next thing to do; `None` when the client or the driver has to move first.
    pub fn next_action(&mut self) -> Option<ProbingServerAction> {
        self.actions.pop_front()
    }

    /// When [`Self::on_deadline`] has to be called unless something moves before.
    pub fn deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Idle => Some(self.since + self.waits.idle),
            Phase::Opening(..) => Some(self.since + self.waits.opener),
            Phase::Receiving(train) => Some(match train.sent {
                Some(sent) => train.collection.given_up_at(sent),
                None => self.since + train.length + self.waits.grace,
            }),
            Phase::Working(_) => None,
        }
    }

    /// Takes bytes of the control connection, split anywhere.
    ///
    /// # Errors
    /// When the client broke the protocol. The session is over then.
    pub fn on_bytes(&mut self, now: Time, bytes: &[u8]) -> Outcome {
        let mut input = bytes;
        while !input.is_empty() {
            if let Some(json) = self.reader.feed(&mut input)? {
                self.reader = FrameReader::new(MESSAGE_BOUND);
                let message = message::decode(&json).map_err(ProbingServerError::Message)?;
                self.on_message(now, message)?;
            }
        }
        Ok(())
    }

    /// The client closed the control connection, or it broke.
    ///
    /// # Errors
    /// In the middle of a train.
    pub fn on_closed(&mut self) -> Outcome {
        match self.running() {
            Some(number) => Err(ProbingServerError::Vanished(number)),
            None => Ok(()),
        }
    }

    /// The deadline has passed.
    ///
    /// # Errors
    /// When the client has asked for nothing for too long.
    pub fn on_deadline(&mut self, now: Time) -> Outcome {
        match &self.phase {
            Phase::Idle => Err(ProbingServerError::Idle(self.waits.idle)),
            Phase::Opening(..) => {
                let wait = self.waits.opener;
                let why = format!("no datagram of the client reached the server within {wait}");
                self.refuse(now, Cause::Unopened, why);
                Ok(())
            }
            Phase::Receiving(_) => {
                self.judge();
                Ok(())
            }
            Phase::Working(_) => Ok(()),
        }
    }

    /// An opener with the token of this session came from the client's host, for this train.
    pub fn on_opener(&mut self, now: Time, number: u32) {
        self.opened = Some(number);
        self.begin_when_open(now);
    }

    /// A packet of train `number` has arrived, of `size` at the IP layer. One of another size is
    /// none of it.
    pub fn on_packet(
        &mut self,
        now: Time,
        number: u32,
        packet: u32,
        size: Bytes,
        arrival: Arrival,
    ) {
        if let Phase::Receiving(train) = &mut self.phase
            && (train.number, train.packet) == (number, size)
        {
            train.collection.put(now, packet, arrival);
            if train.collection.is_complete() {
                self.judge();
            }
        }
    }

    /// The stamps of what [`ProbingServerAction::Judge`] showed.
    pub fn give_arrivals(
        &mut self,
        now: Time,
        stamped: Stamp,
        arrived: &[Option<Span>],
        zero: Option<Zero>,
    ) {
        let nanos = |at: &Option<Span>| at.map(Span::as_nanos);
        if let Phase::Working(number) = self.phase {
            self.answer(
                now,
                &FromServer::Arrived(Stamps {
                    number,
                    stamped,
                    arrived_ns: arrived.iter().map(nanos).collect(),
                    zero,
                }),
            );
        }
    }

    /// When the packets left that [`ProbingServerAction::Transmit`] asked for.
    pub fn give_departures(&mut self, now: Time, left: &[Span], zero: Option<Zero>) {
        if let Phase::Working(number) = self.phase {
            let left_ns = left.iter().map(|at| at.as_nanos()).collect();
            let left = FromServer::Left {
                number,
                left_ns,
                zero,
            };
            self.answer(now, &left);
        }
    }

    /// What [`ProbingServerAction::Trace`] asked for.
    pub fn give_trace(&mut self, now: Time, reached: bool, hops: Vec<TracedHop>) {
        if let Phase::Working(number) = self.phase {
            let traced = Traced {
                number,
                reached,
                hops,
            };
            self.answer(now, &FromServer::Traced(traced));
        }
    }

    /// The train comes to nothing; the session goes on.
    pub fn refuse(&mut self, now: Time, cause: Cause, why: String) {
        if let Some(number) = self.running() {
            self.answer(
                now,
                &FromServer::Refused(Refused {
                    number,
                    cause,
                    why,
                    again_ms: None,
                }),
            );
        }
    }

    fn running(&self) -> Option<u32> {
        match &self.phase {
            Phase::Idle => None,
            Phase::Opening(number, _) | Phase::Working(number) => Some(*number),
            Phase::Receiving(train) => Some(train.number),
        }
    }

    fn on_message(&mut self, now: Time, message: FromClient) -> Outcome {
        match message {
            FromClient::Alive {} => {
                if let Phase::Idle = self.phase {
                    self.since = now;
                }
                Ok(())
            }
            FromClient::Train(asked) => self.on_announcement(now, &asked),
            FromClient::Trace { number } => self.on_trace(now, number),
            FromClient::Sent { number } => {
                // Of a train that was complete before, nothing is left to say.
                if let Phase::Receiving(train) = &mut self.phase
                    && train.number == number
                {
                    train.sent.get_or_insert(now);
                }
                Ok(())
            }
        }
    }

    fn on_trace(&mut self, now: Time, asked: u32) -> Outcome {
        if let Some(running) = self.running() {
            return Err(ProbingServerError::Overlap { asked, running });
        }
        self.enter(now, Phase::Working(asked));
        self.traces = self.traces.saturating_add(1);
        match self.traces <= TRACES_MAX {
            true => self.actions.push_back(ProbingServerAction::Trace),
            false => {
                let why = format!("a session has {TRACES_MAX} traces");
                self.refuse(now, Cause::Rate, why);
            }
        }
        Ok(())
    }

    fn on_announcement(&mut self, now: Time, asked: &Announcement) -> Outcome {
        if let Some(running) = self.running() {
            let asked = asked.number;
            return Err(ProbingServerError::Overlap { asked, running });
        }
        let (number, plan) = (asked.number, asked.plan());
        let refused = |cause, why, again: Option<Span>| {
            FromServer::Refused(Refused {
                number,
                cause,
                why,
                again_ms: again.map(|wait| wait.as_nanos().div_ceil(1_000_000)),
            })
        };
        if let Err(error) = self.bounds.check(&plan, self.least) {
            self.answer(now, &refused(Cause::Bound, error.to_string(), None));
        } else if let Err(wait) = self.budget.take(plan.bytes(), now) {
            let rate = self.bounds.rate_max;
            let why = format!("this session has sent its mean of {rate} for the moment");
            self.answer(now, &refused(Cause::Rate, why, Some(wait)));
        } else {
            self.enter(now, Phase::Opening(number, plan));
            self.begin_when_open(now);
        }
        Ok(())
    }

    fn begin_when_open(&mut self, now: Time) {
        let Phase::Opening(number, plan) = &self.phase else {
            return;
        };
        let number = *number;
        if self.opened != Some(number) {
            return;
        }
        match plan.way {
            Way::Forward => {
                let train = Receiving {
                    number,
                    packet: plan.packet,
                    length: plan.length(),
                    collection: Collection::empty(plan.packets(), now),
                    sent: None,
                };
                self.enter(now, Phase::Receiving(train));
                self.actions.push_back(ProbingServerAction::Receive(number));
                self.send(&FromServer::Ready { number });
            }
            Way::Reverse => {
                let transmit = ProbingServerAction::Transmit(number, plan.clone());
                self.actions.push_back(transmit);
                self.enter(now, Phase::Working(number));
            }
        }
    }

    fn judge(&mut self) {
        let Some(number) = self.running() else { return };
        let before = std::mem::replace(&mut self.phase, Phase::Working(number));
        if let Phase::Receiving(train) = before {
            let judge = ProbingServerAction::Judge(train.collection);
            self.actions.push_back(judge);
        }
    }

    /// Says the last word on a train.
    fn answer(&mut self, now: Time, message: &FromServer) {
        self.send(message);
        self.enter(now, Phase::Idle);
    }

    fn send(&mut self, message: &FromServer) {
        let bytes = message.encode();
        self.actions.push_back(ProbingServerAction::Send(bytes));
    }

    fn enter(&mut self, now: Time, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }
}
