//! The readings of one stream while a simulation goes, as a kernel would give them.

use observe::{Counted, Delivery, Progress, Stream, StreamDirection, TcpSample, Thinned};
use sim::StreamState;
use units::{Bytes, Rate, Time};

use super::buffers::StreamBuffers;

/// What was read of one stream.
#[derive(Debug)]
pub(super) struct Readings {
    progress: Thinned<Progress>,
    tcp: Thinned<TcpSample>,
    latest: Progress,
    /// How the stream stood when the readings began: what is counted is what came since.
    begun: StreamState,
}

impl Readings {
    /// Keeps at most `bound` readings of each kind, of a stream that stands as `begun` says.
    pub fn new(bound: usize, begun: &StreamState) -> Self {
        Readings {
            progress: Thinned::new(bound),
            tcp: Thinned::new(bound),
            latest: Progress {
                at: Time::ZERO,
                bytes: begun.acknowledged,
            },
            begun: *begun,
        }
    }

    /// Bytes delivered since the readings began.
    pub fn delivered(&self, state: &StreamState) -> Bytes {
        state.delivered - self.begun.delivered
    }

    fn progress(&self, at: Time, state: &StreamState) -> Progress {
        Progress {
            at,
            bytes: self.delivered(state),
        }
    }

    /// Takes a reading; `at` counts from the start of the streams.
    pub fn add(&mut self, at: Time, state: &StreamState, buffers: &StreamBuffers) {
        let sample = self.sample(at, state, buffers);
        self.tcp.offer(sample);
        self.progress.offer(self.progress(at, state));
    }

    /// The last one, unless it was taken already.
    pub fn close(&mut self, at: Time, state: &StreamState, buffers: &StreamBuffers) {
        if self.tcp.kept().last().is_some_and(|last| last.at == at) {
            return;
        }
        let sample = self.sample(at, state, buffers);
        self.tcp.close(sample);
        self.progress.close(self.progress(at, state));
    }

    fn sample(&mut self, at: Time, state: &StreamState, buffers: &StreamBuffers) -> TcpSample {
        let acknowledged = Progress {
            at,
            bytes: state.acknowledged,
        };
        let before = std::mem::replace(&mut self.latest, acknowledged);
        TcpSample {
            delivery_rate: (at > before.at).then(|| {
                Rate::of(
                    acknowledged.bytes - before.bytes,
                    acknowledged.at.since(before.at),
                )
            }),
            ..tcp_sample(at, state, buffers)
        }
    }

    /// The stream with all that was read of it.
    pub fn stream(
        self,
        number: u16,
        direction: StreamDirection,
        state: &StreamState,
        buffers: &StreamBuffers,
    ) -> Stream {
        let total = self.delivered(state);
        Stream {
            number,
            direction,
            buffers: Some(buffers.granted),
            buffers_far: Some(buffers.granted),
            delivery: Delivery {
                counted: Counted::ByReceiver,
                progress: self.progress.kept().to_vec(),
                receiver_total: Some(total),
            },
            tcp: self.tcp.kept().to_vec(),
            retransmits: Some(state.retransmitted - self.begun.retransmitted),
            thread_cpu: None,
        }
    }
}

fn tcp_sample(at: Time, state: &StreamState, buffers: &StreamBuffers) -> TcpSample {
    let (by_receiver, by_sender) = match buffers.send_binds() {
        true => (units::Span::ZERO, state.window_limited),
        false => (state.window_limited, units::Span::ZERO),
    };
    TcpSample {
        at,
        rtt: state.round_trip,
        rtt_min: state.round_trip_min,
        cwnd_segments: Some(state.window as u32),
        ssthresh_segments: state.threshold.map(|segments| segments as u32),
        mss: Some(state.segment),
        unacked_segments: Some(state.outstanding),
        peer_window: Some(buffers.receive_window),
        bytes_acked: Some(state.acknowledged),
        bytes_arrived: Some(state.arrived),
        bytes_sent: Some(state.sent),
        bytes_retransmitted: Some(state.segment.times(state.retransmitted)),
        retransmits: u32::try_from(state.retransmitted).ok(),
        not_sent: Some(not_sent(state, buffers)),
        busy: Some(state.busy),
        receive_window_limited: Some(by_receiver),
        send_buffer_limited: Some(by_sender),
        duplicates_reported: Some(state.repeated),
        mark_echoed: state
            .mark_echoed
            .and_then(|count| u32::try_from(count).ok()),
        ecn: Some(state.mark_echoed.is_some()),
        ..TcpSample::default()
    }
}

/// A program that always has more to send keeps its send buffer full.
fn not_sent(state: &StreamState, buffers: &StreamBuffers) -> Bytes {
    let outstanding = state.segment.times(u64::from(state.outstanding));
    let room = buffers.send_room - outstanding.min(buffers.send_room);
    state.unsent.map_or(room, |unsent| unsent.min(room))
}
