//! The client's side of a session.

use std::collections::VecDeque;

use thiserror::Error;
use units::{Bytes, Span, Time, Way};

use super::message::{self, Announcement};
use super::{
    Arrival, Collection, FromClient, FromServer, MESSAGE_BOUND, Refused, Stamp, Stamps, Traced,
    TrainPlan, Zero,
};
use crate::FrameError;
use crate::frame::FrameReader;

/// Longest wait for an answer, beyond the length of a train.
const REPLY_WAIT: Span = Span::from_secs(15);
/// The same for a trace: one round of silent routers after the other.
const TRACE_WAIT: Span = Span::from_secs(60);
/// More hops than a trace has.
const HOPS_MAX: usize = 64;
/// No stamp of a train is later than this.
const STAMP_MAX: Span = Span::from_secs(3_600);

/// What the driver has to do, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbingAction {
    /// Write these bytes to the control connection.
    Send(Vec<u8>),
    /// The server waits for the train: send it, then call [`ProbingClient::on_sent`].
    Transmit,
    /// This became of the train.
    Done(Seen),
    /// This is the way back.
    Traced(Traced),
    /// Nothing became of it; the session goes on.
    Refused(Refused),
}

/// What was seen of a train.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Of one that was sent from here, by the server.
    Forward {
        /// Who stamped.
        stamped: Stamp,
        /// When each packet arrived.
        arrived: Vec<Option<Span>>,
        /// The zero of those, where the server tells it.
        zero: Option<Zero>,
    },
    /// Of one that was sent by the server, here.
    Reverse {
        /// When each packet left, by the server.
        left: Vec<Span>,
        /// The zero of those, where the server tells it.
        zero: Option<Zero>,
        /// What arrived.
        collection: Collection,
    },
}

/// Why a session with a server ended early.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProbingError {
    /// A message with an impossible length.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A message that cannot be read, or says what cannot be.
    #[error("the server's message about a train cannot be used: {0}")]
    Message(String),
    /// A message that has no place here.
    #[error("the server spoke of train {said} when train {expected} was its turn")]
    Unexpected {
        /// Its number.
        said: u32,
        /// The one on its way, or the last one.
        expected: u32,
    },
    /// The control connection ended.
    #[error("the server closed the connection during train {0}")]
    Closed(u32),
    /// The server said nothing for too long.
    #[error("the server said nothing of train {number} for {after}")]
    TimedOut {
        /// The train.
        number: u32,
        /// The bound.
        after: Span,
    },
}

/// The conversation, from where the server agreed to probe.
#[derive(Debug)]
pub struct ProbingClient {
    number: u32,
    phase: Phase,
    since: Time,
    reader: FrameReader,
    actions: VecDeque<ProbingAction>,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Opening { packets: usize },
    Transmitting { packets: usize },
    Awaiting { packets: usize },
    Receiving(Receiving),
    Tracing,
}

#[derive(Debug)]
struct Receiving {
    packet: Bytes,
    length: Span,
    collection: Collection,
    left: Option<Left>,
}

/// What the server said of a train that it sent.
#[derive(Debug)]
struct Left {
    heard: Time,
    left: Vec<Span>,
    zero: Option<Zero>,
}

type Outcome = Result<(), ProbingError>;

impl ProbingClient {
    /// A session in which nothing was asked for yet.
    pub fn new(now: Time) -> Self {
        ProbingClient {
            number: 0,
            phase: Phase::Idle,
            since: now,
            reader: FrameReader::new(MESSAGE_BOUND),
            actions: VecDeque::new(),
        }
    }

    /// The next thing to do; `None` when the server or the driver has to move first.
    pub fn next_action(&mut self) -> Option<ProbingAction> {
        self.actions.pop_front()
    }

