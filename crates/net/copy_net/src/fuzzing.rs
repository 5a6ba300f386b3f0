//! Entry points for fuzz targets (feature `fuzzing`): code that reads others' bytes behind sockets.

use std::net::TcpStream;

use crate::Channel;

/// A stream of a copy in the clear over a connection of any kind.
pub fn plain_channel(socket: TcpStream) -> Channel {
    Channel::new(std::sync::Arc::new(socket), None)
}
