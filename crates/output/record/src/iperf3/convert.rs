//! From iperf3's readings to an observation, and from there to a document.

use observe::{
    Buffer, Buffers, Counted, CpuSample, Delivery, Direction, Observation, Peer, Progress,
    RoundTrips, Setting, Stream, StreamCount, StreamDirection, TargetInfo, TargetKind, TcpSample,
    TerminalCpu, Window,
};
use units::{Bytes, Rate, Span, Time};

use super::shape::{Cpu, Reading, Result as Recorded, Totals};
use crate::{Document, Host, Measure, Origin};

/// No run is longer: iperf3's own bound is a day.
const SECONDS_MAX: f64 = 86_400.0;

/// The document of a finished test.
///
/// # Errors
/// What is unlike the tests that are taken over.
pub(super) fn document(recorded: &Recorded) -> Result<Document<Measure>, String> {
    check(recorded)?;
    let observation = observation(recorded)?;
    let mut summary = observation.summary();
    if readings(recorded) < stats::SERIES_MIN {
        for direction in &mut summary.directions {
            direction.goodput.interval = None;
            direction.unsettled.get_or_insert(observe::Unsettled {
                why: observe::Lacking::Time,
                takes: None,
            });
        }
    }
    let verdict = inference::verdict(&observation);
    let info = TargetInfo {
        name: server(recorded)?,
        kind: TargetKind::Live,
        limits: None,
        congestion: Vec::new(),
        mover: None,
    };
    let body = Measure::new(&info, &observation, &summary, &verdict);
    Ok(Document::new(origin(recorded)?, body))
}

fn check(recorded: &Recorded) -> Result<(), String> {
    let test = &recorded.start.test_start;
    if test.protocol != "TCP" {
        return Err(format!("a test of {}, not of TCP", test.protocol));
    }
    let readings = recorded
        .intervals
        .iter()
        .flat_map(|interval| &interval.streams);
    let mut times = readings.flat_map(|reading| [reading.start, reading.end]);
    match times.find(|time| !(0.0..=SECONDS_MAX).contains(time)) {
        Some(wrong) => Err(format!(
            "an interval at {wrong} s is not between 0 and {SECONDS_MAX} s"
        )),
        None => Ok(()),
    }
}

/// Intervals of the stream that has the fewest.
fn readings(recorded: &Recorded) -> usize {
    let counts = recorded.end.streams.iter();
    let counts = counts.map(|totals| of_stream(recorded, totals.sender.socket).count());
    counts.min().unwrap_or(0)
}

fn of_stream(recorded: &Recorded, socket: i64) -> impl Iterator<Item = &Reading> {
    let all = recorded
        .intervals
        .iter()
        .flat_map(|interval| &interval.streams);
    all.filter(move |reading| reading.socket == socket && !reading.omitted)
}

fn server(recorded: &Recorded) -> Result<String, String> {
    let peer = recorded.start.connecting_to.as_ref();
    let peer = peer.ok_or("the server's own output, not its client's")?;
    Ok(match peer.host.contains(':') {
        true => format!("[{}]:{}", peer.host, peer.port),
        false => format!("{}:{}", peer.host, peer.port),
    })
}

fn observation(recorded: &Recorded) -> Result<Observation, String> {
    let streams: Vec<Stream> = (1..)
        .zip(&recorded.end.streams)
        .map(|(number, totals)| stream(recorded, number, totals))
        .collect();
    let lasts = streams
        .iter()
        .filter_map(|stream| stream.delivery.progress.last());
    let duration = lasts.map(|last| last.at).max();
    let duration = duration
        .ok_or("a test without a single interval")?
        .since(Time::ZERO);
    let cpu = recorded.end.cpu_utilization_percent.as_ref();
    Ok(Observation {
        setting: setting(recorded, &streams)?,
        grown_from: None,
        peer: Peer::Iperf3,
        duration,
        elapsed: duration
            + Span::from_secs_f64(recorded.start.test_start.omit.clamp(0.0, SECONDS_MAX)),
        streams,
        round_trips: RoundTrips::default(),
        congestion_used: recorded.end.sender_tcp_congestion.clone(),
        takes_udp: false,
        multipath: None,
        cpu_near: cpu.map(|cpu| near(cpu, duration)),
        cpu_far_percent: cpu.map(|cpu| (cpu.remote_user, cpu.remote_system)),
    })
}

fn near(cpu: &Cpu, duration: Span) -> TerminalCpu {
    let share =
        |percent: f64| Span::from_secs_f64(duration.as_secs_f64() * percent.max(0.0) / 100.0);
    let first = CpuSample {
        at: Time::ZERO,
        user: Span::ZERO,
        kernel: Span::ZERO,
    };
    let last = CpuSample {
        at: Time::ZERO + duration,
        user: share(cpu.host_user),
        kernel: share(cpu.host_system),
    };
    TerminalCpu {
        samples: vec![first, last],
    }
}