    /// The number of the train on its way, or of the last one.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Asks for a train. A train that is on its way is forgotten, so there should be none.
    pub fn ask(&mut self, now: Time, plan: &TrainPlan) {
        self.number = self.number.wrapping_add(1);
        let packets = plan.packets();
        self.phase = match plan.way {
            Way::Forward => Phase::Opening { packets },
            Way::Reverse => Phase::Receiving(Receiving {
                packet: plan.packet,
                length: plan.length(),
                collection: Collection::empty(packets, now),
                left: None,
            }),
        };
        self.since = now;
        self.send(&FromClient::Train(Announcement::new(self.number, plan)));
    }

    /// Asks for the way from the server to this host. As [`Self::ask`], nothing else should be on
    /// its way.
    pub fn ask_trace(&mut self, now: Time) {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        self.send(&FromClient::Trace { number });
        self.enter(now, Phase::Tracing);
    }

    /// Keeps the server from taking a silent client for one that is gone.
    pub fn stay_alive(&mut self) {
        if let Phase::Idle = self.phase {
            self.send(&FromClient::Alive {});
        }
    }

    /// Whether openers are to be sent: nothing shows yet that one has reached the server.
    pub fn wants_opener(&self) -> bool {
        match &self.phase {
            Phase::Opening { .. } => true,
            Phase::Receiving(train) => train.collection.is_empty() && train.left.is_none(),
            _ => false,
        }
    }

