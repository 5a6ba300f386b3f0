//! What ssh says on its standard error, which is the reason where it fails.

use std::io::Read;
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Bytes of it that are kept: the last.
const KEPT: usize = 4 << 10;
const SHOWN_CHARACTERS: usize = 300;

/// The last that ssh said.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Listens until ssh ends.
    pub fn of(pipe: Option<ChildStderr>) -> Self {
        let words = LastWords::default();
        let heard = words.clone();
        if let Some(pipe) = pipe {
            thread::spawn(move || heard.listen(pipe));
        }
        words
    }

    fn listen(&self, mut pipe: ChildStderr) {
        let mut block = [0; 1024];
        while let Ok(some @ 1..) = pipe.read(&mut block) {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&block[..some]);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
    }

    /// The last line that says something, printable; empty where none does.
    pub fn last(&self) -> String {
        // It is read by another thread, which may be a moment behind.
        thread::sleep(std::time::Duration::from_millis(20));
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines = text.lines().map(str::trim);
        // A connection that is closed for a reason has that in the line before.
        let is_of_use = |line: &&str| {
            let is_empty = line.is_empty() || line.starts_with("Killed by signal");
            !is_empty && !line.starts_with("Connection closed") && !line.starts_with("subsystem")
        };
        let last = lines.clone().rfind(is_of_use);
        let last = last.or_else(|| lines.clone().rfind(|line| !line.is_empty()));
        units::printable(last.unwrap_or_default(), SHOWN_CHARACTERS)
    }
}
