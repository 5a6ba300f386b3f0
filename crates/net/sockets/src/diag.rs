//! TCP connections of other processes, as the kernel tells of them: sock_diag(7).
//!
//! One question lists all connections of the calling thread's network namespace, each with the
//! number of its socket, by which [`crate::child::Child::sockets`] tells whose it is. What comes is
//! what `ss -tin` prints. No rights are needed for it.
//!
//! Layouts are those of Linux's `include/uapi/linux/inet_diag.h` and `sock_diag.h`. Left out:
//! listening sockets, and those that no process has any more.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use observe::TcpSample;
use units::{Bytes, Time};

use crate::tcp_info;

/// `SOCK_DIAG_BY_FAMILY`.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// Of `nlmsghdr`.
const HEADER: usize = 16;
/// Of `inet_diag_msg`, before the attributes.
const FIXED: usize = 72;
/// Bits by the number of a state: all but `TIME_WAIT` (6), `CLOSE` (7), `LISTEN` (10) and
/// `NEW_SYN_RECV` (12).
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_SKMEMINFO: u16 = 7;
/// The low bits of an attribute's type; the others are flags.
const ATTRIBUTE_TYPE: u16 = 0x3FFF;
/// Places in `sk_meminfo`, of four bytes each.
const SK_MEMINFO_RCVBUF: usize = 1;
const SK_MEMINFO_SNDBUF: usize = 3;

/// Room for one answer: the kernel fills no more than 32 KiB at once.
const BUFFER: usize = 64 << 10;

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The number of its socket, as `/proc/PID/fd` shows it.
    pub inode: u32,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// `SO_SNDBUF` as `getsockopt` would tell it.
    pub send_buffer: Option<Bytes>,
    /// The same of `SO_RCVBUF`.
    pub receive_buffer: Option<Bytes>,
    /// Its congestion control.
    pub congestion: Option<String>,
    /// Its `TCP_INFO`.
    pub info: TcpSample,
}

/// Asks about connections again and again.
#[derive(Debug)]
pub struct Diag {
    socket: OwnedFd,
}

impl Diag {
    /// Opens a way to ask about the calling thread's network namespace.
    ///
    /// # Errors
    /// When the kernel has no sock_diag.
    pub fn open() -> io::Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkSockDiag,
        )?;
        Ok(Diag { socket })
    }

    /// All connections there are, IPv4's and then IPv6's.
    ///
    /// # Errors
    /// When the kernel refuses, or answers something else.
    pub fn connections(&self, at: Time) -> io::Result<Vec<Connection>> {
        let mut found = Vec::new();
        for family in [libc::AF_INET as u8, libc::AF_INET6 as u8] {
            self.ask(family)?;
            match self.hear(at, &mut found) {
                // A kernel without IPv6 has no connections of it.
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
                heard => heard?,
            }
        }
        Ok(found)
    }

    fn ask(&self, family: u8) -> io::Result<()> {
        let socket = self.socket.as_raw_fd();
        send(socket, &request(family), MsgFlags::empty())?;
        Ok(())
    }

    /// Until the kernel has said that this was all.
    fn hear(&self, at: Time, found: &mut Vec<Connection>) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        loop {
            let length = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            let mut rest = buffer.get(..length).unwrap_or_default();
            if rest.is_empty() {
                return Err(cut_off());
            }
            while !rest.is_empty() {
                let (kind, body, further) = message(rest).ok_or_else(cut_off)?;
                rest = further;
                match kind {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => return Err(refusal(body)),
                    SOCK_DIAG_BY_FAMILY => found.extend(connection(body, at)),
                    _ => {}
                }
            }
        }
    }
}

fn cut_off() -> io::Error {
    io::Error::other("the kernel's answer on connections is cut off")
}

fn refusal(body: &[u8]) -> io::Error {
    match u32_at(body, 0) {
        Some(error) => io::Error::from_raw_os_error((error as i32).wrapping_neg()),
        None => cut_off(),
    }
}

/// `nlmsghdr` and `inet_diag_req_v2`: all connections of a family, with the three attributes.
fn request(family: u8) -> Vec<u8> {
    let extensions = [INET_DIAG_INFO, INET_DIAG_CONG, INET_DIAG_SKMEMINFO];
    let extensions = extensions.iter().map(|one| 1_u8 << (one - 1));
    let body = [family, libc::IPPROTO_TCP as u8, extensions.sum(), 0];
    // The last part is a socket's identity, which a question about all leaves open.
    let length = HEADER + body.len() + 4 + 48;
    let mut message = Vec::with_capacity(length);
    message.extend((length as u32).to_ne_bytes());
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message.extend(STATES.to_ne_bytes());
    message.extend([0; 48]);
    message
}

/// The kind and the body of the first message, and what follows it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32_at(bytes, 0)? as usize;
    let kind = u16_at(bytes, 4)?;
    let body = bytes.get(HEADER..length)?;
    Some((
        kind,
        body,
        bytes.get(length.next_multiple_of(4)..).unwrap_or_default(),
    ))
}

