//! What a path carries at a setting, in closed form.

use observe::{HostLimits, Setting, Transport, Window};
use units::Bytes;

use super::MSS;

/// A path and the two hosts at its ends.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    /// Bits per second of payload.
    pub capacity: f64,
    /// Seconds, empty.
    pub rtt: f64,
    /// Bytes that wait before the link at the most.
    pub queue: f64,
    /// Loss events per packet that no queue causes.
    pub loss: f64,
    /// Packets lost because bursts overflow a queue; pacing avoids it.
    pub bursts: f64,
    /// Packets lost for each further stream that grows by itself: they overflow the queue together.
    pub together: f64,
    /// Share of the window that is kept at a loss: 0.5 for Reno, 0.7 for CUBIC.
    pub kept: f64,
    /// The hosts' buffers.
    pub limits: HostLimits,
    /// Noise of the rate, from run to run and from interval to interval.
    pub noise: f64,
}

/// What one setting gives.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Bits per second of all streams.
    pub rate: f64,
    /// Seconds, with queueing.
    pub rtt: f64,
    /// Share of packets lost.
    pub lost: f64,
    /// Bytes in flight of one stream.
    pub window: f64,
    /// Whether the receiver's buffer bounds the window.
    pub by_receive_buffer: bool,
    /// Whether the sender's does.
    pub by_send_buffer: bool,
}

impl Path {
    /// Buffers that never bind.
    pub const AMPLE: HostLimits = HostLimits {
        send_fixed_max: Bytes::from_mib(256),
        receive_fixed_max: Bytes::from_mib(256),
        send_auto_max: Bytes::from_mib(256),
        receive_auto_max: Bytes::from_mib(256),
    };

    /// The bandwidth-delay product in bytes.
    pub fn product(&self) -> f64 {
        self.capacity / 8.0 * self.rtt
    }

    /// Goodput, delay and losses of a setting.
    ///
    /// Streams hold `n min(buffer, W(p))` bytes in flight. What exceeds the bandwidth-delay product
    /// waits in the queue; what exceeds that too is dropped, and the window of all streams swings
    /// between the sum of both and what one halved stream leaves of it (Altman et al. 2006).
    /// Streams of bbr and over UDP share the product, whatever is lost.
    pub fn flow(&self, setting: &Setting) -> Flow {
        let n = f64::from(setting.streams.get());
        let (send, receive) = self.buffers(setting.window);
        let keeps_rate =
            setting.congestion.as_deref() == Some("bbr") || setting.transport == Transport::Udp;
        let bursts = match setting.pacing.is_some() || keeps_rate {
            true => 0.0,
            false => self.bursts,
        };
        let together = match setting.window {
            Window::Auto => self.together * (n - 1.0),
            Window::Fixed(_) => 0.0,
        };
        let lost = self.loss + bursts + together;
        let growth = match keeps_rate {
            true => self.product() / n,
            false => MSS * self.window_by_loss(lost),
        };
        let each = send.min(receive).min(growth);
        let most = self.product() + self.queue;
        let buffer_binds = send.min(receive) < growth && n * each <= most;
        let in_flight = (n * each).min(most);
        let mut flow = match n * each > most {
            true => self.overflowing(n, most, lost),
            false => self.within(in_flight, lost),
        };
        flow.window = in_flight / n;
        flow.by_receive_buffer = buffer_binds && receive <= send;
        flow.by_send_buffer = buffer_binds && send < receive;
        flow.paced(setting.pacing.map(|pace| n * pace.as_f64()), self)
    }

    fn within(&self, in_flight: f64, lost: f64) -> Flow {
        let queued = (in_flight - self.product()).max(0.0);
        let rate = self.capacity.min(in_flight * 8.0 / self.rtt);
        self.at(rate, queued, lost)
    }

    fn overflowing(&self, n: f64, most: f64, lost: f64) -> Flow {
        let least = most * (1.0 - (1.0 - self.kept) / n);
        let product = self.product();
        let steps = 50;
        let window = |i: i32| least + (most - least) * f64::from(i) / f64::from(steps);
        let mean = |of: &dyn Fn(f64) -> f64| {
            (0..=steps).map(|i| of(window(i))).sum::<f64>() / f64::from(steps + 1)
        };
        let utilisation = mean(&|window| (window / product).min(1.0));
        let queued = mean(&|window| (window - product).max(0.0));
        let overflow = 1.5 * (n * MSS / most).powi(2);
        self.at(
            self.capacity * utilisation,
            queued,
            (lost + overflow).min(0.3),
        )
    }

    fn at(&self, rate: f64, queued: f64, lost: f64) -> Flow {
        Flow {
            rate: rate * (1.0 - lost),
            rtt: self.rtt + queued * 8.0 / self.capacity,
            lost,
            window: 0.0,
            by_receive_buffer: false,
            by_send_buffer: false,
        }
    }

    /// Mathis et al. for Reno; RFC 9438 section 5.1 for CUBIC, never below Reno.
    fn window_by_loss(&self, lost: f64) -> f64 {
        if lost <= 0.0 {
            return f64::INFINITY;
        }
        let reno = (1.5 / lost).sqrt();
        let cubic = 1.0538 * (self.rtt / lost).powf(0.75);
        if self.kept > 0.6 {
            reno.max(cubic)
        } else {
            reno
        }
    }

    fn buffers(&self, window: Window) -> (f64, f64) {
        let limits = &self.limits;
        match window {
            Window::Auto => (
                limits.send_auto_max.as_f64() / 2.0,
                limits.receive_auto_max.as_f64() / 2.0,
            ),
            Window::Fixed(asked) => (
                asked.min(limits.send_fixed_max).as_f64(),
                asked.min(limits.receive_fixed_max).as_f64(),
            ),
        }
    }
}

impl Flow {
    /// Paced streams never burst: a queue that overflowed before does not.
    fn paced(self, pace: Option<f64>, path: &Path) -> Flow {
        match pace {
            Some(pace) => Flow {
                lost: path.loss,
                rate: self.rate.min(pace),
                rtt: path.rtt,
                ..self
            },
            None => self,
        }
    }
}
