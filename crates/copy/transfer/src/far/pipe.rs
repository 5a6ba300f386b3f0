//! Pipes at a far end.
//!
//! A pipe whose conversation is lost waits for its near end to come back, and is then ended: its
//! program with a signal, its file without a name.

use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_net::{AcceptedPipe, PipeHandler};
use copy_protocol::pipe::{PipeMessage, PipeOpening, PipePlace};
use copy_protocol::{CopyDirection, KeyName, Problem, ProblemKind};
use nix::fcntl::OFlag;
use nix::sys::stat::{SFlag, fstat};
use units::{Bytes, Rate};

use super::open_pipes::{Key, OpenPipe};
use super::{FarEnd, FarEvent};
use crate::budget::Use;
use crate::opening::stream_count;
use crate::pipe::{
    Bell, Data, FileOutput, Incoming, Input, Origin, Outgoing, Program, Session, Side, Steering,
    await_message, read_all, refuse, say, write_all,
};
use crate::remote::Flow;
use crate::session::SessionEnd;
use files::store::StreamFile;
use files::{Root, failed, problem, shown, with_hint};

/// How long the near end may think about what it wants.
const OPENING_MAX: Duration = Duration::from_secs(30);
/// How long a lost near end is waited for; one that ssh started this end for is known to be gone
/// earlier, mostly.
const AWAY_MAX: Duration = Duration::from_secs(120);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(1);
impl PipeHandler for FarEnd {
    fn serve_pipe(&self, accepted: AcceptedPipe) {
        let (peer, name) = (accepted.peer, accepted.admitted.key_name.clone());
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let (end, taken) = match self.serve_opened(number, accepted) {
            Ok(ended) => ended,
            Err(end) => (end, Bytes::ZERO),
        };
        tracing::info!(number, %peer, ?end, "the session of a pipe is over");
        self.leave_after(&end);
        (self.on_event)(&FarEvent::PipeEnded {
            number,
            peer,
            name,
            why: super::why_ended(&end),
            taken,
        });
    }
}

impl FarEnd {
    /// Ends the pipes that are open, and returns when they have ended: programs get a signal, files
    /// no name.
    pub fn end_pipes(&self) {
        self.pipes.end_all();
    }

    /// It may run programs for its near end.
    #[must_use]
    pub fn running_programs(mut self) -> Self {
        self.runs_programs = true;
        self
    }

    fn serve_opened(
        &self,
        number: u64,
        accepted: AcceptedPipe,
    ) -> Result<(SessionEnd, Bytes), SessionEnd> {
        let AcceptedPipe {
            peer,
            admitted,
            rtt,
            conversation,
            streams,
        } = accepted;
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let stopped = || is_stopped().then(this_end_stopped);
        let opening = match await_message(&conversation, OPENING_MAX, &stopped)? {
            PipeMessage::Open(opening) => *opening,
            other => {
                let what = units::printable(&format!("{other:?} opens nothing"), 200);
                let wrong = problem(ProblemKind::Protocol, what);
                refuse(conversation, wrong.clone());
                return Err(SessionEnd::Problem(wrong));
            }
        };
        let key = (admitted.key_name.clone(), opening.pipe);
        let entered = self.enter(number, peer, &key, &opening);
        let (pipe, turn) = match entered {
            Ok(entered) => entered,
            Err(problem) => {
                refuse(conversation, problem.clone());
                return Err(SessionEnd::Problem(problem));
            }
        };
        say(
            &conversation,
            &PipeMessage::Opened {
                session: streams.session().unwrap_or(0),
                taken: match &pipe.side.data {
                    Data::Receives(incoming) => incoming.taken(),
                    Data::Sends(_) => 0,
                },
            },
        );
        let share = self
            .budget
            .user(Use::Files, key.0.clone(), opening.direction);
        let session = Session {
            conversation,
            origin: Origin::Arrive(Arc::new(streams)),
            steering: Steering {
                streams: stream_count(opening.streams),
                rate_max: rate_max(&opening),
                rtt,
            },
            flow: Some(Arc::new(Flow::new(share))),
        };
        let end = self.run(session, key, &pipe, turn);
        Ok((end, Bytes::new(pipe.side.data.taken())))
    }

