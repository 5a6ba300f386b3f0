//! Both ends of a copy's connections over loopback.

mod copies;

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use copies::{Far, TIMEOUT, token};
use copy_net::{
    AcceptedSession, ArrivedStream, Channel, ConversationError, Dialed, Dialer, Fingerprint,
    Handler, KnownPeer, Rejection,
};
use copy_protocol::{Entry, Kind, Message, Name};
use sockets::StreamOptions;
use units::{Bytes, Rate, Span, Time};
use units::{Dscp, Via};

fn stream(near: &Dialed, far: &AcceptedSession, number: u32, plain: bool) -> (Channel, Channel) {
    let session = far.streams.session().unwrap();
    let options = StreamOptions::default();
    let here = near.streams.stream(session, number, &options, plain);
    let there = far.streams.next(TIMEOUT).expect("the stream arrives");
    assert_eq!(there.number, number);
    (here.unwrap(), there.channel)
}

fn entries(count: usize) -> Message {
    let entry = |at: usize| Entry {
        name: Name::new(format!("folder/file{at}").into_bytes()).unwrap(),
        kind: Kind::File(at as u64),
        mode: 0o644,
        modified_nanoseconds: 0,
        version: 0,
        is_sparse: false,
        digest: None,
    };
    Message::Entries((0..count).map(entry).collect())
}

#[test]
fn what_one_end_says_the_other_hears_in_order() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    assert_eq!(near.admitted.key_name.as_str(), "ana");
    assert_eq!(accepted.peer.ip(), far.address.ip());
    let said: Vec<Message> = (0..500).map(|at| entries(at % 50)).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            said.iter()
                .for_each(|one| near.conversation.send(one).unwrap())
        });
        scope.spawn(|| {
            said.iter()
                .for_each(|one| accepted.conversation.send(one).unwrap())
        });
        for one in &said {
            assert_eq!(
                accepted.conversation.receive(TIMEOUT).unwrap().as_ref(),
                Some(one)
            );
            assert_eq!(
                near.conversation.receive(TIMEOUT).unwrap().as_ref(),
                Some(one)
            );
        }
    });
    let nothing = near.conversation.receive(Duration::from_millis(10));
    assert!(matches!(nothing, Ok(None)));
}

#[test]
fn a_goodbye_arrives_behind_all_that_was_said() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    // Unread words of the other end must not turn the end into a reset.
    (0..50).for_each(|_| accepted.conversation.send(&entries(100)).unwrap());
    (0..50).for_each(|_| near.conversation.send(&entries(100)).unwrap());
    near.conversation.send(&Message::Bye).unwrap();
    let hearing = thread::spawn(move || {
        let mut heard = Vec::new();
        loop {
            match accepted.conversation.receive(TIMEOUT) {
                Ok(message) => heard.push(message.unwrap()),
                Err(error) => return (heard, error),
            }
        }
    });
    near.conversation.close(TIMEOUT);
    let (heard, error) = hearing.join().unwrap();
    assert_eq!(heard.len(), 51);
    assert_eq!(heard.last(), Some(&Message::Bye));
    assert!(matches!(error, ConversationError::Closed), "{error}");
}

#[test]
fn an_end_that_leaves_is_heard_to_the_end_and_waits_for_no_answer() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    (0..50).for_each(|_| accepted.conversation.send(&entries(100)).unwrap());
    (0..50).for_each(|_| near.conversation.send(&entries(100)).unwrap());
    // The other end says no goodbye: waiting for it would take an hour.
    near.conversation.leave(Duration::from_secs(3_600));
    for _ in 0..50 {
        let heard = accepted.conversation.receive(TIMEOUT).unwrap();
        assert_eq!(heard, Some(entries(100)));
    }
    let error = accepted.conversation.receive(TIMEOUT).unwrap_err();
    assert!(matches!(error, ConversationError::Closed), "{error}");
}

#[test]
fn nothing_is_received_once_this_end_closes() {
    let far = Far::start();
    let (near, _visit) = far.meet();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| near.conversation.receive(Duration::from_secs(3_600)));
        near.conversation.begin_to_close(TIMEOUT);
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, ConversationError::Over), "{error}");
    });
}

#[test]
fn a_stream_that_was_connected_ahead_carries_once_it_greets() {
    let far = Far::start();
    let options = StreamOptions::default();
    let mut ahead = Vec::new();
    let near = Dialer::default().control_and(
        &[far.place()],
        &token(1),
        None,
        &mut |reach| {
            ahead.extend([true, false].map(|plain| reach.connect(&options, plain).unwrap()));
        },
        &|| false,
    );
    let (near, accepted) = (near.unwrap(), far.accepted());
    accepted.streams.allow_plain(true);
    let session = accepted.streams.session().unwrap();
    for (number, reached) in (7..).zip(ahead) {
        let mut here = near.streams.greet(reached, session, number).unwrap();
        here.write_all(b"data").unwrap();
        let mut there = accepted.streams.next(TIMEOUT).expect("the stream arrives");
        assert_eq!(there.number, number);
        let mut heard = [0; 4];
        there.channel.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"data");
    }
}

