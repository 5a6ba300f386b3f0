//! Users of iperf3's servers: who asks, and where the password comes from.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{self, Path};

use ::target::TargetName;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, tcgetattr, tcsetattr};
use units::printable;

pub use endpoints::{Login, Padding};
pub use units::ServerUser;

use crate::{Error, Fault};

/// The variable of the environment that has the password, as for iperf3.
pub const PASSWORD_VARIABLE: &str = "IPERF3_PASSWORD";
/// What Ctrl-C sends.
const CTRL_C: u8 = 3;
/// Most bytes of a line that a terminal takes (termios(3)).
const LINE_MAX: usize = 4_096;

/// Refuses targets that have no server with users.
///
/// # Errors
/// When it is no host.
pub fn check_target(name: &TargetName) -> Result<(), Error> {
    match name {
        TargetName::Live(_) => Ok(()),
        _ => Err(Error::wrong_request(
            "a user logs in to `trunkline serve` or `iperf3 -s` on a host, and this target is none",
            "leave `user` and its key out, or name a target like `HOST`",
        )),
    }
}

/// A user whose key is in the file `key`, as plans keep it: its path holds in any folder.
///
/// # Errors
/// When the path is no UTF-8, or there is no working directory.
pub fn user(name: &str, key: &Path, padding: Padding) -> Result<ServerUser, Error> {
    let whole = path::absolute(key).map_err(|error| Error::unreadable(key, error))?;
    let key = whole.into_os_string().into_string().map_err(|name| {
        Error::wrong_request(
            format!("the name of the key {} is no UTF-8", name.display()),
            "give the file another name",
        )
    })?;
    Ok(ServerUser {
        name: name.to_owned(),
        key,
        padding,
    })
}

/// The login of a user with this password.
///
/// # Errors
/// When the name, the password or the key cannot be used, or there is no `openssl`.
pub fn log_in(user: &ServerUser, password: &str) -> Result<Login, Error> {
    Ok(Login::new(
        &user.name,
        password,
        user.key.as_ref(),
        user.padding,
    )?)
}

/// The password of [`PASSWORD_VARIABLE`]; `None` where it is not set.
///
/// # Errors
/// When it is no text.
pub fn password_of_environment() -> Result<Option<String>, Error> {
    match std::env::var(PASSWORD_VARIABLE) {
        Ok(password) => Ok(Some(password)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(Error::wrong_request(
            format!("the password in {PASSWORD_VARIABLE} is no UTF-8"),
            "set it anew",
        )),
    }
}

/// Asks for the password at the terminal, which does not show it. Call it before signals are
/// caught: a signal then ends the program.
///
/// # Errors
/// When there is no terminal, or Ctrl-C or the end of the input came in place of a password.
pub fn ask_password(user: &str) -> Result<String, Error> {
    let none = |error: io::Error| {
        let what = format!(
            "there is no password for user `{}`, and no terminal to ask for it",
            printable(user, 100)
        );
        let error = Error::sentence(Fault::Request, what, Some(error.into()));
        error.with_hint(format!("set {PASSWORD_VARIABLE} in the environment"))
    };
    let line = hidden_line(&format!("Password of {}: ", printable(user, 100))).map_err(none)?;
    line.ok_or_else(|| Error::cancelled("no password was given"))
}

/// A line of the terminal; `None` where Ctrl-C or the end of the input came. A signal that ends the
/// program does so once the terminal shows again what is typed.
fn hidden_line(prompt: &str) -> io::Result<Option<String>> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let mut ending = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        ending.add(signal);
    }
    let signals = SignalFd::with_flags(&ending, SfdFlags::SFD_CLOEXEC)?;
    let before = ending.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let line = read_hidden(&terminal, &signals, prompt);
    before.thread_set_mask()?;
    let line = line?;
    match line.last() {
        None | Some(&CTRL_C) => Ok(None),
        Some(_) => {
            let text = str::from_utf8(&line).map_err(io::Error::other)?;
            Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
        }
    }
}

/// The bytes of a line, which the terminal does not show.
fn read_hidden(mut terminal: &File, signals: &SignalFd, prompt: &str) -> io::Result<Vec<u8>> {
    let before = tcgetattr(terminal)?;
    let mut hiding = before.clone();
    // Ctrl-C ends the line, so that the terminal shows what is typed again.
    hiding
        .local_flags
        .remove(LocalFlags::ECHO | LocalFlags::ISIG);
    hiding.control_chars[SpecialCharacterIndices::VEOL as usize] = CTRL_C;
    tcsetattr(terminal, SetArg::TCSAFLUSH, &hiding)?;
    let read = terminal
        .write_all(prompt.as_bytes())
        .and_then(|()| typed(terminal, signals));
    tcsetattr(terminal, SetArg::TCSAFLUSH, &before)?;
    terminal.write_all(b"\n")?;
    read
}

/// What is typed up to the end of the line; nothing where a signal came.
fn typed(mut terminal: &File, signals: &SignalFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; LINE_MAX];
    let mut watched = [
        PollFd::new(terminal.as_fd(), PollFlags::POLLIN),
        PollFd::new(signals.as_fd(), PollFlags::POLLIN),
    ];
    while let Err(errno) = poll(&mut watched, PollTimeout::NONE) {
        if errno != Errno::EINTR {
            return Err(errno.into());
        }
    }
    let [_, ending] = &watched;
    let length = match ending.any() {
        Some(false) => terminal.read(&mut bytes)?,
        _ => 0,
    };
    bytes.truncate(length);
    Ok(bytes)
}
