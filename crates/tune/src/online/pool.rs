//! Intervals pooled since the number of streams last changed.

use units::{Bytes, Rate, Span};

use super::Interval;

/// What the intervals since some moment showed together.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    pub length: Span,
    pub arrived: Bytes,
    sent: Bytes,
    retransmitted: Bytes,
    /// Round trips weighted with the time for which they were read: seconds times seconds, and seconds.
    rtt: (f64, f64),
    busy: Span,
    receive_window_limited: Span,
    send_buffer_limited: Span,
    /// Rates of the intervals, in bits per second, each with its length.
    rates: Vec<(f64, f64)>,
}

impl Pool {
    pub fn add(&mut self, interval: &Interval) {
        let streams = &interval.streams;
        self.length += interval.length;
        self.arrived += streams.arrived;
        self.sent += streams.sent.unwrap_or(Bytes::ZERO);
        self.retransmitted += streams.retransmitted.unwrap_or(Bytes::ZERO);
        if let Some(rtt) = streams.rtt {
            let weight = interval.length.as_secs_f64();
            self.rtt.0 += rtt.as_secs_f64() * weight;
            self.rtt.1 += weight;
        }
        self.busy += streams.busy.unwrap_or(Span::ZERO);
        self.receive_window_limited += streams.receive_window_limited.unwrap_or(Span::ZERO);
        self.send_buffer_limited += streams.send_buffer_limited.unwrap_or(Span::ZERO);
        let rate = Rate::of(streams.arrived, interval.length).as_f64();
        self.rates.push((rate, interval.length.as_secs_f64()));
    }

    pub fn rate(&self) -> Rate {
        Rate::of(self.arrived, self.length)
    }

    pub fn rtt(&self) -> Option<Span> {
        (self.rtt.1 > 0.0).then(|| Span::from_secs_f64(self.rtt.0 / self.rtt.1))
    }

    pub fn retransmitted_share(&self) -> Option<f64> {
        (self.sent > Bytes::ZERO).then(|| self.retransmitted.as_f64() / self.sent.as_f64())
    }

    pub fn receive_window_share(&self) -> Option<f64> {
        self.of_busy(self.receive_window_limited)
    }

    pub fn send_buffer_share(&self) -> Option<f64> {
        self.of_busy(self.send_buffer_limited)
    }

    fn of_busy(&self, part: Span) -> Option<f64> {
        (self.busy > Span::ZERO).then(|| part.as_secs_f64() / self.busy.as_secs_f64())
    }
}
