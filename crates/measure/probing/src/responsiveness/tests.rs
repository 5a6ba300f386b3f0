use observe::{
    Buffer, Buffers, Counted, Delivery, Direction, Fault, Observation, Probe, ProbeMethod,
    Progress, RoundTrips, RunObserver, SamplePlan, Setting, Stream, StreamDirection, TargetInfo,
    TargetKind, TcpSample, Then, Window,
};
use units::Time;

use super::*;

/// A link of 80 Mbit/s of which one stream gets 20: four streams fill it, and each of the others
/// adds `queued` to the round trip of 20 ms.
struct Made {
    peer: Peer,
    queued: Span,
    running: Option<StreamCount>,
    refuses: Option<Direction>,
    breaks_at: u16,
    asked: Vec<(u16, Span)>,
}

impl Made {
    fn new() -> Self {
        Made {
            peer: Peer::Trunkline,
            queued: Span::ZERO,
            running: None,
            refuses: None,
            breaks_at: u16::MAX,
            asked: Vec::new(),
        }
    }

    fn rtt(&self, streams: u16) -> Span {
        Span::from_millis(20) + self.queued.times(u64::from(streams.saturating_sub(4)))
    }
}

const MBIT: u64 = 1_000_000;

fn failure(what: &str) -> TargetError {
    TargetError {
        fault: Fault::Run,
        what: what.to_owned(),
        hint: Some("look".to_owned()),
        source: None,
    }
}

fn every(millis: u64, duration: Span) -> impl Iterator<Item = Time> {
    let count = duration.as_nanos() / Span::from_millis(millis).as_nanos();
    (0..count).map(move |number| Time::ZERO + Span::from_millis(millis).times(number))
}

fn stream(number: u16, share: u64, rtt: Option<Span>, duration: Span) -> Stream {
    let buffer = Buffer {
        asked: None,
        granted: Bytes::from_kib(128),
    };
    let arrived = |at: Time| Progress {
        at,
        bytes: Rate::from_bits_per_second(share).bytes_in(at.since(Time::ZERO)),
    };
    let reading = |at| TcpSample {
        at,
        rtt,
        ..TcpSample::default()
    };
    Stream {
        number,
        direction: StreamDirection::Sending,
        buffers: Some(Buffers {
            send: buffer,
            receive: buffer,
        }),
        buffers_far: None,
        delivery: Delivery {
            counted: Counted::ByReceiver,
            progress: every(100, duration + Span::from_millis(100))
                .map(arrived)
                .collect(),
            receiver_total: None,
        },
        tcp: every(100, duration).map(reading).collect(),
        retransmits: None,
        thread_cpu: None,
    }
}

fn series(rtt: Span, duration: Span) -> ProbeSeries {
    let probe = |sent| Probe {
        sent,
        rtt: Some(rtt),
    };
    ProbeSeries {
        method: ProbeMethod::UdpEcho,
        duplicated: 0,
        probes: every(50, duration).map(probe).collect(),
    }
}

impl Target for Made {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: "made".to_owned(),
            kind: TargetKind::Live,
            limits: None,
            congestion: Vec::new(),
            mover: None,
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        _watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        if self.refuses == Some(setting.direction) {
            return Err(failure("the far end does not send"));
        }
        let streams = setting.streams.get();
        if streams >= self.breaks_at {
            return Err(failure("the server is gone"));
        }
        let observe::Amount::Time(duration) = plan.amount else {
            panic!("asked for {:?}", plan.amount)
        };
        self.asked.push((streams, duration));
        let keeps = self.peer == Peer::Trunkline && plan.then == Then::KeepRunning;
        let grown_from = self.running.take();
        self.running = keeps.then_some(setting.streams);
        let share = (80 * MBIT / u64::from(streams)).min(20 * MBIT);
        let rtt = self.rtt(streams);
        let told = (self.peer == Peer::Trunkline).then_some(rtt);
        let unloaded = plan.unloaded > Span::ZERO;
        Ok(Observation {
            setting: setting.clone(),
            grown_from,
            peer: self.peer,
            duration,
            elapsed: duration + plan.unloaded,
            streams: (1..=streams)
                .map(|number| stream(number, share, told, duration))
                .collect(),
            round_trips: RoundTrips {
                unloaded: unloaded.then(|| series(Span::from_millis(20), plan.unloaded)),
                loaded: Some(series(rtt, duration)),
            },
            congestion_used: None,
            takes_udp: false,
            multipath: None,
            cpu_near: None,
            cpu_far_percent: None,
        })
    }

    fn stop(&mut self) {
        self.running = None;
    }
}

fn forward(made: &mut Made) -> Responsiveness {
    let plan = Plan {
        ways: vec![Way::Forward],
        duration_max: Plan::DURATION_MAX,
    };
    measure(made, &plan, &mut ()).unwrap().ways.remove(0)
}

