//! How many streams a gentle copy has: few, and more only where their own windows keep them from the rate that they may have.

use observe::StreamCount;
use units::{Span, Time};

/// To begin with: so that one loss halves an eighth of what is sent.
const FIRST: u64 = 4;
/// Windows bind for so many rounds in a row ...
const ROUNDS: u32 = 3;
/// ... and for so long before more streams come: a window makes up for a loss in some seconds by itself.
const PATIENCE: Span = Span::from_millis(1_500);
/// Rounds in which new ones get up to speed.
const SETTLING: u32 = 4;
/// More streams than would do if all windows stayed as they are: each loss halves one.
const SPARE: f64 = 1.3;
/// Those that came last have to bring at least so many times what arrived before, or the next ones come later: perhaps not windows
/// keep the copy from its rate, but the link.
const GAIN: f64 = 1.1;
/// The most: more of them fill a short queue by their pairs of packets alone.
const MOST: u64 = 32;

/// The streams of a gentle copy.
#[derive(Debug, Clone)]
pub(super) struct Crew {
    wanted: StreamCount,
    /// Rounds in a row in which more would have been of use, and since when.
    short: u32,
    since: Time,
    /// What arrived before the last ones came, in bits per second.
    before: f64,
    /// Rounds until those that came last are up to speed.
    settling: u32,
}

impl Default for Crew {
    fn default() -> Self {
        Crew {
            wanted: StreamCount::new(FIRST).unwrap_or(StreamCount::ONE),
            short: 0,
            since: Time::ZERO,
            before: 0.0,
            settling: 0,
        }
    }
}

impl Crew {
    /// As many as there should be.
    pub fn wanted(&self) -> StreamCount {
        self.wanted
    }

    /// Windows have become smaller, and grow again by themselves.
    pub fn on_loss(&mut self, at: Time) {
        (self.short, self.since) = (0, at);
    }

    /// A round is over at `at`, in which `delivered` arrived, `arrives` of the rate; `binds`: windows kept the streams, `present` of
    /// them, from more.
    pub fn on_round(
        &mut self,
        at: Time,
        binds: bool,
        arrives: f64,
        delivered: f64,
        present: usize,
    ) {
        if present < usize::from(self.wanted.get()) {
            return;
        }
        if self.settling > 0 {
            self.settling -= 1;
            return;
        }
        if !binds {
            return self.on_loss(at);
        }
        self.short += 1;
        if self.short >= ROUNDS && at.since(self.since) >= PATIENCE {
            (self.short, self.since) = (0, at);
            self.change(arrives, delivered);
        }
    }

    fn change(&mut self, arrives: f64, delivered: f64) {
        if delivered < GAIN * self.before {
            self.before = 0.0;
            return;
        }
        let more = f64::from(self.wanted.get()) * SPARE / arrives.clamp(0.5, 1.0);
        let more = StreamCount::new((more.ceil() as u64).min(MOST));
        self.wanted = more.map_or(self.wanted, |more| more.max(self.wanted));
        self.before = delivered;
        self.settling = SETTLING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_cannot_reach_their_rate_get_company() {
        let mut crew = Crew::default();
        let mut at = Time::ZERO;
        // A round takes half a second.
        let mut rounds = |binds, arrives, present: usize, count| {
            for _ in 0..count {
                at += Span::from_millis(500);
                crew.on_round(at, binds, arrives, present as f64 * 1e6, present);
            }
            crew.wanted().get()
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
        let mut crew = Crew::default();
        for round in 0..30 {
            let at = Time::ZERO + Span::from_millis(50 * round);
            crew.on_round(at, true, 0.8, 1.0, 4);
            assert_eq!(crew.wanted().get(), 4);
        }
        crew.on_round(Time::ZERO + PATIENCE, true, 0.8, 1.0, 4);
        assert_eq!(crew.wanted().get(), 7);
    }

    #[test]
    fn others_follow_later_where_the_last_ones_brought_nothing() {
        let mut crew = Crew::default();
        let mut rounds = 0..;
        let mut until = |seconds: u64, delivered| {
            for round in rounds.by_ref().take_while(|round| *round < 2 * seconds) {
                let at = Time::ZERO + Span::from_millis(500 * round);
                let present = usize::from(crew.wanted().get());
                crew.on_round(at, true, 0.8, delivered, present);
            }
            crew.wanted().get()
        };
        assert_eq!(until(4, 40e6), 7);
        assert_eq!(until(6, 43e6), 7, "less than a tenth more");
        assert_eq!(until(8, 43e6), 12);
    }
}
