//! The server's side of the control connection of one test.
//!
//! It begins where the driver has read the cookie of a new test. The course: parameters, the
//! driver's decision, streams arriving, running, the exchange of results. What a client does wrong
//! ends this one conversation with a typed error and, where iperf3 has a number for it, a
//! [`State::ServerError`]. Reading order: [`ServerAction`], [`ServerControl`], then `lasting` and
//! `error`.

mod error;
mod lasting;
mod phase;

use std::collections::VecDeque;

use units::{Span, Time};

use crate::frame::FrameReader;
use crate::iperf3::inbox::Inbox;
use crate::{Answer, ErrorCode, Params, Results, State, StreamPlan, TestRequest, encode_frame};

pub use error::{Awaited, ServerControlError};
use phase::Phase;

/// Most bytes of parameters, iperf3's bound since 3.18.
const PARAMETERS_BOUND: u32 = 8_192;
/// Most bytes of results read from a client: 128 streams in both directions are 60 kB.
const RESULTS_BOUND: u32 = 1 << 20;

/// What the driver has to do, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerAction {
    /// Write these bytes to the control connection.
    Send(Vec<u8>),
    /// Call [`ServerControl::accept`] or [`ServerControl::refuse`].
    Decide(Box<TestRequest>),
    /// Take this many streams, those to receive on first, in the order of their arrival, or of
    /// their numbers when the offer was answered; call [`ServerControl::on_stream`] after each.
    TakeStreams(StreamPlan),
    /// Let data flow.
    Start,
    /// Call [`ServerControl::give_report`] with what was counted since the report before.
    Report,
    /// The client ended the test: close all streams.
    CloseStreams,
    /// These are the client's results; call [`ServerControl::give_results`].
    GiveResults(Box<Results>),
    /// The test is complete. Close the control connection.
    Finished,
}

/// How long a server waits for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerWaits {
    /// For a whole message.
    pub message: Span,
    /// For each stream to arrive: a client may probe the idle path before it opens them.
    pub stream: Span,
    /// For the client's whole results.
    pub results: Span,
    /// For the end of a test beyond its agreed time.
    pub grace: Span,
    /// For the end of a test without an agreed time, and between two reports of a lasting one.
    pub endless: Span,
}

impl Default for ServerWaits {
    /// iperf3's own bounds; tests without an agreed time get an hour.
    fn default() -> Self {
        ServerWaits {
            message: Span::from_secs(10),
            stream: Span::from_secs(30),
            results: Span::from_secs(30),
            grace: Span::from_secs(40),
            endless: Span::from_secs(3_600),
        }
    }
}

/// The conversation.
#[derive(Debug)]
pub struct ServerControl {
    waits: ServerWaits,
    phase: Phase,
    since: Time,
    length: Option<Span>,
    lasting: bool,
    inbox: Inbox,
    actions: VecDeque<ServerAction>,
}

type Outcome = Result<(), ServerControlError>;

impl ServerControl {
    /// A conversation on a connection whose cookie was just read.
    pub fn new(waits: ServerWaits, now: Time) -> Self {
        let greeting = ServerAction::Send(vec![State::ParamExchange.byte()]);
        ServerControl {
            waits,
            phase: Phase::Parameters(FrameReader::new(PARAMETERS_BOUND)),
            since: now,
            length: None,
            lasting: false,
            inbox: Inbox::default(),
            actions: VecDeque::from([greeting]),
        }
    }

    /// The next thing to do; `None` when the client or the driver has to move first.
    ///
    /// After an error there may still be something to send.
    pub fn next_action(&mut self) -> Option<ServerAction> {
        self.actions.pop_front()
    }

    /// When [`Self::on_deadline`] has to be called unless something moves before.
    pub fn deadline(&self) -> Option<Time> {
        Some(self.since + self.wait()?)
    }

