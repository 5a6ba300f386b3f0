//! `trunkline copy`: files from here to there, or the other way.

mod selection;
mod spec;

use std::process::ExitCode;

use record::copy::shown_command;
use record::{AnyDocument, Copy as Body, CopyEventLine, CopyRequest, Document};
use transfer::{CopyControl, CopyError, Outcome};

use crate::args::{Copy, Route};
use crate::commands::limit;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::CopyProgress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Copy) -> Result<ExitCode, Failure> {
    let route = Route::parse(&arguments.places)?;
    let files = arguments.output.files();
    output::check_places(&files, None)?;
    let spec = spec::spec(arguments, &route)?;
    let stop = Stop::listen_calmly()?;
    let control = CopyControl::with_stop(stop.shared());
    control.set_rate_max(spec.rate_max);
    let _reins = limit::offer(&shown(arguments), control.clone());
    let mut progress = CopyProgress::new(arguments);
    let copied = transfer::copy(&spec, &control, &mut progress);
    let log = progress.finish();
    let (sources, destination) = names(arguments);
    let request = CopyRequest {
        spec: &spec,
        sources: &sources,
        destination: &destination,
    };
    let (outcome, failure) = ended(copied, arguments)?;
    let cut = failure.as_ref().map(|failure| failure.what());
    let body = Body::new(&request, log, &outcome, cut);
    let incomplete = incomplete(&body);
    let document = Document::new(output::origin_without_seed(), body);
    deliver(document, arguments)?;
    match failure.or(incomplete) {
        Some(failure) => Err(failure),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// What there is to show of it, and how it failed where it ended early; an error where there is
/// nothing to show.
fn ended(
    copied: Result<Outcome, CopyError>,
    arguments: &Copy,
) -> Result<(Outcome, Option<Failure>), Failure> {
    let error = match copied {
        Ok(outcome) => return Ok((outcome, None)),
        Err(error) => error,
    };
    let failure = Failure::copy(&error, &go_on());
    if arguments.output.json {
        let line = CopyEventLine::Error {
            what: failure.what(),
            hint: failure.hint().map(str::to_owned),
        };
        output::print(&line.to_line())?;
    }
    match error {
        CopyError::Lost { so_far, .. } | CopyError::Cancelled { so_far } => {
            Ok((*so_far, Some(failure)))
        }
        CopyError::Problem { .. } | CopyError::Unreachable { .. } => Err(failure),
    }
}

/// What `trunkline limit` says of this copy.
fn shown(arguments: &Copy) -> String {
    let (sources, destination) = names(arguments);
    format!("{} to {destination}", sources.join(" "))
}

/// All sources and the destination as the user wrote them.
fn names(arguments: &Copy) -> (Vec<String>, String) {
    let shown = |path: &std::path::PathBuf| path.display().to_string();
    let mut names: Vec<String> = arguments.places.iter().map(shown).collect();
    let destination = names.pop().unwrap_or_default();
    (names, destination)
}

/// The command that goes on with this copy: the same once more.
fn go_on() -> String {
    shown_command(std::env::args_os())
}

/// What follows from a dry run is the copy itself.
fn missing(copy: &Body) -> String {
    match copy.asked.dry_run {
        true => "the same command without `-n`".to_owned(),
        false => format!("`{}`", go_on()),
    }
}

fn incomplete(copy: &Body) -> Option<Failure> {
    let what = report::text::copy::failures_title(copy)?;
    Some(Failure::files_left(what, &missing(copy)))
}

fn deliver(document: Document<Body>, arguments: &Copy) -> Result<(), Failure> {
    let printed = match (arguments.output.json, arguments.quiet) {
        (true, _) => output::print(&document.to_line()),
        (false, false) => {
            let text = AnyDocument::from(document.clone());
            output::print(&report::text(&text, output::paint()))
        }
        (false, true) => {
            tell_failures(&document);
            Ok(())
        }
    };
    let document = AnyDocument::from(document);
    output::store(&document, &arguments.output.files(), &arguments.keep)?;
    printed
}

/// What even a quiet copy says.
fn tell_failures(document: &Document<Body>) {
    for failure in &document.body.failed {
        tell!("error: {}", report::text::copy::failure(failure));
    }
}
