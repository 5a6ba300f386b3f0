//! One flow that stands for many like it: its window, what it has on the way, and its losses.

use libm::cbrt;

/// RFC 9438 sections 5, 4.6 and 4.3.
const STEEPNESS: f64 = 0.4;
const KEPT: f64 = 0.7;
const RENO_GROWTH: f64 = 3.0 * (1.0 - KEPT) / (1.0 + KEPT);
/// RFC 5681 section 3.1.
const WINDOW_MIN: f64 = 2.0;
const INITIAL_WINDOW: f64 = 10.0;
/// Segments above a hole that tell of a loss (RFC 6675).
const DUPLICATES: f64 = 3.0;
/// Linux's least timeout above the round trip, and the longest.
const TIMEOUT_MARGIN: f64 = 0.2;
const TIMEOUT_MAX: f64 = 60.0;
/// How long an acknowledgement waits for a second segment, and how many wait for one in the mean.
const DELAYED_ACK: f64 = 0.04;
const HELD_BACK: f64 = 0.5;
/// HyStart, as Linux has it: the least window, the longest gap in a train, the growth of the round
/// trip.
const HYSTART_WINDOW: f64 = 16.0;
const TRAIN_GAP: f64 = 0.002;
const DELAY: (f64, f64) = (0.004, 0.016);

/// How a window grows and shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Reno,
    Cubic,
}

/// What a flow sees of its path during one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Seconds since the run began, and of this step.
    pub now: f64,
    pub step: f64,
    /// Round trip of the empty path and wait in the queue, in seconds.
    pub empty: f64,
    pub wait: f64,
    /// The most segments outstanding.
    pub limit: f64,
    /// Everything on the way would keep the link busy for half the round trip.
    pub half_full: bool,
}

impl Seen {
    fn round_trip(&self) -> f64 {
        self.empty + self.wait
    }
}

/// A flow. Windows are in segments, times in seconds since the run began.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    window: f64,
    threshold: f64,
    /// Segments on the way, and those lost of which the sender does not know yet.
    pub in_flight: f64,
    holes: f64,
    /// Segments by which the window grew in the last step.
    pub grown: f64,
    /// When the first of those becomes known; when all that was lost then is repaired.
    known_at: f64,
    repaired_at: f64,
    /// Until when it waits for a retransmission timer.
    silent_until: f64,
    backoff: i32,
    cubic: Cubic,
}

#[derive(Debug, Clone, Default)]
struct Cubic {
    max: f64,
    prior: f64,
    epoch: Option<Epoch>,
}

#[derive(Debug, Clone)]
struct Epoch {
    start: f64,
    origin: f64,
    climb: f64,
    reno: f64,
}

impl Flow {
    /// One whose first window leaves at `start`.
    pub fn new(start: f64, limit: f64) -> Self {
        Flow {
            window: INITIAL_WINDOW.min(limit),
            threshold: f64::INFINITY,
            in_flight: 0.0,
            holes: 0.0,
            grown: 0.0,
            known_at: f64::INFINITY,
            repaired_at: 0.0,
            silent_until: start,
            backoff: 0,
            cubic: Cubic::default(),
        }
    }

    /// Segments on the way that do not wait at the receiver for a second one to acknowledge.
    pub fn moving(&self, round_trip: f64) -> f64 {
        let alone = self.in_flight * round_trip / (round_trip + DELAYED_ACK);
        alone.max(self.in_flight - HELD_BACK)
    }

    /// A segment that was just sent is lost.
    pub fn lose(&mut self, seen: &Seen) {
        self.holes += 1.0;
        self.in_flight = (self.in_flight - 1.0).max(0.0);
        let rate = self.in_flight / seen.round_trip();
        let patience = self.patience(seen);
        if self.in_flight < 1.0 || DUPLICATES / rate > patience {
            self.known_at = f64::INFINITY;
            self.time_out(seen, patience);
        } else if self.known_at == f64::INFINITY {
            let known = seen.now + seen.round_trip() + DUPLICATES / rate;
            self.known_at = known.max(self.repaired_at);
        }
    }

    fn patience(&self, seen: &Seen) -> f64 {
        let once = seen.round_trip() + TIMEOUT_MARGIN;
        (once * f64::from(1u32 << self.backoff)).min(TIMEOUT_MAX)
    }

