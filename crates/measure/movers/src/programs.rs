//! What is known of each program, a file each.

use crate::{Client, Mover};

impl Mover {
    /// What is known of it.
    pub fn client(self) -> &'static dyn Client {
        match self {
            Mover::Iperf2 => &crate::iperf2::Iperf2,
            Mover::GridFtp => &crate::gridftp::GridFtp,
            Mover::Xrootd => &crate::xrootd::Xrootd,
            Mover::Rclone => &crate::rclone::Rclone,
            Mover::Nuttcp => &crate::nuttcp::Nuttcp,
            Mover::Scp => &crate::scp::Scp,
        }
    }
}
