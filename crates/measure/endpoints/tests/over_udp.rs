//! Tests whose streams come over UDP, on loopback.

mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{Channel, DialError, UDP_WAIT, dial_udp};
use endpoints::server::{Refusal, SessionError};
use endpoints::{Client, ClientError, Runs, ServerEvent, ServerLimits};
use measure_protocol::{Cookie, TestBounds, numbered_greeting};
use observe::{
    Amount, DatagramPlan, Direction, Observation, Peer, SamplePlan, Setting, StreamCount,
    TargetError, Then, Transport, UDP_CONTROL, Window,
};
use support::{Iperf3Server, Running};
use units::{Address, Bytes, Rate, Span};

fn setting(streams: u64, direction: Direction) -> Setting {
    Setting {
        transport: Transport::Udp,
        direction,
        // So that many tests at once leave each other some of the processor.
        pacing: Some(Rate::from_bits_per_second(40_000_000)),
        ..Setting::new(StreamCount::new(streams).unwrap(), Window::Auto)
    }
}

fn plan() -> SamplePlan {
    SamplePlan {
        unloaded: Span::from_millis(100),
        ..SamplePlan::lasting(Span::from_secs(1))
    }
}

fn run(target: Address, setting: &Setting) -> Result<Observation, ClientError> {
    Client::new(target).run(setting, &plan(), &mut ())
}

/// The server is as it was: a proper client gets a proper test.
fn still_serves(server: &Running) {
    let seen = run(server.target(), &setting(1, Direction::Forward)).unwrap();
    assert!(seen.bytes_delivered() > Bytes::ZERO);
}

fn refusal(server: &Running) -> Refusal {
    loop {
        if let ServerEvent::Refused { reason, .. } = server.next_event() {
            return reason;
        }
    }
}

#[test]
fn both_ends_are_seen_in_each_direction() {
    let server = Running::start();
    for (direction, streams) in [
        (Direction::Forward, 1),
        (Direction::Reverse, 2),
        (Direction::Both, 2),
    ] {
        let seen = run(server.target(), &setting(2, direction)).unwrap();
        assert_eq!(seen.peer, Peer::Trunkline);
        assert_eq!(seen.congestion_used.as_deref(), Some(UDP_CONTROL));
        assert!(seen.streams.len() >= streams, "{direction:?}");
        for stream in &seen.streams {
            assert_eq!((stream.buffers, stream.buffers_far), (None, None));
            assert!(stream.delivery.total() > Bytes::from_kib(500), "{stream:?}");
            assert!(stream.delivery.progress.len() >= 5);
            let last = stream.tcp.last().unwrap();
            assert!(last.rtt.is_some() && last.bytes_acked > Some(Bytes::ZERO));
            assert_eq!((last.peer_window, last.busy), (None, None));
            assert!(stream.thread_cpu > Some(Span::ZERO));
        }
        let sum = server.next_end().unwrap();
        let moved = sum.received.get() + sum.sent.get();
        assert!(moved >= seen.bytes_delivered().get(), "{sum:?}");
    }
}

#[test]
fn a_number_of_bytes_arrives_to_the_last_one() {
    let server = Running::start();
    let bytes = Bytes::new(2_000_003);
    for direction in [Direction::Forward, Direction::Reverse] {
        let plan = SamplePlan {
            amount: Amount::Bytes(bytes),
            ..plan()
        };
        let client = Client::new(server.target());
        let seen = client.run(&setting(1, direction), &plan, &mut ());
        assert_eq!(seen.unwrap().bytes_delivered(), bytes);
    }
}

#[test]
fn streams_join_while_data_flows() {
    let server = Running::start();
    let mut runs = Runs::new(Client::new(server.target()));
    let plan = SamplePlan {
        then: Then::KeepRunning,
        ..plan()
    };
    let mut before = None;
    for streams in [1, 3] {
        let setting = setting(streams, Direction::Forward);
        let seen = runs.observe(&setting, &plan, &mut ()).unwrap();
        assert_eq!(seen.grown_from, before);
        assert_eq!(seen.streams.len() as u64, streams);
        before = Some(setting.streams);
    }
    runs.stop();
    assert!(server.next_end().is_ok());
}

