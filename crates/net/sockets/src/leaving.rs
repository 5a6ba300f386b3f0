//! Sockets whose packets leave this host as a user said.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use socket2::SockRef;
use units::{Address, Source, Via};

use crate::options::{leave_from, set_dscp};

/// A far end, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarEnd {
    /// Where it is.
    pub address: SocketAddr,
    /// How packets to it leave.
    pub via: Via,
}

/// Reached as the kernel likes.
impl From<SocketAddr> for FarEnd {
    fn from(address: SocketAddr) -> Self {
        FarEnd {
            address,
            via: Via::default(),
        }
    }
}

impl FarEnd {
    /// The host's number.
    pub fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    /// The same host at another port.
    pub fn at_port(&self, port: u16) -> FarEnd {
        FarEnd {
            address: SocketAddr::new(self.ip(), port),
            via: self.via.clone(),
        }
    }

    /// Binds a socket to where its packets are to leave, without a port, and marks them.
    ///
    /// # Errors
    /// When this host has no such address or device, or refuses the mark.
    pub fn prepare(&self, socket: &SockRef<'_>) -> io::Result<()> {
        leave_from(socket, &self.via.source).map_err(io::Error::other)?;
        self.mark(socket)
    }

    /// The same with this port, 0 for one that the kernel chooses now.
    ///
    /// # Errors
    /// As [`FarEnd::prepare`]; when another program has the port.
    pub fn prepare_at(&self, socket: &SockRef<'_>, port: u16) -> io::Result<()> {
        let any: IpAddr = match self.address {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let Source { address, device } = &self.via.source;
        if let Some(name) = device {
            socket.bind_device(Some(name.as_bytes()))?;
        }
        socket.bind(&SocketAddr::new(address.unwrap_or(any), port).into())?;
        self.mark(socket)
    }

    fn mark(&self, socket: &SockRef<'_>) -> io::Result<()> {
        match self.via.dscp {
            Some(dscp) => set_dscp(socket, dscp).map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

/// The addresses of a host that can be reached as it asks for.
///
/// # Errors
/// When the name has no address, or none of that family.
pub fn resolve(address: &Address) -> io::Result<Vec<SocketAddr>> {
    let found: Vec<SocketAddr> = (address.host.as_str(), address.port)
        .to_socket_addrs()?
        .collect();
    let fitting: Vec<SocketAddr> = found
        .iter()
        .copied()
        .filter(|one| address.via.fits(&one.ip()))
        .collect();
    match fitting.is_empty() && !found.is_empty() {
        true => Err(no_such_family(&found)),
        false => Ok(fitting),
    }
}

fn no_such_family(found: &[SocketAddr]) -> io::Error {
    let found: Vec<String> = found.iter().map(|one| one.ip().to_string()).collect();
    let what = format!(
        "it has {}, which the family or the address to send from that was asked for cannot reach",
        found.join(", ")
    );
    io::Error::new(io::ErrorKind::AddrNotAvailable, what)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use socket2::{Domain, Socket, Type};

    use super::*;
    use crate::StreamOptions;

    fn via(source: &str) -> Via {
        Via {
            source: source.parse().unwrap(),
            ..Via::default()
        }
    }

    #[test]
    fn packets_leave_from_the_address_that_was_asked_for() {
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = FarEnd {
            address: far.local_addr().unwrap(),
            via: via("127.0.0.9"),
        };
        let near = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        peer.prepare(&SockRef::from(&near)).unwrap();
        near.connect(&peer.address.into()).unwrap();
        near.send(b"x").unwrap();
        let (_, from) = far.recv_from(&mut [0; 1]).unwrap();
        assert_eq!(from.ip().to_string(), "127.0.0.9");
    }

    #[test]
    fn an_address_or_device_that_this_host_lacks_is_named() {
        for from in ["192.0.2.7", "%no-such-device"] {
            let options = StreamOptions {
                via: via(from),
                ..StreamOptions::default()
            };
            let error = options.socket(Domain::IPV4).unwrap_err();
            assert!(error.to_string().contains(from), "{error}");
            assert!(error.hint().unwrap().contains("ip address"));
        }
    }

    #[test]
    fn only_addresses_of_the_family_are_tried() {
        let mut address: Address = "127.0.0.1:5201".parse().unwrap();
        assert_eq!(resolve(&address).unwrap().len(), 1);
        address.via.family = Some(units::Family::V6);
        let error = resolve(&address).unwrap_err();
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    }
}
