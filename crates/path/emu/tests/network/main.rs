//! Emulated paths carrying real packets. These need root; without it they are skipped.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use emu::{FAR_ADDRESS, FAR_ADDRESS_V6, NEAR_ADDRESS, Network};
use netpath::PathSpec;
use nix::sys::socket::{setsockopt, sockopt};

mod row;

fn path(text: &str) -> PathSpec {
    PathSpec::from_toml("test", text).unwrap()
}

fn plain_path() -> PathSpec {
    path(
        r#"
        [forward]
        rate = "20Mbit/s"
        delay = "10ms"
        queue = { kind = "drop-tail", limit = "100packets" }
        "#,
    )
}

/// A pair of connected datagram sockets, one on each host.
fn datagram_pair(network: &Network) -> (UdpSocket, UdpSocket) {
    let near = network
        .near()
        .run(|| UdpSocket::bind((NEAR_ADDRESS, 0)).unwrap());
    let far = network
        .far()
        .run(|| UdpSocket::bind((FAR_ADDRESS, 0)).unwrap());
    let (near, far) = (near.unwrap(), far.unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    (near, far)
}

/// Waits until so many packets have gone through; fewer means that the device dropped some.
fn await_offered(network: &Network, packets: u64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let counters = || network.counters().forward;
    while counters().offered.packets < packets || counters().in_flight.packets > 0 {
        assert!(Instant::now() < deadline, "{packets}: {:?}", counters());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_round_trip_takes_the_delay_of_the_file() {
    if !testkit::can_emulate() {
        return;
    }
    let network = Network::up(&plain_path(), 1).unwrap();
    let (near, far) = datagram_pair(&network);
    thread::spawn(move || {
        let mut byte = [0];
        while far.recv(&mut byte).is_ok() {
            let _ = far.send(&byte);
        }
    });
    near.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let round_trip = |_| {
        let sent = Instant::now();
        near.send(&[1]).unwrap();
        near.recv(&mut [0]).unwrap();
        sent.elapsed()
    };
    // Sending 29 bytes at 20 Mbit/s takes 12 us each way. None can be early; how late they are
    // depends on the machine, and bench/emulator.py measures that. A delay applied twice, or to
    // one way only, would show here.
    let fastest = (0..100).map(round_trip).min().unwrap();
    assert!(fastest >= Duration::from_micros(20_023), "{fastest:?}");
    assert!(fastest < Duration::from_millis(25), "{fastest:?}");
}

/// Has a stream send until `seconds` of it were counted after two that were not; its goodput.
fn stream(network: &Network, seconds: u64) -> f64 {
    let listener = network
        .far()
        .run(|| TcpListener::bind((FAR_ADDRESS, 0)).unwrap())
        .unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = vec![0; 1 << 16];
        let mut read = |until: Instant| {
            let mut bytes = 0u64;
            while Instant::now() < until {
                bytes += stream.read(&mut buffer).unwrap() as u64;
            }
            bytes
        };
        let settled = Instant::now() + Duration::from_secs(2);
        read(settled);
        let begun = Instant::now();
        let bytes = read(begun + Duration::from_secs(seconds));
        bytes as f64 * 8.0 / begun.elapsed().as_secs_f64()
    });
    let mut sender = network
        .near()
        .run(|| TcpStream::connect(address).unwrap())
        .unwrap();
    let block = [0; 1 << 16];
    while sender.write(&block).is_ok_and(|_| !receiver.is_finished()) {}
    receiver.join().unwrap()
}

#[test]
fn a_stream_gets_the_rate_less_its_headers_and_the_books_balance() {
    if !testkit::can_emulate() {
        return;
    }
    let path = plain_path();
    let network = Network::up(&path, 1).unwrap();
    let goodput = stream(&network, 3);
    // 1448 of every 1500 bytes are payload: 52 are IP and TCP headers with time stamps.
    let expected = path.forward.rate.as_f64() * 1448.0 / 1500.0;
    // More is impossible; how much less depends on the machine, see bench/emulator.py.
    assert!(goodput < expected * 1.01, "{goodput} of {expected}");
    assert!(goodput > expected * 0.8, "{goodput} of {expected}");
    let counters = network.counters();
    assert!(counters.forward.are_conserved(), "{counters:?}");
    assert!(counters.reverse.are_conserved(), "{counters:?}");
}

#[test]
fn hosts_with_ecn_are_marked_where_others_are_dropped() {
    if !testkit::can_emulate() {
        return;
    }
    for (ecn, marks, drops) in [(true, true, false), (false, false, true)] {
        let path = path(&format!(
            "[forward]\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\n\
             queue = {{ kind = \"codel\", limit = \"500packets\", ecn = true }}\n\
             [hosts]\necn = {ecn}\n"
        ));
        let network = Network::up(&path, 1).unwrap();
        stream(&network, 1);
        let forward = network.counters().forward;
        assert_eq!(forward.marked.packets > 0, marks, "{ecn}: {forward:?}");
        assert_eq!(
            forward.dropped_sojourn.packets > 0,
            drops,
            "{ecn}: {forward:?}"
        );
    }
}

#[test]
fn a_recorded_rate_delivers_in_its_milliseconds() {
    if !testkit::can_emulate() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("emu-trace-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // Ten packets each 100 ms, all at once.
    fs::write(folder.join("my.trace"), "100\n".repeat(10)).unwrap();
    let text = "[forward]\nrate = { trace = \"my.trace\" }\ndelay = \"1ms\"\n\
                queue = { kind = \"drop-tail\", limit = \"100packets\" }\n";
    let path = PathSpec::from_toml(folder.join("my.toml").to_str().unwrap(), text).unwrap();
    let network = Network::up(&path, 1).unwrap();
    let (near, far) = datagram_pair(&network);
    let began = Instant::now();
    for _ in 0..40 {
        near.send(&[0; 1472]).unwrap();
    }
    far.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    for _ in 0..40 {
        far.recv(&mut [0; 1472]).unwrap();
    }
    // Four chances: the first at once or within 100 ms.
    assert!(
        began.elapsed() >= Duration::from_millis(300),
        "{:?}",
        began.elapsed()
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn loss_has_the_rate_of_the_file() {
    if !testkit::can_emulate() {
        return;
    }
    let lossy = path(
        r#"
        [forward]
        rate = "1Gbit/s"
        delay = "0ms"
        queue = { kind = "drop-tail", limit = "64MiB" }
        loss = { kind = "random", rate = 0.05 }
        "#,
    );
    let seed = 3;
    let network = Network::up(&lossy, seed).unwrap();
    let (near, _far) = datagram_pair(&network);
    for _ in 0..20_000 {
        near.send(&[0; 10]).unwrap();
    }
    await_offered(&network, 20_000);
    let counters = network.counters().forward;
    let (offered, lost) = (
        counters.offered.packets as f64,
        counters.dropped_wire_loss.packets as f64,
    );
    let four_deviations = 4.0 * (0.05 * 0.95 / offered).sqrt();
    assert!(
        (lost / offered - 0.05).abs() < four_deviations,
        "seed {seed}: {counters:?}"
    );
    assert!(counters.are_conserved(), "{counters:?}");
}

/// Marks what a socket sends: DSCP in the upper six bits, ECN in the lower two.
fn set_tos(socket: &UdpSocket, tos: i32) {
    setsockopt(socket, sockopt::Ipv4Tos, &tos).unwrap();
}

#[test]
fn a_better_class_overtakes() {
    if !testkit::can_emulate() {
        return;
    }
    // 1,000 bytes take 80 ms, so all packets are there before the second is sent.
    let strict = path(
        r#"
        [forward]
        rate = "100kbit/s"
        delay = "0ms"
        queue = { kind = "strict", limit = "100packets" }
        "#,
    );
    let network = Network::up(&strict, 1).unwrap();
    let (near, far) = datagram_pair(&network);
    for (dscp, count) in [(1, 5), (0, 5), (46, 5)] {
        set_tos(&near, dscp << 2);
        for _ in 0..count {
            near.send(&[dscp as u8; 972]).unwrap();
        }
    }
    far.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut order = Vec::new();
    for _ in 0..15 {
        let mut packet = [0; 972];
        far.recv(&mut packet).unwrap();
        order.push(packet[0]);
    }
    // The first of all was being sent when the others came.
    assert_eq!(order, [1, 46, 46, 46, 46, 46, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn weighted_red_drops_the_class_whose_threshold_is_passed() {
    if !testkit::can_emulate() {
        return;
    }
    // Of 20 packets all but the first wait when the scavengers come.
    let weighted = path(
        r#"
        [forward]
        rate = "100kbit/s"
        delay = "0ms"
        [forward.queue]
        kind = "wred"
        limit = "100packets"
        weight = 1
        scavenger = { min = "2packets", max = "5packets" }
        best-effort = { min = "50packets", max = "90packets" }
        "#,
    );
    let network = Network::up(&weighted, 1).unwrap();
    let (near, _far) = datagram_pair(&network);
    for (dscp, count) in [(0, 20), (1, 10)] {
        set_tos(&near, dscp << 2);
        for _ in 0..count {
            near.send(&[0; 972]).unwrap();
        }
    }
    await_offered(&network, 30);
    let counters = network.counters().forward;
    assert_eq!(counters.dropped_early.packets, 10, "{counters:?}");
    assert_eq!(counters.delivered.packets, 20, "{counters:?}");
}

#[test]
fn marked_packets_arrive_with_a_right_checksum() {
    if !testkit::can_emulate() {
        return;
    }
    let codel = path(
        r#"
        [forward]
        rate = "1Mbit/s"
        delay = "0ms"
        queue = { kind = "codel", limit = "100packets", target = "1us", interval = "1ms", ecn = true }
        "#,
    );
    let network = Network::up(&codel, 1).unwrap();
    let (near, far) = datagram_pair(&network);
    set_tos(&near, 0b10);
    for _ in 0..20 {
        near.send(&[0; 972]).unwrap();
    }
    far.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    // The kernel throws away what has a wrong checksum, so that all twenty would not come.
    for _ in 0..20 {
        far.recv(&mut [0; 972]).unwrap();
    }
    let counters = network.counters().forward;
    assert!(counters.marked.packets > 10, "{counters:?}");
    assert_eq!(counters.dropped_sojourn.packets, 0, "{counters:?}");
}

#[test]
fn hosts_are_as_the_file_says() {
    if !testkit::can_emulate() {
        return;
    }
    let hosts = path(
        r#"
        [forward]
        rate = "20Mbit/s"
        delay = "1ms"
        queue = { kind = "drop-tail", limit = "100packets" }
        [hosts]
        mtu = 9000
        congestion = "reno"
        send_buffer_max = "1MiB"
        receive_buffer_max = "64KiB"
        "#,
    );
    let network = Network::up(&hosts, 1).unwrap();
    assert!(network.make_default_congestion("reno").unwrap());
    let setting = |name: &str| {
        let file = format!("/proc/sys/net/ipv4/{name}");
        let text = network
            .far()
            .run(|| fs::read_to_string(file).unwrap())
            .unwrap();
        text.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(setting("tcp_congestion_control"), "reno");
    assert_eq!(setting("tcp_wmem"), (1 << 20).to_string());
    assert_eq!(setting("tcp_rmem"), (1 << 16).to_string());
}

#[test]
fn an_unknown_congestion_control_is_refused_with_what_there_is() {
    if !testkit::can_emulate() {
        return;
    }
    let mut path = plain_path();
    path.hosts.congestion = "nonesuch".to_owned();
    let error = Network::up(&path, 1).unwrap_err().to_string();
    assert!(
        error.contains("no congestion control `nonesuch`; it has "),
        "{error}"
    );
    assert!(error.contains("reno"), "{error}");
}

#[test]
fn a_policer_drops_and_a_longer_way_is_overtaken() {
    if !testkit::can_emulate() {
        return;
    }
    let path = path(
        r#"
        [forward]
        rate = "1Gbit/s"
        delay = "1ms"
        queue = { kind = "drop-tail", limit = "64MiB" }
        policer = { rate = "300bit/s", bucket = "3800B" }
        reorder = { rate = 0.1, delay = "200ms" }
        "#,
    );
    let network = Network::up(&path, 3).unwrap();
    let (near, far) = datagram_pair(&network);
    // 38 bytes each with headers: the bucket has tokens for a hundred, and fills with one a
    // second.
    for number in 0..2000u32 {
        near.send(&[&number.to_be_bytes()[..], &[0; 6]].concat())
            .unwrap();
    }
    await_offered(&network, 2000);
    let counters = network.counters().forward;
    let passed = counters.delivered.packets;
    assert!((100..130).contains(&passed), "{counters:?}");
    assert_eq!(counters.dropped_policed.packets, 2000 - passed);
    let numbers = numbers_of(&far, passed);
    let overtaken = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(overtaken > 0, "{numbers:?}");
    assert!(counters.are_conserved(), "{counters:?}");
}

/// The numbers at the beginning of so many datagrams, in the order of arrival.
fn numbers_of(socket: &UdpSocket, packets: u64) -> Vec<u32> {
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let next = |_| {
        let mut buffer = [0; 4];
        // A longer datagram is cut to the buffer.
        socket.recv(&mut buffer).unwrap();
        u32::from_be_bytes(buffer)
    };
    (0..packets).map(next).collect()
}
