//! What a socket has for us: datagrams, and the ICMP messages that were sent about its packets.
//!
//! Linux keeps the latter in the error queue of a socket with `IP_RECVERR`: ip(7), ipv6(7). That
//! takes no rights, unlike a raw socket. A message names the router that sent it and holds what the
//! router quoted of the packet, behind its UDP header or from its TCP or ICMP header on.

use std::io::IoSliceMut;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use units::Span;

/// More than any answer or quotation that we read.
const ROOM: usize = 2_048;
/// How many errors that are pending on the socket itself are passed over: each was also queued.
const PENDING_MAX: usize = 64;

/// A datagram, or the quotation in an ICMP message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub bytes: Vec<u8>,
    /// How long ago the kernel took it from the device.
    pub age: Span,
    /// Set where this came from the error queue.
    pub notice: Option<Notice>,
}

/// An ICMP message about a packet of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    /// The hop limit was used up at this router.
    TimeExceeded { from: IpAddr },
    /// The far host says that the port is closed.
    NoSuchPort { from: IpAddr },
    /// It cannot or must not go on.
    Unreachable { from: IpAddr },
    /// It is too large for the next link; zero from old routers that do not tell.
    TooBig { mtu: u32 },
    /// Anything else.
    Other,
}

/// The next datagram, if there is one.
pub(super) fn datagram(socket: BorrowedFd<'_>) -> Option<Message> {
    receive(socket, MsgFlags::MSG_DONTWAIT)
}

/// The next message about one of our packets, if there is one.
pub(super) fn notice(socket: BorrowedFd<'_>) -> Option<Message> {
    receive(socket, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_ERRQUEUE)
}

fn receive(socket: BorrowedFd<'_>, flags: MsgFlags) -> Option<Message> {
    for _ in 0..PENDING_MAX {
        match receive_once(socket, flags) {
            Ok(message) => return Some(message),
            // The latter: what was written to a socket that is not connected any more.
            Err(Errno::EAGAIN | Errno::ENOTCONN) => return None,
            // A datagram socket first tells of the last ICMP message; the queue has the whole of
            // it.
            Err(_) => {}
        }
    }
    None
}

fn receive_once(socket: BorrowedFd<'_>, flags: MsgFlags) -> Result<Message, Errno> {
    let mut room = [0; ROOM];
    // The longest: an extended error with an IPv6 address behind it, and a time stamp.
    let mut control = nix::cmsg_space!(libc::sock_extended_err, libc::sockaddr_in6, libc::timespec);
    let (length, controls) = {
        let mut slices = [IoSliceMut::new(&mut room)];
        let got = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut control), flags)?;
        // Control messages that did not fit cannot be read in part.
        let controls: Vec<_> = got.cmsgs().map(Iterator::collect).unwrap_or_default();
        (got.bytes, controls)
    };
    let stamp = controls.iter().find_map(stamp_of);
    Ok(Message {
        bytes: room.get(..length).unwrap_or_default().to_vec(),
        age: stamp.map_or(Span::ZERO, age),
        notice: controls.iter().find_map(notice_of),
    })
}

fn stamp_of(control: &ControlMessageOwned) -> Option<TimeSpec> {
    match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(*stamp),
        _ => None,
    }
}

/// Both ends of the age are read from the wall clock within moments, so that its steps do not
/// matter.
fn age(stamp: TimeSpec) -> Span {
    let Ok(now) = clock_gettime(ClockId::CLOCK_REALTIME) else {
        return Span::ZERO;
    };
    let nanos =
        |spec: TimeSpec| i128::from(spec.tv_sec()) * 1_000_000_000 + i128::from(spec.tv_nsec());
    Span::from_nanos(u64::try_from(nanos(now) - nanos(stamp)).unwrap_or(0))
}

fn notice_of(control: &ControlMessageOwned) -> Option<Notice> {
    match control {
        ControlMessageOwned::Ipv4RecvErr(error, from) => {
            let from = from.filter(|from| i32::from(from.sin_family) == libc::AF_INET);
            let from = from.map(|from| IpAddr::from(from.sin_addr.s_addr.to_ne_bytes()));
            Some(read(error, from))
        }
        ControlMessageOwned::Ipv6RecvErr(error, from) => {
            let from = from.filter(|from| i32::from(from.sin6_family) == libc::AF_INET6);
            let from = from.map(|from| IpAddr::from(from.sin6_addr.s6_addr));
            Some(read(error, from))
        }
        _ => None,
    }
}

/// Types and codes: RFC 792 and RFC 1191 for ICMP, RFC 4443 for ICMPv6.
fn read(error: &libc::sock_extended_err, from: Option<IpAddr>) -> Notice {
    let mtu = error.ee_info;
    let Some(from) = from else {
        // Of this host itself, without an address.
        return match error.ee_errno == libc::EMSGSIZE as u32 {
            true => Notice::TooBig { mtu },
            false => Notice::Other,
        };
    };
    match (error.ee_origin, error.ee_type, error.ee_code) {
        (libc::SO_EE_ORIGIN_ICMP, 11, 0) | (libc::SO_EE_ORIGIN_ICMP6, 3, 0) => {
            Notice::TimeExceeded { from }
        }
        (libc::SO_EE_ORIGIN_ICMP, 3, 4) | (libc::SO_EE_ORIGIN_ICMP6, 2, _) => {
            Notice::TooBig { mtu }
        }
        (libc::SO_EE_ORIGIN_ICMP, 3, 2 | 3) | (libc::SO_EE_ORIGIN_ICMP6, 1, 4) => {
            Notice::NoSuchPort { from }
        }
        (libc::SO_EE_ORIGIN_ICMP, 3, _) | (libc::SO_EE_ORIGIN_ICMP6, 1, _) => {
            Notice::Unreachable { from }
        }
        _ => Notice::Other,
    }
}

#[cfg(test)]
mod tests;
