//! A socket through which the user of a running copy sees its status and changes its rate.
//!
//! [`ControlSocket::offer`] makes a Unix socket in a folder that only this user can read, and
//! answers there on a thread of its own. [`running`] finds all that answer and clears away what
//! killed programs have left; [`RunningCopy::set_rate_max`] tells one of them another rate. A
//! conversation is one line each way:
//!
//! | asked | answered |
//! |---|---|
//! | `show` | one line, see below |
//! | `rate 100000000`, `rate none` | `done` |
//!
//! `show` is answered by five words: the bound in bit/s or `none`, the rate in bit/s, the bytes
//! done, all bytes or `?`, and, to the end of the line, what the program does.
//!
//! What is left out: other users, who cannot open the socket, and other hosts.
//!
//! Reading order: [`ControlSocket`], `client.rs` for the side that asks.

mod client;
#[cfg(test)]
mod tests;

use errors::{Fault, Hint};
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{env, process};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use thiserror::Error;
use units::{Bytes, Rate};

pub use client::{RunningCopy, running};

/// Longest wait for a line after a connection.
const IO_TIMEOUT: Duration = Duration::from_secs(2);
/// How soon a program that ends stops answering, where it cannot be woken.
const TICK_MILLIS: u16 = 100;
/// The longest line either way: names of files can be long.
const LINE_MAX: u64 = 16 * 1024;
const PREFIX: &str = "copy-";
const ENDING: &str = ".socket";

/// What the socket controls.
pub trait Controllable: Send + 'static {
    /// The bound in force; `None` without one.
    fn rate_max(&self) -> Option<Rate>;

    /// Bounds the rate from now on; `None` lifts the bound.
    fn set_rate_max(&self, rate: Option<Rate>);

    /// Its status.
    fn status(&self) -> Status;
}

/// Progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// The rate of the last seconds.
    pub rate: Rate,
    /// Bytes that are done.
    pub done: Bytes,
    /// Bytes of all; `None` while that is not known.
    pub total: Option<Bytes>,
}

/// Why a program cannot be steered.
#[derive(Debug, Error)]
pub enum ControlError {
    /// No folder for the socket.
    #[error(
        "there is no folder for sockets of running copies: neither XDG_RUNTIME_DIR, XDG_STATE_HOME \
        nor HOME is set"
    )]
    NoPlace,
    /// The folder or the socket could not be made or read.
    #[error("{} cannot be used", path.display())]
    Place {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It does not answer as it should.
    #[error("process {process} does not answer")]
    Silent {
        /// Its number.
        process: u32,
        /// What happened.
        source: io::Error,
    },
}

impl Hint for ControlError {
    fn fault(&self) -> Fault {
        match self {
            ControlError::NoPlace | ControlError::Place { .. } => Fault::Request,
            ControlError::Silent { .. } => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            ControlError::NoPlace => {
                "set HOME or XDG_RUNTIME_DIR, the same for the copy and for `trunkline limit`"
            }
            ControlError::Place { .. } => {
                "see that the folder is yours and writable, or set XDG_RUNTIME_DIR to one that is"
            }
            ControlError::Silent { .. } => {
                "the copy has ended, or hangs: `trunkline limit` lists those that answer"
            }
        };
        Some(hint.to_owned())
    }
}

