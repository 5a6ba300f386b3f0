//! `trunkline verify`: files against their checksums.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use trunkline::verify::{Found, VerifyEvent, told as say};

use crate::args::Verify;
use crate::failure::Failure;
use crate::output;
use crate::progress::RunProgress;
use crate::stop;

/// How often a program that reads JSON hears where it is.
const EVERY: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &Verify) -> Result<ExitCode, Failure> {
    let cancel = stop::listen_calmly()?;
    let line = RunProgress::new();
    let mut told_at = Instant::now();
    let mut unprinted = None;
    let verified = trunkline::verify(&arguments.request(), &cancel, &mut |found| {
        let text = match (arguments.json, &found) {
            (true, Found::Progress(_)) if told_at.elapsed() < EVERY => return,
            (true, _) => {
                told_at = Instant::now();
                VerifyEvent::from(found).to_line()
            }
            (false, Found::Progress(account)) => return line.label(&say::progress(account)),
            (false, Found::Trouble(trouble)) => say::trouble(trouble),
        };
        line.suspend(|| {
            if let Err(failure) = output::print(&text) {
                unprinted.get_or_insert(failure);
                cancel.cancel();
            }
        });
    });
    drop(line);
    if let Some(failure) = unprinted {
        return Err(failure);
    }
    let verified = verified?;
    if arguments.json {
        output::print(&VerifyEvent::Verified(&verified).to_line())?;
    }
    match verified.is_right() {
        true if arguments.json => {}
        true => output::print(&say::all_right(&verified))?,
        false => return Err(Failure::not_as_listed(&verified)),
    }
    Ok(ExitCode::SUCCESS)
}
