//! Turning what both ends saw into one [`Observation`].

use measure_protocol::{Answer, Results, StreamResult, stream_id};
use observe::{
    Buffer, Buffers, Counted, CpuSample, Delivery, Multipath, MultipathConnection, Observation,
    Peer, ProbeMethod, ProbeSeries, Progress, RoundTrips, Setting, Stream, StreamCount,
    StreamDirection, TcpSample, TerminalCpu,
};
use units::{Bytes, Span};

use super::flow::Flow;
use super::test::Test;
use crate::telemetry;

/// Everything that a part of a run left behind.
pub(super) struct Ended<'a> {
    pub setting: &'a Setting,
    pub grown_from: Option<StreamCount>,
    pub answer: Option<Answer>,
    pub tests: &'a [Test],
    /// The server's, of each test.
    pub results: &'a [Results],
    /// Processor time of the threads of each test.
    pub threads: &'a [Vec<Option<Span>>],
    pub duration: Span,
    pub cpu: &'a [CpuSample],
    pub unloaded: Option<ProbeSeries>,
    pub loaded: Option<ProbeSeries>,
    pub elapsed: Span,
}

/// Our own results of one test for the server.
pub(super) fn results(flow: &Flow, duration: Span, cpu: &[CpuSample]) -> Results {
    let (user, system) = processor_percent(cpu).unzip();
    let stream = |(index, bytes): (usize, &Bytes)| StreamResult {
        id: stream_id(u16::try_from(index).unwrap_or(u16::MAX)).into(),
        bytes: bytes.get(),
        retransmits: own_retransmits(flow, index),
        start_time: Some(0.0),
        end_time: Some(duration.as_secs_f64()),
        ..StreamResult::default()
    };
    Results {
        cpu_util_total: user.zip(system).map(|(user, system)| user + system),
        cpu_util_user: user,
        cpu_util_system: system,
        sender_has_retransmits: (flow.plan.send > 0).then_some(1),
        congestion_used: flow.congestion.clone(),
        streams: flow.totals.iter().enumerate().map(stream).collect(),
        ..Results::default()
    }
}

fn processor_percent(samples: &[CpuSample]) -> Option<(f64, f64)> {
    let cpu = TerminalCpu {
        samples: samples.to_vec(),
    };
    let (user, kernel) = cpu.shares()?;
    Some((user * 100.0, kernel * 100.0))
}

fn own_retransmits(flow: &Flow, index: usize) -> Option<u64> {
    let sends = flow.direction(index) == StreamDirection::Sending;
    let counted = flow.series.get(index)?.retransmits();
    counted.filter(|_| sends).map(u64::from)
}

/// The whole observation.
pub(super) fn observation(ended: Ended<'_>) -> Observation {
    let first = ended.tests.first().map(|test| &test.flow);
    let theirs = ended.results.first();
    let sends = first.is_some_and(|flow| flow.plan.send > 0);
    Observation {
        setting: ended.setting.clone(),
        grown_from: ended.grown_from,
        peer: match ended.answer {
            Some(_) => Peer::Trunkline,
            None => Peer::Iperf3,
        },
        duration: ended.duration,
        elapsed: ended.elapsed,
        streams: streams(&ended),
        congestion_used: match sends {
            true => first.and_then(|flow| flow.congestion.clone()),
            false => theirs.and_then(|results| results.congestion_used.clone()),
        },
        takes_udp: takes_udp(&ended),
        multipath: multipath(ended.tests),
        cpu_near: Some(TerminalCpu {
            samples: ended.cpu.to_vec(),
        }),
        // The server is one process, which each of its tests shows as a whole.
        cpu_far_percent: theirs.and_then(|results| {
            let (user, system) = (results.cpu_util_user, results.cpu_util_system);
            user.zip(system)
        }),
        round_trips: round_trips(ended.unloaded, ended.loaded),
    }
}

/// Whether the server takes streams over UDP, and echoes show that datagrams pass.
fn takes_udp(ended: &Ended<'_>) -> bool {
    let series = [&ended.unloaded, &ended.loaded];
    let mut series = series.into_iter().flatten();
    let passes = series.any(|one| one.method == ProbeMethod::UdpEcho && one.min().is_some());
    passes && ended.answer.is_some_and(|answer| answer.udp)
}

/// What the streams of all tests went over; `None` where multipath TCP was not asked for.
fn multipath(tests: &[Test]) -> Option<Multipath> {
    let asked = tests.iter().filter_map(|test| test.flow.multipath.as_ref());
    let seen: Vec<&MultipathConnection> = asked.flatten().collect();
    (!seen.is_empty()).then(|| seen.into_iter().collect())
}

