//! Clients that lie, stall and vanish, and servers that are not there.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use endpoints::server::Refusal;
use endpoints::{Client, ClientError, Server, ServerEvent, ServerLimits};
use measure_protocol::{Cookie, Denial, EchoToken, State, echo::Echo};
use observe::{
    Direction, Observation, RunObserver, SamplePlan, Setting, StreamCount, TargetError, Window,
};
use socket2::{Domain, Socket, Type};
use support::Running;
use units::{Address, Bytes, Rate, Span};

/// How long the one wait that a test is about may last. The others keep their usual length, so that
/// a busy machine does not end the test for another reason.
const TIMEOUT: Span = Span::from_secs(1);

fn impatient(shorten: impl FnOnce(&mut ServerLimits)) -> ServerLimits {
    let mut limits = ServerLimits::default();
    shorten(&mut limits);
    limits
}

fn one_second(target: Address) -> Result<Observation, ClientError> {
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    };
    Client::new(target).run(
        &Setting::new(StreamCount::ONE, Window::Auto),
        &plan,
        &mut (),
    )
}

/// The server is as it was: a proper client gets a proper test.
fn still_serves(server: &Running) {
    let seen = one_second(server.target()).unwrap();
    assert!(seen.bytes_delivered() > Bytes::ZERO);
}

fn connect(server: &Running) -> TcpStream {
    TcpStream::connect(server.address).unwrap()
}

fn cookie(seed: u8) -> Cookie {
    Cookie::from_random(&[seed; 36])
}

/// A control connection that has been greeted.
fn greeted(server: &Running, seed: u8) -> TcpStream {
    let mut control = connect(server);
    control.write_all(cookie(seed).as_bytes()).unwrap();
    let mut state = [0];
    control.read_exact(&mut state).unwrap();
    assert_eq!(state, [9]);
    control
}

fn send_params(control: &mut TcpStream, json: &str) {
    control
        .write_all(&measure_protocol::encode_frame(json.as_bytes()))
        .unwrap();
}

/// Everything the server still says before it closes.
fn rest(mut control: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset after the last byte is as good an end as any.
    let _ = control.read_to_end(&mut bytes);
    bytes
}

fn refusal(server: &Running) -> Refusal {
    loop {
        if let ServerEvent::Refused { reason, .. } = server.next_event() {
            return reason;
        }
    }
}

#[test]
fn a_garbage_cookie_is_turned_away() {
    let server = Running::start();
    connect(&server).write_all(&[0xAB; 37]).unwrap();
    assert!(matches!(refusal(&server), Refusal::Stranger(_)));
    still_serves(&server);
}

