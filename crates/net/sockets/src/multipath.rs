//! Multipath TCP (RFC 8684) as Linux has it: what all subflows of a connection show together.
//!
//! Structures are those of `include/uapi/linux/mptcp.h`, read by offset: they only grow at their
//! ends. The kernel answers these questions of connections that are multipath TCP at both ends, and
//! no others.

mod together;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};

use observe::{MultipathConnection, TcpSample};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use units::{Bytes, Time};

use crate::options::{get_bytes, is_multipath};
use crate::tcp_info::{self, long, parse, word};
use together::{Whole, together};

const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_TCPINFO: libc::c_int = 2;
const MPTCP_SUBFLOW_ADDRS: libc::c_int = 3;

/// Bit of `mptcpi_flags`: it is plain TCP by now.
const FALLBACK: u32 = 1;
/// Room for `struct mptcp_info`: 6.18 fills 96 bytes.
const INFO_MAX: usize = 256;
/// `struct mptcp_subflow_data`, which stands before what is told of each subflow.
const HEADER: usize = 16;
/// Subflows that are read of a connection: the kernel's own path manager makes at most nine.
const SUBFLOWS_MAX: usize = 16;
/// `struct mptcp_subflow_addrs`: two addresses of 128 bytes.
const ADDRESSES: usize = 256;

/// Reads the state of a connection: of multipath TCP that of all its subflows together, with what
/// both ends count of the connection itself; otherwise as [`tcp_info::read`].
///
/// # Errors
/// When the socket is no longer a TCP connection.
pub fn sample(socket: &TcpStream, at: Time) -> io::Result<TcpSample> {
    let known = SockRef::from(socket);
    let Some(whole) = whole(&known) else {
        return tcp_info::read(socket, at);
    };
    let answer = of_subflows(&known, MPTCP_TCPINFO, tcp_info::BUFFER)?;
    let parts: Vec<TcpSample> = elements(&answer).map(|info| parse(info, at)).collect();
    Ok(together(at, &parts, &whole))
}

/// What a connection goes over that this end asked to be of multipath TCP; `None` of others, and
/// where the kernel tells nothing of it, as Linux before 6.5.
pub fn read(socket: &TcpStream) -> Option<MultipathConnection> {
    let socket = SockRef::from(socket);
    if !is_multipath(&socket) {
        return None;
    }
    if whole(&socket).is_none() {
        return is_told().then(|| MultipathConnection {
            is_plain: true,
            ..MultipathConnection::default()
        });
    }
    let addresses = of_subflows(&socket, MPTCP_SUBFLOW_ADDRS, ADDRESSES).ok()?;
    let infos = of_subflows(&socket, MPTCP_TCPINFO, tcp_info::BUFFER).ok()?;
    Some(MultipathConnection {
        is_plain: false,
        subflows: subflows(&addresses, &infos),
    })
}

/// Whether the kernel tells what there is of connections: of plain ones it says the same as an
/// older kernel of all. A new socket is not plain yet.
fn is_told() -> bool {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP));
    socket.is_ok_and(|socket| whole(&SockRef::from(&socket)).is_some())
}

/// What there is of the connection itself; `None` of plain TCP.
fn whole(socket: &SockRef<'_>) -> Option<Whole> {
    let mut info = [0; INFO_MAX];
    let length = get_bytes(socket, SOL_MPTCP, MPTCP_INFO, &mut info).ok()?;
    parse_whole(info.get(..length)?)
}

/// `struct mptcp_info`.
fn parse_whole(info: &[u8]) -> Option<Whole> {
    let is_plain = word(info, 8)? & FALLBACK != 0;
    let (written, acknowledged) = (long(info, 16)?, long(info, 24)?);
    let bytes = |offset| long(info, offset).map(Bytes::new);
    (!is_plain).then(|| Whole {
        outstanding: Bytes::new(written.wrapping_sub(acknowledged)),
        sent_again: bytes(48),
        sent: bytes(56),
        received: bytes(64),
        acked: bytes(72),
    })
}

/// An answer with an element for each subflow, which is to have up to `size` bytes.
fn of_subflows(socket: &SockRef<'_>, name: libc::c_int, size: usize) -> io::Result<Vec<u8>> {
    let mut answer = vec![0; HEADER + SUBFLOWS_MAX * size];
    let asked = [(0, HEADER), (12, size)];
    for (offset, value) in asked {
        let value = u32::try_from(value).unwrap_or(u32::MAX).to_ne_bytes();
        if let Some(field) = answer.get_mut(offset..offset + value.len()) {
            field.copy_from_slice(&value);
        }
    }
    let length = get_bytes(socket, SOL_MPTCP, name, &mut answer)?;
    answer.truncate(length);
    Ok(answer)
}

/// Behind the header of an answer, as long as it says that each is.
fn elements(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    let number = |offset| word(answer, offset).map_or(0, |number| number as usize);
    let (count, size) = (number(4), number(12));
    let elements = answer.get(HEADER..).unwrap_or_default();
    elements.chunks_exact(size.max(1)).take(count)
}

/// Both answers list the subflows in the same order; one that came between them is left for later.
fn subflows(addresses: &[u8], infos: &[u8]) -> BTreeMap<(SocketAddr, SocketAddr), Bytes> {
    let both = elements(addresses).zip(elements(infos));
    let subflow = |(ends, info): (&[u8], &[u8])| {
        let local = address(ends.get(..ADDRESSES / 2)?)?;
        let far = address(ends.get(ADDRESSES / 2..)?)?;
        let info = parse(info, Time::ZERO);
        let both_ways = [info.bytes_acked, info.bytes_received];
        let carried: Bytes = both_ways.into_iter().flatten().sum();
        Some(((local, far), carried))
    };
    both.filter_map(subflow).collect()
}

/// `struct sockaddr_in` or `sockaddr_in6`.
fn address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip = match libc::c_int::from(family) {
        libc::AF_INET => IpAddr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?),
        libc::AF_INET6 => IpAddr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?),
        _ => return None,
    };
    Some(SocketAddr::new(ip.to_canonical(), port))
}

#[cfg(test)]
mod tests;
