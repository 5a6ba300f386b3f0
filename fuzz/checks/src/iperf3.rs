//! Any bytes as what a peer says in a test: an error, or actions that keep the bounds of the
//! protocol.

use measure_protocol::{
    Answer, ClientAction, ClientControl, Cookie, EchoToken, ErrorCode, Offer, Params, Results,
    STREAMS_MAX, ServerAction, ServerControl, ServerWaits, TestEnd, TestRequest,
};
use units::{Span, Time};

use crate::words::Words;

const NOW: Time = Time::ZERO;
const TOKEN: EchoToken = EchoToken(7);

/// What a client says; the first byte decides what this server does, the second how the bytes are
/// split.
pub fn check_server(bytes: &[u8]) {
    documents(bytes);
    let mut words = Words::new(bytes);
    let (choice, step) = (words.byte(), usize::from(words.byte()) + 1);
    let mut server = ServerControl::new(ServerWaits::default(), NOW);
    let mut is_over = false;
    for part in words.rest().chunks(step) {
        is_over |= server.on_bytes(NOW, part).is_err();
        is_over |= serve(&mut server, choice);
        assert!(
            !is_over || server.deadline().is_none(),
            "waits after its end"
        );
    }
    let _ = match choice & 8 {
        0 => server.on_closed(),
        _ => server.on_deadline(),
    };
    while server.next_action().is_some() {}
}

/// Does what the server asks for. Returns whether the conversation is over.
fn serve(server: &mut ServerControl, choice: u8) -> bool {
    let mut is_over = false;
    while let Some(action) = server.next_action() {
        let done = match action {
            ServerAction::Decide(request) => {
                bounded(&request);
                decide(server, &request, choice)
            }
            ServerAction::TakeStreams(plan) => {
                assert!((1..=2 * STREAMS_MAX).contains(&plan.total()));
                (0..plan.total()).for_each(|_| server.on_stream(NOW));
                Ok(())
            }
            ServerAction::Report => server.give_report(NOW, &Results::default()),
            ServerAction::GiveResults(results) => {
                again(&results);
                server.give_results(NOW, &Results::default())
            }
            _ => Ok(()),
        };
        is_over |= done.is_err();
    }
    is_over
}

fn decide(
    server: &mut ServerControl,
    request: &TestRequest,
    choice: u8,
) -> Result<(), measure_protocol::ServerControlError> {
    let answer = request
        .offer
        .map(|offer| Answer::new(offer, TOKEN, Span::from_millis(100)));
    match (choice & 3, answer) {
        (0, _) => server.refuse(ErrorCode::PARAMETERS),
        (1, Some(answer)) if answer.probing > 0 => drop(server.hand_over(&answer)),
        (_, answer) => return server.accept(NOW, answer),
    }
    Ok(())
}

fn bounded(request: &TestRequest) {
    assert!((1..=STREAMS_MAX).contains(&request.streams));
    assert!(
        request
            .window
            .is_none_or(|window| window <= measure_protocol::WINDOW_MAX)
    );
    assert!(request.block <= measure_protocol::BLOCK_MAX && request.block.get() > 0);
    assert!(
        request
            .length()
            .is_none_or(|length| length <= Span::from_secs(86_400 + 600))
    );
    let params = Params::from_json(&request.to_params().to_json()).expect("ours");
    assert!(TestRequest::from_params(&params).is_ok());
}

/// What a server says; the first byte decides what this client wants, the second how the bytes are
/// split.
pub fn check_client(bytes: &[u8]) {
    documents(bytes);
    let mut words = Words::new(bytes);
    let (choice, step) = (words.byte(), usize::from(words.byte()) + 1);
    let offer = match choice & 3 {
        0 => None,
        1 => Some(Offer::default()),
        2 => Some(Offer::lasting()),
        _ => Some(Offer::probing()),
    };
    let request = TestRequest {
        offer,
        ..TestRequest::new(2, TestEnd::After(Span::from_secs(1)))
    };
    let mut client = ClientControl::new(Cookie::from_random(&[0; 36]), request, NOW);
    let mut is_over = false;
    for part in words.rest().chunks(step) {
        if let Err(error) = client.on_bytes(NOW, part) {
            assert!(!error.to_string().is_empty());
            is_over = true;
        }
        is_over |= ask(&mut client, choice);
        assert!(
            !is_over || client.deadline().is_none(),
            "waits after its end"
        );
    }
    let _ = match choice & 8 {
        0 => client.on_closed(),
        _ => client.on_deadline(),
    };
    while client.next_action().is_some() {}
}

/// Does what the client asks for. Returns whether the conversation is over.
fn ask(client: &mut ClientControl, choice: u8) -> bool {
    let mut is_over = false;
    let mut finished = 0;
    while let Some(action) = client.next_action() {
        match action {
            ClientAction::OpenStreams(plan) => {
                assert_eq!(plan.total(), 2);
                client.on_streams_open(NOW);
            }
            ClientAction::Start if choice & 4 == 4 && client.is_lasting() => client.ask_report(NOW),
            ClientAction::Start => client.end_test(NOW),
            ClientAction::Reported(results) => {
                again(&results);
                client.end_test(NOW);
            }
            ClientAction::GiveResults => {
                is_over |= client.give_results(NOW, &Results::default()).is_err();
            }
            ClientAction::HandOver(answer) => assert!(answer.probing > 0 && choice & 3 == 3),
            ClientAction::Finished(results) => {
                again(&results);
                finished += 1;
            }
            ClientAction::Send(_) | ClientAction::Recognised(_) => {}
        }
    }
    assert!(finished <= 1);
    is_over
}

/// The same bytes as the texts in such a conversation.
fn documents(bytes: &[u8]) {
    if let Ok(params) = Params::from_json(bytes) {
        match TestRequest::from_params(&params) {
            Ok(request) => bounded(&request),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    if let Ok(results) = Results::from_json(bytes) {
        again(&results);
    }
}

/// Results can be written and read again, and their telemetry can be thinned.
fn again(results: &Results) {
    let read = Results::from_json(&results.to_json()).expect("results of ours");
    assert_eq!(read.streams.len(), results.streams.len());
    if let Some(mut telemetry) = results.trunkline.clone() {
        let length = Span::from_secs(1);
        let read = |index| endpoints::fuzzing::read_telemetry(&telemetry, index, length);
        (0..4).filter_map(read).count();
        telemetry.thin(8);
    }
}
