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
            (true, found) if !is_due(found, &mut told_at) => return,
            (true, _) => VerifyEvent::from(found).to_line(),
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

/// Whether a program that reads JSON hears of this: each trouble, and once a second where it is.
fn is_due(found: &Found<'_>, told_at: &mut Instant) -> bool {
    match found {
        Found::Trouble(_) => true,
        Found::Progress(_) if told_at.elapsed() < EVERY => false,
        Found::Progress(_) => {
            *told_at = Instant::now();
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use trunkline::verify::{Account, Trouble, TroubleKind};

    use super::*;

    #[test]
    fn progress_is_told_however_many_troubles_there_are() {
        let trouble = Trouble {
            kind: TroubleKind::Missing,
            name: "a".to_owned(),
            what: "there is no such file".to_owned(),
            line: None,
        };
        let account = Account::default();
        let mut told_at = Instant::now().checked_sub(EVERY).unwrap();
        assert!(is_due(&Found::Trouble(&trouble), &mut told_at));
        assert!(is_due(&Found::Progress(&account), &mut told_at));
        assert!(!is_due(&Found::Progress(&account), &mut told_at));
        assert!(is_due(&Found::Trouble(&trouble), &mut told_at));
    }
}
