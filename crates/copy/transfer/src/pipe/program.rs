//! A program at the far end: its input, what it prints, its end.
//!
//! It leads a process group, so that all that it starts can be ended with it. No end of its input
//! ever stands for a broken one: before that is closed the program has all of it, or a signal.
//! Should this process be killed, the *guard* sees to that. It is a shell that holds the input open
//! too, waits for a word from here, and kills the group where its own input ends without one.
//!
//! What leaves the group (`setsid`, `timeout`) or belongs to another user (`sudo`) gets no signal;
//! its input stays open as long as this end and the guard can hold it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::pipe::{OUTPUT_CHUNK, OUTPUT_WINDOW, Output};
use copy_protocol::{CopyDirection, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sockets::poll;

use super::events::Bell;
use files::{problem, shown, with_hint};

/// What the guard runs: it gets the number of the group, and `done` once the input may end.
const GUARD: &str = "trap '' HUP INT TERM; read -r group || exit; read -r word; \
                     [ \"$word\" = done ] && exit; kill -s KILL -- \"-$group\"; \
                     while [ -n \"$(cat \"/proc/$group/cmdline\")\" ]; do sleep 1; done";
/// How long a program may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long the outputs of a program that has ended may stay open: what it has started may hold
/// them.
const OUTPUTS_MAX: Duration = Duration::from_secs(1);
/// How long it may take to end after SIGKILL, which one of another user (`sudo`) does not get.
const KILLED: Duration = Duration::from_secs(3);
/// How soon it is noticed that nothing reads an input any more.
const TICK: Duration = Duration::from_millis(5);
/// What a pipe may hold, where the kernel allows as much.
const PIPE_BYTES: i32 = 1 << 20;

/// A program that runs, or ran.
#[derive(Debug)]
pub(crate) struct Program {
    group: Pid,
    /// Its input comes from here.
    reads: bool,
    guard: Mutex<Option<Held>>,
    has_whole_input: AtomicBool,
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

/// The guard, what it listens to, and the input, which both hold open.
#[derive(Debug)]
struct Held {
    guard: Child,
    word: PipeWriter,
    input: Option<PipeWriter>,
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
        self.program.has_whole_input.store(true, Ordering::Release);
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
            let (guard, word) = guard;
            let input = reads.then(|| writer.try_clone()).transpose()?;
            let held = Held { guard, word, input };
            Ok((held, command.spawn()?, writer))
        };
        let (mut held, child, writer) = begin().map_err(|error| no_start(name, &error))?;
        // A guard that is gone guards nothing, and the pipe works as before.
        let _ = writeln!(held.word, "{}", child.id());
        Ok(Program::follow(child, held, bell, reads.then_some(writer)))
    }

    fn follow(
        mut child: Child,
        held: Held,
        bell: Arc<Bell>,
        pipe: Option<PipeWriter>,
    ) -> StartedProgram {
        let program = Arc::new(Program {
            group: Pid::from_raw(child.id().cast_signed()),
            reads: pipe.is_some(),
            guard: Mutex::new(Some(held)),
            has_whole_input: AtomicBool::new(false),
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
        let at = state.printed.partition_point(|part| part.offset < from);
        state.printed.get(at).cloned()
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

    /// Whether all of the input was there, and was closed.
    pub fn has_whole_input(&self) -> bool {
        self.has_whole_input.load(Ordering::Acquire)
    }

    /// Ends it and all that it has started: first SIGTERM, then SIGKILL. Returns when it has ended.
    /// What has its whole input, and has ended, may have left others that go on.
    ///
    /// An input that is not whole stays open where something reads it that no signal reached.
    pub fn end(&self) {
        let is_cut = self.reads && !self.has_whole_input();
        let mut state = self.lock();
        if state.code.is_none() {
            // Who is gone needs no signal.
            let _ = killpg(self.group, Signal::SIGTERM);
            state = self.wait_for_end(state, GRACE);
        }
        if state.code.is_none() || is_cut {
            let _ = killpg(self.group, Signal::SIGKILL);
            state = self.wait_for_end(state, KILLED);
        }
        let has_ended = state.code.is_some();
        state.is_over = true;
        drop(state);
        self.changed.notify_all();
        if !is_cut || has_ended && self.is_unread() {
            self.release();
        }
    }

    fn wait_for_end<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        limit: Duration,
    ) -> MutexGuard<'a, State> {
        let until = Instant::now() + limit;
        while state.code.is_none() && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            state = self.wait(state, left);
        }
        state
    }

    /// Waits until nothing reads the input any more; `false` where something still does.
    fn is_unread(&self) -> bool {
        let until = Instant::now() + KILLED;
        loop {
            let held = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
            let input = held.as_ref().and_then(|held| held.input.as_ref());
            let is_read = input.is_some_and(|input| poll::is_open(input.as_fd()));
            drop(held);
            if !is_read || Instant::now() >= until {
                return !is_read;
            }
            thread::sleep(TICK);
        }
    }

    /// The guard lets go of the input.
    fn release(&self) {
        let mut held = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Held {
            mut guard,
            mut word,
            ..
        }) = held.take()
        {
            let _ = word.write_all(b"done\n");
            drop(word);
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
