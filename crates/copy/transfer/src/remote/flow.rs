//! Bytes in one direction of a session, held to what the server allows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use units::Bytes;

use crate::budget::BudgetUser;
use crate::throttle::Throttle;

/// Bytes in one direction, over all connections of a session.
pub(crate) struct Flow {
    bytes: AtomicU64,
    share: Mutex<BudgetUser>,
    throttle: Throttle,
}

impl Flow {
    pub fn new(share: BudgetUser) -> Self {
        Flow {
            bytes: AtomicU64::new(0),
            share: Mutex::new(share),
            throttle: Throttle::new(1.0),
        }
    }

    /// So many bytes moved; waits while that is more than the server allows.
    pub fn on_moved(&self, bytes: usize, is_over: &dyn Fn() -> bool) {
        let moved = bytes as u64;
        let all = self.bytes.fetch_add(moved, Ordering::Relaxed) + moved;
        // One thread looks for all of them.
        if let Ok(mut own) = self.share.try_lock()
            && let Some(share) = own.look(Instant::now(), Bytes::new(all), 0)
        {
            self.throttle.set(share.rate);
        }
        if let Some(turn) = self.throttle.turn(bytes) {
            self.throttle.wait(turn, is_over);
        }
    }

    /// All that moved.
    pub fn moved(&self) -> Bytes {
        Bytes::new(self.bytes.load(Ordering::Relaxed))
    }
}
