//! `trunkline copy`: files from here to there, or the other way.

mod request;

pub(crate) use request::{far_program, server_token};

use std::process::ExitCode;

use trunkline::copy::{Copied, CopyControl, CopyEvent, CopyRequest, problem_of, shown_command};
use trunkline::record::Copy as Body;
use trunkline::report;
use trunkline::{AnyDocument, Document, Error};

use crate::args::Copy;
use crate::commands::limit;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::CopyProgress;
use crate::stop;

pub(crate) fn run(arguments: &Copy) -> Result<ExitCode, Failure> {
    let files = arguments.output.files();
    let request = request::request(arguments, &files)?;
    let cancel = stop::listen_calmly()?;
    let control = CopyControl::from(&cancel);
    control.set_rate_limit(request.spec.options.rate_max.as_ref());
    let _reins = limit::offer(&shown(&request), control.clone());
    let mut progress = CopyProgress::new(arguments);
    let copied = trunkline::copy(&request, &control, &mut progress);
    progress.finish();
    let Copied {
        cut,
        unlisted,
        document,
        ..
    } = match copied {
        Ok(copied) => copied,
        Err(error) => return Err(told(error.into(), arguments)?),
    };
    // Where all is copied it may not be listed.
    let cut = cut.map(with_next_step).or(unlisted);
    let cut = cut.map(|error| told(Failure::copy_ended(error), arguments));
    let cut = cut.transpose()?;
    let incomplete = incomplete(&document.body);
    deliver(document, arguments)?;
    match cut.or(incomplete) {
        Some(failure) => Err(failure),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The failure, after programs were told of it.
fn told(failure: Failure, arguments: &Copy) -> Result<Failure, Failure> {
    if arguments.output.json {
        let line = CopyEvent::Error {
            what: failure.what(),
            hint: failure.hint().map(str::to_owned),
        };
        output::print(&line.to_line())?;
    }
    Ok(failure)
}

/// What arrived stays, and the same command resumes; after a full disk, once there is room.
fn with_next_step(error: Error) -> Error {
    match problem_of(&error) {
        Some(_) => error,
        None => error.with_hint(format!(
            "`{}` goes on; what has arrived is not sent again",
            go_on()
        )),
    }
}

/// What `trunkline limit` says of this copy.
fn shown(request: &CopyRequest) -> String {
    format!("{} to {}", request.sources.join(" "), request.destination)
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
