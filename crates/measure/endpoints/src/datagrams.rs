//! Streams of datagrams, each with one thread: the sender keeps to a rate, the receiver counts.

mod pace;
mod receiving;
mod sending;

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure_protocol::iperf3::datagram::Counter;
use measure_protocol::{DatagramCounts, DatagramForm, Results, StreamResult, stream_id};
use units::{Bytes, Rate, Span};

/// How soon a thread notices that it is to stop.
const TICK: Duration = Duration::from_millis(50);
/// One rate for each.
pub(crate) const INTERVAL: Span = Span::from_millis(100);
/// Rates that are kept over all streams of a test: an hour of one.
const INTERVALS_MAX: usize = 36_000;

/// What a stream is to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    /// Whether it sends, and how fast: `None` for as fast as it goes.
    pub job: Job,
    /// Data of each datagram that it sends.
    pub size: Bytes,
    /// How its datagrams look.
    pub form: DatagramForm,
    /// The beginning that does not count.
    pub omit: Span,
}

/// What the thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// Sends at a rate, or as fast as it goes.
    Send(Option<Rate>),
    /// Counts what comes, and repeats the answer to a greeting until something does.
    Receive {
        /// Whether that is this end's to do.
        welcomes: bool,
    },
}

impl Task {
    /// Whether this end sends.
    pub(crate) fn sends(&self) -> bool {
        matches!(self.job, Job::Send(_))
    }
}

/// What the thread has seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moved {
    /// Whether it sent.
    pub sent: bool,
    /// Datagrams sent, or up to the last that came.
    pub highest: u64,
    /// Of those, how many did not come.
    pub lost: u64,
    /// How many came, each counted once; of a sender those sent.
    pub arrived: u64,
    /// Their data.
    pub bytes: Bytes,
    /// Of a receiver.
    pub reordered: u64,
    /// Of a receiver.
    pub duplicates: u64,
    /// What this host dropped: of a receiver.
    pub dropped: u64,
    /// What was due and this host could not send: of a sender with a rate.
    pub not_sent: u64,
    /// The system's reason why this host may not send at all, by its number.
    pub forbidden: Option<i32>,
    /// Of a receiver.
    pub jitter: Span,
    /// How much the least delay grew: of a receiver, of enough datagrams.
    pub delay_growth: Option<Span>,
    /// From the start, or from the first that came to the last.
    pub duration: Span,
    /// From the start to the end.
    pub lasted: Span,
    /// Data of each interval.
    pub intervals: Vec<Bytes>,
    /// What does not count; it is within all the others.
    pub omitted: Option<Omitted>,
}

/// What had moved when counting began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Omitted {
    highest: u64,
    lost: u64,
    bytes: Bytes,
    duration: Span,
    lasted: Span,
}

/// A running stream. Dropping it stops the thread and waits for it.
#[derive(Debug)]
pub(crate) struct DatagramStream {
    stop: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
    thread: Option<JoinHandle<Moved>>,
}

/// A stream whose socket has all that it needs, before anything flows.
pub(crate) struct PreparedStream(Work);

enum Work {
    Send(Box<sending::Sending>),
    Receive(Box<receiving::Receiving>),
}

impl PreparedStream {
    /// * `socket`: connected to the other end.
    ///
    /// # Errors
    /// When the socket cannot be set up.
    pub(crate) fn new(socket: UdpSocket, task: Task) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(TICK))?;
        socket.set_write_timeout(Some(TICK))?;
        Ok(PreparedStream(match task.job {
            Job::Send(rate) => Work::Send(Box::new(sending::Sending::new(socket, task, rate)?)),
            Job::Receive { welcomes } => {
                let receiving = receiving::Receiving::new(socket, task, welcomes)?;
                Work::Receive(Box::new(receiving))
            }
        }))
    }

    /// Starts its thread.
    ///
    /// # Errors
    /// When this host has none left.
    pub(crate) fn start(self) -> io::Result<DatagramStream> {
        let shared = Shared {
            stop: Arc::default(),
            bytes: Arc::default(),
        };
        let (stop, bytes) = (Arc::clone(&shared.stop), Arc::clone(&shared.bytes));
        let builder = thread::Builder::new().name("datagrams".to_owned());
        let thread = builder.spawn(move || match self.0 {
            Work::Send(sending) => sending.run(&shared),
            Work::Receive(receiving) => receiving.run(&shared),
        })?;
        Ok(DatagramStream {
            stop,
            bytes,
            thread: Some(thread),
        })
    }
}

