//! Tests of datagrams at a rate: ours and iperf3's client, at ours and iperf3's server.

mod support;

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use endpoints::{Client, ClientError, ServerLimits};
use measure_protocol::ServerWaits;
use observe::{DatagramPlan, Datagrams, Direction, Peer, StreamCount, Way};
use serde_json::Value;
use support::{Iperf3Server, Running, finished, iperf3_client};
use units::{Address, Bytes, Rate, Span};

const RATE: Rate = Rate::from_bits_per_second(8_000_000);

fn plan(direction: Direction, streams: u64) -> DatagramPlan {
    DatagramPlan {
        direction,
        streams: StreamCount::new(streams).unwrap(),
        ..DatagramPlan::new(Some(RATE), Span::from_secs(1))
    }
}

fn run(target: &Address, plan: &DatagramPlan) -> Result<Datagrams, ClientError> {
    Client::new(target.clone()).datagrams(plan, &mut ())
}

/// A busy machine sends later than it should, and no more than that: most of a second's data has
/// come.
fn check(seen: &Datagrams, plan: &DatagramPlan, what: &str) {
    for way in Way::BOTH {
        let Some(totals) = seen.totals(way) else {
            continue;
        };
        assert!(totals.sent > 100, "{what}: {seen:?}");
        assert!(totals.lost < totals.sent / 2, "{what}: {seen:?}");
        assert_eq!(
            totals.sent,
            totals.arrived + totals.lost,
            "{what}: {seen:?}"
        );
        let goodput = totals.goodput.as_f64();
        assert!((1e6..9e6).contains(&goodput), "{what}: {goodput}, {seen:?}");
        assert!(totals.goodput <= totals.rate_sent, "{what}: {seen:?}");
        assert!(totals.jitter < Span::from_millis(500), "{what}: {seen:?}");
        assert_eq!(totals.reordered.unwrap_or(0), 0, "{what}: {seen:?}");
        assert_eq!(totals.duplicates.unwrap_or(0), 0, "{what}: {seen:?}");
        for one in seen.of(way) {
            assert_eq!(one.sent_bytes, plan.size.times(one.sent), "{what}");
            assert_eq!(one.arrived_bytes, plan.size.times(one.arrived), "{what}");
        }
        let streams = seen.of(way).count();
        assert_eq!(streams, usize::from(plan.streams.get()), "{what}");
    }
    let ways = Way::BOTH.map(|way| seen.totals(way).is_some());
    let expected = match plan.direction {
        Direction::Forward => [true, false],
        Direction::Reverse => [false, true],
        Direction::Both => [true, true],
    };
    assert_eq!(ways, expected, "{what}");
}

#[test]
fn our_client_sends_and_receives_at_our_server() {
    let server = Running::start();
    let target = server.address.to_string().parse().unwrap();
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        let plan = plan(direction, 2);
        let seen = run(&target, &plan).unwrap();
        check(&seen, &plan, "ours");
        assert_eq!(seen.peer, Peer::Trunkline);
        let told = |stream: &observe::DatagramStream| {
            let dropped = stream.dropped_by_receiver.and(stream.not_sent);
            dropped.and(stream.delay_growth).is_some() && stream.rates.len() >= 5
        };
        assert!(seen.streams.iter().all(told), "{seen:?}");
        let summary = server.next_end().unwrap();
        let bytes = |way| -> Bytes { seen.of(way).map(|one| one.arrived_bytes).sum() };
        assert!(summary.received >= bytes(Way::Forward), "{summary:?}");
        assert!(summary.sent >= bytes(Way::Reverse), "{summary:?}");
    }
}

/// Over IPv6, and over IPv4 at a server for both.
#[test]
fn both_families_carry_datagrams() {
    if UdpSocket::bind("[::1]:0").is_err() {
        return testkit::skip("this host has no IPv6");
    }
    for host in ["[::1]", "127.0.0.1"] {
        let server = Running::at("[::]:0", ServerLimits::default());
        let target = format!("{host}:{}", server.address.port());
        let plan = plan(Direction::Both, 2);
        let seen = run(&target.parse().unwrap(), &plan).unwrap();
        check(&seen, &plan, host);
    }
}

