//! Connections that are made before it is known what there is to do: a login takes many round
//! trips.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_net::{SftpChannel, SftpDialer, SftpError, SshManners};

const TICK: Duration = Duration::from_millis(10);

type Opened = Result<SftpChannel, SftpError>;

/// Makes connections, some of them ahead.
pub(super) struct EarlyDials {
    dialer: SftpDialer,
    begun: Mutex<Vec<JoinHandle<Opened>>>,
    is_over: Arc<AtomicBool>,
}

impl EarlyDials {
    /// * `count`: connections to begin with, beside the first.
    /// * `after`: when they begin.
    pub fn begin(dialer: &SftpDialer, count: u64, after: Duration) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let begin = |_| {
            let (dialer, is_over) = (dialer.clone(), Arc::clone(&is_over));
            let is_over = move || is_over.load(Ordering::Relaxed);
            thread::spawn(move || {
                let begin = Instant::now() + after;
                while Instant::now() < begin {
                    if is_over() {
                        return Err(SftpError::Stopped);
                    }
                    thread::sleep(TICK);
                }
                open(&dialer, &is_over)
            })
        };
        EarlyDials {
            dialer: dialer.clone(),
            begun: Mutex::new((0..count).map(begin).collect()),
            is_over,
        }
    }

    /// One that was begun, or a new one.
    pub fn next(&self, is_stopped: &dyn Fn() -> bool) -> Opened {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let hand = begun.pop();
        drop(begun);
        let Some(hand) = hand else {
            return open(&self.dialer, is_stopped);
        };
        while !hand.is_finished() {
            if is_stopped() {
                return Err(SftpError::Stopped);
            }
            thread::sleep(TICK);
        }
        hand.join().unwrap_or(Err(SftpError::Stopped))
    }
}

impl Drop for EarlyDials {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn open(dialer: &SftpDialer, is_stopped: &dyn Fn() -> bool) -> Opened {
    match dialer.open(SshManners::Alone, is_stopped) {
        // Where only a shared connection needs no password.
        Err(SftpError::NotConnected { said, .. }) if said.contains("denied") => {
            dialer.open(SshManners::Shared, is_stopped)
        }
        opened => opened,
    }
}
