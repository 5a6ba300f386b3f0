//! Several links in a row, and others' load on a link.

use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;

use errors::Hint;

use super::*;
use netpath::Way;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};

/// Delays of 3, 5 and 2 ms one way; the narrow link is in the middle.
fn three_links(load: &str) -> PathSpec {
    let link = |rate, delay, more: &str| {
        format!(
            "rate = \"{rate}Mbit/s\"\ndelay = \"{delay}ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"100packets\" }}\n{more}\n"
        )
    };
    path(&format!(
        "[forward]\n{}[[before]]\n{}[[beyond]]\n{}",
        link(20, 5, load),
        link(100, 3, ""),
        link(50, 2, "")
    ))
}

/// An ICMP error as a socket's error queue has it: who sent it, its type, its code, and the MTU
/// that it told.
#[derive(Debug, PartialEq)]
struct Told {
    by: Ipv4Addr,
    kind: u8,
    code: u8,
    info: u32,
}

/// Sends one datagram of `size` bytes of data to `to` and waits for what comes back as an error.
fn probe(network: &Network, to: Ipv4Addr, time_to_live: u32, size: usize) -> Told {
    let socket = network.near().run(|| {
        let socket = UdpSocket::bind((NEAR_ADDRESS, 0)).unwrap();
        setsockopt(&socket, sockopt::Ipv4RecvErr, &true).unwrap();
        socket.set_ttl(time_to_live).unwrap();
        socket
            .send_to(&vec![0; size], SocketAddr::from((to, 33_434)))
            .unwrap();
        socket
    });
    let socket = socket.unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        assert!(
            Instant::now() < deadline,
            "no answer about ttl {time_to_live}"
        );
        if let Some(told) = error_of(&socket) {
            return told;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn error_of(socket: &UdpSocket) -> Option<Told> {
    let mut data = [0; 2048];
    let mut parts = [IoSliceMut::new(&mut data)];
    let mut space = nix::cmsg_space!(nix::libc::sock_extended_err, nix::libc::sockaddr_in);
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    let received =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags).ok()?;
    received.cmsgs().ok()?.find_map(|message| match message {
        ControlMessageOwned::Ipv4RecvErr(error, Some(by)) => Some(Told {
            by: *SocketAddrV4::from(nix::sys::socket::SockaddrIn::from(by)).ip(),
            kind: error.ee_type,
            code: error.ee_code,
            info: error.ee_info,
        }),
        _ => None,
    })
}

fn unreachable_port(by: Ipv4Addr) -> Told {
    Told {
        by,
        kind: 3,
        code: 3,
        info: 0,
    }
}

#[test]
fn the_round_trip_is_the_sum_of_all_links() {
    if !testkit::can_emulate() {
        return;
    }
    let path = three_links("");
    let network = Network::up(&path, 1).unwrap();
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
    let fastest = (0..100).map(round_trip).min().unwrap();
    // 20 ms of delay; 232 bits at 100, 20 and 50 Mbit/s take 19 us, twice.
    assert_eq!(path.base_rtt().as_nanos(), 20_000_000);
    assert!(fastest >= Duration::from_micros(20_037), "{fastest:?}");
    assert!(fastest < Duration::from_millis(25), "{fastest:?}");
}

#[test]
fn a_traceroute_sees_the_routers_and_then_the_far_host() {
    if !testkit::can_emulate() {
        return;
    }
    let network = Network::up(&three_links(""), 1).unwrap();
    let exceeded = |link| Told {
        by: Ipv4Addr::new(198, 18, link, 2),
        kind: 11,
        code: 0,
        info: 0,
    };
    // More often than any limit of ICMP messages would let through.
    for _ in 0..20 {
        assert_eq!(probe(&network, FAR_ADDRESS, 1, 10), exceeded(1));
        assert_eq!(probe(&network, FAR_ADDRESS, 2, 10), exceeded(2));
        assert_eq!(
            probe(&network, FAR_ADDRESS, 3, 10),
            unreachable_port(FAR_ADDRESS)
        );
    }
    let router = Ipv4Addr::new(198, 18, 2, 2);
    assert_eq!(probe(&network, router, 64, 10), unreachable_port(router));
}

#[test]
fn a_router_tells_what_size_fits() {
    if !testkit::can_emulate() {
        return;
    }
    let network = Network::up(&three_links("mtu = 1200"), 1).unwrap();
    let too_large = Told {
        by: Ipv4Addr::new(198, 18, 1, 2),
        kind: 3,
        code: 4,
        info: 1200,
    };
    // 28 bytes of headers come on top.
    assert_eq!(probe(&network, FAR_ADDRESS, 64, 1173), too_large);
    assert_eq!(
        probe(&network, FAR_ADDRESS, 64, 1172),
        unreachable_port(FAR_ADDRESS)
    );
}

/// Goodput in bits per second of one stream over some seconds, after two that do not count.
fn goodput(network: &Network, seconds: u64) -> f64 {
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
        read(Instant::now() + Duration::from_secs(2));
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
fn a_stream_gets_the_rate_of_the_narrowest_link() {
    if !testkit::can_emulate() {
        return;
    }
    let network = Network::up(&three_links(""), 1).unwrap();
    let share = goodput(&network, 3) / (20e6 * 1448.0 / 1500.0);
    // Only the link in the middle allows for this: the others would give 2.5 and 5 times as much.
    assert!(share < 1.01 && share > 0.8, "{share}");
    let books = network.books(Way::Forward);
    let narrowest = network.counters().forward.delivered.packets;
    let later = network.books(Way::Forward).links[1].own.delivered.packets;
    assert_eq!(books.links.len(), 3);
    assert!(books.links.iter().all(|link| link.own.are_conserved()));
    // What one link delivered the next was offered, but for what was between them when the books
    // were read.
    let passed = |link: usize| books.links[link].own.delivered.packets;
    let offered = |link: usize| books.links[link].own.offered.packets;
    assert_eq!((passed(0), passed(1)), (offered(1), offered(2)));
    // What the stream had under way goes on moving while one thing after the other is read.
    assert!((books.links[1].own.delivered.packets..=later).contains(&narrowest));
}

#[test]
fn a_load_takes_its_rate_away() {
    if !testkit::can_emulate() {
        return;
    }
    let network = Network::up(&three_links("load = { rate = \"6Mbit/s\" }"), 1).unwrap();
    let began = Instant::now();
    let before = network.books(Way::Forward).links[1].load;
    let share = goodput(&network, 5) / (20e6 * 1448.0 / 1500.0);
    let after = network.books(Way::Forward).links[1].load;
    // The stream fills what is left, seven tenths; a queue that overflows costs the load some of
    // its own.
    assert!(share < 0.78 && share > 0.5, "{share}");
    let bytes = after.offered.bytes.get() - before.offered.bytes.get();
    let rate = bytes as f64 * 8.0 / began.elapsed().as_secs_f64() / 6e6;
    // 3,500 packets at random: 1.7 % is one deviation, and three are allowed; the books are a
    // moment old.
    assert!((rate - 1.0).abs() < 0.05, "{rate}");
    assert!(after.are_conserved(), "{after:?}");
    assert_eq!(network.books(Way::Reverse).links[1].load.offered.packets, 0);
}

#[test]
fn a_load_that_no_processor_keeps_up_with_is_refused() {
    let path = path(
        r#"
        [forward]
        rate = "1Gbit/s"
        delay = "1ms"
        queue = { kind = "drop-tail", limit = "100packets" }
        load = { rate = "900Mbit/s", packets = "40B" }
        "#,
    );
    let error = Network::up(&path, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "loads of 2812500 packets/s one way are more than 500000, the most that is emulated"
    );
    assert!(error.hint().unwrap().contains("load.packets"));
}

#[test]
fn ipv6_hosts_reach_each_other_through_a_smaller_link_and_send_nothing_by_themselves() {
    if !testkit::can_emulate() {
        return;
    }
    let mut path = three_links("");
    path.hosts.ipv6 = true;
    path.beyond[0].forward.mtu = Some(1300);
    let network = Network::up(&path, 1).unwrap();
    let listener = network
        .far()
        .run(|| TcpListener::bind((FAR_ADDRESS_V6, 0)).unwrap());
    let listener = listener.unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all.len()
    });
    let connect = || TcpStream::connect(address).unwrap();
    let mut sender = network.near().run(connect).unwrap();
    // The kernel learns of the smaller link from the router in front of it.
    sender.write_all(&[7; 300_000]).unwrap();
    drop(sender);
    assert_eq!(receiver.join().unwrap(), 300_000);
    // The connection ends.
    thread::sleep(Duration::from_millis(500));
    let before = network.all_books();
    thread::sleep(Duration::from_secs(2));
    assert_eq!(network.all_books(), before);
}
