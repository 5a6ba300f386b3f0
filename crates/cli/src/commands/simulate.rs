//! `trunkline simulate`: one setting or many, in virtual time.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use trunkline::Hint;

use trunkline::simulate::{self, Cache, Grid, LogForm, Plan, Simulated, TcpSettings, Work};
use trunkline::{AnyDocument, Cancel, sim::Scenario};

use crate::args::{Compat, Simulate};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::CampaignProgress;
use crate::stop;

pub(crate) fn run(arguments: &Simulate) -> Result<ExitCode, Failure> {
    let grid = grid(arguments)?;
    if arguments.fluid {
        return by_fluid(arguments, &grid);
    }
    simulate::check(&grid)?;
    refuse_for_many(arguments, grid.cells().len())?;
    let cache = cache(arguments.cache.as_deref(), arguments.no_cache)?;
    output::check_places(&arguments.output.output, arguments.plots.as_deref())?;
    let log = arguments.log.as_deref().map(Log::create).transpose()?;
    let cancel = stop::listen()?;
    let mut progress = CampaignProgress::new();
    let draws = is_drawn(arguments);
    let simulated = trunkline::simulate(&grid, cache.as_ref(), draws, &cancel, &mut |seen| {
        progress.show(seen)
    })?;
    drop(progress);
    warn(&simulated);
    output::deliver_rows(&simulated.document, &arguments.output, &arguments.keep)?;
    if let Some(folder) = &arguments.plots {
        output::write_plots(&simulated.document, folder)?;
    }
    if let Some(log) = log {
        log.write(&simulated.cells[0], &cancel)?;
    }
    match simulated.unfinished {
        0 => Ok(ExitCode::SUCCESS),
        left => Err(Failure::unfinished(left, simulated.runs.len())),
    }
}

/// The one setting by the fluid model: nothing of it is kept but its result.
fn by_fluid(arguments: &Simulate, grid: &Grid) -> Result<ExitCode, Failure> {
    output::check_places(&arguments.output.output, None)?;
    let document = AnyDocument::from(simulate::fluid(grid)?);
    output::deliver_rows(&document, &arguments.output, &arguments.keep)?;
    Ok(ExitCode::SUCCESS)
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
    fn write(mut self, scenario: &Scenario, cancel: &Cancel) -> Result<(), Failure> {
        simulate::log(scenario, LogForm::of(self.file), cancel, &mut self.out)?;
        tell!("wrote {}", self.file.display());
        Ok(())
    }
}

fn grid(arguments: &Simulate) -> Result<Grid, Failure> {
    let path = trunkline::load_path(&arguments.path)?;
    let first = arguments.variant.as_ref().and_then(|list| list.0.first());
    let mut base = simulate::scenario(path, first.copied())?;
    if arguments.compat == Some(Compat::Ns2) {
        base.tcp = TcpSettings::ns2(&base.path);
    }
    base.tcp.ecn |= arguments.ecn;
    if let Some(segments) = arguments.initial_window {
        base.tcp.initial_window = segments;
    }
    base.class = arguments.class;
    base.work = work(arguments);
    let plan = Plan {
        duration: arguments.duration,
        warmup: arguments.warmup,
        limit: simulate::DURATION_MAX,
    };
    base.series_interval = arguments.series;
    simulate::apply(&plan, &mut base)?;
    let variants = arguments.variant.as_ref().map(|list| list.0.clone());
    Ok(Grid {
        variants: variants.unwrap_or_else(|| vec![base.variant]),
        streams: arguments.streams.0.clone(),
        windows: arguments
            .window
            .0
            .iter()
            .map(|window| window.fixed())
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

/// The folder of finished runs. One that was asked for has to work; the default one may be missing,
/// which is said.
pub(crate) fn cache(folder: Option<&Path>, keep_nothing: bool) -> Result<Option<Cache>, Failure> {
    if keep_nothing {
        return Ok(None);
    }
    if let Some(folder) = folder {
        let cache = Cache::open(folder).map_err(trunkline::Error::from)?;
        return Ok(Some(cache));
    }
    Ok(Cache::open_default()
        .inspect_err(|error| {
            tell!(
                "warning: {error}; nothing is kept\n\nhint: {}",
                error.hint().unwrap_or_default()
            )
        })
        .ok())
}

fn warn(simulated: &Simulated) {
    if let Some(error) = &simulated.not_kept {
        tell!("warning: not every finished run could be kept: {error}");
    }
    let cached = simulated.runs.iter().filter(|ran| ran.cached).count();
    if cached > 0 {
        tell!(
            "{cached} of {} runs were kept from before",
            simulated.runs.len()
        );
    }
}
