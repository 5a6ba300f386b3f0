//! Turning what both ends saw into one [`Observation`].

use observe::{
    Buffer, Buffers, Counted, CpuSample, Delivery, Observation, Peer, ProbeSeries, Progress,
    RoundTrips, Setting, Stream, StreamDirection, TcpSample, TerminalCpu,
};
use units::{Bytes, Span};
use wire::{Answer, Results, StreamResult, stream_id};

use super::flow::Flow;
use crate::stream::StreamEnd;
use crate::telemetry;

/// Everything a finished test left behind.
pub(super) struct Ended<'a> {
    pub setting: &'a Setting,
    pub answer: Option<Answer>,
    pub flow: Option<Flow>,
    pub ends: Vec<Option<StreamEnd>>,
    pub unloaded: Option<ProbeSeries>,
    pub loaded: Option<ProbeSeries>,
    pub elapsed: Span,
    pub results: &'a Results,
}

/// Our own results for the server.
pub(super) fn results(flow: &mut Flow) -> Results {
    let (user, system) = processor_percent(flow.cpu.kept()).unzip();
    let stream = |(index, bytes): (usize, &Bytes)| StreamResult {
        id: stream_id(u16::try_from(index).unwrap_or(u16::MAX)).into(),
        bytes: bytes.get(),
        retransmits: own_retransmits(flow, index),
        start_time: Some(0.0),
        end_time: Some(flow.duration.as_secs_f64()),
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
    let last = flow.series.get(index)?.latest?;
    let sends = flow.direction(index) == StreamDirection::Sending;
    last.retransmits.filter(|_| sends).map(u64::from)
}

/// The whole observation.
pub(super) fn observation(ended: Ended<'_>) -> Observation {
    let flow = ended.flow.as_ref();
    let streams = flow.map(|flow| streams(flow, &ended)).unwrap_or_default();
    let sends = flow.is_some_and(|flow| flow.plan.send > 0);
    let own_congestion = flow.and_then(|flow| flow.congestion.clone());
    let cpu = flow.map(|flow| flow.cpu.kept().to_vec());
    Observation {
        setting: ended.setting.clone(),
        grown_from: None,
        peer: match ended.answer {
            Some(_) => Peer::Trunkline,
            None => Peer::Iperf3,
        },
        duration: flow.map_or(Span::ZERO, |flow| flow.duration),
        elapsed: ended.elapsed,
        streams,
        round_trips: round_trips(ended.unloaded, ended.loaded),
        congestion_used: match sends {
            true => own_congestion,
            false => ended.results.congestion_used.clone(),
        },
        cpu_near: cpu.map(|samples| TerminalCpu { samples }),
        cpu_far_percent: ended
            .results
            .cpu_util_user
            .zip(ended.results.cpu_util_system),
    }
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

fn streams(flow: &Flow, ended: &Ended<'_>) -> Vec<Stream> {
    let indices = (0..flow.totals.len()).filter_map(|index| u16::try_from(index).ok());
    indices
        .filter_map(|index| stream(flow, ended, index))
        .collect()
}

fn stream(flow: &Flow, ended: &Ended<'_>, index: u16) -> Option<Stream> {
    let at = usize::from(index);
    let direction = flow.direction(at);
    let far_table = ended.results.trunkline.as_ref();
    let far = far_table.and_then(|table| telemetry::read(table, index, direction));
    let told = ended.results.stream(index);
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
        buffers_far: granted_far.map(|granted| at_far_end(buffers, granted)),
        delivery,
        tcp,
        retransmits,
        thread_cpu: ended.ends.get(at)?.as_ref().and_then(|end| end.cpu),
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