    /// Takes bytes of the control connection, split anywhere.
    ///
    /// # Errors
    /// When the client broke the protocol or stopped. The conversation is over then.
    pub fn on_bytes(&mut self, now: Time, bytes: &[u8]) -> Outcome {
        let mut input = bytes;
        while !input.is_empty() {
            let outcome = self.step(now, &mut input);
            self.settle(outcome)?;
        }
        Ok(())
    }

    /// The client closed the control connection or it broke.
    ///
    /// # Errors
    /// Unless the results were exchanged.
    pub fn on_closed(&mut self) -> Outcome {
        let outcome = match &self.phase {
            Phase::Over => Ok(()),
            Phase::Farewell => {
                self.finish();
                Ok(())
            }
            phase => Err(ServerControlError::Vanished(phase.awaited())),
        };
        self.settle(outcome)
    }

    /// The deadline has passed.
    ///
    /// # Errors
    /// Always, unless nothing was awaited.
    pub fn on_deadline(&mut self) -> Outcome {
        let Some(after) = self.wait() else {
            return Ok(());
        };
        let awaited = self.phase.awaited();
        self.settle(Err(ServerControlError::TimedOut { awaited, after }))
    }

    /// The driver takes the test; `answer` goes to a client that offered our extension.
    ///
    /// # Errors
    /// As [`Self::on_bytes`], for what the client sent meanwhile.
    pub fn accept(&mut self, now: Time, answer: Option<Answer>) -> Outcome {
        let Phase::Deciding(plan) = self.phase else {
            return Ok(());
        };
        self.lasting = answer.is_some_and(|answer| answer.lasting);
        let mut bytes = answer.as_ref().map(capabilities).unwrap_or_default();
        bytes.push(State::CreateStreams.byte());
        self.actions.push_back(ServerAction::Send(bytes));
        self.actions.push_back(ServerAction::TakeStreams(plan));
        self.enter(now, Phase::Opening(plan.total()));
        let early = self.inbox.empty();
        self.on_bytes(now, &early)
    }

    /// The driver agrees to probe in place of a test: this conversation is over, and the control
    /// connection goes on with a [`crate::trains::ProbingServer`], which begins with the bytes
    /// that the client has sent already.
    pub fn hand_over(&mut self, answer: &Answer) -> Vec<u8> {
        if !matches!(self.phase, Phase::Deciding(_)) {
            return Vec::new();
        }
        self.send(capabilities(answer));
        self.phase = Phase::Over;
        self.inbox.empty()
    }

    /// The driver does not take the test, or cannot go on with it.
    pub fn refuse(&mut self, code: ErrorCode) {
        if !matches!(self.phase, Phase::Over) {
            self.send_error(code);
            self.phase = Phase::Over;
        }
    }

    /// The server itself is told to stop.
    pub fn terminate(&mut self) {
        if !matches!(self.phase, Phase::Over) {
            self.send(vec![State::ServerTerminate.byte()]);
            self.phase = Phase::Over;
        }
    }

    /// A stream has arrived.
    pub fn on_stream(&mut self, now: Time) {
        let Phase::Opening(missing) = self.phase else {
            return;
        };
        match missing {
            0 | 1 => {
                let both = vec![State::TestStart.byte(), State::TestRunning.byte()];
                self.send(both);
                self.actions.push_back(ServerAction::Start);
                self.enter(now, Phase::Running);
            }
            more => self.enter(now, Phase::Opening(more - 1)),
        }
    }

    /// Our results, asked for by [`ServerAction::GiveResults`].
    ///
    /// # Errors
    /// As [`Self::on_bytes`], for what the client sent meanwhile.
    pub fn give_results(&mut self, now: Time, results: &Results) -> Outcome {
        if !matches!(self.phase, Phase::Reporting) {
            return Ok(());
        }
        let mut bytes = encode_frame(&results.to_json());
        bytes.push(State::DisplayResults.byte());
        self.send(bytes);
        self.enter(now, Phase::Farewell);
        let early = self.inbox.empty();
        self.on_bytes(now, &early)
    }

