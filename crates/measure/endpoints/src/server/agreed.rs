//! What client and server have agreed on, and the streams that have arrived for it.

use copy_net::Channel;
use measure_protocol::{Nagle, StreamPlan, TestRequest};
use observe::Transport;
use units::{Bytes, Via};

use super::Reserved;
use super::arrivals::Arrival;
use super::udp_memory::ReservedMemory;
use sockets::BufferLimit;
use sockets::options::{OptionError, StreamOptions};

/// What was agreed on, and the streams that have arrived for it.
pub(super) struct Agreed<'a> {
    pub request: TestRequest,
    options: StreamOptions,
    plan: StreamPlan,
    arrived: Vec<Arrival>,
    missing: u16,
    pub notes: Vec<String>,
    _room: Reserved<'a>,
    /// What its streams over UDP may hold together.
    memory: Option<ReservedMemory<'a>>,
}

impl<'a> Agreed<'a> {
    /// A test for which there is room.
    pub(super) fn new(
        request: TestRequest,
        limit: BufferLimit,
        room: Reserved<'a>,
        memory: Option<ReservedMemory<'a>>,
    ) -> Self {
        let plan = request.server_streams();
        Agreed {
            options: options(&request, limit),
            request,
            plan,
            arrived: Vec::new(),
            missing: plan.total(),
            notes: Vec::new(),
            _room: room,
            memory,
        }
    }

    /// Whether the stream is one of those agreed on.
    pub(super) fn take(&mut self, arrival: Arrival) -> bool {
        let comes_otherwise = arrival.channel.transport() != transport(&self.request);
        let is_unexpected = self.request.offer.is_some() && !self.expects(arrival.place);
        let strange = comes_otherwise || is_unexpected;
        let Some(missing) = self.missing.checked_sub(1).filter(|_| !strange) else {
            return false;
        };
        self.missing = missing;
        if let Err(error) = arrival.channel.admit(&self.options, self.window_max()) {
            self.note(&error);
        }
        self.arrived.push(arrival);
        true
    }

    /// The streams by their place.
    pub(super) fn in_order(&mut self) -> Vec<Channel> {
        self.arrived.sort_by_key(|arrival| arrival.place);
        let arrived = self.arrived.drain(..);
        arrived.map(|arrival| arrival.channel).collect()
    }

    /// Of one stream over UDP.
    fn window_max(&self) -> Bytes {
        let all = self
            .memory
            .as_ref()
            .map_or(0, |memory| memory.bytes().get());
        Bytes::new(all / u64::from(self.plan.total()).max(1))
    }

    /// Whether a stream of this number is agreed on and has not come yet.
    fn expects(&self, number: u64) -> bool {
        let mut arrived = self.arrived.iter();
        number < self.plan.total().into() && !arrived.any(|arrival| arrival.place == number)
    }

    /// A wish that cannot be fulfilled is noted once and the test goes on, as iperf3 does.
    fn note(&mut self, error: &OptionError) {
        let note = error.to_string();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// What the streams of a test come over.
fn transport(request: &TestRequest) -> Transport {
    match request.is_over_udp() {
        true => Transport::Udp,
        false => Transport::Tcp,
    }
}

fn options(request: &TestRequest, limit: BufferLimit) -> StreamOptions {
    StreamOptions {
        window: request.window,
        limit,
        congestion: request.congestion.clone(),
        pacing: request.pacing,
        segment: request.segment,
        no_delay: request.nagle == Nagle::Off,
        via: Via {
            dscp: request.dscp,
            ..Via::default()
        },
        ..StreamOptions::default()
    }
}
