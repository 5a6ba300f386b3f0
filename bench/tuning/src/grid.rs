//! The exhaustive best of a path: every number of streams with every window that can matter.
//!
//! Cells are run once with [`SEED`]. The best of dozens of noisy cells is partly luck, so the
//! three best are run again with the [`JUDGES`], and what they give then counts;
//! recommendations are judged by the same seeds, so that whoever recommends the best cell has no
//! regret at all.
//!
//! Left out, because they cannot win: fixed windows whose streams together keep less than [`BOUND`]
//! of the best goodput in flight, windows beyond the first that never binds, and more streams than
//! the path and its queue hold packets.

use netpath::{PathSpec, QueueLimit};
use observe::{Setting, StreamCount, Window};
use target::SimulatedPath;
use units::Bytes;

use crate::runs::{Job, Length, Outcome, Runner, mean};

const SEED: u64 = 1;
/// Seeds that decide what a setting gives.
pub const JUDGES: [u64; 2] = [101, 102];
const STREAMS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const WINDOW_MIN: Bytes = Bytes::from_kib(64);
/// Low enough for the best within the gentle budget, which keeps less in flight than the best of
/// all.
const BOUND: f64 = 0.5;
/// Windows of a sparse grid together keep so many bandwidth-delay products in flight.
const FITTING: std::ops::Range<f64> = 1.0..2.0;
/// Added round-trip time that the gentle objective allows, seconds.
pub const GENTLE: f64 = 0.030;

/// Which cells a grid has, and how its best one is found.
#[derive(Debug)]
pub struct Plan {
    /// Whether the only fixed windows are those that just fit the path, and those that never bind.
    pub sparse: bool,
    /// How many of the best cells are run again.
    pub contenders: usize,
    /// How many of the best cells within the gentle budget are.
    pub contenders_gentle: usize,
    pub judges: &'static [u64],
    /// How long the contenders run.
    pub length: Length,
}

impl Plan {
    /// Every window that can matter.
    pub const EXHAUSTIVE: Plan = Plan {
        sparse: false,
        contenders: 3,
        contenders_gentle: 3,
        judges: &JUDGES,
        length: Length::Usual,
    };
}

/// A setting of the grid and what it showed in its one run.
#[derive(Debug, Clone)]
pub struct Cell {
    pub setting: Setting,
    pub outcome: Outcome,
}

/// A path's grid.
#[derive(Debug, Clone)]
pub struct Grid {
    pub path: PathSpec,
    pub cells: Vec<Cell>,
    /// What the cross traffic does alone.
    pub alone: Outcome,
    /// The best cell, judged.
    pub best: Cell,
    /// The best that adds no more delay than [`GENTLE`], judged; `None` where no cell keeps to
    /// that.
    pub gentle: Option<Cell>,
}

impl Grid {
    /// Delay that an outcome adds to what the cross traffic causes alone, seconds.
    pub fn added(&self, outcome: &Outcome) -> f64 {
        added(&self.alone, outcome)
    }

    /// The fewest streams with which some window reaches this share of the best goodput.
    pub fn fewest(&self, share: f64) -> u16 {
        let wanted = share * self.best.outcome.goodput;
        let reach = self
            .cells
            .iter()
            .filter(|cell| cell.outcome.goodput >= wanted);
        let fewest = reach.map(|cell| cell.setting.streams.get()).min();
        let best = self.best.setting.streams.get();
        fewest.map_or(best, |fewest| fewest.min(best))
    }
}

fn added(alone: &Outcome, outcome: &Outcome) -> f64 {
    (outcome.wait - alone.wait).max(0.0)
}

/// The most streams that count: no more than the path and its queue hold packets (rule of thumb of
/// the analysis of striped transfers, about 2002).
pub fn streams_max(path: &PathSpec) -> u64 {
    (in_flight(path).get() / u64::from(path.hosts.mtu)).max(1)
}

