//! Real iperf3, both ways round.

mod support;

use net::Client;
use observe::{Amount, Counted, Direction, Peer, SamplePlan, Setting, StreamCount, Window};
use support::{Iperf3Server, Running, finished, has_iperf3, iperf3_client};
use units::{Bytes, Span};

fn plan() -> SamplePlan {
    SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    }
}

fn against_iperf3(direction: Direction, streams: u64, plan: &SamplePlan) {
    if !has_iperf3() {
        return;
    }
    let server = Iperf3Server::start();
    let setting = Setting {
        direction,
        ..Setting::new(StreamCount::new(streams).unwrap(), Window::Auto)
    };
    let seen = Client::new(server.target.clone())
        .run(&setting, plan, &mut ())
        .unwrap();
    assert_eq!(seen.peer, Peer::Iperf3);
    assert!(seen.cpu_far_percent.is_some());
    for stream in &seen.streams {
        let total = stream.delivery.receiver_total.unwrap();
        assert!(
            total > Bytes::ZERO,
            "{direction:?} stream {}",
            stream.number
        );
        assert!(!stream.delivery.progress.is_empty());
    }
}

#[test]
fn our_client_sends_to_iperf3() {
    against_iperf3(Direction::Forward, 1, &plan());
    against_iperf3(Direction::Forward, 8, &plan());
}

#[test]
fn our_client_receives_from_iperf3() {
    against_iperf3(Direction::Reverse, 1, &plan());
    against_iperf3(Direction::Reverse, 8, &plan());
}

#[test]
fn our_client_does_both_with_iperf3() {
    against_iperf3(Direction::Both, 2, &plan());
}

#[test]
fn our_client_counts_bytes_with_iperf3() {
    let amount = Amount::Bytes(Bytes::new(20_000_000));
    against_iperf3(Direction::Forward, 2, &SamplePlan { amount, ..plan() });
    against_iperf3(Direction::Reverse, 2, &SamplePlan { amount, ..plan() });
}

#[test]
fn a_foreign_receiver_is_seen_through_its_acknowledgements() {
    if !has_iperf3() {
        return;
    }
    let server = Iperf3Server::start();
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let seen = Client::new(server.target.clone())
        .run(&setting, &plan(), &mut ())
        .unwrap();
    assert_eq!(seen.streams[0].delivery.counted, Counted::ByAcknowledgement);
}

fn from_iperf3(options: &[&str]) -> (String, net::server::SessionSummary) {
    let server = Running::start();
    let text = finished(iperf3_client(server.address, options));
    (text, server.next_end().unwrap())
}

#[test]
fn iperf3_clients_are_served_in_every_direction() {
    if !has_iperf3() {
        return;
    }
    let moved = |options: &[&str]| {
        let (_, summary) = from_iperf3(options);
        (summary.received > Bytes::ZERO, summary.sent > Bytes::ZERO)
    };
    assert_eq!(moved(&["-t", "1"]), (true, false));
    assert_eq!(moved(&["-t", "1", "-R"]), (false, true));
    assert_eq!(moved(&["-t", "1", "--bidir"]), (true, true));
    assert_eq!(moved(&["-t", "1", "-P", "8"]), (true, false));
    assert_eq!(moved(&["-t", "1", "-P", "8", "-R"]), (false, true));
}

#[test]
fn iperf3_options_are_followed() {
    if !has_iperf3() {
        return;
    }
    for options in [
        &["-n", "20M"][..],
        &["-n", "20M", "-R"],
        &["-k", "100"],
        &["-t", "1", "-w", "256K"],
        &["-t", "1", "-M", "1200"],
        &["-t", "1", "-C", "reno"],
        &["-t", "1", "-O", "1"],
        &["-t", "1", "-N", "-l", "8K"],
        &["-t", "1", "-R", "--fq-rate", "50M"],
        &["-t", "1", "-R", "-b", "50M"],
    ] {
        let (_, summary) = from_iperf3(options);
        assert!(summary.received + summary.sent > Bytes::ZERO, "{options:?}");
        assert!(summary.notes.is_empty(), "{options:?}: {:?}", summary.notes);
    }
}

#[test]
fn iperf3_gets_our_report_when_it_asks() {
    if !has_iperf3() {
        return;
    }
    let (text, _) = from_iperf3(&["-t", "1", "--get-server-output"]);
    assert!(text.contains("trunkline serve, 1 stream(s)"), "{text}");
}

#[test]
fn a_udp_test_is_refused_in_words() {
    if !has_iperf3() {
        return;
    }
    let server = Running::start();
    let client = iperf3_client(server.address, &["-u", "-t", "1"]);
    let output = client.wait_with_output().unwrap();
    assert!(!output.status.success());
    let end = server.next_end().unwrap_err();
    assert_eq!(end.to_string(), "UDP tests are not served, only TCP");
}

#[test]
fn five_clients_at_once_and_one_killed_do_not_disturb_each_other() {
    if !has_iperf3() {
        return;
    }
    let server = Running::start();
    let start = |_| iperf3_client(server.address, &["-t", "2", "-P", "2"]);
    let others: Vec<_> = (0..4).map(start).collect();
    let mut doomed = iperf3_client(server.address, &["-t", "30"]);
    let mut started = 0;
    while started < 5 {
        started += usize::from(matches!(
            server.next_event(),
            net::ServerEvent::Started { .. }
        ));
    }
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    others.into_iter().for_each(|client| drop(finished(client)));
    let ends: Vec<_> = (0..5).map(|_| server.next_end()).collect();
    assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 4, "{ends:?}");
}
