//! The client's side of the control connection.
//!
//! The driver feeds [`ClientControl`] what it reads, carries out the actions it hands back, and
//! tells it when the deadline has passed. The course of a test: greeting, parameters, perhaps the
//! server's capabilities, opening streams, running, and after [`ClientControl::end_test`] the
//! exchange of results. Reading order: [`ClientAction`], [`ClientControl`], then `lasting` and
//! `error`.

mod error;
mod lasting;
mod phase;

use std::collections::VecDeque;

use units::Time;

use crate::frame::{FrameReader, take};
use crate::iperf3::extension::VERSION;
use crate::iperf3::inbox::Inbox;
use crate::iperf3::results::ResultsError;
use crate::{
    Answer, Cookie, Denial, ErrorCode, Results, State, StreamPlan, TestRequest, UnknownState,
    encode_frame,
};

pub use error::{ClientControlError, Waiting};
use phase::Phase;

/// Most bytes of results read from a server: our own thins its telemetry to a few megabytes, and
/// a stock one is never asked for its printed report.
const RESULTS_BOUND: u32 = 16 << 20;
/// Most bytes of a capabilities message.
const CAPABILITIES_BOUND: u32 = 8_192;

/// What the driver has to do, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientAction {
    /// Write these bytes to the control connection.
    Send(Vec<u8>),
    /// The server is one of ours and answered the offer.
    Recognised(Answer),
    /// The server is one of ours and agreed to [`crate::trains`]. This conversation is over, and
    /// the control connection goes on with a [`crate::trains::ProbingClient`].
    HandOver(Answer),
    /// Connect this many streams, those to send on first. Each begins with the cookie, and they are
    /// connected one after another; towards a server that was recognised each begins with
    /// [`crate::numbered_greeting`] instead, in any order. Then call
    /// [`ClientControl::on_streams_open`].
    OpenStreams(StreamPlan),
    /// Let data flow.
    Start,
    /// What the server counted, asked for by [`ClientControl::ask_report`]. The test goes on.
    Reported(Box<Results>),
    /// Call [`ClientControl::give_results`]. Receiving streams had to be drained until here.
    GiveResults,
    /// The test is complete; these are the server's results. Close everything.
    Finished(Box<Results>),
}

/// The conversation.
///
/// ```
/// use units::{Span, Time};
/// use measure_protocol::{ClientAction, ClientControl, Cookie, State, TestEnd, TestRequest};
/// let request = TestRequest::new(1, TestEnd::After(Span::from_secs(1)));
/// let cookie = Cookie::from_random(&[0; 36]);
/// let mut control = ClientControl::new(cookie, request, Time::ZERO);
/// assert!(matches!(control.next_action(), Some(ClientAction::Send(bytes)) if bytes.len() == 37));
/// control.on_bytes(Time::ZERO, &[State::ParamExchange.byte()]).unwrap();
/// assert!(matches!(control.next_action(), Some(ClientAction::Send(_))));
/// ```
#[derive(Debug)]
pub struct ClientControl {
    request: TestRequest,
    phase: Phase,
    since: Time,
    inbox: Inbox,
    actions: VecDeque<ClientAction>,
    answer: Option<Answer>,
}

type Outcome = Result<(), ClientControlError>;

impl ClientControl {
    /// A conversation on a control connection that was just opened.
    pub fn new(cookie: Cookie, request: TestRequest, now: Time) -> Self {
        let hello = ClientAction::Send(cookie.as_bytes().to_vec());
        ClientControl {
            request,
            phase: Phase::Greeting,
            since: now,
            inbox: Inbox::default(),
            actions: VecDeque::from([hello]),
            answer: None,
        }
    }

    /// The next thing to do; `None` when the server or the driver has to move first.
    pub fn next_action(&mut self) -> Option<ClientAction> {
        self.actions.pop_front()
    }

    /// The server's answer to our offer, when it is one of ours.
    pub fn answer(&self) -> Option<Answer> {
        self.answer
    }

    /// When [`Self::on_deadline`] has to be called unless something moves before.
    ///
    /// `None` while the driver is to move; it bounds its own work.
    pub fn deadline(&self) -> Option<Time> {
        Some(self.since + self.phase.wait()?)
    }