/// A socket at which this process is steered; gone when dropped.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Where this user's programs are found: `trunkline` in `$XDG_RUNTIME_DIR`, which does not outlive
/// a login, or in `$XDG_STATE_HOME` or `~/.local/state` (XDG Base Directory Specification, which
/// has relative names ignored).
///
/// # Errors
/// When none of them is set.
pub fn folder() -> Result<PathBuf, ControlError> {
    let absolute = |name: &str| {
        let value = env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let place = absolute("XDG_RUNTIME_DIR")
        .or_else(|| absolute("XDG_STATE_HOME"))
        .or_else(home);
    Ok(place.ok_or(ControlError::NoPlace)?.join("trunkline"))
}

impl ControlSocket {
    /// Lets this user's other programs steer `controlled` through a socket in `folder`; `what`
    /// tells them what it does. Sockets that killed programs have left there are removed.
    ///
    /// # Errors
    /// When there can be no socket.
    pub fn offer(
        folder: &Path,
        what: &str,
        controlled: impl Controllable,
    ) -> Result<ControlSocket, ControlError> {
        let mut maker = DirBuilder::new();
        let made = maker.recursive(true).mode(0o700).create(folder);
        made.map_err(|source| place(folder, source))?;
        client::clear(folder);
        let path = folder.join(format!("{PREFIX}{}{ENDING}", process::id()));
        let listener = listen(&path).map_err(|source| place(&path, source))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, what) = (Arc::clone(&is_over), one_line(what));
        let answering = move || answer_all(&listener, &over, &what, &controlled);
        let thread = thread::Builder::new()
            .name("control".to_owned())
            .spawn(answering);
        let thread = thread.map_err(|source| place(&path, source))?;
        Ok(ControlSocket {
            path,
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread, which would notice a little later otherwise.
        let _ = UnixStream::connect(&self.path);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

fn place(path: &Path, source: io::Error) -> ControlError {
    ControlError::Place {
        path: path.to_owned(),
        source,
    }
}

/// A socket of this process's number that is there already was left by a process that had it
/// before.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn answer_all(
    listener: &UnixListener,
    over: &AtomicBool,
    what: &str,
    controlled: &impl Controllable,
) {
    while !over.load(Ordering::Relaxed) {
        let mut wait = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut wait, PollTimeout::from(TICK_MILLIS));
        if let Ok((peer, _)) = listener.accept() {
            // A client that asks for nothing, or leaves before the answer, is ignored.
            let _ = answer(peer, what, controlled);
        }
    }
}

fn answer(mut peer: UnixStream, what: &str, controlled: &impl Controllable) -> io::Result<()> {
    peer.set_nonblocking(false)?;
    peer.set_read_timeout(Some(IO_TIMEOUT))?;
    peer.set_write_timeout(Some(IO_TIMEOUT))?;
    let line = read_line(&peer)?;
    let answer = match line.split_once(' ').unwrap_or((&line, "")) {
        ("show", "") => format!("{} {what}\n", shown(controlled)),
        ("rate", rate) => match read(rate) {
            Some(rate) => {
                controlled.set_rate_max(rate);
                "done\n".to_owned()
            }
            None => format!("`{rate}` is neither `none` nor bits per second\n"),
        },
        _ => "ask `show`, `rate BITS` or `rate none`\n".to_owned(),
    };
    peer.write_all(answer.as_bytes())
}

fn read_line(peer: &UnixStream) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(peer.take(LINE_MAX)).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Names of files may have line ends in them.
fn one_line(what: &str) -> String {
    what.chars()
        .map(|one| if units::steers(one) { '?' } else { one })
        .collect()
}

fn shown(controlled: &impl Controllable) -> String {
    let status = controlled.status();
    let total = status.total.map(|total| total.get().to_string());
    format!(
        "{} {} {} {}",
        written(controlled.rate_max()),
        status.rate.bits_per_second(),
        status.done.get(),
        total.as_deref().unwrap_or("?")
    )
}

fn written(rate: Option<Rate>) -> String {
    rate.map_or_else(
        || "none".to_owned(),
        |rate| rate.bits_per_second().to_string(),
    )
}

/// Nothing is bounded by nothing: a rate of zero is refused.
fn read(text: &str) -> Option<Option<Rate>> {
    match text {
        "none" => Some(None),
        _ => {
            let bits = text.parse().ok().filter(|bits| *bits > 0)?;
            Some(Some(Rate::from_bits_per_second(bits)))
        }
    }
}
