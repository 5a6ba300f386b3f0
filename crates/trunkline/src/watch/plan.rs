//! The file of a plan.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use observe::Fault;
use watch_link::{PlanDigest, PlanText};
use watch_plan::psconfig::{self, Include};
use watch_plan::{HostName, Notice, Plan, PlanError, Timetable};

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

/// Reads a plan in TOML, or a psconfig file of perfSONAR, which is JSON, with what it includes.
///
/// # Errors
/// When it cannot be read: all mistakes, with their lines.
pub fn load_plan(file: &Path) -> Result<PlanFile, Error> {
    let text = bounded(file).map_err(|error| Error::unreadable(file, error))?;
    let mut plan = PlanText {
        file: file.display().to_string(),
        text,
        included: BTreeMap::new(),
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut included = BTreeMap::new();
    let read = parsed(&plan, &mut |name| {
        let text = bounded(&folder.join(name)).map_err(|error| error.to_string())?;
        included.insert(name.to_owned(), text.clone());
        Ok(text)
    })?;
    plan.included = included;
    checked(&plan, read)
}

type Read = (Plan, Vec<Notice>);

fn parsed(plan: &PlanText, include: &mut Include<'_>) -> Result<Read, PlanError> {
    match is_json(&plan.text) {
        true => psconfig::read(&plan.text, &plan.file, include),
        false => Plan::parse(&plan.text, &plan.file),
    }
}

fn checked(text: &PlanText, (plan, notices): Read) -> Result<PlanFile, Error> {
    let timetable = Timetable::new(&plan, 0)?;
    Ok(PlanFile {
        plan,
        timetable,
        digest: text.digest(),
        notices,
    })
}

/// A text that is no longer than a plan may be: a device has no end.
fn bounded(file: &Path) -> io::Result<String> {
    let bound = psconfig::BYTES_MAX as u64;
    let mut text = String::new();
    File::open(file)?
        .take(bound + 1)
        .read_to_string(&mut text)?;
    match text.len() as u64 > bound {
        true => Err(io::Error::other(format!("it has more than {bound} bytes"))),
        false => Ok(text),
    }
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
            .filter(|(_, host)| host.machine.as_str() == machine && host.agent);
        let on_it: Vec<HostName> = on_it.map(|(name, _)| name.clone()).collect();
        match on_it.is_empty() {
            false => Ok(on_it),
            true => Err(Error::wrong_request(
                format!("the plan has no host `{name}` with an agent"),
                format!("name one of them with `--host`: {}", names(&self.plan)),
            )),
        }
    }
}

/// The hosts of a plan, as far as a message has room.
fn names(plan: &Plan) -> String {
    const SHOWN: usize = 12;
    let with_agent = plan.hosts().iter().filter(|(_, host)| host.agent);
    let names: Vec<&str> = with_agent.map(|(name, _)| name.as_str()).collect();
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
