//! Lines that come through ssh, bounded.

use std::io::Read;
use std::mem;
use std::os::fd::AsFd;
use std::process::{Child, ChildStdout};
use std::time::Duration;

use copy_protocol::START_LINE_MAX;
use sockets::poll::{readable, wait};

use super::SshError;
use super::error::printable;

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Most bytes that a far end may say in all, with what its shells print when they start.
const HEARD_MAX: usize = 64 << 10;

/// What ssh passes on, a line at a time.
pub(super) struct Lines {
    /// None once it has ended.
    output: Option<ChildStdout>,
    unread: Vec<u8>,
    heard: usize,
    /// The first line that meant nothing here.
    noise: String,
}

impl Lines {
    /// What `child` says.
    pub fn of(child: &mut Child) -> Self {
        Lines {
            output: child.stdout.take(),
            unread: Vec::new(),
            heard: 0,
            noise: String::new(),
        }
    }

    /// The next line without its end; `None` when the pipe has ended.
    ///
    /// * `is_stopped`: asked ten times a second.
    pub fn next(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Option<String>, SshError> {
        loop {
            if let Some(at) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=at).collect();
                return Ok(Some(text(&line)));
            }
            let Some(output) = &mut self.output else {
                let rest = mem::take(&mut self.unread);
                return Ok((!rest.is_empty()).then(|| text(&rest)));
            };
            if is_stopped() {
                return Err(SshError::Stopped);
            }
            let ready = wait(&mut [readable(output.as_fd())], TICK).map_err(SshError::Pipe)?;
            if ready == 0 {
                continue;
            }
            let mut buffer = [0; 4 << 10];
            let got = output.read(&mut buffer).map_err(SshError::Pipe)?;
            if got == 0 {
                self.output = None;
            }
            self.heard += got;
            if self.heard > HEARD_MAX {
                return Err(SshError::Noise(self.noise()));
            }
            self.unread.extend(buffer.iter().take(got));
        }
    }

    /// Takes note of a line that means nothing here.
    pub fn note(&mut self, line: &str) {
        if self.noise.is_empty() {
            self.noise = line.trim().to_owned();
        }
    }

    /// The first of them.
    pub fn noise(&self) -> String {
        printable(&self.noise)
    }
}

fn text(line: &[u8]) -> String {
    let line = line.get(..START_LINE_MAX).unwrap_or(line);
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}
