//! Intervals pooled since the number of streams last changed.

use observe::TcpSummary;
use units::{Bytes, Rate, Span};

use super::Interval;
use super::interval::mark_echoed_share;

/// What the intervals since some moment showed together.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    pub length: Span,
    arrived: Bytes,
    sent: Bytes,
    retransmitted: Bytes,
    mark_echoed: Option<u64>,
    /// Round trips of the intervals, in seconds.
    rtts: Vec<f64>,
    /// Means over time.
    rtt: Mean,
    congestion_window: Mean,
    outstanding: Mean,
    peer_window: Mean,
    without_data: Mean,
    segment: Option<Bytes>,
    rtt_min: Option<Span>,
    /// Length times streams.
    stream_time: Span,
    busy: Option<Span>,
    receive_window_limited: Option<Span>,
    send_buffer_limited: Option<Span>,
    /// Rates of blocks of intervals, in bits per second; the last one may be short.
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Block {
    length: Span,
    arrived: Bytes,
}

/// A mean over time of what is not always known.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>, length: Span) {
        if let Some(value) = value {
            self.sum += value * length.as_secs_f64();
            self.weight += length.as_secs_f64();
        }
    }

    fn value(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }

    fn bytes(&self) -> Option<Bytes> {
        self.value().map(|bytes| Bytes::new(bytes as u64))
    }
}

/// Fewer blocks give no standard error.
const BLOCKS_MIN: usize = 4;

/// Round trips that are kept, and which of them counts as low.
const RTTS_MAX: usize = 4096;
const LOW: f64 = 0.2;

impl Pool {
    /// Adds an interval; blocks last at least `block`, so that the bursts of one round trip even
    /// out.
    pub fn add(&mut self, interval: &Interval, block: Span) {
        let (streams, length) = (&interval.streams, interval.length);
        let each = |all: Option<Bytes>| Some(all?.as_f64() / f64::from(streams.count.max(1)));
        self.length += length;
        self.arrived += streams.arrived;
        self.sent += streams.sent.unwrap_or(Bytes::ZERO);
        self.retransmitted += streams.retransmitted.unwrap_or(Bytes::ZERO);
        if let Some(echoed) = streams.mark_echoed {
            self.mark_echoed = Some(self.mark_echoed.unwrap_or(0) + echoed);
        }
        self.rtt.add(streams.rtt.map(Span::as_secs_f64), length);
        self.keep(streams.rtt.map(Span::as_secs_f64));
        self.congestion_window
            .add(each(streams.congestion_window), length);
        self.outstanding.add(each(streams.outstanding), length);
        self.peer_window
            .add(streams.peer_window.map(Bytes::as_f64), length);
        let without = streams
            .without_data
            .map(|count| f64::from(count) / f64::from(streams.count.max(1)));
        self.without_data.add(without, length);
        self.segment = self.segment.or(streams.segment);
        self.rtt_min = [self.rtt_min, streams.rtt_min].into_iter().flatten().min();
        self.stream_time += length.times(streams.count.into());
        add(&mut self.busy, streams.busy);
        add(
            &mut self.receive_window_limited,
            streams.receive_window_limited,
        );
        add(&mut self.send_buffer_limited, streams.send_buffer_limited);
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

    /// Every other one goes where there are too many.
    fn keep(&mut self, rtt: Option<f64>) {
        self.rtts.extend(rtt);
        if self.rtts.len() >= RTTS_MAX {
            let mut is_odd = false;
            self.rtts.retain(|_| {
                is_odd = !is_odd;
                is_odd
            });
        }
    }

    /// Lower fifth of the round trips. With few packets in flight, hosts delay acknowledgements and
    /// the mean says little of queues; a standing queue is there nearly always.
    pub fn rtt_low(&self) -> Option<Span> {
        stats::quantile(&self.rtts, LOW).map(Span::from_secs_f64)
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
        self.rtt.value().map(Span::from_secs_f64)
    }

    pub fn segment(&self) -> Option<Bytes> {
        self.segment
    }

    pub fn retransmitted_share(&self) -> Option<f64> {
        (self.sent > Bytes::ZERO).then(|| self.retransmitted.as_f64() / self.sent.as_f64())
    }

    /// Marks that the senders answered: a receiver echoes each for about a round trip, in which a
    /// window of segments arrives.
    pub fn marks_answered(&self) -> f64 {
        let segment = self
            .segment
            .map_or(1.0, |segment| segment.as_f64().max(1.0));
        let window = self.congestion_window.value().unwrap_or(segment) / segment;
        self.mark_echoed.unwrap_or(0) as f64 / window.max(1.0)
    }

    pub fn receive_window_share(&self) -> Option<f64> {
        share(self.receive_window_limited?, self.busy?)
    }

    pub fn send_buffer_share(&self) -> Option<f64> {
        share(self.send_buffer_limited?, self.busy?)
    }

    /// The same as the analysis of a run has it.
    pub fn tcp(&self) -> TcpSummary {
        TcpSummary {
            busy_share: self.busy.and_then(|busy| share(busy, self.stream_time)),
            receive_window_share: self.receive_window_share(),
            send_buffer_share: self.send_buffer_share(),
            not_sent_empty_share: self.without_data.value(),
            peer_window: self.peer_window.bytes(),
            flight: self.outstanding.bytes(),
            congestion_window: self.congestion_window.bytes(),
            mss: self.segment,
            retransmitted_share: self.retransmitted_share(),
            retransmits: self
                .segment
                .map(|segment| self.retransmitted.get() / segment.get().max(1)),
            mark_echoed_share: mark_echoed_share(self.mark_echoed, self.segment, self.arrived),
            rtt: self.rtt(),
            rtt_min: self.rtt_min,
            ..TcpSummary::default()
        }
    }
}

fn add(sum: &mut Option<Span>, part: Option<Span>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or(Span::ZERO) + part);
    }
}

fn share(part: Span, whole: Span) -> Option<f64> {
    (whole > Span::ZERO).then(|| part.as_secs_f64() / whole.as_secs_f64())
}

impl Block {
    fn rate(&self) -> f64 {
        Rate::of(self.arrived, self.length).as_f64()
    }
}