fn setting(recorded: &Recorded, streams: &[Stream]) -> Result<Setting, String> {
    let test = &recorded.start.test_start;
    let window = match recorded.start.sock_bufsize {
        0 => Window::Auto,
        bytes => Window::Fixed(Bytes::new(bytes)),
    };
    let count = StreamCount::new(test.num_streams).map_err(|error| error.to_string())?;
    let sends = |way| streams.iter().any(|stream| stream.direction == way);
    let direction = match (
        sends(StreamDirection::Sending),
        sends(StreamDirection::Receiving),
    ) {
        (true, true) => Direction::Both,
        (false, true) => Direction::Reverse,
        _ => Direction::Forward,
    };
    let pacing = Some(test.target_bitrate).filter(|rate| *rate > 0);
    Ok(Setting {
        direction,
        pacing: pacing.map(Rate::from_bits_per_second),
        ..Setting::new(count, window)
    })
}

fn stream(recorded: &Recorded, number: u16, totals: &Totals) -> Stream {
    let readings = || of_stream(recorded, totals.sender.socket);
    let sends = readings()
        .next()
        .and_then(|reading| reading.sender)
        .unwrap_or(true);
    let (direction, counted) = match sends {
        true => (StreamDirection::Sending, Counted::BySender),
        false => (StreamDirection::Receiving, Counted::ByReceiver),
    };
    Stream {
        number,
        direction,
        buffers: Some(buffers(recorded)),
        buffers_far: None,
        delivery: Delivery {
            counted,
            progress: progress(readings()),
            receiver_total: Some(Bytes::new(totals.receiver.bytes)),
        },
        tcp: match sends {
            true => tcp(recorded, readings()),
            false => Vec::new(),
        },
        retransmits: totals.sender.retransmits,
        thread_cpu: None,
    }
}

fn buffers(recorded: &Recorded) -> Buffers {
    let asked = Some(recorded.start.sock_bufsize).filter(|bytes| *bytes > 0);
    let buffer = |granted| Buffer {
        asked: asked.map(Bytes::new),
        granted: Bytes::new(granted),
    };
    Buffers {
        send: buffer(recorded.start.sndbuf_actual),
        receive: buffer(recorded.start.rcvbuf_actual),
    }
}

fn at(reading: &Reading) -> Time {
    Time::ZERO + Span::from_secs_f64(reading.end)
}

fn progress<'a>(readings: impl Iterator<Item = &'a Reading>) -> Vec<Progress> {
    let mut bytes = Bytes::ZERO;
    let sums = readings.map(|reading| {
        bytes += Bytes::new(reading.bytes);
        Progress {
            at: at(reading),
            bytes,
        }
    });
    sums.collect()
}

/// What iperf3 writes of the kernel's counters; its retransmissions are those of each interval.
fn tcp<'a>(recorded: &Recorded, readings: impl Iterator<Item = &'a Reading>) -> Vec<TcpSample> {
    let mss = recorded.start.tcp_mss_default.filter(|mss| *mss > 0);
    let mut retransmits = Some(0_u32);
    let samples = readings.map(|reading| {
        let more = reading.retransmits;
        retransmits = retransmits.and_then(|sum| Some(sum.saturating_add(more?)));
        let segments = reading.snd_cwnd.zip(mss).map(|(cwnd, mss)| cwnd / mss);
        TcpSample {
            at: at(reading),
            rtt: reading.rtt.filter(|rtt| *rtt > 0).map(Span::from_micros),
            cwnd_segments: segments.and_then(|segments| u32::try_from(segments).ok()),
            mss: mss.map(Bytes::new),
            peer_window: reading.snd_wnd.filter(|window| *window > 0).map(Bytes::new),
            retransmits,
            ..TcpSample::default()
        }
    });
    samples.collect()
}

fn origin(recorded: &Recorded) -> Result<Origin, String> {
    let seconds = recorded.start.timestamp.timesecs;
    let created = jiff::Timestamp::from_second(seconds);
    let created = created.map_err(|_| format!("{seconds} s is no date"))?;
    let mut words = recorded.start.system_info.split_whitespace().skip(1);
    let host = Host {
        name: words.next().map(str::to_owned),
        kernel: words.next().map(str::to_owned),
        cpus: None,
        memory_bytes: None,
    };
    Ok(Origin {
        trunkline_version: env!("CARGO_PKG_VERSION").to_owned(),
        created: created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seed: None,
        command_line: command(recorded)?,
        host,
    })
}

/// The command as far as the result tells it.
fn command(recorded: &Recorded) -> Result<Vec<String>, String> {
    let version = recorded.start.version.replace(' ', "-");
    let streams = recorded.start.test_start.num_streams;
    let words = [
        version,
        "-c".to_owned(),
        server(recorded)?,
        "-P".to_owned(),
        streams.to_string(),
    ];
    Ok(words.into())
}
