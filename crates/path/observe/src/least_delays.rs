//! Whether a queue fills while datagrams pass, told from delays that merely vary.
//!
//! A queue that fills makes the least delay of each moment larger than that of the moment before.
//! Delays that vary (other traffic, a radio link, a busy host) have a few late datagrams, and
//! moments without. So only the least delay of each moment counts, and it has to rise in most pairs
//! of moments.

use units::Span;

/// Moments that are kept; longer runs have longer ones.
const MOMENTS: usize = 32;
/// The shortest one.
const SHORTEST: Span = Span::from_millis(10);

/// The least delay of each moment of a run. Clocks of the two ends need not agree.
///
/// ```
/// use observe::LeastDelays;
/// use units::Span;
/// let passed = |delay_micros: fn(u64) -> u64| {
///     let mut delays = LeastDelays::default();
///     for millis in 0..1_000 {
///         let at = Span::from_millis(millis);
///         delays.take(at, i128::from(delay_micros(millis)) * 1_000);
///     }
///     delays.growth().unwrap().as_nanos() / 1_000_000
/// };
/// // A link that is 3 % too slow: after a second 30 ms of data wait in front of it.
/// assert_eq!(passed(|millis| 5_000 + millis * 30), 30);
/// // Every other datagram is 40 ms late.
/// assert_eq!(passed(|millis| 5_000 + millis % 2 * 40_000), 0);
/// ```
#[derive(Debug, Clone)]
pub struct LeastDelays {
    width: Span,
    /// In nanoseconds more than the first one.
    least: Vec<Option<i64>>,
    first: Option<i128>,
}

impl Default for LeastDelays {
    fn default() -> Self {
        LeastDelays {
            width: SHORTEST,
            least: Vec::new(),
            first: None,
        }
    }
}

impl LeastDelays {
    /// A datagram has arrived.
    ///
    /// * `at`: since the first one.
    /// * `passage_nanos`: arrival by the clock of one end less departure by that of the other.
    pub fn take(&mut self, at: Span, passage_nanos: i128) {
        let first = *self.first.get_or_insert(passage_nanos);
        let delay = i64::try_from(passage_nanos.saturating_sub(first)).unwrap_or(i64::MAX);
        while self.place(at) >= MOMENTS {
            self.join_pairs();
        }
        let place = self.place(at);
        if place >= self.least.len() {
            self.least.resize(place + 1, None);
        }
        let least = &mut self.least[place];
        *least = Some(least.map_or(delay, |least| least.min(delay)));
    }

    /// How much the least delay grew from the beginning to the end, where it grew most of the time;
    /// zero where it did not. `None` where too few moments have a datagram to tell.
    ///
    /// The slope of Theil and Sen over the moments, where the lower end of its interval of 95 % is
    /// above zero.
    pub fn growth(&self) -> Option<Span> {
        let moments = self.least.iter().enumerate();
        let points: Vec<(f64, f64)> = moments
            .filter_map(|(place, least)| Some((place as f64, (*least)? as f64)))
            .collect();
        let slope = stats::median_slope(&points)?;
        let nanos = match slope.interval?.low > 0.0 {
            true => slope.slope * self.least.len() as f64,
            false => 0.0,
        };
        Some(Span::from_secs_f64(nanos / 1e9))
    }

    fn place(&self, at: Span) -> usize {
        usize::try_from(at.as_nanos() / self.width.as_nanos()).unwrap_or(usize::MAX)
    }

    /// Moments twice as long.
    fn join_pairs(&mut self) {
        self.width = self.width.times(2);
        let pairs = self.least.chunks(2);
        self.least = pairs
            .map(|pair| pair.iter().flatten().copied().min())
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marsaglia's xorshift: a number below `below`.
    fn drawn(state: &mut u64, below: u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state % below
    }

    /// Milliseconds that the delay grows in a run of `seconds` with a datagram each millisecond.
    fn grown(seconds: u64, delay_micros: &mut dyn FnMut(u64) -> u64) -> u64 {
        let mut delays = LeastDelays::default();
        for millis in 0..seconds * 1_000 {
            // The receiver's clock is far behind the sender's.
            let passage = i128::from(delay_micros(millis)) * 1_000 - 1_000_000_000_000_000;
            delays.take(Span::from_millis(millis), passage);
        }
        delays.growth().unwrap().as_nanos() / 1_000_000
    }

    /// Delays that vary by 30 ms, drawn anew for each datagram, hide no queue and make none up.
    #[test]
    fn a_queue_is_told_from_delays_that_vary() {
        let seed = 0x5eed_0041_u64;
        let mut state = seed;
        for seconds in [1, 2, 10] {
            let most = grown(seconds, &mut |_| drawn(&mut state, 30_000));
            assert!(most <= 2, "seed {seed:#x}, {seconds} s: {most} ms");
            // 2 % too fast.
            let filling = grown(seconds, &mut |millis| {
                millis * 20 + drawn(&mut state, 30_000)
            });
            let expected = seconds * 20;
            assert!(
                (expected * 4 / 5..=expected * 6 / 5).contains(&filling),
                "seed {seed:#x}, {seconds} s: {filling} ms"
            );
        }
    }

    #[test]
    fn an_outage_and_a_late_end_are_no_growth() {
        assert_eq!(grown(1, &mut |millis| millis / 900 * 50_000), 0);
        let outage = &mut |millis: u64| match millis {
            400..500 => (500 - millis) * 1_000,
            _ => 0,
        };
        assert_eq!(grown(1, outage), 0);
        // It empties.
        assert_eq!(grown(1, &mut |millis| 100_000 - millis * 100), 0);
    }

    #[test]
    fn long_runs_have_longer_moments_and_few_datagrams_tell_nothing() {
        let mut delays = LeastDelays::default();
        for second in 0..86_400 {
            delays.take(Span::from_secs(second), i128::from(second) * 1_000);
        }
        assert!(delays.least.len() <= MOMENTS);
        let grown = delays.growth().unwrap().as_secs_f64();
        assert!((0.080..0.095).contains(&grown), "{grown}");
        let mut few = LeastDelays::default();
        assert_eq!(few.growth(), None);
        for second in 0..4 {
            few.take(Span::from_secs(second), i128::MAX);
        }
        assert_eq!(few.growth(), None);
        // What a hostile sender says of its clock.
        for (second, sent) in (4..20).zip([i128::MIN / 2, i128::MAX / 2].into_iter().cycle()) {
            few.take(Span::from_secs(second), sent);
        }
        few.take(Span::MAX, 0);
        few.growth();
    }
}
