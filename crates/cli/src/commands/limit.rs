//! `trunkline limit`: which copies run, and how much they may send.

use std::error::Error;
use std::process::ExitCode;

use copy_net::control_socket::{self, Held, Reins, Stand, Steered};
use units::Rate;

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
    let found = reins::running(&reins::folder()?)?;
    match meaning {
        LimitOf::List => list(&found)?,
        LimitOf::Bound { copy, rate } => {
            let held = chosen(&found, copy)?;
            held.set_rate_max(rate)?;
            output::print(&format!(
                "copy {}: {}, {}\n",
                held.process,
                shown(rate),
                held.what
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(found: &[Held]) -> Result<(), Failure> {
    if found.is_empty() {
        return output::print("no copy of yours is running on this host\n");
    }
    let mut text = format!(
        "{:>8}  {:12}  {:>12}  {:20}  {}\n",
        "COPY", "LIMIT", "RATE", "DONE", "WHAT"
    );
    for held in found {
        let limit = shown(held.rate_max);
        let rate = held.stand.rate.human();
        let done = done(&held.stand);
        text += &format!(
            "{:>8}  {limit:12}  {rate:>12}  {done:20}  {}\n",
            held.process, held.what
        );
    }
    output::print(&text)
}

/// `2.40 GB of 9.14 GB`.
fn done(stand: &Stand) -> String {
    let done = stand.done.human();
    match stand.total {
        Some(total) => format!("{done} of {}", total.human()),
        None => done,
    }
}

fn shown(rate: Option<Rate>) -> String {
    rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string())
}

/// The one with this number, or the only one.
fn chosen(found: &[Held], copy: Option<u32>) -> Result<&Held, Failure> {
    let list = "`trunkline limit` lists the copies that run";
    match (copy, found) {
        (Some(number), _) => {
            let held = found.iter().find(|held| held.process == number);
            let problem =
                format!("no copy of yours with the number {number} is running on this host");
            held.ok_or_else(|| Failure::wrong_request(&problem, list))
        }
        (None, [held]) => Ok(held),
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
pub(crate) fn offer(what: &str, steered: impl Steered) -> Option<Reins> {
    let offered = reins::folder().and_then(|folder| Reins::offer(&folder, what, steered));
    match offered {
        Ok(reins) => Some(reins),
        Err(error) => {
            let cause = error
                .source()
                .map_or_else(String::new, |cause| format!(": {cause}"));
            tell!("warning: `trunkline limit` will not find this copy: {error}{cause}");
            None
        }
    }
}
