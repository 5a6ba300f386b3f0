use super::phase::REPLY_WAIT;
use super::*;
use crate::{Denial, Direction, EchoToken, Offer, StreamResult, TestEnd};
use units::Span;

const NOW: Time = Time::ZERO;

fn request() -> TestRequest {
    TestRequest::new(2, TestEnd::After(Span::from_secs(1)))
}

fn start(request: TestRequest) -> ClientControl {
    let mut control = ClientControl::new(Cookie::from_random(&[3; 36]), request, NOW);
    assert!(matches!(control.next_action(), Some(ClientAction::Send(_))));
    control
}

fn feed(control: &mut ClientControl, bytes: &[u8]) -> Outcome {
    control.on_bytes(NOW, bytes)
}

fn actions(control: &mut ClientControl) -> Vec<ClientAction> {
    std::iter::from_fn(|| control.next_action()).collect()
}

fn running(request: TestRequest) -> ClientControl {
    let mut control = start(request);
    feed(&mut control, &[9, 10]).unwrap();
    actions(&mut control);
    control.on_streams_open(NOW);
    feed(&mut control, &[1, 2]).unwrap();
    assert_eq!(actions(&mut control), [ClientAction::Start]);
    control
}

fn results() -> Results {
    Results {
        streams: vec![StreamResult {
            id: 1,
            bytes: 5,
            ..StreamResult::default()
        }],
        ..Results::default()
    }
}

#[test]
fn start_and_running_may_come_in_one_read() {
    running(request());
}

#[test]
fn the_client_gives_its_results_first() {
    let mut control = running(request());
    control.end_test(NOW);
    assert_eq!(actions(&mut control), [ClientAction::Send(vec![4])]);
    feed(&mut control, &[13]).unwrap();
    assert_eq!(actions(&mut control), [ClientAction::GiveResults]);
    control.give_results(NOW, &results()).unwrap();
    assert!(matches!(actions(&mut control)[..], [ClientAction::Send(_)]));
    let mut reply = encode_frame(&results().to_json());
    reply.push(14);
    feed(&mut control, &reply).unwrap();
    let last = actions(&mut control);
    assert_eq!(last[0], ClientAction::Send(vec![16]));
    assert!(matches!(&last[1], ClientAction::Finished(theirs) if theirs.streams[0].bytes == 5));
}

#[test]
fn whatever_comes_after_the_goodbye_is_ignored() {
    let mut control = running(request());
    control.end_test(NOW);
    feed(&mut control, &[13]).unwrap();
    control.give_results(NOW, &results()).unwrap();
    let mut reply = encode_frame(&results().to_json());
    // 3.21 appends a stale error after its goodbye.
    reply.extend_from_slice(&[14, 0xFE, 0, 0, 0, 205, 0, 0, 0, 9]);
    feed(&mut control, &reply).unwrap();
    assert_eq!(feed(&mut control, &[99]), Ok(()));
    assert_eq!(control.on_closed(), Ok(()));
}

#[test]
fn a_busy_server_is_told_before_anything_else() {
    let mut control = start(request());
    let error = feed(&mut control, &[0xFF]).unwrap_err();
    let busy = Denial::Busy { ends_in: None };
    assert_eq!(error, ClientControlError::Denied(busy));
    assert!(error.hint().unwrap().contains("another port"));
    for denial in [
        Denial::FilesOnly,
        Denial::Busy {
            ends_in: Some(units::Span::from_secs(12)),
        },
    ] {
        let error = feed(&mut start(request()), &denial.encode()).unwrap_err();
        assert_eq!(error, ClientControlError::Denied(denial));
    }
}

#[test]
fn a_server_error_comes_with_one_number_or_two() {
    let mut control = start(request());
    let both = feed(&mut control, &[9, 0xFE, 0, 0, 0, 141, 0, 0, 0, 9]).unwrap_err();
    assert_eq!(
        both.to_string(),
        "the server gave up: the server's socket buffer is smaller than requested \
         (iperf3 error 141), system error 9"
    );
    let mut control = start(request());
    feed(&mut control, &[9, 0xFE, 0, 0, 0, 142]).unwrap();
    let one = control.on_closed().unwrap_err();
    assert!(one.to_string().contains("authentication"), "{one}");
}

