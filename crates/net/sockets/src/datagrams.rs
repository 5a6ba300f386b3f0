//! Datagrams in numbers: many in one system call, the kernel's stamps, and what it dropped.
//!
//! Segmentation offload (`UDP_SEGMENT`, `UDP_GRO`; Linux 4.18 and 5.0) hands over a row of equal
//! datagrams as one. Where the kernel or a device refuses that, they go one by one.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, recv, recvmsg, sendmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use socket2::SockRef;

use crate::options::set_option;

/// Datagrams in one call at most, as the kernel has it (`UDP_MAX_SEGMENTS` of its first versions).
pub const SEGMENTS_MAX: usize = 64;
/// Bytes in one call at most: what IPv4 has room for.
pub const BYTES_MAX: usize = 65_507;
/// Room for 30 ms of 1 Gbit/s at either end, as far as the host grants it.
const BUFFER: usize = 4 << 20;
/// The kernel's count of drops within `SO_MEMINFO` (`SK_MEMINFO_DROPS`), and how many counts there
/// are.
const DROPS: usize = 8;
const MEMORY_COUNTS: usize = 9;
/// Errors of the network that are read at once.
const ERRORS_MAX: usize = 64;

/// What became of datagrams that were handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handed {
    /// All are on their way.
    Sent,
    /// A queue of this host was full: none of them has left.
    Refused,
    /// Nothing was sent: there is no room, or the network complained of earlier ones.
    Not,
}

/// Sends rows of equal datagrams over a connected socket.
#[derive(Debug)]
pub struct DatagramSender {
    socket: UdpSocket,
    offload: bool,
}

impl DatagramSender {
    /// Makes room for bursts; who is not root gets what the host grants.
    ///
    /// # Errors
    /// When the kernel refuses an option.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let ends = SockRef::from(&socket);
        ends.set_send_buffer_size(BUFFER)?;
        force(setsockopt(&socket, sockopt::SndBufForce, &BUFFER))?;
        // Without it the kernel keeps to itself that a queue was full.
        let (level, name) = match socket.local_addr()? {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVERR),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
        };
        set_option(&ends, level, name, &1)?;
        Ok(DatagramSender {
            socket,
            offload: true,
        })
    }

    /// The most datagrams of `size` that one call takes.
    pub fn row_max(&self, size: usize) -> usize {
        match self.offload {
            true => (BYTES_MAX / size.max(1)).clamp(1, SEGMENTS_MAX),
            false => 1,
        }
    }

    /// Hands over a row of datagrams of `size`, no more than [`Self::row_max`].
    ///
    /// # Errors
    /// When they can never be sent so.
    pub fn send(&mut self, row: &[u8], size: usize) -> io::Result<Handed> {
        let segment = u16::try_from(size).unwrap_or(u16::MAX);
        let offload = [ControlMessage::UdpGsoSegments(&segment)];
        let control: &[_] = match row.len() > size {
            true => &offload,
            false => &[],
        };
        let parts = [IoSlice::new(row)];
        let flags = MsgFlags::empty();
        match sendmsg::<()>(self.socket.as_raw_fd(), &parts, control, flags, None) {
            Ok(_) => Ok(Handed::Sent),
            Err(Errno::ENOBUFS) => Ok(Handed::Refused),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOMEM) => Ok(Handed::Not),
            Err(Errno::EINVAL | Errno::EIO | Errno::EMSGSIZE | Errno::EOPNOTSUPP)
                if row.len() > size =>
            {
                self.offload = false;
                Ok(Handed::Not)
            }
            Err(error @ (Errno::EMSGSIZE | Errno::EINVAL | Errno::EPERM)) => Err(error.into()),
            Err(_) => {
                self.forget_errors();
                Ok(Handed::Not)
            }
        }
    }

    /// Reads what the network has complained of, which nothing is made of.
    fn forget_errors(&self) {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let read = || recv(self.socket.as_raw_fd(), &mut [0; 64], flags);
        let _ = (0..ERRORS_MAX).take_while(|_| read().is_ok()).count();
    }
}

/// Binds a socket for datagrams of any sender, with room for bursts as far as the host grants it.
///
/// # Errors
/// When the address is taken or not of this host.
pub fn bind_with_room(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    SockRef::from(&socket).set_recv_buffer_size(BUFFER)?;
    force(setsockopt(&socket, sockopt::RcvBufForce, &BUFFER))?;
    Ok(socket)
}

