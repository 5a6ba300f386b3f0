//! A simulated stream as the kernel would tell of a real one.

use observe::TcpSample;
use sim::StreamState;

/// What `TCP_INFO` of a real stream would say.
pub fn sample(state: &StreamState) -> TcpSample {
    TcpSample {
        rtt: state.round_trip,
        rtt_min: state.round_trip_min,
        cwnd_segments: Some(state.window as u32),
        mss: Some(state.segment),
        unacked_segments: Some(state.outstanding),
        bytes_acked: Some(state.acknowledged),
        bytes_arrived: Some(state.arrived),
        bytes_sent: Some(state.sent),
        bytes_retransmitted: Some(state.segment.times(state.retransmitted)),
        busy: Some(state.busy),
        receive_window_limited: Some(state.window_limited),
        ..TcpSample::default()
    }
}
