//! Other people's programs on the emulated path.
//!
//! A program gets a process namespace of its own, whose first process is this executable in the
//! role of init. When trunkline dies, even by `kill -9`, the kernel kills that init, and with the
//! first process of a process namespace everything in it.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread::{self, JoinHandle};

use netpath::Hosts;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::sys::wait::{WaitStatus, wait};
use nix::unistd::Pid;

use crate::tun::NAME as DEVICE;
use crate::{EmuError, Namespace, addresses};

/// The first argument that tells this executable to serve as init.
const INIT: &str = "emulate-init";
/// What shells answer for a program that could not be started.
const EXIT_NOT_STARTED: i32 = 127;

/// Where a program's standard output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// To ours.
    Inherited,
    /// To our standard error, when standard output is needed for something else.
    StandardError,
    /// To our standard error, and each line of its own standard error with this before it. Standard
    /// output is not taken apart: through a pipe most programs would hold it back until they end.
    Named(&'static str),
}

/// A running program and everything that it started.
#[derive(Debug)]
pub struct Program {
    init: Pid,
    waiter: JoinHandle<io::Result<io::Result<ExitStatus>>>,
}

impl Program {
    /// Starts `command` in `namespace`; it inherits the terminal and finds the hosts `near` and
    /// `far` by name.
    ///
    /// # Errors
    /// When no process could be started. A program that does not exist ends with status 127.
    pub fn start(
        namespace: &Namespace,
        command: &[OsString],
        sink: Sink,
    ) -> Result<Self, EmuError> {
        let name = command
            .first()
            .map_or("".into(), |name| name.to_string_lossy());
        let program = name.into_owned();
        let (started, init) = mpsc::channel();
        let command = command.to_vec();
        // The kernel ties the init's life to the thread that started it, so that thread waits.
        let waiter = namespace.spawn("program", move || {
            let mut child = start_init(&command, sink);
            let begun = child.as_mut().map(|child| {
                let init = Pid::from_raw(child.id() as i32);
                (init, child.stderr.take())
            });
            let begun = begun.map_err(|error| io::Error::from(error.kind()));
            let _ = started.send(begun);
            child.and_then(|mut child| child.wait())
        })?;
        let failed = |source| EmuError::Program { program, source };
        match init.recv() {
            Ok(Ok((init, lines))) => {
                pass_on(lines, sink);
                Ok(Program { init, waiter })
            }
            Ok(Err(source)) => Err(failed(source)),
            Err(_) => Err(failed(io::Error::other(
                "its namespace could not be entered",
            ))),
        }
    }

    /// Waits for the program's end and gives the exit code as a shell would.
    ///
    /// # Errors
    /// When the kernel cannot tell.
    pub fn wait(self) -> io::Result<u8> {
        let status = match self.waiter.join() {
            Ok(status) => status??,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let signalled = status.signal().map(|signal| 128 + signal);
        Ok(status.code().or(signalled).unwrap_or(EXIT_NOT_STARTED) as u8)
    }

    /// Asks the program to end, as `kill` without a number does.
    pub fn terminate(&self) {
        // It may have ended by itself.
        let _ = kill(self.init, Signal::SIGTERM);
    }

    /// Ends the program and everything that it started.
    pub fn kill(&self) {
        // It may have ended by itself.
        let _ = kill(self.init, Signal::SIGKILL);
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.waiter.is_finished()
    }
}

/// Starts this executable as the first process of a new process namespace.
fn start_init(command: &[OsString], sink: Sink) -> io::Result<Child> {
    have_init()?;
    let mut init = Command::new(
        INIT_PROGRAM
            .get()
            .map_or(Path::new("/proc/self/exe"), PathBuf::as_path),
    );
    init.arg(INIT).arg("--").args(command);
    match sink {
        Sink::Inherited => {}
        Sink::StandardError => {
            init.stdout(io::stderr().as_fd().try_clone_to_owned()?);
        }
        Sink::Named(_) => {
            init.stdout(io::stderr().as_fd().try_clone_to_owned()?);
            init.stderr(Stdio::piped());
        }
    }
    // SAFETY: the closure runs between fork and exec and makes one system call, nothing else.
    unsafe {
        init.pre_exec(|| Ok(set_pdeathsig(Signal::SIGKILL)?));
    }
    init.spawn()
}

/// Not from the thread that started it: a thread that is to make process namespaces has no further
/// threads.
fn pass_on(lines: Option<ChildStderr>, sink: Sink) {
    let (Some(lines), Sink::Named(name)) = (lines, sink) else {
        return;
    };
    thread::spawn(move || {
        for line in BufReader::new(lines).split(b'\n').map_while(Result::ok) {
            tell(&format!("{name}: {}", String::from_utf8_lossy(&line)));
        }
    });
}

/// Has the next process that this thread starts be the first one of a process namespace. It is to
/// be this executable, or the program of [`set_init_program`], as [`init_arguments`] says. The
/// thread cannot start other threads then.
///
/// # Errors
/// When the user may not make process namespaces.
pub fn have_init() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWPID)?)
}

