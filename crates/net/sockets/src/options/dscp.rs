//! How packets are marked for routers.

use socket2::{Domain, SockRef};
use units::Dscp;

use super::{OptionError, set_option};

/// Marks the packets to come, of both families: an IPv6 socket may carry IPv4.
pub fn set_dscp(socket: &SockRef<'_>, dscp: Dscp) -> Result<(), OptionError> {
    let octet = libc::c_int::from(dscp.octet());
    let is_v6 = socket.domain().map_err(OptionError::Socket)? == Domain::IPV6;
    let set = set_option(socket, libc::IPPROTO_IP, libc::IP_TOS, &octet);
    let set = set.and_then(|()| match is_v6 {
        true => set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &octet),
        false => Ok(()),
    });
    set.map_err(|source| OptionError::Dscp { dscp, source })
}

#[cfg(test)]
mod tests {
    use socket2::{Socket, Type};

    use super::*;
    use crate::options::get_option;

    #[test]
    fn both_families_of_an_ipv6_socket_are_marked() {
        let Ok(socket) = Socket::new(Domain::IPV6, Type::STREAM, None) else {
            return testkit::skip("this host has no IPv6");
        };
        let socket = SockRef::from(&socket);
        set_dscp(&socket, Dscp::LOWER_EFFORT).unwrap();
        let octet = |level, name| get_option(&socket, level, name).unwrap();
        assert_eq!(octet(libc::IPPROTO_IPV6, libc::IPV6_TCLASS), 4);
        assert_eq!(octet(libc::IPPROTO_IP, libc::IP_TOS), 4);
    }

    #[test]
    fn an_ipv4_socket_is_marked() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let socket = SockRef::from(&socket);
        set_dscp(&socket, Dscp::LOWER_EFFORT).unwrap();
        let octet = get_option(&socket, libc::IPPROTO_IP, libc::IP_TOS).unwrap();
        assert_eq!(octet, 4);
    }
}
