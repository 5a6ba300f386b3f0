//! What networks do to datagrams: all that was written arrives all the same, once and in order; and
//! a peer that is gone is noticed.

use std::io::{ErrorKind, Read, Write};
use std::net::UdpSocket;
use std::time::Duration;

use quic_net::{ConnectError, connect};
use units::{Bytes, Time};

use super::far::{Far, LIMITS, carry, content, soon};
use super::relay::{Fate, Relay, Way};

/// Bytes each way: hundreds of datagrams, however large they are.
const LENGTH: usize = 5_000_000;

/// Carries both ways over a relay. Returns the bytes that the near end sent again.
fn carried(decide: impl Fn(Way, u64) -> Fate + Send + Sync + 'static) -> Bytes {
    let far = Far::start(LIMITS);
    let relay = Relay::start(far.address, decide);
    let (near, there) = far.pair_over(relay.address);
    let (near, there) = carry(near, there, LENGTH);
    let (_, near) = carry(there, near, LENGTH);
    let sample = near.handle().sample(Time::ZERO);
    assert!(sample.bytes_acked.unwrap() >= Bytes::new(LENGTH as u64));
    sample.bytes_retransmitted.unwrap()
}

#[test]
fn lost_datagrams_are_sent_again() {
    let sent_again = carried(|_, number| match number % 9 {
        8 => Fate::IsLost,
        _ => Fate::Passes,
    });
    assert!(sent_again > Bytes::ZERO);
}

#[test]
fn marks_are_told_and_cost_no_datagram() {
    for is_marking in [true, false] {
        let far = Far::start(LIMITS);
        let relay = Relay::start(far.address, |_, _| Fate::Passes);
        if is_marking {
            relay.mark();
        }
        let (near, there) = far.pair_over(relay.address);
        let (near, _there) = carry(near, there, 1_000_000);
        let sample = near.handle().sample(Time::ZERO);
        assert_eq!(sample.mark_echoed > Some(0), is_marking, "{sample:?}");
    }
}

#[test]
fn a_burst_of_lost_datagrams_is_survived() {
    carried(|way, number| match (way, number) {
        (Way::There, 60..72) => Fate::IsLost,
        _ => Fate::Passes,
    });
}

#[test]
fn acknowledgements_may_be_lost() {
    carried(|way, number| match (way, number) {
        (Way::Back, 20..) if number % 2 == 0 => Fate::IsLost,
        _ => Fate::Passes,
    });
}

#[test]
fn what_comes_twice_counts_once() {
    carried(|_, _| Fate::ComesTwice);
}

#[test]
fn what_comes_late_takes_its_place() {
    carried(|_, number| match number % 5 {
        4 => Fate::ComesLater(3),
        _ => Fate::Passes,
    });
}

#[test]
fn damaged_datagrams_count_as_lost() {
    let sent_again = carried(|_, number| match number {
        10.. if number % 11 == 0 => Fate::IsDamaged,
        _ => Fate::Passes,
    });
    assert!(sent_again > Bytes::ZERO);
}

#[test]
fn the_first_datagrams_of_both_ends_may_be_lost() {
    let far = Far::start(LIMITS);
    let relay = Relay::start(far.address, |_, number| match number {
        0 | 2 => Fate::IsLost,
        _ => Fate::Passes,
    });
    let (near, there) = far.pair_over(relay.address);
    carry(near, there, 100_000);
}

#[test]
fn a_server_whose_answers_are_lost_is_silent() {
    let far = Far::start(LIMITS);
    let relay = Relay::start(far.address, |way, _| match way {
        Way::There => Fate::Passes,
        Way::Back => Fate::IsLost,
    });
    let looks = std::cell::Cell::new(0);
    let is_given_up = || {
        looks.set(looks.get() + 1);
        looks.get() > 3
    };
    let error = connect(relay.address, far.tls(), soon(), &is_given_up).unwrap_err();
    assert!(matches!(error, ConnectError::Silent), "{error:?}");
}

#[test]
fn datagrams_of_strangers_change_nothing() {
    let far = Far::start(LIMITS);
    let relay = Relay::start(far.address, |_, _| Fate::Passes);
    let (near, there) = far.pair_over(relay.address);
    let stranger = UdpSocket::bind((far.address.ip(), 0)).unwrap();
    let near_address = near.handle().local();
    for length in [0, 1, 20, 1200, 9000] {
        for first in [0x00, 0x40, 0xc0, 0xff] {
            let mut datagram = content(length);
            datagram.iter_mut().take(1).for_each(|byte| *byte = first);
            for address in [far.address, near_address] {
                stranger.send_to(&datagram, address).unwrap();
            }
        }
    }
    let (near, there) = carry(near, there, 100_000);
    carry(there, near, 100_000);
}

#[test]
fn a_peer_that_vanishes_is_noticed_by_reader_and_writer_at_both_ends() {
    let far = Far::start(LIMITS);
    let relay = Relay::start(far.address, |_, _| Fate::Passes);
    let (mut near, mut there) = far.pair_over(relay.address);
    relay.cut();
    let writer = std::thread::spawn(move || {
        let error = near.write_all(&content(400_000_000)).unwrap_err();
        (error.kind(), near.handle().is_over())
    });
    let error = there.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    assert!(there.handle().is_over());
    assert_eq!(writer.join().unwrap(), (ErrorKind::TimedOut, true));
}

#[test]
fn a_client_behind_another_address_is_not_followed() {
    let far = Far::start(LIMITS);
    let relay = Relay::start(far.address, |_, _| Fate::Passes);
    let (mut near, mut there) = far.pair_over(relay.address);
    let before = there.handle().peer();
    relay.use_address(1);
    near.write_all(b"some").unwrap();
    there.set_timeouts(Some(Duration::from_millis(500)), None);
    let error = there.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
    assert_eq!(there.handle().peer(), before);
    // Behind its own address again, it goes on.
    relay.use_address(0);
    there.set_timeouts(None, None);
    let mut read = [0; 4];
    there.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"some");
}
