//! What the far program prints, at the near end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use copy_protocol::Problem;
use copy_protocol::pipe::{OUTPUT_CHUNK, OUTPUT_WINDOW, Output};

use super::events::Bell;
use super::output::write_fully;
use files::failed;

/// Passes on what the far program prints, in its order.
#[derive(Debug)]
pub(crate) struct Printer {
    state: Mutex<State>,
    changed: Condvar,
    bell: Arc<Bell>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(Output, Vec<u8>)>,
    /// Bytes that came.
    came: u64,
    /// Bytes that were passed on.
    passed: u64,
    failed: Option<Problem>,
    is_over: bool,
}

impl Printer {
    pub fn new(bell: Arc<Bell>) -> Arc<Self> {
        Arc::new(Printer {
            state: Mutex::default(),
            changed: Condvar::new(),
            bell,
        })
    }

    /// Takes what came; what came before is left out.
    ///
    /// # Errors
    /// When something is missing before it, or it is more than was asked for.
    pub fn take(&self, output: Output, offset: u64, bytes: Vec<u8>) -> Result<(), String> {
        let mut state = self.lock();
        let length = bytes.len() as u64;
        if offset < state.came {
            return Ok(());
        }
        let waits = state.came - state.passed;
        let is_legal = offset == state.came && (1..=OUTPUT_CHUNK).contains(&bytes.len());
        if !is_legal || waits + length > OUTPUT_WINDOW {
            let came = state.came;
            return Err(format!(
                "{length} bytes of output came at byte {offset}, after {came} of which {waits} wait"
            ));
        }
        state.came += length;
        state.queue.push_back((output, bytes));
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    pub fn passed(&self) -> u64 {
        self.lock().passed
    }

    /// Why not all of it could be passed on.
    pub fn failed(&self) -> Option<Problem> {
        self.lock().failed.clone()
    }

    /// Whether all that came was passed on.
    pub fn is_empty(&self) -> bool {
        let state = self.lock();
        state.passed == state.came
    }

    pub fn stop(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Passes on what comes, until it is over. An output that is closed takes no more, and what is
    /// meant for it is dropped.
    pub fn run(&self, mut standard: Option<File>, mut errors: Option<File>) {
        loop {
            let mut state = self.lock();
            let (output, bytes) = loop {
                if let Some(next) = state.queue.pop_front() {
                    break next;
                }
                if state.is_over {
                    return;
                }
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            let to = match output {
                Output::Standard => &mut standard,
                Output::Errors => &mut errors,
            };
            let written = to.as_ref().map(|file| write_fully(file, &bytes));
            let mut state = self.lock();
            state.passed += bytes.len() as u64;
            if let Some(Err(error)) = written {
                *to = None;
                if error.kind() != ErrorKind::BrokenPipe {
                    let wrong = failed("write", "what the program prints", &error);
                    state.failed.get_or_insert(Problem {
                        hint: None,
                        ..wrong
                    });
                }
            }
            drop(state);
            self.bell.ring();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
