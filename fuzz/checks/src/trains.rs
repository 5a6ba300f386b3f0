//! Any bytes as what two ends say about trains: an error, or a wait for more; nothing is sent
//! unasked.

use measure_protocol::encode_frame;
use measure_protocol::trains::{
    Arrival, Bounds, Datagram, ProbingClient, ProbingServer, ProbingServerAction, ProbingWaits,
    TrainPlan,
};
use units::{Bytes, Span, Time, Way};

const NOW: Time = Time::ZERO;

/// The check of this target.
pub fn check(bytes: &[u8]) {
    if let Ok(datagram) = Datagram::decode(bytes) {
        assert_eq!(Datagram::decode(&datagram.encode()), Ok(datagram));
    }
    for message in [bytes.to_vec(), encode_frame(&[b"{", bytes].concat())] {
        serve(&message);
        for way in [Way::Forward, Way::Reverse] {
            ask(way, &message);
        }
    }
}

fn serve(message: &[u8]) {
    let least = Bytes::new(52);
    let mut server = ProbingServer::new(Bounds::default(), ProbingWaits::default(), least, NOW);
    let heard = server.on_bytes(NOW, message);
    while let Some(action) = server.next_action() {
        // A refusal, or a trace towards the client: no opener has come.
        let sends = matches!(
            action,
            ProbingServerAction::Send(_) | ProbingServerAction::Trace
        );
        assert!(sends, "{action:?}");
    }
    if heard.is_ok() {
        server.on_opener(NOW, 1);
        while let Some(action) = server.next_action() {
            if let ProbingServerAction::Transmit(_, plan) = action {
                assert!(plan.packets() <= Bounds::default().packets_max);
            }
        }
        let _ = server.on_closed();
    }
}

fn ask(way: Way, message: &[u8]) {
    let mut client = ProbingClient::new(NOW);
    let packet = Bytes::new(1_500);
    let departures = vec![Span::ZERO; 2];
    client.ask(
        NOW,
        &TrainPlan {
            way,
            packet,
            departures,
        },
    );
    let arrival = Arrival {
        by_kernel: None,
        by_program: Span::ZERO,
    };
    client.on_packet(NOW, 1, 0, packet, arrival);
    let _ = client.on_bytes(NOW, message);
    let _ = client.on_deadline();
    while client.next_action().is_some() {}
}
