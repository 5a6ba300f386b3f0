//! Tests of datagrams at a rate: ours and iperf3's client, at ours and iperf3's server.

mod support;

use endpoints::{Client, ClientError};
use observe::{DatagramPlan, Datagrams, Way};
use support::{Iperf3Server, Running, finished, iperf3_client};
use units::{Address, Rate, Span};

const RATE: Rate = Rate::from_bits_per_second(8_000_000);

fn run(target: &Address, way: Way) -> Result<Datagrams, ClientError> {
    let plan = DatagramPlan {
        way,
        rate: RATE,
        duration: Span::from_secs(1),
    };
    Client::new(target.clone()).datagrams(&plan, &mut ())
}

/// A busy machine sends later than it should, and no more than that: most of a second's data has
/// come.
fn check(seen: &Datagrams, what: &str) {
    assert!(seen.sent > 100, "{what}: {seen:?}");
    assert!(seen.lost < seen.sent / 2, "{what}: {seen:?}");
    let goodput = seen.goodput().as_f64();
    assert!((1e6..9e6).contains(&goodput), "{what}: {goodput}, {seen:?}");
    assert!(seen.jitter < Span::from_millis(500), "{what}: {seen:?}");
}

#[test]
fn our_client_sends_and_receives_at_our_server() {
    let server = Running::start();
    let target = server.address.to_string().parse().unwrap();
    for way in [Way::Forward, Way::Reverse] {
        let seen = run(&target, way).unwrap();
        check(&seen, "ours");
        let summary = server.next_end().unwrap();
        let (at_server, other) = match way {
            Way::Forward => (summary.received, summary.sent),
            Way::Reverse => (summary.sent, summary.received),
        };
        assert!(at_server >= seen.arrived, "{summary:?}, {seen:?}");
        assert_eq!(other.get(), 0);
    }
}

#[test]
fn our_client_sends_and_receives_at_iperf3() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for way in [Way::Forward, Way::Reverse] {
        // It serves one test.
        let server = Iperf3Server::start();
        check(&run(&server.target, way).unwrap(), "iperf3's server");
    }
}

#[test]
fn iperf3_sends_and_receives_at_our_server() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for options in [
        &["-u", "-b", "8M", "-t", "1"][..],
        &["-u", "-R", "-b", "8M", "-t", "1"],
    ] {
        let server = Running::start();
        let text = finished(iperf3_client(server.address, options));
        assert!(text.contains("receiver"), "{text}");
        let summary = server.next_end().unwrap();
        let bytes = summary.received.get() + summary.sent.get();
        assert!(
            (200_000..1_100_000).contains(&bytes),
            "{options:?}: {summary:?}"
        );
    }
}

#[test]
fn other_tests_of_datagrams_are_refused_in_words() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for (options, why) in [
        (&["-u", "-P", "2", "-t", "1"][..], "several streams"),
        (&["-u", "--bidir", "-t", "1"], "both ways"),
        (&["-u", "-b", "0", "-t", "1"], "no rate"),
    ] {
        let server = Running::start();
        let client = iperf3_client(server.address, options);
        let output = client.wait_with_output().unwrap();
        assert!(!output.status.success());
        let end = server.next_end().unwrap_err().to_string();
        assert!(end.contains(why) && end.contains("(`-b`)"), "{end}");
    }
}
