//! Trains over loopback, and those who abuse them.

mod support;

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use endpoints::server::{ProbingLimits, ServerEvent};
use endpoints::{PathProbes, ServerLimits};
use measure_protocol::trains::{
    Announcement, Bounds, Datagram, DatagramKind, FromClient, FromServer, ProbingWaits, TrainPlan,
};
use measure_protocol::{Answer, Cookie, EchoToken, echo::Echo};
use observe::{
    Fault, Passages, ProbeMethod, Probes, ProbesError, RunObserver, Stamped, TargetError, Train,
    Way,
};
use support::{Iperf3Server, Running, finished, iperf3_client};
use units::{Address, Bytes, Rate, Span};

const FULL: Bytes = Bytes::new(1_500);

fn probes(server: &Running) -> PathProbes {
    PathProbes::connect(&server.target(), &mut ()).unwrap()
}

fn whole(passages: &Passages, packets: usize) {
    assert_eq!(passages.packets.len(), packets);
    let arrived: Vec<Span> = passages.packets.iter().filter_map(|p| p.arrived).collect();
    assert_eq!(arrived.len(), packets);
    assert!(arrived.is_sorted(), "loopback keeps the order");
    assert!(passages.packets.is_sorted_by_key(|packet| packet.left));
    assert_eq!(passages.stamped, Stamped::ByKernel);
}

#[test]
fn trains_pass_both_ways_one_after_the_other() {
    let server = Running::start();
    let mut probes = probes(&server);
    for way in [Way::Forward, Way::Reverse, Way::Forward, Way::Reverse] {
        let train = Train::back_to_back(100, FULL);
        whole(&probes.train(way, &train, &mut ()).unwrap(), 100);
        let train = Train::spaced(20, Bytes::new(100), Span::from_millis(1));
        let seen = probes.train(way, &train, &mut ()).unwrap();
        whole(&seen, 20);
        // Nothing leaves early; how late it is depends on the machine.
        for (packet, due) in seen.packets.iter().zip(&train.departures) {
            assert!(packet.left >= *due);
        }
        // So is what arrives: the last packet is 19 ms behind the first.
        let first = seen.packets[0].arrived.unwrap();
        let last = seen.packets[19].arrived.unwrap();
        let late = seen.packets[0].left;
        assert!(
            last - first + late >= Span::from_millis(18),
            "{first} {last}"
        );
    }
    drop(probes);
    let summary = server.next_end().unwrap();
    assert!(summary.received > Bytes::new(2 * 150_000));
    assert_eq!(summary.sent, Bytes::new(2 * (150_000 + 2_000)));
}

#[test]
fn round_trips_beside_trains_are_echoes() {
    let server = Running::start();
    let mut probes = probes(&server);
    let series = probes.round_trips(Span::from_millis(300), &mut ()).unwrap();
    assert_eq!(series.method, ProbeMethod::UdpEcho);
    assert!(series.min().is_some());
}

#[test]
fn over_ipv6_too() {
    let Ok(server) = endpoints::Server::bind(
        "[::1]:0".parse::<std::net::SocketAddr>().unwrap(),
        ServerLimits::default(),
    ) else {
        return;
    };
    let target: Address = server.address().to_string().parse().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| server.run(&stop, &|_| {}));
        let mut probes = PathProbes::connect(&target, &mut ()).unwrap();
        for way in Way::BOTH {
            let train = Train::back_to_back(10, Bytes::new(72));
            whole(&probes.train(way, &train, &mut ()).unwrap(), 10);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn many_clients_share_a_port() {
    let server = Running::start();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut probes = probes(&server);
                for way in [Way::Forward, Way::Reverse, Way::Forward] {
                    let train = Train::spaced(50, FULL, Span::from_micros(500));
                    let seen = probes.train(way, &train, &mut ()).unwrap();
                    assert_eq!(seen.packets.iter().flat_map(|p| p.arrived).count(), 50);
                }
            });
        }
    });
}