    /// Takes bytes of the control connection, split anywhere.
    ///
    /// # Errors
    /// When the server broke the protocol, refused or gave up. The conversation is over then.
    pub fn on_bytes(&mut self, now: Time, bytes: &[u8]) -> Outcome {
        let mut input = bytes;
        while !input.is_empty() {
            let outcome = self.step(now, &mut input);
            self.settle(outcome)?;
        }
        Ok(())
    }

    /// The server closed the control connection or it broke.
    ///
    /// # Errors
    /// Unless the test was complete.
    pub fn on_closed(&mut self) -> Outcome {
        let outcome = match &self.phase {
            Phase::Over => Ok(()),
            Phase::ServerError(numbers) => Err(server_error(numbers)),
            phase => Err(ClientControlError::Closed {
                waiting: phase.waiting(),
                direction: self.request.direction,
            }),
        };
        self.settle(outcome)
    }

    /// The deadline has passed.
    ///
    /// # Errors
    /// Always, unless nothing was awaited.
    pub fn on_deadline(&mut self) -> Outcome {
        let outcome = match (&self.phase, self.phase.wait()) {
            (Phase::ServerError(numbers), _) => Err(server_error(numbers)),
            (phase, Some(after)) => Err(ClientControlError::TimedOut {
                waiting: phase.waiting(),
                after,
                direction: self.request.direction,
            }),
            _ => Ok(()),
        };
        self.settle(outcome)
    }

    /// All streams are connected and have sent the cookie.
    pub fn on_streams_open(&mut self, now: Time) {
        if matches!(self.phase, Phase::Opening) {
            self.enter(now, Phase::Starting);
        }
    }

    /// The test has run long enough and the senders have stopped.
    ///
    /// Receiving streams have to be drained further, until [`ClientAction::GiveResults`].
    pub fn end_test(&mut self, now: Time) {
        if matches!(self.phase, Phase::Running) {
            self.send_state(State::TestEnd);
            self.enter(now, Phase::Ending);
        }
    }

    /// The user has had enough: tells the server, and the conversation is over.
    pub fn cancel(&mut self) {
        if !matches!(self.phase, Phase::Over) {
            self.send_state(State::ClientTerminate);
            self.phase = Phase::Over;
        }
    }

    /// Our results, asked for by [`ClientAction::GiveResults`].
    ///
    /// # Errors
    /// As [`Self::on_bytes`], for what the server sent meanwhile.
    pub fn give_results(&mut self, now: Time, results: &Results) -> Outcome {
        if !matches!(self.phase, Phase::Reporting) {
            return Ok(());
        }
        let frame = encode_frame(&results.to_json());
        self.actions.push_back(ClientAction::Send(frame));
        self.enter(now, Phase::Results(FrameReader::new(RESULTS_BOUND)));
        let early = self.inbox.empty();
        self.on_bytes(now, &early)
    }

    fn step(&mut self, now: Time, input: &mut &[u8]) -> Outcome {
        match &mut self.phase {
            Phase::Over => {
                *input = &[];
                Ok(())
            }
            Phase::Reporting => Ok(self.inbox.put(input)?),
            Phase::Capabilities(reader) => match reader.feed(input)? {
                Some(json) => self.on_answer(now, &json),
                None => Ok(()),
            },
            Phase::Results(reader) => match reader.feed(input)? {
                Some(json) => self.on_results(now, &json),
                None => Ok(()),
            },
            Phase::Report(reader) => match reader.feed(input)? {
                Some(json) => self.on_report(now, &json),
                None => Ok(()),
            },
            Phase::ServerError(numbers) => {
                take(input, numbers, 8);
                match numbers.len() {
                    8 => Err(server_error(numbers)),
                    _ => Ok(()),
                }
            }
            _ => self.on_state(now, input),
        }
    }

    fn on_state(&mut self, now: Time, input: &mut &[u8]) -> Outcome {
        let Some((byte, rest)) = input.split_first() else {
            return Ok(());
        };
        *input = rest;
        match State::try_from(*byte)? {
            State::AccessDenied => Err(ClientControlError::Denied(Denial::parse(input))),
            State::ServerTerminate => Err(ClientControlError::ServerStopped),
            State::ServerError => {
                self.enter(now, Phase::ServerError(Vec::new()));
                Ok(())
            }
            state => self.advance(now, state),
        }
    }

