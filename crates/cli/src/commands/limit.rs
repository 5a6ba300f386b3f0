//! `trunkline limit`: which copies run, and how much they may send.

use std::process::ExitCode;

use trunkline::copy::{self, ControlSocket, CopyControl, RunningCopy, Status};
use trunkline::units::Rate;

use crate::args::{Limit, LimitOf};
use crate::failure::Failure;
use crate::output::{self, tell};

pub(crate) fn run(arguments: &Limit) -> Result<ExitCode, Failure> {
    let meaning = arguments.meaning();
    let meaning = meaning.map_err(|problem| {
        let hint =
            "write `trunkline limit 50M`, `trunkline limit COPY 50M` or `trunkline limit none`";
        Failure::wrong_request(&problem, hint)
    })?;
    let found = copy::running()?;
    match meaning {
        LimitOf::List => list(&found)?,
        LimitOf::Bound { copy, rate } => {
            let copy = chosen(&found, copy)?;
            copy.set_rate_max(rate).map_err(trunkline::Error::from)?;
            output::print(&format!(
                "copy {}: {}, {}\n",
                copy.process,
                shown(rate),
                copy.what
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(found: &[RunningCopy]) -> Result<(), Failure> {
    if found.is_empty() {
        return output::print("no copy of yours is running on this host\n");
    }
    let mut text = format!(
        "{:>8}  {:12}  {:>12}  {:20}  {}\n",
        "COPY", "LIMIT", "RATE", "DONE", "WHAT"
    );
    for copy in found {
        let limit = shown(copy.rate_max);
        let rate = copy.status.rate.human();
        let done = done(&copy.status);
        text += &format!(
            "{:>8}  {limit:12}  {rate:>12}  {done:20}  {}\n",
            copy.process, copy.what
        );
    }
    output::print(&text)
}

/// `2.40 GB of 9.14 GB`.
fn done(status: &Status) -> String {
    let done = status.done.human();
    match status.total {
        Some(total) => format!("{done} of {}", total.human()),
        None => done,
    }
}

fn shown(rate: Option<Rate>) -> String {
    rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string())
}

/// The one with this number, or the only one.
fn chosen(found: &[RunningCopy], copy: Option<u32>) -> Result<&RunningCopy, Failure> {
    let list = "`trunkline limit` lists the copies that run";
    match (copy, found) {
        (Some(number), _) => {
            let copy = found.iter().find(|copy| copy.process == number);
            let problem =
                format!("no copy of yours with the number {number} is running on this host");
            copy.ok_or_else(|| Failure::wrong_request(&problem, list))
        }
        (None, [copy]) => Ok(copy),
        (None, []) => {
            let hint =
                "a copy can be given a limit from the start: `trunkline copy --max-rate 50M`";
            Err(Failure::wrong_request(
                "no copy of yours is running on this host",
                hint,
            ))
        }
        (None, many) => {
            let problem = format!(
                "{} copies are running, and the limit is for one",
                many.len()
            );
            let hint = format!(
                "say for which one, as in `trunkline limit {} 50M`; {list}",
                many[0].process
            );
            Err(Failure::wrong_request(&problem, &hint))
        }
    }
}

/// Lets `trunkline limit` find a copy and steer it. One that cannot be found goes on all the same.
pub(crate) fn offer(what: &str, control: CopyControl) -> Option<ControlSocket> {
    let offered = copy::offer(what, control);
    let warn = |error: &trunkline::Error| {
        let what = error.what();
        tell!("warning: `trunkline limit` will not find this copy: {what}");
    };
    offered.inspect_err(warn).ok()
}
