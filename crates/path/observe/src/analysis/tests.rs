use units::{Bytes, Rate, Span, Time};

use super::fixtures::{observation, steady_progress, stream};
use super::*;
use crate::{SamplePlan, TcpSample};

const SENDING: StreamDirection = StreamDirection::Sending;

fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

#[test]
fn steady_streams_add_up_with_an_interval_and_their_shares() {
    // 30 and 10 Mbit/s: Jain's index is 40^2 / (2 x 1000) = 0.8.
    let streams = vec![
        stream(1, SENDING, steady_progress(50, 375_000)),
        stream(2, SENDING, steady_progress(50, 125_000)),
    ];
    let summary = observation(streams).summary();
    let way = summary.main().unwrap();
    assert_eq!(way.steady.steadiness, Steadiness::Settled);
    assert_eq!(way.goodput.mean, mbit(40));
    assert!(way.goodput.interval.is_some());
    assert_eq!(way.streams[0].goodput, mbit(30));
    assert!((way.fairness.unwrap() - 0.8).abs() < 1e-9);
}

#[test]
fn warm_up_is_not_part_of_the_goodput() {
    // Two seconds at a tenth of the rate of the eight that follow.
    let mut progress = steady_progress(20, 125_000);
    let reading = |i: u64| Progress {
        at: Time::ZERO + Span::from_millis(100 * (20 + i)),
        bytes: Bytes::new(2_500_000 + 1_250_000 * i),
    };
    progress.extend((1..=80).map(reading));
    let summary = observation(vec![stream(1, SENDING, progress)]).summary();
    let way = summary.main().unwrap();
    assert_eq!(way.goodput.mean, mbit(100));
    assert_eq!(way.steady.from, Time::ZERO + Span::from_secs(2));
}

#[test]
fn both_directions_are_kept_apart_and_add_up() {
    let streams = vec![
        stream(1, StreamDirection::Receiving, steady_progress(50, 125_000)),
        stream(2, SENDING, steady_progress(50, 250_000)),
    ];
    let summary = observation(streams).summary();
    let means: Vec<Rate> = summary
        .directions
        .iter()
        .map(|way| way.goodput.mean)
        .collect();
    assert_eq!(means, [mbit(20), mbit(10)]);
    assert_eq!(summary.goodput().mean, mbit(30));
    assert!(summary.goodput().interval.is_some());
}

#[test]
fn totals_alone_give_a_mean_and_say_so() {
    let mut only = stream(1, StreamDirection::Receiving, Vec::new());
    only.delivery.receiver_total = Some(Bytes::new(6_250_000));
    let summary = observation(vec![only]).summary();
    let way = summary.main().unwrap();
    assert_eq!(way.steady.steadiness, Steadiness::TotalsOnly);
    assert_eq!(
        way.goodput,
        Goodput {
            mean: mbit(10),
            interval: None,
            scatter: None,
        }
    );
    assert_eq!(way.tcp, TcpSummary::default());
}

#[test]
fn a_run_without_streams_has_no_direction_and_no_goodput() {
    let mut empty = observation(vec![stream(1, SENDING, Vec::new())]);
    empty.streams.clear();
    let summary = empty.summary();
    assert_eq!(summary.main(), None);
    assert_eq!(
        summary.goodput(),
        Goodput {
            mean: Rate::ZERO,
            interval: None,
            scatter: None,
        }
    );
}

/// Samples every 100 ms in which all time is busy and a fifth of it waits for the peer's window.
fn tcp(intervals: u64) -> Vec<TcpSample> {
    let sample = |i: u64| TcpSample {
        at: Time::ZERO + Span::from_millis(100 * i),
        rtt: Some(Span::from_millis(22)),
        rtt_min: Some(Span::from_millis(20)),
        mss: Some(Bytes::new(1_000)),
        unacked_segments: Some(36),
        peer_window: Some(Bytes::new(38_000)),
        bytes_sent: Some(Bytes::new(100_000 * i)),
        bytes_retransmitted: Some(Bytes::new(1_000 * i)),
        retransmits: Some(i as u32),
        not_sent: Some(Bytes::new(i % 2)),
        busy: Some(Span::from_millis(100 * i)),
        receive_window_limited: Some(Span::from_millis(20 * i)),
        send_buffer_limited: Some(Span::ZERO),
        ..TcpSample::default()
    };
    (0..=intervals).map(sample).collect()
}

