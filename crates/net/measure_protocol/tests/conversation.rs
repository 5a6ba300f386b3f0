//! Both state machines against each other, against every split and against arbitrary bytes.

use measure_protocol::{
    Answer, ClientAction, ClientControl, Cookie, Direction, EchoToken, Offer, Results,
    ServerAction, ServerControl, ServerWaits, StreamResult, TestEnd, TestRequest, stream_id,
};
use proptest::prelude::*;
use units::{Span, Time};

const NOW: Time = Time::ZERO;

fn request(direction: Direction, streams: u16) -> TestRequest {
    TestRequest {
        direction,
        offer: Some(Offer::lasting()),
        ..TestRequest::new(streams, TestEnd::After(Span::from_secs(1)))
    }
}

fn results(streams: u16) -> Results {
    let stream = |index| StreamResult {
        id: stream_id(index).into(),
        bytes: 1_000,
        ..StreamResult::default()
    };
    let results = Results {
        streams: (0..streams).map(stream).collect(),
        ..Results::default()
    };
    // As a peer reads them: what is unknown is zero on the wire.
    Results::from_json(&results.to_json()).unwrap()
}

/// Hands bytes over in pieces of `piece` bytes.
struct Pair {
    client: ClientControl,
    server: ServerControl,
    piece: usize,
    trace: Vec<String>,
    finished: Option<Results>,
}

impl Pair {
    fn new(request: TestRequest, piece: usize) -> Self {
        let mut client = ClientControl::new(Cookie::from_random(&[1; 36]), request, NOW);
        client.next_action();
        Pair {
            client,
            server: ServerControl::new(ServerWaits::default(), NOW),
            piece,
            trace: Vec::new(),
            finished: None,
        }
    }

    fn run(mut self) -> Self {
        loop {
            let mut moved = false;
            while let Some(action) = self.server.next_action() {
                self.server_acts(action);
                moved = true;
            }
            while let Some(action) = self.client.next_action() {
                self.client_acts(action);
                moved = true;
            }
            if !moved {
                return self;
            }
        }
    }

    fn server_acts(&mut self, action: ServerAction) {
        let answer = Answer::new(Offer::lasting(), EchoToken(5), Span::from_millis(100));
        match action {
            ServerAction::Send(bytes) => {
                for piece in bytes.chunks(self.piece) {
                    self.client.on_bytes(NOW, piece).unwrap();
                }
            }
            ServerAction::Decide(_) => self.server.accept(NOW, Some(answer)).unwrap(),
            ServerAction::TakeStreams(plan) => {
                self.trace.push(format!("take {plan:?}"));
                (0..plan.total()).for_each(|_| self.server.on_stream(NOW));
            }
            ServerAction::Report => self.server.give_report(NOW, &results(3)).unwrap(),
            ServerAction::GiveResults(theirs) => {
                let own = results(theirs.streams.len() as u16);
                self.server.give_results(NOW, &own).unwrap();
            }
            other => self.trace.push(format!("server {other:?}")),
        }
    }

    fn client_acts(&mut self, action: ClientAction) {
        match action {
            ClientAction::Send(bytes) => {
                for piece in bytes.chunks(self.piece) {
                    self.server.on_bytes(NOW, piece).unwrap();
                }
            }
            ClientAction::OpenStreams(plan) => {
                self.trace.push(format!("open {plan:?}"));
                self.client.on_streams_open(NOW);
            }
            ClientAction::Start => self.client.ask_report(NOW),
            ClientAction::Reported(theirs) => {
                self.trace
                    .push(format!("{} reported", theirs.streams.len()));
                self.client.end_test(NOW);
            }
            ClientAction::GiveResults => self.client.give_results(NOW, &results(3)).unwrap(),
            ClientAction::Finished(theirs) => self.finished = Some(*theirs),
            ClientAction::Recognised(_) => self.trace.push("recognised".to_owned()),
            ClientAction::HandOver(_) => panic!("nothing else was offered"),
        }
    }
}

#[test]
fn our_two_ends_complete_a_test_in_each_direction() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        let pair = Pair::new(request(direction, 3), 1).run();
        assert_eq!(pair.finished, Some(results(3)), "{direction:?}");
        assert!(pair.trace.contains(&"recognised".to_owned()));
        assert!(pair.trace.contains(&"3 reported".to_owned()));
    }
}

fn any_direction() -> impl Strategy<Value = Direction> {
    prop_oneof![
        Just(Direction::Forward),
        Just(Direction::Reverse),
        Just(Direction::Both)
    ]
}

