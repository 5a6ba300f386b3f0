//! Several paths in one sweep: cycle by cycle, in one figure and table.

use std::path::Path;
use std::process::ExitCode;

use trunkline::login;
use trunkline::sweep::{self, Sweep as Kept};
use trunkline::{AnyDocument, Document, Target, TargetName, record, report};

use super::{announce, elsewhere, plan, warn_of_failures};
use crate::args::{Sweep, log_in};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::SweepProgress;
use crate::stop;

pub(super) fn run(arguments: &Sweep, place: &Path) -> Result<ExitCode, Failure> {
    check(arguments)?;
    let plan = plan::plan(arguments)?;
    sweep::check_place(place)?;
    let mut names = Vec::new();
    for asked in &arguments.targets {
        let name = TargetName::parse(asked, arguments.port)?.leaving(plan.via.clone())?;
        if plan.user.is_some() {
            login::check_target(&name)?;
        }
        names.push((asked, name));
    }
    // One user of all servers, whose password is asked for once.
    let login = plan.user.as_ref().map(log_in).transpose()?;
    let cancel = stop::listen()?;
    // All are there before anything is entered.
    let mut targets = Vec::new();
    for (asked, name) in names {
        targets.push((asked, Target::open_as(name, plan.seed, login.clone())?));
    }
    let mut sweeps = Vec::new();
    for (asked, target) in targets {
        sweeps.push(Kept::begin(place, asked, target, plan.clone())?);
    }
    let claims: Result<Vec<_>, _> = sweeps.iter().map(Kept::claim).collect();
    let _claims = claims?;
    sweeps.iter().for_each(announce);
    let mut progress = SweepProgress::new(&plan);
    let ended = sweep::run_together(&mut sweeps, &cancel, &mut |place, event| {
        progress.of(arguments.targets.get(place).map_or("", String::as_str));
        progress.on(event);
    });
    drop(progress);
    sweeps.iter().for_each(warn_of_failures);
    if let Err(ended) = ended {
        return Err(cut_short(arguments, &sweeps, ended));
    }
    show(arguments, &sweeps)?;
    Ok(ExitCode::SUCCESS)
}

/// What has one document for one path cannot be had of several.
fn check(arguments: &Sweep) -> Result<(), Failure> {
    let output = &arguments.output;
    let asked = [
        (output.output.json, "--json"),
        (output.output.brief, "--brief"),
        (output.output.save.is_some(), "--save"),
        (output.csv, "--csv"),
        (arguments.beside.is_some(), "--beside"),
    ];
    if let Some((_, option)) = asked.iter().find(|(is_asked, _)| *is_asked) {
        return Err(Failure::wrong_request(
            &format!(
                "`{option}` is for one path, and {} are named",
                arguments.targets.len()
            ),
            "leave it out: each path is kept as a sweep of its own, and `trunkline history SWEEP` \
             has its document and rows",
        ));
    }
    let mut names = arguments.targets.clone();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Failure::wrong_request(
            &format!("{} is named twice", pair[0]),
            "name each path once; `--cycles` visits it more often",
        )),
    }
}

/// What is kept, and how to go on with each.
fn cut_short(arguments: &Sweep, sweeps: &[Kept], ended: sweep::Ended) -> Failure {
    let place = elsewhere(arguments);
    for one in sweeps.iter().filter(|one| one.ledger().measured() > 0) {
        tell!(
            "sweep {id} of {}: {} of {} visits are kept; `trunkline sweep --resume {id}{place}` \
             goes on with it",
            one.target().describe().name,
            one.ledger().measured(),
            one.plan().visits(),
            id = one.id(),
        );
    }
    ended.error.into()
}

fn show(arguments: &Sweep, sweeps: &[Kept]) -> Result<(), Failure> {
    let mut documents: Vec<(i64, Document<record::Sweep>)> = Vec::new();
    for one in sweeps {
        if let AnyDocument::Sweep(document) = one.document()? {
            documents.push((one.id(), *document));
        }
    }
    let (text, page) = report::sweeps(&documents, output::paint())?;
    output::print(&text)?;
    if let Some(file) = &arguments.output.output.report {
        record::save(file, &page)?;
        tell!("wrote {}", file.display());
    }
    let place = elsewhere(arguments);
    for (id, _) in &documents {
        tell!("kept as sweep {id}: `trunkline history {id}{place}` shows all of it");
    }
    Ok(())
}