#[test]
fn our_client_sends_and_receives_at_iperf3() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let plans = [
        plan(Direction::Forward, 1),
        plan(Direction::Reverse, 4),
        plan(Direction::Both, 2),
    ];
    for plan in plans {
        // It serves one test.
        let server = Iperf3Server::start();
        let seen = run(&server.target, &plan).unwrap();
        check(&seen, &plan, "iperf3's server");
        assert_eq!(seen.peer, Peer::Iperf3);
    }
}

/// What iperf3's client reports of a test at our server.
fn reported(options: &[&str]) -> Value {
    let server = Running::start();
    // The datagrams that loopback has room for are large, and few.
    let mut all = vec!["-u", "-J", "-l", "1400"];
    all.extend(options);
    let text = finished(iperf3_client(server.address, &all));
    let summary = server.next_end().unwrap();
    assert!(summary.received + summary.sent > Bytes::ZERO, "{options:?}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{options:?}: {error}: {text}"))
}

fn number(report: &Value, place: &str) -> f64 {
    let value = report.pointer(place).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{place} is not in {report}"))
}

/// Loss, jitter and packets are those of a loopback that is not full.
#[test]
fn iperf3_measures_at_our_server_whatever_it_asks_for() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let cases: [&[&str]; 9] = [
        &["-b", "8M", "-t", "1"],
        &["-b", "8M", "-t", "1", "-R"],
        &["-b", "8M", "-t", "1", "--bidir"],
        &["-b", "2M", "-t", "1", "-P", "4"],
        &[
            "-b",
            "2M",
            "-t",
            "1",
            "-P",
            "4",
            "-R",
            "--udp-counters-64bit",
        ],
        &["-b", "8M/10", "-n", "500K"],
        &["-b", "8M/10", "-k", "400", "-R"],
        &["-b", "8M", "-t", "1", "-O", "1", "--get-server-output"],
        &["-b", "8M", "-t", "1", "-S", "32", "-4"],
    ];
    for options in cases {
        let report = reported(options);
        assert_eq!(report["error"], Value::Null, "{options:?}");
        let lost = number(&report, "/end/sum/lost_packets");
        let packets = number(&report, "/end/sum/packets");
        assert!(
            packets > 100.0 && lost < packets / 2.0,
            "{options:?}: {lost} of {packets}"
        );
        let jitter = number(&report, "/end/sum/jitter_ms");
        assert!((0.0..500.0).contains(&jitter), "{options:?}: {jitter}");
    }
}

/// 100 MB, in the direction in which our server sends, too. At the rate that iperf3 has without
/// `-b` they would take 13 minutes, and the server allows 60 s.
#[test]
fn without_a_rate_our_server_sends_until_its_client_has_enough() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for way in [&["-R"][..], &[]] {
        let server = Running::with(ServerLimits {
            waits: ServerWaits {
                endless: Span::from_secs(60),
                ..ServerWaits::default()
            },
            ..ServerLimits::default()
        });
        let mut options = vec!["-u", "-J", "-l", "1400", "-b", "0", "-n", "100M"];
        options.extend(way);
        let text = finished(iperf3_client(server.address, &options));
        let summary = server.next_end().unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["error"], Value::Null, "{way:?}");
        match way {
            [] => assert!(summary.received > Bytes::ZERO, "{summary:?}"),
            _ => assert!(summary.sent >= Bytes::from_mib(100), "{summary:?}"),
        }
    }
}

