//! One client's test, from its cookie to its goodbye.

mod datagrams;
mod hand_over;
mod login;

use std::any::Any;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

use measure_protocol::{
    Answer, EchoToken, ErrorCode, Results, ServerAction, ServerControl, TestEnd, TestRequest,
};
use observe::SamplePlan;
use units::{Span, Time};

use super::agreed::Agreed;
use super::arrivals::Arrivals;
use super::datagrams::DatagramTest;
use super::event::{ServerEvent, SessionError, SessionSummary};
use super::flow::Flow;
use super::udp_memory::ReservedMemory;
use super::{Shared, enforce, report};
use crate::control_connection::{ControlConnection, Heard};
use sockets::Clock;
use sockets::poll::{readable, wait};
use sockets::random;

/// How soon a stop of the server is noticed.
const TICK: Span = Span::from_millis(100);
/// Longest time for a client to take what is sent to it.
const SEND_LIMIT: Duration = Duration::from_secs(30);

/// Serves the test of one client; never panics and always tells how it ended.
pub(super) fn serve(
    number: u64,
    socket: TcpStream,
    peer: SocketAddr,
    arrivals: Arrivals,
    shared: &Shared<'_>,
) {
    let run = || Session::open(number, socket, peer, arrivals, shared)?.run();
    let outcome = catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Err(SessionError::Panicked(message(&*panic))));
    shared.tell(ServerEvent::Ended {
        session: number,
        peer,
        outcome,
    });
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// About how long a test takes, with what is around it; `None` where its client ends it, or a
/// number of bytes.
fn usual_time(request: &TestRequest) -> Option<Span> {
    /// Connecting and the exchange of results, on paths of usual length.
    const AROUND: Span = Span::from_secs(2);
    match request.end {
        TestEnd::After(time) => Some(request.omit + time + AROUND),
        TestEnd::Bytes(_) | TestEnd::Client => None,
    }
}

struct Session<'a> {
    number: u64,
    peer: SocketAddr,
    shared: &'a Shared<'a>,
    clock: Clock,
    control: ControlConnection,
    machine: ServerControl,
    arrivals: Arrivals,
    token: Option<Token<'a>>,
    test: Option<Agreed<'a>>,
    flow: Option<Flow>,
    datagrams: Option<DatagramTest<'a>>,
    /// A test of datagrams that waits for its turn, since when.
    waiting: Option<(TestRequest, Time)>,
    probed: Option<SessionSummary>,
}

/// An echo token that is valid as long as this lives.
struct Token<'a> {
    shared: &'a Shared<'a>,
    value: EchoToken,
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.shared.tokens().remove(&self.value.0);
    }
}

impl<'a> Session<'a> {
    fn open(
        number: u64,
        socket: TcpStream,
        peer: SocketAddr,
        arrivals: Arrivals,
        shared: &'a Shared<'a>,
    ) -> Result<Self, SessionError> {
        let clock = Clock::start();
        Ok(Session {
            number,
            peer,
            shared,
            clock,
            control: ControlConnection::new(socket)?,
            machine: ServerControl::new(shared.limits.waits, clock.now()),
            arrivals,
            token: None,
            test: None,
            flow: None,
            datagrams: None,
            waiting: None,
            probed: None,
        })
    }

    fn run(mut self) -> Result<SessionSummary, SessionError> {
        let outcome = self.converse();
        if outcome.is_err() {
            self.send_the_rest();
        }
        outcome.map(|()| self.summary())
    }

    fn converse(&mut self) -> Result<(), SessionError> {
        loop {
            while let Some(action) = self.machine.next_action() {
                match action {
                    ServerAction::Finished => return Ok(()),
                    ServerAction::Decide(mut request) => {
                        self.check_user(request.token.take().as_ref())?;
                        if hand_over::is_wanted(&request) {
                            return self.probe(&request);
                        }
                        self.act(ServerAction::Decide(request))?;
                    }
                    action => self.act(action)?,
                }
            }
            self.wait()?;
            self.check_stop()?;
            self.take_arrivals();
            self.take_turn()?;
            self.take_greetings()?;
            self.hear()?;
            self.read_streams()?;
            if self
                .machine
                .deadline()
                .is_some_and(|at| at <= self.clock.now())
            {
                self.machine.on_deadline()?;
            }
        }
    }

