//! Files of a server, for the filesystem of `trunkline.fs`.
//!
//! Each request runs on a thread of its own, so that the one who waits hears Ctrl-C.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::{process, thread};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use trunkline::Cancel;
use trunkline::ask;
use trunkline::copy::Token;
use trunkline::history::History;
use trunkline::remote::{
    self, FailureKind, FileAttributes, FileIdentity, FileInfo, FileKind, ReadBytes, ReadRange,
    RemoteOptions, Removing, SmallFile,
};

use crate::asked::{at_most_one, optional, value};
use crate::call::TICK;
use crate::error::{self, Failure};

/// Size, time of modification in nanoseconds since 1970, and version.
type Identity = (u64, i64, u64);
/// What a name is, its identity, its mode, and what it links to.
type Info = (&'static str, Identity, u32, Option<Vec<u8>>);
/// A name, where its bytes begin and end, and which version it has to be.
type Range = (Vec<u8>, u64, Option<u64>, Option<Identity>);
/// A name, the content, mode and time of its source, and whether it replaces another file.
type Stored<'py> = (Vec<u8>, Bound<'py, PyBytes>, Option<(u32, i64)>, bool);

/// Files of one server, for any number of threads.
#[pyclass(frozen, weakref, module = "trunkline._trunkline")]
pub struct Remote {
    /// There until it is dropped.
    files: Option<trunkline::Remote>,
    process: u32,
}

/// A fork has the connections of its parent, and must not close them in its name.
impl Drop for Remote {
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.files.take());
        }
    }
}

impl Remote {
    /// The files, unless this is a fork of the process that opened them.
    fn files(&self) -> PyResult<&trunkline::Remote> {
        let files = self
            .files
            .as_ref()
            .filter(|_| self.process == process::id());
        files.ok_or_else(|| {
            error::raised_in(
                "ForkedError",
                &format!(
                    "process {} has these connections, not its fork",
                    self.process
                ),
                "open the filesystem in the process that uses it",
            )
        })
    }

    /// Does `work` with the files on a thread of its own.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&trunkline::Remote, &Cancel) -> Result<T, trunkline::Error> + Send + 'static,
    ) -> PyResult<T> {
        let files = self.files()?.clone();
        waited(py, move |cancel| {
            work(&files, cancel).map_err(|error| failure(&error))
        })
    }
}

/// Waits for `work`, which runs on a thread of its own and is cancelled by Ctrl-C.
fn waited<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (cancel, (send, receive)) = (Cancel::new(), channel());
    let token = cancel.clone();
    let builder = thread::Builder::new().name("remote".to_owned());
    builder.spawn(move || {
        // Who does not wait any more wants no result.
        let _ = send.send(work(&token));
    })?;
    let mut receive = receive;
    loop {
        if let Err(signal) = py.check_signals() {
            cancel.cancel();
            return Err(signal);
        }
        let (back, got) = py.detach(move || {
            let got = receive.recv_timeout(TICK);
            (receive, got)
        });
        receive = back;
        match got {
            Ok(outcome) => return Ok(outcome?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::bug(&"a request ended without a result").into());
            }
        }
    }
}

/// The failure with the class of exception that Python's users expect.
fn failure(error: &trunkline::Error) -> Failure {
    let failure = Failure::from(error);
    match remote::kind_of(error) {
        Some(FailureKind::NotFound) => failure.of_kind("NoSuchFileError"),
        Some(FailureKind::Exists) => failure.of_kind("NameTakenError"),
        Some(FailureKind::Rights | FailureKind::Permission) => failure.of_kind("RightsError"),
        Some(FailureKind::IsAFolder) => failure.of_kind("IsAFolderError"),
        Some(FailureKind::NotAFolder) => failure.of_kind("NotAFolderError"),
        Some(FailureKind::NotEmpty) => failure.of_kind("NotEmptyError"),
        Some(FailureKind::DiskFull) => failure.of_kind("DiskFullError"),
        Some(
            FailureKind::Request
            | FailureKind::Changed
            | FailureKind::Disk
            | FailureKind::Busy
            | FailureKind::Protocol,
        )
        | None => failure,
    }
}

