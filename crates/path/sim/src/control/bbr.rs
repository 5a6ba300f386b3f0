//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with the numbers of Linux where
//! the draft leaves one.
//!
//! Left out: the long-term model of policers and the allowance for aggregated acknowledgements,
//! which are in Linux and not in the draft, and the restart from idle (section 4.3.4.4), which a
//! transfer that always has data does not meet. On a policed path the loss is therefore higher than
//! Linux's; on a wireless one the rate is lower.
//!
//! Reading order: [`Bbr::on_ack`], then the functions that it calls; `model.rs` for what is known
//! of the path, `delivery.rs` for how the rate is measured.

mod delivery;
mod filter;
mod model;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Rate, Span, Time};

use super::{Acked, Facts, Window};
use crate::pacer;
use model::Model;

/// Section 4.3.2: `2 / ln 2`, the smallest gain that doubles the rate each round trip.
const HIGH_GAIN: f64 = 2.885;
/// Section 4.2.3: the window is this many products of rate and delay, for acknowledgements that
/// come late or together.
const WINDOW_GAIN: f64 = 2.0;
/// Section 4.3.4: how the rate is varied, a round trip each.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Section 4.2.3: the smallest window.
const WINDOW_MIN: f64 = 4.0;
/// Section 4.3.5: how long the delay is measured with the smallest window.
const PROBE_RTT_TIME: Span = Span::from_millis(200);
/// Linux paces a little slower than the path, so that a queue that stands goes away.
const PACING_MARGIN: f64 = 0.99;

/// Sends at the rate at which the path delivers, with a window of about twice what the path holds.
#[derive(Debug, Clone)]
pub(crate) struct Bbr {
    facts: Facts,
    model: Model,
    stage: Stage,
    /// How fast segments may leave; `None` before the connection stands.
    pacing: Option<Rate>,
    repair: Repair,
    /// The window to come back to after a repair or a measurement of the delay.
    prior_window: f64,
    random: Pcg64,
}

/// Section 4.3.1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// The rate doubles until the path is full.
    Startup,
    /// The queue that this made is emptied.
    Drain,
    /// The rate is varied around that of the path.
    ProbeBandwidth { phase: usize, since: Time },
    /// Next to nothing is on the way, so that the delay can be measured. The time and the round in
    /// which it ends are known once little is on the way.
    ProbeRoundTrip { until: Option<(Time, u32)> },
}

/// Section 4.2.4: what losses do to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repair {
    /// Nothing is being repaired.
    None,
    /// A loss was found; the acknowledgement that told it is still to be taken in.
    Begins,
    /// The first round trip: for each segment that arrives one may leave.
    Conserves { round: u32 },
    /// Later, or after a timeout.
    Grows,
}

impl Bbr {
    pub(crate) fn new(facts: &Facts) -> Self {
        Bbr {
            facts: *facts,
            model: Model::new(),
            stage: Stage::Startup,
            pacing: None,
            repair: Repair::None,
            prior_window: 0.0,
            random: Pcg64::seed_from_u64(facts.seed),
        }
    }

    pub(crate) fn pacing(&self) -> Option<Rate> {
        self.pacing
    }

    /// Section 4.2.1: the first rate is the window once a round trip, times the high gain.
    pub(crate) fn on_connected(&mut self, window: &Window, round_trip: Span, now: Time) {
        self.model.on_connected(round_trip, now);
        let rate = window.size / round_trip.as_secs_f64().max(1e-3);
        self.pacing = Some(self.rate_of(HIGH_GAIN * rate));
    }

    pub(crate) fn on_sent(&mut self, number: u32, una: u32, first: bool, now: Time) {
        self.model.delivery.on_sent(number, una, first, now);
    }

    pub(crate) fn on_delivered(&mut self, number: u32, now: Time) {
        self.model.delivery.on_delivered(number, now);
    }