    /// Nothing comes back any more until the timer goes off.
    fn time_out(&mut self, seen: &Seen, patience: f64) {
        self.silent_until = seen.now + patience;
        self.backoff = (self.backoff + 1).min(9);
        self.in_flight = 0.0;
        self.holes = 0.0;
    }

    /// One step; gives the segments that were acknowledged.
    pub fn advance(&mut self, control: Control, seen: &Seen) -> f64 {
        if seen.now < self.silent_until {
            return 0.0;
        }
        if self.in_flight == 0.0 {
            self.restart(control, seen);
            return 0.0;
        }
        let round_trip = seen.round_trip();
        let acknowledged = self.moving(round_trip) / round_trip * seen.step;
        let before = self.window;
        if seen.now >= self.known_at {
            self.reduce(control);
            self.known_at = f64::INFINITY;
            self.repaired_at = seen.now + seen.round_trip();
            self.holes = 0.0;
        } else if seen.now >= self.repaired_at {
            self.grow(control, acknowledged, seen);
        }
        if self.window >= 2.0 {
            self.backoff = 0;
        }
        let allowed = (self.window.min(seen.limit).floor() - self.holes).max(1.0);
        self.in_flight = match self.in_flight > allowed {
            true => (self.in_flight - acknowledged).max(allowed),
            false => allowed,
        };
        self.grown = (self.window - before).max(0.0);
        acknowledged
    }

    /// The first window, or the first segment after a timeout.
    fn restart(&mut self, control: Control, seen: &Seen) {
        if self.backoff > 0 {
            self.reduce(control);
            self.window = 1.0;
            self.cubic.max = 0.0;
        }
        self.in_flight = self.window.min(seen.limit).floor();
    }

    fn reduce(&mut self, control: Control) {
        let size = self.window;
        let kept = match control {
            Control::Reno => size / 2.0,
            Control::Cubic => {
                self.cubic.max = match size < self.cubic.max {
                    true => size * (1.0 + KEPT) / 2.0,
                    false => size,
                };
                self.cubic.prior = size;
                self.cubic.epoch = None;
                size * KEPT
            }
        };
        self.window = kept.max(WINDOW_MIN);
        self.threshold = self.window;
    }

    fn grow(&mut self, control: Control, acknowledged: f64, seen: &Seen) {
        let mut growth = acknowledged;
        if self.window < self.threshold {
            if control == Control::Cubic && self.leaves_slow_start(seen) {
                self.threshold = self.window;
            }
            let grown = (self.window + growth).min(self.threshold);
            growth -= grown - self.window;
            self.window = grown;
        }
        if growth > 0.0 {
            self.window = match control {
                Control::Reno => self.window + growth / self.window,
                Control::Cubic => self.cubic.grown(self.window, growth, seen),
            };
        }
        self.window = self.window.min(seen.limit);
    }

    fn leaves_slow_start(&self, seen: &Seen) -> bool {
        let delayed = seen.wait > (seen.empty / 8.0).clamp(DELAY.0, DELAY.1);
        let gap = 2.0 * seen.round_trip() / self.in_flight;
        self.window >= HYSTART_WINDOW && (delayed || seen.half_full && gap < TRAIN_GAP)
    }
}

impl Cubic {
    /// RFC 9438 sections 4.2 to 4.5: the window after `growth` segments were acknowledged.
    fn grown(&mut self, size: f64, growth: f64, seen: &Seen) -> f64 {
        let max = self.max;
        let epoch = self.epoch.get_or_insert_with(|| {
            let origin = max.max(size);
            Epoch {
                start: seen.now,
                origin,
                climb: cbrt((origin - size) / STEEPNESS),
                reno: size,
            }
        });
        let elapsed = seen.now - epoch.start;
        let at = |seconds: f64| STEEPNESS * (seconds - epoch.climb).powi(3) + epoch.origin;
        let alpha = if epoch.reno >= self.prior {
            1.0
        } else {
            RENO_GROWTH
        };
        epoch.reno += alpha * growth / size;
        if at(elapsed) < epoch.reno {
            return epoch.reno.max(size);
        }
        let target = at(elapsed + seen.round_trip()).clamp(size, 1.5 * size);
        size + (target - size) / size * growth
    }
}
