//! One made-up run.

use observe::{
    Buffer, Buffers, Counted, CpuSample, Delivery, DirectionSummary, Goodput, Observation, Peer,
    Probe, ProbeMethod, ProbeSeries, Progress, RateInterval, RoundTrips, Setting, Steadiness,
    SteadyWindow, Stream, StreamCount, StreamDirection, StreamGoodput, Summary, TcpSample,
    TcpSummary, TerminalCpu, Window,
};
use units::{Bytes, Rate, Span, Time};

/// What a made-up run is like.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Parallel streams.
    pub streams: u16,
    /// Socket buffers of each.
    pub window: Window,
    /// How long they run.
    pub seconds: u64,
    /// Same seed, same run.
    pub seed: u64,
}

pub(super) struct Made {
    pub observation: Observation,
    pub summary: Summary,
}

const IDLE: f64 = 0.165;

/// Splitmix64: enough noise for a picture.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Noise(seed)
    }

    /// Evenly between 0 and 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Around 1, within `spread` either way.
    pub(super) fn factor(&mut self, spread: f64) -> f64 {
        1.0 + spread * (2.0 * self.unit() - 1.0)
    }
}

pub(super) fn make(case: &Case) -> Made {
    let mut noise = Noise(case.seed ^ (u64::from(case.streams) << 32));
    let streams: Vec<Stream> = (1..=case.streams)
        .map(|n| stream(case, n, &mut noise))
        .collect();
    let observation = Observation {
        grown_from: None,
        setting: setting(case),
        peer: Peer::Trunkline,
        duration: Span::from_secs(case.seconds),
        elapsed: Span::from_millis(case.seconds * 1000 + 1730),
        round_trips: round_trips(case, &mut noise),
        streams,
        congestion_used: Some("reno".to_owned()),
        takes_udp: false,
        multipath: None,
        cpu_near: Some(cpu(case)),
        cpu_far_percent: Some((1.2, 6.5)),
    };
    let summary = summary(case, &observation);
    Made {
        observation,
        summary,
    }
}

fn setting(case: &Case) -> Setting {
    let count = StreamCount::new(u64::from(case.streams)).unwrap_or(StreamCount::ONE);
    Setting::new(count, case.window)
}

fn queueing(case: &Case) -> f64 {
    (case.goodput().as_f64() / 45e6).powi(6) * 0.023 + f64::from(case.streams) * 0.0001
}

fn stream(case: &Case, number: u16, noise: &mut Noise) -> Stream {
    let share = case.goodput().as_f64() / f64::from(case.streams) * noise.factor(0.12);
    let progress = progress(case, share, noise);
    let tcp = progress
        .iter()
        .skip(1)
        .map(|p| tcp(case, *p, noise))
        .collect();
    let asked = match case.window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some(bytes),
    };
    let buffer = Buffer {
        asked,
        granted: asked.map_or(Bytes::from_mib(1), |bytes| bytes.times(2)),
    };
    let buffers = Buffers {
        send: buffer,
        receive: buffer,
    };
    Stream {
        number,
        direction: StreamDirection::Sending,
        buffers: Some(buffers),
        buffers_far: Some(buffers),
        delivery: Delivery {
            counted: Counted::ByReceiver,
            receiver_total: progress.last().map(|reading| reading.bytes),
            progress,
        },
        tcp,
        retransmits: Some(9 + u64::from(number % 4)),
        thread_cpu: Some(Span::from_millis(70)),
    }
}

/// Slow start over about two seconds, then a saw-tooth.
fn progress(case: &Case, share: f64, noise: &mut Noise) -> Vec<Progress> {
    let phase = noise.unit();
    let mut bytes = 0.0;
    let reading = |tenth: u64| {
        let at = tenth as f64 / 10.0;
        let warm = 1.0 - (-at / 0.7_f64).exp();
        let tooth = 0.82 + 0.36 * (at / 2.9 + phase).fract();
        bytes += share / 80.0 * warm * tooth * noise.factor(0.15);
        Progress {
            at: Time::from_nanos((tenth + 1) * 100_000_000),
            bytes: Bytes::new(bytes as u64),
        }
    };
    let start = Progress {
        at: Time::ZERO,
        bytes: Bytes::ZERO,
    };
    let readings = (0..case.seconds * 10).map(reading);
    std::iter::once(start).chain(readings).collect()
}

fn tcp(case: &Case, progress: Progress, noise: &mut Noise) -> TcpSample {
    let rtt = IDLE + queueing(case) * noise.factor(0.6);
    TcpSample {
        bytes_arrived: Some(progress.bytes),
        at: progress.at,
        rtt: Some(Span::from_secs_f64(rtt)),
        rtt_min: Some(Span::from_secs_f64(IDLE)),
        cwnd_segments: Some((60.0 * noise.factor(0.3)) as u32),
        ssthresh_segments: Some(40),
        mss: Some(Bytes::new(1448)),
        unacked_segments: Some(55),
        peer_window: Some(Bytes::from_mib(3)),
        bytes_acked: Some(progress.bytes),
        bytes_received: Some(Bytes::ZERO),
        bytes_sent: Some(progress.bytes + Bytes::new(30_000)),
        bytes_retransmitted: Some(Bytes::new(14_480)),
        retransmits: Some(10),
        not_sent: Some(Bytes::from_kib(128)),
        delivery_rate: Some(case.goodput()),
        busy: Some(progress.at.since(Time::ZERO)),
        receive_window_limited: Some(Span::ZERO),
        send_buffer_limited: Some(Span::ZERO),
        reorderings: Some(0),
        duplicates_reported: Some(0),
        mark_echoed: None,
        ecn: Some(false),
        window_scaling: None,
    }
}

