//! Other programs across an emulated path.

use std::ffi::OsString;
use std::thread;
use std::time::{Duration, Instant};

use ::target::EmulatedNetwork;
use emu::{DuplexBooks, LinkBooks, Namespace, Program};
use netpath::PathSpec;
use observe::Punctuality;
use record::{Document, DuplexCounters, Emulation, LinkCounters};

use crate::{Cancel, Error, origin};

pub use emu::{Sink, addresses, become_init, init_arguments, set_init_program};

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a program that was interrupted may take to say its last words.
const GRACE: Duration = Duration::from_secs(1);
/// How long the far program may take before it listens. Servers need milliseconds; a program that
/// never listens costs this once.
const LISTEN_PATIENCE: Duration = Duration::from_secs(3);

/// A path between two hosts, which are namespaces of this host, until dropped.
///
/// A program that emulates calls [`init_arguments`] first of all, and [`become_init`] with what
/// that gives: the first process of a host is this program once more.
#[derive(Debug)]
pub struct EmulatedPath {
    path: PathSpec,
    seed: u64,
    emulated: EmulatedNetwork,
}

/// An end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The host under the name `near`.
    Near,
    /// The host under the name `far`.
    Far,
}

/// What runs across the path.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The program of the near host, with its arguments. It finds the far host under the name
    /// `far`.
    pub near: Vec<OsString>,
    /// Where the output of the near program goes.
    pub near_output: Sink,
    /// Shell command of the far host; started first.
    pub far: Option<String>,
}

/// What is told while programs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarProgram<'a> {
    /// The far program has ended before the near one began.
    Ended(&'a str),
    /// Nothing listens on the far host after three seconds; the near program starts all the same.
    Silent(&'a str),
}

/// What came of it.
#[derive(Debug)]
pub struct Emulated {
    /// The exit code of the near program.
    pub exit_code: u8,
    /// The counters of both directions.
    pub document: Document<Emulation>,
}

impl EmulatedPath {
    /// Brings `path` up; `seed` decides which packets are lost on the wire.
    ///
    /// Users who are not root can only get the rights while the process has a single thread.
    ///
    /// # Errors
    /// When the user lacks a right or the kernel lacks a part.
    pub fn up(path: PathSpec, seed: u64) -> Result<Self, Error> {
        let emulated = EmulatedNetwork::up(&path, seed)?;
        Ok(EmulatedPath {
            path,
            seed,
            emulated,
        })
    }

    /// The path.
    pub fn path(&self) -> &PathSpec {
        &self.path
    }

    /// Has programs that do not choose their congestion control use that of the path's hosts.
    /// False where only root can.
    ///
    /// # Errors
    /// When the namespaces are lost.
    pub fn make_default_congestion(&self) -> Result<bool, Error> {
        let name = &self.path.hosts.congestion;
        Ok(self.emulated.network().make_default_congestion(name)?)
    }

    /// The near host.
    pub(crate) fn near(&self) -> &Namespace {
        self.emulated.network().near()
    }

    /// How punctual it has been; `None` before the first packet.
    pub(crate) fn punctuality(&self) -> Option<Punctuality> {
        self.emulated.punctuality(&self.path)
    }

    /// Moves the calling thread into a host of the path for good. What it starts from then on by
    /// way of [`init_arguments`] and [`become_init`] is in that host, with a process namespace of
    /// its own.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enter(&self, host: Host) -> Result<(), Error> {
        let network = self.emulated.network();
        let namespace = match host {
            Host::Near => network.near(),
            Host::Far => network.far(),
        };
        namespace.enter()?;
        Ok(emu::have_init()?)
    }

    /// The counters of both directions until now, as a document that names `near` as command.
    pub fn counters(&self, near: Vec<OsString>) -> Document<Emulation> {
        let programs = Programs {
            near,
            near_output: Sink::Inherited,
            far: None,
        };
        Document::new(origin(Some(self.seed)), self.body(&programs, 0))
    }

    /// Runs `programs` until the near one ends or is cancelled; the far one ends then.
    ///
    /// # Errors
    /// When one cannot be started.
    pub fn run(
        &self,
        programs: &Programs,
        cancel: &Cancel,
        on_far: &mut dyn FnMut(FarProgram<'_>),
    ) -> Result<Emulated, Error> {
        let far = programs.far.as_deref();
        let far = far.map(|command| self.start_far(command, cancel, on_far));
        let far = far.transpose()?;
        let near = self.emulated.network().near();
        let near = Program::start(near, &programs.near, programs.near_output)?;
        let exit_code = wait(near, cancel)?;
        if let Some(far) = far {
            far.kill();
            far.wait()?;
        }
        let body = self.body(programs, exit_code);
        Ok(Emulated {
            exit_code,
            document: Document::new(origin(Some(self.seed)), body),
        })
    }

    /// Starts the far program and waits until it is ready for connections.
    pub(crate) fn start_far(
        &self,
        command: &str,
        cancel: &Cancel,
        on_far: &mut dyn FnMut(FarProgram<'_>),
    ) -> Result<Program, Error> {
        let host = self.emulated.network().far();
        let shell = ["sh", "-c", command].map(OsString::from);
        let far = Program::start(host, &shell, Sink::Named("far"))?;
        let deadline = Instant::now() + LISTEN_PATIENCE;
        while !host.has_listener()? {
            if far.is_finished() {
                on_far(FarProgram::Ended(command));
                break;
            }
            if cancel.is_cancelled() || Instant::now() > deadline {
                on_far(FarProgram::Silent(command));
                break;
            }
            thread::sleep(LOOK);
        }
        Ok(far)
    }

    fn body(&self, programs: &Programs, exit_code: u8) -> Emulation {
        let books = self.emulated.network().all_books();
        let main = counters(&books.main);
        let words = programs.near.iter();
        Emulation {
            path: self.path.name.clone(),
            path_description: self.path.to_string(),
            near_command: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            far_command: programs.far.clone(),
            exit_code,
            forward: main.forward,
            reverse: main.reverse,
            before: books.before.iter().map(counters).collect(),
            beyond: books.beyond.iter().map(counters).collect(),
        }
    }
}

fn counters(books: &DuplexBooks) -> DuplexCounters {
    let one_way = |books: &LinkBooks| LinkCounters::from(&books.own).with_load(&books.load);
    DuplexCounters {
        forward: one_way(&books.forward),
        reverse: one_way(&books.reverse),
    }
}

/// Waits for the program, or ends it when the user asks for that. Ctrl-C on a terminal reaches the
/// program as well, so it first gets time to end by itself, then a request, and then no choice.
fn wait(program: Program, cancel: &Cancel) -> Result<u8, Error> {
    while !program.is_finished() && !cancel.is_cancelled() {
        thread::sleep(LOOK);
    }
    finish_within(GRACE, &program);
    if !program.is_finished() {
        program.terminate();
        finish_within(GRACE, &program);
        program.kill();
    }
    Ok(program.wait()?)
}

fn finish_within(patience: Duration, program: &Program) {
    let deadline = Instant::now() + patience;
    while !program.is_finished() && Instant::now() < deadline {
        thread::sleep(LOOK);
    }
}