    /// When [`Self::on_deadline`] has to be called unless something moves before; `None` while
    /// nothing is awaited.
    pub fn deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Idle | Phase::Transmitting { .. } => None,
            Phase::Opening { .. } | Phase::Awaiting { .. } => Some(self.since + REPLY_WAIT),
            Phase::Tracing => Some(self.since + TRACE_WAIT),
            Phase::Receiving(train) => Some(match &train.left {
                Some(left) => train.collection.given_up_at(left.heard),
                None => self.since + train.length + REPLY_WAIT,
            }),
        }
    }

    /// The deadline has passed.
    ///
    /// # Errors
    /// When the server said nothing. The session is over then.
    pub fn on_deadline(&mut self) -> Outcome {
        match &mut self.phase {
            Phase::Idle | Phase::Transmitting { .. } => Ok(()),
            Phase::Receiving(train) if train.left.is_some() => {
                self.conclude();
                Ok(())
            }
            Phase::Tracing => Err(self.timed_out(TRACE_WAIT)),
            _ => Err(self.timed_out(REPLY_WAIT)),
        }
    }

    /// Takes bytes of the control connection, split anywhere.
    ///
    /// # Errors
    /// When the server broke the protocol. The session is over then.
    pub fn on_bytes(&mut self, now: Time, bytes: &[u8]) -> Outcome {
        let mut input = bytes;
        while !input.is_empty() {
            if let Some(json) = self.reader.feed(&mut input)? {
                self.reader = FrameReader::new(MESSAGE_BOUND);
                let message = message::decode(&json).map_err(ProbingError::Message)?;
                self.on_message(now, message)?;
            }
        }
        Ok(())
    }

    /// The control connection is closed.
    ///
    /// # Errors
    /// Always: the client is the one to close it.
    pub fn on_closed(&mut self) -> Outcome {
        Err(ProbingError::Closed(self.number))
    }

    /// All packets that [`ProbingAction::Transmit`] asked for have left.
    pub fn on_sent(&mut self, now: Time) {
        if let Phase::Transmitting { packets } = self.phase {
            let number = self.number;
            self.send(&FromClient::Sent { number });
            self.enter(now, Phase::Awaiting { packets });
        }
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
            && (number, size) == (self.number, train.packet)
        {
            train.collection.put(now, packet, arrival);
            self.conclude_when_whole();
        }
    }

    fn timed_out(&self, after: Span) -> ProbingError {
        let number = self.number;
        ProbingError::TimedOut { number, after }
    }

    fn on_message(&mut self, now: Time, message: FromServer) -> Outcome {
        let said = match &message {
            FromServer::Ready { number } | FromServer::Left { number, .. } => *number,
            FromServer::Arrived(stamps) => stamps.number,
            FromServer::Refused(refused) => refused.number,
            FromServer::Traced(traced) => traced.number,
        };
        let unexpected = ProbingError::Unexpected {
            said,
            expected: self.number,
        };
        if said != self.number {
            return Err(unexpected);
        }
        match (&mut self.phase, message) {
            (Phase::Opening { packets }, FromServer::Ready { .. }) => {
                let packets = *packets;
                self.actions.push_back(ProbingAction::Transmit);
                self.enter(now, Phase::Transmitting { packets });
            }
            (Phase::Awaiting { packets }, FromServer::Arrived(stamps)) => {
                let packets = *packets;
                self.on_arrivals(now, packets, &stamps)?;
            }
            (Phase::Receiving(train), FromServer::Left { left_ns, zero, .. }) => {
                let nanos = left_ns.into_iter().map(Some).collect::<Vec<_>>();
                let left = checked(train.collection.arrivals.len(), &nanos)?;
                train.left = Some(Left {
                    heard: now,
                    left: left.into_iter().flatten().collect(),
                    zero,
                });
                self.conclude_when_whole();
            }
            (Phase::Tracing, FromServer::Traced(traced)) => {
                if traced.hops.len() > HOPS_MAX {
                    let why = format!("it has {} hops", traced.hops.len());
                    return Err(ProbingError::Message(why));
                }
                self.actions.push_back(ProbingAction::Traced(traced));
                self.enter(now, Phase::Idle);
            }
            (Phase::Idle, _) => return Err(unexpected),
            (_, FromServer::Refused(refused)) => {
                self.actions.push_back(ProbingAction::Refused(refused));
                self.enter(now, Phase::Idle);
            }
            _ => return Err(unexpected),
        }
        Ok(())
    }

    fn on_arrivals(&mut self, now: Time, packets: usize, stamps: &Stamps) -> Outcome {
        let seen = Seen::Forward {
            stamped: stamps.stamped,
            arrived: checked(packets, &stamps.arrived_ns)?,
            zero: stamps.zero,
        };
        self.actions.push_back(ProbingAction::Done(seen));
        self.enter(now, Phase::Idle);
        Ok(())
    }

    fn conclude_when_whole(&mut self) {
        if let Phase::Receiving(train) = &self.phase
            && train.collection.is_complete()
            && train.left.is_some()
        {
            self.conclude();
        }
    }

    fn conclude(&mut self) {
        let before = std::mem::replace(&mut self.phase, Phase::Idle);
        if let Phase::Receiving(train) = before
            && let Some(Left { left, zero, .. }) = train.left
        {
            let seen = Seen::Reverse {
                left,
                zero,
                collection: train.collection,
            };
            self.actions.push_back(ProbingAction::Done(seen));
        }
    }

    fn send(&mut self, message: &FromClient) {
        let bytes = message.encode();
        self.actions.push_back(ProbingAction::Send(bytes));
    }

    fn enter(&mut self, now: Time, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }
}

/// The server's stamps, one for each packet and none from another age.
fn checked(packets: usize, nanos: &[Option<u64>]) -> Result<Vec<Option<Span>>, ProbingError> {
    if nanos.len() != packets {
        let said = nanos.len();
        let why = format!("it has {said} stamps for {packets} packets");
        return Err(ProbingError::Message(why));
    }
    let spans = nanos.iter().map(|at| at.map(Span::from_nanos));
    let spans: Vec<Option<Span>> = spans.collect();
    match spans.iter().flatten().find(|at| **at > STAMP_MAX) {
        None => Ok(spans),
        Some(late) => Err(ProbingError::Message(format!(
            "it has a stamp {} after the train began; at most {} are possible",
            late.human(),
            STAMP_MAX.human()
        ))),
    }
}
