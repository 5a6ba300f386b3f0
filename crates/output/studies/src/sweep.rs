//! Curves of scenarios, and the same curves with their results.

use draw::chart::{Line, Origin, Point};
use draw::words::count;
use sim::{RunResult, Scenario, Work};
use simulation_grid::Ran;
use stats::{mean, standard_deviation};
use units::Span;

/// Curves over one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The curves.
    pub curves: Vec<Curve>,
    /// How many seeds each cell is run with; `None` for as many as were asked for.
    pub cycles: Option<u64>,
}

/// Scenarios that differ in one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What sets it apart from the others.
    pub label: String,
    /// The quantity and the scenario that has it, rising.
    pub cells: Vec<(f64, Scenario)>,
}

impl Sweep {
    /// Curves whose cells are run with as many seeds as are asked for.
    pub fn new(curves: Vec<Curve>) -> Self {
        Sweep {
            curves,
            cycles: None,
        }
    }

    /// The same with so many seeds whatever is asked for: the visits of a document.
    pub fn cycles(self, cycles: u64) -> Self {
        Sweep {
            cycles: Some(cycles),
            ..self
        }
    }

    fn seeds(&self, asked: u64) -> u64 {
        self.cycles.unwrap_or(asked)
    }

    fn cells(&self) -> impl Iterator<Item = &Scenario> {
        let cells = self.curves.iter().flat_map(|curve| &curve.cells);
        cells.map(|(_, cell)| cell)
    }

    /// How many runs it has.
    pub(crate) fn count(&self, asked: u64) -> usize {
        let seeds = usize::try_from(self.seeds(asked)).unwrap_or(usize::MAX);
        self.cells().count().saturating_mul(seeds)
    }

    /// Every cell with its seeds from 1 up.
    pub(crate) fn runs(&self, asked: u64) -> impl Iterator<Item = Scenario> + '_ {
        self.cells().flat_map(move |cell| {
            (1..=self.seeds(asked)).map(move |seed| Scenario {
                seed,
                ..cell.clone()
            })
        })
    }

    /// What was run, told from the scenarios.
    pub(crate) fn words(&self, asked: u64) -> String {
        let mut paths: Vec<String> = Vec::new();
        for cell in self.cells() {
            let path = format!("{} ({})", cell.path.name, cell.path);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let (number, first) = (paths.len(), paths.first().cloned().unwrap_or_default());
        let paths = match number {
            0 | 1 => first,
            2 => paths.join(" and "),
            _ => format!("{first} and {} more of its kind", number - 1),
        };
        let times = self.cells().next().map(times).unwrap_or_default();
        format!(
            "{} settings of {paths}; {times}, {} each.",
            self.cells().count(),
            count(self.seeds(asked), "seed")
        )
    }
}

/// Variant, packets and times of one scenario.
fn times(cell: &Scenario) -> String {
    let head = format!(
        "{} and the like, packets of {} bytes",
        cell.variant.name(),
        cell.path.hosts.mtu
    );
    match cell.work {
        Work::Endless if cell.warmup == Span::ZERO => {
            format!("{head}, {} from the start", cell.duration.human())
        }
        Work::Endless => format!(
            "{head}, {} of which the first {} do not count",
            cell.duration.human(),
            cell.warmup.human()
        ),
        Work::PerStream(bytes) => format!("{head}, {} on each stream", bytes.human()),
        Work::Striped(bytes) => format!("{head}, {} in all", bytes.human()),
    }
}

/// A sweep with its results.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The sweep.
    pub sweep: &'a Sweep,
    /// Its runs, cell by cell with all seeds.
    pub runs: &'a [Ran],
    /// How many seeds were asked for.
    pub seeds: u64,
}

/// One cell with its runs.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// The quantity.
    pub x: f64,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// A run for each seed.
    pub runs: &'a [Ran],
}

impl<'a> Cell<'a> {
    /// What `measure` tells of each run; nothing where any has no value, or there are no runs.
    pub fn values(
        &self,
        measure: impl Fn(&Scenario, &RunResult) -> Option<f64>,
    ) -> Option<Vec<f64>> {
        let value = |ran: &Ran| measure(self.scenario, &ran.result);
        let values: Option<Vec<f64>> = self.runs.iter().map(value).collect();
        values.filter(|values| !values.is_empty())
    }
}

impl<'a> Seen<'a> {
    /// The cells, curve by curve; those without runs are left out.
    pub fn cells(&self) -> Vec<Vec<Cell<'a>>> {
        let seeds = usize::try_from(self.sweep.seeds(self.seeds)).unwrap_or(usize::MAX);
        let mut chunks = self.runs.chunks(seeds.max(1));
        let mut curves = Vec::new();
        for curve in &self.sweep.curves {
            let cells = curve.cells.iter().zip(&mut chunks);
            let cell = |((x, scenario), runs): (&'a (f64, Scenario), &'a [Ran])| Cell {
                x: *x,
                scenario,
                runs,
            };
            curves.push(cells.map(cell).collect());
        }
        curves
    }

    /// A line for each curve of what `measure` tells of a run: mean and spread over the seeds. A
    /// cell where any seed has no value has no point.
    pub fn lines(&self, measure: impl Fn(&Scenario, &RunResult) -> Option<f64>) -> Vec<Line> {
        self.lines_of(|cell| {
            let values = cell.values(&measure)?;
            Some((mean(&values)?, standard_deviation(&values)))
        })
    }

    /// A line for each curve of what `measure` tells of all runs of a cell: a value and its spread.
    pub fn lines_of(&self, measure: impl Fn(&Cell<'_>) -> Option<(f64, Option<f64>)>) -> Vec<Line> {
        let point = |cell: &Cell<'_>| {
            let (y, spread) = measure(cell)?;
            Some(Point {
                x: cell.x,
                y,
                spread,
            })
        };
        let line = |(curve, cells): (&Curve, Vec<Cell<'_>>)| Line {
            label: curve.label.clone(),
            origin: Origin::Runs,
            points: cells.iter().filter_map(point).collect(),
        };
        self.sweep
            .curves
            .iter()
            .zip(self.cells())
            .map(line)
            .collect()
    }
}
