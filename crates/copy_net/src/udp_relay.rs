//! A connection over UDP as a TCP socket of this host.
//!
//! Control connections are sockets that their threads poll, and over UDP a connection has none. Two
//! threads carry its few bytes between it and one end of a TCP connection within this host; the
//! other end of that is used in its place. Whatever was said over TCP is so said over UDP, TLS
//! included.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quic_net::{Handle, Stream, StreamWriter};

/// First bytes of a connection over UDP whose further ones are those of a connection over TCP.
pub(super) const RELAY_MAGIC: [u8; 4] = *b"TLu1";

const BUFFER: usize = 16 << 10;
/// How often a relay looks whether this end has said its last word.
const TICK: Duration = Duration::from_secs(1);
/// How long the other end may still speak after that.
const AFTER_LAST_WORD: Duration = Duration::from_secs(20);
/// How long the last word may take to arrive.
const DELIVERY_MAX: Duration = Duration::from_secs(5);
/// Within this time of its last word, a program that ends has been heard.
const GOODBYE_MAX: Duration = Duration::from_secs(1);
/// Neither thread calls anything deep.
const STACK: usize = 128 << 10;

/// The threads of one connection. They end with it, or with the socket that is used in its place.
#[derive(Debug)]
pub(super) struct Relay {
    handle: Handle,
    thread: JoinHandle<()>,
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
    let handle = stream.handle();
    let named = thread::Builder::new().name("udp relay".to_owned());
    let thread = named.stack_size(STACK).spawn(move || carry(stream, here))?;
    Ok((used, Relay { handle, thread }))
}

impl Relay {
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
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
        let Relay { handle, .. } = &self.0;
        while !handle.is_delivered() && !handle.is_over() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Two ends of a connection within this host. A stranger who connects in between is turned away.
fn socket_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let own = near.local_addr()?;
    loop {
        let (far, peer) = listener.accept()?;
        if peer == own {
            return Ok((near, far));
        }
    }
}

/// Both directions, until both have ended or one is broken.
fn carry(mut stream: Stream, socket: TcpStream) {
    let socket = Arc::new(socket);
    let is_said = Arc::new(AtomicBool::new(false));
    let speaker = {
        let (writer, socket, is_said) = (stream.writer(), Arc::clone(&socket), is_said.clone());
        let named = thread::Builder::new().name("udp relay".to_owned());
        named.stack_size(STACK).spawn(move || {
            speak(writer, &socket);
            is_said.store(true, Ordering::Relaxed);
        })
    };
    let Ok(speaker) = speaker else {
        return;
    };
    stream.set_timeouts(Some(TICK), None);
    if hear(&mut stream, &socket, &is_said).is_err() {
        let _ = socket.shutdown(Shutdown::Both);
    }
    // Does not panic; if it did, nothing more would be said.
    let _ = speaker.join();
    stream.close(DELIVERY_MAX);
}

/// What the socket's user says, until that closes it in whatever way.
fn speak(mut writer: StreamWriter, mut socket: &TcpStream) {
    let mut buffer = [0; BUFFER];
    let said = loop {
        match socket.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break writer.finish(),
            Ok(got) => match writer.write_all(buffer.get(..got).unwrap_or_default()) {
                Ok(()) => {}
                Err(error) => break Err(error),
            },
        }
    };
    if said.is_err() {
        let _ = socket.shutdown(Shutdown::Both);
    }
}

/// What the other end says.
fn hear(stream: &mut Stream, socket: &TcpStream, is_said: &AtomicBool) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    let mut until = None;
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return socket.shutdown(Shutdown::Write),
            Ok(got) => (&*socket).write_all(buffer.get(..got).unwrap_or_default())?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if is_said.load(Ordering::Relaxed) {
            let until = until.get_or_insert_with(|| Instant::now() + AFTER_LAST_WORD);
            if Instant::now() >= *until {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}
