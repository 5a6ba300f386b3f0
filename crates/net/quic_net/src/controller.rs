//! The path model as quinn-proto asks it, and what other threads read of it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use rate_control::PathModel;
use units::{Bytes, Rate, Time};

/// What the controller knows, for the thread that paces and for those that display.
#[derive(Debug, Default)]
pub(crate) struct PathState {
    /// Bits per second.
    pacing: AtomicU64,
    quantum: AtomicU64,
    pub window: AtomicU64,
    pub in_flight: AtomicU64,
    pub delivered: AtomicU64,
    pub lost: AtomicU64,
    /// Bytes acknowledged together with news of further marks.
    pub mark_echoed: AtomicU64,
    pub bandwidth: AtomicU64,
    /// There was nothing left to send at the last acknowledgement.
    pub app_limited: AtomicU64,
    /// The user's bound in bits per second; zero is none.
    rate_max: AtomicU64,
}

impl PathState {
    /// How fast packets are to leave.
    pub fn pacing_rate(&self) -> Rate {
        let model = self.pacing.load(Ordering::Relaxed);
        match self.rate_max.load(Ordering::Relaxed) {
            0 => Rate::from_bits_per_second(model),
            most => Rate::from_bits_per_second(model.min(most)),
        }
    }

    /// What may leave at once.
    pub fn quantum(&self) -> Bytes {
        Bytes::new(self.quantum.load(Ordering::Relaxed))
    }

    /// Packets leave no faster from now on.
    pub fn set_rate_max(&self, rate: Option<Rate>) {
        let bits = rate.map_or(0, |rate| rate.bits_per_second().max(1));
        self.rate_max.store(bits, Ordering::Relaxed);
    }

    fn publish(&self, model: &PathModel) {
        let bits = model.pacing_rate().bits_per_second();
        self.pacing.store(bits, Ordering::Relaxed);
        self.quantum.store(model.quantum().get(), Ordering::Relaxed);
        self.window.store(model.window().get(), Ordering::Relaxed);
        let delivered = model.delivered().get();
        self.delivered.store(delivered, Ordering::Relaxed);
        let bits = model.bandwidth().bits_per_second();
        self.bandwidth.store(bits, Ordering::Relaxed);
    }
}

/// Makes the controller of one connection.
pub(crate) struct Factory(pub Arc<PathState>);

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let model = PathModel::new(Time::ZERO, Bytes::new(current_mtu.into()));
        self.0.publish(&model);
        Box::new(ModelController {
            window_first: model.window().get(),
            model,
            acking: 0,
            acked: 0,
            began: now,
            state: Arc::clone(&self.0),
        })
    }
}

#[derive(Clone)]
struct ModelController {
    model: PathModel,
    /// Bytes of the acknowledgement that is being told, and of the last one.
    acking: u64,
    acked: u64,
    began: Instant,
    window_first: u64,
    state: Arc<PathState>,
}

impl ModelController {
    fn time(&self, at: Instant) -> Time {
        Time::ZERO + at.saturating_duration_since(self.began).into()
    }
}

impl Controller for ModelController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.model.on_sent(self.time(now), Bytes::new(bytes));
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        let (now, sent) = (self.time(now), self.time(sent));
        self.model.on_acked(now, sent, Bytes::new(bytes));
        self.acking = self.acking.saturating_add(bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.acked = std::mem::take(&mut self.acking);
        let now = self.time(now);
        self.model
            .on_acks_end(now, Bytes::new(in_flight), app_limited);
        let state = &self.state;
        state.in_flight.store(in_flight, Ordering::Relaxed);
        let app_limited = u64::from(app_limited);
        state.app_limited.store(app_limited, Ordering::Relaxed);
        state.publish(&self.model);
    }

    /// Without lost bytes it tells of marks, right after the acknowledgement that counts them.
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        _is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let state = &self.state;
        match lost_bytes {
            0 => {
                let (now, sent) = (self.time(now), self.time(sent));
                self.model.on_marked(now, sent);
                state.mark_echoed.fetch_add(self.acked, Ordering::Relaxed);
            }
            lost => {
                self.model.on_lost(Bytes::new(lost));
                state.lost.fetch_add(lost, Ordering::Relaxed);
            }
        }
        state.publish(&self.model);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.model.set_segment(Bytes::new(new_mtu.into()));
    }

    fn window(&self) -> u64 {
        self.model.window().get()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window_first
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
