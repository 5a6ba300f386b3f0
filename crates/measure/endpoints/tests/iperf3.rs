//! Real iperf3, both ways round.

mod support;

use endpoints::Client;
use observe::{
    Amount, Counted, Direction, Peer, RunObserver, SamplePlan, Setting, Snapshot, StreamCount,
    Window,
};
use support::{Iperf3Server, Running, finished, iperf3_client};
use units::{Bytes, Span};

fn plan() -> SamplePlan {
    SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    }
}

fn against_iperf3(direction: Direction, streams: u64, plan: &SamplePlan) {
    if !testkit::has_program("iperf3") {
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
    if !testkit::has_program("iperf3") {
        return;
    }
    let server = Iperf3Server::start();
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let seen = Client::new(server.target.clone())
        .run(&setting, &plan(), &mut ())
        .unwrap();
    assert_eq!(seen.streams[0].delivery.counted, Counted::ByAcknowledgement);
}

/// Has enough after half a second.
struct Satisfied(usize);

impl RunObserver for Satisfied {
    fn on_progress(&mut self, _: &Snapshot) {
        self.0 += 1;
    }

    fn has_enough(&self) -> bool {
        self.0 >= 5
    }
}

#[test]
fn a_test_with_iperf3_may_end_early_too() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let minute = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(60))
    };
    for direction in [Direction::Forward, Direction::Reverse] {
        let server = Iperf3Server::start();
        let setting = Setting {
            direction,
            ..Setting::new(StreamCount::ONE, Window::Auto)
        };
        let client = Client::new(server.target.clone());
        let seen = client.run(&setting, &minute, &mut Satisfied(0)).unwrap();
        assert!(seen.duration < Span::from_secs(30), "{}", seen.duration);
        let total = seen.streams[0].delivery.receiver_total.unwrap();
        assert!(total > Bytes::ZERO, "{direction:?}");
    }
}

fn from_iperf3(options: &[&str]) -> (String, endpoints::server::SessionSummary) {
    let server = Running::start();
    let text = finished(iperf3_client(server.address, options));
    (text, server.next_end().unwrap())
}

#[test]
fn iperf3_clients_are_served_in_every_direction() {
    if !testkit::has_program("iperf3") {
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
fn iperf3_options_are_accepted() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for options in [
        &["-n", "20M"][..],
        &["-t", "1", "-w", "256K"],
        &["-t", "1", "-M", "1200"],
        &["-t", "1", "-N", "-l", "8K"],
    ] {
        let (_, summary) = from_iperf3(options);
        assert!(summary.received > Bytes::ZERO, "{options:?}");
        assert!(summary.notes.is_empty(), "{options:?}: {:?}", summary.notes);
    }
}

/// What iperf3 says at the end, read by its JSON pointer, and what the server counted.
fn reported(options: &[&str]) -> (serde_json::Value, endpoints::server::SessionSummary) {
    let (text, summary) = from_iperf3(&[options, &["-J"]].concat());
    (serde_json::from_str(&text).unwrap(), summary)
}

fn number(report: &serde_json::Value, pointer: &str) -> f64 {
    let value = report.pointer(pointer).and_then(serde_json::Value::as_f64);
    value.unwrap_or_else(|| panic!("{pointer} in {report}"))
}

#[test]
fn a_count_of_bytes_or_blocks_is_sent_exactly() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let sent = |options: &[&str]| from_iperf3(options).1.sent;
    assert_eq!(sent(&["-R", "-n", "20M"]), Bytes::from_mib(20));
    // iperf3 counts every read as a block, also one of less, and so may end the test at any number
    // below.
    let block = 128 * 1024;
    let blocks = sent(&["-R", "-k", "100"]).get();
    assert_eq!(blocks % block, 0, "{blocks}");
    assert!((1..=100).contains(&(blocks / block)), "{blocks}");
}

#[test]
fn the_wanted_congestion_control_is_used() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let (report, _) = reported(&["-R", "-t", "1", "-C", "reno"]);
    let used = report.pointer("/end/sender_tcp_congestion");
    assert_eq!(used.and_then(serde_json::Value::as_str), Some("reno"));
}

#[test]
fn a_wanted_rate_is_kept_to() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for option in ["--fq-rate", "-b"] {
        let (_, summary) = from_iperf3(&["-R", "-t", "1", option, "50M"]);
        // 6.25 MB in the second, and what fits the buffers; loopback carries hundreds.
        assert!(
            summary.sent < Bytes::new(20_000_000),
            "{option}: {}",
            summary.sent
        );
    }
}

#[test]
fn an_omitted_beginning_does_not_count() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for direction in [&[][..], &["-R"]] {
        let options = [&["-t", "1", "-O", "1", "-b", "20M"], direction].concat();
        let (report, summary) = reported(&options);
        let ours = match direction.is_empty() {
            true => "/end/sum_received",
            false => "/end/sum_sent",
        };
        let all = (summary.received + summary.sent).as_f64();
        let counted = number(&report, &format!("{ours}/bytes"));
        assert!(counted > 0.0 && counted < 0.8 * all, "{counted} of {all}");
        let seconds = number(&report, &format!("{ours}/seconds"));
        assert!(seconds < 1.8, "{seconds} s of 2 s");
    }
}

#[test]
fn bytes_are_counted_from_the_end_of_the_omitted_beginning() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let (_, summary) = from_iperf3(&["-R", "-O", "1", "-n", "20M"]);
    assert!(summary.sent > Bytes::from_mib(20), "{}", summary.sent);
}

#[test]
fn iperf3_gets_our_report_when_it_asks() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let (text, _) = from_iperf3(&["-t", "1", "--get-server-output"]);
    assert!(text.contains("trunkline serve, 1 stream(s)"), "{text}");
}

#[test]
fn five_clients_at_once_and_one_killed_do_not_disturb_each_other() {
    if !testkit::has_program("iperf3") {
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
            endpoints::ServerEvent::Started { .. }
        ));
    }
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    others.into_iter().for_each(|client| drop(finished(client)));
    let ends: Vec<_> = (0..5).map(|_| server.next_end()).collect();
    assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 4, "{ends:?}");
}