#[test]
fn a_silent_or_trickling_connection_is_dropped() {
    let server = Running::with(impatient(|limits| limits.identify = TIMEOUT));
    let silent = connect(&server);
    let mut trickling = connect(&server);
    let drip = thread::spawn(move || {
        while trickling.write_all(b"a").is_ok() {
            thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    assert!(matches!(refusal(&server), Refusal::Silent(_)));
    assert!(matches!(refusal(&server), Refusal::Silent(_)));
    assert!(rest(silent).is_empty());
    drip.join().unwrap();
    still_serves(&server);
}

#[test]
fn a_crowd_of_silent_connections_costs_the_oldest_its_place() {
    let server = Running::with(ServerLimits {
        unidentified: 4,
        ..ServerLimits::default()
    });
    let crowd: Vec<TcpStream> = (0..6).map(|_| connect(&server)).collect();
    assert_eq!(refusal(&server), Refusal::Crowded(4));
    still_serves(&server);
    drop(crowd);
}

/// An idle connection from an address of its own.
fn idle(server: &Running) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let from: SocketAddr = "127.0.0.2:0".parse().unwrap();
    socket.bind(&from.into()).unwrap();
    socket.connect(&server.address.into()).unwrap();
    socket
}

#[test]
fn two_crowded_tests_start_beside_a_flood_of_idle_connections() {
    sockets::host::raise_open_files();
    let server = Running::with_v4(ServerLimits::default());
    let flood: Vec<Socket> = (0..ServerLimits::default().unidentified)
        .map(|_| idle(&server))
        .collect();
    let setting = Setting {
        direction: Direction::Both,
        pacing: Some(Rate::from_bits_per_second(1_000_000)),
        ..Setting::new(StreamCount::MAX, Window::Auto)
    };
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    };
    let test = || Client::new(server.target()).run(&setting, &plan, &mut ());
    thread::scope(|scope| {
        let tests = [scope.spawn(test), scope.spawn(test)];
        let later: Vec<Socket> = (0..100).map(|_| idle(&server)).collect();
        for test in tests {
            assert_eq!(test.join().unwrap().unwrap().streams.len(), 256);
        }
        drop(later);
    });
    drop(flood);
}

#[test]
fn the_largest_crowd_pays_for_a_newcomer() {
    let server = Running::with_v4(ServerLimits {
        unidentified: 4,
        ..ServerLimits::default()
    });
    let mut early = connect(&server);
    let flood: Vec<Socket> = (0..8).map(|_| idle(&server)).collect();
    assert_eq!(refusal(&server), Refusal::Crowded(4));
    early.write_all(cookie(11).as_bytes()).unwrap();
    let mut state = [0];
    early.read_exact(&mut state).unwrap();
    assert_eq!(state, [9]);
    drop(flood);
}

#[test]
fn a_huge_json_length_is_answered_with_an_error() {
    let server = Running::start();
    let mut control = greeted(&server, 1);
    control.write_all(&[0xFF; 4]).unwrap();
    assert_eq!(rest(control), [0xFE, 0, 0, 0, 114, 0, 0, 0, 0]);
    assert!(
        server
            .next_end()
            .unwrap_err()
            .to_string()
            .contains("4294967295")
    );
    still_serves(&server);
}

#[test]
fn a_billion_streams_are_answered_with_an_error() {
    let server = Running::start();
    let mut control = greeted(&server, 2);
    send_params(&mut control, r#"{"tcp":true,"parallel":1000000000}"#);
    assert_eq!(rest(control), [0xFE, 0, 0, 0, 6, 0, 0, 0, 0]);
    still_serves(&server);
}

#[test]
fn a_slow_loris_in_the_parameters_is_dropped() {
    let server = Running::with(impatient(|limits| limits.waits.message = TIMEOUT));
    let mut control = greeted(&server, 3);
    control.write_all(&[0, 0, 1, 0]).unwrap();
    let mut drip = control.try_clone().unwrap();
    let dripping = thread::spawn(move || {
        while drip.write_all(b" ").is_ok() {
            thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    let end = server.next_end().unwrap_err().to_string();
    assert!(end.contains("its parameters"), "{end}");
    dripping.join().unwrap();
    still_serves(&server);
}

#[test]
fn a_client_that_never_opens_its_streams_is_dropped() {
    let server = Running::with(impatient(|limits| limits.waits.stream = TIMEOUT));
    let mut control = greeted(&server, 4);
    send_params(&mut control, r#"{"tcp":true,"time":1,"parallel":2}"#);
    let end = server.next_end().unwrap_err().to_string();
    assert!(end.contains("2 more streams"), "{end}");
    still_serves(&server);
}

#[test]
fn a_client_that_sends_nothing_is_dropped() {
    let server = Running::with(impatient(|limits| limits.idle = TIMEOUT));
    let mut control = greeted(&server, 5);
    send_params(&mut control, r#"{"tcp":true,"time":1000}"#);
    let mut stream = connect(&server);
    stream.write_all(cookie(5).as_bytes()).unwrap();
    let end = server.next_end().unwrap_err().to_string();
    assert_eq!(end, "no data moved for 1s");
    assert_eq!(rest(control), [10, 1, 2, 0xFE, 0, 0, 0, 144, 0, 0, 0, 0]);
    still_serves(&server);
}

#[test]
fn a_client_that_vanishes_takes_no_other_along() {
    let server = Running::start();
    let mut control = greeted(&server, 6);
    send_params(&mut control, r#"{"tcp":true,"time":1000,"reverse":true}"#);
    let mut stream = connect(&server);
    stream.write_all(cookie(6).as_bytes()).unwrap();
    stream.read_exact(&mut [0; 1_000]).unwrap();
    drop((control, stream));
    let end = server.next_end().unwrap_err().to_string();
    assert!(end.contains("vanished"), "{end}");
    still_serves(&server);
}

#[test]
fn surplus_streams_are_closed() {
    let server = Running::start();
    let mut control = greeted(&server, 7);
    send_params(&mut control, r#"{"tcp":true,"time":1000}"#);
    let streams: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = connect(&server);
            stream.write_all(cookie(7).as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut ended = 0;
    for mut stream in streams.into_iter().skip(1) {
        ended += usize::from(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
    assert_eq!(ended, 2);
    drop(control);
}

/// Takes the server for one client alone, as iperf3's is.
fn exclusive() -> ServerLimits {
    ServerLimits {
        sessions: 1,
        ..ServerLimits::default()
    }
}

/// Frees the server when it is told to wait, or cancels.
#[derive(Default)]
struct Waiter {
    told: Told,
    held: Option<TcpStream>,
    cancels: bool,
}

/// The reason and the length of each pause.
type Told = Vec<(String, Span)>;

impl Waiter {
    fn holding(control: TcpStream) -> Self {
        Waiter {
            held: Some(control),
            ..Waiter::default()
        }
    }
}

impl RunObserver for Waiter {
    fn on_wait(&mut self, why: &str, wait: Span) {
        self.told.push((why.to_owned(), wait));
        self.held = None;
    }

    fn is_cancelled(&self) -> bool {
        self.cancels && !self.told.is_empty()
    }
}

/// A run of one second, and of which pauses its client was told.
fn run_told(server: &Running, mut waiter: Waiter) -> (Result<Observation, ClientError>, Told) {
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    };
    let seen = Client::new(server.target()).run(&setting, &plan, &mut waiter);
    (seen, waiter.told)
}

#[test]
fn a_busy_server_is_asked_again() {
    let server = Running::with(exclusive());
    let waiter = Waiter::holding(greeted(&server, 12));
    let (seen, told) = run_told(&server, waiter);
    assert!(seen.unwrap().bytes_delivered() > Bytes::ZERO);
    let (why, wait) = &told[0];
    assert!(
        why.ends_with("the server is busy with another test"),
        "{why}"
    );
    assert_eq!(*wait, Span::from_millis(500));
}

/// A connection whose test of `seconds` the server has agreed to.
fn agreed_for(server: &Running, seed: u8, seconds: u64) -> TcpStream {
    let mut control = greeted(server, seed);
    send_params(&mut control, &format!(r#"{{"tcp":true,"time":{seconds}}}"#));
    let mut state = [0];
    control.read_exact(&mut state).unwrap();
    assert_eq!(state, [State::CreateStreams.byte()]);
    control
}

/// The seconds at the end of "the server is busy with another test, for about 3 s".
fn seconds_told(text: &str) -> u64 {
    let rest = text.rsplit_once("busy with another test, for about ");
    let seconds = rest.and_then(|(_, rest)| rest.strip_suffix(" s"));
    seconds.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

/// A server that knows when its test ends says so, and its client waits once.
#[test]
fn a_busy_server_says_when_it_has_a_place() {
    let server = Running::with(exclusive());
    let waiter = Waiter::holding(agreed_for(&server, 14, 3));
    let (seen, told) = run_told(&server, waiter);
    assert!(seen.unwrap().bytes_delivered() > Bytes::ZERO);
    let [(why, wait)] = &told[..] else {
        panic!("{told:?}");
    };
    // A busy machine may take some of the five seconds.
    assert!((1..=5).contains(&seconds_told(why)), "{why}");
    assert_eq!(*wait, Span::from_secs(seconds_told(why)));
}

/// An hour is told at once, and no wait begins.
#[test]
fn a_server_that_is_busy_for_long_is_not_waited_for() {
    let server = Running::with(exclusive());
    let _held = agreed_for(&server, 15, 3600);
    let (seen, told) = run_told(&server, Waiter::default());
    let text = seen.unwrap_err().to_string();
    assert!((3500..=3602).contains(&seconds_told(&text)), "{text}");
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn waiting_for_a_busy_server_can_be_cancelled() {
    let server = Running::with(exclusive());
    let _held = greeted(&server, 13);
    let waiter = Waiter {
        cancels: true,
        ..Waiter::default()
    };
    let (seen, told) = run_told(&server, waiter);
    assert!(matches!(seen, Err(ClientError::Cancelled)));
    assert_eq!(told.len(), 1);
}

#[test]
fn beyond_its_bound_the_server_is_busy() {
    let server = Running::with(exclusive());
    let held = greeted(&server, 8);
    let error = one_second(server.target()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("busy with another test"), "{text}");
    assert!(error.hint().unwrap().contains("another port"));
    drop(held);
}

#[test]
fn streams_are_bounded_over_all_tests() {
    let server = Running::with(ServerLimits {
        streams: 3,
        ..ServerLimits::default()
    });
    let mut control = greeted(&server, 9);
    send_params(
        &mut control,
        r#"{"tcp":true,"parallel":2,"bidirectional":true}"#,
    );
    let end = server.next_end().unwrap_err().to_string();
    assert_eq!(
        end,
        "4 streams were asked for, but all tests together may have 3"
    );
    still_serves(&server);
}

#[test]
fn one_address_cannot_take_all_places() {
    let server = Running::with(ServerLimits {
        sessions_per_address: 2,
        ..ServerLimits::default()
    });
    let first = greeted(&server, 1);
    let _second = greeted(&server, 2);
    let mut third = connect(&server);
    third.write_all(cookie(3).as_bytes()).unwrap();
    assert_eq!(rest(third), Denial::Busy { ends_in: None }.encode());
    assert_eq!(refusal(&server), Refusal::BusyAddress(2));
    let mut other = idle(&server);
    other.write_all(cookie(4).as_bytes()).unwrap();
    let mut state = [0];
    other.read_exact(&mut state).unwrap();
    assert_eq!(state, [9]);
    drop(first);
    while server.next_end().is_ok() {}
    still_serves(&server);
}

#[test]
fn a_server_of_files_alone_tests_nothing_and_echoes_nothing() {
    let server = Running::with(ServerLimits {
        files_only: true,
        ..ServerLimits::default()
    });
    let mut control = connect(&server);
    control.write_all(cookie(1).as_bytes()).unwrap();
    let mut answer = [0; 3];
    control.read_exact(&mut answer).unwrap();
    assert_eq!(answer, Denial::FilesOnly.encode());
    assert_eq!(refusal(&server), Refusal::FilesOnly);
    let text = one_second(server.target()).unwrap_err().to_string();
    assert!(
        text.ends_with("the server serves files and no tests"),
        "{text}"
    );
}

/// How the server answers parameters, and what it tells its owner.
fn refused_by(tests: measure_protocol::TestBounds, json: &str) -> (u8, i32, String) {
    let server = Running::with(impatient(|limits| limits.tests = tests));
    let mut control = greeted(&server, 1);
    send_params(&mut control, json);
    let said = rest(control);
    let number = said[1..5].try_into().map(i32::from_be_bytes).unwrap();
    (said[0], number, server.next_end().unwrap_err().to_string())
}

#[test]
fn tests_beyond_what_the_owner_allows_are_refused_with_the_bound() {
    let short = measure_protocol::TestBounds {
        time_max: Some(Span::from_secs(10)),
        ..measure_protocol::TestBounds::default()
    };
    let (state, number, told) = refused_by(short, r#"{"tcp":true,"time":11,"parallel":1}"#);
    assert_eq!((state, number), (254, 37));
    assert!(told.starts_with("a test of 11s was asked for; at most 10s"));
    let slow = measure_protocol::TestBounds {
        rate_max: Some(Rate::from_bits_per_second(1_000_000)),
        ..measure_protocol::TestBounds::default()
    };
    let fast = r#"{"tcp":true,"time":1,"parallel":2,"bandwidth":600000}"#;
    let (state, number, told) = refused_by(slow, fast);
    assert_eq!((state, number), (254, 27));
    assert!(told.starts_with("2 streams of 600kbit/s were"), "{told}");
    let (.., told) = refused_by(slow, r#"{"tcp":true,"time":1,"parallel":1}"#);
    assert!(told.contains("`--test-rate-max`"), "{told}");
}

#[test]
fn a_test_without_an_agreed_time_is_ended_at_the_bound() {
    let server = Running::with(impatient(|limits| {
        limits.tests.time_max = Some(TIMEOUT);
        limits.waits.grace = Span::ZERO;
    }));
    let mut control = greeted(&server, 1);
    send_params(
        &mut control,
        r#"{"tcp":true,"time":0,"parallel":1,"reverse":true}"#,
    );
    let mut state = [0];
    control.read_exact(&mut state).unwrap();
    let mut stream = connect(&server);
    stream.write_all(cookie(1).as_bytes()).unwrap();
    let reading = thread::spawn(move || rest(stream).len());
    let ended = server.next_end().unwrap_err().to_string();
    assert!(ended.starts_with("it was ended after 1s"), "{ended}");
    drop(control);
    assert!(reading.join().unwrap() > 0);
}

#[test]
fn echoes_without_a_valid_token_get_no_answer() {
    let server = Running::start();
    let probe = UdpSocket::bind((server.address.ip(), 0)).unwrap();
    probe.connect(server.address).unwrap();
    probe
        .set_read_timeout(Some(std::time::Duration::from_millis(200)))
        .unwrap();
    let request = Echo::request(EchoToken(1), 1, 1);
    for datagram in [&request.encode()[..], &request.reply().encode(), b"hello"] {
        probe.send(datagram).unwrap();
    }
    assert!(probe.recv(&mut [0; 64]).is_err());
}

#[test]
fn a_panic_in_one_session_ends_that_session_alone() {
    let server = Server::bind(
        SocketAddr::new(testkit::loopback(), 0),
        ServerLimits::default(),
    )
    .unwrap();
    let target: Address = server.address().to_string().parse().unwrap();
    let (stop, ends) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let tell = |event: ServerEvent| match event {
        ServerEvent::Started { session: 1, .. } => panic!("a fault of the owner"),
        ServerEvent::Ended { outcome, .. } => ends.lock().unwrap().push(outcome.is_ok()),
        _ => {}
    };
    thread::scope(|scope| {
        scope.spawn(|| server.run(&stop, &tell));
        assert!(one_second(target.clone()).is_err());
        assert!(one_second(target).is_ok());
        while ends.lock().unwrap().len() < 2 {
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(ends.into_inner().unwrap(), [false, true]);
}

fn error_of(address: &str) -> ClientError {
    one_second(address.parse().unwrap()).unwrap_err()
}

#[test]
fn an_unknown_host_may_be_known_later() {
    let error = error_of("no-such-host.invalid");
    assert_eq!(error.to_string(), "host `no-such-host.invalid` is unknown");
    assert_eq!(TargetError::from(error).fault, observe::Fault::Run);
}

#[test]
fn a_refused_port_names_what_to_start() {
    let address = SocketAddr::new(testkit::loopback(), support::free_port()).to_string();
    let error = error_of(&address);
    assert!(
        error.to_string().starts_with(&format!("{address} refused")),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("iperf3 -s"));
}

fn fake_server(says: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind((testkit::loopback(), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut control, _) = listener.accept().unwrap();
        let mut cookie = [0; 37];
        let _ = control.read_exact(&mut cookie);
        let _ = control.write_all(says);
    });
    address
}

#[test]
fn a_server_of_another_kind_is_told_apart() {
    let text = error_of(&fake_server(b"220 smtp ready\r\n").to_string()).to_string();
    assert!(
        text.contains("does not speak the iperf3 protocol"),
        "{text}"
    );
}

#[test]
fn a_server_that_wants_a_password_is_explained() {
    let address = fake_server(&[9, 0xFE, 0, 0, 0, 142]).to_string();
    let text = error_of(&address).to_string();
    assert!(text.contains("authentication failed"), "{text}");
}

#[test]
fn a_number_that_came_already_or_is_out_of_range_is_closed() {
    let server = Running::start();
    let mut control = greeted(&server, 10);
    send_params(
        &mut control,
        r#"{"tcp":true,"parallel":2,"time":1000,"trunkline":{"version":1}}"#,
    );
    control.read_exact(&mut [0]).unwrap();
    let open = |number| {
        let mut stream = connect(&server);
        stream
            .write_all(&measure_protocol::numbered_greeting(&cookie(10), number))
            .unwrap();
        stream
    };
    let _kept = open(1);
    for number in [1, 2, u16::MAX] {
        let end = open(number).read(&mut [0]);
        assert!(matches!(end, Ok(0) | Err(_)), "number {number}");
    }
    let _last = open(0);
    let mut said = [0; 200];
    let mut state = [0; 2];
    while state != [1, 2] {
        let got = control.read(&mut said).unwrap();
        assert!(got > 0);
        state = [said[got.saturating_sub(2)], said[got - 1]];
    }
}
