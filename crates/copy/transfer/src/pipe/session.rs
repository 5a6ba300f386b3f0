//! One control connection of a pipe, with its streams, from the opening to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{Conversation, ConversationError, IncomingStreams};
use copy_protocol::pipe::{End, PipeMessage, PipeViolation};
use copy_protocol::{Problem, ProblemKind};
use units::{Span, Time, printable};

use super::events::{Bell, Event};
use super::incoming::{Incoming, OutputState};
use super::lanes::{Lanes, Origin, Shared, Steering};
use super::outgoing::Outgoing;
use super::printer::Printer;
use super::program::Program;
use crate::activity::TimeSpent;
use crate::remote::Flow;
use crate::session::SessionEnd;
use crate::stream_set::pass_on;
use files::problem;

/// Events that may wait; threads wait when there are more.
const EVENTS_MAX: usize = 256;
/// How often each end says that it is there; it counts as gone after 15 s.
const ALIVE: Duration = Duration::from_secs(4);
/// How often the streams are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Longest wait before a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// What was taken is said at once for each part of the window as large as this, and soon otherwise.
const TAKEN_PART: u64 = 1 << 20;
const TAKEN_SOON: Duration = Duration::from_millis(5);
/// How soon it is noticed that no more streams are awaited.
const ARRIVAL_TICK: Duration = Duration::from_millis(50);
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// Characters of a problem of the other end.
const TEXT: usize = 600;

/// This end's half of the data.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Sends(Arc<Outgoing>),
    Receives(Arc<Incoming>),
}

impl Data {
    /// Bytes that the receiver's reader has, as far as it is known here.
    pub fn taken(&self) -> u64 {
        match self {
            Data::Sends(outgoing) => outgoing.taken(),
            Data::Receives(incoming) => incoming.taken(),
        }
    }

    /// Whether there is anything to carry.
    fn is_open(&self) -> bool {
        match self {
            Data::Sends(outgoing) => !outgoing.is_over(),
            Data::Receives(incoming) => matches!(incoming.output(), OutputState::Open),
        }
    }

    /// Nothing more is read or written.
    pub fn stop(&self) {
        match self {
            Data::Sends(outgoing) => outgoing.stop(),
            Data::Receives(incoming) => incoming.stop(),
        }
    }
}

/// What an end has as long as the pipe lives.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub is_near: bool,
    pub data: Data,
    pub bell: Arc<Bell>,
    /// Far: what runs there.
    pub program: Option<Arc<Program>>,
    /// Near: where goes what runs there prints.
    pub printer: Option<Arc<Printer>>,
}

/// What the other end has said, over all sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    /// All is where it belongs.
    pub done: bool,
    /// The reader there takes no more.
    pub closed: bool,
    /// The program has ended.
    pub exited: Option<u8>,
}

/// A session that is open.
pub(crate) struct Session {
    pub conversation: Conversation<PipeMessage>,
    pub origin: Origin,
    pub steering: Steering,
    /// What a server allows.
    pub flow: Option<Arc<Flow>>,
}

/// Says it; an end that is gone is noticed where it is heard.
pub(crate) fn say(conversation: &Conversation<PipeMessage>, message: &PipeMessage) {
    if let Ok(frame) = message.encode() {
        let _ = conversation.send_frame(frame);
    }
}

/// Says why there will be no pipe, and closes.
pub(crate) fn refuse(conversation: Conversation<PipeMessage>, problem: Problem) {
    say(&conversation, &PipeMessage::Failed(problem));
    conversation.close(GOODBYE);
}

