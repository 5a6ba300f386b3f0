//! Both ends of a session, each by itself and against each other.

use proptest::prelude::*;
use units::{Bytes, Rate, Span, Time, Way};

use super::message::decode;
use super::*;
use crate::encode_frame;

const NOW: Time = Time::ZERO;
const LEAST: Bytes = Bytes::new(52);
const SIZE: Bytes = Bytes::new(1_500);
const ZERO: Zero = Zero {
    unix_ns: 1_800_000_000_123_456_789,
    error_ns: Some(2_000_000),
};

fn after(span: Span) -> Time {
    NOW + span
}

fn plan(way: Way, packets: usize) -> TrainPlan {
    TrainPlan {
        way,
        packet: SIZE,
        departures: vec![Span::ZERO; packets],
    }
}

fn server() -> ProbingServer {
    ProbingServer::new(Bounds::default(), ProbingWaits::default(), LEAST, NOW)
}

fn announced(number: u32, plan: &TrainPlan) -> Vec<u8> {
    FromClient::Train(Announcement::new(number, plan)).encode()
}

fn arrival(nanos: u64) -> Arrival {
    Arrival {
        by_kernel: Some(Span::from_nanos(nanos)),
        by_program: Span::from_nanos(nanos + 3),
    }
}

/// What the server does, with what it says in words.
fn moves(server: &mut ProbingServer) -> Vec<ProbingServerAction> {
    std::iter::from_fn(|| server.next_action()).collect()
}

