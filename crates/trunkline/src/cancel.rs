//! The token that ends an operation early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use transfer::CopyControl;

/// Ends operations early, from any thread. Clones are the same token.
///
/// An operation notices within a tenth of a second, and gives what it has or an
/// [`Error`](crate::Error) whose fault is [`Fault::Cancelled`](crate::Fault). A token stays
/// cancelled: the next operation needs another one.
///
/// ```
/// let cancel = trunkline::Cancel::new();
/// let same = cancel.clone();
/// std::thread::spawn(move || same.cancel()).join().unwrap();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token of its own.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Asks everything that has this token to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag of the token, for what sets flags, such as a handler of signals.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// The token whose flag exists already.
impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Cancel(flag)
    }
}

/// The control of a copy that ends with this token and has no bound on its rate.
impl From<&Cancel> for CopyControl {
    fn from(cancel: &Cancel) -> Self {
        CopyControl::with_stop(cancel.flag())
    }
}
