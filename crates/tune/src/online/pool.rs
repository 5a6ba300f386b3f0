//! Intervals pooled since the number of streams last changed.

use units::{Bytes, Rate, Span};

use super::Interval;

/// What the intervals since some moment showed together.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    pub length: Span,
    arrived: Bytes,
    sent: Bytes,
    retransmitted: Bytes,
    /// Round trips weighted with the time for which they were read: seconds times seconds, and seconds.
    rtt: (f64, f64),
    segment: Option<Bytes>,
    busy: Span,
    receive_window_limited: Span,
    send_buffer_limited: Span,
    /// Rates of blocks of intervals, in bits per second; the last one may be short.
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Block {
    length: Span,
    arrived: Bytes,
}

/// Fewer blocks say nothing of how much they differ by chance.
const BLOCKS_MIN: usize = 4;

impl Pool {
    /// Adds an interval; blocks are at least `block` long, so that the bursts of one round trip even out.
    pub fn add(&mut self, interval: &Interval, block: Span) {
        let streams = &interval.streams;
        self.length += interval.length;
        self.arrived += streams.arrived;
        self.sent += streams.sent.unwrap_or(Bytes::ZERO);
        self.retransmitted += streams.retransmitted.unwrap_or(Bytes::ZERO);
        self.segment = self.segment.or(streams.segment);
        if let Some(rtt) = streams.rtt {
            let weight = interval.length.as_secs_f64();
            self.rtt.0 += rtt.as_secs_f64() * weight;
            self.rtt.1 += weight;
        }
        self.busy += streams.busy.unwrap_or(Span::ZERO);
        self.receive_window_limited += streams.receive_window_limited.unwrap_or(Span::ZERO);
        self.send_buffer_limited += streams.send_buffer_limited.unwrap_or(Span::ZERO);
        self.add_to_block(interval, block);
    }

    fn add_to_block(&mut self, interval: &Interval, block: Span) {
        if self.blocks.last().is_none_or(|last| last.length >= block) {
            self.blocks.push(Block::default());
        }
        if let Some(last) = self.blocks.last_mut() {
            last.length += interval.length;
            last.arrived += interval.streams.arrived;
        }
    }

    pub fn rate(&self) -> Rate {
        Rate::of(self.arrived, self.length)
    }

    /// Standard error of the rate as a share of it; `None` where there is too little to tell.
    pub fn error(&self) -> Option<f64> {
        let whole = self.blocks.len().checked_sub(1)?;
        let rates: Vec<f64> = self.blocks.iter().take(whole).map(Block::rate).collect();
        let mean = stats::mean(&rates).filter(|mean| *mean > 0.0)?;
        let count = rates.len() as f64;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        let enough = rates.len() >= BLOCKS_MIN;
        enough.then(|| (squares / (count - 1.0) / count).sqrt() / mean)
    }

    pub fn rtt(&self) -> Option<Span> {
        (self.rtt.1 > 0.0).then(|| Span::from_secs_f64(self.rtt.0 / self.rtt.1))
    }

    pub fn segment(&self) -> Option<Bytes> {
        self.segment
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

impl Block {
    fn rate(&self) -> f64 {
        Rate::of(self.arrived, self.length).as_f64()
    }
}
