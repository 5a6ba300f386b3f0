//! Settings in virtual time: one or a grid, each with several seeds.

mod fluid;

use std::io::{self, Write};

use netpath::PathSpec;
use record::simulate::Cell;
use record::{AnyDocument, Document};
use sim::Scenario;
use simulation_grid::{Finished, Ran};
use units::Span;

use crate::{Cancel, Error, origin};

pub use fluid::fluid;
pub use netpath::Class;
pub use sim::{RunResult, TcpSettings, Variant, Work};
pub use simulation_grid::{Cache, Grid, LogForm, Plan, Progress};

/// Longest run, in virtual time: a day.
pub const DURATION_MAX: Span = Span::from_secs(86_400);

/// Simulated runs.
#[derive(Debug)]
pub struct Simulated {
    /// The cells of the grid.
    pub cells: Vec<Scenario>,
    /// All runs: those of the first cell, of the second, and so on; then the cross traffic alone,
    /// where the path has any.
    pub runs: Vec<Ran>,
    /// Runs that left data when their time was over.
    pub unfinished: usize,
    /// Why a run could not be kept, when one could not.
    pub not_kept: Option<io::Error>,
    /// The document: of one setting, or of a campaign.
    pub document: AnyDocument,
}

/// A scenario of one endless stream over `path` for 30 s, of which the first 6 do not count.
///
/// * `variant`: how the stream finds its rate; `None` for what the path's hosts use.
///
/// # Errors
/// When nothing simulated resembles the hosts' congestion control.
pub fn scenario(path: PathSpec, variant: Option<Variant>) -> Result<Scenario, Error> {
    let mut scenario = simulation_grid::scenario(path, variant)?;
    apply(&plan_of_default(), &mut scenario)?;
    Ok(scenario)
}

fn plan_of_default() -> Plan {
    Plan {
        duration: None,
        warmup: None,
        limit: DURATION_MAX,
    }
}

/// Sets the times of `scenario`, whose work is set already.
///
/// # Errors
/// When a warm-up is asked for with data that has an end.
pub fn apply(plan: &Plan, scenario: &mut Scenario) -> Result<(), Error> {
    Ok(plan.apply(scenario)?)
}

/// Whether every run of `grid` can be made, without making any.
///
/// # Errors
/// When one cannot, or there are too many.
pub fn check(grid: &Grid) -> Result<(), Error> {
    grid.runs()?;
    Ok(simulation_grid::check(&grid.cells())?)
}

/// Makes all runs of `grid`, as many at once as there are processors.
///
/// * `kept`: where finished runs are kept and looked up; `None` keeps nothing.
/// * `draws`: a single cell is to have its state over time, for plots; its first seed runs twice.
///
/// ```
/// use trunkline::simulate::{Grid, scenario};
/// use trunkline::{Cancel, load_path, simulate};
///
/// let base = scenario(load_path("slac-cern")?, None)?;
/// let grid = Grid {
///     variants: vec![base.variant],
///     streams: vec![8],
///     windows: vec![None],
///     seed: 1,
///     seeds: 2,
///     base,
/// };
/// let simulated = simulate(&grid, None, false, &Cancel::new(), &mut |_| {})?;
/// assert_eq!(simulated.runs.len(), 2);
/// assert_eq!(simulated.runs[0].result.streams.len(), 8);
/// # Ok::<(), trunkline::Error>(())
/// ```
///
/// # Errors
/// When a run cannot be made, or the campaign was cancelled.
pub fn simulate(
    grid: &Grid,
    kept: Option<&Cache>,
    draws: bool,
    cancel: &Cancel,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Simulated, Error> {
    let mut runs = grid.runs()?;
    let mut cells = grid.cells();
    runs.extend(grid.alone());
    simulation_grid::check(&cells)?;
    let mut run = |runs: &[Scenario]| simulation_grid::run(runs, kept, &cancel.flag(), on_progress);
    let drawn = match &mut cells[..] {
        [cell] if draws => Some(cell),
        _ => None,
    };
    let finished = match drawn {
        None => run(&runs)?,
        // How long it lasts is known: the drawn run goes beside the others.
        Some(cell) if cell.work == Work::Endless => {
            *cell = simulation_grid::to_draw(cell, None);
            runs.push(cell.clone());
            let mut finished = run(&runs)?;
            let drawn = finished.runs.pop();
            take_series(&mut finished, drawn);
            finished
        }
        Some(cell) => {
            let mut finished = run(&runs)?;
            *cell = simulation_grid::to_draw(cell, finished.runs[0].result.completion);
            let drawn = run(std::slice::from_ref(cell))?.runs.pop();
            take_series(&mut finished, drawn);
            finished
        }
    };
    Ok(Simulated {
        document: document(grid, &cells, &finished.runs),
        unfinished: simulation_grid::unfinished(&grid.base, &finished.runs),
        cells,
        runs: finished.runs,
        not_kept: finished.not_kept,
    })
}

/// Gives the first run the state over time of `drawn`, which is the same run.
fn take_series(finished: &mut Finished, drawn: Option<Ran>) {
    if let (Some(first), Some(drawn)) = (finished.runs.first_mut(), drawn) {
        first.result.series = drawn.result.series;
    }
}

/// The packets of one run of `scenario`, with its first seed, written to `out`.
///
/// # Errors
/// When it cannot run, cannot be written, or was cancelled.
pub fn log(
    scenario: &Scenario,
    form: LogForm,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> Result<(), Error> {
    Ok(simulation_grid::log(scenario, form, &cancel.flag(), out)?)
}

/// The document of all `runs`: those of the cells, then the cross traffic alone.
fn document(grid: &Grid, cells: &[Scenario], runs: &[Ran]) -> AnyDocument {
    let origin = origin(Some(grid.seed));
    let seeds = usize::try_from(grid.seeds).unwrap_or(usize::MAX);
    let mut chunks = runs.chunks(seeds);
    let of_cells: Vec<&[Ran]> = chunks.by_ref().take(cells.len()).collect();
    let alone = chunks.next().unwrap_or_default();
    let cpu = simulation_grid::process_cpu();
    if let ([cell], [runs]) = (cells, &of_cells[..]) {
        return Document::new(origin, record::Simulate::new(cell, runs, alone, cpu)).into();
    }
    let cells = cells.iter().zip(of_cells);
    let cells = cells.map(|(cell, runs)| Cell::new(cell, runs, alone));
    Document::new(
        origin,
        record::Campaign::new(&grid.base, cells.collect(), cpu),
    )
    .into()
}
