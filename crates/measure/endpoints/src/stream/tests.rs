use super::*;
use std::net::{TcpListener, TcpStream};

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

#[test]
fn a_budget_is_sent_to_the_last_byte() {
    let (near, far) = pair();
    let work = Work::new(Bytes::from_kib(128), Some(Bytes::new(1_000_001)));
    let sender = StreamThread::start(Channel::plain(near).unwrap(), Job::Send, &work).unwrap();
    let receiver = StreamThread::start(Channel::plain(far).unwrap(), Job::Receive, &work).unwrap();
    while receiver.moved() < Bytes::new(1_000_001) {
        thread::yield_now();
    }
    assert!(work.is_spent());
    assert_eq!(sender.moved(), Bytes::new(1_000_001));
}

#[test]
fn a_blocked_sender_can_be_stopped() {
    let (near, _far) = pair();
    let work = Work::new(Bytes::from_kib(128), None);
    let mut sender = StreamThread::start(Channel::plain(near).unwrap(), Job::Send, &work).unwrap();
    let mut before = Bytes::new(1);
    while sender.moved() != before {
        before = sender.moved();
        thread::sleep(TICK.into());
    }
    assert!(sender.close().unwrap().failure.is_none());
}

#[test]
fn a_vanished_peer_ends_the_receiver_with_a_reason() {
    let (near, far) = pair();
    let work = Work::new(Bytes::from_kib(128), None);
    let mut receiver =
        StreamThread::start(Channel::plain(near).unwrap(), Job::Receive, &work).unwrap();
    drop(far);
    while !receiver.is_over() {
        thread::yield_now();
    }
    let failure = receiver.close().unwrap().failure.unwrap();
    assert_eq!(failure.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn noise_does_not_repeat_soon() {
    let noise = noise(4_096);
    let mut words: Vec<&[u8]> = noise.chunks(8).collect();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), 512);
}
