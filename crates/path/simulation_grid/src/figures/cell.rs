//! The cells of a campaign, and which of them stand out.

use models::{Candidate, Rule, choose};
use observe::Window;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::{Bytes, Rate};

use super::{Figures, SimulatedRun, Terms};
use crate::Ran;

/// What tells the cells of a campaign apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedSetting {
    /// Parallel streams.
    pub streams: u32,
    /// The most that each stream keeps outstanding: bytes, or `"auto"` for the hosts' buffers.
    pub window: Window,
    /// How the streams find their rate.
    pub variant: String,
}

/// What simulating took; it differs from one time to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimulationCost {
    /// Processor time of the whole command, or of one cell's runs.
    pub cpu_seconds: f64,
    /// Runs that an earlier command had kept.
    pub cached_runs: u64,
}

/// One setting with all its seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Streams, window and variant.
    pub setting: SimulatedSetting,
    /// All seeds together.
    #[serde(flatten)]
    pub figures: Figures,
    /// What it took.
    pub cost: SimulationCost,
    /// Each seed, without its streams and series.
    pub runs: Vec<SimulatedRun>,
}

/// What stands out among the cells of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// Which variant.
    pub variant: String,
    /// The cell of the highest throughput: its place in `cells`, from 0.
    pub best_cell: usize,
    /// The cell of the fewest streams that reach 90 % of it, and of those the smallest window.
    pub knee_cell: usize,
}

impl From<&sim::Scenario> for SimulatedSetting {
    fn from(scenario: &sim::Scenario) -> Self {
        SimulatedSetting {
            streams: scenario.streams,
            window: scenario.window.into(),
            variant: scenario.variant.to_string(),
        }
    }
}

impl SimulationCost {
    /// What one cell's runs took.
    pub fn of(runs: &[Ran]) -> Self {
        SimulationCost {
            cpu_seconds: runs.iter().map(|run| run.cpu.as_secs_f64()).sum(),
            cached_runs: runs.iter().map(|run| u64::from(run.cached)).sum(),
        }
    }
}

impl Cell {
    /// The shape of one setting, run with each of `runs`' seeds.
    ///
    /// * `alone`: the cross traffic without the streams, with the same seeds; empty where that was
    ///   not run.
    pub fn new(scenario: &sim::Scenario, runs: &[Ran], alone: &[Ran]) -> Self {
        let shapes: Vec<SimulatedRun> = runs.iter().map(|run| (&run.result).into()).collect();
        Cell {
            setting: scenario.into(),
            figures: Figures::new(&shapes, scenario.work, alone),
            cost: SimulationCost::of(runs),
            runs: shapes.into_iter().map(SimulatedRun::headline).collect(),
        }
    }

    /// What the cells are compared by: goodput, or the data over the time that it took. `None` when
    /// data was left.
    pub fn throughput_bits_per_second(&self, scenario: &Terms) -> Option<f64> {
        match scenario.data_bytes(self.setting.streams) {
            None => Some(self.figures.aggregate.goodput_bits_per_second as f64),
            Some(bytes) => Some(bytes as f64 * 8.0 / self.figures.completion.completion_seconds?),
        }
    }

    /// The seeds of its runs.
    pub fn seeds(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.seed).collect()
    }
}

/// What stands out among the cells of each variant, in the order of the cells.
pub fn choices(scenario: &Terms, cells: &[Cell]) -> Vec<Choice> {
    let mut variants: Vec<&str> = Vec::new();
    for cell in cells {
        if !variants.contains(&cell.setting.variant.as_str()) {
            variants.push(&cell.setting.variant);
        }
    }
    let chosen = variants
        .into_iter()
        .map(|variant| choice(scenario, cells, variant));
    chosen.flatten().collect()
}

/// `None` when no cell of the variant was finished.
fn choice(scenario: &Terms, cells: &[Cell], variant: &str) -> Option<Choice> {
    let mut windows: Vec<Window> = cells.iter().map(|cell| cell.setting.window).collect();
    windows.sort_by_key(|window| by_size(*window));
    windows.dedup();
    let (places, candidates): (Vec<usize>, Vec<Candidate>) = cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.setting.variant == variant)
        .filter_map(|(place, cell)| Some((place, candidate(scenario, &windows, cell)?)))
        .unzip();
    let knee = choose(&candidates, Rule::default()).ok()?;
    Some(Choice {
        variant: variant.to_owned(),
        best_cell: places[knee.highest],
        knee_cell: places[knee.index],
    })
}

fn candidate(scenario: &Terms, windows: &[Window], cell: &Cell) -> Option<Candidate> {
    let throughput = Rate::from_f64(cell.throughput_bits_per_second(scenario)?);
    let rank = windows
        .iter()
        .position(|window| *window == cell.setting.window);
    Some(Candidate {
        streams: cell.setting.streams,
        window_rank: rank.and_then(|rank| u32::try_from(rank).ok())?,
        goodput: Estimate::bare(throughput),
        rtt_loaded: None,
        cost: None,
    })
}

/// Automatic windows can grow further than any fixed one.
fn by_size(window: Window) -> u64 {
    window.fixed().map_or(u64::MAX, Bytes::get)
}
