use super::*;
use crate::{EchoToken, Offer, RequestError, StreamResult};

const NOW: Time = Time::ZERO;

fn params(json: &str) -> Vec<u8> {
    encode_frame(json.as_bytes())
}

fn actions(control: &mut ServerControl) -> Vec<ServerAction> {
    std::iter::from_fn(|| control.next_action()).collect()
}

fn greeted() -> ServerControl {
    let mut control = ServerControl::new(ServerWaits::default(), NOW);
    assert_eq!(actions(&mut control), [ServerAction::Send(vec![9])]);
    control
}

fn running(json: &str) -> ServerControl {
    let mut control = greeted();
    control.on_bytes(NOW, &params(json)).unwrap();
    control.accept(NOW, None).unwrap();
    let missing = match control.phase {
        Phase::Opening(missing) => missing,
        _ => 0,
    };
    for _ in 0..missing {
        control.on_stream(NOW);
    }
    let seen = actions(&mut control);
    assert_eq!(seen.last(), Some(&ServerAction::Start));
    control
}

fn client_results() -> Vec<u8> {
    let results = Results {
        streams: vec![StreamResult {
            id: 1,
            bytes: 9,
            ..StreamResult::default()
        }],
        ..Results::default()
    };
    encode_frame(&results.to_json())
}

#[test]
fn a_two_way_test_takes_receivers_first_then_starts() {
    let mut control = greeted();
    let json = r#"{"tcp":true,"time":1,"parallel":2,"bidirectional":true}"#;
    control.on_bytes(NOW, &params(json)).unwrap();
    assert!(matches!(
        actions(&mut control)[..],
        [ServerAction::Decide(_)]
    ));
    control.accept(NOW, None).unwrap();
    let plan = StreamPlan {
        send: 2,
        receive: 2,
    };
    assert_eq!(
        actions(&mut control),
        [
            ServerAction::Send(vec![10]),
            ServerAction::TakeStreams(plan)
        ]
    );
    (0..3).for_each(|_| control.on_stream(NOW));
    assert_eq!(actions(&mut control), []);
    control.on_stream(NOW);
    assert_eq!(
        actions(&mut control),
        [ServerAction::Send(vec![1, 2]), ServerAction::Start]
    );
}

