//! `trunkline study`: published figures, made again.

use std::process::ExitCode;

use trunkline::record;
use trunkline::study::{self, Programme};

use super::simulate::cache;
use crate::args::Study;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::CampaignProgress;
use crate::stop;

pub(crate) fn run(arguments: &Study) -> Result<ExitCode, Failure> {
    if arguments.names.is_empty() {
        let all = study::named(&["all".to_owned()])?;
        output::print(&study::listing(&all))?;
        return Ok(ExitCode::SUCCESS);
    }
    let programme = Programme {
        studies: study::named(&arguments.names)?,
        seeds: arguments.seeds,
    };
    // A folder that cannot be made must not cost the runs.
    if let Some(folder) = &arguments.out {
        output::check_folder(folder)?;
    }
    let cache = cache(arguments.cache.as_deref(), arguments.no_cache)?;
    let cancel = stop::listen()?;
    // First of all: users who are not root can only make the path while there is one thread.
    let programs = arguments
        .programs
        .then(|| study::run_programs(&programme, &cancel, &mut |run| tell!("{run}")));
    let programs = programs.transpose()?;
    // Without a page they would be told nowhere.
    for note in programs.iter().flat_map(|seen| &seen.notes) {
        tell!("{note}");
    }
    let mut progress = CampaignProgress::new();
    let made = study::make(
        &programme,
        cache.as_ref(),
        programs.as_ref(),
        &cancel,
        &mut |seen| progress.show(seen),
    )?;
    drop(progress);
    if let Some(error) = &made.not_kept {
        tell!("warning: not every finished run could be kept: {error}");
    }
    output::print(&study::summary(&made.studies))?;
    if let Some(folder) = &arguments.out {
        for (name, text) in &made.files {
            record::save(&folder.join(name), text)?;
        }
        tell!("wrote {}", folder.join("index.html").display());
    }
    Ok(ExitCode::SUCCESS)
}
