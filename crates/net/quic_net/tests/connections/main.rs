//! Connections over the loopback device, and over a relay that treats datagrams as networks do.

mod far;
mod lossy;
mod relay;
mod streams;

use std::io::{ErrorKind, Read, Write};
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use quic_net::{ConnectError, ServerLimits, Stream, connect};

use self::far::{Far, LIMITS, carry, content, soon};

#[test]
fn bytes_go_both_ways_and_end() {
    let far = Far::start(LIMITS);
    let (near, there) = far.pair();
    let (near, there) = carry(near, there, 20_000_000);
    carry(there, near, 20_000_000);
}

#[test]
fn what_was_finished_arrives_when_its_end_is_dropped() {
    let far = Far::start(LIMITS);
    let (mut near, mut there) = far.pair();
    near.write_all(&content(500_000)).unwrap();
    near.finish().unwrap();
    drop(near);
    let mut read = Vec::new();
    there.read_to_end(&mut read).unwrap();
    assert!(read == content(500_000));
}

#[test]
fn a_stream_that_is_dropped_or_shut_down_is_an_error_and_no_end() {
    let far = Far::start(LIMITS);
    let (mut near, mut there) = far.pair();
    near.write_all(b"some").unwrap();
    drop(near);
    let error = there.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");

    let (near, mut there) = far.pair();
    let handle = there.handle();
    let reader = thread::spawn(move || there.read(&mut [0; 10]).unwrap_err().kind());
    handle.shut_down();
    assert_eq!(reader.join().unwrap(), ErrorKind::NotConnected);
    while !near.handle().is_over() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn both_ends_export_the_same_keys_and_two_connections_others() {
    let far = Far::start(LIMITS);
    let (near, there) = far.pair();
    let key = |stream: &Stream| stream.exporter::<32>(b"EXPORTER-test").unwrap();
    assert_eq!(key(&near), key(&there));
    let (other, _) = far.pair();
    assert_ne!(key(&near), key(&other));
}

#[test]
fn a_stranger_gets_little_and_not_for_long() {
    let far = Far::start(ServerLimits {
        timeout: Duration::from_millis(300),
        ..LIMITS
    });
    let mut stranger = far.connect();
    stranger.write_all(b"ab").unwrap();
    let error = stranger.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");

    // One that arrived and is not trusted.
    let mut near = far.connect();
    near.set_timeouts(None, Some(Duration::from_millis(300)));
    near.write_all(b"abcd").unwrap();
    let arrival = far.arrivals.recv_timeout(Duration::from_secs(20)).unwrap();
    let error = near.write_all(&content(4_000_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
    drop(arrival);
}

#[test]
fn from_some_number_on_strangers_show_first_that_they_receive() {
    let far = Far::start(ServerLimits {
        unvalidated: 0,
        ..LIMITS
    });
    let (near, there) = far.pair();
    carry(near, there, 100_000);
}

#[test]
fn no_more_than_so_many_wait() {
    let far = Far::start(ServerLimits {
        waiting: 2,
        ..LIMITS
    });
    let _waiting = [far.connect(), far.connect()];
    let error = connect(far.address, far.tls(), soon(), &|| false).unwrap_err();
    assert!(matches!(error, ConnectError::Wrong(_)), "{error:?}");
}

#[test]
fn a_port_without_a_program_and_one_that_is_silent_are_told_apart() {
    let far = Far::start(LIMITS);
    let closed = UdpSocket::bind((far.address.ip(), 0)).unwrap();
    let address = closed.local_addr().unwrap();
    let end = Instant::now() + Duration::from_millis(300);
    let error = connect(address, far.tls(), end, &|| false).unwrap_err();
    assert!(matches!(error, ConnectError::Silent), "{error:?}");
    drop(closed);
    let error = connect(address, far.tls(), soon(), &|| false).unwrap_err();
    assert!(matches!(error, ConnectError::Refused), "{error:?}");
}

#[test]
fn another_certificate_is_refused() {
    let (far, other) = (Far::start(LIMITS), Far::start(LIMITS));
    let error = connect(far.address, other.tls(), soon(), &|| false).unwrap_err();
    assert!(matches!(error, ConnectError::Wrong(_)), "{error:?}");
}

#[test]
fn a_server_that_stops_ends_its_connections() {
    let far = Far::start(LIMITS);
    let (mut near, there) = far.pair();
    drop(far);
    let error = near.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
    assert!(there.handle().is_over());
}