/// The program that is started as first process of a host.
static INIT_PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Has `program` started as the first process of a host from now on, instead of this executable,
/// which may be an interpreter. The first call decides; false if another one came before with
/// another program.
///
/// * `program`: does what [`init_arguments`] and [`become_init`] say.
pub fn set_init_program(program: PathBuf) -> bool {
    *INIT_PROGRAM.get_or_init(|| program.clone()) == program
}

/// The command that an init is asked to run, when this process was started as one.
///
/// To be asked first thing in `main`: the answer is not for users.
pub fn init_arguments(arguments: &[OsString]) -> Option<&[OsString]> {
    match arguments {
        [_, role, dashes, command @ ..] if role == INIT && dashes == "--" => Some(command),
        _ => None,
    }
}

/// A line on standard error; a closed one is no failure.
fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Serves as init: runs `command`, collects every orphan, and ends with the command's exit code.
pub fn become_init(command: &[OsString]) -> ExitCode {
    if let Err(error) = settle_in() {
        tell(&format!(
            "warning: the program sees this host's files and processes: {error}"
        ));
    }
    let Some((program, arguments)) = command.split_first() else {
        return ExitCode::from(EXIT_NOT_STARTED as u8);
    };
    match Command::new(program).args(arguments).spawn() {
        Ok(child) => ExitCode::from(collect_until(Pid::from_raw(child.id() as i32))),
        Err(error) => {
            let program = program.to_string_lossy();
            tell(&format!("error: `{program}` could not be started: {error}"));
            tell("\nhint: check its name and that it is installed");
            ExitCode::from(EXIT_NOT_STARTED as u8)
        }
    }
}

/// Set when a signal asks this init to end its program.
static TERMINATION_ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_termination(_signal: libc::c_int) {
    TERMINATION_ASKED.store(true, Ordering::Relaxed);
}

/// Lets SIGTERM interrupt [`wait`] instead of being lost: the first process of a process namespace
/// gets only signals that it handles.
fn listen_for_termination() {
    let handler = SigHandler::Handler(note_termination);
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler stores to an atomic and does nothing else.
    let _ = unsafe { sigaction(Signal::SIGTERM, &action) };
}

/// Waits for children until `main` has ended; gives its exit code. Hands SIGTERM on to `main`.
fn collect_until(main: Pid) -> u8 {
    listen_for_termination();
    loop {
        if TERMINATION_ASKED.swap(false, Ordering::Relaxed) {
            let _ = kill(main, Signal::SIGTERM);
        }
        match wait() {
            Ok(WaitStatus::Exited(pid, code)) if pid == main => return code as u8,
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == main => {
                return 128 + signal as u8;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return EXIT_NOT_STARTED as u8,
        }
    }
}

/// Gives this process a view of its own: its own `/proc`, and `/etc/hosts` with both hosts' names.
fn settle_in() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?;
    let plain = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let [near, far] = addresses_here();
    if let Err(error) = name_hosts([near, far], plain) {
        tell(&format!(
            "warning: the names near and far are unknown to the program ({error}); use {near} and \
             {far}"
        ));
    }
    mount(Some("proc"), "/proc", Some("proc"), plain, None::<&str>)?;
    Ok(())
}

/// The addresses of near and far on the path that this process is on. Hosts have IPv6 addresses
/// where they talk over IPv6.
fn addresses_here() -> [IpAddr; 2] {
    let known = fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
    addresses(&Hosts {
        ipv6: known.lines().any(|line| line.ends_with(DEVICE)),
        ..Hosts::default()
    })
}

/// Covers `/etc/hosts` with a copy that also names the two ends. The copy lives in memory and only
/// in this mount namespace.
fn name_hosts([near, far]: [IpAddr; 2], plain: MsFlags) -> io::Result<()> {
    let known = fs::read_to_string("/etc/hosts").unwrap_or_default();
    mount(Some("tmpfs"), "/mnt", Some("tmpfs"), plain, None::<&str>)?;
    let mut copy = OpenOptions::new()
        .create(true)
        .append(true)
        .open("/mnt/hosts")?;
    write!(copy, "{known}\n{near} near\n{far} far\n")?;
    mount(
        Some("/mnt/hosts"),
        "/etc/hosts",
        None::<&str>,
        MsFlags::MS_BIND,
        None::<&str>,
    )?;
    umount2("/mnt", MntFlags::MNT_DETACH)?;
    Ok(())
}
