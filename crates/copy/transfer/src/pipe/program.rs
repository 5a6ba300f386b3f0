//! A program at the far end: its input, what it prints, its end.
//!
//! It leads a process group, so that all that it starts can be ended with it. No end of its input
//! ever stands for a broken one: before that is closed the program has all of it, or a signal.
//! Should this process be killed, the *guard* sees to that. It is a shell that holds the input open too,
//! waits for a word from here, and kills the group where its own input ends without one.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::pipe::{OUTPUT_CHUNK, OUTPUT_WINDOW, Output};
use copy_protocol::{CopyDirection, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::events::Bell;
use files::{problem, shown, with_hint};

/// What the guard runs: it gets the number of the group, and `done` once the input may end.
const GUARD: &str = "trap '' HUP INT TERM; read -r group; read -r word; \
                     [ \"$word\" = done ] || kill -s KILL -- \"-$group\"";
/// How long a program may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long the outputs of a program that has ended may stay open: what it has started may hold
/// them.
const OUTPUTS_MAX: Duration = Duration::from_secs(1);
/// What a pipe may hold, where the kernel allows as much.
const PIPE_BYTES: i32 = 1 << 20;

/// A program that runs, or ran.
#[derive(Debug)]
pub(crate) struct Program {
    group: Pid,
    guard: Mutex<Option<(Child, PipeWriter)>>,
    state: Mutex<State>,
    changed: Condvar,
    bell: Arc<Bell>,
}

#[derive(Debug, Default)]
struct State {
    /// What it printed and the near end has not passed on.
    printed: VecDeque<Printed>,
    /// Bytes that it printed, and bytes that were passed on.
    came: u64,
    passed: u64,
    open_outputs: u8,
    /// The process has ended.
    code: Option<u8>,
    /// So have its outputs, or were long enough open.
    is_over: bool,
}

/// A part of what a program printed.
#[derive(Debug, Clone)]
pub(crate) struct Printed {
    pub output: Output,
    pub offset: u64,
    pub bytes: Vec<u8>,
}

/// A program that was started, with what it reads or prints.
pub(crate) struct StartedProgram {
    pub program: Arc<Program>,
    /// Of one that reads.
    pub input: Option<ProgramInput>,
    /// Of one that prints.
    pub output: Option<File>,
}

/// The input of a program.
#[derive(Debug)]
pub(crate) struct ProgramInput {
    program: Arc<Program>,
    pipe: PipeWriter,
}

impl ProgramInput {
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pipe.write_all(bytes)
    }

    /// It has all of it.
    pub fn close(self) {
        self.program.release();
    }
}

impl Program {
    /// Starts a program that reads what comes (a put), or whose standard output goes (a get).
    ///
    /// # Errors
    /// When there is no such program, or no process can be made.
    pub fn start(
        words: &[Vec<u8>],
        direction: CopyDirection,
        bell: Arc<Bell>,
    ) -> Result<StartedProgram, Problem> {
        let name = words.first().map_or(&[][..], Vec::as_slice);
        let reads = direction == CopyDirection::Put;
        let begin = || {
            let (reader, writer) = io::pipe()?;
            // Without the room the same goes through, in smaller parts.
            let _ = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
            let held = match reads {
                true => Stdio::from(writer.try_clone()?),
                false => Stdio::null(),
            };
            let guard = start_guard(held)?;
            let mut command = Command::new(OsStr::from_bytes(name));
            command
                .args(words.iter().skip(1).map(|word| OsStr::from_bytes(word)))
                .stdin(match reads {
                    true => Stdio::from(reader),
                    false => Stdio::null(),
                })
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .process_group(0);
            Ok((guard, command.spawn()?, writer))
        };
        let (mut guard, child, writer) = begin().map_err(|error| no_start(name, &error))?;
        // A guard that is gone guards nothing, and the pipe works as before.
        let _ = writeln!(guard.1, "{}", child.id());
        Ok(Program::follow(child, guard, bell, reads.then_some(writer)))
    }

    fn follow(
        mut child: Child,
        guard: (Child, PipeWriter),
        bell: Arc<Bell>,
        pipe: Option<PipeWriter>,
    ) -> StartedProgram {
        let program = Arc::new(Program {
            group: Pid::from_raw(child.id().cast_signed()),
            guard: Mutex::new(Some(guard)),
            state: Mutex::default(),
            changed: Condvar::new(),
            bell,
        });
        let (standard, errors) = (child.stdout.take(), child.stderr.take());
        let mut output = standard.map(|pipe| File::from(OwnedFd::from(pipe)));
        if let Some(errors) = errors {
            program.listen(File::from(OwnedFd::from(errors)), Output::Errors);
        }
        if pipe.is_some()
            && let Some(standard) = output.take()
        {
            program.listen(standard, Output::Standard);
        }
        let waiting = Arc::clone(&program);
        thread::spawn(move || waiting.wait_for(child));
        StartedProgram {
            input: pipe.map(|pipe| ProgramInput {
                program: Arc::clone(&program),
                pipe,
            }),
            output,
            program,
        }
    }

