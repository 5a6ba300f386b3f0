//! Peers of a copy's port that lie, stall, repeat and stand in the middle.

mod copies;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use copies::{Far, TIMEOUT, raw, token};
use copy_net::{
    AcceptLimits, AcceptedSession, ConversationError, DialError, Listener, Rejection, SOFTWARE,
    StreamDialer,
};
use copy_protocol::{GREETING_LENGTH, HandshakeError, Message, NearHandshake, SessionKey};
use socket2::{Domain, Socket, Type};
use sockets::StreamOptions;
use units::{Address, Span};

/// How long the one wait that a test is about may last.
const SHORT: Span = Span::from_secs(1);

fn impatient() -> AcceptLimits {
    AcceptLimits {
        timeout: SHORT,
        ..AcceptLimits::default()
    }
}

/// Other clients are served as before.
fn still_serves(far: &Far) {
    let (near, accepted) = far.meet();
    near.conversation.send(&Message::Bye).unwrap();
    let heard = accepted.conversation.receive(TIMEOUT).unwrap();
    assert_eq!(heard, Some(Message::Bye));
}

fn connect(far: &Far) -> TcpStream {
    TcpStream::connect(far.address).unwrap()
}

/// Whether the other end closes without a word that could be read.
fn is_closed(mut socket: TcpStream) -> bool {
    // A reset is as good an end as any.
    socket
        .read_to_end(&mut Vec::new())
        .is_ok_and(|got| got < 100)
        || socket.peer_addr().is_err()
}

#[test]
fn other_protocols_are_turned_away_by_their_first_byte() {
    let far = Far::start();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], b"SSH-2.0-x\r\n"] {
        let mut socket = connect(&far);
        socket.write_all(garbage).unwrap();
        assert_eq!(far.rejected(), Rejection::Stranger(garbage[0]));
        is_closed(socket);
    }
    let mut socket = connect(&far);
    socket.write_all(b"TLx9 and so on").unwrap();
    socket.write_all(&[7; GREETING_LENGTH]).unwrap();
    assert!(matches!(far.rejected(), Rejection::Greeting(_)));
    still_serves(&far);
}

#[test]
fn garbage_in_the_shape_of_tls_ends_in_tls() {
    let far = Far::start();
    let mut socket = connect(&far);
    socket
        .write_all(&[0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5])
        .unwrap();
    assert!(matches!(far.rejected(), Rejection::Broken(_)));
    still_serves(&far);
}

#[test]
fn who_says_half_or_drop_by_drop_is_let_go_in_time() {
    let far = Far::with(impatient());
    let silent = connect(&far);
    // A record of 200 bytes was announced.
    let mut half = connect(&far);
    half.write_all(&[0x16, 3, 1, 0, 200, 1, 0, 0, 196]).unwrap();
    let after_tls = raw::connect(far.address);
    let mut dripping = connect(&far);
    let drip = std::thread::spawn(move || {
        while dripping.write_all(&[0x16]).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    });
    let mut reasons: Vec<Rejection> = (0..4).map(|_| far.rejected()).collect();
    // The drops are no TLS as soon as there are five of them.
    reasons.retain(|reason| *reason != Rejection::Silent(SHORT));
    assert!(
        reasons
            .iter()
            .all(|reason| matches!(reason, Rejection::Broken(_))),
        "{reasons:?}"
    );
    assert!(reasons.len() <= 1);
    drip.join().unwrap();
    drop((silent, half, after_tls));
    still_serves(&far);
}

#[test]
fn a_hello_is_bounded_before_it_is_read() {
    let far = Far::start();
    for length in [0u32, 1_025, u32::MAX >> 8] {
        let mut peer = raw::connect(far.address);
        peer.write_all(&length.to_be_bytes()).unwrap();
        peer.flush().unwrap();
        assert_eq!(far.rejected(), Rejection::Hello(length));
    }
    still_serves(&far);
}

#[test]
fn a_wrong_secret_is_refused_and_both_ends_say_so() {
    let far = Far::start();
    let error = far.dial(&token(2)).unwrap_err();
    let DialError::Handshake { source, .. } = &error else {
        panic!("{error}");
    };
    assert!(matches!(source, HandshakeError::Refused(_)));
    assert!(error.hint().unwrap().contains("--new-token"), "{error}");
    assert!(!error.may_pass());
    let reason = far.rejected();
    assert!(matches!(
        reason,
        Rejection::Handshake(HandshakeError::NotAdmitted(_))
    ));
    still_serves(&far);
}

#[test]
fn no_secret_is_shown_by_anything() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let error = far.dial(&token(2)).unwrap_err();
    let shown = format!("{near:?} {accepted:?} {error:?} {error} {:?}", token(1));
    for fill in [1, 2] {
        assert!(!shown.contains(&token(fill).secret.text()));
    }
    let key = format!("{:?}", near.admitted.session_key);
    assert!(key.len() < 32, "{key}");
}

