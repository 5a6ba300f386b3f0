//! One port that serves tests and copies.

#[path = "../../../net/copy_net/tests/copies/mod.rs"]
mod copies;
mod support;

use copies::{Far, TIMEOUT, token};
use copy_net::{AcceptLimits, DialError};
use endpoints::{Client, ClientError, Server, ServerLimits};
use observe::{SamplePlan, Setting, StreamCount, Window};
use sockets::StreamOptions;
use units::{Address, Bytes, Span};

fn one_second(target: Address) -> Result<observe::Observation, ClientError> {
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    };
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    Client::new(target).run(&setting, &plan, &mut ())
}

#[test]
fn one_port_serves_tests_and_copies() {
    let at = std::net::SocketAddr::new(testkit::loopback(), 0);
    let (handler, sessions, _) = copies::handler();
    let server = Server::bind(at, ServerLimits::default()).unwrap();
    let server = server
        .with_copies(AcceptLimits::default(), handler)
        .unwrap();
    let place: Address = server.address().to_string().parse().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(&stop, &|_| ()));
        let near = copy_net::Dialer::default()
            .control(std::slice::from_ref(&place), &token(1))
            .unwrap();
        let accepted = sessions.recv_timeout(TIMEOUT).unwrap();
        let seen = one_second(place).unwrap();
        assert!(seen.bytes_delivered() > Bytes::ZERO);
        let stream = near.streams.stream(
            accepted.streams.session().unwrap(),
            0,
            &StreamOptions::default(),
            false,
        );
        assert!(accepted.streams.next(TIMEOUT).is_some());
        drop(stream);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_server_of_tests_alone_turns_copies_away() {
    let server = support::Running::start();
    let error = copy_net::Dialer::default()
        .control(&[server.target()], &token(1))
        .unwrap_err();
    assert!(matches!(error, DialError::Closed { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--root"));
}

#[test]
fn a_place_where_another_program_answers_is_left_aside() {
    let (far, tests) = (Far::start(), support::Running::start());
    let near = copy_net::Dialer::default()
        .control(&[tests.target(), far.place()], &token(1))
        .unwrap();
    assert_eq!(near.peer, far.address);
}