fn round_trips(case: &Case, noise: &mut Noise) -> RoundTrips {
    let queue = queueing(case);
    RoundTrips {
        unloaded: Some(series(20, |noise| IDLE + 0.0006 * noise.unit(), noise)),
        loaded: Some(series(
            case.seconds * 20,
            |noise| IDLE + 0.0006 + queue * noise.factor(0.9),
            noise,
        )),
    }
}

/// A probe every 50 ms; one in forty is lost.
fn series(count: u64, mut rtt: impl FnMut(&mut Noise) -> f64, noise: &mut Noise) -> ProbeSeries {
    let probe = |index: u64| {
        let rtt = Span::from_secs_f64(rtt(noise));
        Probe {
            sent: Time::from_nanos(index * 50_000_000),
            rtt: (noise.unit() > 0.025).then_some(rtt),
        }
    };
    ProbeSeries {
        method: ProbeMethod::UdpEcho,
        duplicated: 0,
        probes: (0..count).map(probe).collect(),
    }
}

fn cpu(case: &Case) -> TerminalCpu {
    let sample = |second: u64| CpuSample {
        at: Time::from_nanos(second * 1_000_000_000),
        user: Span::from_millis(second * 8),
        kernel: Span::from_millis(second * 75),
    };
    TerminalCpu {
        samples: (0..=case.seconds).map(sample).collect(),
    }
}

fn summary(case: &Case, seen: &Observation) -> Summary {
    let steady = SteadyWindow {
        from: Time::from_nanos(2_100_000_000),
        to: Time::from_nanos(case.seconds * 1_000_000_000),
        steadiness: Steadiness::Settled,
    };
    let streams: Vec<_> = seen
        .streams
        .iter()
        .map(|s| stream_goodput(s, steady))
        .collect();
    let mean = Rate::from_f64(streams.iter().map(|s| s.goodput.as_f64()).sum());
    let margin = 0.11 / f64::from(case.streams).sqrt();
    let part = |share: f64| Rate::from_f64(mean.as_f64() * share);
    let interval = Some(RateInterval::new(part(1.0 - margin), part(1.0 + margin)));
    let direction = DirectionSummary {
        direction: StreamDirection::Sending,
        steady,
        goodput: Goodput {
            mean,
            interval,
            scatter: interval,
        },
        unsettled: None,
        counted: Counted::ByReceiver,
        streams,
        fairness: Some(0.993),
        tcp: tcp_summary(case),
        retransmits_total: seen.streams.iter().map(|s| s.retransmits).sum(),
        thread_cpu_share: Some(0.02),
    };
    Summary {
        directions: vec![direction],
        cpu_near: Some((0.008, 0.075)),
        cpu_far: Some((0.012, 0.065)),
        rtt_unloaded: seen
            .round_trips
            .unloaded
            .as_ref()
            .and_then(ProbeSeries::mean),
        rtt_loaded: seen.round_trips.loaded.as_ref().and_then(ProbeSeries::mean),
    }
}

fn stream_goodput(stream: &Stream, steady: SteadyWindow) -> StreamGoodput {
    let bytes_at = |at: Time| {
        let reading = stream
            .delivery
            .progress
            .iter()
            .find(|reading| reading.at >= at);
        reading.map_or(Bytes::ZERO, |reading| reading.bytes)
    };
    StreamGoodput {
        number: stream.number,
        goodput: Rate::of(bytes_at(steady.to) - bytes_at(steady.from), steady.length()),
    }
}

fn tcp_summary(case: &Case) -> TcpSummary {
    TcpSummary {
        busy_share: Some(1.0),
        receive_window_share: Some(0.0),
        send_buffer_share: Some(0.01),
        not_sent_empty_share: Some(0.0),
        window_full_share: Some(0.0),
        peer_window: Some(Bytes::from_mib(3)),
        peer_window_fall: Some(0.0),
        flight: Some(Bytes::from_kib(80)),
        congestion_window: Some(Bytes::from_kib(85)),
        congestion_window_growth: Some(0.02),
        mss: Some(Bytes::new(1448)),
        retransmitted_share: Some(0.0003 + f64::from(case.streams) * 0.00008),
        retransmits: Some(84),
        mark_echoed_share: None,
        ecn: Some(false),
        duplicate_share: Some(0.0),
        reorderings: Some(0),
        rtt: Some(Span::from_secs_f64(IDLE + queueing(case))),
        rtt_min: Some(Span::from_secs_f64(IDLE)),
    }
}