/// The next message that is no sign of life; `stopped` is asked ten times a second.
pub(crate) fn await_message(
    conversation: &Conversation<PipeMessage>,
    timeout: Duration,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> Result<PipeMessage, SessionEnd> {
    let until = Instant::now() + timeout;
    while Instant::now() < until {
        if let Some(end) = stopped() {
            return Err(end);
        }
        match conversation.receive(TICK) {
            Ok(None | Some(PipeMessage::Alive)) => {}
            Ok(Some(PipeMessage::Cancel)) => return Err(SessionEnd::Cancelled),
            Ok(Some(PipeMessage::Failed(problem))) => {
                return Err(SessionEnd::Problem(safe(problem)));
            }
            Ok(Some(message)) => return Ok(message),
            Err(ConversationError::Codec(error)) => return Err(broken(error.to_string())),
            Err(error) => return Err(SessionEnd::Lost(error.to_string())),
        }
    }
    Err(SessionEnd::Lost("the other end does not answer".to_owned()))
}

impl Session {
    /// Runs it to its end; `tell` hears of another number of streams, and of progress.
    pub fn run(
        self,
        side: &Side,
        heard: &mut Heard,
        stopped: &dyn Fn() -> Option<SessionEnd>,
        tell: &mut dyn FnMut(News),
    ) -> SessionEnd {
        let Session {
            conversation,
            origin,
            steering,
            flow,
        } = self;
        let (report, events) = sync_channel(EVENTS_MAX);
        let is_over = Arc::new(AtomicBool::new(false));
        side.bell.hang(Some(report.clone()));
        let arrivals = match &origin {
            Origin::Arrive(streams) => Some(Arc::clone(streams)),
            Origin::Dial { .. } => None,
        };
        let shared = Shared {
            data: side.data.clone(),
            report: report.clone(),
            is_over: Arc::clone(&is_over),
            flow,
            spent: Arc::new(TimeSpent::default()),
        };
        let end = thread::scope(|scope| {
            let (to, talk) = (report.clone(), &conversation);
            scope.spawn(move || listen(talk, &to));
            if let Some(streams) = arrivals {
                let (to, is_over) = (report.clone(), Arc::clone(&is_over));
                scope.spawn(move || take_arrivals(&streams, &to, &is_over));
            }
            drop(report);
            let began = Instant::now();
            let mut play = Play {
                side,
                heard,
                lanes: Lanes::new(origin, shared, steering, Time::ZERO),
                conversation: &conversation,
                began,
                said: Said::new(side, began),
                looked: began,
            };
            let end = play.run(&events, stopped, tell);
            is_over.store(true, Ordering::Relaxed);
            side.bell.hang(None);
            if let Data::Sends(outgoing) = &side.data {
                outgoing.wake();
            }
            play.lanes.shut_down();
            drop(events);
            conversation.begin_to_close(GOODBYE);
            end
        });
        match side.is_near {
            true => conversation.leave(GOODBYE),
            false => conversation.close(GOODBYE),
        }
        end
    }
}

/// What an observer is told.
#[derive(Debug)]
pub(crate) enum News {
    /// Another number of streams, and why.
    Streams(u16, String),
    /// So many there are.
    Count(u16),
}

/// Passes on what the peer says, one message at a time.
fn listen(conversation: &Conversation<PipeMessage>, report: &SyncSender<Event>) {
    loop {
        let event = match conversation.receive(Duration::MAX) {
            Ok(None) => continue,
            Ok(Some(message)) => Event::Message(message),
            Err(ConversationError::Codec(error)) => Event::Broken(error.to_string()),
            Err(error) => Event::Gone(error.to_string()),
        };
        let is_last = matches!(event, Event::Gone(_) | Event::Broken(_));
        if report.send(event).is_err() || is_last {
            return;
        }
    }
}

fn take_arrivals(streams: &IncomingStreams, report: &SyncSender<Event>, is_over: &AtomicBool) {
    let next = || {
        let arrival = streams.next(ARRIVAL_TICK)?;
        Some(Event::Joined(arrival.number, arrival.channel))
    };
    let is_over = || is_over.load(Ordering::Relaxed);
    pass_on(&next, &|event| report.try_send(event), &is_over);
}

/// What this end has said in this session.
struct Said {
    alive: Instant,
    taken: (u64, Instant),
    end: bool,
    output: Option<&'static str>,
    printed: u64,
    passed: u64,
    exited: bool,
}

impl Said {
    fn new(side: &Side, now: Instant) -> Self {
        Said {
            alive: now,
            taken: (side.data.taken(), now),
            end: false,
            output: None,
            // What was not passed on is said again.
            printed: side.program.as_ref().map_or(0, |program| program.passed()),
            passed: 0,
            exited: false,
        }
    }
}

struct Play<'a> {
    side: &'a Side,
    heard: &'a mut Heard,
    lanes: Lanes,
    conversation: &'a Conversation<PipeMessage>,
    began: Instant,
    said: Said,
    looked: Instant,
}

