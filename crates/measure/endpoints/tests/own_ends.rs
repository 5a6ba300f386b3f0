//! Our client against our server over loopback.

mod support;

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use endpoints::{Client, ClientError};
use observe::{
    Amount, Counted, Direction, Observation, Peer, Precision, ProbeMethod, RunObserver, SamplePlan,
    Setting, Snapshot, StreamCount, StreamDirection, Window,
};
use support::Running;
use units::{Bytes, Rate, Span};

fn setting(streams: u64) -> Setting {
    Setting::new(StreamCount::new(streams).unwrap(), Window::Auto)
}

fn plan() -> SamplePlan {
    SamplePlan {
        unloaded: Span::from_millis(200),
        ..SamplePlan::lasting(Span::from_secs(1))
    }
}

fn run(server: &Running, setting: &Setting, plan: &SamplePlan) -> Observation {
    Client::new(server.target())
        .run(setting, plan, &mut ())
        .unwrap()
}

#[test]
fn one_forward_stream_shows_both_ends() {
    let server = Running::start();
    let seen = run(&server, &setting(1), &plan());
    assert_eq!(seen.peer, Peer::Trunkline);
    let stream = &seen.streams[0];
    assert_eq!(stream.direction, StreamDirection::Sending);
    assert_eq!(stream.delivery.counted, Counted::ByReceiver);
    assert!(
        stream.delivery.progress.len() >= 8,
        "{}",
        stream.delivery.progress.len()
    );
    assert!(
        stream
            .delivery
            .progress
            .is_sorted_by_key(|reading| (reading.at, reading.bytes))
    );
    assert!(seen.bytes_delivered() > Bytes::from_mib(1));
    assert!(stream.tcp.len() >= 8 && stream.tcp[5].rtt.is_some());
    assert!(stream.retransmits.is_some() && stream.thread_cpu.is_some());
    assert!(seen.congestion_used.is_some() && seen.cpu_far_percent.is_some());
    let near = seen.cpu_near.as_ref().and_then(|cpu| cpu.shares()).unwrap();
    assert!(near.0 + near.1 > 0.0);
}

#[test]
fn round_trips_are_probed_before_and_beside_the_streams() {
    let server = Running::start();
    let trips = run(&server, &setting(1), &plan()).round_trips;
    for series in [trips.unloaded.unwrap(), trips.loaded.unwrap()] {
        assert_eq!(series.method, ProbeMethod::UdpEcho);
        assert!(series.min().is_some());
    }
}

#[test]
fn the_receivers_total_agrees_with_the_servers_own() {
    let server = Running::start();
    let seen = run(&server, &setting(2), &plan());
    let summary = server.next_end().unwrap();
    assert_eq!(summary.received, seen.bytes_delivered());
    assert_eq!(summary.sent, Bytes::ZERO);
}

#[test]
fn a_reverse_test_brings_the_servers_tcp_info() {
    let server = Running::start();
    let mut reverse = setting(8);
    reverse.direction = Direction::Reverse;
    let seen = run(&server, &reverse, &plan());
    assert_eq!(seen.streams.len(), 8);
    for stream in &seen.streams {
        assert_eq!(stream.direction, StreamDirection::Receiving);
        assert!(stream.tcp.iter().any(|sample| sample.bytes_acked.is_some()));
        assert!(stream.retransmits.is_some());
    }
    assert!(seen.bytes_delivered() > Bytes::from_mib(1));
}

#[test]
fn streams_of_multipath_tcp_tell_what_they_go_over() {
    let server = Running::start();
    let mut target = server.target();
    target.via.multipath = true;
    for direction in [Direction::Forward, Direction::Reverse] {
        let setting = Setting {
            direction,
            ..setting(2)
        };
        let seen = match Client::new(target.clone()).run(&setting, &plan(), &mut ()) {
            Err(ClientError::Option(error)) => return testkit::skip(&error.to_string()),
            seen => seen.unwrap(),
        };
        let over = seen.multipath.as_ref().unwrap();
        assert_eq!((over.connections, over.plain_connections), (2, 0));
        let [subflow] = &over.subflows[..] else {
            panic!("{over:?}");
        };
        assert_eq!(
            (subflow.far, subflow.count),
            (target.host.parse().unwrap(), 2)
        );
        // Counted before the end, so that the last bytes may be missing.
        assert!(subflow.carried_bytes > seen.bytes_delivered().get() / 2);
        for stream in &seen.streams {
            assert!(stream.tcp.iter().any(|sample| sample.bytes_acked.is_some()));
        }
    }
}