/// What the path and its queue hold.
pub fn in_flight(path: &PathSpec) -> Bytes {
    let packet = Bytes::new(path.hosts.mtu.into());
    let queue = match path.forward.queue.limit() {
        QueueLimit::Bytes(bytes) => bytes,
        QueueLimit::Packets(packets) => packet.times(packets.into()),
    };
    path.bandwidth_delay_product() + queue
}

/// The grids of `paths`.
///
/// # Errors
/// When a cell cannot be simulated.
pub fn explore(paths: &[PathSpec], plan: &Plan, runner: &mut Runner) -> Result<Vec<Grid>, String> {
    let first = paths.iter().map(unbounded).collect();
    let first = run_cells("unbounded windows", paths, first, runner)?;
    let rest = paths.iter().zip(&first);
    let rest = rest.map(|(path, known)| others(path, known, plan.sparse));
    let rest = rest.collect();
    let rest = run_cells("other windows", paths, rest, runner)?;
    let alone = alone(paths, runner)?;
    let mut cells: Vec<Vec<Cell>> = first;
    for (cells, more) in cells.iter_mut().zip(rest) {
        cells.extend(more);
        cells.sort_by_key(|cell| (cell.setting.streams, cell.setting.window));
    }
    judge(paths, cells, alone, plan, runner)
}

/// Runs the cells of each path once.
fn run_cells(
    what: &str,
    paths: &[PathSpec],
    settings: Vec<Vec<Setting>>,
    runner: &mut Runner,
) -> Result<Vec<Vec<Cell>>, String> {
    let all: Vec<Job> = (paths.iter().zip(&settings))
        .flat_map(|(path, settings)| jobs(path, settings, &[SEED], Length::Usual))
        .collect();
    let mut outcomes = runner.run(what, &all)?.into_iter();
    let mut cell = |setting| {
        Some(Cell {
            setting,
            outcome: outcomes.next()?,
        })
    };
    Ok(settings
        .into_iter()
        .map(|settings| settings.into_iter().filter_map(&mut cell).collect())
        .collect())
}

pub fn jobs<'a>(
    path: &'a PathSpec,
    settings: &'a [Setting],
    seeds: &[u64],
    length: Length,
) -> Vec<Job<'a>> {
    let of = |setting| {
        seeds.iter().map(move |&seed| Job {
            path,
            setting: Some(setting),
            seed,
            length,
        })
    };
    settings.iter().flat_map(of).collect()
}

fn alone(paths: &[PathSpec], runner: &mut Runner) -> Result<Vec<Outcome>, String> {
    let busy = paths.iter().filter(|path| !path.cross.is_empty());
    let job = |path| {
        JUDGES.map(|seed| Job {
            path,
            setting: None,
            seed,
            length: Length::Usual,
        })
    };
    let jobs: Vec<Job> = busy.flat_map(job).collect();
    let outcomes = runner.run("cross traffic alone", &jobs)?;
    let mut outcomes = outcomes.chunks(JUDGES.len());
    let of = |path: &PathSpec| match path.cross.is_empty() {
        true => Outcome::default(),
        false => outcomes.next().map_or(Outcome::default(), mean),
    };
    Ok(paths.iter().map(of).collect())
}

fn counts(path: &PathSpec) -> impl Iterator<Item = StreamCount> {
    let most = streams_max(path);
    let counts = STREAMS.into_iter().filter(move |&streams| streams <= most);
    counts.filter_map(|streams| StreamCount::new(streams).ok())
}

/// What one stream keeps in flight with this window.
pub fn flight(path: &PathSpec, window: Window) -> Bytes {
    let setting = Setting::new(StreamCount::ONE, window);
    let scenario = SimulatedPath::new(path, 0).scenario(&setting, SEED);
    scenario
        .ok()
        .and_then(|scenario| scenario.window)
        .unwrap_or_default()
}

/// The smallest power of two that lets one stream fill path and queue twice over.
fn widest(path: &PathSpec) -> Window {
    let mut window = WINDOW_MIN;
    while flight(path, Window::Fixed(window)) < in_flight(path).times(2) && window.get() < 1 << 30 {
        window = window.times(2);
    }
    Window::Fixed(window)
}