/// Receives datagrams over a connected socket, many in one call where they came as one.
#[derive(Debug)]
pub struct DatagramReceiver {
    socket: UdpSocket,
    buffer: Vec<u8>,
    control: Vec<u8>,
    /// The kernel's count of drops when it was last read.
    dropped: u32,
}

/// Datagrams that came together.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    bytes: &'a [u8],
    size: usize,
    /// When the kernel got them, in nanoseconds of the wall clock; `None` where it does not tell.
    pub stamp: Option<i128>,
    /// Datagrams, or rows of them, that the kernel had no room for since the row before.
    pub dropped: u64,
}

impl<'a> Row<'a> {
    /// Each of them.
    pub fn datagrams(&self) -> impl Iterator<Item = &'a [u8]> {
        // One without data is one, too.
        let none = self.bytes.is_empty().then_some(self.bytes);
        none.into_iter().chain(self.bytes.chunks(self.size.max(1)))
    }
}

impl DatagramReceiver {
    /// Asks for stamps and for rows.
    ///
    /// # Errors
    /// When the kernel refuses an option.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let ends = SockRef::from(&socket);
        ends.set_recv_buffer_size(BUFFER)?;
        force(setsockopt(&socket, sockopt::RcvBufForce, &BUFFER))?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        // Kernels before 5.0 have no rows.
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        Ok(DatagramReceiver {
            dropped: drops(&ends).unwrap_or(0),
            socket,
            buffer: vec![0; 1 << 16],
            control: cmsg_space!(TimeSpec, i32, u32),
        })
    }

    /// What comes within the time limit of the socket; `None` where nothing does, or the network
    /// complains.
    ///
    /// # Errors
    /// When the socket is of no use.
    pub fn receive(&mut self) -> io::Result<Option<Row<'_>>> {
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let flags = MsgFlags::empty();
        let control = Some(self.control.as_mut_slice());
        let got = match recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, control, flags) {
            Ok(got) => got,
            Err(Errno::EBADF | Errno::ENOTSOCK | Errno::EFAULT) => {
                return Err(ErrorKind::InvalidInput.into());
            }
            Err(_) => return Ok(None),
        };
        let (length, mut size, mut stamp, mut dropped) = (got.bytes, got.bytes, None, None);
        for message in got.cmsgs()? {
            match message {
                ControlMessageOwned::UdpGroSegments(each) => {
                    size = usize::try_from(each).unwrap_or(length);
                }
                ControlMessageOwned::ScmTimestampns(at) => stamp = Some(nanos(at)),
                ControlMessageOwned::RxqOvfl(count) => dropped = Some(count),
                _ => {}
            }
        }
        let before = self.dropped;
        self.dropped = dropped.unwrap_or(before);
        Ok(Some(Row {
            bytes: self.buffer.get(..length).unwrap_or_default(),
            size,
            stamp,
            dropped: self.dropped.wrapping_sub(before).into(),
        }))
    }

    /// What the kernel had no room for since the last row.
    pub fn dropped_last(&self) -> u64 {
        let now = drops(&SockRef::from(&self.socket));
        now.map_or(0, |now| now.wrapping_sub(self.dropped).into())
    }

    /// Sends one datagram back.
    ///
    /// # Errors
    /// Those of the system.
    pub fn answer(&self, datagram: &[u8]) -> io::Result<usize> {
        self.socket.send(datagram)
    }
}

/// Buffers beyond the host's bound are for root.
fn force(outcome: Result<(), Errno>) -> io::Result<()> {
    match outcome {
        Ok(()) | Err(Errno::EPERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn nanos(at: TimeSpec) -> i128 {
    i128::from(at.tv_sec()) * 1_000_000_000 + i128::from(at.tv_nsec())
}

/// How many datagrams, or rows of them, the kernel has dropped for a socket.
#[expect(unsafe_code, reason = "no safe crate reads SO_MEMINFO")]
fn drops(socket: &SockRef<'_>) -> Option<u32> {
    use std::os::fd::AsFd;
    let mut counts = [0_u32; MEMORY_COUNTS];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: the descriptor is open while `socket` is borrowed; the kernel writes at most `length`
    // bytes to `counts`, which is as long.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let read = length as usize / size_of::<u32>();
    (result == 0 && read > DROPS).then(|| counts[DROPS])
}

#[cfg(test)]
mod tests;
