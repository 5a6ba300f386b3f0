//! The same number of streams on every path, with automatic windows: what most tools do.

use tune::{Choice, History, Purpose, Request, Strategy};

use super::sampling;

/// One sample with so many streams, which is recommended: it costs nothing that a transfer would
/// not, and shows what the setting gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    streams: u16,
}

impl Fixed {
    /// Everything as the host has it.
    pub const ONE: Fixed = Fixed { streams: 1 };
    /// FDT, bbcp and rclone.
    pub const FOUR: Fixed = Fixed { streams: 4 };
    /// WDT.
    pub const EIGHT: Fixed = Fixed { streams: 8 };
    /// Twice that.
    pub const SIXTEEN: Fixed = Fixed { streams: 16 };
}

impl Strategy for Fixed {
    fn next(&self, history: &History) -> Option<Request> {
        if !history.samples.is_empty() {
            return None;
        }
        let streams = sampling::within_streams_max(history, f64::from(self.streams));
        let window = sampling::default_window(history);
        let why = format!("{streams} streams on every path");
        let request = sampling::request(history, streams, window, Purpose::Streams, why);
        sampling::within_budget(history, request)
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        sampling::highest(history, |_| true, "it is the same on every path")
    }
}
