//! One stream of datagrams, one thread: the sender keeps to a rate, the receiver counts.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::stream::noise;
use measure_protocol::iperf3::datagram::{DatagramHeader, HEADER_LENGTH, Receipts};
use socket2::SockRef;
use sockets::Clock;
use units::{Bytes, Rate, Span, Time};

/// How soon a receiver notices that it is to stop.
const TICK: Duration = Duration::from_millis(50);
/// Datagrams that are due within this time leave together: waking for each would take a processor.
const TOGETHER: Duration = Duration::from_millis(1);
/// What a sender that was held up makes up for.
const BEHIND_MAX: Duration = Duration::from_millis(20);
/// Room for 30 ms of 1 Gbit/s at either end, as far as the host grants it.
const BUFFER: usize = 4 << 20;
/// One rate for each.
const INTERVAL: Span = Span::from_millis(100);
/// Rates that are kept: an hour of them.
const INTERVALS_MAX: usize = 36_000;
/// The most of one datagram.
const DATAGRAM_MAX: usize = 65_535;

/// What the thread does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Job {
    /// Sends at a rate, datagrams of this size.
    Send(Rate, Bytes),
    /// Counts what comes.
    Receive,
}

/// What the thread has seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moved {
    /// Of a sender its own datagrams.
    pub receipts: Receipts,
    /// From the start, or from the first that came, to the last.
    pub duration: Span,
    /// Data of each interval.
    pub intervals: Vec<Bytes>,
}

/// A running stream. Dropping it stops the thread and waits for it.
#[derive(Debug)]
pub(crate) struct DatagramStream {
    stop: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
    thread: Option<JoinHandle<Moved>>,
}

impl DatagramStream {
    /// Starts a thread for a connected socket.
    ///
    /// # Errors
    /// When the socket or the thread cannot be set up.
    pub(crate) fn start(socket: UdpSocket, job: Job) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(TICK))?;
        socket.set_write_timeout(Some(TICK))?;
        let mut stream = DatagramStream {
            stop: Arc::default(),
            bytes: Arc::default(),
            thread: None,
        };
        let body = Body {
            socket,
            stop: Arc::clone(&stream.stop),
            bytes: Arc::clone(&stream.bytes),
            moved: Moved::default(),
        };
        let builder = thread::Builder::new().name("datagrams".to_owned());
        stream.thread = Some(builder.spawn(move || match job {
            Job::Send(rate, size) => body.send(rate, size),
            Job::Receive => body.receive(),
        })?);
        Ok(stream)
    }

    /// Data sent or received so far.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes.load(Ordering::Relaxed))
    }

    /// Stops the thread; what it has seen.
    pub(crate) fn finish(&mut self) -> Moved {
        self.stop.store(true, Ordering::Relaxed);
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

/// Makes room for bursts; who is not root gets what the host grants.
pub(crate) fn widen(socket: &UdpSocket) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_recv_buffer_size(BUFFER)
}

struct Body {
    socket: UdpSocket,
    stop: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
    moved: Moved,
}

impl Body {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A datagram that the kernel has no room for was not sent: the next one takes its number. A
    /// sender that is held up sends less, not a burst that the path loses.
    fn send(mut self, rate: Rate, size: Bytes) -> Moved {
        let clock = Clock::start();
        let mut datagram = noise(size.get() as usize);
        let apart = Duration::from(rate.time_to_send(size));
        let mut due = Instant::now();
        while !self.is_stopped() {
            let now = Instant::now();
            if due > now {
                thread::sleep((due - now).clamp(TOGETHER, TICK));
                continue;
            }
            due = due.max(now.checked_sub(BEHIND_MAX).unwrap_or(now));
            let header = DatagramHeader {
                sent: clock.now().since(Time::ZERO),
                number: self.moved.receipts.highest.wrapping_add(1),
            };
            if let Some(beginning) = datagram.first_chunk_mut::<HEADER_LENGTH>() {
                *beginning = header.encode();
            }
            // One that a router complains of has left.
            let has_left = match self.socket.send(&datagram) {
                Ok(_) => true,
                Err(error) => error.raw_os_error() == Some(libc::ECONNREFUSED),
            };
            match has_left {
                true => {
                    due += apart;
                    self.count(header, size, header.sent);
                }
                false => due = now + apart,
            }
        }
        self.moved.duration = clock.now().since(Time::ZERO);
        self.moved
    }

    fn receive(mut self) -> Moved {
        let mut began: Option<Clock> = None;
        let mut datagram = vec![0; DATAGRAM_MAX];
        while !self.is_stopped() {
            // Nothing came, or a complaint about an earlier datagram.
            let Ok(size) = self.socket.recv(&mut datagram) else {
                continue;
            };
            let Some(header) = DatagramHeader::decode(datagram.get(..size).unwrap_or_default())
            else {
                continue;
            };
            let at = began.get_or_insert_with(Clock::start).now();
            self.count(header, Bytes::new(size as u64), at.since(Time::ZERO));
        }
        self.moved
    }

    fn count(&mut self, header: DatagramHeader, size: Bytes, at: Span) {
        self.moved.receipts.take(header, size, at);
        self.moved.duration = at;
        self.bytes.fetch_add(size.get(), Ordering::Relaxed);
        let place = (at.as_nanos() / INTERVAL.as_nanos()) as usize;
        if place < INTERVALS_MAX {
            let room = self.moved.intervals.len().max(place + 1);
            self.moved.intervals.resize(room, Bytes::ZERO);
            self.moved.intervals[place] += size;
        }
    }
}

impl Moved {
    /// The rate of each whole interval.
    pub(crate) fn rates(&self) -> Vec<Rate> {
        let whole = (self.duration.as_nanos() / INTERVAL.as_nanos()) as usize;
        let whole = self.intervals.iter().take(whole);
        let seconds = INTERVAL.as_secs_f64();
        whole
            .map(|bytes| Rate::from_f64(bytes.as_f64() * 8.0 / seconds))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_counts_what_a_sender_sends() {
        let ends = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        let addresses = [0, 1].map(|end: usize| ends[end].local_addr().unwrap());
        let [near, far] = ends;
        near.connect(addresses[1]).unwrap();
        far.connect(addresses[0]).unwrap();
        let mut receiver = DatagramStream::start(far, Job::Receive).unwrap();
        let rate = Rate::from_bits_per_second(8_000_000);
        let mut sender = DatagramStream::start(near, Job::Send(rate, Bytes::new(1_000))).unwrap();
        // 1,000 datagrams a second; a busy machine may take long.
        let until = Instant::now() + Duration::from_secs(30);
        while sender.bytes() < Bytes::new(300_000) && Instant::now() < until {
            thread::sleep(TICK);
        }
        let sent = sender.finish();
        while receiver.bytes() < sent.receipts.bytes && Instant::now() < until {
            thread::sleep(TICK);
        }
        let seen = receiver.finish();
        assert!(sent.receipts.highest >= 300, "{sent:?}");
        assert_eq!(seen.receipts.highest, sent.receipts.highest);
        assert_eq!(
            seen.receipts.lost() + seen.receipts.arrived,
            seen.receipts.highest
        );
        let bytes = seen.intervals.iter().map(|bytes| bytes.get()).sum::<u64>();
        assert_eq!(bytes, seen.receipts.bytes.get());
    }
}