    /// One conversation of a pipe.
    fn run(&self, session: Session, key: Key, pipe: &Arc<OpenPipe>, turn: u64) -> SessionEnd {
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let is_over = || !pipe.is_last(turn) || is_stopped();
        let stopped = || is_over().then(this_end_stopped);
        let mut heard = *pipe.heard();
        let end = session.run(&pipe.side, &mut heard, &stopped, &mut |_| ());
        *pipe.heard() = heard;
        pipe.let_go();
        match &end {
            SessionEnd::Lost(_) if !is_stopped() => self.await_return(key, pipe),
            // All of them are ended then.
            SessionEnd::Lost(_) => {}
            _ => self.pipes.end(&key),
        }
        end
    }

    /// Ends a pipe whose near end does not come back.
    fn await_return(&self, key: Key, pipe: &Arc<OpenPipe>) {
        if !pipe.is_first_loss() {
            return;
        }
        let (pipes, watched, name) = (Arc::clone(&self.pipes), Arc::clone(pipe), key.clone());
        let watch = move || {
            let is_open = || {
                pipes
                    .find(&name)
                    .is_some_and(|it| Arc::ptr_eq(&it, &watched))
            };
            while is_open() {
                if watched.has_been_alone_for(AWAY_MAX) {
                    return pipes.end(&name);
                }
                thread::sleep(LOOK);
            }
        };
        let begun = thread::Builder::new().name("away".to_owned()).spawn(watch);
        if begun.is_err() {
            self.pipes.end(&key);
        }
    }

    /// The pipe that is begun or gone on with, and the number of this conversation in it.
    fn enter(
        &self,
        number: u64,
        peer: SocketAddr,
        key: &Key,
        opening: &PipeOpening,
    ) -> Result<(Arc<OpenPipe>, u64), Problem> {
        let wrong = |what: String| problem(ProblemKind::Protocol, what);
        opening.check().map_err(|error| wrong(error.to_string()))?;
        match (opening.is_first, self.pipes.find(key)) {
            (false, None) => Err(problem(
                ProblemKind::Protocol,
                "the far end does not know this pipe any more; nothing of it was published",
            )),
            (true, None) => {
                self.pipes.check_room(&key.0)?;
                let pipe = Arc::new(self.begin(&key.0, opening)?);
                (self.on_event)(&FarEvent::PipeBegan {
                    number,
                    peer,
                    name: key.0.clone(),
                    direction: opening.direction,
                    place: told(&opening.place),
                });
                let before = self.pipes.all().insert(key.clone(), Arc::clone(&pipe));
                if let Some(before) = before {
                    before.end();
                }
                let turn = self.turn(key, &pipe)?;
                Ok((pipe, turn))
            }
            // Its first opening may have been answered without that being heard.
            (_, Some(pipe)) => {
                if (pipe.direction, pipe.window) != (opening.direction, opening.window) {
                    return Err(wrong("the pipe was another one before".to_owned()));
                }
                let turn = self.turn(key, &pipe)?;
                if let Data::Sends(outgoing) = &pipe.side.data
                    && let Err(error) = outgoing.begin(opening.taken)
                {
                    self.pipes.end(key);
                    return Err(wrong(error.to_string()));
                }
                Ok((pipe, turn))
            }
        }
    }

    /// The number of the next conversation of a pipe; where that has none, the pipe is over.
    fn turn(&self, key: &Key, pipe: &OpenPipe) -> Result<u64, Problem> {
        let turn = pipe.take_over();
        if turn.is_err() {
            self.pipes.end(key);
        }
        turn
    }

    /// Opens the file or starts the program, and begins to read or to write.
    fn begin(&self, name: &KeyName, opening: &PipeOpening) -> Result<OpenPipe, Problem> {
        let bell = Arc::<Bell>::default();
        let ((data, writer), program) = match &opening.place {
            PipePlace::File(path) => (self.file(name, path, opening, &bell)?, None),
            PipePlace::Program(words) => {
                let (begun, program) = self.program(name, words, opening, &bell)?;
                (begun, Some(program))
            }
        };
        let side = Side {
            is_near: false,
            data,
            bell,
            program,
            printer: None,
        };
        let (direction, window) = (opening.direction, opening.window);
        Ok(OpenPipe::new(side, direction, window, writer))
    }

