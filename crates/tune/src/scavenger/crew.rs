//! How many streams a gentle copy has: few, and more only where their own windows keep them from the rate that they may have.

use observe::StreamCount;

/// To begin with: so that one loss halves an eighth of what is sent.
const FIRST: u64 = 4;
/// Rounds in a row in which windows bind before more streams come, and in which new ones get up to speed.
const ROUNDS: u32 = 6;
/// The most: more of them fill a short queue by their pairs of packets alone.
const MOST: u64 = 32;

/// The streams of a gentle copy.
#[derive(Debug, Clone)]
pub(super) struct Crew {
    wanted: StreamCount,
    /// Rounds in a row in which more would have been of use.
    short: u32,
}

impl Default for Crew {
    fn default() -> Self {
        Crew {
            wanted: StreamCount::new(FIRST).unwrap_or(StreamCount::ONE),
            short: 0,
        }
    }
}

impl Crew {
    /// As many as there should be.
    pub fn wanted(&self) -> StreamCount {
        self.wanted
    }

    /// A round is over; `binds`: windows kept the streams, `present` of them, from their rate.
    pub fn on_round(&mut self, binds: bool, present: usize) {
        let is_short = binds && present >= usize::from(self.wanted.get());
        self.short = if is_short { self.short + 1 } else { 0 };
        if self.short < ROUNDS {
            return;
        }
        self.short = 0;
        let now = u64::from(self.wanted.get());
        let more = StreamCount::new((now + now.div_ceil(2)).min(MOST));
        self.wanted = more.map_or(self.wanted, |more| more.max(self.wanted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_cannot_reach_their_rate_get_company() {
        let mut crew = Crew::default();
        let mut rounds = |binds, present, count| {
            for _ in 0..count {
                crew.on_round(binds, present);
            }
            crew.wanted().get()
        };
        assert_eq!(rounds(true, 4, 5), 4);
        assert_eq!(rounds(false, 4, 1), 4);
        assert_eq!(rounds(true, 4, 6), 6);
        assert_eq!(
            rounds(true, 4, 60),
            6,
            "those that were asked for are not there"
        );
        assert_eq!(rounds(true, 32, 600), 32);
    }
}