    fn act(&mut self, action: ServerAction) -> Result<(), SessionError> {
        match action {
            ServerAction::Send(bytes) => Ok(self.control.send(&bytes, SEND_LIMIT)?),
            ServerAction::Decide(request) if request.datagrams.is_some() => {
                self.waiting = Some((*request, self.clock.now()));
                self.take_turn()
            }
            ServerAction::Decide(request) => self.decide(*request),
            ServerAction::Start => self.start(),
            ServerAction::CloseStreams => {
                self.flow.iter_mut().for_each(Flow::close);
                self.datagrams.iter_mut().for_each(DatagramTest::close);
                Ok(())
            }
            ServerAction::Report => self.report(),
            ServerAction::GiveResults(_) => {
                let results = self.results();
                Ok(self.machine.give_results(self.clock.now(), &results)?)
            }
            ServerAction::TakeStreams(_) | ServerAction::Finished => Ok(()),
        }
    }

    fn decide(&mut self, request: TestRequest) -> Result<(), SessionError> {
        if let Err(beyond) = self.shared.limits.tests.check(&request) {
            self.machine.refuse(beyond.code());
            return Err(beyond.into());
        }
        let plan = request.server_streams();
        let Some(room) = self.shared.reserve(plan.total().into()) else {
            self.machine.refuse(ErrorCode::STREAM_COUNT);
            return Err(SessionError::Full {
                asked: plan.total(),
                bound: self.shared.limits.streams,
            });
        };
        let memory = self.memory_for(&request)?;
        let answer = self.answer(&request)?;
        if let Some(time) = usual_time(&request) {
            self.arrivals.ends.set_after(time);
        }
        self.shared.tell(ServerEvent::Started {
            session: self.number,
            peer: self.peer,
            request: Box::new(request.clone()),
        });
        self.test = Some(Agreed::new(
            request,
            self.shared.limits.buffers,
            room,
            memory,
        ));
        Ok(self.machine.accept(self.clock.now(), answer)?)
    }

