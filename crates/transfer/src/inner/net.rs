//! Control and streams over bare TCP.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use wire::copying::Message;

use crate::session::Happening;

const MESSAGE_MAX: usize = 64 << 20;

/// A data connection.
#[derive(Debug)]
pub(crate) struct Channel(TcpStream);

impl Channel {
    /// For another thread that has to end it.
    pub(crate) fn cutter(&self) -> io::Result<Cutter> {
        self.0.try_clone().map(Cutter)
    }

    /// Says that nothing more comes and waits until the peer has closed too.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.0.flush()?;
        self.0.shutdown(Shutdown::Write)
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends a channel from another thread.
#[derive(Debug)]
pub(crate) struct Cutter(TcpStream);

impl Cutter {
    pub(crate) fn cut(&self) {
        // Fails where it is closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Where messages to the peer are put.
#[derive(Debug, Clone)]
pub(crate) struct Outbox(Sender<Message>);

impl Outbox {
    pub(crate) fn send(&self, message: Message) {
        // The thread that writes is gone when the connection is.
        let _ = self.0.send(message);
    }
}

/// Starts the threads of a control connection.
pub(crate) fn converse(socket: TcpStream, report: Sender<Happening>) -> io::Result<Outbox> {
    let (outbox, messages) = mpsc::channel::<Message>();
    let mut writer = socket.try_clone()?;
    thread::spawn(move || {
        while let Ok(message) = messages.recv() {
            let Ok(bytes) = postcard::to_stdvec(&message) else {
                return;
            };
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
            if writer
                .write_all(&length)
                .and_then(|()| writer.write_all(&bytes))
                .is_err()
            {
                return;
            }
        }
        let _ = writer.shutdown(Shutdown::Write);
    });
    let mut reader = socket;
    thread::spawn(move || {
        let why = loop {
            match read_message(&mut reader) {
                Ok(message) => {
                    if report.send(Happening::Message(message)).is_err() {
                        return;
                    }
                }
                Err(error) => break error.to_string(),
            }
        };
        let _ = report.send(Happening::Gone(why));
    });
    Ok(Outbox(outbox))
}

fn read_message(reader: &mut TcpStream) -> io::Result<Message> {
    let mut length = [0; 4];
    reader.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MESSAGE_MAX {
        return Err(io::Error::other("message too long"));
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// Makes connections to the far end.
#[derive(Debug, Clone)]
pub(crate) struct Dialer(pub SocketAddr);

impl Dialer {
    pub(crate) fn control(&self) -> io::Result<TcpStream> {
        let mut socket = TcpStream::connect_timeout(&self.0, Duration::from_secs(10))?;
        socket.set_nodelay(true)?;
        socket.write_all(b"C")?;
        Ok(socket)
    }

    pub(crate) fn stream(&self, session: u64, number: u32) -> io::Result<Channel> {
        let mut socket = TcpStream::connect_timeout(&self.0, Duration::from_secs(10))?;
        let mut greeting = vec![b'S'];
        greeting.extend(session.to_be_bytes());
        greeting.extend(number.to_be_bytes());
        socket.write_all(&greeting)?;
        Ok(Channel(socket))
    }
}

/// What came in.
pub(crate) enum Came {
    Control(TcpStream),
    Stream(u64, u32, Channel),
}

/// Takes the next connection.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<Came> {
    let (mut socket, _) = listener.accept()?;
    let mut kind = [0];
    socket.read_exact(&mut kind)?;
    if kind == *b"C" {
        socket.set_nodelay(true)?;
        return Ok(Came::Control(socket));
    }
    let mut session = [0; 8];
    let mut number = [0; 4];
    socket.read_exact(&mut session)?;
    socket.read_exact(&mut number)?;
    let channel = Channel(socket);
    Ok(Came::Stream(
        u64::from_be_bytes(session),
        u32::from_be_bytes(number),
        channel,
    ))
}
