//! Ctrl-C and SIGTERM as a question that can be asked at any time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(50);
/// Signals this close together are one.
const SAME: Duration = Duration::from_millis(500);

/// Whether the user has asked us to stop.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens from now on. A second signal ends the process at once.
    pub(crate) fn listen() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        Stop::register(&asked, &asked)
    }

    /// The same, but a second signal counts only half a second after the first: `timeout` and
    /// others send it to the process and to its group. Takes a thread, which those who make
    /// namespaces may not have.
    pub(crate) fn listen_calmly() -> io::Result<Self> {
        let (asked, is_sure) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let stop = Stop::register(&asked, &is_sure)?;
        thread::spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                thread::sleep(TICK);
            }
            thread::sleep(SAME);
            is_sure.store(true, Ordering::Relaxed);
        });
        Ok(stop)
    }

    /// The process ends at a signal once `is_sure`.
    fn register(asked: &Arc<AtomicBool>, is_sure: &Arc<AtomicBool>) -> io::Result<Self> {
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(is_sure))?;
            flag::register(signal, Arc::clone(asked))?;
        }
        Ok(Stop(Arc::clone(asked)))
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag for those who outlive a borrow.
    pub(crate) fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// The flag itself, for those who ask it directly.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
