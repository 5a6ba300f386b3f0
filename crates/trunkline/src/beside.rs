//! Settings simulated on the path that explains what they carried, beside what was measured.

use ::target::SimulatedPath;
use archive::Archive;
use inference::Posterior;
use netpath::PathSpec;
use observe::{Direction, Observation, SamplePlan, Setting, Target as _};
use record::{AnyDocument, Beside, BesideSetting, Measure, Run, Sweep, SweepCell, Target};
use units::Span;

use crate::progress::{Progress, Watcher};
use crate::{Cancel, Error, OnProgress};

/// The most visits of a sweep that its path is inferred from.
const VISITS: usize = 24;
/// Simulated runs of each setting, each with draws of its own.
const RUNS: u64 = 7;

/// A setting, and what was measured with it.
struct Measured {
    setting: Setting,
    duration: Span,
    goodput: f64,
}

/// Infers the path of a kept sweep from its visits, at most 24 of them, evenly over the grid, and
/// simulates each setting on it: one result for each direction. The archive keeps it with the
/// sweep.
///
/// # Errors
/// When the visits tell nothing of a path, or it was cancelled.
pub fn simulate_beside(
    archive: &mut Archive,
    id: i64,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<Beside>, Error> {
    let AnyDocument::Sweep(document) = archive.load(id)? else {
        let what = format!("run {id} is no sweep");
        return Err(Error::wrong_request(
            what,
            "`trunkline history` lists sweeps",
        ));
    };
    let sweep = document.body;
    let all = cells_of_sweep(&sweep);
    let mut found = Vec::new();
    for direction in [Direction::Forward, Direction::Reverse] {
        let cells = of(&all, direction);
        if cells.is_empty() {
            continue;
        }
        on_progress(Progress::PartStarted("inferring the path"));
        let seen = seen(archive, &sweep, direction)?;
        if let Some(file) = path_file(&seen, &sweep.target) {
            let settings = simulated(&file, &cells, cancel, on_progress)?;
            found.push(Beside::new(direction, file, settings));
        }
    }
    if found.is_empty() {
        return Err(Error::wrong_request(
            "the visits tell nothing of the path",
            "it takes readings over time, in one direction at once, and round trips",
        ));
    }
    archive.keep_beside(id, &found)?;
    Ok(found)
}

/// What two documents measured, simulated on the path that each inferred, or, of the same target,
/// the other. Nothing where neither did.
///
/// # Errors
/// When it was cancelled.
pub fn compare_beside(
    documents: [(i64, &AnyDocument); 2],
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<Beside>, Error> {
    let mut found = Vec::new();
    let [first, second] = documents;
    for ((run, document), other) in [(first, second.1), (second, first.1)] {
        let (target, cells) = measured(document);
        let other = Some(other).filter(|other| measured(other).0 == target && target.is_some());
        let paths = paths(document);
        let paths = match paths.is_empty() {
            true => other.map(self::paths).unwrap_or_default(),
            false => paths,
        };
        for (direction, file) in paths {
            let settings = simulated(&file, &of(&cells, direction), cancel, on_progress)?;
            found.push(Beside {
                run: Some(run),
                ..Beside::new(direction, file, settings)
            });
        }
    }
    found.retain(|beside| !beside.settings.is_empty());
    Ok(found)
}

/// The inferred path of each direction that a document has one of.
fn paths(document: &AnyDocument) -> Vec<(Direction, String)> {
    if let AnyDocument::Sweep(sweep) = document {
        let beside = sweep.body.beside.iter();
        return beside
            .map(|one| (one.direction, one.path_file.clone()))
            .collect();
    }
    let direction = measured(document)
        .1
        .first()
        .map(|one| one.setting.direction);
    let file = document.path_file().map(str::to_owned);
    direction.zip(file).into_iter().collect()
}

/// What a document measured, and of which path or host.
fn measured(document: &AnyDocument) -> (Option<(&str, Option<&str>)>, Vec<Measured>) {
    let cells = |runs: Vec<&Run>| runs.into_iter().map(cell_of_run).collect();
    let (target, cells) = match document {
        AnyDocument::Measure(one) => (&one.body.target, cells(vec![&one.body.run])),
        AnyDocument::Tune(one) => {
            let runs = one.body.samples.iter().map(|sample| &sample.run);
            (&one.body.target, cells(runs.collect()))
        }
        AnyDocument::Demo(one) => {
            let usual = one.body.runs.iter().map(|labelled| &labelled.run);
            let runs = usual.chain(one.body.tune.samples.iter().map(|sample| &sample.run));
            (&one.body.target, cells(runs.collect()))
        }
        AnyDocument::Sweep(one) => (&one.body.target, cells_of_sweep(&one.body)),
        _ => return (None, Vec::new()),
    };
    (Some((&target.name, target.path_digest.as_deref())), cells)
}

fn cell_of_run(run: &Run) -> Measured {
    Measured {
        setting: run.setting.clone(),
        duration: Span::from_secs_f64(run.duration_seconds),
        goodput: run.goodput_bits_per_second as f64,
    }
}

/// Every setting of a sweep that was measured, with its median.
fn cells_of_sweep(sweep: &Sweep) -> Vec<Measured> {
    let places = (0..sweep.plan.places()).filter_map(|place| sweep.plan.at(place));
    let cell = |(setting, duration): (&Setting, Span)| {
        let ours = sweep.cells.iter().filter(|cell| {
            cell.setting == *setting && Span::from_secs_f64(cell.duration_seconds) == duration
        });
        let figures = ours.filter_map(|cell| cell.figures.as_ref());
        let goodputs: Vec<f64> = figures
            .map(|figures| figures.goodput_bits_per_second as f64)
            .collect();
        Some(Measured {
            setting: setting.clone(),
            duration,
            goodput: stats::median(&goodputs)?,
        })
    };
    places.filter_map(cell).collect()
}

fn of(cells: &[Measured], direction: Direction) -> Vec<&Measured> {
    let ours = cells.iter();
    ours.filter(|one| one.setting.direction == direction)
        .collect()
}

/// Visits of one direction that stand for all of them, cycle by cycle; of large grids every second
/// setting, or every third, and so on.
fn seen(archive: &Archive, sweep: &Sweep, direction: Direction) -> Result<Vec<Run>, Error> {
    let measured = sweep.cells.iter().filter(|cell| cell.figures.is_some());
    let mut visits: Vec<&SweepCell> = measured
        .filter(|cell| cell.setting.direction == direction)
        .collect();
    let settings = &sweep.plan.settings;
    let place = |cell: &SweepCell| settings.iter().position(|one| *one == cell.setting);
    visits.sort_by_key(|cell| (cell.cycle, place(cell)));
    let first = visits.first().map_or(0, |first| first.cycle);
    let grid = visits.iter().filter(|cell| cell.cycle == first).count();
    let visits = visits.into_iter().step_by(grid.div_ceil(VISITS).max(1));
    let runs = visits.take(VISITS).filter_map(|cell| cell.run);
    let mut seen = Vec::new();
    for run in runs {
        if let AnyDocument::Measure(visit) = archive.load(run)? {
            let Measure { run, .. } = visit.body;
            seen.push(run);
        }
    }
    Ok(seen)
}

/// The path that explains what was seen, as a path file.
fn path_file<'a>(seen: &'a [Run], target: &Target) -> Option<String> {
    let observations: Vec<Observation> = seen.iter().map(Run::observation).collect();
    let used = |run: &'a Run| {
        run.congestion_used
            .as_ref()
            .or(run.setting.congestion.as_ref())
    };
    let congestion = seen.iter().find_map(used).map(String::as_str);
    let posterior = Posterior::explaining(&observations, target.limits, congestion)?;
    Some(posterior.path_file(congestion.unwrap_or("cubic")))
}