/// `None` of a socket that belongs to no process, or whose description is cut off.
fn connection(body: &[u8], at: Time) -> Option<Connection> {
    let inode = u32_at(body, 68).filter(|inode| *inode != 0)?;
    let family = *body.first()?;
    let mut found = Connection {
        inode,
        local: SocketAddr::new(address(body, family, 8)?, port(body, 4)?),
        remote: SocketAddr::new(address(body, family, 24)?, port(body, 6)?),
        send_buffer: None,
        receive_buffer: None,
        congestion: None,
        info: TcpSample {
            at,
            ..TcpSample::default()
        },
    };
    let mut rest = body.get(FIXED..)?;
    while let Some((kind, value, further)) = attribute(rest) {
        rest = further;
        match kind {
            INET_DIAG_INFO => found.info = tcp_info::parse(value, at),
            INET_DIAG_CONG => found.congestion = text(value),
            INET_DIAG_SKMEMINFO => {
                let size = |place: usize| u32_at(value, place * 4);
                let bytes = |size: u32| Bytes::new(size.into());
                found.send_buffer = size(SK_MEMINFO_SNDBUF).map(bytes);
                found.receive_buffer = size(SK_MEMINFO_RCVBUF).map(bytes);
            }
            _ => {}
        }
    }
    Some(found)
}

fn attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::from(u16_at(bytes, 0)?);
    let kind = u16_at(bytes, 2)? & ATTRIBUTE_TYPE;
    let value = bytes.get(4..length)?;
    Some((
        kind,
        value,
        bytes.get(length.next_multiple_of(4)..).unwrap_or_default(),
    ))
}

fn text(value: &[u8]) -> Option<String> {
    let name = value.split(|byte| *byte == 0).next()?;
    let name = std::str::from_utf8(name).ok()?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn address(body: &[u8], family: u8, offset: usize) -> Option<IpAddr> {
    let bytes = body.get(offset..offset + 16)?;
    match i32::from(family) {
        libc::AF_INET => Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(..4)?).ok()?).into()),
        libc::AF_INET6 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical()),
        _ => None,
    }
}

/// In network order.
fn port(body: &[u8], offset: usize) -> Option<u16> {
    let bytes = body.get(offset..offset + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let bytes = bytes.get(offset..offset.checked_add(2)?)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn both_ends_of_a_connection_are_found_with_what_tcp_info_says() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A host without IPv6 has no such address.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            near.write_all(&[7; 100_000]).unwrap();
            far.read_exact(&mut vec![0; 100_000]).unwrap();
            let all = Diag::open().unwrap().connections(Time::ZERO).unwrap();
            let found = |socket: &TcpStream| {
                let local = socket.local_addr().unwrap();
                let mut found = all.iter().filter(|one| one.local == local);
                found.next().unwrap().clone()
            };
            let (sender, receiver) = (found(&near), found(&far));
            assert_eq!(
                (sender.remote, receiver.remote),
                (receiver.local, sender.local)
            );
            let own = tcp_info::read(&near, Time::ZERO).unwrap();
            assert_eq!(sender.info.bytes_sent, Some(Bytes::new(100_000)));
            assert_eq!(sender.info.bytes_acked, own.bytes_acked);
            assert_eq!(receiver.info.bytes_received, Some(Bytes::new(100_000)));
            let told = |found: &Connection| (found.send_buffer, found.receive_buffer);
            let asked = |socket: &TcpStream| {
                let socket = socket2::SockRef::from(socket);
                let size = |size: usize| Some(Bytes::new(size as u64));
                (
                    size(socket.send_buffer_size().unwrap()),
                    size(socket.recv_buffer_size().unwrap()),
                )
            };
            assert_eq!(told(&sender), asked(&near));
            assert!(sender.congestion.is_some());
            let fd = std::fs::metadata(format!("/proc/self/fd/{}", near.as_raw_fd()));
            assert_eq!(u64::from(sender.inode), fd.unwrap().ino());
        }
    }

    #[test]
    fn ss_says_the_same() {
        if !testkit::has_program("ss") {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        near.write_all(&[7; 300_000]).unwrap();
        far.read_exact(&mut vec![0; 300_000]).unwrap();
        let local = near.local_addr().unwrap();
        let all = Diag::open().unwrap().connections(Time::ZERO).unwrap();
        let own = all.iter().find(|one| one.local == local).unwrap();
        let mut ss = std::process::Command::new("ss");
        let ss = ss.args(["-tinO", "sport", "=", &format!(":{}", local.port())]);
        let said = String::from_utf8(ss.output().unwrap().stdout).unwrap();
        let line = said
            .lines()
            .find(|line| line.contains(&local.to_string()))
            .unwrap();
        let value = |name: &str| {
            let mut words = line.split_whitespace();
            words
                .find_map(|word| word.strip_prefix(name))
                .unwrap()
                .to_owned()
        };
        let number = |bytes: Option<Bytes>| bytes.unwrap().get().to_string();
        assert_eq!(value("bytes_sent:"), number(own.info.bytes_sent));
        assert_eq!(value("bytes_acked:"), number(own.info.bytes_acked));
        assert_eq!(value("mss:"), number(own.info.mss));
        assert_eq!(value("cwnd:"), own.info.cwnd_segments.unwrap().to_string());
        let min: f64 = value("minrtt:").parse().unwrap();
        let own_min = own.info.rtt_min.unwrap().as_secs_f64() * 1e3;
        assert!((min - own_min).abs() < 1e-3, "{min} ms, {own_min} ms");
        assert!(
            line.split_whitespace()
                .any(|word| Some(word) == own.congestion.as_deref())
        );
    }

    #[test]
    fn nothing_that_is_cut_off_is_taken_for_a_connection() {
        let whole = [1_u8; FIXED + 8];
        for length in 0..FIXED {
            assert_eq!(connection(&whole[..length], Time::ZERO), None, "{length}");
        }
        assert_eq!(message(&[40, 0, 0, 0, 20, 0]), None);
        assert_eq!(attribute(&[3, 0, 2, 0]), None);
    }
}
