//! Files of lines that are only appended to while something runs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::Deserialize;

use crate::StoreError;
use crate::folder::open_own;

/// Opens one to add lines, and makes it where it is not there.
pub(crate) fn open(path: &Path) -> Result<File, StoreError> {
    // A line that a killed process cut is ended, so that the next one stands alone.
    let mut file = open_own(path, File::options().append(true).create(true))?;
    let ended = file.write_all(b"\n");
    ended.map_err(StoreError::file("write", path))?;
    Ok(file)
}

/// Gives `take` each line. One that is none was cut, and counts for nothing.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(
    path: &Path,
    mut take: impl FnMut(T),
) -> Result<(), StoreError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(StoreError::file("read", path))?,
    };
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(StoreError::file("read", path))?;
        if let Ok(line) = serde_json::from_slice(&line) {
            take(line);
        }
    }
    Ok(())
}
