//! `trunkline sweep`: a grid of settings in cycles, each visit kept as it is finished.

mod plan;
mod together;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trunkline::draw;
use trunkline::history::{Archive, default_place};
use trunkline::report::text;
use trunkline::sweep::{self, SweepPlan};
use trunkline::{AnyDocument, Cancel, Target, TargetName};

use crate::args::{Keep, Sweep, password};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::{RunProgress, SweepProgress};
use crate::stop;

pub(crate) fn run(arguments: &Sweep) -> Result<ExitCode, Failure> {
    if arguments.no_history {
        return Err(Failure::wrong_request(
            "a sweep keeps every visit as it is finished, so that nothing is lost when it is \
                interrupted",
            "leave out `--no-history`; `--history FILE` keeps it in a file of its own",
        ));
    }
    output::check_places(&arguments.output.output, None)?;
    let place = place(arguments)?;
    match arguments.resume {
        Some(asked) => resume(arguments, &place, asked),
        None if arguments.targets.len() > 1 => together::run(arguments, &place),
        None => begin(arguments, &place),
    }
}

fn place(arguments: &Sweep) -> Result<PathBuf, Failure> {
    let place = arguments.history.clone().or_else(default_place);
    place.ok_or_else(|| {
        Failure::wrong_request(
            "there is no place for the visits: neither TRUNKLINE_STATE, XDG_STATE_HOME nor HOME is \
                set",
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
    let asked = arguments.targets.first().map_or("", String::as_str);
    let plan = plan::plan(arguments)?;
    let name = TargetName::parse(asked, arguments.port)?.leaving(plan.via.clone())?;
    sweep::check_place(place)?;
    let login = arguments.login.at(&name)?;
    // Also says who is not there or may not emulate, before anything is entered.
    let cancel = stop::listen()?;
    let target = Target::open_as(name, plan.seed, login)?;
    hint_at_unfinished(place, &target, &plan, &elsewhere(arguments))?;
    let sweep = sweep::Sweep::begin(place, asked, target, plan)?;
    go(arguments, place, sweep, &cancel)
}

fn resume(arguments: &Sweep, place: &Path, asked: Option<i64>) -> Result<ExitCode, Failure> {
    let kept = sweep::kept(place, asked)?;
    plan::check_same(arguments, &kept)?;
    if kept.plan.remaining(&kept.ledger).is_empty() {
        tell!("sweep {} is finished: nothing is left to do", kept.id);
        beside(arguments, place, kept.id, &stop::listen()?)?;
        show(arguments, place, kept.id)?;
        return Ok(ExitCode::SUCCESS);
    }
    let password = kept.plan.user.as_ref().map(password).transpose()?;
    let cancel = stop::listen()?;
    let sweep = sweep::Sweep::resume(place, kept, password.as_deref())?;
    go(arguments, place, sweep, &cancel)
}

/// A user who types the same command again mostly wants to go on.
fn hint_at_unfinished(
    place: &Path,
    target: &Target,
    plan: &SweepPlan,
    elsewhere: &str,
) -> Result<(), Failure> {
    if let Some(one) = sweep::unfinished_like(place, target, plan)? {
        tell!(
            "hint: sweep {id} is the same and stands at {} of {} visits: `trunkline sweep --resume \
                {id}{elsewhere}` goes on with it",
            one.measured,
            one.visits(),
            id = one.id,
        );
    }
    Ok(())
}

/// Makes the visits that are left, and shows what there is in the end.
fn go(
    arguments: &Sweep,
    place: &Path,
    mut sweep: sweep::Sweep,
    cancel: &Cancel,
) -> Result<ExitCode, Failure> {
    let _claim = sweep.claim()?;
    announce(&sweep);
    let mut progress = SweepProgress::new(sweep.plan());
    let ended = sweep.run(cancel, &mut |event| progress.on(event));
    drop(progress);
    match ended {
        Ok(()) => {
            warn_of_failures(&sweep);
            let beside = beside(arguments, place, sweep.id(), cancel);
            show_ended(arguments, &sweep)?;
            beside?;
            Ok(ExitCode::SUCCESS)
        }
        Err(ended) if ended.is_refused => Err(ended.error.into()),
        Err(ended) => {
            warn_of_failures(&sweep);
            Err(cut_short(arguments, &sweep, ended.error))
        }
    }
}

/// Simulates the settings on the path that explains them, where that was asked for.
fn beside(arguments: &Sweep, place: &Path, id: i64, cancel: &Cancel) -> Result<(), Failure> {
    if arguments.beside.is_none() {
        return Ok(());
    }
    let mut archive = Archive::open_existing(place)?;
    let mut progress = RunProgress::new();
    let found =
        trunkline::simulate_beside(&mut archive, id, cancel, &mut |event| progress.on(event));
    Ok(found.map(drop)?)
}

/// What there is was kept; it is shown where there is any, and how to go on is said last.
fn cut_short(arguments: &Sweep, sweep: &sweep::Sweep, error: trunkline::Error) -> Failure {
    let measured = sweep.ledger().measured();
    if measured > 0
        && let Err(failure) = show_ended(arguments, sweep)
    {
        failure.tell();
    }
    let id = format!("{}{}", sweep.id(), elsewhere(arguments));
    Failure::sweep_ended(error, &id, measured, sweep.plan().visits())
}

fn announce(sweep: &sweep::Sweep) {
    let left = sweep.plan().remaining(sweep.ledger()).len();
    let settings = text::count(sweep.plan().places() as u64, "setting");
    let cycles = text::count(sweep.plan().cycles.into(), "cycle");
    let visits = sweep.plan().visits();
    let time = match sweep.target().name() {
        // As long as this machine needs to calculate it.
        TargetName::Simulated(_) => String::new(),
        _ => format!(
            ", about {}",
            draw::format::lasting(sweep.plan().time_for(left, sweep.ledger()).as_secs_f64())
        ),
    };
    match sweep.ledger().measured() {
        0 => tell!(
            "sweep {}: {settings} in {cycles}, {}{time}",
            sweep.id(),
            text::count(visits, "visit")
        ),
        measured => tell!(
            "sweep {}: {measured} of {visits} visits are there, {left} are left{time}",
            sweep.id()
        ),
    }
}

fn warn_of_failures(sweep: &sweep::Sweep) {
    for index in sweep.ledger().always_failed(sweep.plan()) {
        let Some((setting, _)) = sweep.plan().at(index) else {
            continue;
        };
        tell!(
            "warning: {} x {} failed in every cycle; `trunkline history {} --csv` has the reasons",
            setting.streams,
            setting.window,
            sweep.id()
        );
    }
}

/// Shows a sweep that was made now.
fn show_ended(arguments: &Sweep, sweep: &sweep::Sweep) -> Result<(), Failure> {
    deliver(arguments, &sweep.document()?, sweep.id())
}

/// Shows a sweep that was finished before.
fn show(arguments: &Sweep, place: &Path, id: i64) -> Result<(), Failure> {
    let archive = Archive::open_existing(place)?;
    deliver(arguments, &archive.load(id)?, id)
}

/// Shows the sweep as the archive has it, and says where that is.
fn deliver(arguments: &Sweep, document: &AnyDocument, id: i64) -> Result<(), Failure> {
    output::deliver_rows(document, &arguments.output, &Keep::NOTHING)?;
    let elsewhere = elsewhere(arguments);
    tell!("kept as sweep {id}: `trunkline history {id}{elsewhere}` shows it again");
    Ok(())
}
