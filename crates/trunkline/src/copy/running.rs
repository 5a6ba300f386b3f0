//! Copies that run on this host: found by other processes of the same user, and bounded.

use copy_net::control_socket;
use transfer::CopyControl;

use crate::Error;

pub use copy_net::control_socket::{ControlSocket, RunningCopy, Status};

/// The copies of this user that run on this host.
///
/// # Errors
/// When the folder of their sockets cannot be read.
pub fn running() -> Result<Vec<RunningCopy>, Error> {
    Ok(control_socket::running(&control_socket::folder()?)?)
}

/// Lets [`running`] find the copy that has `control`, under the words `what`, until dropped.
///
/// # Errors
/// When there is no place for its socket. The copy can go on all the same.
pub fn offer(what: &str, control: CopyControl) -> Result<ControlSocket, Error> {
    let folder = control_socket::folder()?;
    Ok(ControlSocket::offer(&folder, what, control)?)
}