#[test]
fn what_only_tcp_has_is_refused_by_name() {
    let server = Running::start();
    let mut setting = setting(1, Direction::Forward);
    setting.congestion = Some("bbr".to_owned());
    let error = TargetError::from(run(server.target(), &setting).unwrap_err());
    assert_eq!(
        error.what,
        "`--congestion` is for TCP, and this run goes over UDP"
    );
}

#[test]
fn an_iperf3_server_is_told_as_what_it_is() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let server = Iperf3Server::lasting();
    let error = run(server.target.clone(), &setting(1, Direction::Forward)).unwrap_err();
    assert!(matches!(
        &error,
        ClientError::NoUdp {
            server: Peer::Iperf3,
            ..
        }
    ));
    assert!(
        error
            .hint()
            .unwrap()
            .contains("leave out `--transport udp`")
    );
}

/// A port whose TCP leads to the server, and whose UDP leads nowhere.
fn without_udp(server: &Running) -> SocketAddr {
    let listener = TcpListener::bind((server.address.ip(), 0)).unwrap();
    let (at, to) = (listener.local_addr().unwrap(), server.address);
    thread::spawn(move || {
        while let Ok((near, _)) = listener.accept() {
            let far = TcpStream::connect(to).unwrap();
            for (mut from, mut to) in [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ] {
                thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        }
    });
    at
}

#[test]
fn a_port_that_takes_no_udp_is_named() {
    let server = Running::start();
    let at = without_udp(&server);
    let target: Address = at.to_string().parse().unwrap();
    let error = run(target, &setting(1, Direction::Forward)).unwrap_err();
    assert!(matches!(
        &error,
        ClientError::Udp(DialError::UdpRefused { peer }) if *peer == at
    ));
    assert!(error.to_string().contains(&at.to_string()), "{error}");
    let rate = Rate::from_bits_per_second(1_000_000);
    let plan = DatagramPlan::new(Some(rate), Span::from_secs(1));
    let target: Address = at.to_string().parse().unwrap();
    let error = Client::new(target).datagrams(&plan, &mut ()).unwrap_err();
    assert!(matches!(
        &error,
        ClientError::Udp(DialError::UdpRefused { peer }) if *peer == at
    ));
    still_serves(&server);
}

/// A port whose UDP leads to the server, and whose TCP leads nowhere.
fn without_tcp(server: &Running) -> SocketAddr {
    let near = UdpSocket::bind((server.address.ip(), 0)).unwrap();
    let (at, to) = (near.local_addr().unwrap(), server.address);
    thread::spawn(move || {
        let mut flows: BTreeMap<SocketAddr, UdpSocket> = BTreeMap::new();
        let mut packet = [0; 1 << 16];
        while let Ok((length, from)) = near.recv_from(&mut packet) {
            let far = flows.entry(from).or_insert_with(|| {
                let far = UdpSocket::bind((to.ip(), 0)).unwrap();
                far.connect(to).unwrap();
                let (near, back) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                thread::spawn(move || {
                    let mut packet = [0; 1 << 16];
                    while let Ok(length) = back.recv(&mut packet) {
                        let _ = near.send_to(&packet[..length], from);
                    }
                });
                far
            });
            let _ = far.send(&packet[..length]);
        }
    });
    at
}

#[test]
fn a_path_that_passes_udp_alone_is_measured() {
    let server = Running::start();
    let at = without_tcp(&server);
    assert!(TcpStream::connect(at).is_err());
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        let target: Address = at.to_string().parse().unwrap();
        let seen = run(target, &setting(2, direction)).unwrap();
        assert!(seen.bytes_delivered() > Bytes::from_kib(500));
        // The server hears the last word, and not that its client was lost.
        assert!(server.next_end().is_ok());
    }
}

