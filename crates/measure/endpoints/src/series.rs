//! Readings of a running stream.

use observe::{Progress, TcpSample, Thinned};
use units::{Bytes, Time};

use crate::stream::StreamThread;

/// The readings of one stream, from a moment on.
#[derive(Debug)]
pub(crate) struct StreamSeries {
    from: Origin,
    pub progress: Thinned<Progress>,
    pub tcp: Thinned<TcpSample>,
    /// The last reading, also where it is thinned out.
    pub latest: Option<TcpSample>,
}

/// Where a series begins to count.
#[derive(Debug, Clone, Copy, Default)]
struct Origin {
    at: Time,
    moved: Bytes,
    retransmits: u32,
}

impl StreamSeries {
    /// Counts from the start of the stream; keeps at most `bound` readings of each kind.
    pub(crate) fn new(bound: usize) -> Self {
        StreamSeries {
            from: Origin::default(),
            progress: Thinned::new(bound),
            tcp: Thinned::new(bound),
            latest: None,
        }
    }

    /// Counts time and bytes of a stream that runs from now on, which is its first reading.
    /// Counters of the kernel run on.
    pub(crate) fn since(bound: usize, stream: &StreamThread, now: Time) -> Self {
        let mut series = StreamSeries::new(bound);
        series.from = Origin {
            at: now,
            moved: stream.moved(),
            retransmits: 0,
        };
        series.read(stream, now);
        series.from.retransmits = series.kernel_retransmits().unwrap_or(0);
        series
    }

    /// Reads the stream now; a connection that is gone gives no more `TCP_INFO`.
    pub(crate) fn read(&mut self, stream: &StreamThread, now: Time) {
        self.progress.offer(self.progress_now(stream, now));
        if let Some(sample) = self.sample_now(stream, now) {
            self.tcp.offer(sample);
        }
    }

    /// Reads the stream for the last time.
    pub(crate) fn read_last(&mut self, stream: &StreamThread, now: Time) {
        self.progress.close(self.progress_now(stream, now));
        if let Some(sample) = self.sample_now(stream, now) {
            self.tcp.close(sample);
        }
    }

    /// Bytes that the thread has moved since the series began.
    pub(crate) fn moved(&self, stream: &StreamThread) -> Bytes {
        stream.moved() - self.from.moved
    }

    /// Segments sent again since the series began, at the last reading.
    pub(crate) fn retransmits(&self) -> Option<u32> {
        let all = self.kernel_retransmits()?;
        Some(all.saturating_sub(self.from.retransmits))
    }

    fn kernel_retransmits(&self) -> Option<u32> {
        self.latest?.retransmits
    }

    fn progress_now(&self, stream: &StreamThread, now: Time) -> Progress {
        Progress {
            at: self.at(now),
            bytes: self.moved(stream),
        }
    }

    fn sample_now(&mut self, stream: &StreamThread, now: Time) -> Option<TcpSample> {
        let sample = stream.connection.sample(self.at(now)).ok()?;
        self.latest = Some(sample);
        self.latest
    }

    fn at(&self, now: Time) -> Time {
        Time::ZERO + now.since(self.from.at)
    }
}