fn failed(outcome: Result<Passages, ProbesError>) -> TargetError {
    match outcome {
        Err(ProbesError::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_trains_are_refused_with_the_bound() {
    let server = Running::with(ServerLimits {
        probing: ProbingLimits {
            bounds: Bounds {
                packets_max: 99,
                ..Bounds::default()
            },
            ..ProbingLimits::default()
        },
        ..ServerLimits::default()
    });
    let mut probes = probes(&server);
    let mut refusal = |train: &Train| {
        let error = failed(probes.train(Way::Reverse, train, &mut ()));
        assert_eq!(error.fault, Fault::Request, "{error}");
        error.to_string()
    };
    let least = if server.address.is_ipv4() { 52 } else { 72 };
    let small = refusal(&Train::back_to_back(2, Bytes::new(least - 1)));
    let words = format!("packets of {} bytes were asked for; {least} to", least - 1);
    assert!(small.contains(&words), "{small}");
    let large = refusal(&Train::back_to_back(2, Bytes::new(65_536)));
    assert!(large.contains("65536 bytes were asked for"), "{large}");
    let many = refusal(&Train::back_to_back(100, FULL));
    let words = "a train of 100 packets was asked for; 1 to 99 are possible";
    assert!(many.ends_with(words), "{many}");
    // The session is as good as before.
    let train = Train::back_to_back(99, FULL);
    whole(&probes.train(Way::Reverse, &train, &mut ()).unwrap(), 99);
}

/// Collects what the target makes wait for.
#[derive(Default)]
struct Waiter(Vec<String>);

impl RunObserver for Waiter {
    fn on_wait(&mut self, why: &str, _: Span) {
        self.0.push(why.to_owned());
    }
}

#[test]
fn a_client_waits_until_its_session_may_send_again() {
    let server = Running::with(ServerLimits {
        probing: ProbingLimits {
            bounds: Bounds {
                rate_max: Rate::from_bits_per_second(1_200_000),
                ..Bounds::default()
            },
            ..ProbingLimits::default()
        },
        ..ServerLimits::default()
    });
    let mut probes = probes(&server);
    let mut waiter = Waiter::default();
    for _ in 0..2 {
        let train = Train::back_to_back(80, FULL);
        whole(
            &probes.train(Way::Reverse, &train, &mut waiter).unwrap(),
            80,
        );
    }
    assert_eq!(waiter.0.len(), 1, "{:?}", waiter.0);
    assert!(waiter.0[0].contains("1.2Mbit/s"), "{:?}", waiter.0);
}

#[test]
fn a_session_that_was_lost_is_opened_anew() {
    let server = Running::with(ServerLimits {
        probing: ProbingLimits {
            waits: ProbingWaits {
                idle: Span::from_millis(200),
                ..ProbingWaits::default()
            },
            ..ProbingLimits::default()
        },
        ..ServerLimits::default()
    });
    let mut probes = probes(&server);
    let end = server.next_end().unwrap_err().to_string();
    assert_eq!(end, "the client has asked for nothing for 200ms");
    let train = Train::back_to_back(5, FULL);
    whole(&probes.train(Way::Reverse, &train, &mut ()).unwrap(), 5);
    server.next_end().unwrap_err();
    let series = probes.round_trips(Span::from_millis(100), &mut ()).unwrap();
    assert_eq!(series.method, ProbeMethod::UdpEcho);
    assert!(series.min().is_some());
}

/// Cancels when it is asked for the second time.
struct Cancels(std::sync::atomic::AtomicUsize);

impl RunObserver for Cancels {
    fn is_cancelled(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 1
    }
}

#[test]
fn a_long_train_can_be_cancelled_and_another_one_sent() {
    let server = Running::start();
    let mut probes = probes(&server);
    for way in Way::BOTH {
        let long = Train::spaced(30, FULL, Span::from_secs(1));
        let error = failed(probes.train(way, &long, &mut Cancels(0.into())));
        assert_eq!(error.fault, Fault::Cancelled);
        let train = Train::back_to_back(5, FULL);
        whole(&probes.train(way, &train, &mut ()).unwrap(), 5);
    }
}

#[test]
fn iperf3_is_named_and_left_as_it_was() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let server = Iperf3Server::lasting();
    let mut probes = PathProbes::connect(&server.target, &mut ()).unwrap();
    let train = Train::back_to_back(5, FULL);
    let Err(ProbesError::Unsupported { why, hint }) = probes.train(Way::Forward, &train, &mut ())
    else {
        panic!("iperf3 stamps no packets");
    };
    assert!(
        why.contains("need `trunkline serve` at the far end"),
        "{why}"
    );
    assert!(hint.unwrap().contains("start `trunkline serve`"));
    let series = probes.round_trips(Span::from_millis(200), &mut ()).unwrap();
    assert_ne!(series.method, ProbeMethod::UdpEcho);
    assert!(series.min().is_some());
    // No ghost of a test keeps the server busy.
    let address = server.target.to_string().parse().unwrap();
    finished(iperf3_client(address, &["-t", "1"]));
}

#[test]
fn a_host_without_any_server_still_answers_round_trips() {
    let address = Address::new(testkit::loopback().to_string(), support::free_port());
    let mut probes = PathProbes::connect(&address, &mut ()).unwrap();
    let series = probes.round_trips(Span::from_millis(200), &mut ()).unwrap();
    assert!(series.min().is_some());
    let train = Train::back_to_back(5, FULL);
    let error = failed(probes.train(Way::Forward, &train, &mut ()));
    assert!(
        error.to_string().contains("refused the connection"),
        "{error}"
    );
    assert!(error.hint.unwrap().contains("trunkline serve"));
}

// Hostile clients.

/// A control connection that has been agreed on for trains, and its token.
fn agreed(server: &Running, seed: u8) -> (TcpStream, EchoToken) {
    let mut control = TcpStream::connect(server.address).unwrap();
    let cookie = Cookie::from_random(&[seed; 36]);
    control.write_all(cookie.as_bytes()).unwrap();
    control.read_exact(&mut [0]).unwrap();
    let params = br#"{"tcp":true,"time":1,"trunkline":{"version":1,"probing":1}}"#;
    control
        .write_all(&measure_protocol::encode_frame(params))
        .unwrap();
    control.read_exact(&mut [0]).unwrap();
    let answer: Answer = serde_json::from_slice(&frame(&mut control)).unwrap();
    assert_eq!(answer.probing, 1);
    (control, answer.echo_token)
}

#[test]
fn echoes_go_to_the_host_of_the_test_alone() {
    let server = Running::with_v4(ServerLimits::default());
    let (_control, token) = agreed(&server, 1);
    let request = Echo::request(token, 1, 1).encode();
    let echoed = |from: &str| {
        let socket = UdpSocket::bind(from).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        socket.send_to(&request, server.address).unwrap();
        socket.recv(&mut [0; 64]).is_ok()
    };
    assert!(!echoed("127.0.0.2:0"));
    assert!((0..20).any(|_| echoed("127.0.0.1:0")));
}

fn frame(control: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    control.read_exact(&mut length).unwrap();
    let mut json = vec![0; u32::from_be_bytes(length) as usize];
    control.read_exact(&mut json).unwrap();
    json
}

fn said(control: &mut TcpStream) -> FromServer {
    serde_json::from_slice(&frame(control)).unwrap()
}

fn ask(control: &mut TcpStream, number: u32, way: Way, packets: usize) {
    let plan = TrainPlan {
        way,
        packet: Bytes::new(1_000),
        departures: vec![Span::ZERO; packets],
    };
    let train = FromClient::Train(Announcement::new(number, &plan));
    control.write_all(&train.encode()).unwrap();
}

fn datagram(kind: DatagramKind, token: EchoToken, train: u32, packet: u32) -> Vec<u8> {
    let beginning = Datagram {
        kind,
        token,
        train,
        packet,
    };
    let mut bytes = beginning.encode().to_vec();
    if kind == DatagramKind::Packet {
        bytes.resize(1_000 - 28, 0);
    }
    bytes
}

fn socket(server: &Running, from: &str) -> UdpSocket {
    let socket = UdpSocket::bind((from, 0)).unwrap();
    socket.connect(server.address).unwrap();
    let timeout = Duration::from_millis(300);
    socket.set_read_timeout(Some(timeout)).unwrap();
    socket
}

fn still_stamps(server: &Running) {
    let train = Train::back_to_back(5, FULL);
    whole(
        &probes(server).train(Way::Forward, &train, &mut ()).unwrap(),
        5,
    );
}

fn impatient() -> ServerLimits {
    ServerLimits {
        probing: ProbingLimits {
            waits: ProbingWaits {
                opener: Span::from_millis(500),
                ..ProbingWaits::default()
            },
            ..ProbingLimits::default()
        },
        ..ServerLimits::default()
    }
}

#[test]
fn only_the_client_is_sent_a_train() {
    let server = Running::with_v4(impatient());
    let (mut control, token) = agreed(&server, 20);
    ask(&mut control, 1, Way::Reverse, 50);
    // With the right token from another host, with a wrong one from the right host, an old train's.
    let stranger = socket(&server, "127.0.0.2");
    stranger
        .send(&datagram(DatagramKind::Opener, token, 1, 0))
        .unwrap();
    let guesser = socket(&server, "127.0.0.1");
    let wrong = EchoToken(token.0 ^ 1);
    guesser
        .send(&datagram(DatagramKind::Opener, wrong, 1, 0))
        .unwrap();
    guesser
        .send(&datagram(DatagramKind::Opener, token, 9, 0))
        .unwrap();
    guesser
        .send(&datagram(DatagramKind::Packet, token, 1, 0))
        .unwrap();
    let FromServer::Refused(refused) = said(&mut control) else {
        panic!("a train was sent");
    };
    assert!(
        refused.why.contains("no datagram of the client"),
        "{refused:?}"
    );
    assert!(stranger.recv(&mut [0; 2_000]).is_err());
    assert!(guesser.recv(&mut [0; 2_000]).is_err());
    still_stamps(&server);
}

#[test]
fn wrong_datagrams_among_those_of_a_train_do_not_count() {
    let server = Running::with_v4(ServerLimits::default());
    let (mut control, token) = agreed(&server, 21);
    let client = socket(&server, "127.0.0.1");
    ask(&mut control, 1, Way::Forward, 3);
    client
        .send(&datagram(DatagramKind::Opener, token, 1, 0))
        .unwrap();
    assert_eq!(said(&mut control), FromServer::Ready { number: 1 });
    let packet = |token, train, number| datagram(DatagramKind::Packet, token, train, number);
    for wrong in [
        packet(EchoToken(token.0 ^ 1), 1, 0),
        packet(token, 2, 0),
        packet(token, 1, 3),
        packet(token, 1, u32::MAX),
        packet(token, 1, 0)[..500].to_vec(),
        b"nothing of the kind".to_vec(),
        Vec::new(),
    ] {
        client.send(&wrong).unwrap();
    }
    client.send(&packet(token, 1, 1)).unwrap();
    client.send(&packet(token, 1, 1)).unwrap();
    control
        .write_all(&FromClient::Sent { number: 1 }.encode())
        .unwrap();
    let FromServer::Arrived(stamps) = said(&mut control) else {
        panic!("no stamps");
    };
    let came: Vec<bool> = stamps.arrived_ns.iter().map(Option::is_some).collect();
    assert_eq!(came, [false, true, false]);
}

#[test]
fn a_flood_before_and_during_a_session_harms_no_other() {
    let server = Running::start();
    let flood = socket(&server, &server.address.ip().to_string());
    let pour = |datagram: &[u8]| (0..20_000).for_each(|_| drop(flood.send(datagram)));
    pour(&datagram(DatagramKind::Opener, EchoToken(1), 1, 0));
    let (mut control, token) = agreed(&server, 22);
    pour(&datagram(DatagramKind::Opener, token, 7, 0));
    pour(&datagram(DatagramKind::Packet, token, 7, 0));
    ask(&mut control, 8, Way::Forward, 2);
    flood
        .send(&datagram(DatagramKind::Opener, token, 8, 0))
        .unwrap();
    assert_eq!(said(&mut control), FromServer::Ready { number: 8 });
    still_stamps(&server);
}

#[test]
fn a_client_that_vanishes_in_a_train_takes_no_other_along() {
    let server = Running::start();
    let (mut control, token) = agreed(&server, 23);
    let client = socket(&server, &server.address.ip().to_string());
    ask(&mut control, 1, Way::Forward, 3);
    client
        .send(&datagram(DatagramKind::Opener, token, 1, 0))
        .unwrap();
    assert_eq!(said(&mut control), FromServer::Ready { number: 1 });
    drop((control, client));
    let end = server.next_end().unwrap_err().to_string();
    assert_eq!(end, "the client vanished during train 1");
    still_stamps(&server);
}

#[test]
fn a_train_ends_with_the_client_that_it_is_for() {
    let server = Running::start();
    let (mut control, token) = agreed(&server, 28);
    let client = socket(&server, &server.address.ip().to_string());
    let plan = TrainPlan {
        way: Way::Reverse,
        packet: Bytes::new(1_000),
        departures: vec![Span::ZERO, Span::from_secs(29)],
    };
    let train = FromClient::Train(Announcement::new(1, &plan));
    control.write_all(&train.encode()).unwrap();
    client
        .send(&datagram(DatagramKind::Opener, token, 1, 0))
        .unwrap();
    client.recv(&mut [0; 2_000]).unwrap();
    let began = std::time::Instant::now();
    drop((control, client));
    // Whether it could still be told that the train is off is a matter of chance.
    let _ = server.next_end();
    // Long before the second packet is due.
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn messages_out_of_bounds_end_the_session_alone() {
    let server = Running::start();
    let many = format!(
        r#"{{"train":{{"number":1,"way":"reverse","packet_bytes":1000,"departures_ns":[{}0]}}}}"#,
        "0,".repeat(200_000)
    );
    for (seed, bytes, words) in [
        (24, vec![0xFF; 4], "4294967295"),
        (
            25,
            measure_protocol::encode_frame(many.as_bytes()),
            "at most 262144",
        ),
        (
            26,
            measure_protocol::encode_frame(b"{\"results\":1}"),
            "cannot be read",
        ),
    ] {
        let (mut control, _) = agreed(&server, seed);
        // The server may hang up before it has read all.
        let _ = control.write_all(&bytes);
        let end = server.next_end().unwrap_err().to_string();
        assert!(end.contains(words), "{end}");
        still_stamps(&server);
        server.next_end().unwrap();
    }
}

#[test]
fn sessions_count_as_tests() {
    let server = Running::with(ServerLimits {
        sessions: 1,
        ..ServerLimits::default()
    });
    let (control, _) = agreed(&server, 27);
    let mut waiting = PathProbes::connect(&server.target(), &mut ()).unwrap();
    let train = Train::back_to_back(5, FULL);
    let error = failed(waiting.train(Way::Forward, &train, &mut ()));
    assert!(
        error.to_string().contains("busy with another test"),
        "{error}"
    );
    drop(control);
    while !matches!(server.next_event(), ServerEvent::Ended { .. }) {}
    whole(&waiting.train(Way::Forward, &train, &mut ()).unwrap(), 5);
}
