//! A log for the day on which something hangs: what the rooms of the workspace do, as lines of a
//! file. Off unless it is asked for; then a line costs one write, and without it an event costs the
//! look at one number.
//!
//! No line has a token or a key: the types that hold them do not show them.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;
use std::sync::Arc;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::Error;

/// The variable that asks for a log where no option does: `FILE` or `FILE=LEVEL`.
pub const VARIABLE: &str = "TRUNKLINE_LOG";

/// The levels, from the fewest lines to the most.
const LEVELS: [(&str, LevelFilter); 5] = [
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// The level where none is named: all but single messages and packets.
const LEVEL_DEFAULT: LevelFilter = LevelFilter::DEBUG;

/// A file to write to, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    file: PathBuf,
    level: LevelFilter,
}

impl LogFile {
    /// Reads `FILE` or `FILE=LEVEL`.
    ///
    /// # Errors
    /// A sentence when there is no file in it, or another level than there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (file, level) = match text.rsplit_once('=') {
            None => (text, LEVEL_DEFAULT),
            Some((file, level)) => (file, level_of(level)?),
        };
        match file {
            "" => Err(format!("`{text}` names no file; write FILE or FILE=LEVEL")),
            file => Ok(LogFile {
                file: file.into(),
                level,
            }),
        }
    }

    /// What [`VARIABLE`] asks for; `None` where it is empty or not set.
    ///
    /// # Errors
    /// When it holds no file and level.
    pub fn from_environment() -> Result<Option<Self>, Error> {
        let set = env::var_os(VARIABLE).filter(|set| !set.is_empty());
        let Some(set) = set else {
            return Ok(None);
        };
        let text = set
            .to_str()
            .ok_or_else(|| format!("`{}` is no UTF-8", set.display()));
        let file = text.and_then(LogFile::parse).map_err(|refusal| {
            let hint = format!("set {VARIABLE} to FILE or FILE=LEVEL, or unset it");
            Error::wrong_request(format!("{VARIABLE}: {refusal}"), hint)
        })?;
        Ok(Some(file))
    }

    /// Writes what this process does to the end of the file from now on. Several processes may
    /// share it: each line is one write, and has the number of its process. With `trace`, each
    /// connection over UDP writes a qlog beside it, `FILE.PROCESS.NUMBER.sqlog`.
    ///
    /// # Errors
    /// When the file cannot be opened for writing, or a log is written already.
    pub fn start(&self) -> Result<(), Error> {
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file);
        let file = Arc::new(opened.map_err(|error| Error::unwritable(&self.file, error))?);
        let lines = tracing_subscriber::fmt::layer()
            .with_timer(Stamp)
            .with_writer(move || Lines(Arc::clone(&file)))
            .log_internal_errors(false);
        // Of others, each packet is worth a line only to those who want everything.
        let others = match self.level {
            LevelFilter::TRACE => LevelFilter::TRACE,
            level => level.min(LevelFilter::WARN),
        };
        let levels = Targets::new()
            .with_default(self.level)
            .with_target("quinn_proto", others);
        let started = tracing_subscriber::registry().with(lines).with(levels);
        started.try_init().map_err(|_| {
            let hint = "ask for one log in one process";
            Error::wrong_request("this process writes a log already", hint)
        })?;
        tracing::info!(version = env!("CARGO_PKG_VERSION"), "log begins");
        if self.level == LevelFilter::TRACE {
            let mut prefix = self.file.clone().into_os_string();
            prefix.push(format!(".{}", process::id()));
            copy_net::write_qlogs(prefix.into());
        }
        Ok(())
    }
}

fn level_of(name: &str) -> Result<LevelFilter, String> {
    let level = LEVELS.into_iter().find(|(known, _)| *known == name);
    level.map(|(_, level)| level).ok_or_else(|| {
        let names = LEVELS.map(|(name, _)| name).join(", ");
        format!(
            "`{name}` is no level; the levels are {names}. Behind a file name with `=` in it write \
             one, too"
        )
    })
}

/// When, in UTC, and in which process.
struct Stamp;

impl FormatTime for Stamp {
    fn format_time(&self, line: &mut Writer<'_>) -> std::fmt::Result {
        SystemTime.format_time(line)?;
        write!(line, " {}", process::id())
    }
}

/// Writes whole lines.
struct Lines(Arc<File>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        (&*self.0).write_all(one_line(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same with control characters as escapes: names of files and words of peers begin no line of
/// their own.
fn one_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for character in line.trim_end_matches('\n').chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown.push('\n');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_level_behind_it_or_the_default() {
        let read = |text: &str| LogFile::parse(text).map(|read| (read.file, read.level));
        let file = |name: &str| PathBuf::from(name);
        assert_eq!(read("a.log"), Ok((file("a.log"), LevelFilter::DEBUG)));
        assert_eq!(read("a.log=info"), Ok((file("a.log"), LevelFilter::INFO)));
        assert_eq!(read("a=b=trace"), Ok((file("a=b"), LevelFilter::TRACE)));
        for (text, part) in [
            ("", "names no file"),
            ("=info", "names no file"),
            ("a.log=", "`` is no level"),
            ("a.log=loud", "error, warn, info, debug, trace"),
            ("a.log=INFO", "`INFO` is no level"),
        ] {
            let refusal = read(text).unwrap_err();
            assert!(refusal.contains(part), "{text}: {refusal}");
        }
    }

    #[test]
    fn what_a_peer_says_stays_in_its_line() {
        let line = "INFO a peer says \u{1b}[2J\r\n2026-11-27 INFO forged\n";
        let shown = "INFO a peer says \\u{1b}[2J\\r\\n2026-11-27 INFO forged\n";
        assert_eq!(one_line(line), shown);
    }
}
