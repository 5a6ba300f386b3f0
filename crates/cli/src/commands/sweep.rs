//! `trunkline sweep`: a grid of settings in cycles, each visit kept as it is finished.

mod keeper;
mod plan;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use observe::TargetInfo;
use record::archive::{Filter, KeptSweep, SweepEntry};
use record::{Archive, Target};
use report::text;
use sweep::{Ledger, SweepError, SweepPlan};
use target::TargetName;

use crate::archive::default_place;
use crate::args::Sweep;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::SweepProgress;
use crate::stop::Stop;
use keeper::ArchiveKeeper;

/// A sweep on its way: what is measured, and where it is kept.
struct Journey {
    id: i64,
    name: TargetName,
    plan: SweepPlan,
    ledger: Ledger,
}

pub(crate) fn run(arguments: &Sweep) -> Result<ExitCode, Failure> {
    if arguments.no_history {
        return Err(Failure::wrong_request(
            "a sweep keeps every visit as it is finished, so that nothing is lost when it is interrupted",
            "leave out `--no-history`; `--history FILE` keeps it in a file of its own",
        ));
    }
    output::check_places(&arguments.output.output, None)?;
    let place = place(arguments)?;
    match arguments.resume {
        Some(asked) => resume(arguments, &place, asked),
        None => begin(arguments, &place),
    }
}

fn place(arguments: &Sweep) -> Result<PathBuf, Failure> {
    let place = arguments.history.clone().or_else(default_place);
    place.ok_or_else(|| {
        Failure::wrong_request(
            "there is no place for the visits: neither TRUNKLINE_STATE, XDG_STATE_HOME nor HOME is set",
            "name the archive with `--history FILE`",
        )
    })
}

/// What a command needs besides a number to find the same archive.
fn elsewhere(arguments: &Sweep) -> String {
    let file = arguments.history.as_ref();
    file.map(|file| format!(" --history {}", file.display()))
        .unwrap_or_default()
}

fn begin(arguments: &Sweep, place: &Path) -> Result<ExitCode, Failure> {
    let asked = arguments.target.as_deref().unwrap_or_default();
    let name = TargetName::parse(asked, arguments.port)?;
    let plan = plan::plan(arguments)?;
    let mut archive = Archive::open(place).map_err(|error| Failure::no_sweep(&error))?;
    // Also says who is not there or may not emulate, before anything is entered.
    let stop = Stop::listen()?;
    let mut target = target::open(&name, plan.seed)?;
    let known = described(&target.describe(), &name);
    hint_at_unfinished(&archive, &known, &plan, &elsewhere(arguments));
    let origin = output::origin(plan.seed);
    let id = archive
        .begin_sweep(&origin, &plan::words(asked, &name), &known, &plan)
        .map_err(|error| Failure::no_sweep(&error))?;
    let journey = Journey {
        id,
        name,
        plan,
        ledger: Ledger::default(),
    };
    go(arguments, journey, archive, &mut *target, &stop)
}

