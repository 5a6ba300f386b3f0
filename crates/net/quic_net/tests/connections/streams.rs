//! Streams that are closed half way, waited for, bounded, or many.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::thread;
use std::time::Duration;

use units::{Bytes, Rate, Time};

use super::far::{Far, LIMITS, carry, content};

#[test]
fn an_end_that_has_finished_still_reads() {
    let far = Far::start(LIMITS);
    let (mut near, mut there) = far.pair();
    near.write_all(&content(70_000)).unwrap();
    near.finish().unwrap();
    let mut read = Vec::new();
    there.read_to_end(&mut read).unwrap();
    assert!(read == content(70_000));
    // The answer comes after the question has ended.
    there.write_all(&content(3_000_000)).unwrap();
    there.finish().unwrap();
    read.clear();
    near.read_to_end(&mut read).unwrap();
    assert!(read == content(3_000_000));
}

#[test]
fn what_is_finished_is_finished_once_and_takes_no_more() {
    let far = Far::start(LIMITS);
    let (mut near, mut there) = far.pair();
    near.write_all(b"all").unwrap();
    near.finish().unwrap();
    near.finish().unwrap();
    let error = near.write(b"more").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
    let mut read = Vec::new();
    there.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"all");
    assert_eq!(
        there.read(&mut [0; 10]).unwrap(),
        0,
        "the end stays the end"
    );
    while !near.handle().is_delivered() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_writer_whose_reader_has_gone_is_told_so() {
    let far = Far::start(LIMITS);
    let (mut near, there) = far.pair();
    drop(there);
    // Until it hears of it, its bytes wait.
    let error = near.write_all(&content(400_000_000)).unwrap_err();
    let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
    assert!(kinds.contains(&error.kind()), "{error}");
    assert!(near.handle().is_over());
}

#[test]
fn a_writer_that_waits_is_woken_by_a_shutdown_of_its_own_end() {
    let far = Far::start(LIMITS);
    let (mut near, there) = far.pair();
    let handle = near.handle();
    // More than both ends hold while nothing reads.
    let writer = thread::spawn(move || near.write_all(&content(800_000_000)).unwrap_err().kind());
    while there.handle().sample(Time::ZERO).bytes_sent.is_none() {
        thread::yield_now();
    }
    handle.shut_down();
    assert_eq!(writer.join().unwrap(), ErrorKind::NotConnected);
}

#[test]
fn a_read_that_waits_too_long_harms_nothing() {
    let far = Far::start(LIMITS);
    let (mut near, mut there) = far.pair();
    there.set_timeouts(Some(Duration::from_millis(20)), None);
    let error = there.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
    let error = there.read_at_once(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
    assert_eq!(there.read(&mut []).unwrap(), 0, "no room, no wait");
    near.write_all(b"late").unwrap();
    there.set_timeouts(None, None);
    let mut read = [0; 4];
    there.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"late");
}

#[test]
fn parts_are_one_behind_the_other_and_other_threads_may_write() {
    let far = Far::start(LIMITS);
    let (near, mut there) = far.pair();
    let mut writer = near.writer();
    let parts = [&b"a"[..], b"", b"bc"].map(IoSlice::new);
    assert_eq!(writer.write_vectored(&parts).unwrap(), 3);
    assert_eq!(writer.write_vectored(&[]).unwrap(), 0);
    writer.finish().unwrap();
    let mut read = Vec::new();
    there.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"abc");
    drop(near);
}

#[test]
fn both_ways_at_once_do_not_wait_for_each_other() {
    let far = Far::start(LIMITS);
    let (near, there) = far.pair();
    let ends = [near, there].map(|mut stream| {
        thread::spawn(move || {
            let mut writer = stream.writer();
            let writing = thread::spawn(move || {
                writer.write_all(&content(3_000_000)).unwrap();
                writer.finish().unwrap();
            });
            let mut read = Vec::new();
            stream.read_to_end(&mut read).unwrap();
            assert!(read == content(3_000_000));
            writing.join().unwrap();
            stream
        })
    });
    ends.into_iter().for_each(|end| drop(end.join().unwrap()));
}

/// What it wrote is on its way when it has read all and is dropped, and leaves slowly.
#[test]
fn an_end_that_has_read_all_and_is_dropped_still_delivers() {
    let far = Far::start(LIMITS);
    for client_is_dropped in [true, false] {
        let (near, there) = far.pair();
        let (mut dropped, mut kept) = match client_is_dropped {
            true => (near, there),
            false => (there, near),
        };
        let rate = Rate::from_bits_per_second(1_000_000);
        dropped.handle().set_pacing(Some(rate));
        kept.write_all(b"all").unwrap();
        kept.finish().unwrap();
        dropped.write_all(&content(100_000)).unwrap();
        dropped.finish().unwrap();
        let mut read = Vec::new();
        dropped.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"all");
        drop(dropped);
        read.clear();
        kept.read_to_end(&mut read).unwrap();
        assert!(read == content(100_000), "{client_is_dropped}");
    }
}

/// It is said at once, and not when the bound on the rate allows the next packet.
#[test]
fn a_bounded_end_that_is_dropped_says_so() {
    let far = Far::start(LIMITS);
    let (mut near, mut there) = far.pair();
    near.handle()
        .set_pacing(Some(Rate::from_bits_per_second(20_000)));
    near.write_all(&content(100_000)).unwrap();
    there.read_exact(&mut [0; 5_000]).unwrap();
    drop(near);
    let error = there.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
}

#[test]
fn connections_of_one_server_keep_their_bytes_apart() {
    let far = Far::start(LIMITS);
    let pairs: Vec<_> = (1..=4).map(|number| (number, far.pair())).collect();
    let carried = pairs.into_iter().map(|(number, (near, there))| {
        thread::spawn(move || drop(carry(near, there, number * 700_001)))
    });
    let carried: Vec<_> = carried.collect();
    carried.into_iter().for_each(|one| one.join().unwrap());
}

#[test]
fn a_bounded_stream_is_slower_than_a_free_one_until_the_bound_is_lifted() {
    const LENGTH: usize = 4_000_000;
    let far = Far::start(LIMITS);
    let (slow, slow_there) = far.pair();
    let handle = slow.handle();
    handle.set_pacing(Some(Rate::from_bits_per_second(200_000)));
    let bounded = thread::spawn(move || drop(carry(slow, slow_there, LENGTH)));
    let (free, free_there) = far.pair();
    carry(free, free_there, LENGTH);
    // The free one is through, and the bounded one is not half way.
    let delivered = handle.sample(Time::ZERO).bytes_acked.unwrap();
    assert!(delivered < Bytes::new(LENGTH as u64 / 2), "{delivered}");
    handle.set_pacing(None);
    bounded.join().unwrap();
}

#[test]
fn both_ends_know_where_the_other_is() {
    let far = Far::start(LIMITS);
    let (near, there) = far.pair();
    assert_eq!(near.handle().peer(), far.address);
    assert_eq!(there.handle().peer().port(), near.handle().local().port());
    assert_eq!(there.handle().local(), far.address);
    assert!(
        near.handle()
            .driver_cpu()
            .is_none_or(|used| used.as_nanos() > 0)
    );
    assert!(
        there.handle().driver_cpu().is_none(),
        "one thread serves all"
    );
    let sample = near.handle().sample(Time::ZERO);
    assert!(sample.mss.unwrap() >= Bytes::new(1200), "{:?}", sample.mss);
}