    fn advance(&mut self, now: Time, state: State) -> Outcome {
        match (&self.phase, state) {
            (Phase::Greeting, State::ParamExchange) => {
                let frame = encode_frame(&self.request.to_params().to_json());
                self.act(now, Phase::Parameters, ClientAction::Send(frame));
            }
            (Phase::Parameters, State::Capabilities) if self.may_be_recognised() => {
                let reader = FrameReader::new(CAPABILITIES_BOUND);
                self.enter(now, Phase::Capabilities(reader));
            }
            (Phase::Parameters, State::CreateStreams) => {
                let plan = self.request.client_streams();
                self.act(now, Phase::Opening, ClientAction::OpenStreams(plan));
            }
            (Phase::Opening | Phase::Starting, State::TestStart) => self.enter(now, Phase::Started),
            (Phase::Started, State::TestRunning) => {
                self.act(now, Phase::Running, ClientAction::Start);
            }
            (Phase::Asked, State::Report) => {
                let reader = FrameReader::new(RESULTS_BOUND);
                self.enter(now, Phase::Report(reader));
            }
            (Phase::Ending, State::ExchangeResults) => {
                self.act(now, Phase::Reporting, ClientAction::GiveResults);
            }
            (Phase::Displaying(_), State::DisplayResults) => self.finish(),
            (phase, state) => {
                let waiting = phase.waiting();
                return Err(ClientControlError::Unexpected { state, waiting });
            }
        }
        Ok(())
    }

    fn may_be_recognised(&self) -> bool {
        self.request.offer.is_some() && self.answer.is_none()
    }

    fn on_answer(&mut self, now: Time, json: &[u8]) -> Outcome {
        let read = serde_json::from_slice::<Answer>(json);
        let answer = read.map_err(|error| ClientControlError::Answer(error.to_string()))?;
        if answer.version != VERSION {
            return Err(ClientControlError::Version(answer.version));
        }
        if answer.probing > self.request.offer.map_or(0, |offer| offer.probing) {
            let why = format!("version {} of probing was not offered", answer.probing);
            return Err(ClientControlError::Answer(why));
        }
        self.answer = Some(answer);
        match answer.probing > 0 {
            true => self.act(now, Phase::Over, ClientAction::HandOver(answer)),
            false => self.act(now, Phase::Parameters, ClientAction::Recognised(answer)),
        }
        Ok(())
    }

    fn on_results(&mut self, now: Time, json: &[u8]) -> Outcome {
        let results = Results::from_json(json)?;
        self.enter(now, Phase::Displaying(Box::new(results)));
        Ok(())
    }

    fn finish(&mut self) {
        self.send_state(State::Done);
        if let Phase::Displaying(results) = std::mem::replace(&mut self.phase, Phase::Over) {
            self.actions.push_back(ClientAction::Finished(results));
        }
    }

    fn send_state(&mut self, state: State) {
        self.actions
            .push_back(ClientAction::Send(vec![state.byte()]));
    }

    fn act(&mut self, now: Time, phase: Phase, action: ClientAction) {
        self.actions.push_back(action);
        self.enter(now, phase);
    }

    fn enter(&mut self, now: Time, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }

    fn settle(&mut self, outcome: Outcome) -> Outcome {
        if outcome.is_err() {
            self.phase = Phase::Over;
        }
        outcome
    }
}

fn server_error(numbers: &[u8]) -> ClientControlError {
    let number = |at: usize| {
        let four = numbers.get(at..at + 4)?;
        Some(i32::from_be_bytes(four.try_into().ok()?))
    };
    ClientControlError::ServerFailed {
        code: number(0).map(ErrorCode),
        errno: number(4).filter(|errno| *errno != 0),
    }
}

impl From<UnknownState> for ClientControlError {
    fn from(error: UnknownState) -> Self {
        ClientControlError::UnknownState(error)
    }
}

impl From<ResultsError> for ClientControlError {
    fn from(error: ResultsError) -> Self {
        ClientControlError::Results(error)
    }
}

#[cfg(test)]
mod tests;
