use std::net::SocketAddr;

use super::*;

fn silent_peer() -> (UdpSocket, ProbeSocket) {
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let socket = ProbeSocket::udp(&peer.local_addr().unwrap().into(), EchoToken(9)).unwrap();
    (peer, socket)
}

#[test]
fn answers_become_round_trips_and_silence_becomes_loss() {
    let (peer, socket) = silent_peer();
    let answering = thread::spawn(move || {
        let mut buffer = [0; 64];
        for turn in 0..4 {
            let (length, from) = peer.recv_from(&mut buffer).unwrap();
            let echo = Echo::decode(&buffer[..length]).unwrap();
            if turn % 2 == 0 {
                peer.send_to(&echo.reply().encode(), from).unwrap();
            }
        }
    });
    let stop = &AtomicBool::new(false);
    let series = thread::scope(|scope| {
        let probing = scope.spawn(move || {
            series(&socket, &LatestTrip::default(), |_| {
                stop.load(Ordering::Relaxed)
            })
        });
        answering.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        probing.join().unwrap()
    });
    assert_eq!(series.method, ProbeMethod::UdpEcho);
    let answered: Vec<bool> = series.probes.iter().map(|p| p.rtt.is_some()).collect();
    assert_eq!(answered[..4], [true, false, true, false]);
}

#[test]
fn strange_answers_are_no_round_trips() {
    let (peer, socket) = silent_peer();
    socket.send(0, Time::ZERO).unwrap();
    let mut buffer = [0; 64];
    let (length, from) = peer.recv_from(&mut buffer).unwrap();
    let request = Echo::decode(&buffer[..length]).unwrap();
    let stranger = Echo {
        token: EchoToken(8),
        ..request.reply()
    };
    let beyond = Echo {
        sequence: 1 << 40,
        ..request.reply()
    };
    for datagram in [
        &request.encode()[..],
        &stranger.encode(),
        &beyond.encode(),
        b"x",
    ] {
        peer.send_to(datagram, from).unwrap();
    }
    let mut collected = one_probe();
    socket.wait(Duration::from_secs(5));
    collected.take(&socket, Clock::start());
    assert_eq!(collected.probes[0].rtt, None);
}

fn one_probe() -> Collected {
    let probe = Probe {
        sent: Time::ZERO,
        rtt: None,
    };
    Collected {
        probes: vec![probe],
        duplicated: 0,
    }
}

#[test]
fn an_answer_that_comes_twice_is_counted() {
    let (peer, socket) = silent_peer();
    socket.send(0, Time::ZERO).unwrap();
    let mut buffer = [0; ECHO_LENGTH];
    let (_, from) = peer.recv_from(&mut buffer).unwrap();
    let reply = Echo::decode(&buffer).unwrap().reply().encode();
    let mut collected = one_probe();
    for _ in 0..3 {
        peer.send_to(&reply, from).unwrap();
        socket.wait(Duration::from_secs(5));
        collected.take(&socket, Clock::start());
    }
    assert!(collected.probes[0].rtt.is_some());
    assert_eq!(collected.duplicated, 2);
}

#[test]
fn the_own_kernel_answers_icmp_where_it_is_permitted() {
    let here = SocketAddr::from(([127, 0, 0, 1], 0));
    match ProbeSocket::icmp(&here.into(), EchoToken(1)) {
        Err(error) => println!("skipped: ICMP is not permitted here: {error}"),
        Ok(socket) => {
            let latest = LatestTrip::default();
            let series = series(&socket, &latest, |elapsed| elapsed >= Span::from_millis(60));
            assert_eq!(series.method, ProbeMethod::IcmpEcho);
            assert_eq!(series.loss_ratio(), Some(0.0));
        }
    }
}

#[test]
fn a_host_that_answers_is_told_from_none() {
    let (peer, socket) = silent_peer();
    assert!(!is_answered(&socket));
    let answering = thread::spawn(move || {
        let mut buffer = [0; 64];
        loop {
            let (length, from) = peer.recv_from(&mut buffer).unwrap();
            let reply = Echo::decode(&buffer[..length]).unwrap().reply();
            if peer.send_to(&reply.encode(), from).is_err() || reply.sequence == 7 {
                return;
            }
        }
    });
    assert!(is_answered(&socket));
    socket.send(7, Time::ZERO).unwrap();
    answering.join().unwrap();
}