    fn memory_for(
        &mut self,
        request: &TestRequest,
    ) -> Result<Option<ReservedMemory<'a>>, SessionError> {
        if !request.is_over_udp() {
            return Ok(None);
        }
        let shared: &'a Shared<'a> = self.shared;
        let reserved = shared.udp_memory.reserve(self.peer.ip());
        if reserved.is_none() {
            self.machine.refuse(ErrorCode::STREAM_ACCEPT);
            return Err(SessionError::NoUdpMemory);
        }
        Ok(reserved)
    }

    fn answer(&mut self, request: &TestRequest) -> Result<Option<Answer>, SessionError> {
        let Some(offer) = request.offer else {
            return Ok(None);
        };
        let value = EchoToken(random::number()?);
        self.shared.tokens().insert(value.0, self.peer.ip());
        self.arrivals.numbered.store(true, Ordering::Release);
        self.token = Some(Token {
            shared: self.shared,
            value,
        });
        Ok(Some(Answer::new(offer, value, SamplePlan::INTERVAL)))
    }

    fn start(&mut self) -> Result<(), SessionError> {
        if let Some(test) = &mut self.datagrams {
            return Ok(test.start()?);
        }
        let started = match &mut self.test {
            Some(test) => {
                let channels = test.in_order();
                Flow::start(&test.request, channels)
            }
            None => return Ok(()),
        };
        if started.is_err() {
            self.machine.refuse(ErrorCode::STREAM_ACCEPT);
        }
        self.flow = Some(started?);
        Ok(())
    }

    fn wait(&self) -> Result<(), SessionError> {
        let now = self.clock.now();
        let reading = self.flow.as_ref().and_then(Flow::until_reading);
        let deadline = self.machine.deadline().map(|at| at.since(now));
        let turn = self.waiting.as_ref().map(|_| datagrams::TURN_TICK);
        let limit = [reading, deadline, turn]
            .into_iter()
            .flatten()
            .fold(TICK, Span::min);
        let mut watched = vec![
            readable(self.control.as_fd()),
            readable(self.arrivals.bell.as_fd()),
        ];
        let greetings = self.datagrams.as_ref().and_then(DatagramTest::watched);
        watched.extend(greetings.map(readable));
        wait(&mut watched, limit.into())?;
        Ok(())
    }

    fn check_stop(&mut self) -> Result<(), SessionError> {
        if !self.shared.is_stopped() {
            return Ok(());
        }
        self.machine.terminate();
        Err(SessionError::Stopped)
    }

    /// Streams beyond those agreed on are closed by being dropped; those that come before anything
    /// is agreed on wait in their bounded queue.
    fn take_arrivals(&mut self) {
        let mut rings = [0; 64];
        // The bell only wakes: what it says is in the queue.
        while matches!(self.arrivals.bell.read(&mut rings), Ok(1..)) {}
        let Some(test) = &mut self.test else {
            return;
        };
        while let Ok(arrival) = self.arrivals.streams.try_recv() {
            // A test of datagrams has no connection of TCP but this one.
            if self.datagrams.is_none() && test.take(arrival) {
                self.machine.on_stream(self.clock.now());
            }
        }
    }

    fn hear(&mut self) -> Result<(), SessionError> {
        let mut buffer = [0; 16 << 10];
        match self.control.read(&mut buffer) {
            Heard::Nothing => Ok(()),
            Heard::Closed => Ok(self.machine.on_closed()?),
            Heard::Bytes(got) => {
                let bytes = buffer.get(..got).unwrap_or_default();
                Ok(self.machine.on_bytes(self.clock.now(), bytes)?)
            }
        }
    }

    fn read_streams(&mut self) -> Result<(), SessionError> {
        if self.datagrams.is_some() {
            return self.check_datagrams();
        }
        let Some(flow) = self.flow.as_mut().filter(|flow| flow.is_open()) else {
            return Ok(());
        };
        let idle = self.shared.limits.idle;
        flow.read_when_due();
        enforce::check(&self.shared.limits, flow)
            .inspect_err(|_| self.machine.refuse(ErrorCode::OVERDUE))?;
        if flow.idle() >= idle {
            self.machine.refuse(ErrorCode::NO_DATA);
            return Err(SessionError::NoData(idle));
        }
        Ok(())
    }

    fn report(&mut self) -> Result<(), SessionError> {
        self.flow.iter_mut().for_each(Flow::take_stock);
        let results = self.results();
        self.flow.iter_mut().for_each(Flow::count_anew);
        Ok(self.machine.give_report(self.clock.now(), &results)?)
    }

    fn results(&self) -> Results {
        match (&self.test, &self.flow, &self.datagrams) {
            (_, _, Some(test)) => test.results(),
            (Some(test), Some(flow), None) => report::results(&test.request, flow),
            _ => Results::default(),
        }
    }

    fn summary(&self) -> SessionSummary {
        if let Some(summary) = &self.probed {
            return summary.clone();
        }
        if let Some(test) = &self.datagrams {
            let (duration, received, sent) = test.totals();
            return SessionSummary {
                duration,
                received,
                sent,
                notes: Vec::new(),
            };
        }
        let flow = self.flow.as_ref();
        let (received, sent) = flow.map(Flow::totals).unwrap_or_default();
        SessionSummary {
            duration: flow.map_or(Span::ZERO, |flow| flow.duration),
            received,
            sent,
            notes: self
                .test
                .iter()
                .flat_map(|test| test.notes.clone())
                .collect(),
        }
    }

    /// Tells the client why, as far as it still listens.
    fn send_the_rest(&mut self) {
        while let Some(action) = self.machine.next_action() {
            if let ServerAction::Send(bytes) = action {
                let _ = self.control.send(&bytes, Duration::from_secs(1));
            }
        }
    }
}
