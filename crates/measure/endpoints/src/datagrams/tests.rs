use std::net::UdpSocket;
use std::time::Instant;

use measure_protocol::iperf3::datagram::DatagramHeader;
use sockets::datagrams::Handed;

use super::*;

fn task(job: Job) -> Task {
    Task {
        job,
        size: Bytes::new(1_000),
        form: FORM,
        omit: Span::ZERO,
    }
}

fn started(socket: UdpSocket, job: Job) -> DatagramStream {
    PreparedStream::new(socket, task(job))
        .unwrap()
        .start()
        .unwrap()
}

fn pair() -> (UdpSocket, UdpSocket) {
    let ends = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let [near, far] = ends;
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    (near, far)
}

/// Sends until so much has left, and receives all of it.
fn moved(rate: Option<Rate>, until: Bytes) -> (Moved, Moved) {
    let (near, far) = pair();
    let mut receiver = started(far, Job::Receive { welcomes: false });
    let mut sender = started(near, Job::Send(rate));
    // A busy machine may take long.
    let patience = Instant::now() + Duration::from_secs(30);
    while sender.bytes() < until && Instant::now() < patience {
        thread::sleep(TICK);
    }
    let sent = sender.finish();
    // What is lost does not come, however long one waits.
    let mut before = Bytes::ZERO;
    while receiver.bytes() > before && receiver.bytes() < sent.bytes {
        before = receiver.bytes();
        thread::sleep(TICK.saturating_mul(10));
    }
    (sent, receiver.finish())
}

#[test]
fn a_receiver_counts_what_a_sender_sends() {
    let (sent, seen) = moved(
        Some(Rate::from_bits_per_second(8_000_000)),
        Bytes::new(300_000),
    );
    assert!(sent.highest >= 300, "{sent:?}");
    assert_eq!((seen.highest, seen.lost), (sent.highest, 0));
    assert_eq!((seen.reordered, seen.duplicates, seen.dropped), (0, 0, 0));
    let bytes = seen.intervals.iter().map(|bytes| bytes.get()).sum::<u64>();
    assert_eq!((bytes, seen.bytes), (sent.bytes.get(), sent.bytes));
}

/// A datagram with this number.
fn numbered(number: u64) -> Vec<u8> {
    let mut datagram = vec![0; 1_000];
    let sent = Span::from_micros(number);
    DatagramHeader { sent, number }.write(FORM.counter, &mut datagram);
    datagram
}

/// The receiver sleeps until its small buffer has overflowed, and ten datagrams are never sent.
#[test]
fn what_this_host_drops_is_told_from_what_the_path_loses() {
    let (near, far) = pair();
    let small = far.try_clone().unwrap();
    let receiver = PreparedStream::new(far, task(Job::Receive { welcomes: false })).unwrap();
    socket2::SockRef::from(&small)
        .set_recv_buffer_size(1 << 15)
        .unwrap();
    for number in 1..=500 {
        near.send(&numbered(number)).unwrap();
    }
    let mut receiver = receiver.start().unwrap();
    let patience = Instant::now() + Duration::from_secs(30);
    // All that fitted is read before the next ones come.
    let mut before = Bytes::ZERO;
    while (before == Bytes::ZERO || receiver.bytes() > before) && Instant::now() < patience {
        before = receiver.bytes();
        thread::sleep(TICK);
    }
    near.send(&numbered(501)).unwrap();
    let fitted = before.get() / 1_000;
    while receiver.bytes() == before && Instant::now() < patience {
        thread::sleep(TICK);
    }
    // Behind what the path has lost.
    near.send(&numbered(512)).unwrap();
    while receiver.bytes() < Bytes::new((fitted + 2) * 1_000) && Instant::now() < patience {
        thread::sleep(TICK);
    }
    let seen = receiver.finish();
    let dropped = 500 - fitted;
    assert!((1..500).contains(&dropped), "{seen:?}");
    assert_eq!((seen.highest, seen.arrived), (512, fitted + 2), "{seen:?}");
    assert_eq!(
        (seen.lost, seen.dropped),
        (dropped + 10, dropped),
        "{seen:?}"
    );
}

/// The next datagrams have the numbers of those that a queue refused: no gap, no loss.
#[test]
fn what_a_queue_of_this_host_refuses_is_neither_sent_nor_lost() {
    let (near, far) = pair();
    let mut receiver = started(far, Job::Receive { welcomes: false });
    let clock = sockets::Clock::start();
    let shared = Shared {
        stop: Arc::default(),
        bytes: Arc::default(),
    };
    for (rate, not_sent) in [(Some(Rate::from_bits_per_second(1_000)), 7), (None, 0)] {
        let socket = near.try_clone().unwrap();
        let mut sender = sending::Sending::new(socket, task(Job::Send(rate)), rate).unwrap();
        let spent = sender.account(Handed::Refused, 7, &shared);
        assert_eq!((spent, sender.moved().not_sent), (not_sent, not_sent));
        assert_eq!(sender.account(Handed::Not, 7, &shared), 0);
        let sent = (sender.moved().highest, sender.moved().bytes);
        assert_eq!(sent, (0, Bytes::ZERO), "{rate:?}");
        // The first stream sends for both.
        while rate.is_some() && sender.moved().highest < 20 {
            sender.send(1, clock, &shared);
        }
    }
    let patience = Instant::now() + Duration::from_secs(30);
    while receiver.bytes() < Bytes::new(20_000) && Instant::now() < patience {
        thread::sleep(TICK);
    }
    let seen = receiver.finish();
    assert_eq!((seen.highest, seen.lost), (20, 0), "{seen:?}");
}

/// Larger than IPv4 has room for, as what a firewall of this host refuses.
#[test]
fn why_nothing_may_be_sent_is_kept() {
    let (near, _far) = pair();
    let task = Task {
        size: Bytes::new(65_508),
        ..task(Job::Send(None))
    };
    let mut sender = sending::Sending::new(near, task, None).unwrap();
    let shared = Shared {
        stop: Arc::default(),
        bytes: Arc::default(),
    };
    assert_eq!(sender.send(1, sockets::Clock::start(), &shared), 0);
    let moved = sender.moved();
    assert_eq!((moved.highest, moved.forbidden), (0, Some(libc::EMSGSIZE)));
}

#[test]
fn a_lost_answer_is_repeated_until_something_comes() {
    let (near, far) = pair();
    let receiver = started(far, Job::Receive { welcomes: true });
    near.set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut answer = [0; 8];
    for _ in 0..2 {
        assert_eq!(near.recv(&mut answer).unwrap(), 4);
        assert_eq!(&answer[..4], b"6789");
    }
    drop(receiver);
}

#[test]
fn the_omitted_beginning_is_told_apart() {
    let mut moved = Moved {
        highest: 1_000,
        lost: 10,
        bytes: Bytes::new(990_000),
        duration: Span::from_millis(900),
        lasted: Span::from_secs(1),
        ..Moved::default()
    };
    moved.omit();
    moved.highest = 3_000;
    moved.lost = 15;
    moved.bytes = Bytes::new(2_985_000);
    moved.duration = Span::from_millis(2_800);
    moved.lasted = Span::from_secs(3);
    let told = moved.told(1, 2, false);
    assert_eq!(
        (told.id, told.bytes, told.packets),
        (3, 1_995_000, Some(3_000))
    );
    assert_eq!(
        (told.omitted_packets, told.omitted_errors),
        (Some(1_000), Some(10))
    );
    assert_eq!((told.end_time, told.trunkline), (Some(2.0), None));
    // Ours is told when datagrams came.
    assert_eq!(moved.told(1, 2, true).end_time, Some(1.9));
}
