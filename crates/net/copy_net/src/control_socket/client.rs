//! The client side: lists running copies and changes their rates.

use std::fs;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use units::{Bytes, Rate};

use super::{ControlError, ENDING, IO_TIMEOUT, PREFIX, Status, place, read, read_line, written};

/// A program that runs and can be steered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningCopy {
    /// The number of its process.
    pub process: u32,
    /// What it does.
    pub what: String,
    /// The bound on its rate; `None` without one.
    pub rate_max: Option<Rate>,
    /// Its status.
    pub status: Status,
    path: PathBuf,
}

/// All programs that answer in `folder`, ordered by process number. Sockets without a listener are
/// removed.
///
/// # Errors
/// When the folder cannot be read; a missing folder is empty.
pub fn running(folder: &Path) -> Result<Vec<RunningCopy>, ControlError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| place(folder, source))?,
    };
    let mut found: Vec<RunningCopy> = entries
        .flatten()
        .filter_map(|entry| look(entry.path()))
        .collect();
    found.sort_by_key(|client| client.process);
    Ok(found)
}

fn look(path: PathBuf) -> Option<RunningCopy> {
    let name = path.file_name()?.to_str()?;
    let number = name.strip_prefix(PREFIX)?.strip_suffix(ENDING)?;
    let process = number.parse().ok()?;
    match ask(&path, "show") {
        Ok(answer) => client(process, &answer, path),
        Err(error) => {
            remove_if_left(&path, &error);
            None
        }
    }
}

/// What an answer to `show` says.
fn client(process: u32, answer: &str, path: PathBuf) -> Option<RunningCopy> {
    let mut words = answer.splitn(5, ' ');
    let rate_max = read(words.next()?)?;
    let rate = words.next()?.parse().ok()?;
    let done = words.next()?.parse().ok()?;
    let total = words.next()?.parse().ok();
    Some(RunningCopy {
        process,
        what: words.next()?.to_owned(),
        rate_max,
        status: Status {
            rate: Rate::from_bits_per_second(rate),
            done: Bytes::new(done),
            total: total.map(Bytes::new),
        },
        path,
    })
}

/// Removes the sockets in `folder` without a listener.
pub(super) fn clear(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(ENDING))
    };
    for path in entries.map(|entry| entry.path()).filter(is_ours) {
        if let Err(error) = UnixStream::connect(&path) {
            remove_if_left(&path, &error);
        }
    }
}

fn remove_if_left(path: &Path, error: &io::Error) {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        let _ = fs::remove_file(path);
    }
}

fn ask(path: &Path, question: &str) -> io::Result<String> {
    let mut socket = UnixStream::connect(path)?;
    socket.set_read_timeout(Some(IO_TIMEOUT))?;
    socket.set_write_timeout(Some(IO_TIMEOUT))?;
    socket.write_all(format!("{question}\n").as_bytes())?;
    read_line(&socket)
}

impl RunningCopy {
    /// Bounds its rate from now on; `None` lifts the bound.
    ///
    /// # Errors
    /// When it does not answer, or not as it should.
    pub fn set_rate_max(&self, rate: Option<Rate>) -> Result<(), ControlError> {
        let silent = |source| ControlError::Silent {
            process: self.process,
            source,
        };
        let answer = ask(&self.path, &format!("rate {}", written(rate))).map_err(silent)?;
        match answer.as_str() {
            "done" => Ok(()),
            other => Err(silent(io::Error::other(other.to_owned()))),
        }
    }
}
