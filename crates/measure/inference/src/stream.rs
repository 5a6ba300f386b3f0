//! One stream's window, from round trip to round trip.

use crate::draw::Draw;
use crate::rounds::Control;

/// RFC 9438 sections 5 and 4.6: how steep the cubic is, and what is kept at a loss.
const STEEPNESS: f64 = 0.4;
const KEPT: f64 = 0.7;
/// RFC 9438 section 4.3.
const RENO_GROWTH: f64 = 3.0 * (1.0 - KEPT) / (1.0 + KEPT);
/// RFC 6928.
const INITIAL: f64 = 10.0;
const WINDOW_MIN: f64 = 2.0;
/// The least timeout beyond a round trip, seconds: Linux's.
const TIMEOUT: f64 = 0.2;

/// A stream that sends without end, or several that send alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    control: Control,
    /// Streams that it stands for.
    pub weight: f64,
    /// Segments that it may have on the way, and that it has.
    pub window: f64,
    pub on_way: f64,
    threshold: f64,
    /// Of CUBIC: the window at the last loss, when that was, and the climb back.
    max: f64,
    epoch: f64,
    climb: f64,
    origin: f64,
    reno: f64,
    /// Nothing is sent before this time.
    pub idle_until: f64,
    /// Losses that it has not heard of.
    pub struck: Option<Struck>,
    /// Losses that may be expected until it is struck.
    spared: f64,
    /// When it began to send.
    began: f64,
}

/// Losses of a stream, which goes on as before until it hears of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Struck {
    /// When they happened.
    pub since: f64,
    /// When it hears of them.
    pub heard: f64,
    /// The share of that round's segments that arrived.
    pub kept: f64,
    /// How many streams they strike.
    pub strikes: f64,
    /// Whether only a timeout tells of them.
    pub silences: bool,
}

impl Stream {
    pub fn new(control: Control, weight: f64, began: f64) -> Self {
        Stream {
            control,
            weight,
            window: INITIAL,
            on_way: 0.0,
            threshold: f64::INFINITY,
            max: 0.0,
            epoch: f64::NAN,
            climb: 0.0,
            origin: 0.0,
            reno: 0.0,
            idle_until: f64::NEG_INFINITY,
            struck: None,
            spared: f64::NAN,
            began,
        }
    }

    /// Sends what its window and `bound` allow, in segments.
    pub fn send(&mut self, now: f64, bound: f64) {
        self.on_way = match self.idle_until > now {
            true => 0.0,
            false => self.window.min(bound),
        };
    }

    /// Segments on the way of all that it stands for.
    pub fn sent(&self) -> f64 {
        self.weight * self.on_way
    }

    /// Whether its window doubles with each round trip.
    pub fn is_starting(&self) -> bool {
        self.window < self.threshold
    }

    /// Whether it sends at the rate that arrives, whatever is lost.
    pub fn goes_by_rate(&self) -> bool {
        self.control == Control::Rate
    }

    /// Whether its window grows slowly until something is lost.
    pub fn avoids_congestion(&self) -> bool {
        !self.goes_by_rate() && !self.is_starting()
    }

    /// How many of the streams that it stands for are struck by so many losses, on average.
    pub fn strikes(&mut self, expected: f64, draw: &mut Draw) -> f64 {
        if expected <= 0.0 {
            return 0.0;
        }
        if self.spared.is_nan() {
            self.spared = draw.exponential(1.0);
        }
        self.spared -= expected;
        let mut struck = 0.0;
        while self.spared <= 0.0 && struck < self.weight {
            struck += 1.0;
            self.spared += draw.exponential(1.0);
        }
        if self.spared <= 0.0 {
            self.spared = f64::NAN;
        }
        struck
    }

    /// The share of a round's acknowledgements that let it grow: of the round that was struck those
    /// of what arrived, after it none.
    pub fn hears(&self, now: f64) -> f64 {
        match self.struck {
            None => 1.0,
            Some(struck) if struck.since == now => struck.kept,
            Some(_) => 0.0,
        }
    }

    /// Whether it watches for the end of slow start.
    pub fn has_hystart(&self) -> bool {
        self.control == Control::Cubic
    }

    /// Ends slow start at a window.
    pub fn leave_start(&mut self, window: f64) {
        self.window = window;
        self.threshold = window;
    }

    /// Grows for `share` of a round trip of `rtt` seconds that ends at `now`.
    pub fn grow(&mut self, now: f64, rtt: f64, share: f64) {
        if self.is_starting() {
            let grown = self.window * share.min(1.0).exp2();
            self.window = grown.min(self.threshold.max(self.window));
            return;
        }
        match self.control {
            Control::Rate => {}
            Control::Reno => self.window += share,
            Control::Cubic => self.cubic(now, rtt, share),
        }
    }

    /// RFC 9438 sections 4.2 to 4.5.
    fn cubic(&mut self, now: f64, rtt: f64, share: f64) {
        if self.epoch.is_nan() {
            self.epoch = now;
            self.origin = self.max.max(self.window);
            self.climb = ((self.origin - self.window) / STEEPNESS).powf(1.0 / 3.0);
            self.reno = self.window;
        }
        let slope = if self.reno >= self.max {
            1.0
        } else {
            RENO_GROWTH
        };
        self.reno += slope * share;
        let from_flat = now - self.epoch + rtt - self.climb;
        let target = STEEPNESS * from_flat * from_flat * from_flat + self.origin;
        let bounded = target.clamp(self.window, 1.5 * self.window);
        let cubic = self.window + (bounded - self.window) * share.min(1.0);
        self.window = cubic.max(self.reno);
    }

    /// Gives way to losses that struck so many of the streams that it stands for.
    pub fn cut(&mut self, strikes: f64) {
        let window = self.window;
        let share = (strikes / self.weight).min(1.0);
        match self.control {
            Control::Rate => return,
            Control::Reno => self.window = window * (1.0 - share / 2.0),
            Control::Cubic => {
                // RFC 9438 section 4.7.
                self.max = match window < self.max {
                    true => window * (1.0 + KEPT) / 2.0,
                    false => window,
                };
                self.window = window * (1.0 - share * (1.0 - KEPT));
                self.epoch = f64::NAN;
            }
        }
        self.window = self.window.max(WINDOW_MIN);
        self.threshold = self.window;
    }

    /// Loses so much that nothing tells of it but a timeout.
    pub fn time_out(&mut self, now: f64, rtt: f64) {
        if self.goes_by_rate() {
            return;
        }
        self.cut(self.weight);
        self.threshold = self.window;
        self.window = 1.0;
        self.max = 0.0;
        // RFC 6298: a round trip is first taken to scatter by its half, then by a quarter less with
        // each.
        let scatters = 2.0 * rtt * 0.75_f64.powf((now - self.began) / rtt);
        self.idle_until = now + rtt + scatters.max(TIMEOUT);
    }
}