fn token(token: Option<String>, file: Option<PathBuf>) -> Result<Token, Failure> {
    at_most_one(&[("token", token.is_some()), ("token_file", file.is_some())])?;
    let text = match (token, file) {
        (Some(token), _) => Some(token),
        (None, Some(file)) => Some(crate::result::read(&file)?),
        (None, None) => std::env::var("TRUNKLINE_TOKEN").ok(),
    };
    let missing = || {
        Failure::request(
            "a trunkline:// server opens its files to a token, and none was given",
            "give `token_file` or `token`, or set TRUNKLINE_TOKEN",
        )
    };
    Ok(text.ok_or_else(missing)?.parse::<Token>()?)
}

fn told(info: FileInfo) -> Info {
    let kind = match info.kind {
        FileKind::File => "file",
        FileKind::Folder => "directory",
        FileKind::Link => "link",
        FileKind::Special => "other",
    };
    (kind, identity(info.identity), info.mode, info.link)
}

fn identity(identity: FileIdentity) -> Identity {
    (
        identity.size,
        identity.modified_nanoseconds,
        identity.version,
    )
}

fn ranges(
    files: &trunkline::Remote,
    asked: Vec<Range>,
) -> Result<Vec<ReadRange>, trunkline::Error> {
    let range = |(path, start, end, expected): Range| {
        let expected = expected.map(|(size, modified_nanoseconds, version)| FileIdentity {
            size,
            modified_nanoseconds,
            version,
        });
        Ok(ReadRange {
            expected,
            ..files.range(path, start, end)?
        })
    };
    asked.into_iter().map(range).collect()
}

#[pymethods]
impl Remote {
    /// Most bytes of a file that `store` takes.
    #[classattr]
    const STORE_MAX: u32 = remote::STORE_MAX;

    /// Connects to the server of `url`.
    ///
    /// * `streams`: as many connections; without, what the round trip asks for.
    /// * `patience`: how long the server may be gone before a request fails.
    #[staticmethod]
    #[pyo3(signature = (url, token=None, token_file=None, streams=None, patience=None))]
    fn open(
        py: Python<'_>,
        url: String,
        token: Option<String>,
        token_file: Option<PathBuf>,
        streams: Option<String>,
        patience: Option<String>,
    ) -> PyResult<Self> {
        let mut options = RemoteOptions {
            streams: optional("streams", streams.as_deref(), ask::copy::streams)?,
            ..RemoteOptions::default()
        };
        if let Some(patience) = patience {
            options.patience = value("patience", &patience, ask::copy::patience)?;
        }
        let token = self::token(token, token_file)?;
        let files = waited(py, move |cancel| {
            options.remembered = trunkline::Remote::remembered(&url, &History::at_default());
            trunkline::Remote::open(&url, token, options, cancel).map_err(|error| failure(&error))
        })?;
        Ok(Remote {
            files: Some(files),
            process: process::id(),
        })
    }

    /// Whether the token reads, and whether it writes.
    fn rights(&self, py: Python<'_>) -> PyResult<(bool, bool)> {
        let rights = self.ask(py, |files, cancel| files.rights(cancel))?;
        Ok((rights.read, rights.write))
    }

    /// Connections that are open.
    fn connections(&self) -> PyResult<usize> {
        Ok(self.files()?.connections())
    }

    /// What a name is.
    fn info(&self, py: Python<'_>, path: Vec<u8>) -> PyResult<Info> {
        let info = self.ask(py, move |files, cancel| files.info(path, cancel))?;
        Ok(told(info))
    }

