//! One stream, one thread: the sender writes blocks, the receiver counts what it reads.
//!
//! No system call waits for longer than [`TICK`], so a stop is noticed within that time
//! even while a long fat path has filled the buffers.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use units::{Bytes, Span};

use copy_net::{Channel, StreamHandle};
use observe::Transport;
use sockets::processor;

/// How soon a stop is noticed.
const TICK: Span = Span::from_millis(50);
/// Least room for one read, however small the blocks of the sender.
const READ_MIN: usize = 128 << 10;
/// Most bytes read after the end of a test that counts bytes, so that a peer that never stops
/// cannot hold the thread: more than any receive buffer.
const DRAIN_MAX: u64 = 1 << 30;

/// What all streams of a test share.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    block: Arc<[u8]>,
    budget: Option<Arc<AtomicU64>>,
}

/// What a stream's thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// Write until stopped.
    Send,
    /// Read until stopped.
    Receive,
    /// Read until stopped, then what has already arrived.
    ReceiveAll,
}

/// How a stream's thread ended.
#[derive(Debug)]
pub(crate) struct StreamEnd {
    /// Kept, so that what was written still arrives.
    _channel: Channel,
    /// Processor time of the thread.
    pub cpu: Option<Span>,
    /// Why, when it was not told to.
    pub failure: Option<io::Error>,
}

/// A running stream. Dropping it closes the connection and waits for the thread.
#[derive(Debug)]
pub(crate) struct StreamThread {
    pub connection: StreamHandle,
    moved: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<StreamEnd>>,
}

impl Work {
    /// Blocks of this size, and at most so many bytes over all streams.
    pub(crate) fn new(block: Bytes, budget: Option<Bytes>) -> Self {
        let length = usize::try_from(block.get()).unwrap_or(usize::MAX);
        Work {
            block: noise(length).into(),
            budget: budget.map(|bytes| Arc::new(AtomicU64::new(bytes.get()))),
        }
    }

    /// Whether the senders have taken all there was to send.
    pub(crate) fn is_spent(&self) -> bool {
        let left = self
            .budget
            .as_ref()
            .map(|left| left.load(Ordering::Relaxed));
        left == Some(0)
    }

    /// How many bytes of a block may be sent.
    fn claim(&self) -> usize {
        let whole = self.block.len() as u64;
        let Some(budget) = &self.budget else {
            return self.block.len();
        };
        let take = |left: u64| Some(left.saturating_sub(whole));
        let before = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.unwrap_or(0).min(whole) as usize
    }
}

/// Bytes that no device on the way can compress: a xorshift sequence (Marsaglia, 2003).
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_ne_bytes());
    }
    bytes.truncate(length);
    bytes
}

impl StreamThread {
    /// Starts a thread for a stream.
    ///
    /// # Errors
    /// When the stream or the thread cannot be set up.
    pub(crate) fn start(channel: Channel, job: Job, work: &Work) -> io::Result<Self> {
        channel.set_timeout(Some(TICK))?;
        let mut stream = StreamThread {
            connection: channel.handle(),
            moved: Arc::default(),
            stop: Arc::default(),
            thread: None,
        };
        let body = Body {
            channel,
            moved: Arc::clone(&stream.moved),
            stop: Arc::clone(&stream.stop),
            work: work.clone(),
        };
        let builder = thread::Builder::new().name("stream".to_owned());
        stream.thread = Some(builder.spawn(move || body.run(job))?);
        Ok(stream)
    }

    /// Bytes written or read so far.
    pub(crate) fn moved(&self) -> Bytes {
        Bytes::new(self.moved.load(Ordering::Relaxed))
    }

    /// Processor time of the thread so far; `None` once it has ended. Of a stream whose packets
    /// have a thread of their own, that one's, where it is more.
    pub(crate) fn cpu(&self) -> Option<Span> {
        let used = processor::of_running(self.thread.as_ref()?);
        used.max(self.connection.driver_cpu())
    }

    /// Tells the thread to stop; the connection stays.
    pub(crate) fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the thread has ended, told to or not.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the thread, waits for it and closes the connection.
    pub(crate) fn close(&mut self) -> Option<StreamEnd> {
        self.halt();
        let end = self.thread.take()?.join().ok();
        self.connection.shut_down();
        end.map(|end: StreamEnd| StreamEnd {
            cpu: end.cpu.max(self.connection.driver_cpu()),
            ..end
        })
    }
}

impl Drop for StreamThread {
    fn drop(&mut self) {
        self.close();
    }
}

/// Stops all threads, then waits for each and closes its connection.
pub(crate) fn close_all(streams: &mut [StreamThread]) -> Vec<Option<StreamEnd>> {
    streams.iter().for_each(StreamThread::halt);
    streams.iter_mut().map(StreamThread::close).collect()
}

struct Body {
    channel: Channel,
    moved: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    work: Work,
}

impl Body {
    fn run(mut self, job: Job) -> StreamEnd {
        let failure = match job {
            Job::Send => self.send(),
            Job::Receive => self.receive(),
            Job::ReceiveAll => match self.receive() {
                Ok(()) => self.drain(),
                failed => failed,
            },
        };
        StreamEnd {
            _channel: self.channel,
            cpu: processor::of_thread(),
            failure: failure.err(),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn send(&mut self) -> io::Result<()> {
        while !self.is_stopped() {
            let length = self.work.claim();
            let block = Arc::clone(&self.work.block);
            let mut rest = block.get(..length).unwrap_or_default();
            if rest.is_empty() {
                return self.end();
            }
            while !rest.is_empty() && !self.is_stopped() {
                let sent = passing(self.channel.write(rest))?;
                self.count(sent);
                rest = rest.get(sent..).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// All was written. A stream over UDP says so, which shows when it has arrived; over TCP the
    /// kernel tells.
    fn end(&mut self) -> io::Result<()> {
        match self.channel.transport() {
            Transport::Tcp => Ok(()),
            Transport::Udp => self.channel.finish(),
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; self.work.block.len().max(READ_MIN)];
        while !self.is_stopped() {
            match self.channel.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                result => self.count(passing(result)?),
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; self.work.block.len().max(READ_MIN)];
        let before = self.moved.load(Ordering::Relaxed);
        while self.moved.load(Ordering::Relaxed) - before < DRAIN_MAX {
            match passing(self.channel.read_at_once(&mut buffer)) {
                Ok(0) | Err(_) => break,
                Ok(got) => self.count(got),
            }
        }
        Ok(())
    }

    fn count(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Nothing moved is no failure: the tick passed or a signal came.
fn passing(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if is_passing(error.kind()) => Ok(0),
        other => other,
    }
}

fn is_passing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests;
