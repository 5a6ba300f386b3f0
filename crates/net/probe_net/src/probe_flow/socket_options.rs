//! Options that all probing sockets share.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{setsockopt, sockopt};
use socket2::{SockRef, Socket};

use sockets::options::set_option;

/// Asks the kernel for ICMP messages about packets of `socket`, and for the time at which they
/// came.
pub(super) fn listen_to_routers(socket: &impl AsFd, far: IpAddr) -> io::Result<()> {
    match far {
        IpAddr::V4(_) => setsockopt(socket, sockopt::Ipv4RecvErr, &true)?,
        IpAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvErr, &true)?,
    }
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    Ok(())
}

/// Sets how many hops the next packets may make.
pub(super) fn set_hops(socket: &impl AsFd, far: IpAddr, hops: u8) -> io::Result<()> {
    let socket = SockRef::from(socket);
    match far {
        IpAddr::V4(_) => socket.set_ttl_v4(u32::from(hops)),
        IpAddr::V6(_) => socket.set_unicast_hops_v6(u32::from(hops)),
    }
}

/// Packets of `socket` are not fragmented, and the kernel sends them of any size up to what the
/// interface takes: ip(7), `IP_PMTUDISC_PROBE`.
pub(super) fn send_whole(socket: &impl AsFd, far: IpAddr) -> io::Result<()> {
    let (level, name, value) = match far {
        IpAddr::V4(_) => (
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            libc::IP_PMTUDISC_PROBE,
        ),
        IpAddr::V6(_) => (
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU_DISCOVER,
            libc::IPV6_PMTUDISC_PROBE,
        ),
    };
    set_option(&SockRef::from(socket), level, name, &value)
}

/// The kernel's belief about the path of a connected socket.
pub(super) fn path_mtu(socket: BorrowedFd<'_>, far: IpAddr) -> Option<u32> {
    let (level, name) = match far {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    #[expect(unsafe_code, reason = "no safe crate reads IPV6_MTU")]
    // SAFETY: the descriptor is open while `socket` is borrowed; the kernel writes at most `length`
    // bytes to `value`, which is an integer of exactly that size.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_mut(&mut value).cast(),
            &mut length,
        )
    };
    u32::try_from(value).ok().filter(|_| result == 0)
}

/// The port that the kernel gave.
pub(super) fn port(socket: &Socket) -> io::Result<u16> {
    let address = socket.local_addr()?.as_socket();
    Ok(address.map_or(0, |address| address.port()))
}