#[test]
fn a_man_in_the_middle_gets_nowhere() {
    let far = Far::start();
    let (middle, thread) = raw::middle(far.address);
    let place: Address = middle.to_string().parse().unwrap();
    let error = copy_net::Dialer::default()
        .control(&[place], &token(1))
        .unwrap_err();
    assert!(matches!(error, DialError::Handshake { .. }), "{error}");
    let reason = far.rejected();
    assert!(matches!(
        reason,
        Rejection::Handshake(HandshakeError::NotAdmitted(_))
    ));
    thread.join().unwrap();
}

#[test]
fn a_stream_goes_to_the_certificate_of_the_conversation_alone() {
    let (far, other) = (Far::start(), Far::start());
    let (near, accepted) = far.meet();
    let _elsewhere = other.meet();
    let pin = Listener::bind(None).unwrap().fingerprint();
    let streams = StreamDialer::new(
        vec![other.address],
        pin,
        near.admitted.session_key.clone(),
        Span::from_secs(5),
    );
    let session = accepted.streams.session().unwrap();
    let error = streams.stream(session, 0, &StreamOptions::default(), false);
    assert!(matches!(error, Err(DialError::Tls { .. })), "{error:?}");
}

fn greet(to: SocketAddr, key: &SessionKey, session: u64, number: u32) -> TcpStream {
    let mut socket = TcpStream::connect(to).unwrap();
    let greeting = key.greet(session, number, None).encode();
    socket.write_all(&greeting).unwrap();
    socket
}

fn session(accepted: &AcceptedSession) -> u64 {
    accepted.streams.session().unwrap()
}

#[test]
fn a_greeting_that_is_repeated_or_belongs_to_others_is_refused() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let (_stranger, other) = far.meet();
    accepted.streams.allow_plain(true);
    let key = &near.admitted.session_key;
    let _first = greet(far.address, key, session(&accepted), 3);
    assert_eq!(accepted.streams.next(TIMEOUT).unwrap().number, 3);
    is_closed(greet(far.address, key, session(&accepted), 3));
    assert_eq!(far.rejected(), Rejection::Repeated(3));
    let used = near
        .streams
        .stream(session(&accepted), 3, &StreamOptions::default(), false);
    assert_eq!(far.rejected(), Rejection::Repeated(3));
    assert!(used.is_err() || used.unwrap().read(&mut [0]).map_or(true, |got| got == 0));
    is_closed(greet(far.address, key, session(&other), 4));
    assert_eq!(far.rejected(), Rejection::NotOurs);
    is_closed(greet(far.address, key, session(&accepted) ^ 1, 4));
    assert_eq!(far.rejected(), Rejection::NoSession);
}

#[test]
fn a_greeting_made_for_one_connection_is_worth_nothing_on_another() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    accepted.streams.allow_plain(true);
    let key = &near.admitted.session_key;
    let one = raw::connect(far.address);
    let mut other = raw::connect(far.address);
    let greeting = key.greet(session(&accepted), 5, Some(&raw::exporter(&one)));
    other.write_all(&greeting.encode()).unwrap();
    assert_eq!(far.rejected(), Rejection::NotOurs);
    // Nor is one that was made for a stream in the clear.
    let mut third = raw::connect(far.address);
    let greeting = key.greet(session(&accepted), 6, None);
    third.write_all(&greeting.encode()).unwrap();
    assert_eq!(far.rejected(), Rejection::NotOurs);
}

#[test]
fn a_stream_in_the_clear_needs_the_word_of_both_ends() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    is_closed(greet(
        far.address,
        &near.admitted.session_key,
        session(&accepted),
        0,
    ));
    assert_eq!(far.rejected(), Rejection::Plain);
}

#[test]
fn streams_of_a_conversation_that_is_over_are_refused() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    let number = session(&accepted);
    drop(accepted);
    let late = near
        .streams
        .stream(number, 0, &StreamOptions::default(), false);
    assert_eq!(far.rejected(), Rejection::NoSession);
    drop(late);
}

/// A peer that is admitted and then does what it likes, and the other end's conversation.
fn admitted(far: &Far) -> (raw::Raw, AcceptedSession) {
    let mut peer = raw::connect(far.address);
    let token = token(1);
    let (name, key) = (token.name, token.secret.key());
    let (_, hello) = NearHandshake::new(name, key, raw::exporter(&peer), SOFTWARE);
    peer.write_all(&hello).unwrap();
    raw::frame(&mut peer).unwrap();
    (peer, far.accepted())
}