/// Automatic windows, and beside them windows that never bind, where automatic ones may.
fn unbounded(path: &PathSpec) -> Vec<Setting> {
    let mut windows = vec![Window::Auto];
    if flight(path, Window::Auto) < in_flight(path).times(2) {
        windows.push(widest(path));
    }
    let settings = |streams| {
        windows
            .iter()
            .map(move |&window| Setting::new(streams, window))
    };
    counts(path).flat_map(settings).collect()
}

/// The other fixed windows that can matter, given the goodput of `known` ones.
fn others(path: &PathSpec, known: &[Cell], sparse: bool) -> Vec<Setting> {
    let best = known
        .iter()
        .map(|cell| cell.outcome.goodput)
        .fold(0.0, f64::max);
    let rtt = path.base_rtt().as_secs_f64();
    let Window::Fixed(widest) = widest(path) else {
        return Vec::new();
    };
    let mut settings = Vec::new();
    for streams in counts(path) {
        let mut window = WINDOW_MIN;
        while window < widest {
            let together = flight(path, Window::Fixed(window)).times(streams.get().into());
            let products = together.as_f64() / path.bandwidth_delay_product().as_f64();
            let counts = match sparse {
                true => FITTING.contains(&products),
                false => together < in_flight(path).times(2),
            };
            if counts && together.as_f64() * 8.0 / rtt >= BOUND * best {
                settings.push(Setting::new(streams, Window::Fixed(window)));
            }
            window = window.times(2);
        }
    }
    settings
}

/// Runs the contenders again and keeps the best of them.
fn judge(
    paths: &[PathSpec],
    cells: Vec<Vec<Cell>>,
    alone: Vec<Outcome>,
    plan: &Plan,
    runner: &mut Runner,
) -> Result<Vec<Grid>, String> {
    let contenders: Vec<Vec<Setting>> = cells
        .iter()
        .zip(&alone)
        .map(|(cells, alone)| contenders(cells, alone, plan))
        .collect();
    let all: Vec<Job> = paths
        .iter()
        .zip(&contenders)
        .flat_map(|(path, settings)| jobs(path, settings, plan.judges, plan.length))
        .collect();
    let outcomes = runner.run("contenders", &all)?;
    let mut outcomes = outcomes.chunks(plan.judges.len()).map(mean);
    let mut grids = Vec::new();
    for (((path, cells), alone), settings) in paths.iter().zip(cells).zip(alone).zip(contenders) {
        let judged: Vec<Cell> = settings
            .into_iter()
            .zip(&mut outcomes)
            .map(|(setting, outcome)| Cell { setting, outcome })
            .collect();
        let best = highest(judged.iter()).ok_or_else(|| format!("{} has no cells", path.name))?;
        let gentle = highest(
            judged
                .iter()
                .filter(|cell| added(&alone, &cell.outcome) <= GENTLE),
        );
        grids.push(Grid {
            path: path.clone(),
            cells,
            alone,
            best,
            gentle,
        });
    }
    Ok(grids)
}

/// The best cells, and the best of those within the gentle budget.
fn contenders(cells: &[Cell], alone: &Outcome, plan: &Plan) -> Vec<Setting> {
    let mut ranked: Vec<&Cell> = cells.iter().collect();
    ranked.sort_by(|a, b| b.outcome.goodput.total_cmp(&a.outcome.goodput));
    let gentle = ranked
        .iter()
        .filter(|cell| added(alone, &cell.outcome) <= GENTLE);
    let all = ranked.iter().take(plan.contenders);
    let all = all.chain(gentle.take(plan.contenders_gentle));
    let mut settings: Vec<Setting> = Vec::new();
    for cell in all {
        if !settings.contains(&cell.setting) {
            settings.push(cell.setting.clone());
        }
    }
    settings
}

fn highest<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<Cell> {
    cells
        .max_by(|a, b| a.outcome.goodput.total_cmp(&b.outcome.goodput))
        .cloned()
}
