//! Where packets leave this host.

use std::net::SocketAddr;

use socket2::SockRef;
use units::Source;

use super::{OptionError, set_option};

/// Binds a socket to the address and the device, where there are any.
///
/// # Errors
/// When this host does not have them.
pub(crate) fn leave_from(socket: &SockRef<'_>, from: &Source) -> Result<(), OptionError> {
    let device = from.device.as_ref().map(|name| name.as_bytes());
    let bound = match device {
        Some(_) => socket.bind_device(device),
        None => Ok(()),
    };
    let bound = bound.and_then(|()| match from.address {
        Some(address) => {
            wait_with_port(socket);
            socket.bind(&SocketAddr::new(address, 0).into())
        }
        None => Ok(()),
    });
    bound.map_err(|source| OptionError::Source {
        from: from.clone(),
        source,
    })
}

/// The port is chosen once the far end is known, so that many connections may leave from one
/// address. Where the kernel does not know that, the port is chosen now.
fn wait_with_port(socket: &SockRef<'_>) {
    let _ = set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1);
}