    fn file(
        &self,
        name: &KeyName,
        path: &[u8],
        opening: &PipeOpening,
        bell: &Arc<Bell>,
    ) -> Result<Begun, Problem> {
        let found = self.find_own(name).map(|(_, rights)| rights);
        let rights = found.ok_or_else(|| super::taken_back(name))?;
        let root = self.root_of(name)?.restricted(rights.read, rights.write);
        match opening.direction {
            CopyDirection::Put => {
                let file = StreamFile::create(&root, path)?;
                Ok(receive(FileOutput::Stored(file), opening, bell))
            }
            CopyDirection::Get => {
                let input = open(&root, path)?;
                Ok(send(input, opening, bell))
            }
        }
    }

    fn program(
        &self,
        name: &KeyName,
        words: &[Vec<u8>],
        opening: &PipeOpening,
        bell: &Arc<Bell>,
    ) -> Result<(Begun, Arc<Program>), Problem> {
        // A token that was granted for one copy opens nothing else.
        self.find_own(name).ok_or_else(|| super::taken_back(name))?;
        if !self.runs_programs {
            let what = "this far end runs no programs";
            let refused = problem(ProblemKind::Permission, what);
            let hint = "only one that ssh starts for a pipe does, where the key may run any \
                        command; `trunkline pipe - HOST:FILE` needs none";
            return Err(with_hint(refused, hint));
        }
        let started = Program::start(words, opening.direction, Arc::clone(bell))?;
        let begun = match (started.input, started.output) {
            (Some(input), _) => receive(FileOutput::Program(input), opening, bell),
            (None, Some(output)) => {
                let input = Input::new(output, "what the program prints");
                send(input, opening, bell)
            }
            (None, None) => {
                started.program.end();
                return Err(problem(ProblemKind::Disk, "the program has no pipes"));
            }
        };
        Ok((begun, started.program))
    }
}

fn this_end_stopped() -> SessionEnd {
    SessionEnd::Lost("this end was stopped, or the near end is there again".to_owned())
}

fn rate_max(opening: &PipeOpening) -> Option<Rate> {
    opening.rate_max.map(Rate::from_bits_per_second)
}

fn told(place: &PipePlace) -> String {
    match place {
        PipePlace::File(path) => shown(path),
        PipePlace::Program(words) => {
            let words: Vec<String> = words.iter().map(|word| shown(word)).collect();
            words.join(" ")
        }
    }
}

/// The half of the data, and the thread that writes.
type Begun = (Data, Option<JoinHandle<()>>);

fn receive(output: FileOutput, opening: &PipeOpening, bell: &Arc<Bell>) -> Begun {
    let incoming = Incoming::new(opening.window, Arc::clone(bell));
    let from = Arc::clone(&incoming);
    let writer = thread::spawn(move || write_all(output, &from));
    (Data::Receives(incoming), Some(writer))
}

fn send(input: Input, opening: &PipeOpening, bell: &Arc<Bell>) -> Begun {
    let outgoing = Outgoing::new(opening.window, Arc::clone(bell));
    let (to, rate_max) = (Arc::clone(&outgoing), rate_max(opening));
    thread::spawn(move || read_all(input, &to, rate_max));
    (Data::Sends(outgoing), None)
}

/// Opens a file to be read.
fn open(root: &Root, path: &[u8]) -> Result<Input, Problem> {
    let name = shown(path);
    if !root.may_read() {
        let refused = problem(ProblemKind::Permission, "nothing may be read here");
        let hint = "this server, token or key only takes files; use one that gives them";
        return Err(with_hint(refused, hint));
    }
    // A pipe must not keep this thread waiting for its other end.
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = root.open(path, flags);
    let file = File::from(opened.map_err(|error| failed("read", &name, &error))?);
    let stat = fstat(&file).map_err(|errno| failed("read", &name, &errno.into()))?;
    match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => Ok(Input::new(file, &name)),
        _ => {
            let what = format!("cannot read `{name}`: it is no file");
            let wrong = problem(ProblemKind::Request, what);
            let hint = "name a file, or the program that reads it: `-n HOST -- cat NAME`";
            Err(with_hint(wrong, hint))
        }
    }
}
