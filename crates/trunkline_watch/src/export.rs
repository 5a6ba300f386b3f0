//! Results of a watch as tables for other programs.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use archive::{SinceError, since};
use changes::UnixTime;
use watch_store::{Cell, DatabaseName, Format, Selection, Store, StoreError, Table};

use trunkline::{Cancel, Error};

/// What is exported, and how.
#[derive(Debug, Clone)]
pub struct Export {
    /// Where the results are; it is only read.
    pub database: DatabaseName,
    /// Which table.
    pub table: Table,
    /// How it is written.
    pub format: Format,
    /// Which rows.
    pub selection: Selection,
}

impl Export {
    /// Writes the table into a file that does not exist yet; how many rows it has. Until it is
    /// whole it has another name, so there is never a part of a table under `file`.
    ///
    /// * `on_rows`: hears now and then how many rows were written.
    ///
    /// # Errors
    /// When `file` exists or cannot be written, the database cannot be read, or `cancel` came.
    pub fn to_file(
        &self,
        file: &Path,
        cancel: &Cancel,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<u64, Error> {
        check(self.table, &self.selection)?;
        if file.symlink_metadata().is_ok() {
            return Err(exists(file));
        }
        let mut store = Store::open_to_read(&self.database)?;
        let unwritable = |error| Error::unwritable(file, error);
        let mut part = part_of(file).map_err(unwritable)?;
        let mut output = BufWriter::new(&mut part);
        let exported = self.write(&mut store, &mut output, cancel, on_rows);
        let rows = exported.map_err(|error| match error {
            StoreError::Export(error) => Error::unwritable(file, error),
            error => Error::from(error),
        })?;
        output.flush().map_err(unwritable)?;
        drop(output);
        part.as_file().sync_all().map_err(unwritable)?;
        match part.persist_noclobber(file) {
            Ok(_) => Ok(rows),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(file)),
            Err(error) => Err(Error::unwritable(file, error.error)),
        }
    }

    /// Writes the table to an output, such as standard output. A closed pipe is no error.
    ///
    /// # Errors
    /// As [`Export::to_file`].
    pub fn to_output(&self, output: impl Write + Send, cancel: &Cancel) -> Result<(), Error> {
        check(self.table, &self.selection)?;
        let mut store = Store::open_to_read(&self.database)?;
        match self.write(&mut store, output, cancel, &mut |_| {}) {
            Err(StoreError::Export(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => Ok(done.map(|_| ())?),
        }
    }

    fn write(
        &self,
        store: &mut Store,
        output: impl Write + Send,
        cancel: &Cancel,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<u64, StoreError> {
        let mut on_page = |rows| {
            on_rows(rows);
            match cancel.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let what = (self.table, self.format);
        store.export(what, &self.selection, output, &mut on_page)
    }
}

/// A moment as people write it: a day like `2026-11-22` (UTC), a time, or an age like `7d`.
///
/// # Errors
/// When it is none of these, or before 1970.
pub fn when(text: &str) -> Result<UnixTime, SinceError> {
    let none = || SinceError(text.to_owned());
    let time: jiff::Timestamp = since(text)?.parse().map_err(|_| none())?;
    let seconds = u64::try_from(time.as_second()).map_err(|_| none())?;
    Ok(UnixTime::from_seconds(seconds))
}

/// Reads the rows of a table, some at a time, for those who hold them in memory.
///
/// # Errors
/// When the database cannot be read, or `cancel` came.
pub fn read_rows(
    database: &DatabaseName,
    table: Table,
    selection: &Selection,
    cancel: &Cancel,
    on_rows: &mut dyn FnMut(Vec<Vec<Cell>>),
) -> Result<(), Error> {
    check(table, selection)?;
    let mut store = Store::open_to_read(database)?;
    let mut on_page = |rows| {
        on_rows(rows);
        match cancel.is_cancelled() {
            true => Err(StoreError::BrokenOff),
            false => Ok(()),
        }
    };
    Ok(store.each_page(table, selection, &mut on_page)?)
}

/// Traffic is of no host and no task.
fn check(table: Table, selection: &Selection) -> Result<(), Error> {
    let hosts = [&selection.from_host, &selection.to_host, &selection.task];
    match table == Table::Flows && hosts.iter().any(|name| name.is_some()) {
        true => Err(Error::wrong_request(
            "traffic across the border is told by router, not by host or task of the plan",
            "leave out what chooses hosts and tasks, and choose rows by their time",
        )),
        false => Ok(()),
    }
}

/// A file beside the one that it becomes; it goes away unless it becomes that.
fn part_of(file: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(file.file_name().unwrap_or_default());
    // What the user's umask leaves of it, as of other results.
    let usual = std::fs::Permissions::from_mode(0o666);
    let mut part = tempfile::Builder::new();
    part.prefix(&prefix).suffix(".part").permissions(usual);
    part.tempfile_in(folder.unwrap_or(Path::new(".")))
}

fn exists(file: &Path) -> Error {
    Error::wrong_request(
        format!("{} exists already", file.display()),
        "name another file, or remove it first; exports replace nothing",
    )
}
