//! What happens in a session of a pipe, one thing after the other.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use copy_net::Conversation;
use copy_protocol::pipe::{End, PipeMessage, PipeViolation};
use copy_protocol::{Problem, ProblemKind};
use units::{Span, Time, printable};

use super::events::Event;
use super::incoming::{Incoming, OutputState};
use super::lanes::Lanes;
use super::outgoing::Outgoing;
use super::printer::Printer;
use super::side::{Data, Heard, Side};
use super::talk::{broken_problem, safe, say};
use crate::session::SessionEnd;
use files::problem;

/// How often each end says that it is there; it counts as gone after 15 s.
const ALIVE: Duration = Duration::from_secs(4);
/// How often the streams are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Longest wait before a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// What was taken is said at once for each part of the window as large as this, and soon otherwise.
const TAKEN_PART: u64 = 1 << 20;
const TAKEN_SOON: Duration = Duration::from_millis(5);

/// How long the program may take to end once its reader here is gone.
const CLOSED_MAX: Duration = Duration::from_secs(2);

/// What an observer is told.
#[derive(Debug)]
pub(crate) enum News {
    /// Another number of streams, and why.
    Streams(u16, String),
    /// So many there are.
    Count(u16),
}

/// What this end has said in this session.
struct Said {
    alive: Instant,
    taken: (u64, Instant),
    end: bool,
    output: Option<&'static str>,
    output_at: Instant,
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
            output_at: now,
            // What was not passed on is said again.
            printed: side.program.as_ref().map_or(0, |program| program.passed()),
            passed: 0,
            exited: false,
        }
    }
}

/// A session that goes on.
pub(super) struct Play<'a> {
    side: &'a Side,
    heard: &'a mut Heard,
    lanes: Lanes,
    conversation: &'a Conversation<PipeMessage>,
    began: Instant,
    said: Said,
    looked: Instant,
}

impl<'a> Play<'a> {
    pub fn new(
        side: &'a Side,
        heard: &'a mut Heard,
        lanes: Lanes,
        conversation: &'a Conversation<PipeMessage>,
    ) -> Self {
        let began = Instant::now();
        Play {
            side,
            heard,
            lanes,
            conversation,
            began,
            said: Said::new(side, began),
            looked: began,
        }
    }

    /// Ends all streams.
    pub fn shut_down(&self) {
        self.lanes.shut_down();
    }

    /// Until the session ends.
    pub fn run(
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
        self.step_printer()?;
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
        if self.said.output == Some("closed") {
            // What the program does now changes nothing.
            return program_is_over || self.said.output_at.elapsed() >= CLOSED_MAX;
        }
        program_is_over
            && match &self.side.data {
                Data::Sends(_) => self.heard.done || has_exited,
                Data::Receives(incoming) => match incoming.output() {
                    OutputState::Whole => self.said.output.is_some(),
                    OutputState::Open | OutputState::Closed | OutputState::Failed(_) => false,
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
        // What is over is looked at first: all that it took is said before it is.
        let output = incoming.output();
        let is_open = matches!(output, OutputState::Open);
        let taken = incoming.taken();
        let (said, at) = self.said.taken;
        let is_soon = taken - said < TAKEN_PART && at.elapsed() < TAKEN_SOON;
        let is_due = !is_soon || !is_open;
        if taken > said && is_due {
            self.said.taken = (taken, Instant::now());
            self.say(&PipeMessage::Taken(taken));
        }
        let (word, message) = match output {
            OutputState::Open => return Ok(()),
            OutputState::Whole => ("done", PipeMessage::Done),
            OutputState::Closed => ("closed", PipeMessage::Closed),
            OutputState::Failed(problem) => return Err(Ended::Here(problem)),
        };
        if self.said.output != Some(word) {
            self.said.output = Some(word);
            self.said.output_at = Instant::now();
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
        // It may have ended before it was noted that it has all.
        let waits = program.has_whole_input() && self.side.data.is_open();
        let code = program.exited().filter(|_| !self.said.exited && !waits);
        if let (Some(code), None) = (code, program.printed(self.said.printed)) {
            self.said.exited = true;
            self.say(&PipeMessage::Exited(code));
        }
    }

    /// (near) How much of what the program printed was passed on.
    fn step_printer(&mut self) -> Result<(), Ended> {
        let Some(printer) = &self.side.printer else {
            return Ok(());
        };
        if let Some(problem) = printer.failed() {
            return Err(Ended::Here(problem));
        }
        let passed = printer.passed();
        if passed > self.said.passed {
            self.said.passed = passed;
            self.say(&PipeMessage::Passed(passed));
        }
        Ok(())
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
            (PipeMessage::Done, Data::Sends(outgoing)) if outgoing.is_all_taken() => {
                self.heard.done = true;
                Ok(())
            }
            (PipeMessage::Done, Data::Sends(_)) => {
                let what = "it is done before it has all";
                Err(Ended::Here(broken_problem(what.to_owned())))
            }
            (PipeMessage::Closed, Data::Sends(outgoing))
                if !self.side.is_near || self.side.printer.is_some() =>
            {
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