#[test]
fn the_kernels_counters_become_shares_over_the_window() {
    let mut one = stream(1, SENDING, steady_progress(50, 125_000));
    one.tcp = tcp(50);
    let summary = observation(vec![one]).summary();
    let tcp = summary.main().unwrap().tcp;
    let near = |share: Option<f64>, expected: f64| (share.unwrap() - expected).abs() < 1e-9;
    assert!(near(tcp.busy_share, 1.0), "{tcp:?}");
    assert!(near(tcp.receive_window_share, 0.2), "{tcp:?}");
    assert!(near(tcp.send_buffer_share, 0.0), "{tcp:?}");
    assert!(near(tcp.retransmitted_share, 0.01), "{tcp:?}");
    assert!(near(tcp.window_full_share, 1.0), "{tcp:?}");
    assert!(
        (tcp.not_sent_empty_share.unwrap() - 0.5).abs() < 0.02,
        "{tcp:?}"
    );
    assert_eq!(tcp.flight, Some(Bytes::new(36_000)));
    assert_eq!(tcp.retransmits, Some(50));
    assert_eq!(tcp.congestion_window, None);
}

#[test]
fn echoes_of_marks_become_a_share_of_what_arrived() {
    let mut one = stream(1, SENDING, steady_progress(50, 125_000));
    one.tcp = tcp(50);
    assert_eq!(
        observation(vec![one.clone()])
            .summary()
            .main()
            .unwrap()
            .tcp
            .ecn,
        None
    );
    for (i, sample) in (0..).zip(&mut one.tcp) {
        // 100 segments of 1,000 bytes arrive in each interval; two of them come back as marked.
        sample.bytes_arrived = Some(Bytes::new(100_000 * i));
        sample.mark_echoed = Some(2 * i as u32);
        sample.ecn = Some(true);
    }
    let mut other = one.clone();
    let tcp = observation(vec![one.clone()]).summary().main().unwrap().tcp;
    assert!(
        (tcp.mark_echoed_share.unwrap() - 0.02).abs() < 1e-9,
        "{tcp:?}"
    );
    assert_eq!(tcp.ecn, Some(true));
    other.tcp.iter_mut().for_each(|one| one.ecn = Some(false));
    let tcp = observation(vec![one, other]).summary().main().unwrap().tcp;
    assert_eq!(tcp.ecn, Some(false));
}

#[test]
fn a_sender_that_tells_only_when_it_has_nothing_to_send_had_data_otherwise() {
    let share = |told: &dyn Fn(usize) -> Option<Bytes>| {
        let mut one = stream(1, SENDING, steady_progress(50, 125_000));
        one.tcp = tcp(50);
        let samples = one.tcp.iter_mut().enumerate();
        samples.for_each(|(index, sample)| sample.not_sent = told(index));
        let summary = observation(vec![one]).summary();
        summary.main().unwrap().tcp.not_sent_empty_share
    };
    let seldom = share(&|index| index.is_multiple_of(10).then_some(Bytes::ZERO));
    assert!(seldom.unwrap() < 0.2, "{seldom:?}");
    assert_eq!(share(&|_| None), None);
}

#[test]
fn counters_before_the_window_do_not_count() {
    // All retransmissions fall into the first two seconds, which are warm-up.
    let mut progress = steady_progress(20, 12_500);
    let reading = |i: u64| Progress {
        at: Time::ZERO + Span::from_millis(100 * (20 + i)),
        bytes: Bytes::new(250_000 + 1_250_000 * i),
    };
    progress.extend((1..=40).map(reading));
    let mut one = stream(1, SENDING, progress);
    one.tcp = tcp(60);
    for sample in &mut one.tcp {
        sample.bytes_retransmitted = sample
            .bytes_retransmitted
            .map(|bytes| bytes.min(Bytes::new(20_000)));
    }
    let summary = observation(vec![one]).summary();
    assert_eq!(summary.main().unwrap().tcp.retransmitted_share, Some(0.0));
}

#[test]
fn a_counter_that_one_kernel_lacks_is_absent_not_zero() {
    let mut streams: Vec<Stream> = (1..=2)
        .map(|n| stream(n, SENDING, steady_progress(50, 125_000)))
        .collect();
    for stream in &mut streams {
        stream.tcp = tcp(50);
    }
    for sample in &mut streams[1].tcp {
        sample.receive_window_limited = None;
    }
    let tcp = observation(streams).summary().main().unwrap().tcp;
    assert_eq!(tcp.receive_window_share, None);
    assert!(tcp.busy_share.is_some());
}