#[test]
fn a_two_way_test_moves_data_both_ways() {
    let server = Running::start();
    let mut both = setting(2);
    both.direction = Direction::Both;
    let seen = run(&server, &both, &plan());
    assert_eq!(seen.streams.len(), 4);
    assert!(
        seen.streams
            .iter()
            .all(|stream| stream.delivery.total() > Bytes::ZERO)
    );
    let summary = server.next_end().unwrap();
    assert!(summary.received > Bytes::ZERO && summary.sent > Bytes::ZERO);
}

#[test]
fn a_hundred_and_twenty_eight_streams_run_at_once() {
    sockets::host::raise_open_files();
    let server = Running::start();
    let seen = run(&server, &setting(128), &plan());
    assert_eq!(seen.streams.len(), 128);
    assert!(
        seen.streams
            .iter()
            .all(|stream| !stream.delivery.progress.is_empty())
    );
}

#[test]
fn a_byte_count_arrives_to_the_last_byte() {
    let server = Running::start();
    let amount = Amount::Bytes(Bytes::new(10_000_001));
    for direction in [Direction::Forward, Direction::Reverse] {
        let setting = Setting {
            direction,
            ..setting(3)
        };
        let seen = run(&server, &setting, &SamplePlan { amount, ..plan() });
        assert_eq!(
            seen.bytes_delivered(),
            Bytes::new(10_000_001),
            "{direction:?}"
        );
    }
}

#[test]
fn a_fixed_window_is_asked_for_and_granted() {
    let server = Running::start();
    let fixed = Setting {
        window: Window::Fixed(Bytes::from_kib(64)),
        ..setting(1)
    };
    let seen = run(&server, &fixed, &plan());
    let buffers = seen.streams[0].buffers.unwrap();
    assert_eq!(buffers.send.asked, Some(Bytes::from_kib(64)));
    assert_eq!(buffers.send.granted, Bytes::from_kib(128));
    // Both ends are this host and ask for the same.
    assert_eq!(seen.streams[0].buffers_far, Some(buffers));
    // The far receiver cannot offer more than its buffer of twice 64 KiB holds.
    let offered = seen.streams[0]
        .tcp
        .iter()
        .filter_map(|sample| sample.peer_window)
        .max();
    assert!(offered.unwrap() <= Bytes::from_kib(128), "{offered:?}");
}

#[test]
fn a_large_window_set_after_accepting_is_really_offered() {
    let server = Running::start();
    let fixed = Setting {
        window: Window::Fixed(Bytes::from_mib(1)),
        ..setting(1)
    };
    let seen = run(&server, &fixed, &plan());
    let offered = seen.streams[0]
        .tcp
        .iter()
        .filter_map(|sample| sample.peer_window)
        .max();
    // The listener's own default would hold it at 64 KiB.
    assert!(offered.unwrap() > Bytes::from_kib(256), "{offered:?}");
}

#[test]
fn pacing_congestion_control_and_segment_size_are_followed() {
    let server = Running::start();
    let paced = Setting {
        pacing: Some(Rate::from_bits_per_second(8_000_000)),
        congestion: Some("reno".to_owned()),
        mss: Some(1_200),
        ..setting(1)
    };
    let seen = run(&server, &paced, &plan());
    assert_eq!(seen.congestion_used.as_deref(), Some("reno"));
    let last = seen.streams[0].tcp.last().unwrap();
    assert!(last.mss.unwrap() <= Bytes::new(1_200), "{:?}", last.mss);
    // 8 Mbit/s are 1 MB in a second; the burst at the start is a few buffers at the most.
    let acked = last.bytes_acked.unwrap();
    assert!(acked < Bytes::new(2_000_000), "{acked}");
}

#[test]
fn an_unknown_congestion_control_is_refused_with_the_known_ones() {
    let server = Running::start();
    let wrong = Setting {
        congestion: Some("nosuch".to_owned()),
        ..setting(1)
    };
    let error = Client::new(server.target())
        .run(&wrong, &plan(), &mut ())
        .unwrap_err();
    assert!(matches!(error, ClientError::Option(_)), "{error}");
    assert!(error.to_string().contains("reno"), "{error}");
}

struct Watcher {
    snapshots: usize,
    cancel_after: usize,
}

impl RunObserver for Watcher {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        self.snapshots += 1;
        assert_eq!(snapshot.duration_max, Some(Span::from_secs(60)));
    }

    fn is_cancelled(&self) -> bool {
        self.snapshots >= self.cancel_after
    }
}