#[test]
fn eight_iperf3_clients_are_served_at_once_over_tcp_and_udp() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let server = Running::start();
    let options: [&[&str]; 4] = [
        &["-u", "-l", "1400", "-b", "2M", "-t", "2", "-P", "2", "-J"],
        &["-t", "2", "-b", "20M", "-J"],
        &[
            "-u", "-l", "1400", "-b", "2M", "-t", "2", "-R", "-P", "3", "-J",
        ],
        &["-t", "2", "-b", "20M", "-R", "-J"],
    ];
    let clients: Vec<_> = (0..8)
        .map(|index| (index, iperf3_client(server.address, options[index % 4])))
        .collect();
    for (index, client) in clients {
        let report: Value = serde_json::from_str(&finished(client)).unwrap();
        assert_eq!(report["error"], Value::Null, "client {index}");
        if index % 2 == 0 {
            let lost = number(&report, "/end/sum/lost_percent");
            assert!(lost < 50.0, "client {index}: {lost}");
            assert!(number(&report, "/end/sum/packets") > 50.0, "client {index}");
        }
    }
    for _ in 0..8 {
        server.next_end().unwrap();
    }
}

/// Carries datagrams to a server and back, but for some of them; TCP goes by itself.
struct Lossy {
    at: SocketAddr,
    dropped: Arc<AtomicUsize>,
}

/// Drops the first `greetings` of the client's datagrams and the first `answers` of the server's,
/// and holds the others of the server for so long.
fn lossy(server: SocketAddr, greetings: usize, answers: usize, held: Duration) -> Lossy {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&dropped);
    // One host is the client's, another one the server sees: the ports are the same.
    let near = UdpSocket::bind(SocketAddr::from(([127, 0, 0, 3], server.port()))).unwrap();
    let listener = std::net::TcpListener::bind(near.local_addr().unwrap()).unwrap();
    let at = near.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let far = TcpStream::connect(server).unwrap();
            for (mut from, mut to) in [
                (client.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, client),
            ] {
                thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        }
    });
    thread::spawn(move || {
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        far.connect(server).unwrap();
        let timeout = Some(Duration::from_millis(5));
        near.set_read_timeout(timeout).unwrap();
        far.set_read_timeout(timeout).unwrap();
        let (mut there, mut back, mut client) = (0, 0, None);
        let mut queue: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
        let mut datagram = [0; 2_000];
        loop {
            if let Ok((length, from)) = near.recv_from(&mut datagram) {
                client = Some(from);
                there += 1;
                match there <= greetings {
                    true => drop(counted.fetch_add(1, Ordering::Relaxed)),
                    false => drop(far.send(&datagram[..length])),
                }
            }
            for _ in 0..8 {
                let Ok(length) = far.recv(&mut datagram) else {
                    break;
                };
                back += 1;
                match back <= answers {
                    true => drop(counted.fetch_add(1, Ordering::Relaxed)),
                    false => queue.push_back((Instant::now() + held, datagram[..length].to_vec())),
                }
            }
            while queue.front().is_some_and(|(due, _)| *due <= Instant::now()) {
                let (_, late) = queue.pop_front().unwrap();
                let _ = near.send_to(&late, client.unwrap());
            }
        }
    });
    Lossy { at, dropped }
}

#[test]
fn lost_greetings_and_lost_answers_are_made_up_for() {
    for (greetings, answers, direction) in [
        (2, 0, Direction::Forward),
        (0, 2, Direction::Forward),
        (1, 1, Direction::Reverse),
    ] {
        let server = Running::with_v4(ServerLimits::default());
        let path = lossy(server.address, greetings, answers, Duration::ZERO);
        let target = path.at.to_string().parse().unwrap();
        let plan = plan(direction, 1);
        let plan = DatagramPlan {
            rate: Some(Rate::from_bits_per_second(1_000_000)),
            ..plan
        };
        let seen = run(&target, &plan).unwrap();
        let way = match direction {
            Direction::Reverse => Way::Reverse,
            _ => Way::Forward,
        };
        let totals = seen.totals(way).unwrap();
        assert!(totals.arrived > 20, "{direction:?}: {seen:?}");
        let dropped = path.dropped.load(Ordering::Relaxed);
        // A test may begin by the server's word over TCP before the second answer leaves.
        let least = greetings + answers.min(1);
        let expected = least..=greetings + answers;
        assert!(expected.contains(&dropped), "{direction:?}: {dropped}");
    }
}