/// Whether the server has not ended it, as far as shows within a moment.
fn is_open(channel: &mut Channel) -> bool {
    use std::io::{ErrorKind, Read};
    channel.set_timeout(Some(Span::from_millis(20))).unwrap();
    let read = channel.read(&mut [0]);
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn control_connections_that_say_nothing_take_places_from_themselves() {
    let server = Running::start();
    let at: Address = without_tcp(&server).to_string().parse().unwrap();
    let running = {
        let (at, setting) = (at.clone(), setting(1, Direction::Reverse));
        thread::spawn(move || run(at, &setting))
    };
    while !matches!(server.next_event(), ServerEvent::Started { .. }) {}
    let mut silent: Vec<_> = (0..100).map(|_| says(&server, b"TLu1")).collect();
    // 64 of one address, the running one among them. A busy server takes a moment.
    let mut open = || silent.iter_mut().map(is_open).filter(|open| *open).count();
    let until = Instant::now() + Duration::from_secs(30);
    while open() >= 64 {
        assert!(Instant::now() < until, "64 and more stay open");
    }
    assert!(running.join().unwrap().is_ok());
    let seen = run(at, &setting(1, Direction::Forward)).unwrap();
    assert!(seen.bytes_delivered() > Bytes::ZERO);
    drop(silent);
    let garbage = says(
        &server,
        b"TLu1 and what no client would say, in so many words",
    );
    // On a busy host those that say nothing are refused for their silence before.
    loop {
        match refusal(&server) {
            Refusal::Stranger(_) => break,
            Refusal::Silent(_) => {}
            other => panic!("{other}"),
        }
    }
    drop(garbage);
    still_serves(&server);
}

#[test]
fn a_stopped_server_tells_those_who_are_connected_over_udp_alone() {
    let server = Running::start();
    let at: Address = without_tcp(&server).to_string().parse().unwrap();
    let running = thread::spawn(move || {
        let plan = SamplePlan::lasting(Span::from_secs(30));
        Client::new(at).run(&setting(1, Direction::Forward), &plan, &mut ())
    });
    while !matches!(server.next_event(), ServerEvent::Started { .. }) {}
    server.stop();
    let error = running.join().unwrap().unwrap_err();
    assert!(error.to_string().contains("stopped"), "{error}");
}

#[test]
fn a_test_over_udp_keeps_to_the_bounds_of_all_tests() {
    let rate = Rate::from_bits_per_second(50_000_000);
    let server = Running::with(ServerLimits {
        tests: TestBounds {
            time_max: Some(Span::from_secs(2)),
            rate_max: Some(rate),
        },
        ..ServerLimits::default()
    });
    let refused = run(server.target(), &setting(2, Direction::Reverse)).unwrap_err();
    assert!(matches!(refused, ClientError::Control { .. }), "{refused}");
    assert!(matches!(server.next_end(), Err(SessionError::Beyond(_))));
    let unpaced = Setting {
        pacing: None,
        ..setting(1, Direction::Reverse)
    };
    assert!(run(server.target(), &unpaced).is_err());
    assert!(matches!(server.next_end(), Err(SessionError::Beyond(_))));
    let seen = run(server.target(), &setting(1, Direction::Reverse)).unwrap();
    // The sender keeps to the pace; a burst, and what is read late, are allowed for.
    let most = rate.bytes_in(seen.duration + Span::from_millis(500));
    assert!(seen.bytes_delivered() < most, "{}", seen.bytes_delivered());
}

/// A connection over UDP that says something.
fn says(server: &Running, words: &[u8]) -> Channel {
    let mut channel = dial_udp(server.address, None, UDP_WAIT, &|| false).unwrap();
    channel.write_all(words).unwrap();
    channel
}

#[test]
fn streams_of_no_test_and_garbage_are_turned_away() {
    let server = Running::start();
    let unknown = numbered_greeting(&Cookie::from_random(&[3; 36]), 0);
    let stranger = says(&server, &unknown);
    assert_eq!(refusal(&server), Refusal::NoTest);
    let garbage = says(&server, &[0xab; 4096]);
    assert!(matches!(refusal(&server), Refusal::Stranger(_)));
    // Datagrams of no protocol at all.
    let socket = UdpSocket::bind((server.address.ip(), 0)).unwrap();
    for length in [0, 1, 20, 1200, 9000] {
        socket.send_to(&vec![0xc3; length], server.address).unwrap();
    }
    still_serves(&server);
    drop((stranger, garbage));
}

#[test]
fn a_greeting_in_pieces_counts_as_one() {
    let server = Running::start();
    let unknown = numbered_greeting(&Cookie::from_random(&[5; 36]), 0);
    let mut channel = dial_udp(server.address, None, UDP_WAIT, &|| false).unwrap();
    for byte in unknown {
        channel.write_all(&[byte]).unwrap();
    }
    assert_eq!(refusal(&server), Refusal::NoTest);
}

/// Opens a control connection, asks for a test over UDP, and reads what the server says.
fn asks(server: &Running, cookie: &Cookie) -> TcpStream {
    use std::io::Read;
    let mut control = TcpStream::connect(server.address).unwrap();
    control.write_all(cookie.as_bytes()).unwrap();
    control.read_exact(&mut [0]).unwrap();
    let offer = r#"{"version":1,"udp":true}"#;
    let asked = r#"{"tcp":true,"time":60,"parallel":1,"reverse":true,"trunkline":OFFER}"#;
    let asked = asked.replace("OFFER", offer);
    let frame = measure_protocol::encode_frame(asked.as_bytes());
    control.write_all(&frame).unwrap();
    let mut answer = [0; 5];
    control.read_exact(&mut answer).unwrap();
    let length = u32::from_be_bytes(*answer.last_chunk().unwrap());
    let mut rest = vec![0; length as usize + 1];
    control.read_exact(&mut rest).unwrap();
    let text = String::from_utf8_lossy(&rest).into_owned();
    assert!(text.contains(r#""udp":true"#), "{text}");
    control
}

#[test]
fn a_client_that_leaves_before_its_stream_comes_is_forgotten() {
    let server = Running::start();
    let cookie = Cookie::from_random(&[7; 36]);
    drop(asks(&server, &cookie));
    assert!(server.next_end().is_err());
    still_serves(&server);
}

#[test]
fn a_client_that_leaves_while_it_is_sent_to_ends_the_test() {
    let server = Running::start();
    let cookie = Cookie::from_random(&[9; 36]);
    let control = asks(&server, &cookie);
    let stream = says(&server, &numbered_greeting(&cookie, 0));
    thread::sleep(Span::from_millis(300).into());
    // The connection over UDP stays: the control connection alone ends the test.
    drop(control);
    let ended = server.next_end();
    assert!(matches!(ended, Err(SessionError::Control(_))), "{ended:?}");
    still_serves(&server);
    drop(stream);
}

#[test]
fn streams_beside_those_agreed_on_are_not_taken() {
    let server = Running::start();
    let cookie = Cookie::from_random(&[11; 36]);
    let control = asks(&server, &cookie);
    // Over TCP, and of another number.
    let mut by_tcp = TcpStream::connect(server.address).unwrap();
    by_tcp.write_all(&numbered_greeting(&cookie, 0)).unwrap();
    let other = says(&server, &numbered_greeting(&cookie, 1));
    thread::sleep(Span::from_millis(300).into());
    drop(control);
    let ended = server.next_end().unwrap_err();
    assert!(ended.to_string().contains("1 more streams"), "{ended}");
    still_serves(&server);
    drop((by_tcp, other));
}
