//! `trunkline simulate`: one setting or many, in virtual time.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;

use campaign::{self, Cache, CacheError, CampaignError, Finished, Grid, LogForm, Plan, Ran};
use observe::Window;
use record::simulate::{Cell, Run};
use record::{AnyDocument, Campaign, Document, Simulate as Body};
use sim::{Scenario, TcpSettings, Work};

use crate::args::{Compat, DURATION_MAX, Simulate};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::CampaignProgress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Simulate) -> Result<ExitCode, Failure> {
    let grid = grid(arguments)?;
    let mut runs = grid.runs()?;
    let mut cells = grid.cells();
    runs.extend(grid.alone());
    campaign::check(&cells)?;
    refuse_for_many(arguments, cells.len())?;
    let cache = cache(arguments.cache.as_deref(), arguments.no_cache)?;
    output::check_places(&arguments.output.output, arguments.plots.as_deref())?;
    let log = arguments.log.as_deref().map(Log::create).transpose()?;
    let stop = Stop::listen()?;
    let mut finished = go(&runs, cache.as_ref(), &stop)?;
    if let ([cell], true) = (&mut cells[..], is_drawn(arguments)) {
        *cell = campaign::to_draw(cell, &finished.runs[0].result);
        let drawn = go(std::slice::from_ref(cell), cache.as_ref(), &stop)?;
        finished.runs[0].result.series = drawn
            .runs
            .into_iter()
            .flat_map(|ran| ran.result.series)
            .collect();
    }
    warn(&finished);
    let document = document(arguments, &grid, &cells, &finished.runs);
    output::deliver_rows(&document, &arguments.output, &arguments.keep)?;
    if let Some(folder) = &arguments.plots {
        output::write_plots(&document, folder)?;
    }
    if let Some(log) = log {
        log.write(&cells[0], &stop)?;
    }
    match campaign::unfinished(&grid.base, &finished.runs) {
        0 => Ok(ExitCode::SUCCESS),
        left => Err(Failure::unfinished(left, finished.runs.len())),
    }
}

fn go(runs: &[Scenario], cache: Option<&Cache>, stop: &Stop) -> Result<Finished, CampaignError> {
    let mut progress = CampaignProgress::new(runs.len());
    campaign::run(runs, cache, stop.flag(), &mut |seen| progress.show(seen))
}

/// Whether the first seed runs once more for plots over time.
fn is_drawn(arguments: &Simulate) -> bool {
    let wanted = arguments.plots.is_some() || arguments.output.output.report.is_some();
    wanted && arguments.series.is_none()
}

/// What grows with every packet or moment is for one setting.
fn refuse_for_many(arguments: &Simulate, cells: usize) -> Result<(), Failure> {
    let asked = [
        ("--series", arguments.series.is_some()),
        ("--log", arguments.log.is_some()),
    ];
    match asked.into_iter().find(|(_, asked)| *asked && cells > 1) {
        Some((option, _)) => Err(Failure::wrong_request(
            &format!("`{option}` is for one setting, and there are {cells}"),
            "leave it out, or give one number of streams, one window and one variant",
        )),
        None => Ok(()),
    }
}

/// The file of a log, which is opened before hours are spent on runs.
struct Log<'a> {
    file: &'a Path,
    out: BufWriter<File>,
}

impl<'a> Log<'a> {
    fn create(file: &'a Path) -> Result<Self, Failure> {
        let out = File::create(file).map_err(|error| Failure::file(file, &error))?;
        Ok(Log {
            file,
            out: BufWriter::new(out),
        })
    }

    /// The run of the first seed once more, because what is kept of a run is not its packets.
    fn write(mut self, scenario: &Scenario, stop: &Stop) -> Result<(), Failure> {
        campaign::log(scenario, LogForm::of(self.file), stop.flag(), &mut self.out)?;
        tell!("wrote {}", self.file.display());
        Ok(())
    }
}

fn grid(arguments: &Simulate) -> Result<Grid, Failure> {
    let path = target::load_path(&arguments.path)?;
    let first = arguments.variant.as_ref().and_then(|list| list.0.first());
    let mut base = campaign::scenario(path, first.copied())?;
    if arguments.compat == Some(Compat::Ns2) {
        base.tcp = TcpSettings::ns2(&base.path);
    }
    base.tcp.ecn = arguments.ecn;
    if let Some(segments) = arguments.initial_window {
        base.tcp.initial_window = segments;
    }
    base.class = arguments.class;
    base.work = work(arguments);
    let plan = Plan {
        duration: arguments.duration,
        warmup: arguments.warmup,
        limit: DURATION_MAX,
    };
    base.series_interval = arguments.series;
    plan.apply(&mut base)?;
    let variants = arguments.variant.as_ref().map(|list| list.0.clone());
    Ok(Grid {
        variants: variants.unwrap_or_else(|| vec![base.variant]),
        streams: arguments.streams.0.clone(),
        windows: arguments
            .window
            .0
            .iter()
            .map(|window| fixed(*window))
            .collect(),
        seed: arguments.seed,
        seeds: arguments.seeds,
        base,
    })
}

fn work(arguments: &Simulate) -> Work {
    match (arguments.bytes, arguments.per_stream_bytes) {
        (Some(bytes), _) => Work::Striped(bytes),
        (_, Some(bytes)) => Work::PerStream(bytes),
        _ => Work::Endless,
    }
}

fn fixed(window: Window) -> Option<units::Bytes> {
    match window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some(bytes),
    }
}

/// The folder of finished runs. One that was asked for has to work; the default one may be missing,
/// which is said.
pub(super) fn cache(
    folder: Option<&Path>,
    keep_nothing: bool,
) -> Result<Option<Cache>, CacheError> {
    if keep_nothing {
        return Ok(None);
    }
    if let Some(folder) = folder {
        return Cache::open(folder).map(Some);
    }
    Ok(Cache::open_default()
        .inspect_err(|error| {
            tell!(
                "warning: {error}; nothing is kept\n\nhint: {}",
                error.hint()
            )
        })
        .ok())
}

pub(super) fn warn(finished: &Finished) {
    if let Some(error) = &finished.not_kept {
        tell!("warning: not every finished run could be kept: {error}");
    }
    let cached = finished.runs.iter().filter(|ran| ran.cached).count();
    if cached > 0 {
        tell!(
            "{cached} of {} runs were kept from before",
            finished.runs.len()
        );
    }
}

/// The document of all `runs`: those of the cells, then the cross traffic alone.
fn document(arguments: &Simulate, grid: &Grid, cells: &[Scenario], runs: &[Ran]) -> AnyDocument {
    let origin = output::origin(arguments.seed);
    let shapes: Vec<Run<'_>> = runs.iter().map(shape).collect();
    let seeds = usize::try_from(grid.seeds).unwrap_or(usize::MAX);
    let mut chunks = shapes.chunks(seeds);
    let of_cells: Vec<&[Run<'_>]> = chunks.by_ref().take(cells.len()).collect();
    let alone = chunks.next().unwrap_or_default();
    let cpu = campaign::process_cpu();
    if let ([cell], [runs]) = (cells, &of_cells[..]) {
        return Document::new(origin, Body::new(cell, runs, alone, cpu)).into();
    }
    let cells = cells.iter().zip(of_cells);
    let cells = cells.map(|(cell, runs)| Cell::new(cell, runs, alone));
    Document::new(origin, Campaign::new(&grid.base, cells.collect(), cpu)).into()
}

fn shape(ran: &Ran) -> Run<'_> {
    Run {
        result: &ran.result,
        cpu: ran.cpu,
        cached: ran.cached,
    }
}