    /// Reads an output on a thread of its own, no more than the near end has room for.
    fn listen(self: &Arc<Self>, mut pipe: File, output: Output) {
        self.lock().open_outputs += 1;
        let program = Arc::clone(self);
        thread::spawn(move || {
            let mut buffer = vec![0; OUTPUT_CHUNK];
            while program.wait_for_room() {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(got) => program.take(output, buffer.get(..got).unwrap_or_default()),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            program.lock().open_outputs -= 1;
            program.changed.notify_all();
        });
    }

    /// Both outputs may read at once.
    fn wait_for_room(&self) -> bool {
        let most = OUTPUT_WINDOW - OUTPUT_CHUNK as u64;
        let mut state = self.lock();
        while !state.is_over && state.came - state.passed + OUTPUT_CHUNK as u64 > most {
            state = self.wait(state, Duration::MAX);
        }
        !state.is_over
    }

    fn take(&self, output: Output, bytes: &[u8]) {
        let mut state = self.lock();
        let offset = state.came;
        state.came += bytes.len() as u64;
        state.printed.push_back(Printed {
            output,
            offset,
            bytes: bytes.to_vec(),
        });
        drop(state);
        self.bell.ring();
    }

    /// What it printed from that byte on, in parts.
    pub fn printed(&self, from: u64) -> Option<Printed> {
        let state = self.lock();
        let mut parts = state.printed.iter();
        parts.find(|part| part.offset >= from).cloned()
    }

    /// Bytes that were passed on.
    pub fn passed(&self) -> u64 {
        self.lock().passed
    }

    /// The near end has passed on so many bytes; `false` when it printed less.
    pub fn on_passed(&self, passed: u64) -> bool {
        let mut state = self.lock();
        if passed > state.came {
            return false;
        }
        state.passed = state.passed.max(passed);
        let all = state.passed;
        state
            .printed
            .retain(|part| part.offset + part.bytes.len() as u64 > all);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Its exit code once it has ended and all that it printed was read: as shells have it, of a
    /// signal 128 and its number.
    pub fn exited(&self) -> Option<u8> {
        let state = self.lock();
        state.code.filter(|_| state.is_over)
    }

    fn wait_for(&self, mut child: Child) {
        let code = child.wait().map_or(u8::MAX, code_of);
        let mut state = self.lock();
        state.code = Some(code);
        self.changed.notify_all();
        let until = Instant::now() + OUTPUTS_MAX;
        while state.open_outputs > 0 && !(Instant::now() >= until && is_drained(&state)) {
            let left = until.saturating_duration_since(Instant::now());
            state = self.wait(state, left.max(Duration::from_millis(100)));
        }
        state.is_over = true;
        drop(state);
        self.changed.notify_all();
        self.bell.ring();
    }

    /// Ends it and all that it has started, where it runs: first SIGTERM, then SIGKILL. Returns
    /// when it has ended.
    pub fn end(&self) {
        let mut state = self.lock();
        if state.code.is_none() {
            // Who is gone needs no signal.
            let _ = killpg(self.group, Signal::SIGTERM);
            let until = Instant::now() + GRACE;
            while state.code.is_none() && Instant::now() < until {
                let left = until.saturating_duration_since(Instant::now());
                state = self.wait(state, left);
            }
            let _ = killpg(self.group, Signal::SIGKILL);
            while state.code.is_none() {
                state = self.wait(state, Duration::MAX);
            }
        }
        state.is_over = true;
        drop(state);
        self.changed.notify_all();
        self.release();
    }

    /// The guard lets go of the input.
    fn release(&self) {
        let mut held = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((mut guard, mut pipe)) = held.take() {
            let _ = pipe.write_all(b"done\n");
            drop(pipe);
            let _ = guard.wait();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        // The longest wait that every platform's clock can count.
        let limit = limit.min(Duration::from_secs(3_600));
        let waited = self.changed.wait_timeout(state, limit);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Whether the near end has passed on all that was read.
fn is_drained(state: &State) -> bool {
    state.came == state.passed
}

fn code_of(status: ExitStatus) -> u8 {
    let of_signal = || status.signal().map(|signal| 128 + signal);
    let code = status.code().or_else(of_signal);
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

/// `held`: the input of the program, which it keeps open as its output.
fn start_guard(held: Stdio) -> io::Result<(Child, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    let guard = Command::new("sh")
        .args(["-c", GUARD])
        .stdin(Stdio::from(reader))
        .stdout(held)
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    Ok((guard, writer))
}

fn no_start(name: &[u8], error: &io::Error) -> Problem {
    let has_spaces = name.contains(&b' ');
    let why = match error.raw_os_error() {
        Some(number) => Errno::from_raw(number).desc().to_owned(),
        None => error.to_string(),
    };
    let what = format!("the far end cannot start `{}`: {why}", shown(name));
    let kind = match error.kind() {
        ErrorKind::NotFound => ProblemKind::NotFound,
        ErrorKind::PermissionDenied => ProblemKind::Permission,
        _ => ProblemKind::Request,
    };
    let hint = match has_spaces {
        true => "no shell reads the words: write each for itself, or `-- sh -c 'LINE'`",
        false => "is it installed there, and in the PATH that ssh gives?",
    };
    with_hint(problem(kind, what), hint)
}

#[cfg(test)]
mod tests;