fn resume(arguments: &Sweep, place: &Path, asked: Option<i64>) -> Result<ExitCode, Failure> {
    let mut archive = Archive::open_existing(place).map_err(|error| Failure::no_sweep(&error))?;
    let kept = match asked {
        Some(id) => archive.sweep(id)?,
        None => newest_unfinished(&archive, place)?,
    };
    let name = TargetName::parse(&kept.asked, sockets::PORT_DEFAULT)?;
    plan::check_same(arguments, &kept, &name)?;
    if kept.plan.remaining(&kept.ledger).is_empty() {
        tell!("sweep {} is finished: nothing is left to do", kept.id);
        show(arguments, &archive, kept.id)?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = Stop::listen()?;
    let first = kept
        .plan
        .remaining(&kept.ledger)
        .first()
        .map(|visit| visit.number);
    let seed = target::seed_from(kept.plan.seed, first.unwrap_or(1).into());
    let mut target = target::open_to_resume(&name, kept.plan.seed, seed)?;
    archive
        .mark_sweep(kept.id, None)
        .map_err(|error| Failure::no_sweep(&error))?;
    let journey = Journey {
        id: kept.id,
        name,
        plan: kept.plan,
        ledger: kept.ledger,
    };
    go(arguments, journey, archive, &mut *target, &stop)
}

fn described(info: &TargetInfo, name: &TargetName) -> Target {
    Target::from(info).on_path(name.path())
}

/// Somebody who types the same command again mostly wants to go on.
fn hint_at_unfinished(archive: &Archive, target: &Target, plan: &SweepPlan, elsewhere: &str) {
    let filter = Filter {
        target: Some(target.name.clone()),
        ..Filter::default()
    };
    let unfinished = archive.sweeps(&filter).unwrap_or_default();
    let unfinished = unfinished.iter().rev().filter(|one| one.is_unfinished());
    let same = |one: &&SweepEntry| {
        let kept = archive.sweep(one.id);
        kept.is_ok_and(|kept| kept.plan == *plan && kept.target.name == target.name)
    };
    if let Some(one) = unfinished.into_iter().find(same) {
        tell!(
            "hint: sweep {id} is the same and stands at {} of {} visits: `trunkline sweep --resume {id}{elsewhere}` goes on with it",
            one.measured,
            one.visits(),
            id = one.id,
        );
    }
}

fn newest_unfinished(archive: &Archive, place: &Path) -> Result<KeptSweep, Failure> {
    let sweeps = archive.sweeps(&Filter::default())?;
    // By number, not by date: clocks are set back.
    let unfinished = sweeps.iter().filter(|one| one.is_unfinished());
    let newest = unfinished.max_by_key(|one| one.id);
    let newest = newest.ok_or_else(|| {
        Failure::wrong_request(
            &format!("no sweep in {} is unfinished", place.display()),
            "name one with `--resume SWEEP` to make the visits again that failed, or begin one with a TARGET",
        )
    })?;
    Ok(archive.sweep(newest.id)?)
}

/// Makes the visits that are left, and shows what there is in the end.
fn go(
    arguments: &Sweep,
    mut journey: Journey,
    archive: Archive,
    target: &mut dyn observe::Target,
    stop: &Stop,
) -> Result<ExitCode, Failure> {
    let _claim = archive.claim_sweep(journey.id)?;
    announce(&journey);
    let mut progress = SweepProgress::new(stop, &journey.plan);
    let mut keeper = ArchiveKeeper::new(archive, &journey.name, target.describe(), &journey);
    let ended = sweep::run(
        target,
        &journey.plan,
        &mut journey.ledger,
        &mut keeper,
        &mut progress,
    );
    drop(progress);
    let mut archive = keeper.into_archive();
    if let (Err(SweepError::Request(error)), 0) = (&ended, journey.ledger.made()) {
        archive.discard_empty_sweep(journey.id)?;
        return Err(Failure::from(error));
    }
    if let Err(error) = &ended {
        // Where nothing can be written, the rows say what there is.
        let _ = archive.mark_sweep(journey.id, Some(&error.to_string()));
    }
    warn_of_failures(&journey);
    match ended {
        Ok(()) => {
            show(arguments, &archive, journey.id)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(cut_short(arguments, &archive, &journey, &error)),
    }
}

/// What there is was kept; it is shown where there is any, and how to go on is said last.
fn cut_short(
    arguments: &Sweep,
    archive: &Archive,
    journey: &Journey,
    error: &SweepError,
) -> Failure {
    if journey.ledger.measured() > 0
        && let Err(failure) = show(arguments, archive, journey.id)
    {
        failure.tell();
    }
    Failure::sweep_ended(
        error,
        &format!("{}{}", journey.id, elsewhere(arguments)),
        journey.ledger.measured(),
        journey.plan.visits(),
    )
}

fn announce(journey: &Journey) {
    let left = journey.plan.remaining(&journey.ledger).len();
    let settings = text::count(journey.plan.places() as u64, "setting");
    let cycles = text::count(journey.plan.cycles.into(), "cycle");
    let visits = journey.plan.visits();
    let time = match journey.name {
        // As long as this machine needs to calculate it.
        TargetName::Simulated(_) => String::new(),
        _ => format!(
            ", about {}",
            report::format::lasting(journey.plan.time_for(left, &journey.ledger).as_secs_f64())
        ),
    };
    match journey.ledger.measured() {
        0 => tell!(
            "sweep {}: {settings} in {cycles}, {}{time}",
            journey.id,
            text::count(visits, "visit")
        ),
        measured => tell!(
            "sweep {}: {measured} of {visits} visits are there, {left} are left{time}",
            journey.id
        ),
    }
}

fn warn_of_failures(journey: &Journey) {
    for index in journey.ledger.always_failed(&journey.plan) {
        let Some((setting, _)) = journey.plan.at(index) else {
            continue;
        };
        tell!(
            "warning: {} x {} failed in every cycle; `trunkline history {} --csv` has the reasons",
            setting.streams,
            setting.window,
            journey.id
        );
    }
}

/// Shows the sweep as the archive has it, and says where that is.
fn show(arguments: &Sweep, archive: &Archive, id: i64) -> Result<(), Failure> {
    let document = archive.load(id)?;
    output::deliver_rows(&document, &arguments.output, &crate::args::Keep::NOTHING)?;
    let elsewhere = elsewhere(arguments);
    tell!("kept as sweep {id}: `trunkline history {id}{elsewhere}` shows it again");
    Ok(())
}