    /// Section 4.1: first the model, then what follows from it.
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        self.model.on_ack(acked);
        self.vary_rate(acked);
        self.leave_startup_or_drain(acked);
        self.probe_round_trip(window, acked);
        self.set_pacing();
        self.set_window(window, acked);
    }

    /// Sections 4.2.4 and 4.3.5: the window to come back to.
    pub(crate) fn on_congestion(&mut self, window: &Window) {
        self.save_window(window);
        if self.repair == Repair::None {
            self.repair = Repair::Begins;
        }
    }

    /// Section 4.2.4: one segment, and what the model says as soon as it arrives. The path may have
    /// changed, so that it has to be found full anew.
    pub(crate) fn on_timeout(&mut self, window: &mut Window) {
        self.save_window(window);
        self.repair = Repair::Grows;
        self.model.on_timeout();
        window.size = 1.0;
    }

    fn save_window(&mut self, window: &Window) {
        let undisturbed =
            self.repair == Repair::None && !matches!(self.stage, Stage::ProbeRoundTrip { .. });
        self.prior_window = match undisturbed {
            true => window.size,
            false => self.prior_window.max(window.size),
        };
    }

    /// Section 4.3.4.3: on to the next phase of the cycle.
    fn vary_rate(&mut self, acked: &Acked) {
        let Stage::ProbeBandwidth { phase, since } = self.stage else {
            return;
        };
        let inflight = f64::from(acked.pipe + acked.delivered);
        let long_enough = acked.now.since(since) > self.model.round_trip_min();
        let over = match CYCLE[phase] {
            gain if gain > 1.0 => {
                long_enough && (acked.lost > 0 || inflight >= self.inflight(gain))
            }
            gain if gain < 1.0 => long_enough || inflight <= self.inflight(1.0),
            _ => long_enough,
        };
        if over {
            self.stage = Stage::ProbeBandwidth {
                phase: (phase + 1) % CYCLE.len(),
                since: acked.now,
            };
        }
    }

    /// Sections 4.3.2 and 4.3.3.
    fn leave_startup_or_drain(&mut self, acked: &Acked) {
        if self.stage == Stage::Startup && self.model.is_full() {
            self.stage = Stage::Drain;
        }
        if self.stage == Stage::Drain && f64::from(acked.pipe) <= self.inflight(1.0) {
            self.enter_probe_bandwidth(acked.now);
        }
    }

    /// Section 4.3.4.2: at any phase but that of the low rate, so that flows do not move in step.
    fn enter_probe_bandwidth(&mut self, now: Time) {
        let drawn = (self.random.next_u64() % (CYCLE.len() as u64 - 1)) as usize;
        let phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.stage = Stage::ProbeBandwidth { phase, since: now };
    }

    /// Section 4.3.5: when nothing as short as the shortest round trip was seen for ten seconds.
    fn probe_round_trip(&mut self, window: &mut Window, acked: &Acked) {
        let expired = self.model.note_round_trip(acked);
        let Stage::ProbeRoundTrip { until } = self.stage else {
            if expired {
                self.save_window(window);
                self.stage = Stage::ProbeRoundTrip { until: None };
            }
            return;
        };
        self.model.delivery.hold_back(acked.pipe);
        match until {
            None if f64::from(acked.pipe) <= WINDOW_MIN => {
                let next = self.model.begin_round();
                self.stage = Stage::ProbeRoundTrip {
                    until: Some((acked.now + PROBE_RTT_TIME, next)),
                };
            }
            Some((end, round)) if acked.now > end && self.model.rounds() >= round => {
                self.model.round_trip_is_fresh(acked.now);
                window.size = window.size.max(self.prior_window);
                match self.model.is_full() {
                    true => self.enter_probe_bandwidth(acked.now),
                    false => self.stage = Stage::Startup,
                }
            }
            _ => {}
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.stage {
            Stage::Startup => HIGH_GAIN,
            Stage::Drain => 1.0 / HIGH_GAIN,
            Stage::ProbeBandwidth { phase, .. } => CYCLE[phase],
            Stage::ProbeRoundTrip { .. } => 1.0,
        }
    }

    /// Section 4.2.1: before the path was found full, the rate only grows.
    fn set_pacing(&mut self) {
        let bandwidth = self.model.bandwidth();
        if bandwidth == 0.0 {
            return;
        }
        let rate = self.rate_of(self.pacing_gain() * bandwidth);
        if self.model.is_full() || self.pacing.is_none_or(|pacing| rate > pacing) {
            self.pacing = Some(rate);
        }
    }

    fn rate_of(&self, segments_per_second: f64) -> Rate {
        let bits = segments_per_second * self.facts.segment.as_f64() * 8.0;
        Rate::from_f64(bits * PACING_MARGIN)
    }

    /// Section 4.2.3.
    fn set_window(&mut self, window: &mut Window, acked: &Acked) {
        let delivered = f64::from(acked.delivered);
        if !self.repair(window, acked) {
            let target = self.window_target();
            let first_window = f64::from(self.facts.initial_window);
            if self.model.is_full() {
                window.size = (window.size + delivered).min(target);
            } else if window.size < target || self.model.delivered() < first_window {
                window.size += delivered;
            }
            window.size = window.size.max(WINDOW_MIN);
        }
        if matches!(self.stage, Stage::ProbeRoundTrip { .. }) {
            window.size = window.size.min(WINDOW_MIN);
        }
    }

    fn window_target(&self) -> f64 {
        match self.stage {
            Stage::Startup | Stage::Drain => self.inflight(HIGH_GAIN),
            Stage::ProbeBandwidth { .. } => self.inflight(WINDOW_GAIN),
            Stage::ProbeRoundTrip { .. } => self.inflight(1.0),
        }
    }

    /// Section 4.2.4: whether the window is one for repairs.
    fn repair(&mut self, window: &mut Window, acked: &Acked) -> bool {
        window.size = (window.size - f64::from(acked.lost)).max(1.0);
        let arrived = f64::from(acked.pipe + acked.delivered);
        let repairing = acked.in_recovery || acked.after_timeout;
        self.repair = match self.repair {
            Repair::None => Repair::None,
            Repair::Begins if acked.in_recovery => {
                window.size = arrived;
                Repair::Conserves {
                    round: self.model.begin_round(),
                }
            }
            _ if !repairing => {
                window.size = window.size.max(self.prior_window);
                Repair::None
            }
            Repair::Conserves { round } if self.model.rounds() >= round => Repair::Grows,
            other => other,
        };
        let conserves = matches!(self.repair, Repair::Conserves { .. });
        if conserves {
            window.size = window.size.max(arrived);
        }
        conserves
    }

    /// Section 4.2.3: `gain` times what the path holds, and room for three bursts on their way
    /// through the hosts.
    fn inflight(&self, gain: f64) -> f64 {
        let Some(product) = self.model.product() else {
            return f64::from(self.facts.initial_window);
        };
        let burst = self.pacing.map_or(0.0, |rate| {
            (pacer::burst(rate, self.facts.segment).as_f64() / self.facts.segment.as_f64()).floor()
        });
        gain * product + 3.0 * burst
    }
}

#[cfg(test)]
mod tests;
