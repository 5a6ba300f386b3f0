//! Streams' readings on one common grid.

use units::{Span, Time};

use crate::{Progress, SamplePlan};

/// A stream whose last reading is older than this against the latest had ended by then.
const ENDED_AFTER: Span = SamplePlan::INTERVAL.times(3);

/// Cells of the grid per reading at the most. A peer's readings may be as sparse as one a second;
/// a time stamp beyond that is nonsense, and must not make us reserve memory for it.
const CELLS_PER_READING: usize = 20;

/// The rate of all streams together, over one [`SamplePlan::INTERVAL`] after another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Bits per second in each interval, from the start of the streams.
    pub rates: Vec<f64>,
}

impl Series {
    /// Adds up the streams; `None` when one of them has fewer than two readings, or when there is
    /// not one whole interval.
    pub fn of(streams: &[&[Progress]]) -> Option<Series> {
        let readings = streams.iter().map(|progress| progress.len()).min()?;
        let cells = cells(streams)?;
        if readings < 2 || cells == 0 {
            return None;
        }
        let mut bytes = vec![0.0; cells + 1];
        for progress in streams {
            add(&mut bytes, progress);
        }
        let interval = SamplePlan::INTERVAL.as_secs_f64();
        let rate = |pair: &[f64]| (pair[1] - pair[0]).max(0.0) * 8.0 / interval;
        Some(Series {
            rates: bytes.windows(2).map(rate).collect(),
        })
    }

    /// The rates from the interval on that begins at `from`.
    pub fn from(&self, from: Time) -> &[f64] {
        let first = from.as_nanos() / SamplePlan::INTERVAL.as_nanos();
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        &self.rates[first.min(self.rates.len())..]
    }

    /// The point in time at which interval `index` begins.
    pub fn time(index: usize) -> Time {
        Time::ZERO + SamplePlan::INTERVAL.times(index as u64)
    }
}

/// Whole intervals up to the last reading that all streams still running have.
fn cells(streams: &[&[Progress]]) -> Option<usize> {
    let lasts = || {
        streams
            .iter()
            .filter_map(|progress| progress.last())
            .map(|last| last.at)
    };
    let latest = lasts().max()?;
    let end = lasts()
        .filter(|at| latest.since(*at) <= ENDED_AFTER)
        .min()?;
    let longest = streams.iter().map(|progress| progress.len()).max()?;
    let cells = end.as_nanos() / SamplePlan::INTERVAL.as_nanos();
    let cells = usize::try_from(cells).unwrap_or(usize::MAX);
    Some(cells.min(longest.saturating_mul(CELLS_PER_READING)))
}

fn add(grid: &mut [f64], progress: &[Progress]) {
    let mut before = Progress {
        at: Time::ZERO,
        bytes: units::Bytes::ZERO,
    };
    let mut rest = progress.iter().copied().peekable();
    for (index, sum) in grid.iter_mut().enumerate() {
        let at = Series::time(index);
        while let Some(reading) = rest.next_if(|reading| reading.at <= at) {
            before = reading;
        }
        *sum += between(before, rest.peek().copied(), at);
    }
}

/// Bytes of one stream at `at`, from the readings on either side.
pub(crate) fn bytes_at(progress: &[Progress], at: Time) -> f64 {
    let start = Progress {
        at: Time::ZERO,
        bytes: units::Bytes::ZERO,
    };
    let next = progress.iter().position(|reading| reading.at > at);
    let passed = &progress[..next.unwrap_or(progress.len())];
    let before = passed.last().copied().unwrap_or(start);
    between(before, next.map(|index| progress[index]), at)
}

/// Straight line between two readings; after the last one nothing more arrives.
fn between(before: Progress, after: Option<Progress>, at: Time) -> f64 {
    let low = before.bytes.as_f64();
    let Some(after) = after else { return low };
    let seconds = |to: Time| to.since(before.at).as_secs_f64();
    let end = (seconds(after.at), after.bytes.as_f64());
    stats::between((0.0, low), end, seconds(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn readings(list: &[(u64, u64)]) -> Vec<Progress> {
        let reading = |(millis, bytes): &(u64, u64)| Progress {
            at: Time::ZERO + Span::from_millis(*millis),
            bytes: Bytes::new(*bytes),
        };
        list.iter().map(reading).collect()
    }

    #[test]
    fn streams_read_some_milliseconds_apart_are_added_at_the_same_instants() {
        // 100 bytes a millisecond each, read on the grid and 7 ms beside it.
        let one = readings(&[(100, 10_000), (200, 20_000), (300, 30_000)]);
        let two = readings(&[(107, 10_700), (207, 20_700), (307, 30_700)]);
        let series = Series::of(&[&one, &two]).unwrap();
        assert_eq!(series.rates.len(), 3);
        for rate in series.rates {
            assert!((rate - 1_600_000.0).abs() < 1e-6, "{rate}");
        }
    }

    #[test]
    fn a_stream_that_died_early_counts_with_what_it_brought() {
        let alive: Vec<(u64, u64)> = (1..=10).map(|i| (i * 100, i * 1_000)).collect();
        let (alive, dead) = (readings(&alive), readings(&[(100, 1_000), (200, 2_000)]));
        let series = Series::of(&[&alive, &dead]).unwrap();
        assert_eq!(series.rates.len(), 10);
        assert_eq!(series.rates[1], 160_000.0);
        assert_eq!(series.rates[9], 80_000.0);
    }

    #[test]
    fn totals_alone_make_no_series() {
        assert_eq!(Series::of(&[]), None);
        assert_eq!(Series::of(&[&[]]), None);
        assert_eq!(Series::of(&[&readings(&[(1_000, 5)])]), None);
    }

    #[test]
    fn a_nonsense_time_stamp_does_not_reserve_memory() {
        let mut broken = readings(&[(100, 1), (200, 2)]);
        broken.push(Progress {
            at: Time::MAX,
            bytes: Bytes::new(3),
        });
        assert_eq!(Series::of(&[&broken]).unwrap().rates.len(), 60);
    }

    #[test]
    fn readings_that_run_backwards_give_no_negative_rate() {
        let broken = readings(&[(100, 9_000), (200, 1_000), (150, 500), (300, 2_000)]);
        let series = Series::of(&[&broken]).unwrap();
        assert!(series.rates.iter().all(|rate| *rate >= 0.0), "{series:?}");
    }
}