/// What the simulator carries on the path of `file`.
fn simulated(
    file: &str,
    cells: &[&Measured],
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<BesideSetting>, Error> {
    let path = PathSpec::from_toml("inferred", file)?;
    let mut settings = Vec::new();
    for (number, cell) in (1..).zip(cells) {
        let setting = report::text::asked(&cell.setting);
        let part = format!("simulating {setting}, {number} of {}", cells.len());
        on_progress(Progress::PartStarted(&part));
        let mut watcher = Watcher::new(cancel, on_progress);
        settings.push(BesideSetting {
            setting: cell.setting.clone(),
            duration_seconds: cell.duration.as_secs_f64(),
            goodput_bits_per_second: cell.goodput as u64,
            simulated_bits_per_second: carried(&path, cell, &mut watcher)? as u64,
        });
    }
    Ok(settings)
}

/// The middle of several runs, in bits per second.
fn carried(path: &PathSpec, cell: &Measured, watcher: &mut Watcher<'_, '_>) -> Result<f64, Error> {
    // Whichever way the data went: the path's forward link carried it.
    let setting = Setting {
        direction: Direction::Forward,
        ..cell.setting.clone()
    };
    let plan = SamplePlan::lasting(cell.duration);
    let mut goodputs = Vec::new();
    for seed in 1..=RUNS {
        let seen = SimulatedPath::new(path, seed).observe(&setting, &plan, watcher)?;
        goodputs.push(seen.summary().goodput().mean.as_f64());
    }
    Ok(stats::median(&goodputs).unwrap_or_default())
}
