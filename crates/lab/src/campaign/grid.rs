//! Which runs a campaign has.

use path::Class;
use sim::{Scenario, Variant, Work};
use units::Bytes;

use super::CampaignError;

/// More runs than this are a slip: at a second each they would take a day of one processor.
pub const RUNS_MAX: usize = 100_000;

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
    /// When there are more than [`RUNS_MAX`].
    pub fn runs(&self) -> Result<Vec<Scenario>, CampaignError> {
        let cells = [self.variants.len(), self.streams.len(), self.windows.len()];
        let cells = cells.into_iter().fold(1, usize::saturating_mul);
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        let runs = cells.saturating_mul(seeds);
        if runs > RUNS_MAX {
            return Err(CampaignError::TooMany { runs });
        }
        let seeded = self.cells();
        Ok(seeded.iter().flat_map(|cell| self.seeded(cell)).collect())
    }

    /// The cross traffic alone, once for each seed: what it gets when nobody else is there.
    ///
    /// None on a path without cross traffic. None of data with an end either: each cell takes another
    /// time for it, and over seconds cross traffic has no one rate to compare with.
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
