use std::io::{Read, Write};
use std::net::TcpListener;

use socket2::Domain;
use units::{Rate, Span, Via};

use super::*;
use crate::{ListenAt, StreamOptions};

/// These values at their offsets of a structure.
fn structure(size: usize, words: &[(usize, u32)], longs: &[(usize, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; size];
    for (offset, value) in words {
        bytes[*offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
    }
    for (offset, value) in longs {
        bytes[*offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
    }
    bytes
}

/// An element per subflow behind its header, as the kernel writes them.
fn answer(elements: &[Vec<u8>]) -> Vec<u8> {
    let [count, size] = [elements.len(), elements[0].len()].map(|one| u32::try_from(one).unwrap());
    let header = [16, count, size, size].map(u32::to_ne_bytes).concat();
    [header, elements.concat()].concat()
}

/// `struct tcp_info` of a subflow.
fn info(rtt: u32, window: u32, acked: u64) -> Vec<u8> {
    let words = [(16, 1_000), (24, 2), (68, rtt), (80, window)];
    structure(232, &words, &[(120, acked)])
}

/// `struct mptcp_info`.
fn connection(flags: u32) -> Vec<u8> {
    let longs = [(16, 9_000), (24, 2_000), (48, 10), (56, 8_000), (72, 700)];
    structure(96, &[(8, flags)], &longs)
}

/// `struct sockaddr_storage`; an address of IPv4 may be told as one of IPv6.
fn end(is_v6: bool, ip: [u8; 4], port: u16) -> Vec<u8> {
    let mut bytes = structure(128, &[], &[]);
    let (family, at): (u16, usize) = if is_v6 { (10, 20) } else { (2, 4) };
    bytes[..2].copy_from_slice(&family.to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes[at..at + 4].copy_from_slice(&ip);
    if is_v6 {
        bytes[18..20].fill(0xff);
    }
    bytes
}

#[test]
fn figures_of_subflows_become_one() {
    let infos = answer(&[info(10_000, 10, 400), info(30_000, 30, 500)]);
    let parts: Vec<_> = elements(&infos).map(|one| parse(one, Time::ZERO)).collect();
    let seen = together(Time::ZERO, &parts, &parse_whole(&connection(2)).unwrap());
    assert_eq!(seen.rtt, Some(Span::from_millis(20)));
    assert_eq!(
        (seen.cwnd_segments, seen.unacked_segments),
        (Some(40), Some(4))
    );
    // What went over both counts once, and 4 segments of the 7,000 bytes are under way.
    assert_eq!(seen.bytes_acked, Some(Bytes::new(700)));
    assert_eq!(seen.bytes_sent, Some(Bytes::new(8_010)));
    assert_eq!(seen.not_sent, Some(Bytes::new(3_000)));
    // Older kernels count no bytes of the connection.
    let old = together(
        Time::ZERO,
        &parts,
        &parse_whole(&connection(2)[..43]).unwrap(),
    );
    assert_eq!(old.bytes_acked, Some(Bytes::new(900)));
}

#[test]
fn a_connection_that_fell_back_is_plain() {
    assert_eq!(parse_whole(&connection(3)), None);
    assert_eq!(parse_whole(&connection(2)[..31]), None);
}

#[test]
fn subflows_have_the_addresses_of_both_families() {
    let ends = [false, true].map(|is_v6| {
        let link = u8::from(is_v6);
        [
            end(is_v6, [10, 0, link, 1], 7),
            end(is_v6, [10, 0, link, 2], 8),
        ]
        .concat()
    });
    let seen = subflows(&answer(&ends), &answer(&[info(1, 1, 40), info(1, 1, 50)]));
    let told: Vec<String> = seen
        .iter()
        .map(|((local, far), carried)| format!("{local} {far} {carried}"))
        .collect();
    assert_eq!(
        told,
        ["10.0.0.1:7 10.0.0.2:8 40B", "10.0.1.1:7 10.0.1.2:8 50B"]
    );
}

#[test]
fn answers_that_are_cut_off_or_wrong_tell_of_no_subflow() {
    let whole = answer(&[info(1, 1, 40)]);
    for length in 0..whole.len() {
        assert_eq!(elements(&whole[..length]).count(), 0, "{length}");
    }
    let mut wrong = whole;
    wrong[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    assert_eq!(elements(&wrong).count(), 1);
    wrong[12..16].fill(0);
    assert!(subflows(&wrong, &wrong).is_empty());
}

/// As streams of copies are set.
fn options(multipath: bool) -> StreamOptions {
    StreamOptions {
        via: Via {
            multipath,
            ..Via::default()
        },
        user_timeout: Some(Span::from_secs(30)),
        unsent_max: Some(Bytes::from_kib(128)),
        window: Some(Bytes::from_kib(256)),
        no_delay: true,
        ..StreamOptions::default()
    }
}

/// Both ends of a connection over which 10,000 bytes went there and 300 came back; `None` where the
/// kernel has no multipath TCP.
fn exchanged(listener: &TcpListener, options: &StreamOptions) -> Option<[TcpStream; 2]> {
    let socket = match options.socket(Domain::IPV4) {
        Err(error @ crate::OptionError::Multipath(_)) => {
            testkit::skip(&error.to_string());
            return None;
        }
        socket => socket.unwrap(),
    };
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(false).unwrap();
    socket
        .connect(&SocketAddr::from(([127, 0, 0, 1], port)).into())
        .unwrap();
    let mut near = TcpStream::from(socket);
    let (mut far, _) = listener.accept().unwrap();
    options.apply_to_accepted(&far).unwrap();
    near.write_all(&[7; 10_000]).unwrap();
    far.read_exact(&mut [0; 10_000]).unwrap();
    far.write_all(&[7; 300]).unwrap();
    near.read_exact(&mut [0; 300]).unwrap();
    Some([near, far])
}

#[test]
fn a_multipath_connection_is_read_at_both_ends() {
    let listener = ListenAt::from(0).tcp().unwrap();
    let Some([near, far]) = exchanged(&listener, &options(true)) else {
        return;
    };
    let seen = read(&near).unwrap();
    assert!(!seen.is_plain, "{seen:?}");
    assert_eq!(seen.subflows.len(), 1);
    let ((local, there), carried) = seen.subflows.first_key_value().unwrap();
    assert_eq!(*local, near.local_addr().unwrap());
    assert_eq!(there.port(), listener.local_addr().unwrap().port());
    assert!(*carried >= Bytes::new(10_300), "{carried}");
    let sent = sample(&near, Time::ZERO).unwrap();
    let received = sample(&far, Time::ZERO).unwrap();
    assert!(sent.rtt.is_some() && sent.cwnd_segments > Some(0));
    assert_eq!(read(&far).map(|seen| seen.is_plain), Some(false));
    // Kernels before 6.5 count those of the subflow, and its SYN is one.
    let all = Some(Bytes::new(10_000))..=Some(Bytes::new(10_001));
    assert!(all.contains(&sent.bytes_acked), "{sent:?}");
    assert!(all.contains(&received.bytes_received), "{received:?}");
}

#[test]
fn a_plain_listener_makes_the_connection_plain() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let Some([near, far]) = exchanged(&listener, &options(true)) else {
        return;
    };
    let seen = read(&near).unwrap();
    assert!(seen.is_plain && seen.subflows.is_empty(), "{seen:?}");
    let sent = sample(&near, Time::ZERO).unwrap().bytes_sent;
    assert_eq!((sent, read(&far)), (Some(Bytes::new(10_000)), None));
}

#[test]
fn a_plain_connection_to_our_listener_has_all_options_of_plain_ones() {
    let listener = ListenAt::from(0).tcp().unwrap();
    let options = StreamOptions {
        pacing: Some(Rate::from_bits_per_second(1_000_000_000)),
        ..options(false)
    };
    let [near, far] = exchanged(&listener, &options).unwrap();
    assert_eq!((read(&near), read(&far)), (None, None));
    let received = sample(&far, Time::ZERO).unwrap().bytes_received;
    assert_eq!(received, Some(Bytes::new(10_000)));
}
