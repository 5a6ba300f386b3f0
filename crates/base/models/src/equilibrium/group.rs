//! What streams of one kind send.

use units::{Bytes, Span};

use super::capped;
use super::{Bottleneck, Control, Flows};
use crate::{Acks, Response};

/// Losses above which BBR slows down: it probes with 1.25 of what it found, and a fifth of that is
/// too much.
const BBR_LOSS_MAX: f64 = 0.2;
/// BBR keeps at most so many of its bandwidth-delay products outstanding.
const BBR_OUTSTANDING: f64 = 2.0;

/// What streams meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pressure {
    /// Loss events for each packet.
    pub loss: f64,
    /// Seconds in the queue.
    pub queued: f64,
    /// Whether the queue overflows.
    pub overflows: bool,
}

/// Streams of one kind on one bottleneck, in segments and seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub streams: f64,
    /// The window's cap; infinite when there is none.
    cap: f64,
    control: Control,
    rtt: f64,
    /// An equal part of the link, in segments a second.
    part: f64,
    alone: bool,
}

impl Group {
    /// * `all`: streams of all kinds.
    pub fn new(flows: &Flows, path: &Bottleneck, all: f64) -> Self {
        let cap = |window: Bytes| window.as_f64() / path.segment.as_f64();
        Group {
            streams: f64::from(flows.streams),
            cap: flows.window.map_or(f64::INFINITY, cap),
            control: flows.control,
            rtt: (path.rtt + flows.rtt_added).as_secs_f64(),
            part: path.capacity_segments() / all,
            alone: all == 1.0,
        }
    }

    /// Segments a second of all its streams.
    pub fn demand(&self, under: &Pressure) -> f64 {
        let rtt = self.rtt + under.queued;
        let window = match self.control {
            Control::Loss(response) => capped::window(response, rtt, under.loss, self.cap),
            Control::Bandwidth => self.window(under).min(self.cap),
        };
        self.streams * window / rtt
    }

    /// Whether the cap holds them back more than what they meet.
    pub fn is_capped(&self, under: &Pressure) -> bool {
        self.window(under) >= self.cap
    }

    fn window(&self, under: &Pressure) -> f64 {
        let rtt = self.rtt + under.queued;
        match self.control {
            Control::Loss(response) => of_response(response, rtt, under.loss),
            Control::Bandwidth if under.loss > BBR_LOSS_MAX => {
                of_response(Response::Reno(Acks::Every), rtt, under.loss)
            }
            Control::Bandwidth if under.overflows => self.part * rtt,
            // One stream finds the link's rate and queues nothing; several overestimate it in
            // turns.
            Control::Bandwidth if self.alone => self.part * self.rtt,
            Control::Bandwidth => self.part * self.rtt * BBR_OUTSTANDING,
        }
    }

    /// Share of a window of so many segments that a stream gives up at a loss.
    pub fn given_up(&self, window_segments: f64) -> f64 {
        match self.control {
            Control::Loss(response) => 1.0 - response.kept(window_segments),
            Control::Bandwidth => 0.0,
        }
    }

    /// Whether its losses are of its own making and not predicted.
    pub fn overruns(&self, under: &Pressure) -> bool {
        self.control == Control::Bandwidth && under.overflows
    }
}

fn of_response(response: Response, rtt_seconds: f64, loss: f64) -> f64 {
    let window = response.window_segments(Span::from_secs_f64(rtt_seconds), loss);
    window.unwrap_or(f64::INFINITY)
}
