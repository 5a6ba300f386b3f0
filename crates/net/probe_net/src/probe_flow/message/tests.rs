use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;

const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 9));
const ROUTER_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 9));

fn error(origin: u8, kind: u8, code: u8) -> libc::sock_extended_err {
    libc::sock_extended_err {
        ee_errno: libc::EHOSTUNREACH as u32,
        ee_origin: origin,
        ee_type: kind,
        ee_code: code,
        ee_pad: 0,
        ee_info: 1_400,
        ee_data: 0,
    }
}

fn v4(kind: u8, code: u8) -> Notice {
    read(&error(libc::SO_EE_ORIGIN_ICMP, kind, code), Some(ROUTER))
}

fn v6(kind: u8, code: u8) -> Notice {
    read(
        &error(libc::SO_EE_ORIGIN_ICMP6, kind, code),
        Some(ROUTER_V6),
    )
}

#[test]
fn a_used_up_hop_limit_is_known_in_both_families() {
    assert_eq!(v4(11, 0), Notice::TimeExceeded { from: ROUTER });
    assert_eq!(v6(3, 0), Notice::TimeExceeded { from: ROUTER_V6 });
    // Code 1: a fragment whose others never came. No router on the way sends that.
    assert_eq!((v4(11, 1), v6(3, 1)), (Notice::Other, Notice::Other));
}

#[test]
fn a_closed_port_is_told_from_a_closed_way() {
    assert_eq!(v4(3, 3), Notice::NoSuchPort { from: ROUTER });
    assert_eq!(v6(1, 4), Notice::NoSuchPort { from: ROUTER_V6 });
    // Forbidden by an administrator: code 13 of ICMP, code 1 of ICMPv6.
    assert_eq!(v4(3, 13), Notice::Unreachable { from: ROUTER });
    assert_eq!(v6(1, 1), Notice::Unreachable { from: ROUTER_V6 });
}

#[test]
fn a_packet_too_big_brings_the_size_that_fits() {
    assert_eq!(v4(3, 4), Notice::TooBig { mtu: 1_400 });
    assert_eq!(v6(2, 0), Notice::TooBig { mtu: 1_400 });
    // Of our own interface: the kernel names no address.
    let mut local = error(libc::SO_EE_ORIGIN_LOCAL, 0, 0);
    assert_eq!(read(&local, None), Notice::Other);
    local.ee_errno = libc::EMSGSIZE as u32;
    assert_eq!(read(&local, None), Notice::TooBig { mtu: 1_400 });
}

#[test]
fn every_type_code_and_origin_has_a_reading() {
    for origin in 0..=5 {
        for kind in 0..=255 {
            for code in [0, 1, 4, 13, 255] {
                let _ = read(&error(origin, kind, code), Some(ROUTER));
            }
        }
    }
    assert_eq!(v4(12, 0), Notice::Other);
    // ICMPv6's numbers mean nothing in ICMP: 1 is unassigned there, 2 too.
    assert_eq!((v4(1, 4), v4(2, 0)), (Notice::Other, Notice::Other));
}

#[test]
fn the_router_is_read_from_the_control_message() {
    let from = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from(Ipv4Addr::new(198, 18, 0, 9)).to_be(),
        },
        sin_zero: [0; 8],
    };
    let exceeded = error(libc::SO_EE_ORIGIN_ICMP, 11, 0);
    let control = ControlMessageOwned::Ipv4RecvErr(exceeded, Some(from));
    assert_eq!(
        notice_of(&control),
        Some(Notice::TimeExceeded { from: ROUTER })
    );
    // An address of no family stands for none.
    let no_host = libc::sockaddr_in {
        sin_family: 0,
        ..from
    };
    let control = ControlMessageOwned::Ipv4RecvErr(exceeded, Some(no_host));
    assert_eq!(notice_of(&control), Some(Notice::Other));
}

#[test]
fn a_stamp_from_the_future_is_of_now() {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).unwrap();
    let later = TimeSpec::new(now.tv_sec() + 100, 0);
    assert_eq!(age(later), Span::ZERO);
    let earlier = TimeSpec::new(now.tv_sec() - 2, now.tv_nsec());
    let age = age(earlier);
    assert!(age >= Span::from_secs(2), "{age}");
}