impl Play<'_> {
    fn run(
        &mut self,
        events: &Receiver<Event>,
        stopped: &dyn Fn() -> Option<SessionEnd>,
        tell: &mut dyn FnMut(News),
    ) -> SessionEnd {
        loop {
            if let Some(end) = stopped() {
                if matches!(end, SessionEnd::Cancelled) {
                    self.say(&PipeMessage::Cancel);
                }
                return end;
            }
            match self.step(tell) {
                Ok(false) => {}
                Ok(true) => return SessionEnd::Done,
                Err(end) => return self.ended(end),
            }
            let event = match events.recv_timeout(self.longest_wait()) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return SessionEnd::Lost("the session has no threads".to_owned());
                }
            };
            if let Err(end) = self.on(event) {
                return self.ended(end);
            }
        }
    }

    /// Tells the peer of a problem of this end.
    fn ended(&self, end: Ended) -> SessionEnd {
        match end {
            Ended::Here(problem) => {
                self.say(&PipeMessage::Failed(problem.clone()));
                SessionEnd::Problem(problem)
            }
            Ended::There(end) => end,
        }
    }

    fn longest_wait(&self) -> Duration {
        match self.side.data.taken() > self.said.taken.0 {
            true => TAKEN_SOON,
            false => TICK,
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }

    fn say(&self, message: &PipeMessage) {
        say(self.conversation, message);
    }

    /// Says and does what is due; whether all is done.
    fn step(&mut self, tell: &mut dyn FnMut(News)) -> Result<bool, Ended> {
        match &self.side.data {
            Data::Sends(outgoing) => self.step_sending(&Arc::clone(outgoing), tell)?,
            Data::Receives(incoming) => self.step_receiving(&Arc::clone(incoming))?,
        }
        self.step_program();
        self.step_printer();
        if self.side.data.is_open()
            && let Some(streams) = self.lanes.grow(self.now())
        {
            self.say(&PipeMessage::Streams(streams));
        }
        if self.said.alive.elapsed() >= ALIVE {
            self.said.alive = Instant::now();
            self.say(&PipeMessage::Alive);
        }
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            tell(News::Count(self.lanes.count()));
        }
        let is_done = self.side.is_near && self.is_done();
        if is_done {
            self.say(&PipeMessage::Bye);
        }
        Ok(is_done)
    }

    /// (near) Whether there is nothing to wait for any more.
    fn is_done(&self) -> bool {
        let has_exited = self.heard.exited.is_some();
        let all_printed = |printer: &Arc<Printer>| has_exited && printer.is_empty();
        let program_is_over = self.side.printer.as_ref().is_none_or(all_printed);
        program_is_over
            && match &self.side.data {
                Data::Sends(_) => self.heard.done || has_exited,
                Data::Receives(incoming) => match incoming.output() {
                    OutputState::Whole => self.said.output.is_some(),
                    OutputState::Closed => has_exited || self.side.printer.is_none(),
                    OutputState::Open | OutputState::Failed(_) => false,
                },
            }
    }

    fn step_sending(
        &mut self,
        outgoing: &Outgoing,
        tell: &mut dyn FnMut(News),
    ) -> Result<(), Ended> {
        if let Some(problem) = outgoing.failed() {
            return Err(Ended::Here(problem));
        }
        if let (Some(End { bytes, digest }), false) = (outgoing.end(), self.said.end) {
            self.said.end = true;
            self.say(&PipeMessage::End { bytes, digest });
        }
        if self.looked.elapsed() >= LOOK
            && let Some((streams, why)) = self.lanes.look(self.now())
        {
            tracing::info!(streams, why, "steered");
            tell(News::Streams(streams, why));
        }
        Ok(())
    }

    fn step_receiving(&mut self, incoming: &Incoming) -> Result<(), Ended> {
        let taken = incoming.taken();
        let (said, at) = self.said.taken;
        let is_due = taken - said >= TAKEN_PART || at.elapsed() >= TAKEN_SOON;
        if taken > said && is_due {
            self.said.taken = (taken, Instant::now());
            self.say(&PipeMessage::Taken(taken));
        }
        let (word, message) = match incoming.output() {
            OutputState::Open => return Ok(()),
            OutputState::Whole => ("done", PipeMessage::Done),
            OutputState::Closed => ("closed", PipeMessage::Closed),
            OutputState::Failed(problem) => return Err(Ended::Here(problem)),
        };
        if self.said.output != Some(word) {
            self.said.output = Some(word);
            self.say(&message);
        }
        Ok(())
    }

    /// (far) What the program printed, and its end.
    fn step_program(&mut self) {
        let Some(program) = &self.side.program else {
            return;
        };
        while !self.conversation.is_full()
            && let Some(part) = program.printed(self.said.printed)
        {
            self.said.printed = part.offset + part.bytes.len() as u64;
            self.say(&PipeMessage::Printed {
                output: part.output,
                offset: part.offset,
                bytes: part.bytes,
            });
        }
        let code = program.exited().filter(|_| !self.said.exited);
        if let (Some(code), None) = (code, program.printed(self.said.printed)) {
            self.said.exited = true;
            self.say(&PipeMessage::Exited(code));
        }
    }

    /// (near) How much of what the program printed was passed on.
    fn step_printer(&mut self) {
        let Some(printer) = &self.side.printer else {
            return;
        };
        let passed = printer.passed();
        if passed > self.said.passed {
            self.said.passed = passed;
            self.say(&PipeMessage::Passed(passed));
        }
    }

    fn on(&mut self, event: Event) -> Result<(), Ended> {
        match event {
            Event::Changed => Ok(()),
            Event::Message(message) => self.on_message(message),
            Event::Gone(why) => Err(Ended::There(SessionEnd::Lost(why))),
            Event::Broken(why) => Err(Ended::Here(broken_problem(why))),
            Event::Joined(number, channel) => {
                self.lanes.on_joined(number, channel);
                Ok(())
            }
            Event::NotJoined(why) => {
                let now = self.now();
                let there = self.lanes.on_not_joined(now, &why);
                there.map_err(|why| Ended::Here(problem(ProblemKind::Request, why)))
            }
            Event::StreamOver(number, end) => {
                self.lanes.on_over(number, &end);
                Ok(())
            }
        }
    }

    fn on_message(&mut self, message: PipeMessage) -> Result<(), Ended> {
        let wrong = |error: PipeViolation| Ended::Here(broken_problem(error.to_string()));
        match (message, &self.side.data) {
            (PipeMessage::Alive, _) => Ok(()),
            (PipeMessage::Taken(taken), Data::Sends(outgoing)) => {
                outgoing.on_taken(taken).map_err(wrong)
            }
            (PipeMessage::End { bytes, digest }, Data::Receives(incoming)) => {
                incoming.on_end(End { bytes, digest }).map_err(wrong)
            }
            (PipeMessage::Done, Data::Sends(outgoing)) if outgoing.end().is_some() => {
                self.heard.done = true;
                Ok(())
            }
            (PipeMessage::Done, Data::Sends(_)) => {
                let what = "the other end is done before the end was said";
                Err(Ended::Here(broken_problem(what.to_owned())))
            }
            (PipeMessage::Closed, Data::Sends(outgoing)) => {
                self.heard.closed = true;
                outgoing.stop();
                Ok(())
            }
            (PipeMessage::Failed(problem), _) => {
                Err(Ended::There(SessionEnd::Problem(safe(problem))))
            }
            (PipeMessage::Cancel, _) => Err(Ended::There(SessionEnd::Cancelled)),
            (message, _) if self.side.is_near => self.on_message_of_far(message),
            (message, _) => self.on_message_of_near(message),
        }
    }

    fn on_message_of_far(&mut self, message: PipeMessage) -> Result<(), Ended> {
        match (message, &self.side.printer, &self.side.data) {
            (PipeMessage::Streams(streams), _, Data::Receives(_)) => {
                self.lanes.want(streams);
                Ok(())
            }
            (
                PipeMessage::Printed {
                    output,
                    offset,
                    bytes,
                },
                Some(printer),
                _,
            ) => {
                let taken = printer.take(output, offset, bytes);
                taken.map_err(|why| Ended::Here(broken_problem(why)))
            }
            (PipeMessage::Exited(code), Some(_), data) => {
                self.heard.exited = Some(code);
                if let Data::Sends(outgoing) = data {
                    outgoing.stop();
                }
                Ok(())
            }
            (message, ..) => Err(unexpected(&message)),
        }
    }

    fn on_message_of_near(&mut self, message: PipeMessage) -> Result<(), Ended> {
        match (message, &self.side.program) {
            (PipeMessage::Bye, _) => Err(Ended::There(SessionEnd::Done)),
            (PipeMessage::Passed(passed), Some(program)) if program.on_passed(passed) => Ok(()),
            (message, _) => Err(unexpected(&message)),
        }
    }
}

/// Why a session ends.
enum Ended {
    /// This end cannot go on, and says so.
    Here(Problem),
    /// The other end cannot, or is gone.
    There(SessionEnd),
}

fn unexpected(message: &PipeMessage) -> Ended {
    let text = printable(&format!("{message:?}"), 80);
    Ended::Here(broken_problem(format!("`{text}` came out of turn")))
}

fn broken_problem(why: String) -> Problem {
    problem(
        ProblemKind::Protocol,
        format!("the other end broke the protocol: {why}"),
    )
}

fn broken(why: String) -> SessionEnd {
    SessionEnd::Problem(broken_problem(why))
}

/// What the other end says of a problem, short and fit to be printed.
fn safe(problem: Problem) -> Problem {
    Problem {
        file: None,
        what: printable(&problem.what, TEXT),
        hint: problem.hint.map(|hint| printable(&hint, TEXT)),
        ..problem
    }
}