/// The server's last word overtakes its datagrams, as behind a queue for each flow.
#[test]
fn datagrams_behind_the_servers_word_are_not_lost() {
    let server = Running::with_v4(ServerLimits::default());
    let path = lossy(server.address, 0, 0, Duration::from_millis(400));
    let plan = DatagramPlan {
        rate: Some(Rate::from_bits_per_second(1_000_000)),
        ..plan(Direction::Reverse, 1)
    };
    let seen = run(&path.at.to_string().parse().unwrap(), &plan).unwrap();
    let totals = seen.totals(Way::Reverse).unwrap();
    assert!(totals.sent > 20, "{seen:?}");
    // 300 of 1,000 ms would be missing; a busy machine may be late with the last ones.
    assert!(totals.lost * 5 < totals.sent, "{seen:?}");
}

/// A client whose two streams of datagrams are waited for.
fn waited_for(server: &Running) -> TcpStream {
    let mut silent = TcpStream::connect(server.address).unwrap();
    let mut cookie = [b'a'; 37];
    cookie[36] = 0;
    silent.write_all(&cookie).unwrap();
    silent.read_exact(&mut [0]).unwrap();
    let params = br#"{"udp":true,"time":5,"parallel":2,"len":1400,"bandwidth":1000000}"#;
    let mut message = (params.len() as u32).to_be_bytes().to_vec();
    message.extend_from_slice(params);
    silent.write_all(&message).unwrap();
    let mut state = [0];
    silent.read_exact(&mut state).unwrap();
    // It is asked for its streams.
    assert_eq!(state, [10]);
    silent
}

/// Of another address, and more of its own than the test has streams.
#[test]
fn greetings_of_strangers_take_no_stream_of_a_test_that_waits() {
    let server = Running::with_v4(ServerLimits::default());
    let _client = waited_for(&server);
    let cases = [
        ("127.0.0.2:0", false),
        ("127.0.0.1:0", true),
        ("127.0.0.1:0", true),
        ("127.0.0.1:0", false),
    ];
    let mut sockets = Vec::new();
    for (host, is_answered) in cases {
        let socket = UdpSocket::bind(host).unwrap();
        socket.connect(server.address).unwrap();
        let patience = Duration::from_millis(if is_answered { 30_000 } else { 300 });
        socket.set_read_timeout(Some(patience)).unwrap();
        socket.send(b"9876").unwrap();
        let answer = socket.recv(&mut [0; 64]);
        assert_eq!(answer.is_ok(), is_answered, "{host}, {}", sockets.len());
        sockets.push(socket);
    }
}

#[test]
fn a_client_that_never_greets_holds_up_others_of_its_host_for_seconds_alone() {
    let server = Running::start();
    let _silent = waited_for(&server);
    let target = server.address.to_string().parse().unwrap();
    let plan = plan(Direction::Forward, 1);
    check(
        &run(&target, &plan).unwrap(),
        &plan,
        "behind a silent client",
    );
    let error = server.next_end().unwrap_err().to_string();
    assert!(error.contains("no datagram that opens a stream"), "{error}");
    server.next_end().unwrap();
}

/// A stranger's datagrams open nothing and are not answered.
#[test]
fn greetings_of_no_test_are_not_answered() {
    let server = Running::start();
    let stranger = UdpSocket::bind((server.address.ip(), 0)).unwrap();
    stranger.connect(server.address).unwrap();
    stranger
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    for greeting in [&b"9876"[..], &[0x15, 0xCD, 0x5B, 0x07], &[0; 16]] {
        stranger.send(greeting).unwrap();
        assert!(stranger.recv(&mut [0; 64]).is_err(), "{greeting:?}");
    }
    let target = server.address.to_string().parse().unwrap();
    let plan = plan(Direction::Forward, 1);
    check(&run(&target, &plan).unwrap(), &plan, "behind strangers");
}