#[test]
fn a_plain_server_never_answers_the_offer() {
    let mut offering = request();
    offering.offer = Some(Offer::default());
    assert_eq!(running(offering).answer(), None);
}

#[test]
fn our_own_server_is_recognised() {
    let mut offering = request();
    offering.offer = Some(Offer::default());
    let mut control = start(offering);
    let answer = Answer::new(Offer::default(), EchoToken(7), Span::from_millis(100));
    let mut bytes = vec![9, State::Capabilities.byte()];
    bytes.extend(encode_frame(&serde_json::to_vec(&answer).unwrap()));
    bytes.push(10);
    feed(&mut control, &bytes).unwrap();
    assert_eq!(control.answer(), Some(answer));
    assert!(actions(&mut control).contains(&ClientAction::Recognised(answer)));
}

#[test]
fn unasked_capabilities_are_refused() {
    let mut control = start(request());
    let error = feed(&mut control, &[9, 84]).unwrap_err();
    assert!(matches!(error, ClientControlError::Unexpected { .. }));
}

#[test]
fn an_old_server_that_drops_a_two_way_test_is_explained() {
    let mut both = request();
    both.direction = Direction::Both;
    let mut control = start(both);
    feed(&mut control, &[9, 10]).unwrap();
    control.on_streams_open(NOW);
    let error = control.on_closed().unwrap_err();
    assert!(error.hint().unwrap().contains("before 3.7"), "{error}");
}

#[test]
fn silence_after_the_parameters_may_be_authentication() {
    let mut control = start(request());
    feed(&mut control, &[9]).unwrap();
    let error = control.on_closed().unwrap_err();
    assert!(error.hint().unwrap().contains("`--user`"), "{error}");
}

#[test]
fn a_running_test_has_no_deadline_but_a_wait_has() {
    let mut control = start(request());
    assert_eq!(control.deadline(), Some(NOW + REPLY_WAIT));
    assert_eq!(
        control.on_deadline().unwrap_err().to_string(),
        "the server did not answer for 15s while we waited for its greeting"
    );
    assert_eq!(running(request()).deadline(), None);
}

#[test]
fn trickled_bytes_do_not_extend_the_wait_for_results() {
    let mut control = running(request());
    control.end_test(NOW);
    feed(&mut control, &[13]).unwrap();
    control.give_results(NOW, &results()).unwrap();
    let deadline = control.deadline();
    let later = NOW + Span::from_secs(59);
    control.on_bytes(later, &[0, 0, 1]).unwrap();
    assert_eq!(control.deadline(), deadline);
}

#[test]
fn a_server_that_announces_too_much_is_refused() {
    let mut control = running(request());
    control.end_test(NOW);
    feed(&mut control, &[13]).unwrap();
    control.give_results(NOW, &results()).unwrap();
    let error = feed(&mut control, &[0x7F, 0, 0, 0]).unwrap_err();
    assert!(matches!(error, ClientControlError::Frame(_)));
}

#[test]
fn a_stranger_on_the_port_is_no_iperf3() {
    let mut control = start(request());
    let error = feed(&mut control, b"SSH-2.0").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server does not speak the iperf3 protocol: byte 83 is not a state of the iperf3 \
        protocol"
    );
}

#[test]
fn a_cancelled_test_says_goodbye() {
    let mut control = running(request());
    control.cancel();
    assert_eq!(actions(&mut control), [ClientAction::Send(vec![12])]);
    assert_eq!(control.on_closed(), Ok(()));
}

#[test]
fn a_version_that_was_not_offered_is_refused() {
    let mut offering = request();
    offering.offer = Some(Offer::default());
    let mut control = start(offering);
    let answer = Answer {
        version: 2,
        ..Answer::new(Offer::default(), EchoToken(7), Span::from_millis(100))
    };
    let mut bytes = vec![9, State::Capabilities.byte()];
    bytes.extend(encode_frame(&serde_json::to_vec(&answer).unwrap()));
    let error = feed(&mut control, &bytes).unwrap_err();
    assert_eq!(error, ClientControlError::Version(2));
}

