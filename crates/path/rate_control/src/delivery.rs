//! Samples of the delivery rate, one for each batch of acknowledgements
//! (draft-cheng-iccrg-delivery-rate-estimation-02).

use std::collections::VecDeque;

use units::{Bytes, Rate, Span, Time};

/// Records are kept for this many round trips after they were sent, and at least [`KEEP_MIN`]: what
/// is acknowledged later gives no sample.
const KEEP_ROUND_TRIPS: u64 = 4;
const KEEP_MIN: Span = Span::from_secs(1);

/// What was known when some bytes were sent. Packets that left at one moment share a record.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    delivered: Bytes,
    delivered_at: Time,
    first_sent: Time,
    is_app_limited: bool,
}

/// What one batch of acknowledgements showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Bytes per time that arrived; `None` where the interval is too short to tell.
    pub rate: Option<Rate>,
    /// Bytes that had arrived when the newest acknowledged packet was sent.
    pub prior_delivered: Bytes,
    /// Bytes that arrived since then.
    pub delivered: Bytes,
    /// Round trip of the newest acknowledged packet.
    pub round_trip: Span,
    /// The sender had too little data to fill the path when that packet was sent.
    pub is_app_limited: bool,
}

/// Counts what arrives.
#[derive(Debug, Clone)]
pub struct Delivery {
    sent: VecDeque<Sent>,
    delivered: Bytes,
    delivered_at: Time,
    /// When the packet was sent that was acknowledged last.
    first_sent: Time,
    /// The sender has too little data until so much has arrived.
    app_limited_until: Bytes,
    /// The newest packet of the present batch.
    newest: Option<Sent>,
}

impl Delivery {
    /// Nothing was sent yet.
    pub fn new(now: Time) -> Self {
        Delivery {
            sent: VecDeque::new(),
            delivered: Bytes::ZERO,
            delivered_at: now,
            first_sent: now,
            app_limited_until: Bytes::ZERO,
            newest: None,
        }
    }

    /// Bytes that arrived so far.
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// Packets leave; `is_idle`: nothing was on the way before.
    pub fn on_sent(&mut self, now: Time, is_idle: bool) {
        if is_idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        if self.sent.back().is_some_and(|last| last.at == now) {
            return;
        }
        self.sent.push_back(Sent {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            is_app_limited: self.app_limited_until > self.delivered,
        });
    }

    /// A packet that was sent at `sent` has arrived.
    pub fn on_acked(&mut self, now: Time, sent: Time, bytes: Bytes) {
        self.delivered += bytes;
        self.delivered_at = now;
        let at = self.sent.partition_point(|record| record.at < sent);
        let record = self.sent.get(at).filter(|record| record.at == sent);
        if let Some(record) = record
            && self.newest.is_none_or(|newest| newest.at <= record.at)
        {
            self.newest = Some(*record);
        }
    }

    /// The batch is over: what it showed, where a packet of it is still remembered.
    ///
    /// * `round_trip_min`: the smallest of the path; samples of shorter intervals are no rate.
    pub fn on_acks_end(&mut self, now: Time, round_trip_min: Span) -> Option<Sample> {
        let newest = self.newest.take()?;
        self.first_sent = newest.at;
        let delivered = self.delivered - newest.delivered;
        let sending = newest.at.since(newest.first_sent);
        let arriving = now.since(newest.delivered_at);
        let interval = sending.max(arriving);
        let round_trip = now.since(newest.at);
        let keep = round_trip.times(KEEP_ROUND_TRIPS).max(KEEP_MIN);
        while let Some(front) = self.sent.front()
            && now.since(front.at) > keep
        {
            self.sent.pop_front();
        }
        let is_long_enough = interval >= round_trip_min && interval > Span::ZERO;
        Some(Sample {
            rate: is_long_enough.then(|| Rate::of(delivered, interval)),
            prior_delivered: newest.delivered,
            delivered,
            round_trip,
            is_app_limited: newest.is_app_limited,
        })
    }

    /// The sender has nothing left to send, with so much on the way.
    pub fn on_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight).max(Bytes::new(1));
    }
}
