//! The server's results and reports, with our telemetry for those who know it.

use measure_protocol::{Results, Role, ServerOutput, StreamResult, TestRequest, stream_id};
use observe::CpuSample;
use units::Bytes;

use super::flow::Flow;
use crate::telemetry::{CELLS_BESIDE_DATA_MAX, CELLS_MAX, Written, write};

/// What this end counted on its streams since the last report, or since the start.
pub(super) fn results(request: &TestRequest, flow: &Flow) -> Results {
    let (total, user, system) = processor_percent(flow.cpu);
    // While data flows towards the client the table travels with it.
    let cells_max = match flow.is_open() && flow.plan.send > 0 {
        true => CELLS_BESIDE_DATA_MAX,
        false => CELLS_MAX,
    };
    let table = request.offer.map(|_| write(&written(flow), cells_max));
    let streams: Vec<StreamResult> = (0..flow.streams.len())
        .filter_map(|index| stream(flow, index))
        .collect();
    Results {
        cpu_util_total: total,
        cpu_util_user: user,
        cpu_util_system: system,
        sender_has_retransmits: (flow.plan.send > 0).then_some(1),
        congestion_used: flow
            .streams
            .first()
            .and_then(|stream| stream.connection.congestion()),
        server_output_text: match request.server_output {
            ServerOutput::Wanted => Some(text(flow, &streams)),
            ServerOutput::Unwanted => None,
        },
        streams,
        trunkline: table,
    }
}

/// In percent of one processor, of this whole process: other sessions show as well.
pub(super) fn processor_percent(
    cpu: Option<(CpuSample, CpuSample)>,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    let Some((first, last)) = cpu else {
        return (None, None, None);
    };
    let wall = last.at.since(first.at).as_secs_f64();
    if wall <= 0.0 {
        return (None, None, None);
    }
    let user = (last.user - first.user).as_secs_f64() / wall * 100.0;
    let system = (last.kernel - first.kernel).as_secs_f64() / wall * 100.0;
    (Some(user + system), Some(user), Some(system))
}

fn role(flow: &Flow, index: usize) -> Role {
    match index < usize::from(flow.plan.receive) {
        true => Role::Receiver,
        false => Role::Sender,
    }
}

fn written(flow: &Flow) -> Vec<Written<'_>> {
    let both = flow.streams.iter().zip(&flow.series).enumerate();
    both.map(|(index, (stream, series))| Written {
        series,
        role: role(flow, index),
        stream,
    })
    .collect()
}

fn stream(flow: &Flow, index: usize) -> Option<StreamResult> {
    let sends = role(flow, index) == Role::Sender;
    Some(StreamResult {
        id: stream_id(u16::try_from(index).ok()?).into(),
        bytes: flow.counted(index)?.get(),
        retransmits: flow.retransmits(index).filter(|_| sends),
        start_time: Some(0.0),
        end_time: Some(flow.counted_time().as_secs_f64()),
        ..StreamResult::default()
    })
}

fn text(flow: &Flow, streams: &[StreamResult]) -> String {
    let line = |stream: &StreamResult| {
        let bytes = Bytes::new(stream.bytes).human();
        format!("stream {}: {bytes}\n", stream.id)
    };
    let lines: String = streams.iter().map(line).collect();
    format!(
        "trunkline serve, {} stream(s) in {}\n{lines}",
        streams.len(),
        flow.duration.human()
    )
}
