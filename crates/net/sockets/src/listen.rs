//! Listening sockets.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};
use units::{Family, Source};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 512;

/// Where a server listens; what is `None` is all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAt {
    /// Only this family.
    pub family: Option<Family>,
    /// Only this address, or what comes in by this device.
    pub source: Source,
    /// The port; 0 takes a free one.
    pub port: u16,
}

/// Everywhere at a port.
impl From<u16> for ListenAt {
    fn from(port: u16) -> Self {
        ListenAt {
            family: None,
            source: Source::default(),
            port,
        }
    }
}

/// At one address; the unspecified one of IPv6 serves IPv4 as well.
impl From<SocketAddr> for ListenAt {
    fn from(address: SocketAddr) -> Self {
        let ip = Some(address.ip()).filter(|ip| *ip != IpAddr::from(Ipv6Addr::UNSPECIFIED));
        ListenAt {
            source: Source {
                address: ip,
                device: None,
            },
            ..ListenAt::from(address.port())
        }
    }
}

impl fmt::Display for ListenAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address())?;
        match &self.source.device {
            Some(device) => write!(f, " of {device}"),
            None => Ok(()),
        }
    }
}

impl ListenAt {
    /// The address that is bound; the unspecified one of IPv6 stands for both families.
    pub fn address(&self) -> SocketAddr {
        let any: IpAddr = match self.family {
            Some(Family::V4) => Ipv4Addr::UNSPECIFIED.into(),
            Some(Family::V6) | None => Ipv6Addr::UNSPECIFIED.into(),
        };
        SocketAddr::new(self.source.address.unwrap_or(any), self.port)
    }

    /// The same at another port.
    #[must_use]
    pub fn at_port(self, port: u16) -> Self {
        ListenAt { port, ..self }
    }

    /// A non-blocking listening socket, of multipath TCP where this host has it: connections of
    /// plain TCP are accepted as such. Without a family it serves IPv4 alone where this host has no
    /// IPv6; where that is missing only for multipath TCP, it is of plain TCP for both. One of a
    /// device is always of plain TCP.
    ///
    /// # Errors
    /// When the address or device does not exist here, or its port is taken.
    pub fn tcp(&self) -> io::Result<TcpListener> {
        let reused = |socket: &Socket| socket.set_reuse_address(true);
        // Before Linux 5.13 the device of a listener of multipath TCP bounds nothing.
        let protocols: &[Protocol] = match self.source.device {
            None => &[Protocol::MPTCP, Protocol::TCP],
            Some(_) => &[Protocol::TCP],
        };
        let socket = self.socket(Type::STREAM, protocols, reused)?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    }

    /// A socket for datagrams, which blocks.
    ///
    /// # Errors
    /// As [`ListenAt::tcp`].
    pub fn udp(&self) -> io::Result<UdpSocket> {
        let socket = self.socket(Type::DGRAM, &[Protocol::UDP], |_| Ok(()))?;
        Ok(socket.into())
    }

    /// * `protocols`: the first one that this host has is taken.
    fn socket(
        &self,
        kind: Type,
        protocols: &[Protocol],
        prepare: impl Fn(&Socket) -> io::Result<()>,
    ) -> io::Result<Socket> {
        let bound_at = |address| {
            let mut bound = Err(io::ErrorKind::Unsupported.into());
            for protocol in protocols {
                bound = self.bound(address, kind, *protocol, &prepare);
                if bound.is_ok() {
                    break;
                }
            }
            bound
        };
        match bound_at(self.address()) {
            Err(error) if self.takes_any_family() && error.kind() != io::ErrorKind::AddrInUse => {
                bound_at(SocketAddr::from((Ipv4Addr::UNSPECIFIED, self.port)))
            }
            bound => bound,
        }
    }

    fn takes_any_family(&self) -> bool {
        self.family.is_none() && self.source.address.is_none()
    }

    fn bound(
        &self,
        address: SocketAddr,
        kind: Type,
        protocol: Protocol,
        prepare: impl Fn(&Socket) -> io::Result<()>,
    ) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
        if address.is_ipv6() {
            socket.set_only_v6(!self.takes_any_family())?;
        }
        if let Some(device) = &self.source.device {
            socket.bind_device(Some(device.as_bytes()))?;
        }
        prepare(&socket)?;
        socket.bind(&address.into())?;
        Ok(socket)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpStream, UdpSocket};

    use super::*;

    fn listening(family: Option<Family>, source: &str) -> (TcpListener, UdpSocket, u16) {
        let mut at = ListenAt::from(0);
        at.family = family;
        if !source.is_empty() {
            at.source = source.parse().unwrap();
        }
        let tcp = at.tcp().unwrap();
        let port = tcp.local_addr().unwrap().port();
        let udp = at.at_port(port).udp().unwrap();
        (tcp, udp, port)
    }

    fn answers(port: u16) -> [bool; 2] {
        ["127.0.0.1", "::1"].map(|ip| {
            let ip: IpAddr = ip.parse().unwrap();
            TcpStream::connect((ip, port)).is_ok()
        })
    }

    #[test]
    fn families_addresses_and_devices_bound_who_is_answered() {
        if Socket::new(Domain::IPV6, Type::STREAM, None).is_err() {
            testkit::skip("this host has no IPv6");
            return;
        }
        let cases = [
            (None, "", [true, true]),
            (Some(Family::V4), "", [true, false]),
            (Some(Family::V6), "", [false, true]),
            (None, "127.0.0.1", [true, false]),
            (None, "::1", [false, true]),
            (None, "%lo", [true, true]),
            (Some(Family::V4), "127.0.0.1%lo", [true, false]),
        ];
        for (family, source, expected) in cases {
            let (_tcp, _udp, port) = listening(family, source);
            assert_eq!(answers(port), expected, "{family:?} {source}");
        }
    }

    #[test]
    fn one_of_a_device_is_of_plain_tcp() {
        let (tcp, _udp, _port) = listening(None, "%lo");
        let protocol = socket2::SockRef::from(&tcp).protocol().unwrap();
        assert_eq!(protocol, Some(Protocol::TCP));
    }

    #[test]
    fn a_device_that_this_host_lacks_is_an_error() {
        let mut at = ListenAt::from(0);
        at.source = "%no-such-device".parse().unwrap();
        let error = at.tcp().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
