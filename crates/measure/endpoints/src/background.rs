//! Streams without a protocol: the traffic of others on a path.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use copy_net::Channel;
use measure_protocol::BLOCK_DEFAULT;
use socket2::Domain;
use thiserror::Error;

use crate::stream::{Job, StreamThread, Work, close_all};
use sockets::options::{OptionError, StreamOptions};

/// How long one stream may take to connect: the longest path there is, several times over.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// Why the traffic of others could not be started.
#[derive(Debug, Error)]
pub enum BackgroundError {
    /// An option was refused by this host.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A connection could not be made.
    #[error("a background stream could not be connected")]
    Connect(#[from] io::Error),
}

impl BackgroundError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        match self {
            BackgroundError::Option(error) => error.hint(),
            BackgroundError::Connect(_) => None,
        }
    }
}

/// Streams that send as fast as they may until dropped, both ends in this process.
#[derive(Debug)]
pub struct Background {
    streams: Vec<StreamThread>,
}

impl Background {
    /// Connects from the calling thread's host to `listener` and starts all streams.
    ///
    /// # Errors
    /// When a connection or an option fails.
    pub fn start(
        listener: &TcpListener,
        streams: u16,
        options: &StreamOptions,
    ) -> Result<Self, BackgroundError> {
        let work = Work::new(BLOCK_DEFAULT, None);
        let mut background = Background {
            streams: Vec::new(),
        };
        for _ in 0..streams {
            let (sender, receiver) = connect(listener, options)?;
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
    use units::Bytes;

    #[test]
    fn data_flows_until_it_is_dropped() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let options = StreamOptions {
            window: Some(Bytes::from_kib(64)),
            congestion: Some("reno".to_owned()),
            ..StreamOptions::default()
        };
        let background = Background::start(&listener, 2, &options).unwrap();
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
