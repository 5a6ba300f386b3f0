//! From what was seen of a client to an observation.

use observe::{
    Buffer, Buffers, Counted, Delivery, Direction, Observation, Peer, ProbeSeries, RoundTrips,
    Setting, Stream, StreamDirection, TerminalCpu,
};
use units::{Bytes, Time};

use super::connections::Followed;
use super::running::Seen;

pub(super) fn observation(
    setting: &Setting,
    seen: Seen,
    unloaded: Option<ProbeSeries>,
    took: Time,
) -> Observation {
    let carrying = seen.connections.carrying();
    let congestion = carrying.first().and_then(|one| one.last.congestion.clone());
    let streams = match carrying.is_empty() {
        false => numbered(&carrying, setting),
        true => vec![by_printing(&seen)],
    };
    Observation {
        setting: setting.clone(),
        grown_from: None,
        peer: Peer::Mover,
        duration: seen.duration,
        elapsed: took.since(Time::ZERO),
        streams,
        round_trips: RoundTrips {
            unloaded,
            loaded: seen.loaded,
        },
        congestion_used: congestion,
        takes_udp: false,
        multipath: None,
        cpu_near: Some(TerminalCpu { samples: seen.cpu }),
        cpu_far_percent: None,
    }
}

fn numbered(carrying: &[&Followed], setting: &Setting) -> Vec<Stream> {
    let numbers = 1_u16..;
    let streams = numbers.zip(carrying);
    streams
        .map(|(number, one)| stream(number, one, setting))
        .collect()
}

fn way(direction: Direction) -> StreamDirection {
    match direction {
        Direction::Reverse => StreamDirection::Receiving,
        _ => StreamDirection::Sending,
    }
}

fn stream(number: u16, one: &Followed, setting: &Setting) -> Stream {
    let direction = way(setting.direction);
    let asked = setting.window.fixed();
    let buffer = |granted: Option<Bytes>| Buffer {
        asked,
        granted: granted.unwrap_or(Bytes::ZERO),
    };
    let (counted, tcp) = match direction {
        StreamDirection::Sending => (Counted::ByAcknowledgement, one.readings.clone()),
        StreamDirection::Receiving => (Counted::ByReceiver, Vec::new()),
    };
    Stream {
        number,
        direction,
        buffers: Some(Buffers {
            send: buffer(one.last.send_buffer),
            receive: buffer(one.last.receive_buffer),
        }),
        buffers_far: None,
        delivery: Delivery {
            counted,
            receiver_total: None,
            progress: one.progress.clone(),
        },
        tcp,
        retransmits: None,
        thread_cpu: None,
    }
}

/// All that the client itself told, as if it were one stream.
fn by_printing(seen: &Seen) -> Stream {
    let unknown = Buffer {
        asked: None,
        granted: Bytes::ZERO,
    };
    Stream {
        number: 1,
        direction: way(seen.direction),
        buffers: Some(Buffers {
            send: unknown,
            receive: unknown,
        }),
        buffers_far: None,
        delivery: Delivery {
            counted: Counted::BySender,
            receiver_total: seen.printed.last().map(|last| last.bytes),
            progress: seen.printed.clone(),
        },
        tcp: Vec::new(),
        retransmits: None,
        thread_cpu: None,
    }
}
