use observe::{
    Buffer, Buffers, Counted, Delivery, Peer, Progress, RoundTrips, Setting, StreamCount,
    StreamDirection, Window,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::Bytes;

use super::*;

const INTERVALS: u64 = 400;

fn at(interval: u64) -> Time {
    Time::ZERO + SamplePlan::INTERVAL.times(interval)
}

/// A stream that sent again once in each interval for which `lost` holds.
fn stream(number: u16, rtt: Span, mut lost: impl FnMut(u64) -> bool) -> Stream {
    let buffer = Buffer {
        asked: None,
        granted: Bytes::from_kib(128),
    };
    let buffers = Buffers {
        send: buffer,
        receive: buffer,
    };
    let mut total = 0;
    let mut reading = |interval: u64| {
        total += u32::from(interval > 0 && lost(interval));
        TcpSample {
            // Each stream is read a little later than the one before.
            at: at(interval) + Span::from_millis(u64::from(number)),
            rtt: Some(rtt),
            retransmits: Some(total),
            ..TcpSample::default()
        }
    };
    let progress = |interval| Progress {
        at: at(interval),
        bytes: Bytes::new(50_000 * interval),
    };
    Stream {
        number,
        direction: StreamDirection::Sending,
        buffers: Some(buffers),
        buffers_far: None,
        delivery: Delivery {
            counted: Counted::ByReceiver,
            progress: (1..=INTERVALS).map(progress).collect(),
            receiver_total: None,
        },
        tcp: (0..=INTERVALS).map(&mut reading).collect(),
        retransmits: None,
        thread_cpu: None,
    }
}

fn observation(streams: Vec<Stream>) -> Observation {
    let count = StreamCount::new(streams.len() as u64).unwrap();
    Observation {
        grown_from: None,
        setting: Setting::new(count, Window::Auto),
        peer: Peer::Trunkline,
        duration: Span::from_secs(40),
        elapsed: Span::from_secs(41),
        streams,
        round_trips: RoundTrips::default(),
        congestion_used: None,
        takes_udp: false,
        multipath: None,
        cpu_near: None,
        cpu_far_percent: None,
    }
}

const SHORT: Span = Span::from_millis(20);

#[test]
fn streams_that_lose_at_the_same_times_lose_together() {
    let streams = (1..=8).map(|n| stream(n, SHORT, |interval| interval % 10 == 5));
    let found = losses(&observation(streams.collect())).unwrap();
    assert_eq!(found.share, 1.0);
    // One moment in ten each: four of eight at once by chance is 70 x 0.1^4 = 0.7 % at the most,
    // against 57 % of moments with a loss at all.
    assert!(found.by_chance < 0.02, "{found:?}");
}

#[test]
fn streams_that_take_turns_never_do() {
    let streams = (1..=8).map(|n| stream(n, SHORT, move |i| i % 8 == u64::from(n) % 8));
    let found = losses(&observation(streams.collect())).unwrap();
    assert_eq!(found.share, 0.0);
    assert!(found.moments > 150, "{found:?}");
}

/// Each stream draws for itself: the share is what chance gives, within its scatter.
#[test]
fn independent_losses_come_out_as_by_chance() {
    for seed in 1..=20 {
        let mut random = Pcg64::seed_from_u64(seed);
        let streams = (1..=6).map(|n| stream(n, SHORT, |_| random.next_u32() < u32::MAX / 3));
        let found = losses(&observation(streams.collect())).unwrap();
        // Some 300 moments with a loss, of which a third are together: sd 0.028, so 0.12 is four of
        // them.
        assert!(
            (found.share - found.by_chance).abs() < 0.12,
            "seed {seed}: {found:?}"
        );
        assert!((0.25..0.45).contains(&found.by_chance), "{found:?}");
    }
}

/// Over 350 ms, streams notice one overflow in different intervals; a moment is as long as their
/// round trip.
#[test]
fn a_long_round_trip_makes_long_moments() {
    let spread = |rtt| {
        let streams = (1..=4).map(|n| stream(n, rtt, move |i| i % 40 == 5 + u64::from(n) % 4));
        losses(&observation(streams.collect())).unwrap().share
    };
    assert_eq!(spread(SHORT), 0.0);
    // Four intervals hold all of them, or are cut in two unequal parts at the edge of the grid.
    assert!(spread(Span::from_millis(350)) >= 0.5);
}

#[test]
fn two_streams_lose_together_when_both_do() {
    let both = |shift| {
        let streams = (1..=2).map(|n| stream(n, SHORT, move |i| i % 10 == shift * u64::from(n)));
        losses(&observation(streams.collect())).unwrap().share
    };
    assert_eq!(both(0), 1.0);
    assert_eq!(both(1), 0.0);
}

#[test]
fn what_cannot_be_told_is_absent() {
    let lossy = |n| stream(n, SHORT, |i| i % 10 == 0);
    assert_eq!(losses(&observation(vec![lossy(1)])), None);
    let quiet = (1..=4).map(|n| stream(n, SHORT, |_| false)).collect();
    assert_eq!(losses(&observation(quiet)), None);
    let mut silent = vec![lossy(1), lossy(2)];
    silent[1].tcp.clear();
    assert_eq!(losses(&observation(silent.clone())), None);
    silent[1] = lossy(2);
    silent[1].tcp[7].retransmits = None;
    assert_eq!(losses(&observation(silent)), None);
}

/// Where the reader stood still for a second, every stream's counter jumps at once: that says
/// nothing.
#[test]
fn a_pause_of_the_reader_is_no_loss_together() {
    let streams = (1..=4).map(|n| {
        let mut stream = stream(n, SHORT, move |i| i % 8 == 2 * u64::from(n) % 8);
        stream.tcp.retain(|sample| {
            let tenth = sample.at.as_nanos() / SamplePlan::INTERVAL.as_nanos();
            tenth % 100 < 80
        });
        stream
    });
    let found = losses(&observation(streams.collect())).unwrap();
    assert_eq!(found.share, 0.0);
}

#[test]
fn a_single_stream_cannot_starve() {
    assert_eq!(starved(&[3.0]), None);
    assert_eq!(starved(&[3.0, 3.0]), Some(0));
    assert_eq!(starved(&[10.0, 1.0, 10.0, 1.0]), Some(2));
}
