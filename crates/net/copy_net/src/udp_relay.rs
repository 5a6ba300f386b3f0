//! A connection over UDP as a TCP socket of this host.
//!
//! Control connections are sockets that their threads poll, and over UDP a connection has none. Two
//! threads carry its bytes between it and one end of a TCP connection within this host; the other
//! end of that is used in its place. So the same is said over UDP as over TCP, TLS included.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quic_net::{Handle, Stream, StreamWriter};
use sockets::multipath;
use units::{Bytes, Span, Time};

/// First bytes of a connection over UDP whose further ones are those of a connection over TCP.
pub(super) const RELAY_MAGIC: [u8; 4] = *b"TLu1";

const BUFFER: usize = 16 << 10;
/// Bytes that may be on the way or wait in each direction, in each of so many relays.
const WINDOW: Bytes = Bytes::from_mib(1);
/// How often a relay looks whether the user of its socket has closed it.
const TICK: Duration = Duration::from_secs(1);
/// How long the other end may still speak after that.
const AFTER_CLOSE: Duration = Duration::from_secs(5);
/// How long the other end may take nothing, and how long the last bytes may take to arrive.
const WRITE_MAX: Duration = Duration::from_secs(30);
const DELIVERY_MAX: Duration = Duration::from_secs(5);
/// A program that ends waits so long at most for its last bytes to arrive.
const GOODBYE_MAX: Duration = Duration::from_secs(1);
/// Connecting within a host takes no time, unless something forbids it.
const WITHIN_HOST_MAX: Duration = Duration::from_millis(250);
/// Neither thread calls anything deep.
const STACK: usize = 128 << 10;

/// The threads of one connection. They end with it, or with the socket that is used in its place.
#[derive(Debug)]
pub(super) struct Relay {
    handle: Handle,
    since: Instant,
    user: Arc<User>,
    thread: JoinHandle<()>,
}

/// What the user of the socket did.
#[derive(Debug, Default)]
struct User {
    has_spoken: AtomicBool,
    has_closed: AtomicBool,
}

/// The socket of a relay at the end that connects.
#[derive(Debug)]
pub struct RelayedSocket {
    /// The socket.
    pub socket: TcpStream,
    /// Has to be dropped behind it.
    pub goodbye: RelayGoodbye,
}

/// Dropped behind the socket of a relay: waits until what was written has arrived at the other end,
/// a second at most, so that a program may end then.
#[derive(Debug)]
pub struct RelayGoodbye(Relay);

/// Begins to carry bytes between a connection and the socket that is returned.
///
/// # Errors
/// When this host has no descriptor, thread or loopback address left.
pub(super) fn relay(stream: Stream) -> io::Result<(TcpStream, Relay)> {
    let (used, here) = socket_pair()?;
    here.set_nodelay(true)?;
    stream.trust(WINDOW);
    stream.set_timeouts(Some(TICK), Some(WRITE_MAX));
    let handle = stream.handle();
    let user = Arc::new(User::default());
    let carried_for = Arc::clone(&user);
    let thread = named().spawn(move || carry(stream, here, &carried_for))?;
    let relay = Relay {
        handle,
        since: Instant::now(),
        user,
        thread,
    };
    Ok((used, relay))
}

/// The round trip to the other end of a connection, where the kernel knows it: the socket of a
/// relay is connected to another address than that of the `peer`.
pub(super) fn round_trip(socket: &TcpStream, peer: SocketAddr) -> Option<Span> {
    let canonical = |at: SocketAddr| (at.ip().to_canonical(), at.port());
    let is_relayed = canonical(socket.peer_addr().ok()?) != canonical(peer);
    let sample = multipath::sample(socket, Time::ZERO).ok();
    let sample = sample.filter(|_| !is_relayed)?;
    sample.rtt_min.or(sample.rtt)
}

fn named() -> thread::Builder {
    let builder = thread::Builder::new().name("udp relay".to_owned());
    builder.stack_size(STACK)
}

impl Relay {
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Whether all that the user of its socket said has arrived, as far as it ever will.
    pub fn has_delivered(&self) -> bool {
        self.handle.is_delivered() || self.handle.is_over()
    }

    /// How long it has been there.
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Whether the user of its socket has said something, and has not closed it.
    pub fn is_used(&self) -> bool {
        let User {
            has_spoken,
            has_closed,
        } = &*self.user;
        has_spoken.load(Ordering::Relaxed) && !has_closed.load(Ordering::Relaxed)
    }

    pub fn shut_down(&self) {
        self.handle.shut_down();
    }

    pub fn with_goodbye(self) -> RelayGoodbye {
        RelayGoodbye(self)
    }
}

impl Drop for RelayGoodbye {
    fn drop(&mut self) {
        let end = Instant::now() + GOODBYE_MAX;
        while !self.0.has_delivered() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Two ends of a connection within this host. A stranger who connects in between is turned away.
fn socket_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect_timeout(&listener.local_addr()?, WITHIN_HOST_MAX)?;
    let own = near.local_addr()?;
    loop {
        let (far, peer) = listener.accept()?;
        if peer == own {
            return Ok((near, far));
        }
    }
}

/// Both directions, until both have ended, or one is broken or takes nothing for too long.
fn carry(mut stream: Stream, socket: TcpStream, user: &Arc<User>) {
    let socket = Arc::new(socket);
    let (writer, spoken_to) = (stream.writer(), Arc::clone(&socket));
    let speaks = Arc::clone(user);
    let speaker = named().spawn(move || speak(writer, &spoken_to, &speaks));
    let Ok(speaker) = speaker else {
        return;
    };
    if hear(&mut stream, &socket, user).is_err() {
        let _ = socket.shutdown(Shutdown::Both);
    }
    // It does not panic; if it did, nothing more would be said.
    let _ = speaker.join();
    stream.close(DELIVERY_MAX);
}

/// What the socket's user says, until that closes it in whatever way.
fn speak(mut writer: StreamWriter, mut socket: &TcpStream, user: &User) {
    let mut buffer = [0; BUFFER];
    let said = loop {
        match socket.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break writer.finish(),
            Ok(got) => {
                user.has_spoken.store(true, Ordering::Relaxed);
                if let Err(error) = writer.write_all(buffer.get(..got).unwrap_or_default()) {
                    break Err(error);
                }
            }
        }
    };
    user.has_closed.store(true, Ordering::Relaxed);
    if said.is_err() {
        let _ = socket.shutdown(Shutdown::Both);
    }
}

/// What the other end says.
fn hear(stream: &mut Stream, socket: &TcpStream, user: &User) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    let mut until = None;
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return socket.shutdown(Shutdown::Write),
            Ok(got) => (&*socket).write_all(buffer.get(..got).unwrap_or_default())?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if user.has_closed.load(Ordering::Relaxed) {
            let until = until.get_or_insert_with(|| Instant::now() + AFTER_CLOSE);
            if Instant::now() >= *until {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}