/// A peer that never answers gives no series; one that falls silent under load loses all of it.
fn round_trips(unloaded: Option<ProbeSeries>, loaded: Option<ProbeSeries>) -> RoundTrips {
    let answers = |series: &ProbeSeries| series.min().is_some();
    let unloaded = unloaded.filter(answers);
    RoundTrips {
        loaded: loaded.filter(|loaded| unloaded.is_some() || answers(loaded)),
        unloaded,
    }
}

/// Those of all tests, numbered one after another.
fn streams(ended: &Ended<'_>) -> Vec<Stream> {
    let tests = ended.tests.iter().zip(ended.results).zip(ended.threads);
    let streams = tests.flat_map(|((test, results), threads)| {
        let indices = (0..test.flow.streams.len()).filter_map(|index| u16::try_from(index).ok());
        let length = ended.grown_from.map(|_| ended.duration);
        let told = move |index| stream(&test.flow, results, length, threads, index);
        indices.filter_map(told)
    });
    let numbered = streams
        .zip(1..)
        .map(|(stream, number)| Stream { number, ..stream });
    numbered.collect()
}

/// One of a test, numbered within it.
///
/// * `length`: between the server's being told to count anew and to report, where it was.
fn stream(
    flow: &Flow,
    results: &Results,
    length: Option<Span>,
    threads: &[Option<Span>],
    index: u16,
) -> Option<Stream> {
    let at = usize::from(index);
    let direction = flow.direction(at);
    let far_table = results.trunkline.as_ref();
    let far = far_table.and_then(|table| telemetry::read(table, index, direction));
    let far = far.map(|far| match length {
        Some(length) => far.fitted(length),
        None => far,
    });
    let told = results.stream(index);
    let own = flow.series.get(at)?;
    let buffers = *flow.buffers.get(at)?;
    let granted_far = far.as_ref().and_then(|far| far.buffers);
    let (far_progress, far_tcp) = far.map(|far| (far.progress, far.tcp)).unzip();
    let (delivery, tcp, retransmits) = match direction {
        StreamDirection::Sending => (
            sent(own.tcp.kept(), far_progress, told),
            own.tcp.kept().to_vec(),
            own_retransmits(flow, at),
        ),
        StreamDirection::Receiving => (
            received(own.progress.kept(), *flow.totals.get(at)?),
            far_tcp.unwrap_or_default(),
            told.and_then(|told| told.retransmits),
        ),
    };
    Some(Stream {
        number: index + 1,
        direction,
        buffers,
        buffers_far: buffers
            .zip(granted_far)
            .map(|(near, far)| at_far_end(near, far)),
        delivery,
        tcp,
        retransmits,
        thread_cpu: threads.get(at).copied().flatten(),
    })
}

/// Both ends ask their kernel for the same.
fn at_far_end(near: Buffers, (send, receive): (Bytes, Bytes)) -> Buffers {
    let buffer = |asked, granted| Buffer { asked, granted };
    Buffers {
        send: buffer(near.send.asked, send),
        receive: buffer(near.receive.asked, receive),
    }
}

fn sent(own: &[TcpSample], far: Option<Vec<Progress>>, told: Option<&StreamResult>) -> Delivery {
    let receiver_total = told.map(|told| Bytes::new(told.bytes));
    match far.filter(|far| !far.is_empty()) {
        Some(progress) => Delivery {
            counted: Counted::ByReceiver,
            progress,
            receiver_total,
        },
        None => Delivery {
            counted: Counted::ByAcknowledgement,
            progress: acknowledged(own),
            receiver_total,
        },
    }
}

/// Acknowledged bytes from the first reading on, so that the cookie does not count.
fn acknowledged(own: &[TcpSample]) -> Vec<Progress> {
    let Some(first) = own.first().and_then(|sample| sample.bytes_acked) else {
        return Vec::new();
    };
    let progress = own.iter().filter_map(|sample| {
        let bytes = sample.bytes_acked? - first;
        Some(Progress {
            at: sample.at,
            bytes,
        })
    });
    progress.collect()
}

fn received(own: &[Progress], total: Bytes) -> Delivery {
    Delivery {
        counted: Counted::ByReceiver,
        progress: own.to_vec(),
        receiver_total: Some(total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{Probe, ProbeMethod};
    use units::Time;

    fn series(rtt: Option<Span>) -> Option<ProbeSeries> {
        Some(ProbeSeries {
            method: ProbeMethod::UdpEcho,
            duplicated: 0,
            probes: vec![Probe {
                sent: Time::ZERO,
                rtt,
            }],
        })
    }

    #[test]
    fn silence_under_load_is_loss_where_the_idle_path_answered() {
        let answered = Some(Span::from_millis(1));
        let trips = round_trips(series(answered), series(None));
        assert_eq!(trips.loaded.unwrap().loss_ratio(), Some(1.0));
        let trips = round_trips(series(None), series(None));
        assert_eq!((trips.unloaded, trips.loaded), (None, None));
        assert!(round_trips(None, series(answered)).loaded.is_some());
    }
}
