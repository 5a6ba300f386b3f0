//! A recorded rate: mahimahi's format, one line for each packet that could be delivered.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use units::Span;

use crate::PathError;
use crate::section::Field;
use crate::spec::Trace;

/// A larger file describes more than any run takes.
const SIZE_MAX: u64 = 128 << 20;
/// A day, in milliseconds.
const MILLIS_MAX: u32 = 24 * 3600 * 1000;
/// Characters of a digest: 64 bits tell a user's files apart.
const DIGEST_CHARACTERS: usize = 16;
const FORMAT: &str = "write one line for each 1500-byte packet that the link can deliver: \
                      milliseconds from the beginning of the record, in order";

/// Reads the file that `name` names, beside the path file `beside`.
pub(super) fn trace(name: &Field<&str>, beside: &str) -> Result<Trace, PathError> {
    let folder = Path::new(beside).parent().unwrap_or(Path::new(""));
    let file = folder.join(name.value).to_string_lossy().into_owned();
    let text = read(&file).map_err(|error| {
        name.refuse(
            format!("`{file}` cannot be read as a trace: {error}"),
            "name it as seen from the path file's folder".to_owned(),
        )
    })?;
    let millis = millis(name, &file, &text)?;
    let mut digest = blake3::hash(text.as_bytes()).to_hex().to_string();
    digest.truncate(DIGEST_CHARACTERS);
    let last = millis.last().copied().unwrap_or(0);
    Ok(Trace {
        file: name.value.to_owned(),
        digest,
        opportunities: millis.len() as u64,
        period: Span::from_millis(last.into()),
        millis: millis.into(),
    })
}

fn read(file: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?
        .take(SIZE_MAX + 1)
        .read_to_string(&mut text)?;
    match text.len() as u64 > SIZE_MAX {
        true => Err(io::Error::other(
            "it is larger than 128MiB; keep a part of it",
        )),
        false => Ok(text),
    }
}

fn millis(name: &Field<&str>, file: &str, text: &str) -> Result<Vec<u32>, PathError> {
    let mut all: Vec<u32> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let refuse = |problem, hint: &str| name.refuse_at(file, number, problem, hint.to_owned());
        let millis = line.trim().parse().map_err(|_| {
            let shown: String = line.chars().take(40).collect();
            refuse(
                format!("`{shown}` is not a whole number of milliseconds"),
                FORMAT,
            )
        })?;
        if millis > MILLIS_MAX {
            let problem = format!("{millis} ms are beyond {MILLIS_MAX} ms, a day");
            return Err(refuse(problem, "keep the lines of one day"));
        }
        if let Some(before) = all.last().filter(|before| **before > millis) {
            let problem = format!("{millis} ms come after {before} ms, and times cannot go back");
            return Err(refuse(problem, "sort the lines: `sort -n`"));
        }
        all.push(millis);
    }
    match all.last() {
        None => Err(name.refuse(format!("`{file}` has no lines"), FORMAT.to_owned())),
        Some(0) => Err(name.refuse(
            format!("`{file}` ends at 0 ms, so it lasts for no time"),
            "the last line says how long the record is: 1 or more".to_owned(),
        )),
        Some(_) => Ok(all),
    }
}
