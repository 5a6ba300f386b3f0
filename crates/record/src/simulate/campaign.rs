//! Many settings side by side.

use models::{Candidate, Rule, choose};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::{Bytes, Rate};

use super::{Figures, Run, SimulatedRun, SimulatedSetting, SimulationCost, Terms, cached};
use crate::{Path, Window};

/// The body of a `trunkline/campaign` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Campaign {
    /// What was simulated.
    pub path: Path,
    /// What was run over it in every cell.
    pub scenario: Terms,
    /// For each variant, what stands out.
    pub choices: Vec<Choice>,
    /// What it took.
    pub cost: SimulationCost,
    /// Each setting: by variant, then by streams, then by window.
    pub cells: Vec<Cell>,
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

impl Campaign {
    /// The shape of many settings, each with the same seeds.
    ///
    /// * `base`: the scenario of any cell.
    /// * `cpu`: processor time of the whole command.
    pub fn new(base: &sim::Scenario, cells: Vec<Cell>, cpu: units::Span) -> Self {
        let seeds = cells.first().map(Cell::seeds).unwrap_or_default();
        let scenario = Terms::new(base, seeds);
        Campaign {
            path: (&base.path).into(),
            choices: choices(&scenario, &cells),
            scenario,
            cost: SimulationCost {
                cpu_seconds: cpu.as_secs_f64(),
                cached_runs: cells.iter().map(|cell| cell.cost.cached_runs).sum(),
            },
            cells,
        }
    }

    /// What stands out among the cells of `variant`.
    pub fn choice(&self, variant: &str) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.variant == variant)
    }
}

impl Cell {
    /// The shape of one setting, run with each of `runs`' seeds.
    ///
    /// * `alone`: the cross traffic without the streams, with the same seeds; empty where that was
    ///   not run.
    pub fn new(scenario: &sim::Scenario, runs: &[Run<'_>], alone: &[Run<'_>]) -> Self {
        let shapes: Vec<SimulatedRun> = runs.iter().map(|run| run.result.into()).collect();
        let cpu = runs.iter().map(|run| run.cpu.as_secs_f64());
        Cell {
            setting: scenario.into(),
            figures: Figures::new(&shapes, scenario.work, alone),
            cost: SimulationCost {
                cpu_seconds: cpu.sum(),
                cached_runs: cached(runs),
            },
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

    fn seeds(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.seed).collect()
    }
}

fn choices(scenario: &Terms, cells: &[Cell]) -> Vec<Choice> {
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