#[test]
fn who_was_admitted_and_then_talks_garbage_ends_its_own_conversation_alone() {
    let far = Far::start();
    let (near, accepted) = far.meet();
    for garbage in [&[0xFF; 64][..], &[0, 0, 0, 3, 0xEE, 0xEE, 0xEE]] {
        let (mut peer, garbled) = admitted(&far);
        peer.write_all(garbage).unwrap();
        let error = garbled.conversation.receive(TIMEOUT).unwrap_err();
        assert!(matches!(error, ConversationError::Codec(_)), "{error}");
        // It is told so, whatever else it says.
        garbled.conversation.send(&Message::Cancel).unwrap();
        peer.write_all(garbage).unwrap();
        let told = raw::frame(&mut peer).unwrap();
        assert_eq!(Ok(told), copy_protocol::encode(&Message::Cancel));
    }
    near.conversation.send(&Message::Bye).unwrap();
    assert_eq!(
        accepted.conversation.receive(TIMEOUT).unwrap(),
        Some(Message::Bye)
    );
}

#[test]
fn what_comes_behind_the_goodbye_is_not_kept() {
    let far = Far::start();
    let (mut peer, accepted) = admitted(&far);
    accepted.conversation.begin_to_close(TIMEOUT);
    assert!(raw::frame(&mut peer).is_err(), "the goodbye");
    let cancel = copy_protocol::encode(&Message::Cancel).unwrap();
    for _ in 0..100 {
        peer.write_all(&cancel).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let heard = accepted.conversation.receive(std::time::Duration::ZERO);
    assert!(matches!(heard, Err(ConversationError::Over)), "{heard:?}");
}

/// From another address of this host, so that it is another crowd.
fn connect_from(source: [u8; 4], to: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((source, 0)).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    socket
}

#[test]
fn a_crowd_takes_places_from_itself_alone() {
    let far = Far::with(AcceptLimits {
        waiting: 8,
        ..AcceptLimits::default()
    });
    let mut patient = raw::connect(far.address);
    let crowd: Vec<Socket> = (0..100)
        .map(|_| connect_from([127, 0, 0, 2], far.address))
        .collect();
    for _ in 0..93 {
        assert_eq!(far.rejected(), Rejection::Crowded(8));
    }
    // The one that was there before all of them is still heard.
    patient.write_all(&2_000u32.to_be_bytes()).unwrap();
    patient.flush().unwrap();
    assert_eq!(far.rejected(), Rejection::Hello(2_000));
    still_serves(&far);
    drop(crowd);
}

#[test]
fn thousands_of_connections_pass() {
    let far = Far::start();
    for round in 0..2_000u32 {
        let mut socket = connect(&far);
        let _ = socket.write_all(match round % 3 {
            0 => &[0x16, 3, 1, 2, 0, 1],
            1 => b"TLs1",
            _ => b"?",
        });
    }
    still_serves(&far);
}

#[test]
fn one_conversation_too_many_is_told_so() {
    let limits = AcceptLimits {
        conversations: 1,
        ..AcceptLimits::default()
    };
    let far = Far::keeping(limits, true);
    let first = far.dial(&token(1)).unwrap();
    let error = far.dial(&token(1)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("1 copy is connected"), "{text}");
    assert!(error.hint().unwrap().contains("try again"));
    assert_eq!(far.rejected(), Rejection::Busy(1));
    // The place is free again once the first has left.
    first.conversation.close(TIMEOUT);
    while far.dial(&token(1)).is_err() {}
}

#[test]
fn one_token_cannot_take_all_places() {
    let limits = AcceptLimits {
        conversations_per_name: 2,
        ..AcceptLimits::default()
    };
    let far = Far::keeping(limits, true);
    let first = far.dial(&token(1)).unwrap();
    let _second = far.dial(&token(1)).unwrap();
    let error = far.dial(&token(1)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("2 copies are connected with the token `ana`"),
        "{text}"
    );
    assert!(error.hint().unwrap().contains("try again"));
    assert!(matches!(far.rejected(), Rejection::BusyName(_, 2)));
    first.conversation.close(TIMEOUT);
    while far.dial(&token(1)).is_err() {}
}

#[test]
fn who_does_not_know_the_secret_does_not_learn_that_the_far_end_is_busy() {
    let limits = AcceptLimits {
        conversations: 1,
        ..AcceptLimits::default()
    };
    let far = Far::keeping(limits, true);
    let _first = far.dial(&token(1)).unwrap();
    let error = far.dial(&token(2)).unwrap_err().to_string();
    assert!(!error.contains("connected"), "{error}");
}

#[test]
fn a_stop_breaks_conversations_that_would_last() {
    let far = Far::keeping(AcceptLimits::default(), true);
    let near = far.dial(&token(1)).unwrap();
    drop(far);
    let error = near.conversation.receive(TIMEOUT).unwrap_err();
    assert!(
        matches!(
            error,
            ConversationError::Lost(_) | ConversationError::Closed
        ),
        "{error}"
    );
}

#[test]
fn a_closed_port_is_told_with_its_address() {
    let place: Address = "127.0.0.1:1".parse().unwrap();
    let error = copy_net::Dialer::default()
        .control(&[place], &token(1))
        .unwrap_err();
    let text = error.to_string();
    assert_eq!(text, "127.0.0.1:1 refuses connections");
    assert!(error.may_pass() && error.hint().unwrap().contains("port"));
}
