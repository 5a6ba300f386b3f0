use std::net::UdpSocket;
use std::time::Instant;

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

/// Without a rate this host itself may drop; what the path lost is nothing.
#[test]
fn what_this_host_drops_is_told_from_what_the_path_loses() {
    let (sent, seen) = moved(None, Bytes::new(500_000_000));
    assert!(sent.highest >= 500_000);
    let missing = sent.highest - seen.arrived;
    assert!(seen.lost <= missing, "{} of {}", seen.lost, sent.highest);
    assert!(
        seen.dropped >= seen.lost,
        "{} of {}",
        seen.dropped,
        seen.lost
    );
    assert_eq!((seen.reordered, seen.duplicates), (0, 0));
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
        duration: Span::from_secs(1),
        ..Moved::default()
    };
    moved.omit();
    moved.highest = 3_000;
    moved.lost = 15;
    moved.bytes = Bytes::new(2_985_000);
    moved.duration = Span::from_secs(3);
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
}