/// What a server might send, so that random input gets past the first state.
fn server_bytes() -> impl Strategy<Value = Vec<u8>> {
    let state = prop_oneof![
        Just(vec![9]),
        Just(vec![10]),
        Just(vec![1, 2]),
        Just(vec![13]),
        Just(vec![14]),
        Just(vec![84, 0, 0, 0, 2, b'{', b'}']),
        Just(vec![82]),
        Just(vec![0xFE, 0, 0, 0, 5]),
        Just(measure_protocol::encode_frame(&results(2).to_json())),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(state, 0..12).prop_map(|parts| parts.concat())
}

fn client_bytes() -> impl Strategy<Value = Vec<u8>> {
    let message = prop_oneof![
        Just(measure_protocol::encode_frame(
            br#"{"tcp":true,"time":1,"parallel":2}"#
        )),
        Just(measure_protocol::encode_frame(&results(2).to_json())),
        Just(vec![4]),
        Just(vec![16]),
        Just(vec![12]),
        Just(vec![82]),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(message, 0..8).prop_map(|parts| parts.concat())
}

/// Everything a client does when it is fed `bytes` in these pieces and driven eagerly.
fn client_log(bytes: &[u8], piece: usize) -> Vec<String> {
    let cookie = Cookie::from_random(&[1; 36]);
    let mut client = ClientControl::new(cookie, request(Direction::Both, 2), NOW);
    let mut log = Vec::new();
    for piece in bytes.chunks(piece) {
        let fed = client.on_bytes(NOW, piece);
        while let Some(action) = client.next_action() {
            match &action {
                ClientAction::OpenStreams(_) => client.on_streams_open(NOW),
                ClientAction::Start => client.end_test(NOW),
                ClientAction::GiveResults => drop(client.give_results(NOW, &results(4))),
                _ => {}
            }
            log.push(format!("{action:?}"));
        }
        if let Err(error) = fed {
            log.push(error.to_string());
            break;
        }
    }
    log
}

fn server_log(bytes: &[u8], piece: usize) -> Vec<String> {
    let mut server = ServerControl::new(ServerWaits::default(), NOW);
    let mut log = Vec::new();
    for piece in bytes.chunks(piece) {
        let fed = server.on_bytes(NOW, piece);
        while let Some(action) = server.next_action() {
            match &action {
                ServerAction::Decide(_) => {
                    let answer = Answer::new(Offer::lasting(), EchoToken(5), Span::from_secs(1));
                    drop(server.accept(NOW, Some(answer)));
                }
                ServerAction::Report => drop(server.give_report(NOW, &results(2))),
                ServerAction::TakeStreams(plan) => {
                    (0..plan.total()).for_each(|_| server.on_stream(NOW));
                }
                ServerAction::GiveResults(_) => drop(server.give_results(NOW, &results(2))),
                _ => {}
            }
            log.push(format!("{action:?}"));
        }
        if let Err(error) = fed {
            log.push(error.to_string());
            break;
        }
    }
    log
}

proptest! {
    #[test]
    fn a_pair_agrees_whatever_the_pieces(
        direction in any_direction(),
        streams in 1u16..=128,
        piece in 1usize..300,
    ) {
        let whole = Pair::new(request(direction, streams), usize::MAX).run();
        let split = Pair::new(request(direction, streams), piece).run();
        prop_assert_eq!(whole.trace, split.trace);
        prop_assert_eq!(whole.finished, split.finished);
    }

    #[test]
    fn arbitrary_bytes_never_panic_a_client(bytes in server_bytes(), piece in 1usize..20) {
        client_log(&bytes, piece);
    }

    #[test]
    fn arbitrary_bytes_never_panic_a_server(bytes in client_bytes(), piece in 1usize..20) {
        server_log(&bytes, piece);
    }

    #[test]
    fn the_pieces_never_matter_to_a_patient_client(bytes in server_bytes(), piece in 2usize..40) {
        // Driven after every byte or only after larger pieces: a well-behaved server waits for its
        // turn, so only conversations that finish in both ways are compared.
        let (single, pieces) = (client_log(&bytes, 1), client_log(&bytes, piece));
        let finished = |log: &[String]| log.iter().any(|line| line.starts_with("Finished"));
        if finished(&single) && finished(&pieces) {
            prop_assert_eq!(single, pieces);
        }
    }

    #[test]
    fn arbitrary_json_never_panics(text in "\\PC{0,200}") {
        let _ = measure_protocol::Params::from_json(text.as_bytes());
        let _ = Results::from_json(text.as_bytes());
    }
}