/// Running at a server that answered this offer.
fn recognised(offer: Offer, agreed: Offer) -> ClientControl {
    let mut control = start(TestRequest {
        offer: Some(offer),
        ..request()
    });
    let answer = Answer::new(agreed, EchoToken(7), Span::from_millis(100));
    let mut bytes = vec![9, State::Capabilities.byte()];
    bytes.extend(encode_frame(&serde_json::to_vec(&answer).unwrap()));
    bytes.push(10);
    feed(&mut control, &bytes).unwrap();
    control.on_streams_open(NOW);
    feed(&mut control, &[1, 2]).unwrap();
    actions(&mut control);
    control
}

#[test]
fn a_lasting_test_is_reported_on_while_it_runs() {
    let mut control = recognised(Offer::lasting(), Offer::lasting());
    for _ in 0..2 {
        control.ask_report(NOW);
        assert!(!control.is_running());
        assert_eq!(actions(&mut control), [ClientAction::Send(vec![82])]);
        let mut reply = vec![82];
        reply.extend(encode_frame(&results().to_json()));
        feed(&mut control, &reply).unwrap();
        assert!(
            matches!(&actions(&mut control)[..], [ClientAction::Reported(theirs)] if theirs.streams[0].bytes == 5)
        );
    }
    control.end_test(NOW);
    assert_eq!(actions(&mut control), [ClientAction::Send(vec![4])]);
}

#[test]
fn nothing_is_asked_of_a_server_that_did_not_agree() {
    let short = Offer::default();
    for (offer, agreed) in [(Offer::lasting(), short), (short, Offer::lasting())] {
        let mut control = recognised(offer, agreed);
        control.ask_report(NOW);
        assert!(control.is_running() && !control.is_lasting());
        assert_eq!(actions(&mut control), []);
    }
}

#[test]
fn a_report_that_does_not_come_is_not_awaited_for_ever() {
    let mut control = recognised(Offer::lasting(), Offer::lasting());
    assert_eq!(control.deadline(), None);
    control.ask_report(NOW);
    assert_eq!(control.deadline(), Some(NOW + Span::from_secs(60)));
    let error = control.on_deadline().unwrap_err();
    assert!(
        error.to_string().ends_with("waited for its report"),
        "{error}"
    );
}

#[test]
fn an_unasked_report_is_refused() {
    let mut control = recognised(Offer::lasting(), Offer::lasting());
    let error = feed(&mut control, &[82]).unwrap_err();
    assert!(matches!(error, ClientControlError::Unexpected { .. }));
}

fn probing(answer: Answer) -> (ClientControl, Outcome) {
    let mut control = start(TestRequest {
        offer: Some(Offer::probing()),
        ..request()
    });
    let mut bytes = vec![9, State::Capabilities.byte()];
    bytes.extend(encode_frame(&serde_json::to_vec(&answer).unwrap()));
    let outcome = feed(&mut control, &bytes);
    (control, outcome)
}

#[test]
fn a_server_that_agrees_to_probe_gets_the_connection() {
    let answer = Answer::new(Offer::probing(), EchoToken(7), Span::ZERO);
    let (mut control, outcome) = probing(answer);
    outcome.unwrap();
    let last = actions(&mut control).pop();
    assert_eq!(last, Some(ClientAction::HandOver(answer)));
    // Nothing is left for this conversation to say or to wait for.
    assert_eq!(control.deadline(), None);
    control.cancel();
    assert_eq!(actions(&mut control), []);
}

#[test]
fn a_server_that_does_not_know_probing_goes_on_with_a_test_and_hears_that_it_is_off() {
    let answer = Answer::new(Offer::default(), EchoToken(7), Span::ZERO);
    let (mut control, outcome) = probing(answer);
    outcome.unwrap();
    feed(&mut control, &[10]).unwrap();
    let seen = actions(&mut control);
    assert!(seen.contains(&ClientAction::Recognised(answer)));
    assert!(matches!(seen.last(), Some(ClientAction::OpenStreams(_))));
    control.cancel();
    assert_eq!(actions(&mut control), [ClientAction::Send(vec![12])]);
}

#[test]
fn a_version_of_probing_that_was_not_offered_is_refused() {
    let answer = Answer {
        probing: 2,
        ..Answer::new(Offer::probing(), EchoToken(7), Span::ZERO)
    };
    let error = probing(answer).1.unwrap_err().to_string();
    assert!(error.contains("version 2 of probing"), "{error}");
}
