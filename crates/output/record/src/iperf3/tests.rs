use super::*;
use crate::{Counted, Direction, Peer, Window};
use units::{Bytes, Rate};

/// `iperf3 -c 127.0.0.1 -P 2 -t 3 -b 20M -J` of iperf 3.12, on the loopback.
const SENT: &str = include_str!("sent.json");
/// The same with `-R -i 0.1 -b 50M -w 256K`.
const RECEIVED: &str = include_str!("received.json");

fn document(text: &str) -> Document<Measure> {
    read(Path::new("result.json"), text).unwrap()
}

fn refusal(text: &str) -> String {
    let error = read(Path::new("result.json"), text).unwrap_err();
    assert!(error.hint().unwrap().contains("iperf3 -c HOST -J"));
    error.to_string()
}

#[test]
fn what_a_client_sent_becomes_a_measurement() {
    let document = document(SENT);
    assert_eq!(document.body.target.name, "127.0.0.1:5399");
    let run = &document.body.run;
    assert_eq!(
        (run.setting.streams.get(), run.setting.window),
        (2, Window::Auto)
    );
    assert_eq!(run.setting.direction, Direction::Forward);
    assert_eq!(
        run.setting.pacing,
        Some(Rate::from_bits_per_second(20_000_000))
    );
    assert_eq!(run.peer, Peer::Iperf3);
    assert_eq!(run.congestion_used.as_deref(), Some("bbr"));
    // As the receiver counted: `sum_received` has 15,204,352 bytes in 3.0004 s.
    assert_eq!(run.delivered_bytes, 15_204_352);
    assert!((run.duration_seconds - 3.0).abs() < 0.01);
    let rate = run.goodput_bits_per_second as f64;
    assert!((rate / 40.54e6 - 1.0).abs() < 0.03, "{rate}");
    assert_eq!(run.retransmits, Some(0));
    assert_eq!(run.interval, None, "three readings carry none");
    assert_eq!(run.directions[0].counted, Counted::BySender);
    // The last of the first stream's readings: 167 us.
    let rtt = run.streams[0]
        .tcp
        .last()
        .unwrap()
        .rtt
        .unwrap()
        .as_secs_f64();
    assert!((rtt - 167e-6).abs() < 1e-9);
}

#[test]
fn what_a_client_received_has_no_sender_and_no_interval() {
    let document = document(RECEIVED);
    let run = &document.body.run;
    assert_eq!(run.setting.direction, Direction::Reverse);
    assert_eq!(run.setting.window, Window::Fixed(Bytes::from_kib(256)));
    assert_eq!(run.directions[0].counted, Counted::ByReceiver);
    assert!(run.streams[0].tcp.is_empty());
    // The sender did not tell of losses, and thirty readings of a rate that is not flat are too few
    // without that.
    assert_eq!((run.interval, run.steady.settled), (None, false));
    let rate = run.goodput_bits_per_second as f64;
    assert!((rate / 50e6 - 1.0).abs() < 0.03, "{rate}");
}

#[test]
fn date_host_and_command_are_those_of_the_test() {
    let origin = document(SENT).origin;
    assert_eq!(origin.created, "2026-11-22T07:09:33Z");
    assert_eq!(origin.host.name.as_deref(), Some("dtn1"));
    assert_eq!(origin.host.kernel.as_deref(), Some("6.18.44"));
    let command = origin.command_line.join(" ");
    assert_eq!(command, "iperf-3.12 -c 127.0.0.1:5399 -P 2");
}

#[test]
fn it_comes_back_from_json_as_it_was() {
    let document = document(RECEIVED);
    let back = crate::parse(Path::new("x"), &document.to_json()).unwrap();
    assert_eq!(back, document.into());
}

#[test]
fn iperf3_s_output_is_told_from_others() {
    assert!(is_iperf3(SENT) && is_iperf3(RECEIVED));
    assert!(!is_iperf3("{\"schema\": \"trunkline/tune\"}"));
    assert!(!is_iperf3("iperf Done."));
}

#[test]
fn what_is_unlike_is_refused_by_name() {
    let udp = SENT.replace("\"TCP\"", "\"UDP\"");
    assert!(refusal(&udp).contains("a test of UDP, not of TCP"));
    let server = SENT.replace("\"connecting_to\"", "\"accepted_connection\"");
    assert!(refusal(&server).contains("the server's own output"));
    let failed = SENT.replacen('{', "{\"error\": \"the server is busy\",", 1);
    assert!(refusal(&failed).contains("iperf3 reported `the server is busy`"));
    let crowd = SENT.replace("\"num_streams\":\t2", "\"num_streams\":\t2000");
    assert!(refusal(&crowd).contains("2000 streams are not between 1 and 128"));
    let nothing = SENT.replace("\"intervals\"", "\"others\"");
    assert!(refusal(&nothing).contains("not a complete result of iperf3"));
}

/// Whatever a file says, the answer is a document or a refusal.
#[test]
fn numbers_out_of_all_bounds_do_no_harm() {
    for (before, after) in [
        ("\"end\":\t1.000111", "\"end\":\t1e300"),
        ("\"end\":\t1.000111", "\"end\":\t-5"),
        ("\"bytes\":\t2621440", "\"bytes\":\t18446744073709551615"),
        (
            "\"timesecs\":\t1795331373",
            "\"timesecs\":\t9223372036854775807",
        ),
        ("\"host_user\":\t", "\"host_user\":\t-9e9"),
        ("\"tcp_mss_default\":\t32768", "\"tcp_mss_default\":\t0"),
    ] {
        assert!(SENT.contains(before), "{before}");
        let _ = read(Path::new("x"), &SENT.replace(before, after));
    }
    for end in (0..SENT.len()).step_by(97) {
        assert!(read(Path::new("x"), &SENT[..end]).is_err(), "cut at {end}");
    }
}
