//! `trunkline study`: the figures of published studies, and whether their findings hold.

use std::path::Path;
use std::process::ExitCode;

use campaign::study::{self, NAMES, Programme, Studied};

use super::simulate::{cache, warn};
use crate::args::Study;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::CampaignProgress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Study) -> Result<ExitCode, Failure> {
    let programme = programme(arguments)?;
    let runs = programme.runs()?;
    // A folder that cannot be made must not cost the runs.
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(|error| Failure::folder(folder, &error))?;
    let cache = cache(arguments.cache.as_deref(), arguments.no_cache)?;
    let stop = Stop::listen()?;
    let mut progress = CampaignProgress::new(runs.len());
    let finished = campaign::run(&runs, cache.as_ref(), stop.flag(), &mut |seen| {
        progress.show(seen);
    });
    drop(progress);
    let finished = finished?;
    warn(&finished);
    let studies = programme.read(&finished.runs);
    write(&studies, folder)?;
    output::print(&report::study::summary(&studies))?;
    Ok(ExitCode::SUCCESS)
}

/// The studies that were asked for, each once, in their own order.
fn programme(arguments: &Study) -> Result<Programme, Failure> {
    let wanted = |name: &&str| {
        let names = &arguments.names;
        names.is_empty() || names.iter().any(|asked| asked == name)
    };
    let studies: Result<Vec<_>, _> = NAMES
        .iter()
        .copied()
        .filter(wanted)
        .map(study::named)
        .collect();
    Ok(Programme {
        studies: studies?,
        seeds: arguments.seeds,
    })
}

fn write(studies: &[Studied], folder: &Path) -> Result<(), Failure> {
    let origin = output::origin(1);
    let mut files = report::study::plots(studies)?;
    files.extend(report::study::tables(studies));
    let text = report::study::markdown(studies, &origin);
    files.push(("findings.md".to_owned(), text));
    let page = report::study::page(studies, &origin)?;
    files.push(("index.html".to_owned(), page));
    for (name, text) in files {
        record::save(&folder.join(name), &text)?;
    }
    tell!("wrote {}", folder.join("index.html").display());
    Ok(())
}
