//! What the threads of an end spent their time on.

use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

/// Time of an end's threads in one interval, or since its last report, summed over the threads that
/// carry data; for the verdict on what limits.
///
/// At each moment a thread runs, waits for a processor, or waits for something else.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Activity {
    /// Length of the interval.
    #[serde(with = "nanoseconds")]
    pub length: Span,
    /// Threads that carried data.
    pub streams: u16,
    /// Bytes of files that were read or written.
    pub bytes: Bytes,
    /// Waiting for files to be read or written.
    #[serde(with = "nanoseconds")]
    pub disk: Span,
    /// Waiting for the connection to take or to bring data.
    #[serde(with = "nanoseconds")]
    pub network: Span,
    /// Waiting for pieces to send.
    #[serde(with = "nanoseconds")]
    pub idle: Span,
    /// Waiting because of the rate limit.
    #[serde(with = "nanoseconds")]
    pub held: Span,
    /// On a processor.
    #[serde(with = "nanoseconds")]
    pub computed: Span,
    /// Waiting for a processor.
    #[serde(with = "nanoseconds")]
    pub queued: Span,
    /// Flushing whole files to the disk, on a thread of its own.
    #[serde(with = "nanoseconds")]
    pub flush: Span,
    /// Processor time of the whole process.
    #[serde(with = "nanoseconds")]
    pub processor: Span,
    /// Processors of the host; zero where that is not known.
    pub processors: u16,
    /// Busy time of all processors of the host, with any program.
    #[serde(with = "nanoseconds")]
    pub host_busy: Span,
}

/// Share of the host's processor time from which it counts as full; the rest goes to wakeups.
const HOST_FULL: f64 = 0.9;
/// Share of it that the copy must use itself: on a host that other programs keep busy a copy gets
/// its turn.
const OWN_SHARE: f64 = 0.2;

/// Shares of the threads' time. They add up to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Waiting for files.
    pub disk: f64,
    /// Waiting for the connection.
    pub network: f64,
    /// Waiting for pieces.
    pub idle: f64,
    /// Waiting because of the rate limit.
    pub held: f64,
    /// On a processor, or waiting for one.
    pub processor: f64,
}

impl Activity {
    /// `None` where no thread did anything.
    pub fn shares(&self) -> Option<Shares> {
        let processor = self.computed + self.queued;
        let all = self.disk + self.network + self.idle + self.held + processor;
        let share = |part: Span| part.as_secs_f64() / all.as_secs_f64();
        (all > Span::ZERO).then(|| Shares {
            disk: share(self.disk),
            network: share(self.network),
            idle: share(self.idle),
            held: share(self.held),
            processor: share(processor),
        })
    }

    /// Of the interval, the share in which whole files were flushed.
    pub fn flush_share(&self) -> f64 {
        self.part_of_length(self.flush)
    }

    /// Processors that the process used, on average.
    pub fn processors_used(&self) -> f64 {
        self.part_of_length(self.processor)
    }

    fn part_of_length(&self, part: Span) -> f64 {
        match self.length > Span::ZERO {
            true => part.as_secs_f64() / self.length.as_secs_f64(),
            false => 0.0,
        }
    }

    /// Shares of the host's processor time, of the copy and of all programs; `None` where the
    /// number of processors is not known.
    fn processor_shares(&self) -> Option<(f64, f64)> {
        let whole = self.length.as_secs_f64() * f64::from(self.processors);
        (whole > 0.0).then(|| {
            (
                self.processor.as_secs_f64() / whole,
                self.host_busy.as_secs_f64() / whole,
            )
        })
    }

    /// Share of the host's processor time that all programs used.
    pub fn host_busy_share(&self) -> f64 {
        self.processor_shares().map_or(0.0, |(_, all)| all)
    }

    /// Whether the host's processors are full, and with this copy.
    ///
    /// ```
    /// use copy_protocol::Activity;
    /// use units::Span;
    /// let busy = |own, all| Activity {
    ///     length: Span::from_secs(1),
    ///     streams: 1,
    ///     processors: 2,
    ///     processor: Span::from_millis(own),
    ///     host_busy: Span::from_millis(all),
    ///     ..Activity::default()
    /// };
    /// assert!(busy(900, 1_950).host_is_full());
    /// // Others compile: the copy uses 5 % of two processors.
    /// assert!(!busy(100, 1_950).host_is_full());
    /// // One thread of two processors' worth: another one would find time.
    /// assert!(!busy(900, 1_000).host_is_full());
    /// ```
    pub fn host_is_full(&self) -> bool {
        self.processor_shares()
            .is_some_and(|(own, all)| own >= OWN_SHARE && all >= HOST_FULL)
    }
}

/// Times of a message.
mod nanoseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use units::Span;

    pub fn serialize<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(span.as_nanos())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        u64::deserialize(deserializer).map(Span::from_nanos)
    }
}