    fn step(&mut self, now: Time, input: &mut &[u8]) -> Outcome {
        match &mut self.phase {
            Phase::Over => {
                *input = &[];
                Ok(())
            }
            Phase::Deciding(_) | Phase::Asked | Phase::Reporting => Ok(self.inbox.put(input)?),
            Phase::Parameters(reader) => match reader.feed(input)? {
                Some(json) => self.on_parameters(now, &json),
                None => Ok(()),
            },
            Phase::Results(reader) => match reader.feed(input)? {
                Some(json) => self.on_results(now, &json),
                None => Ok(()),
            },
            Phase::Opening(_) | Phase::Running | Phase::Farewell => self.on_state(now, input),
        }
    }

    fn on_state(&mut self, now: Time, input: &mut &[u8]) -> Outcome {
        let Some((byte, rest)) = input.split_first() else {
            return Ok(());
        };
        *input = rest;
        match (&self.phase, State::try_from(*byte)?) {
            (_, State::ClientTerminate) => Err(ServerControlError::ClientStopped),
            (Phase::Running, State::Report) if self.lasting => {
                self.actions.push_back(ServerAction::Report);
                self.enter(now, Phase::Asked);
                Ok(())
            }
            (Phase::Running, State::TestEnd) => {
                self.actions.push_back(ServerAction::CloseStreams);
                self.send(vec![State::ExchangeResults.byte()]);
                self.enter(now, Phase::Results(FrameReader::new(RESULTS_BOUND)));
                Ok(())
            }
            (Phase::Farewell, State::Done) => {
                self.finish();
                Ok(())
            }
            (phase, state) => Err(ServerControlError::Unexpected {
                state,
                awaited: phase.awaited(),
            }),
        }
    }

    fn on_parameters(&mut self, now: Time, json: &[u8]) -> Outcome {
        let request = TestRequest::from_params(&Params::from_json(json)?)?;
        self.length = request.length();
        self.enter(now, Phase::Deciding(request.server_streams()));
        let decide = ServerAction::Decide(Box::new(request));
        self.actions.push_back(decide);
        Ok(())
    }

    fn on_results(&mut self, now: Time, json: &[u8]) -> Outcome {
        let results = Results::from_json(json)?;
        let give = ServerAction::GiveResults(Box::new(results));
        self.actions.push_back(give);
        self.enter(now, Phase::Reporting);
        Ok(())
    }

    fn finish(&mut self) {
        self.actions.push_back(ServerAction::Finished);
        self.phase = Phase::Over;
    }

    fn send(&mut self, bytes: Vec<u8>) {
        self.actions.push_back(ServerAction::Send(bytes));
    }

    /// Two numbers follow the state byte, the second being the system's.
    fn send_error(&mut self, code: ErrorCode) {
        let mut bytes = vec![State::ServerError.byte()];
        bytes.extend_from_slice(&code.0.to_be_bytes());
        bytes.extend_from_slice(&0i32.to_be_bytes());
        self.send(bytes);
    }

    fn enter(&mut self, now: Time, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }

    fn settle(&mut self, outcome: Outcome) -> Outcome {
        if let Err(error) = &outcome {
            if let Some(code) = error.code() {
                self.send_error(code);
            }
            self.phase = Phase::Over;
        }
        outcome
    }

    fn wait(&self) -> Option<Span> {
        match self.phase {
            Phase::Parameters(_) | Phase::Farewell => Some(self.waits.message),
            Phase::Opening(_) => Some(self.waits.stream),
            Phase::Results(_) => Some(self.waits.results),
            Phase::Running => Some(self.running_wait()),
            Phase::Deciding(_) | Phase::Asked | Phase::Reporting | Phase::Over => None,
        }
    }
}

fn capabilities(answer: &Answer) -> Vec<u8> {
    let json = serde_json::to_vec(answer).expect("numbers and texts always have a JSON form");
    let mut bytes = vec![State::Capabilities.byte()];
    bytes.extend(encode_frame(&json));
    bytes
}

#[cfg(test)]
mod tests;