#[test]
fn one_stream_joins_each_second_until_goodput_and_then_round_trips_stand_still() {
    let mut made = Made::new();
    let seen = forward(&mut made);
    // Seconds of 20, 40, 60, 80, 80 ... Mbit/s: averages over four of 50, 65, 75, 80, 80, 80. The
    // last four of them are first within 5 % when they are 75, 80, 80, 80, after nine seconds;
    // round trips are followed from there and need four figures.
    let per_interval: Vec<u16> = seen.intervals.iter().map(|one| one.streams.get()).collect();
    assert_eq!(per_interval, (1..=12).collect::<Vec<_>>());
    assert_eq!(seen.saturated_after, Some(9));
    assert!(seen.stable);
    assert_eq!(seen.confidence, Confidence::High);
    // 20 ms both ways of looking: 3000 a minute.
    assert!((seen.formula.unwrap().per_minute() - 3000.0).abs() < 1e-6);
    assert!((seen.goodput.as_f64() / 80e6 - 1.0).abs() < 0.01);
    assert_eq!(seen.growth, Growth::OneBySecond);
    assert!(made.running.is_none());
}

#[test]
fn a_queue_that_grows_with_every_stream_is_not_stable() {
    let queued = Span::from_millis(20);
    let mut made = Made {
        queued,
        ..Made::new()
    };
    let mut plan = Plan {
        ways: vec![Way::Forward],
        duration_max: Span::from_secs(15),
    };
    let seen = measure(&mut made, &plan, &mut ()).unwrap().ways.remove(0);
    assert!(!seen.stable);
    assert_eq!(seen.confidence, Confidence::Medium);
    assert_eq!(made.asked.last(), Some(&(15, Span::from_secs(1))));
    // With more time the sixteenth stream runs for what is left, and is all that the figure is
    // from: it and the twelve before it that found no room queue 12 x 20 ms.
    plan.duration_max = Plan::DURATION_MAX;
    let seen = measure(&mut made, &plan, &mut ()).unwrap().ways.remove(0);
    assert_eq!(made.asked.last(), Some(&(16, Span::from_secs(5))));
    assert!((seen.formula.unwrap().per_minute() - 60_000.0 / 260.0).abs() < 1e-6);
}

#[test]
fn a_foreign_server_gets_all_streams_at_once_and_its_silence_is_no_number() {
    let mut made = Made {
        peer: Peer::Iperf3,
        ..Made::new()
    };
    let seen = forward(&mut made);
    assert_eq!(seen.growth, Growth::AllAtOnce);
    let asked: Vec<u16> = made.asked.iter().map(|(streams, _)| *streams).collect();
    assert_eq!(asked, [1, 16]);
    assert_eq!(seen.intervals.len(), 12);
    let formula = seen.formula.unwrap();
    assert_eq!(formula.loaded, None);
    assert!((formula.per_minute() - 3000.0).abs() < 1e-6);
    assert_eq!(seen.confidence, Confidence::High);
}

#[test]
fn a_server_that_vanishes_leaves_what_was_seen() {
    let mut made = Made {
        breaks_at: 4,
        ..Made::new()
    };
    let seen = forward(&mut made);
    assert_eq!(seen.cut_because.as_deref(), Some("the server is gone"));
    assert_eq!(seen.intervals.len(), 3);
    assert_eq!(seen.confidence, Confidence::Low);
}

#[test]
fn a_direction_that_cannot_be_loaded_is_named_and_the_other_measured() {
    let mut made = Made {
        refuses: Some(Direction::Reverse),
        ..Made::new()
    };
    let plan = Plan {
        ways: Way::BOTH.to_vec(),
        duration_max: Plan::DURATION_MAX,
    };
    let measured = measure(&mut made, &plan, &mut ()).unwrap();
    assert_eq!(measured.ways.len(), 1);
    let left = &measured.left_out[0];
    assert_eq!(left.part, "responsiveness reverse");
    assert_eq!(left.why, "the far end does not send");
    assert_eq!(left.hint.as_deref(), Some("look"));
    made.refuses = Some(Direction::Forward);
    made.breaks_at = 1;
    assert!(measure(&mut made, &plan, &mut ()).is_err());
}

#[test]
fn goodput_between_two_readings_is_on_their_line() {
    let mut made = Made::new();
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let plan = SamplePlan::lasting(Span::from_secs(3));
    let mut seen = made.observe(&setting, &plan, &mut ()).unwrap();
    // Readings at odd places: every third of those of a tenth of a second.
    let progress = &mut seen.streams[0].delivery.progress;
    let mut place = 0;
    progress.retain(|_| {
        place += 1;
        place % 3 == 0
    });
    let cut = intervals::intervals(&seen);
    assert_eq!(cut.len(), 3);
    for interval in &cut {
        assert!(
            (interval.goodput.as_f64() / 20e6 - 1.0).abs() < 1e-3,
            "{interval:?}"
        );
        assert_eq!(interval.foreign.len(), 20);
        assert_eq!(interval.loaded.len(), 10);
    }
}
