//! Transfers that come and go: the short traffic of others on a path.

use std::io::{self, ErrorKind, Read, Write};
use std::iter::Peekable;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use socket2::{Domain, SockRef, Socket};
use sockets::options::StreamOptions;
use sockets::poll;
use units::{Bytes, Span, Time};

use crate::BackgroundError;

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(50);
/// The most at a time: a server has no room for more, and a process few more descriptors. Those
/// that come then are turned away.
const TOGETHER_MAX: usize = 256;
/// The most that is written or read at once.
const BLOCK: usize = 64 << 10;

/// Transfers that begin at times of their own until dropped, both ends in this process.
#[derive(Debug)]
pub struct Transfers {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Transfers {
    /// Starts them from the calling thread's host to `listener`, each at its time from now on and
    /// of its size, in the order of `arrivals`.
    ///
    /// # Errors
    /// When the thread cannot be started, or the listener's address is unknown.
    pub fn start(
        listener: TcpListener,
        options: StreamOptions,
        arrivals: impl Iterator<Item = (Time, Bytes)> + Send + 'static,
    ) -> Result<Self, BackgroundError> {
        listener.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let under_way = UnderWay {
            address: listener.local_addr()?,
            listener,
            options,
            sending: Vec::new(),
            receiving: Vec::new(),
        };
        let asked = Arc::clone(&stop);
        let thread = thread::Builder::new().name("transfers".to_owned());
        let thread = thread.spawn(move || under_way.run(&asked, arrivals.peekable()))?;
        Ok(Transfers {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Both ends of all transfers.
struct UnderWay {
    listener: TcpListener,
    address: SocketAddr,
    options: StreamOptions,
    sending: Vec<Sending>,
    receiving: Vec<TcpStream>,
}

struct Sending {
    stream: TcpStream,
    /// Bytes that are not written yet; without any, the other end is waited for.
    left: u64,
}

impl UnderWay {
    fn run(
        mut self,
        stop: &AtomicBool,
        mut arrivals: Peekable<impl Iterator<Item = (Time, Bytes)>>,
    ) {
        let began = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let now = Time::ZERO + Span::from(began.elapsed());
            while let Some((_, size)) = arrivals.next_if(|(at, _)| *at <= now) {
                self.begin(size);
            }
            let next = arrivals.peek().map(|(at, _)| Duration::from(at.since(now)));
            let limit = next.map_or(TICK, |next| next.min(TICK));
            if self.go_on(limit).is_err() {
                return;
            }
        }
        self.abort();
    }

    /// A connection that cannot be made is one that a busy host turns away.
    fn begin(&mut self, size: Bytes) {
        if self.sending.len() < TOGETHER_MAX
            && let Ok(stream) = self.connect()
        {
            let left = size.get();
            self.sending.push(Sending { stream, left });
        }
    }

    fn connect(&self) -> Result<TcpStream, BackgroundError> {
        let socket: Socket = self.options.socket(Domain::for_address(self.address))?;
        socket.set_nonblocking(true)?;
        match socket.connect(&self.address.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error.into()),
            _ => Ok(socket.into()),
        }
    }

    /// Waits for what can be done, no longer than `limit`, and does it.
    fn go_on(&mut self, limit: Duration) -> io::Result<()> {
        let mut watched = vec![poll::readable(self.listener.as_fd())];
        watched.extend(self.sending.iter().map(Sending::watched));
        let receiving = self.receiving.iter();
        watched.extend(receiving.map(|stream| poll::readable(stream.as_fd())));
        poll::wait_exactly(&mut watched, limit)?;
        let ready: Vec<bool> = watched.iter().map(poll::is_ready).collect();
        let mut ready = ready.into_iter();
        let mut next = || ready.next().unwrap_or(false);
        let comes = next();
        self.sending
            .retain_mut(|sending| !next() || sending.goes_on());
        self.receiving
            .retain_mut(|stream| !next() || receives_on(stream));
        if comes {
            self.accept();
        }
        Ok(())
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let set = self.options.apply_to_accepted(&stream);
            if set.is_ok() && stream.set_nonblocking(true).is_ok() {
                self.receiving.push(stream);
            }
        }
    }

    /// Ends all of them at once, so that nothing of them stays in the kernel.
    fn abort(self) {
        let sending = self.sending.into_iter().map(|sending| sending.stream);
        for stream in sending.chain(self.receiving) {
            let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
        }
    }
}

impl Sending {
    fn watched(&self) -> PollFd<'_> {
        let wanted = match self.left {
            0 => PollFlags::POLLIN,
            _ => PollFlags::POLLOUT,
        };
        PollFd::new(self.stream.as_fd(), wanted)
    }

    /// Writes what there is room for; false when the other end has all, or is gone.
    fn goes_on(&mut self) -> bool {
        let block = [0; BLOCK];
        while self.left > 0 {
            let size = usize::try_from(self.left).map_or(BLOCK, |left| left.min(BLOCK));
            match self.stream.write(&block[..size]) {
                Ok(written) => self.left -= written as u64,
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
            if self.left == 0 {
                return self.stream.shutdown(Shutdown::Write).is_ok();
            }
        }
        receives_on(&mut self.stream)
    }
}

/// Reads what has arrived; false at the end.
fn receives_on(stream: &mut TcpStream) -> bool {
    let mut block = [0; BLOCK];
    loop {
        match stream.read(&mut block) {
            Ok(0) => return false,
            // What is left is for the next round.
            Ok(read) if read < BLOCK => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn each_transfer_begins_at_its_time_and_ends_with_its_size() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let drawn = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&drawn);
        let arrivals = (0..600u64).map(move |number| {
            seen.store(number, Ordering::Relaxed);
            let at = Time::ZERO + Span::from_millis(number / 2);
            (at, Bytes::new(1 + number % 7 * 50_000))
        });
        let began = Instant::now();
        let transfers = Transfers::start(listener, StreamOptions::default(), arrivals).unwrap();
        while drawn.load(Ordering::Relaxed) < 599 {
            assert!(began.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(5));
        }
        // The last one was drawn when the one before began, at 299 ms.
        assert!(began.elapsed() >= Duration::from_millis(298));
        drop(transfers);
    }

    #[test]
    fn both_ends_of_a_transfer_see_it_end() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut under_way = UnderWay {
            address: listener.local_addr().unwrap(),
            listener,
            options: StreamOptions::default(),
            sending: Vec::new(),
            receiving: Vec::new(),
        };
        under_way.begin(Bytes::new(3_000_000));
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut most = 0;
        while !under_way.sending.is_empty() || most == 0 {
            assert!(Instant::now() < deadline);
            under_way.go_on(Duration::from_millis(1)).unwrap();
            most = most.max(under_way.receiving.len());
        }
        assert_eq!((most, under_way.receiving.len()), (1, 0));
    }
}