fn said(server: &mut ProbingServer) -> FromServer {
    match server.next_action() {
        Some(ProbingServerAction::Send(bytes)) => decode(&bytes[4..]).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn refusal(server: &mut ProbingServer) -> Refused {
    match said(server) {
        FromServer::Refused(refused) => refused,
        other => panic!("{other:?}"),
    }
}

/// A server that receives train 1 of so many packets.
fn receiving(packets: usize) -> ProbingServer {
    let mut server = server();
    let train = announced(1, &plan(Way::Forward, packets));
    server.on_bytes(NOW, &train).unwrap();
    server.on_opener(NOW, 1);
    assert_eq!(server.next_action(), Some(ProbingServerAction::Receive(1)));
    assert_eq!(said(&mut server), FromServer::Ready { number: 1 });
    server
}

// Announcing a train.

#[test]
fn nothing_is_sent_before_the_client_has_shown_where_it_is() {
    let mut server = server();
    let train = announced(1, &plan(Way::Reverse, 2));
    server.on_bytes(NOW, &train).unwrap();
    assert_eq!(moves(&mut server), []);
    // An opener for another train is an old one.
    server.on_opener(NOW, 7);
    assert_eq!(moves(&mut server), []);
    server.on_opener(NOW, 1);
    let transmit = ProbingServerAction::Transmit(1, plan(Way::Reverse, 2));
    assert_eq!(moves(&mut server), [transmit]);
}

#[test]
fn an_opener_may_be_faster_than_the_announcement() {
    let mut server = server();
    server.on_opener(NOW, 1);
    let train = announced(1, &plan(Way::Forward, 2));
    server.on_bytes(NOW, &train).unwrap();
    assert_eq!(moves(&mut server).len(), 2);
}

#[test]
fn a_train_without_an_opener_is_given_up() {
    let mut server = server();
    let train = announced(1, &plan(Way::Forward, 2));
    server.on_bytes(NOW, &train).unwrap();
    let end = server.deadline().unwrap();
    assert_eq!(end, after(ProbingWaits::default().opener));
    server.on_deadline(end).unwrap();
    let refused = refusal(&mut server);
    assert_eq!(refused.cause, Cause::Unopened);
    assert!(refused.why.contains("within 5s"), "{}", refused.why);
    // The session goes on.
    server
        .on_bytes(end, &announced(2, &plan(Way::Forward, 2)))
        .unwrap();
}

#[test]
fn absurd_trains_are_refused_with_the_bound() {
    let with = |change: fn(&mut TrainPlan)| {
        let mut train = plan(Way::Reverse, 2);
        change(&mut train);
        train
    };
    for (train, words) in [
        (
            with(|train| train.departures.clear()),
            "a train of 0 packets was asked for; 1 to 4096 are possible",
        ),
        (
            with(|train| train.departures = vec![Span::ZERO; 4_097]),
            "a train of 4097 packets was asked for; 1 to 4096 are possible",
        ),
        (
            with(|train| train.packet = Bytes::new(51)),
            "packets of 51 bytes were asked for; 52 to 65535 are possible",
        ),
        (
            with(|train| train.packet = Bytes::new(65_536)),
            "packets of 65536 bytes were asked for; 52 to 65535 are possible",
        ),
        (
            with(|train| train.departures = vec![Span::ZERO, Span::from_secs(31)]),
            "a train of 31s was asked for; at most 30s are possible",
        ),
        (
            with(|train| train.departures = vec![Span::from_micros(2), Span::from_micros(1)]),
            "packet 1 of the train is to leave before the one ahead of it",
        ),
        (
            with(|train| {
                train.packet = Bytes::new(65_000);
                train.departures = vec![Span::ZERO; 2_000];
            }),
            "a train of 130MB was asked for; at 1Gbit/s at most 125MB are possible at once",
        ),
    ] {
        let mut server = server();
        server.on_bytes(NOW, &announced(1, &train)).unwrap();
        server.on_opener(NOW, 1);
        let refused = refusal(&mut server);
        assert_eq!(refused.cause, Cause::Bound);
        assert_eq!(refused.why, words);
        assert_eq!(moves(&mut server), []);
    }
}

#[test]
fn the_mean_rate_of_a_session_is_bounded() {
    let bounds = Bounds {
        rate_max: Rate::from_bits_per_second(8 * 4_500),
        ..Bounds::default()
    };
    let mut server = ProbingServer::new(bounds, ProbingWaits::default(), LEAST, NOW);
    for number in 1..=3 {
        server.on_opener(NOW, number);
        let train = announced(number, &plan(Way::Reverse, 1));
        server.on_bytes(NOW, &train).unwrap();
        assert!(matches!(
            moves(&mut server)[..],
            [ProbingServerAction::Transmit(..)]
        ));
        server.give_departures(NOW, &[Span::ZERO], None);
        moves(&mut server);
    }
    server
        .on_bytes(NOW, &announced(4, &plan(Way::Reverse, 1)))
        .unwrap();
    let refused = refusal(&mut server);
    assert_eq!(refused.cause, Cause::Rate);
    // 1,500 bytes at 4,500 bytes a second.
    assert_eq!(refused.again_ms, Some(334));
    server.on_opener(NOW, 5);
    let train = announced(5, &plan(Way::Reverse, 1));
    server
        .on_bytes(after(Span::from_millis(334)), &train)
        .unwrap();
    assert_eq!(moves(&mut server).len(), 1);
}

#[test]
fn a_second_train_at_the_same_time_ends_the_session() {
    let mut server = receiving(2);
    let second = announced(2, &plan(Way::Forward, 2));
    let error = server.on_bytes(NOW, &second).unwrap_err();
    let (asked, running) = (2, 1);
    assert_eq!(error, ProbingServerError::Overlap { asked, running });
}

// Receiving.

#[test]
fn a_whole_train_is_judged_at_once() {
    let mut server = receiving(2);
    server.on_packet(NOW, 1, 1, SIZE, arrival(20));
    server.on_packet(NOW, 9, 0, SIZE, arrival(5));
    server.on_packet(NOW, 1, 0, LEAST, arrival(5));
    assert_eq!(moves(&mut server), []);
    server.on_packet(NOW, 1, 0, SIZE, arrival(10));
    let judge = moves(&mut server);
    let [ProbingServerAction::Judge(seen)] = &judge[..] else {
        panic!("{judge:?}");
    };
    assert_eq!(seen.arrivals, [Some(arrival(10)), Some(arrival(20))]);
    server.give_arrivals(
        NOW,
        Stamp::Kernel,
        &[Some(Span::from_nanos(10)), None],
        Some(ZERO),
    );
    let stamps = Stamps {
        number: 1,
        stamped: Stamp::Kernel,
        arrived_ns: vec![Some(10), None],
        zero: Some(ZERO),
    };
    assert_eq!(said(&mut server), FromServer::Arrived(stamps));
    // What the client says of it too late does no harm.
    server
        .on_bytes(NOW, &FromClient::Sent { number: 1 }.encode())
        .unwrap();
    assert_eq!(server.deadline(), Some(after(ProbingWaits::default().idle)));
}

#[test]
fn stragglers_are_waited_for_from_the_last_arrival() {
    let mut server = receiving(3);
    let sent = after(Span::from_millis(10));
    server
        .on_bytes(sent, &FromClient::Sent { number: 1 }.encode())
        .unwrap();
    assert_eq!(server.deadline(), Some(sent + STRAGGLERS));
    let late = after(Span::from_millis(100));
    server.on_packet(late, 1, 0, SIZE, arrival(1));
    assert_eq!(server.deadline(), Some(late + STRAGGLERS));
    server.on_deadline(late + STRAGGLERS).unwrap();
    assert!(matches!(
        moves(&mut server)[..],
        [ProbingServerAction::Judge(_)]
    ));
}

#[test]
fn a_client_that_never_says_it_has_sent_is_not_waited_for_for_ever() {
    let mut server = receiving(3);
    assert_eq!(
        server.deadline(),
        Some(after(ProbingWaits::default().grace))
    );
    server.on_deadline(server.deadline().unwrap()).unwrap();
    assert_eq!(moves(&mut server).len(), 1);
}

// The end.

#[test]
fn a_client_leaves_between_trains_or_vanishes_in_one() {
    assert_eq!(server().on_closed(), Ok(()));
    let vanished = ProbingServerError::Vanished(1);
    assert_eq!(receiving(2).on_closed(), Err(vanished));
}

#[test]
fn a_silent_client_is_dropped_unless_it_says_that_it_lives() {
    let mut server = server();
    let idle = ProbingWaits::default().idle;
    let alive = FromClient::Alive {}.encode();
    server
        .on_bytes(after(Span::from_secs(100)), &alive)
        .unwrap();
    assert_eq!(server.deadline(), Some(after(Span::from_secs(100)) + idle));
    let error = server.on_deadline(server.deadline().unwrap()).unwrap_err();
    assert_eq!(error, ProbingServerError::Idle(idle));
}

#[test]
fn messages_that_are_none_end_the_session() {
    for (bytes, words) in [
        (vec![0xFF; 4], "4294967295"),
        (encode_frame(b"{\"train\":{}}"), "cannot be read"),
        (encode_frame(b"\xFF\xFE"), "cannot be read"),
        (encode_frame(b"{\"sing\":{}}"), "cannot be read"),
    ] {
        let error = server().on_bytes(NOW, &bytes).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_way_back_is_told_some_times_and_then_refused() {
    let (mut server, mut client) = (server(), ProbingClient::new(NOW));
    let hop = TracedHop {
        from: Some([198, 18, 3, 1].into()),
        rtt_ns: Some(6_000_000),
    };
    for number in 1..=9 {
        client.ask_trace(NOW);
        let ProbingAction::Send(asked) = next(&mut client) else {
            panic!("nothing was asked");
        };
        server.on_bytes(NOW, &asked).unwrap();
        if number < 9 {
            assert_eq!(server.next_action(), Some(ProbingServerAction::Trace));
            server.give_trace(NOW, true, vec![hop; 3]);
        }
        let said: FromServer = said(&mut server);
        client.on_bytes(NOW, &said.encode()).unwrap();
        match next(&mut client) {
            ProbingAction::Traced(traced) => {
                assert_eq!((traced.number, traced.hops), (number, vec![hop; 3]));
            }
            ProbingAction::Refused(refused) => {
                assert_eq!((number, refused.cause), (9, Cause::Rate));
            }
            other => panic!("{other:?}"),
        }
    }
    // More hops than there are, and one that was not asked for.
    client.ask_trace(NOW);
    let endless = |number| Traced {
        number,
        reached: true,
        hops: vec![hop; 65],
    };
    let told = FromServer::Traced(endless(10)).encode();
    let error = client.on_bytes(NOW, &told).unwrap_err();
    assert!(error.to_string().contains("65 hops"), "{error}");
    let unasked = asking(Way::Forward, 2).on_bytes(NOW, &FromServer::Traced(endless(1)).encode());
    assert!(unasked.is_err());
}

// The client.

fn next(client: &mut ProbingClient) -> ProbingAction {
    client.next_action().unwrap()
}

fn asking(way: Way, packets: usize) -> ProbingClient {
    let mut client = ProbingClient::new(NOW);
    client.ask(NOW, &plan(way, packets));
    assert!(matches!(next(&mut client), ProbingAction::Send(_)));
    client
}

fn arrived(number: u32, arrived_ns: Vec<Option<u64>>) -> Vec<u8> {
    FromServer::Arrived(Stamps {
        number,
        stamped: Stamp::Kernel,
        arrived_ns,
        zero: None,
    })
    .encode()
}

#[test]
fn a_reverse_train_needs_the_departures_and_the_stragglers() {
    let mut client = asking(Way::Reverse, 2);
    assert!(client.wants_opener());
    client.on_packet(NOW, 1, 0, SIZE, arrival(5));
    assert!(!client.wants_opener());
    let left = FromServer::Left {
        number: 1,
        left_ns: vec![1, 2],
        zero: Some(ZERO),
    };
    client.on_bytes(NOW, &left.encode()).unwrap();
    assert_eq!(client.next_action(), None);
    client.on_deadline().unwrap();
    let done = next(&mut client);
    let ProbingAction::Done(Seen::Reverse {
        left,
        zero,
        collection,
    }) = done
    else {
        panic!("not done");
    };
    assert_eq!(zero, Some(ZERO));
    assert_eq!(left, [Span::from_nanos(1), Span::from_nanos(2)]);
    assert_eq!(collection.arrivals, [Some(arrival(5)), None]);
}

#[test]
fn lies_about_a_train_end_the_session() {
    let at_work = || {
        let mut client = asking(Way::Forward, 2);
        let ready = FromServer::Ready { number: 1 };
        client.on_bytes(NOW, &ready.encode()).unwrap();
        assert_eq!(next(&mut client), ProbingAction::Transmit);
        client.on_sent(NOW);
        client
    };
    for (lie, words) in [
        (arrived(1, vec![Some(1)]), "1 stamps for 2 packets"),
        (arrived(1, vec![Some(1); 9]), "9 stamps for 2 packets"),
        (arrived(1, vec![None, Some(u64::MAX)]), "at most"),
        (arrived(2, vec![None; 2]), "spoke of train 2"),
        (FromServer::Ready { number: 1 }.encode(), "spoke of train 1"),
        (vec![1, 0, 0, 0], "16777216"),
    ] {
        let error = at_work().on_bytes(NOW, &lie).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_silent_server_is_not_waited_for_for_ever() {
    for way in [Way::Forward, Way::Reverse] {
        let mut client = asking(way, 2);
        assert_eq!(client.deadline(), Some(after(Span::from_secs(15))));
        let error = client.on_deadline().unwrap_err().to_string();
        assert_eq!(error, "the server said nothing of train 1 for 15s");
    }
}

/// A train over a perfect path, with the control connection cut into pieces of any length.
fn passed(way: Way, packets: usize, piece: usize) -> Seen {
    let (mut client, mut server) = (ProbingClient::new(NOW), server());
    client.ask(NOW, &plan(way, packets));
    loop {
        if client.wants_opener() {
            server.on_opener(NOW, client.number());
        }
        while let Some(action) = client.next_action() {
            match action {
                ProbingAction::Send(bytes) => {
                    let pieces = bytes.chunks(piece);
                    for bytes in pieces {
                        server.on_bytes(NOW, bytes).unwrap();
                    }
                }
                ProbingAction::Transmit => {
                    for packet in 0..packets as u32 {
                        let at = arrival(u64::from(packet));
                        server.on_packet(NOW, client.number(), packet, SIZE, at);
                    }
                    client.on_sent(NOW);
                }
                ProbingAction::Done(seen) => return seen,
                ProbingAction::Refused(refused) => panic!("{refused:?}"),
                ProbingAction::Traced(traced) => panic!("{traced:?}"),
            }
        }
        while let Some(action) = server.next_action() {
            match action {
                ProbingServerAction::Send(bytes) => {
                    let pieces = bytes.chunks(piece);
                    for bytes in pieces {
                        client.on_bytes(NOW, bytes).unwrap();
                    }
                }
                ProbingServerAction::Receive(_) | ProbingServerAction::Trace => {}
                ProbingServerAction::Transmit(number, plan) => {
                    for packet in 0..packets as u32 {
                        client.on_packet(NOW, number, packet, SIZE, arrival(u64::from(packet)));
                    }
                    server.give_departures(NOW, &plan.departures, None);
                }
                ProbingServerAction::Judge(seen) => {
                    let stamps = seen
                        .arrivals
                        .iter()
                        .map(|at| at.and_then(|at| at.by_kernel));
                    server.give_arrivals(NOW, Stamp::Kernel, &stamps.collect::<Vec<_>>(), None);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn both_ends_understand_each_other(packets in 1usize..40, piece in 1usize..50) {
        let stamps: Vec<Span> = (0..packets as u64).map(Span::from_nanos).collect();
        match passed(Way::Forward, packets, piece) {
            Seen::Forward { arrived, .. } => {
                prop_assert_eq!(arrived.into_iter().flatten().collect::<Vec<_>>(), stamps.clone());
            }
            other => panic!("{other:?}"),
        }
        match passed(Way::Reverse, packets, piece) {
            Seen::Reverse { left, collection, .. } => {
                prop_assert_eq!(left.len(), packets);
                prop_assert!(collection.is_complete());
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn any_bytes_end_in_an_error_or_wait_for_more(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = server().on_bytes(NOW, &bytes);
        let _ = asking(Way::Forward, 2).on_bytes(NOW, &bytes);
        let _ = Datagram::decode(&bytes);
        let framed = encode_frame(&[b"{", &bytes[..]].concat());
        let _ = server().on_bytes(NOW, &framed);
        let _ = asking(Way::Reverse, 2).on_bytes(NOW, &framed);
    }
}
