//! What the receiver's threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::incoming_files::IncomingFiles;
use super::publisher::Publisher;
use super::rereader::Rereader;
use crate::activity::TimeSpent;
use crate::throttle::Throttle;
use files::store::Store;

/// A sender that keeps to its part of the rate should not be held here too: its part was told to it
/// later than it holds here, and what it saved comes at once.
const THROTTLE_ROOM: f64 = 1.1;

/// What the receiver's threads share.
pub(crate) struct Shared {
    pub store: Arc<Store>,
    pub files: IncomingFiles,
    pub publisher: Publisher,
    pub rereader: Rereader,
    pub spent: Arc<TimeSpent>,
    /// Bytes read from streams.
    pub on_wire: AtomicU64,
    /// At a server: what is read of all streams keeps to this copy's part of the rate, whatever the
    /// sender does.
    pub throttle: Throttle,
    /// The conversation ended before everything was there: what streams still hold is of no use,
    /// and holes in it may take long to hash.
    pub is_given_up: AtomicBool,
}

impl Shared {
    /// Nothing has arrived yet.
    pub(crate) fn new(
        store: Arc<Store>,
        publisher: Publisher,
        rereader: Rereader,
        spent: Arc<TimeSpent>,
    ) -> Self {
        Shared {
            store,
            files: IncomingFiles::default(),
            publisher,
            rereader,
            spent,
            on_wire: AtomicU64::new(0),
            throttle: Throttle::new(THROTTLE_ROOM),
            is_given_up: AtomicBool::new(false),
        }
    }
}
