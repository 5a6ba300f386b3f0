//! The cells of a campaign as rows and columns.

use std::collections::BTreeMap;

use record::simulate::{Cell, Choice};
use record::{Campaign, Window};

use draw::format::{self, RateUnit};

/// The cells of one variant, as a table has them.
pub struct Grid<'a> {
    /// Which variant.
    pub variant: &'a str,
    /// Numbers of streams, rising.
    pub streams: Vec<u32>,
    /// Windows, in the order of the document.
    pub windows: Vec<Window>,
    /// What numbers are shown in, the same for all variants.
    pub unit: RateUnit,
    /// Where each setting is among the cells.
    places: BTreeMap<(u32, Window), usize>,
    body: &'a Campaign,
    choice: Option<&'a Choice>,
}

/// One grid for each variant, in the order of the document.
pub fn grids(body: &Campaign) -> Vec<Grid<'_>> {
    let mut variants: Vec<&str> = Vec::new();
    for cell in &body.cells {
        if !variants.contains(&cell.setting.variant.as_str()) {
            variants.push(&cell.setting.variant);
        }
    }
    variants
        .into_iter()
        .map(|variant| Grid::new(body, variant))
        .collect()
}

impl<'a> Grid<'a> {
    fn new(body: &'a Campaign, variant: &'a str) -> Self {
        let all = body.cells.iter().enumerate();
        let ours = all.filter(|(_, cell)| cell.setting.variant == variant);
        let ours: Vec<(usize, &Cell)> = ours.collect();
        let mut streams: Vec<u32> = ours.iter().map(|(_, cell)| cell.setting.streams).collect();
        streams.sort_unstable();
        streams.dedup();
        let place =
            |(place, cell): &(usize, &Cell)| ((cell.setting.streams, cell.setting.window), *place);
        let mut windows: Vec<Window> = Vec::new();
        for (_, cell) in &ours {
            if !windows.contains(&cell.setting.window) {
                windows.push(cell.setting.window);
            }
        }
        let top = body
            .cells
            .iter()
            .filter_map(|cell| cell.throughput_bits_per_second(&body.scenario));
        Grid {
            variant,
            streams,
            windows,
            unit: RateUnit::fitting(top.fold(0.0, f64::max)),
            places: ours.iter().map(place).collect(),
            body,
            choice: body.choice(variant),
        }
    }

    /// Every setting of the table, window by window.
    pub fn settings(&self) -> impl Iterator<Item = (u32, Window)> {
        let windows = self.windows.iter();
        windows.flat_map(|window| self.streams.iter().map(|streams| (*streams, *window)))
    }

    /// The cell of this setting with its place in the document.
    fn cell(&self, streams: u32, window: Window) -> Option<(usize, &'a Cell)> {
        let place = *self.places.get(&(streams, window))?;
        Some((place, self.body.cells.get(place)?))
    }

    /// What the cell of this setting is compared by; `None` when it is missing or left data.
    pub fn throughput(&self, streams: u32, window: Window) -> Option<f64> {
        let (_, cell) = self.cell(streams, window)?;
        cell.throughput_bits_per_second(&self.body.scenario)
    }

    /// Standard deviation of the goodput over the seeds; `None` of data with an end.
    pub fn deviation(&self, streams: u32, window: Window) -> Option<f64> {
        let (_, cell) = self.cell(streams, window)?;
        let deviation = cell.figures.aggregate.standard_deviation_bits_per_second?;
        self.body
            .scenario
            .data_bytes(1)
            .is_none()
            .then_some(deviation as f64)
    }

    /// The number of this setting, without unit.
    pub fn number(&self, streams: u32, window: Window) -> String {
        let throughput = self.throughput(streams, window);
        format::or_absent(throughput, |value| self.unit.number(value))
    }

    /// The share that this setting took of what the cross traffic gets alone.
    pub fn taken(&self, streams: u32, window: Window) -> Option<f64> {
        let (_, cell) = self.cell(streams, window)?;
        cell.figures.cross.taken_ratio
    }

    /// Whether this setting is the best one.
    pub fn is_best(&self, streams: u32, window: Window) -> bool {
        let place = self.cell(streams, window).map(|(place, _)| place);
        place.is_some() && place == self.choice.map(|choice| choice.best_cell)
    }

    /// Whether this setting is the knee.
    pub fn is_knee(&self, streams: u32, window: Window) -> bool {
        let place = self.cell(streams, window).map(|(place, _)| place);
        place.is_some() && place == self.choice.map(|choice| choice.knee_cell)
    }
}