#[test]
fn a_known_end_hears_the_first_message_with_the_greeting() {
    let far = Far::start();
    let first = &entries(5_000);
    let dial = |pin| {
        let known = Some(KnownPeer { pin, first });
        Dialer::default().control_and(&[far.place()], &token(1), known, &mut |_| (), &|| false)
    };
    let near = dial(far.fingerprint).unwrap();
    assert!(near.first_was_sent);
    let accepted = far.accepted();
    let heard = accepted.conversation.receive(TIMEOUT).unwrap();
    assert_eq!(heard.as_ref(), Some(first));
    accepted.conversation.send(&entries(1)).unwrap();
    let answer = near.conversation.receive(TIMEOUT).unwrap();
    assert_eq!(answer, Some(entries(1)));
    // Who shows another certificate hears nothing.
    let error = dial(Fingerprint([7; 32])).unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    let rejected = far.rejected();
    assert!(matches!(rejected, Rejection::Broken(_)), "{rejected}");
}

#[test]
fn who_does_not_listen_makes_the_other_wait() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let sending = thread::spawn(move || {
        (0..4_000).for_each(|_| near.conversation.send(&entries(200)).unwrap());
        near
    });
    thread::sleep(Duration::from_millis(300));
    assert!(
        !sending.is_finished(),
        "24 MB cannot lie in buffers of a megabyte"
    );
    for _ in 0..4_000 {
        accepted.conversation.receive(TIMEOUT).unwrap().unwrap();
    }
    sending.join().unwrap();
}

#[test]
fn a_near_end_that_speaks_a_newer_version_first_goes_on_in_that_of_the_far_end() {
    let far = Far::start();
    let newest = copy_protocol::SPOKEN.newest;
    let dialer = copy_net::Dialer {
        version: newest + 1,
        ..Default::default()
    };
    let near = dialer.control(&[far.place()], &token(1)).unwrap();
    let accepted = far.accepted();
    let versions = (near.admitted.version, accepted.admitted.version);
    assert_eq!(versions, (newest, newest));
}

#[test]
fn a_peer_without_a_sign_of_life_counts_as_lost() {
    let far = Far::start();
    let dialer = copy_net::Dialer {
        silence: Span::from_millis(300),
        ..Default::default()
    };
    let near = dialer.control(&[far.place()], &token(1)).unwrap();
    let accepted = far.accepted();
    let error = near.conversation.receive(TIMEOUT).unwrap_err();
    assert!(matches!(error, ConversationError::Silent(_)), "{error}");
    let error = accepted.conversation.receive(TIMEOUT).unwrap_err();
    assert!(
        matches!(
            error,
            ConversationError::Lost(_) | ConversationError::Closed
        ),
        "{error}"
    );
}

/// Sends `bytes` in odd portions and gives back what came.
fn carried(mut from: Channel, mut to: Channel, bytes: &[u8]) -> Vec<u8> {
    thread::scope(|scope| {
        scope.spawn(move || {
            for part in bytes.chunks(700_001) {
                let (head, rest) = part.split_at(part.len().min(24));
                let (body, tail) = rest.split_at(rest.len().saturating_sub(32));
                from.write_parts(&[head, body, &[], tail]).unwrap();
            }
            from.finish().unwrap();
            from
        });
        let mut got = Vec::new();
        to.read_to_end(&mut got).unwrap();
        got
    })
}

fn bytes() -> Vec<u8> {
    (0..5_000_000u32).flat_map(|at| at.to_le_bytes()).collect()
}

#[test]
fn streams_carry_bytes_both_ways_in_tls_and_in_the_clear() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    accepted.streams.allow_plain(true);
    let bytes = bytes();
    for (number, plain) in [(0, false), (1, true)] {
        let (here, there) = stream(&near, &accepted, number, plain);
        assert_eq!((here.is_plain(), there.is_plain()), (plain, plain));
        assert!(carried(here, there, &bytes) == bytes);
        let (here, there) = stream(&near, &accepted, number + 10, plain);
        assert!(carried(there, here, &bytes) == bytes);
    }
}

#[test]
fn a_stream_that_breaks_off_is_told_from_one_that_ends() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let (mut here, mut there) = stream(&near, &accepted, 0, false);
    here.write_all(b"half a piece").unwrap();
    here.handle().shut_down();
    let error = there.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    let (mut here, mut there) = stream(&near, &accepted, 1, false);
    here.finish().unwrap();
    assert_eq!(there.read(&mut [0]).unwrap(), 0);
}