/// 100 Mbit/s arrive all the time, for 1.9 s: too short to settle, so that its later half counts.
/// Behind a hole, 1 MB waits when that begins, and is read 100 ms later. Counters go on from an
/// earlier stage.
fn drained(waits: bool) -> Stream {
    let arrived = |i: u64| 1_250_000 * i;
    let waiting = |i: u64| if waits && i == 9 { 1_000_000 } else { 0 };
    let at = |i: u64| Time::ZERO + SamplePlan::INTERVAL.times(i);
    let reading = |i| Progress {
        at: at(i),
        bytes: Bytes::new(arrived(i) - waiting(i)),
    };
    let mut one = stream(1, SENDING, (1..=19).map(reading).collect());
    let sample = |i| TcpSample {
        at: at(i),
        mss: Some(Bytes::new(1_448)),
        bytes_arrived: Some(Bytes::new(arrived(i) + 7_000_000)),
        ..TcpSample::default()
    };
    one.tcp = (0..=19).map(sample).collect();
    one
}

fn goodput_of(stream: Stream) -> DirectionSummary {
    observation(vec![stream]).summary().directions.remove(0)
}

#[test]
fn what_waited_behind_a_hole_before_the_window_is_no_goodput_of_the_window() {
    let mut untold = drained(true);
    untold.tcp.clear();
    let mean = |stream| goodput_of(stream).goodput.mean;
    assert_eq!(mean(drained(false)), mbit(100));
    assert_eq!(mean(untold), mbit(108));
    let bounded = goodput_of(drained(true));
    assert_eq!(bounded.goodput.mean, mbit(100));
    assert_eq!(bounded.streams[0].goodput, mbit(100));
}

#[test]
fn what_the_sender_hears_late_had_come_before_all_the_same() {
    // The sender hears of everything 100 ms late, half a round trip.
    let mut late = drained(true);
    let told: Vec<Option<Bytes>> = late.tcp.iter().map(|sample| sample.bytes_arrived).collect();
    for (index, sample) in late.tcp.iter_mut().enumerate() {
        sample.bytes_arrived = told[index.saturating_sub(1)];
        sample.rtt_min = Some(Span::from_millis(200));
    }
    assert_eq!(goodput_of(late).goodput.mean, mbit(100));
}

#[test]
fn a_bound_that_is_not_sure_is_none() {
    let mean = |change: fn(&mut Stream)| {
        let mut stream = drained(true);
        change(&mut stream);
        goodput_of(stream).goodput.mean
    };
    let bounded = mean(|_| {});
    for change in [
        (|stream| stream.tcp[7].bytes_arrived = None) as fn(&mut Stream),
        |stream| stream.tcp[15].mss = Some(Bytes::new(1_000)),
        |stream| stream.tcp.truncate(18),
        |stream| stream.tcp[19].bytes_arrived = Some(Bytes::ZERO),
    ] {
        assert!(mean(change) > bounded);
    }
}

#[test]
fn a_sender_that_hears_late_does_not_lower_a_rate_that_still_grows() {
    // It doubles in each interval of the 1.9 s, and the sender hears of it one interval later.
    let bytes = |i: u64| Bytes::new(1_000 << i);
    let at = |i: u64| Time::ZERO + SamplePlan::INTERVAL.times(i);
    let reading = |i| Progress {
        at: at(i),
        bytes: bytes(i),
    };
    let mut late = stream(1, SENDING, (1..=19).map(reading).collect());
    let plain = goodput_of(late.clone());
    assert_eq!(plain.steady.steadiness, Steadiness::NeverSettled);
    let sample = |i: u64| TcpSample {
        at: at(i),
        bytes_arrived: Some(bytes(i.saturating_sub(1))),
        ..TcpSample::default()
    };
    late.tcp = (0..=19).map(sample).collect();
    assert_eq!(goodput_of(late).goodput, plain.goodput);
}

#[test]
fn losses_leave_a_stream_over_udp_settled() {
    // Two losses, and a rate that goes up and down.
    let at = |i: u64| Time::ZERO + SamplePlan::INTERVAL.times(i);
    let rate = |i: u64| {
        if (i / 15).is_multiple_of(2) {
            100_000
        } else {
            125_000
        }
    };
    let reading = |i: u64| Progress {
        at: at(i),
        bytes: Bytes::new((1..=i).map(rate).sum()),
    };
    let lossy = |congestion: &str| {
        let mut stream = stream(1, SENDING, (1..=150).map(reading).collect());
        let sample = |i: u64| TcpSample {
            at: at(i),
            retransmits: Some((i / 60) as u32),
            ..TcpSample::default()
        };
        stream.tcp = (1..=150).map(sample).collect();
        let mut observation = observation(vec![stream]);
        observation.congestion_used = Some(congestion.to_owned());
        let summary = observation.summary();
        summary.main().unwrap().unsettled
    };
    assert_eq!(lossy(crate::UDP_CONTROL), None);
    assert!(lossy("cubic").is_some());
}
