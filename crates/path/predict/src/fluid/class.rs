//! A class of flows, of which a sample is followed.

use netpath::PathSpec;
use rand_core::Rng;
use rand_pcg::Pcg64;
use units::Span;

use super::flow::{Control, Flow, Seen};
use super::{FlowClass, FluidQuestion};
use crate::PredictError;
use crate::inputs::{segment, whole_segments};

/// Flows of a class that are followed at the most.
const SAMPLE_MAX: u64 = 1000;
/// Flows that are followed even where that takes longer.
const SAMPLE_MIN: f64 = 32.0;
/// Starts are spread over this, as in a simulation.
const START_WITHIN: f64 = 0.01;

/// A class while it runs.
pub(super) struct Class {
    pub asked: FlowClass,
    pub congestion: String,
    control: Control,
    /// What each flow of the sample stands for.
    pub weight: f64,
    pub sample: Vec<Flow>,
    pub rtt: f64,
    pub limit: f64,
    loss: f64,
    stop: f64,
    /// Sums after the warm-up: segments, lost ones, segments times round trip.
    pub delivered: f64,
    pub lost: f64,
    pub lost_on_wire: f64,
    pub round_trips: f64,
}

impl Class {
    pub fn new(
        asked: &FlowClass,
        question: &FluidQuestion,
        most: f64,
    ) -> Result<Self, PredictError> {
        let path = &question.path;
        let congestion = asked.congestion.as_ref().unwrap_or(&path.hosts.congestion);
        let control = match congestion.as_str() {
            "reno" | "sack" | "newreno" => Control::Reno,
            "cubic" => Control::Cubic,
            other => {
                return Err(PredictError::FluidCongestion {
                    name: other.to_owned(),
                });
            }
        };
        let buffers = path.hosts.forward();
        let window = asked.window.unwrap_or(buffers.send.min(buffers.receive));
        let rtt = rtt_of(asked, path);
        let most = most.max(SAMPLE_MIN) as u64;
        let sample = asked.flows.min(SAMPLE_MAX).min(most).max(1);
        let limit = whole_segments(path, window).as_f64() / segment(path).as_f64();
        Ok(Class {
            congestion: congestion.clone(),
            control,
            weight: asked.flows as f64 / sample as f64,
            sample: vec![Flow::new(asked.start.as_secs_f64(), limit); sample as usize],
            rtt,
            limit,
            loss: 1.0 - (1.0 - path.forward.loss.mean_rate()) * (1.0 - asked.loss),
            stop: asked.stop.map_or(f64::INFINITY, Span::as_secs_f64),
            delivered: 0.0,
            lost: 0.0,
            lost_on_wire: 0.0,
            round_trips: 0.0,
            asked: asked.clone(),
        })
    }

    pub fn fill(&mut self, random: &mut Pcg64) {
        let (start, limit) = (self.asked.start.as_secs_f64() + self.rtt, self.limit);
        for flow in &mut self.sample {
            *flow = Flow::new(start + START_WITHIN * unit(random), limit);
        }
    }

    /// Packets on the way, of all its flows.
    pub fn on_way(&self, wait: f64) -> f64 {
        let round_trip = self.rtt + wait;
        let each = self.sample.iter().map(|flow| flow.moving(round_trip));
        each.sum::<f64>() * self.weight
    }

    /// Segments by which all its windows grew in the last step.
    pub fn grown(&self) -> f64 {
        self.sample.iter().map(|flow| flow.grown).sum::<f64>() * self.weight
    }

    pub fn seen(&self, now: f64, step: f64, wait: f64, half_full: bool) -> Seen {
        Seen {
            now,
            step,
            empty: self.rtt,
            wait,
            limit: self.limit,
            half_full,
        }
    }

    pub fn advance(&mut self, seen: &Seen, counts: bool, random: &mut Pcg64) {
        if seen.now >= self.stop {
            self.sample.clear();
            return;
        }
        let (mut delivered, mut lost) = (0.0, 0.0);
        for flow in &mut self.sample {
            let acknowledged = flow.advance(self.control, seen);
            delivered += acknowledged;
            if self.loss > 0.0 && unit(random) < acknowledged * self.loss {
                flow.lose(seen);
                lost += 1.0;
            }
        }
        delivered -= lost;
        if counts {
            self.delivered += delivered * self.weight;
            self.lost += lost * self.weight;
            self.lost_on_wire += lost * self.weight;
            self.round_trips += delivered * self.weight * (seen.empty + seen.wait);
        }
    }
}

/// Round trip of the empty path, in seconds.
pub(super) fn rtt_of(class: &FlowClass, path: &PathSpec) -> f64 {
    class.rtt.unwrap_or_else(|| path.base_rtt()).as_secs_f64()
}

/// Uniform from 0 to 1.
pub(super) fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