/// What the threads have in common.
struct Shared {
    stop: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn count(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl DatagramStream {
    /// Data sent or received so far.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes.load(Ordering::Relaxed))
    }

    /// Asks the thread to stop, and does not wait for it.
    pub(crate) fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Stops the thread; what it has seen.
    pub(crate) fn finish(&mut self) -> Moved {
        self.halt();
        let thread = self.thread.take();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }
}

impl Drop for DatagramStream {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Moved {
    fn count(&mut self, bytes: u64, at: Span) {
        self.duration = self.duration.max(at);
        let place = (at.as_nanos() / INTERVAL.as_nanos()) as usize;
        if place < INTERVALS_MAX {
            let room = self.intervals.len().max(place + 1);
            self.intervals.resize(room, Bytes::ZERO);
            self.intervals[place] += Bytes::new(bytes);
        }
    }

    /// Counting begins.
    fn omit(&mut self) {
        self.omitted = Some(Omitted {
            highest: self.highest,
            lost: self.lost,
            bytes: self.bytes,
            duration: self.duration,
            lasted: self.lasted,
        });
    }

    /// What this end tells the other of the stream at position `index` of `streams`.
    ///
    /// * `ours`: the other end is ours.
    fn told(&self, index: u16, streams: usize, ours: bool) -> StreamResult {
        let omitted = self.omitted.unwrap_or_default();
        // iperf3 has the rate of few datagrams over the whole test, too.
        let time = match ours {
            true => self.duration - omitted.duration,
            false => self.lasted - omitted.lasted,
        };
        StreamResult {
            id: stream_id(index).into(),
            bytes: (self.bytes - omitted.bytes).get(),
            jitter: Some(self.jitter.as_secs_f64()),
            errors: Some(self.lost),
            packets: Some(self.highest),
            omitted_packets: self.omitted.map(|omitted| omitted.highest),
            omitted_errors: self.omitted.map(|omitted| omitted.lost),
            start_time: Some(0.0),
            end_time: Some(time.as_secs_f64()),
            trunkline: ours.then(|| self.counts(INTERVALS_MAX / streams.max(1))),
            ..StreamResult::default()
        }
    }

    fn counts(&self, intervals_max: usize) -> DatagramCounts {
        let received = |count| (!self.sent).then_some(count);
        let intervals = self.intervals.iter().filter(|_| !self.sent);
        DatagramCounts {
            reordered: received(self.reordered),
            duplicates: received(self.duplicates),
            dropped: received(self.dropped),
            not_sent: self.sent.then_some(self.not_sent),
            delay_growth_nanos: self.delay_growth.map(Span::as_nanos),
            tenths: intervals
                .take(intervals_max)
                .map(|bytes| bytes.get())
                .collect(),
        }
    }
}

/// What this end tells the other of all streams.
pub(crate) fn results(moved: &[Moved], ours: bool) -> Results {
    let streams = (0..).zip(moved);
    Results {
        streams: streams
            .map(|(index, one)| one.told(index, moved.len(), ours))
            .collect(),
        ..Results::default()
    }
}

/// Tells all streams to stop before the first is waited for; what each has seen.
pub(crate) fn finish_all(streams: &mut [DatagramStream]) -> Vec<Moved> {
    streams.iter().for_each(DatagramStream::halt);
    streams.iter_mut().map(DatagramStream::finish).collect()
}

/// The form of our own clients: numbers that do not wrap.
pub(crate) const FORM: DatagramForm = DatagramForm {
    counter: Counter::Wide,
    burst: 0,
};

#[cfg(test)]
mod tests;
