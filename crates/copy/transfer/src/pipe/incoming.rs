//! The receiver's half: what came, for the thread that writes.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use copy_protocol::Problem;
use copy_protocol::pipe::{ArriveWindow, BlockHeader, End, PipeViolation};

use super::events::Bell;

/// Blocks between the streams and the thread that writes.
#[derive(Debug)]
pub(crate) struct Incoming {
    state: Mutex<State>,
    changed: Condvar,
    bell: Arc<Bell>,
}

#[derive(Debug)]
struct State {
    window: ArriveWindow,
    output: OutputState,
    is_over: bool,
}

/// How far the thread that writes is.
#[derive(Debug, Clone)]
pub(crate) enum OutputState {
    /// It writes what comes.
    Open,
    /// All is where it belongs, and its digest was right.
    Whole,
    /// The reader takes no more.
    Closed,
    /// It cannot write any further.
    Failed(Problem),
}

/// What the thread that writes does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// It writes this.
    Block(Vec<u8>),
    /// It has written all.
    End(End),
    /// The pipe is over before its end.
    Over,
}

impl Incoming {
    pub fn new(window: u64, bell: Arc<Bell>) -> Arc<Self> {
        Arc::new(Incoming {
            state: Mutex::new(State {
                window: ArriveWindow::new(window),
                output: OutputState::Open,
                is_over: false,
            }),
            changed: Condvar::new(),
            bell,
        })
    }

    /// Whether a block may come.
    pub fn check(&self, header: BlockHeader) -> Result<(), PipeViolation> {
        self.lock().window.check(header)
    }

    /// Takes a block.
    pub fn offer(&self, offset: u64, bytes: Vec<u8>) -> Result<(), PipeViolation> {
        let mut state = self.lock();
        state.window.offer(offset, bytes)?;
        let has_next = state.window.has_next();
        drop(state);
        if has_next {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// The sender says where the end is.
    pub fn on_end(&self, end: End) -> Result<(), PipeViolation> {
        self.lock().window.on_end(end)?;
        self.changed.notify_all();
        Ok(())
    }

    /// What is to be written next; waits until there is something.
    pub fn next(&self) -> Next {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return Next::Over;
            }
            if let Some(block) = state.window.next_block() {
                return Next::Block(block);
            }
            if let Some(end) = state.window.reached_end() {
                return Next::End(end);
            }
            state = self.wait(state);
        }
    }

    /// What was given to be written is with the reader.
    pub fn on_written(&self) {
        self.lock().window.on_written();
        self.bell.ring();
    }

    /// The thread that writes has come to an end.
    pub fn set(&self, output: OutputState) {
        self.lock().output = output;
        self.bell.ring();
    }

    pub fn output(&self) -> OutputState {
        self.lock().output.clone()
    }

    /// Whether all is where it belongs.
    pub fn is_whole(&self) -> bool {
        matches!(self.output(), OutputState::Whole)
    }

    /// Bytes that the reader has.
    pub fn taken(&self) -> u64 {
        self.lock().window.taken()
    }

    /// Nothing more is written.
    pub fn stop(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits until that was said.
    pub fn wait_until_over(&self) {
        let mut state = self.lock();
        while !state.is_over {
            state = self.wait(state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete, even when another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}
