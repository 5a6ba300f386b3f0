//! Which runs a campaign has.

use netpath::Class;
use sim::{Scenario, Variant, Work};
use units::Bytes;

use super::GridFailure;

/// More runs than this are a slip: at a second each they would take a day of one processor.
pub const RUNS_MAX: usize = 100_000;

/// Numbers that the series of all runs may hold together. With the document made of them they take
/// half a gigabyte where a sample has hundreds of windows, and two where it has one.
pub const SERIES_VALUES_MAX: u64 = 20_000_000;
/// What a sample holds beside a window for each stream: the time, the queue, the bytes of the
/// streams and of the cross traffic.
const SAMPLE_VALUES: u64 = 4;

/// Every variant with every number of streams, every window and every seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// What all runs share; its streams, window, variant and seed do not count.
    pub base: Scenario,
    /// How the streams find their rate.
    pub variants: Vec<Variant>,
    /// Parallel streams.
    pub streams: Vec<u32>,
    /// The most that each stream keeps outstanding; `None` leaves it to the hosts' buffers.
    pub windows: Vec<Option<Bytes>>,
    /// The first seed.
    pub seed: u64,
    /// How many seeds, counted up from the first.
    pub seeds: u64,
}

impl Grid {
    /// One scenario for each cell, with the first seed: by variant, then streams, then window.
    pub fn cells(&self) -> Vec<Scenario> {
        let mut cells = Vec::new();
        for &variant in &self.variants {
            for &streams in &self.streams {
                for &window in &self.windows {
                    cells.push(Scenario {
                        variant,
                        streams,
                        window,
                        seed: self.seed,
                        ..self.base.clone()
                    });
                }
            }
        }
        cells
    }

    /// Every run: the cells in their order, each with all its seeds.
    ///
    /// # Errors
    /// When there are more than [`RUNS_MAX`], the seeds go beyond the largest one, or the series
    /// would hold more than [`SERIES_VALUES_MAX`] numbers.
    pub fn runs(&self) -> Result<Vec<Scenario>, GridFailure> {
        let cells = [self.variants.len(), self.streams.len(), self.windows.len()];
        let cells = cells.into_iter().fold(1, usize::saturating_mul);
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        let runs = cells.saturating_mul(seeds);
        if runs > RUNS_MAX {
            return Err(GridFailure::TooMany { runs });
        }
        self.check_seeds()?;
        self.check_series()?;
        let seeded = self.cells();
        Ok(seeded.iter().flat_map(|cell| self.seeded(cell)).collect())
    }

    /// Seeds that began again at 0 would be others than those that were asked for.
    fn check_seeds(&self) -> Result<(), GridFailure> {
        let (seed, seeds) = (self.seed, self.seeds);
        match seed.checked_add(seeds.saturating_sub(1)) {
            None => Err(GridFailure::SeedsEnd { seed, seeds }),
            Some(_) => Ok(()),
        }
    }

    /// Whether the series of all runs fit into memory, even where every run lasts its whole
    /// duration.
    fn check_series(&self) -> Result<(), GridFailure> {
        let Some(interval) = self.base.series_interval else {
            return Ok(());
        };
        let samples = self.base.duration.as_nanos() / interval.as_nanos().max(1) + 1;
        let in_samples = self.streams.iter().map(|s| u64::from(*s) + SAMPLE_VALUES);
        let in_samples = in_samples.fold(0, u64::saturating_add);
        let of_each = self.variants.len() as u64 * self.windows.len() as u64;
        let factors = [in_samples, of_each, self.seeds];
        let values = factors.into_iter().fold(samples, u64::saturating_mul);
        match values > SERIES_VALUES_MAX {
            true => Err(GridFailure::LongSeries { values }),
            false => Ok(()),
        }
    }

    /// The cross traffic alone, once for each seed: what it gets without the streams.
    ///
    /// None on a path without cross traffic. None of data with an end either: each cell takes
    /// another time for it, and over seconds cross traffic has no one rate to compare with.
    pub fn alone(&self) -> Vec<Scenario> {
        if self.base.path.cross.is_empty() || self.base.work != Work::Endless {
            return Vec::new();
        }
        // What only concerns streams is set to one value, so that all commands share these runs.
        let alone = Scenario {
            streams: 0,
            window: None,
            variant: Variant::Sack,
            class: Class::BestEffort,
            series_interval: None,
            seed: self.seed,
            ..self.base.clone()
        };
        self.seeded(&alone).collect()
    }

    /// `scenario` with each seed.
    fn seeded(&self, scenario: &Scenario) -> impl Iterator<Item = Scenario> {
        (0..self.seeds).map(|index| Scenario {
            seed: self.seed.wrapping_add(index),
            ..scenario.clone()
        })
    }
}