#[test]
fn the_whole_course_ends_with_both_results() {
    let mut control = running(r#"{"time":1}"#);
    control.on_bytes(NOW, &[4]).unwrap();
    assert_eq!(
        actions(&mut control),
        [ServerAction::CloseStreams, ServerAction::Send(vec![13])]
    );
    control.on_bytes(NOW, &client_results()).unwrap();
    let give = actions(&mut control);
    assert!(
        matches!(&give[..], [ServerAction::GiveResults(theirs)] if theirs.streams[0].bytes == 9)
    );
    control.give_results(NOW, &Results::default()).unwrap();
    let sent = actions(&mut control);
    assert!(matches!(&sent[..], [ServerAction::Send(bytes)] if bytes.last() == Some(&14)));
    control.on_bytes(NOW, &[16]).unwrap();
    assert_eq!(actions(&mut control), [ServerAction::Finished]);
}

#[test]
fn a_client_that_leaves_without_goodbye_has_finished() {
    let mut control = running(r#"{"time":1}"#);
    control.on_bytes(NOW, &[4]).unwrap();
    control.on_bytes(NOW, &client_results()).unwrap();
    control.give_results(NOW, &Results::default()).unwrap();
    assert_eq!(control.on_closed(), Ok(()));
    assert_eq!(actions(&mut control).last(), Some(&ServerAction::Finished));
}

#[test]
fn an_answer_goes_out_before_the_streams_are_asked_for() {
    let mut control = greeted();
    let json = r#"{"time":1,"trunkline":{"version":1}}"#;
    control.on_bytes(NOW, &params(json)).unwrap();
    actions(&mut control);
    let answer = Answer::new(Offer::default(), EchoToken(1), Span::from_millis(100));
    control.accept(NOW, Some(answer)).unwrap();
    let sent = actions(&mut control);
    assert!(
        matches!(&sent[0], ServerAction::Send(bytes) if bytes[0] == 84 && bytes.last() == Some(&10))
    );
}

#[test]
fn a_hostile_length_is_answered_with_a_number() {
    let mut control = greeted();
    let error = control.on_bytes(NOW, &[0xFF; 4]).unwrap_err();
    assert!(matches!(error, ServerControlError::Frame(_)));
    let number = ServerAction::Send(vec![0xFE, 0, 0, 0, 114, 0, 0, 0, 0]);
    assert_eq!(actions(&mut control), [number]);
}

#[test]
fn a_billion_streams_are_refused_with_iperf3s_number() {
    let mut control = greeted();
    let error = control.on_bytes(NOW, &params(r#"{"parallel":1000000000}"#));
    let refused = RequestError::Streams(1_000_000_000);
    assert_eq!(error, Err(ServerControlError::Request(refused)));
    let number = ServerAction::Send(vec![0xFE, 0, 0, 0, 6, 0, 0, 0, 0]);
    assert_eq!(actions(&mut control), [number]);
}

#[test]
fn an_end_before_the_beginning_is_refused() {
    let mut control = greeted();
    control.on_bytes(NOW, &params("{}")).unwrap();
    control.accept(NOW, None).unwrap();
    let error = control.on_bytes(NOW, &[4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the client sent TestEnd while we waited for 1 more streams"
    );
}

#[test]
fn a_stopped_client_is_no_fault() {
    let mut control = running("{}");
    let error = control.on_bytes(NOW, &[12]).unwrap_err();
    assert_eq!(error, ServerControlError::ClientStopped);
    assert_eq!(actions(&mut control), []);
}

#[test]
fn every_wait_is_bounded() {
    let at = |control: &ServerControl| control.deadline().map(|at| at.since(NOW));
    let waits = ServerWaits::default();
    assert_eq!(at(&greeted()), Some(waits.message));
    let timed = running(r#"{"time":5,"omit":2}"#);
    assert_eq!(at(&timed), Some(Span::from_secs(47)));
    assert_eq!(at(&running(r#"{"time":0}"#)), Some(waits.endless));
    let mut ended = running("{}");
    ended.on_bytes(NOW, &[4]).unwrap();
    assert_eq!(at(&ended), Some(waits.results));
}

#[test]
fn an_overdue_test_is_ended_with_iperf3s_number() {
    let mut control = running(r#"{"time":1}"#);
    assert!(control.on_deadline().is_err());
    let number = ServerAction::Send(vec![0xFE, 0, 0, 0, 160, 0, 0, 0, 0]);
    assert_eq!(actions(&mut control), [number]);
}

#[test]
fn each_stream_renews_the_wait_for_the_next() {
    let mut control = greeted();
    control.on_bytes(NOW, &params(r#"{"parallel":2}"#)).unwrap();
    control.accept(NOW, None).unwrap();
    let later = NOW + Span::from_secs(9);
    control.on_stream(later);
    assert_eq!(
        control.deadline(),
        Some(later + ServerWaits::default().stream)
    );
}

#[test]
fn a_flood_out_of_turn_is_refused() {
    let mut control = greeted();
    control.on_bytes(NOW, &params("{}")).unwrap();
    let error = control.on_bytes(NOW, &[0; 20_000]).unwrap_err();
    assert!(matches!(error, ServerControlError::OutOfTurn(_)));
}

/// Running for a client whose offer was answered.
fn offered(offer: Offer) -> ServerControl {
    let mut control = greeted();
    let json = serde_json::to_string(&offer).unwrap();
    let json = format!(r#"{{"time":5,"trunkline":{json}}}"#);
    control.on_bytes(NOW, &params(&json)).unwrap();
    let answer = Answer::new(offer, EchoToken(1), Span::from_millis(100));
    control.accept(NOW, Some(answer)).unwrap();
    control.on_stream(NOW);
    actions(&mut control);
    control
}

#[test]
fn reports_go_out_one_after_another_while_the_test_runs() {
    let mut control = offered(Offer::lasting());
    control.on_bytes(NOW, &[82, 82, 4]).unwrap();
    let mut reply = vec![82];
    reply.extend(encode_frame(&Results::default().to_json()));
    for _ in 0..2 {
        assert_eq!(control.next_action(), Some(ServerAction::Report));
        assert_eq!(control.next_action(), None);
        control.give_report(NOW, &Results::default()).unwrap();
        assert_eq!(
            control.next_action(),
            Some(ServerAction::Send(reply.clone()))
        );
    }
    assert_eq!(control.next_action(), Some(ServerAction::CloseStreams));
}

#[test]
fn a_report_is_for_lasting_tests_alone() {
    let mut control = offered(Offer::default());
    let error = control.on_bytes(NOW, &[82]).unwrap_err();
    assert!(matches!(error, ServerControlError::Unexpected { .. }));
}

#[test]
fn each_report_renews_the_time_of_a_lasting_test() {
    let mut control = offered(Offer::lasting());
    let endless = ServerWaits::default().endless;
    assert_eq!(control.deadline(), Some(NOW + endless));
    let later = NOW + Span::from_secs(9);
    control.on_bytes(later, &[82]).unwrap();
    assert_eq!(control.deadline(), None);
    control.give_report(later, &Results::default()).unwrap();
    assert_eq!(control.deadline(), Some(later + endless));
}

#[test]
fn a_flood_of_requests_for_reports_is_refused() {
    let mut control = offered(Offer::lasting());
    let error = control.on_bytes(NOW, &[82; 20_000]).unwrap_err();
    assert!(matches!(error, ServerControlError::OutOfTurn(_)));
}

#[test]
fn a_probing_client_keeps_its_connection_and_what_it_said_early() {
    let mut control = greeted();
    let json = r#"{"time":1,"trunkline":{"version":1,"probing":3}}"#;
    let mut bytes = params(json);
    bytes.extend_from_slice(b"early");
    control.on_bytes(NOW, &bytes).unwrap();
    let asked = actions(&mut control);
    let [ServerAction::Decide(request)] = &asked[..] else {
        panic!("{asked:?}");
    };
    let answer = Answer::new(request.offer.unwrap(), EchoToken(1), Span::ZERO);
    assert_eq!(answer.probing, 1);
    assert_eq!(control.hand_over(&answer), b"early");
    let sent = actions(&mut control);
    assert!(
        matches!(&sent[..], [ServerAction::Send(bytes)] if bytes[0] == 84 && bytes.last() == Some(&b'}'))
    );
    assert_eq!(control.deadline(), None);
}
