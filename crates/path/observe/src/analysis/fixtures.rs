//! Observations made up for tests.

use units::{Bytes, Span, Time};

use crate::*;

/// A reading at every interval, `bytes` more each time.
pub fn steady_progress(intervals: u64, bytes: u64) -> Vec<Progress> {
    let reading = |i| Progress {
        at: Time::ZERO + SamplePlan::INTERVAL.times(i),
        bytes: Bytes::new(bytes * i),
    };
    (1..=intervals).map(reading).collect()
}

pub fn stream(number: u16, direction: StreamDirection, progress: Vec<Progress>) -> Stream {
    let buffer = Buffer {
        asked: None,
        granted: Bytes::from_kib(128),
    };
    Stream {
        number,
        direction,
        buffers: Some(Buffers {
            send: buffer,
            receive: buffer,
        }),
        buffers_far: None,
        delivery: Delivery {
            counted: Counted::ByReceiver,
            progress,
            receiver_total: None,
        },
        tcp: Vec::new(),
        retransmits: None,
        thread_cpu: None,
    }
}

pub fn observation(streams: Vec<Stream>) -> Observation {
    let n = StreamCount::new(streams.len() as u64).unwrap();
    Observation {
        grown_from: None,
        setting: Setting::new(n, Window::Auto),
        peer: Peer::Trunkline,
        duration: Span::from_secs(5),
        elapsed: Span::from_secs(6),
        streams,
        round_trips: RoundTrips::default(),
        congestion_used: None,
        takes_udp: false,
        multipath: None,
        cpu_near: None,
        cpu_far_percent: None,
    }
}
