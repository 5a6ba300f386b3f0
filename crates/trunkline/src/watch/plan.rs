//! The file of a plan.

use std::fs;
use std::path::Path;

use observe::Fault;
use watch_link::PlanDigest;
use watch_plan::{HostName, Notice, Plan, PlanError, Timetable, psconfig};

use crate::Error;

/// A plan with its timetable, and what agents and collector compare it by.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// What is due when.
    pub timetable: Timetable,
    /// Of the text of the file.
    pub digest: PlanDigest,
    /// What of the file is not used, or only in part.
    pub notices: Vec<Notice>,
}

/// Reads a plan in TOML, or a psconfig file of perfSONAR, which is JSON.
///
/// # Errors
/// When it cannot be read: all mistakes, with their lines.
pub fn load_plan(file: &Path) -> Result<PlanFile, Error> {
    let text = fs::read_to_string(file).map_err(|error| Error::unreadable(file, error))?;
    let name = file.display().to_string();
    let read = match is_json(&text) {
        true => psconfig::read(&text, &name),
        false => Plan::parse(&text, &name),
    };
    let (plan, notices) = read?;
    let timetable = Timetable::new(&plan, 0)?;
    Ok(PlanFile {
        plan,
        timetable,
        digest: PlanDigest::of(&text),
        notices,
    })
}

/// No TOML file begins with a brace.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

impl PlanFile {
    /// The hosts on the machine of `name`, which is the name of a host or of a machine.
    ///
    /// # Errors
    /// When the plan has neither.
    pub fn hosts_of(&self, name: &str) -> Result<Vec<HostName>, Error> {
        let hosts = self.plan.hosts();
        let known = hosts.iter().find(|(host, _)| host.as_str() == name);
        let machine = known.map_or(name, |(_, host)| host.machine.as_str());
        let on_it = hosts
            .iter()
            .filter(|(_, host)| host.machine.as_str() == machine);
        let on_it: Vec<HostName> = on_it.map(|(name, _)| name.clone()).collect();
        match on_it.is_empty() {
            false => Ok(on_it),
            true => Err(Error::wrong_request(
                format!("the plan has no host `{name}`"),
                format!("name one of them with `--host`: {}", names(&self.plan)),
            )),
        }
    }
}

/// The hosts of a plan, as far as a message has room.
fn names(plan: &Plan) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = plan.hosts().keys().map(HostName::as_str).collect();
    match names.len() > SHOWN {
        true => format!(
            "{} and {} more",
            names[..SHOWN].join(", "),
            names.len() - SHOWN
        ),
        false => names.join(", "),
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Error::of(Fault::Request, error, None)
    }
}

impl From<watch_plan::TightSchedule> for Error {
    fn from(error: watch_plan::TightSchedule) -> Self {
        let hint = error.hint();
        Error::wrong_request(error.problem(), hint)
    }
}