    /// What is in a folder, or below it as well where it is `recursive`.
    fn list(
        &self,
        py: Python<'_>,
        path: Vec<u8>,
        recursive: bool,
    ) -> PyResult<Vec<(Py<PyBytes>, Info)>> {
        let all = self.ask(py, move |files, cancel| {
            if !recursive {
                return files.list(path, cancel);
            }
            let mut all = Vec::new();
            let mut each = |batch| {
                all.extend(batch);
                Ok(())
            };
            files.inventory(path, &mut each, cancel)?;
            Ok(all)
        })?;
        let entry =
            |entry: remote::Entry| (PyBytes::new(py, &entry.name).unbind(), told(entry.info));
        Ok(all.into_iter().map(entry).collect())
    }

    /// Bytes of many files: for each range what was read, or the exception.
    fn read_many(&self, py: Python<'_>, asked: Vec<Range>) -> PyResult<Vec<Py<PyAny>>> {
        let all = self.ask(py, move |files, cancel| {
            files.read_many(&ranges(files, asked)?, cancel)
        })?;
        let one = |one: Result<ReadBytes, trunkline::Error>| -> Py<PyAny> {
            match one {
                Ok(read) => PyBytes::new(py, &read.bytes).into_any().unbind(),
                Err(error) => PyErr::from(failure(&error)).into_value(py).into_any(),
            }
        };
        Ok(all.into_iter().map(one).collect())
    }

    /// All of a file that `store` would take, its mode and its time; nothing of a larger one.
    fn read_small(
        &self,
        py: Python<'_>,
        path: Vec<u8>,
    ) -> PyResult<Option<(Py<PyBytes>, u32, i64)>> {
        let read = self.ask(py, move |files, cancel| files.read_small(path, cancel))?;
        Ok(read.map(|read| {
            let bytes = PyBytes::new(py, &read.bytes).unbind();
            (bytes, read.mode, read.identity.modified_nanoseconds)
        }))
    }

    /// Stores whole files: for each nothing, or the exception.
    fn store(&self, py: Python<'_>, asked: Vec<Stored<'_>>) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let files = self.files()?;
        let like = |(mode, modified_nanoseconds)| FileAttributes {
            mode,
            modified_nanoseconds,
        };
        let file = |(path, content, attributes, replaces): Stored<'_>| {
            let file = files.small_file(path, content.as_bytes());
            Ok(SmallFile {
                attributes: attributes.map(like),
                replaces,
                ..file.map_err(|error| failure(&error))?
            })
        };
        let asked = asked.into_iter().map(file);
        let asked = asked.collect::<Result<Vec<_>, Failure>>()?;
        let all = self.ask(py, move |files, cancel| files.store(&asked, cancel))?;
        let raised = |error| PyErr::from(failure(&error)).into_value(py).into_any();
        Ok(all.into_iter().map(|one| one.err().map(raised)).collect())
    }

    /// Makes a folder.
    fn make_folder(&self, py: Python<'_>, path: Vec<u8>, with_parents: bool) -> PyResult<()> {
        self.ask(py, move |files, cancel| {
            files.make_folder(path, with_parents, cancel)
        })
    }

    /// Removes a `file`, an empty `folder` or a `tree`.
    fn remove(&self, py: Python<'_>, path: Vec<u8>, what: &str) -> PyResult<()> {
        let what = match what {
            "file" => Removing::File,
            "folder" => Removing::EmptyFolder,
            "tree" => Removing::Tree,
            other => {
                let known = "possible values: file, folder, tree";
                return Err(Failure::value("what", other, known).into());
            }
        };
        self.ask(py, move |files, cancel| files.remove(path, what, cancel))
    }

    /// Gives a name another place.
    fn rename(
        &self,
        py: Python<'_>,
        from_path: Vec<u8>,
        to_path: Vec<u8>,
        replaces: bool,
    ) -> PyResult<()> {
        self.ask(py, move |files, cancel| {
            files.rename(from_path, to_path, replaces, cancel)
        })
    }
}
