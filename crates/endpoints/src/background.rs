//! Streams without a protocol: the traffic of others on a path.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use copy_net::Channel;
use socket2::Domain;
use thiserror::Error;
use units::Bytes;
use wire::BLOCK_DEFAULT;

use crate::stream::{Job, StreamThread, Work, close_all};
use sockets::BufferLimit;
use sockets::options::{OptionError, StreamOptions};

/// How long one stream may take to connect: the longest path there is, several times over.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// Why background streams could not be started.
#[derive(Debug, Error)]
pub enum BackgroundError {
    /// An option was refused by this host.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A connection could not be made.
    #[error("a background stream could not be connected")]
    Connect(#[from] io::Error),
}

/// Streams that send as fast as they may until dropped, both ends in this process.
#[derive(Debug)]
pub struct Background {
    streams: Vec<StreamThread>,
}

/// What all streams of a background are like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundSpec {
    /// How many.
    pub streams: u16,
    /// The socket buffers of each.
    pub window: Bytes,
    /// Whether the window may pass the host's bounds.
    pub limit: BufferLimit,
    /// Congestion control by its kernel name.
    pub congestion: String,
}

impl Background {
    /// Opens the receiving end on the calling thread's host.
    ///
    /// # Errors
    /// When the address is not free.
    pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
        TcpListener::bind(address)
    }

    /// Connects from the calling thread's host to `listener` and starts all streams.
    ///
    /// # Errors
    /// When a connection or an option fails.
    pub fn start(listener: &TcpListener, spec: &BackgroundSpec) -> Result<Self, BackgroundError> {
        let options = StreamOptions {
            window: Some(spec.window),
            limit: spec.limit,
            congestion: Some(spec.congestion.clone()),
            ..StreamOptions::default()
        };
        let work = Work::new(BLOCK_DEFAULT, None);
        let mut background = Background {
            streams: Vec::new(),
        };
        for _ in 0..spec.streams {
            let (sender, receiver) = connect(listener, &options)?;
            for (socket, job) in [(sender, Job::Send), (receiver, Job::Receive)] {
                let stream = StreamThread::start(Channel::plain(socket)?, job, &work)?;
                background.streams.push(stream);
            }
        }
        Ok(background)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        close_all(&mut self.streams);
    }
}

fn connect(
    listener: &TcpListener,
    options: &StreamOptions,
) -> Result<(TcpStream, TcpStream), BackgroundError> {
    let address = listener.local_addr()?;
    let socket = options.socket(Domain::for_address(address))?;
    socket.connect_timeout(&address.into(), CONNECT_MAX)?;
    let (accepted, _) = listener.accept()?;
    options.apply_to_accepted(&accepted)?;
    Ok((socket.into(), accepted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn data_flows_until_it_is_dropped() {
        let listener = Background::listen(([127, 0, 0, 1], 0).into()).unwrap();
        let spec = BackgroundSpec {
            streams: 2,
            window: Bytes::from_kib(64),
            limit: BufferLimit::Host,
            congestion: "reno".to_owned(),
        };
        let background = Background::start(&listener, &spec).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        let all_moved = || {
            background
                .streams
                .iter()
                .all(|stream| stream.moved() > Bytes::ZERO)
        };
        while !all_moved() {
            assert!(Instant::now() < deadline, "nothing flows: {background:?}");
            std::thread::yield_now();
        }
    }
}
