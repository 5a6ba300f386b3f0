//! What client and server have agreed on, and the streams that have arrived for it.

use std::net::TcpStream;

use wire::{Nagle, StreamPlan, TestRequest};

use super::Reserved;
use super::acceptor::Arrival;
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
}

impl<'a> Agreed<'a> {
    /// A test for which there is room.
    pub(super) fn new(request: TestRequest, limit: BufferLimit, room: Reserved<'a>) -> Self {
        let plan = request.server_streams();
        Agreed {
            options: options(&request, limit),
            request,
            plan,
            arrived: Vec::new(),
            missing: plan.total(),
            notes: Vec::new(),
            _room: room,
        }
    }

    /// Whether the stream is one of those agreed on.
    pub(super) fn take(&mut self, arrival: Arrival) -> bool {
        let strange = self.request.offer.is_some() && !self.expects(arrival.place);
        let Some(missing) = self.missing.checked_sub(1).filter(|_| !strange) else {
            return false;
        };
        self.missing = missing;
        if let Err(error) = self.options.apply_to_accepted(&arrival.socket) {
            self.note(&error);
        }
        self.arrived.push(arrival);
        true
    }

    /// The sockets by their place.
    pub(super) fn in_order(&mut self) -> Vec<TcpStream> {
        self.arrived.sort_by_key(|arrival| arrival.place);
        let arrived = self.arrived.drain(..);
        arrived.map(|arrival| arrival.socket).collect()
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

fn options(request: &TestRequest, limit: BufferLimit) -> StreamOptions {
    StreamOptions {
        window: request.window,
        limit,
        congestion: request.congestion.clone(),
        pacing: request.pacing,
        segment: request.segment,
        no_delay: request.nagle == Nagle::Off,
        ..StreamOptions::default()
    }
}