#[test]
fn an_end_that_only_writes_sees_that_the_other_end_is_gone() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let (here, there) = stream(&near, &accepted, 0, false);
    let handle = here.handle();
    assert!(!handle.is_let_go());
    drop(there);
    let began = std::time::Instant::now();
    while !handle.is_let_go() && began.elapsed().as_secs() < 10 {
        thread::yield_now();
    }
    assert!(handle.is_let_go());
}

#[test]
fn a_thread_that_waits_is_woken_by_a_shut_down() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let (here, mut there) = stream(&near, &accepted, 0, false);
    let handle = there.handle();
    let reading = thread::spawn(move || there.read(&mut [0]).is_err());
    thread::sleep(Duration::from_millis(50));
    handle.shut_down();
    assert!(reading.join().unwrap());
    drop(here);
}

#[test]
fn a_running_stream_is_watched_and_steered() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    accepted.streams.set_options(StreamOptions {
        congestion: Some("reno".to_owned()),
        ..StreamOptions::default()
    });
    let (mut here, there) = stream(&near, &accepted, 0, false);
    assert_eq!(there.handle().congestion().as_deref(), Some("reno"));
    let handle = here.handle();
    handle
        .set(&StreamOptions {
            congestion: Some("reno".to_owned()),
            window: Some(Bytes::from_kib(64)),
            user_timeout: Some(Span::from_secs(20)),
            unsent_max: Some(Bytes::from_kib(128)),
            via: Via {
                dscp: Some(Dscp::LOWER_EFFORT),
                ..Via::default()
            },
            ..StreamOptions::default()
        })
        .unwrap();
    handle
        .set_pacing(Some(Rate::from_bits_per_second(1_000_000_000)))
        .unwrap();
    handle.set_pacing(None).unwrap();
    handle.set_dscp(Dscp::DEFAULT).unwrap();
    there.handle().set_dscp(Dscp::LOWER_EFFORT).unwrap();
    assert_eq!(handle.congestion().as_deref(), Some("reno"));
    assert_eq!(handle.buffers().unwrap().send.granted, Bytes::from_kib(128));
    here.write_all(&[7; 1_000]).unwrap();
    let sample = handle.sample(Time::ZERO + Span::from_secs(1)).unwrap();
    assert!(sample.bytes_sent.unwrap() > Bytes::new(1_000));
    assert_eq!(handle.peer().unwrap(), far.address);
}

#[test]
fn streams_find_an_end_that_opened_the_conversation_itself() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let listener = copy_net::Listener::bind(None).unwrap();
    let callbacks = listener.callbacks();
    let at = std::net::SocketAddr::from(([127, 0, 0, 1], listener.port()));
    let back = copy_net::StreamDialer::new(
        vec![at],
        listener.fingerprint(),
        accepted.admitted.session_key.clone(),
        Span::from_secs(10),
    );
    let (handler, _, _) = copies::handler();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| listener.run(Default::default(), Handler::Copies(handler), &is_stopped));
        let incoming = callbacks.expect(near.admitted.session_key.clone());
        let session = accepted.streams.session().unwrap();
        let here = back.stream(session, 4, &StreamOptions::default(), false);
        let ArrivedStream { number, channel } = incoming.next(TIMEOUT).unwrap();
        assert_eq!(number, 4);
        assert!(carried(here.unwrap(), channel, b"from afar") == b"from afar");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn hundreds_of_streams_come_at_once() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let session = accepted.streams.session().unwrap();
    thread::scope(|scope| {
        for number in 0..200 {
            let streams = near.streams.clone();
            scope.spawn(move || {
                let channel = streams.stream(session, number, &StreamOptions::default(), false);
                let mut channel = channel.unwrap();
                channel.write_all(&number.to_be_bytes()).unwrap();
                channel.finish().unwrap();
                let _ = channel.read(&mut [0]);
            });
        }
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let ArrivedStream {
                number,
                mut channel,
            } = accepted.streams.next(TIMEOUT).unwrap();
            let mut said = [0; 4];
            channel.read_exact(&mut said).unwrap();
            assert_eq!(u32::from_be_bytes(said), number);
            assert_eq!(channel.read(&mut [0]).unwrap(), 0);
            assert!(seen.insert(number));
        }
    });
}

#[test]
fn a_wait_for_a_silent_host_can_be_given_up() {
    // The kernel takes the connection, and nothing is said on it.
    let silent = std::net::TcpListener::bind((testkit::loopback(), 0)).unwrap();
    let place = silent.local_addr().unwrap().to_string().parse().unwrap();
    let dialer = copy_net::Dialer {
        timeout: Span::from_secs(86_400),
        ..Default::default()
    };
    let asked = std::cell::Cell::new(0);
    let is_given_up = || asked.replace(asked.get() + 1) > 2;
    let dialed = dialer.control_and(&[place], &token(1), None, &mut |_| (), &is_given_up);
    assert!(matches!(dialed, Err(copy_net::DialError::Silent { .. })));
}
