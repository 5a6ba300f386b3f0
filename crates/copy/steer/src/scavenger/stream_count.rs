//! Number of streams of a gentle copy: few, and more only where their windows keep them below the
//! allowed rate.

use observe::StreamCount;
use units::{Span, Time};

/// Streams at the start. One loss then halves a quarter of the windows: an eighth of the rate.
const FIRST: u64 = 4;
/// More streams come after this many consecutive rounds in which windows bind.
const ROUNDS: u32 = 3;
/// Windows have to bind for at least this long too: a window recovers from a loss by itself.
const BINDING_MIN: Span = Span::from_millis(1_500);
/// Rounds in which new streams reach their rate.
const SETTLING: u32 = 4;
/// Factor beyond the streams that present windows call for: each loss halves one window.
const SPARE: f64 = 1.3;
/// Factor by which the last streams have to raise the delivery rate. Otherwise the next ones come
/// later: perhaps the link limits the copy, not the windows.
const GAIN: f64 = 1.1;
/// Most streams: the packet pairs of more would fill a short queue by themselves.
const MOST: u64 = 32;

/// How many streams a gentle copy wants.
#[derive(Debug, Clone)]
pub(super) struct StreamDemand {
    wanted: StreamCount,
    /// Consecutive rounds in which windows bound, and when the first began.
    short: u32,
    since: Time,
    /// Delivery rate before the last streams came, in bit/s.
    before: f64,
    /// Rounds until the last streams reach their rate.
    settling: u32,
}

/// What a round showed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundSummary {
    /// Its end.
    pub at: Time,
    /// Congestion windows held the streams back.
    pub windows_bind: bool,
    /// Delivery rate as a share of the allowed rate.
    pub arrived_share: f64,
    /// Delivery rate in bit/s.
    pub delivered: f64,
    /// Streams that were there.
    pub streams: usize,
}

impl Default for StreamDemand {
    fn default() -> Self {
        StreamDemand {
            wanted: StreamCount::new(FIRST).unwrap_or(StreamCount::ONE),
            short: 0,
            since: Time::ZERO,
            before: 0.0,
            settling: 0,
        }
    }
}

impl StreamDemand {
    /// The number wanted.
    pub fn wanted(&self) -> StreamCount {
        self.wanted
    }

    /// A loss at `at`: windows shrank and recover by themselves.
    pub fn on_loss(&mut self, at: Time) {
        (self.short, self.since) = (0, at);
    }

    /// A round ended.
    pub fn on_round(&mut self, round: &RoundSummary) {
        if round.streams < usize::from(self.wanted.get()) {
            return;
        }
        if self.settling > 0 {
            self.settling -= 1;
            return;
        }
        if !round.windows_bind {
            return self.on_loss(round.at);
        }
        self.short += 1;
        if self.short >= ROUNDS && round.at.since(self.since) >= BINDING_MIN {
            (self.short, self.since) = (0, round.at);
            self.change(round.arrived_share, round.delivered);
        }
    }

    fn change(&mut self, arrived_share: f64, delivered: f64) {
        if delivered < GAIN * self.before {
            self.before = 0.0;
            return;
        }
        let more = f64::from(self.wanted.get()) * SPARE / arrived_share.clamp(0.5, 1.0);
        let more = StreamCount::new((more.ceil() as u64).min(MOST));
        self.wanted = more.map_or(self.wanted, |more| more.max(self.wanted));
        self.before = delivered;
        self.settling = SETTLING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(
        at: Time,
        windows_bind: bool,
        arrived_share: f64,
        delivered: f64,
        streams: usize,
    ) -> RoundSummary {
        RoundSummary {
            at,
            windows_bind,
            arrived_share,
            delivered,
            streams,
        }
    }

    #[test]
    fn streams_that_cannot_reach_their_rate_get_company() {
        let mut demand = StreamDemand::default();
        let mut at = Time::ZERO;
        // A round takes half a second.
        let mut rounds = |binds, arrives, present: usize, count| {
            for _ in 0..count {
                at += Span::from_millis(500);
                demand.on_round(&summary(at, binds, arrives, present as f64 * 1e6, present));
            }
            demand.wanted().get()
        };
        assert_eq!(rounds(false, 1.0, 4, 1), 4);
        assert_eq!(rounds(true, 0.9, 4, 2), 4);
        assert_eq!(rounds(false, 1.0, 4, 1), 4);
        assert_eq!(rounds(true, 0.8, 4, 3), 7, "4 * 1.3 / 0.8");
        assert_eq!(rounds(true, 0.8, 4, 60), 7, "the others are not there");
        assert_eq!(rounds(true, 0.8, 7, 6), 7, "they grow for four rounds");
        assert_eq!(rounds(true, 0.8, 7, 1), 12);
        assert_eq!(rounds(true, 0.5, 12, 60), 32);
        assert_eq!(rounds(true, 0.0, 32, 600), 32);
    }

    #[test]
    fn windows_get_the_time_to_make_up_for_a_loss() {
        let mut demand = StreamDemand::default();
        for round in 0..30 {
            let at = Time::ZERO + Span::from_millis(50 * round);
            demand.on_round(&summary(at, true, 0.8, 1.0, 4));
            assert_eq!(demand.wanted().get(), 4);
        }
        demand.on_round(&summary(Time::ZERO + BINDING_MIN, true, 0.8, 1.0, 4));
        assert_eq!(demand.wanted().get(), 7);
    }

    #[test]
    fn others_follow_later_where_the_last_ones_brought_nothing() {
        let mut demand = StreamDemand::default();
        let mut rounds = 0..;
        let mut until = |seconds: u64, delivered| {
            for round in rounds.by_ref().take_while(|round| *round < 2 * seconds) {
                let at = Time::ZERO + Span::from_millis(500 * round);
                let present = usize::from(demand.wanted().get());
                demand.on_round(&summary(at, true, 0.8, delivered, present));
            }
            demand.wanted().get()
        };
        assert_eq!(until(4, 40e6), 7);
        assert_eq!(until(6, 43e6), 7, "less than a tenth more");
        assert_eq!(until(8, 43e6), 12);
    }
}