fn minute() -> SamplePlan {
    SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(60))
    }
}

#[test]
fn a_cancelled_test_ends_at_once_at_both_ends() {
    let server = Running::start();
    let mut watcher = Watcher {
        snapshots: 0,
        cancel_after: 3,
    };
    let client = Client::new(server.target());
    let error = client
        .run(&setting(2), &minute(), &mut watcher)
        .unwrap_err();
    assert!(matches!(error, ClientError::Cancelled));
    let end = server.next_end().unwrap_err();
    assert_eq!(end.to_string(), "the client was stopped");
}

#[test]
fn a_well_known_goodput_ends_the_test_early() {
    let server = Running::start();
    let precise = SamplePlan {
        precision: Some(Precision {
            relative_half_width: 0.5,
            steady_min: Span::from_secs(1),
        }),
        ..minute()
    };
    let paced = Setting {
        pacing: Some(Rate::from_bits_per_second(20_000_000)),
        ..setting(1)
    };
    let seen = run(&server, &paced, &precise);
    assert!(seen.duration < Span::from_secs(30), "{}", seen.duration);
}

/// Has enough once the wanted number of snapshots has been shown.
struct Satisfied {
    wanted: usize,
    shown: Vec<Snapshot>,
}

impl RunObserver for Satisfied {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        self.shown.push(*snapshot);
    }

    fn has_enough(&self) -> bool {
        self.shown.len() >= self.wanted
    }
}

fn until_satisfied(server: &Running, direction: Direction) -> (Observation, Vec<Snapshot>) {
    let mut watch = Satisfied {
        wanted: 8,
        shown: Vec::new(),
    };
    let setting = Setting {
        direction,
        ..setting(2)
    };
    let client = Client::new(server.target());
    let seen = client.run(&setting, &minute(), &mut watch).unwrap();
    (seen, watch.shown)
}

#[test]
fn who_has_seen_enough_ends_the_test_and_it_counts() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        let server = Running::start();
        let (seen, shown) = until_satisfied(&server, direction);
        assert_eq!(shown.len(), 8, "{direction:?}");
        assert!(seen.duration < Span::from_secs(30), "{}", seen.duration);
        let summary = server.next_end().unwrap();
        assert!(seen.bytes_delivered() > Bytes::ZERO);
        assert!(summary.received + summary.sent > Bytes::ZERO);
    }
}

#[test]
fn who_looks_on_sees_probes_and_what_was_sent_again() {
    let server = Running::start();
    for (direction, counts) in [(Direction::Forward, true), (Direction::Reverse, false)] {
        let (_, shown) = until_satisfied(&server, direction);
        assert!(shown.iter().any(|one| one.probe_rtt.is_some()));
        // Only the sender's kernel knows, and nothing was sent before the first interval.
        assert_eq!(shown[0].retransmitted_share, None);
        let shares = || shown.iter().filter_map(|one| one.retransmitted_share);
        assert_eq!(shares().next().is_some(), counts, "{direction:?}");
        assert!(shares().all(|share| (0.0..=1.0).contains(&share)));
    }
}

#[test]
fn a_stopped_server_tells_its_clients() {
    let server = Running::start();
    let target = server.target();
    let running = std::thread::spawn(move || {
        let plan = minute();
        Client::new(target).run(&setting(1), &plan, &mut ())
    });
    while !matches!(server.next_event(), endpoints::ServerEvent::Started { .. }) {}
    server.stop();
    let error = running.join().unwrap().unwrap_err();
    assert!(error.to_string().contains("stopped"), "{error}");
}

/// Carries TCP to `server` and nothing else, as a firewall would.
fn without_datagrams(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind((server.ip(), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let carry = |mut from: TcpStream, mut to: TcpStream| {
        std::thread::spawn(move || {
            // Either end may break off, and both are told by closing.
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        })
    };
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = TcpStream::connect(server).unwrap();
            carry(near.try_clone().unwrap(), far.try_clone().unwrap());
            carry(far, near);
        }
    });
    address
}

#[test]
fn icmp_takes_over_where_echoes_are_filtered() {
    let server = Running::start();
    let filtered = without_datagrams(server.address).to_string();
    let client = Client::new(filtered.parse().unwrap());
    let seen = client.run(&setting(1), &plan(), &mut ()).unwrap();
    assert_eq!(seen.peer, Peer::Trunkline);
    match seen.round_trips.unloaded {
        Some(series) => assert_eq!(series.method, ProbeMethod::IcmpEcho),
        None => testkit::skip("ICMP is not permitted here"),
    }
}
