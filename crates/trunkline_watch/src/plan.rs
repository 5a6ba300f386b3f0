//! The file of a plan.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use watch_plan::psconfig::{self, Include};
use watch_plan::{HostName, Notice, Plan, PlanError, Timetable};
use watch_run::link::PlanText;

use trunkline::Error;

/// A plan with its timetable, and what agents and collector compare it by.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// What is due when.
    pub timetable: Timetable,
    /// What stands in its files.
    pub text: PlanText,
    /// What of the file is not used, or only in part.
    pub notices: Vec<Notice>,
}

/// Reads a plan in TOML, or a psconfig file of perfSONAR, which is JSON, with what it includes.
///
/// # Errors
/// When it cannot be read: all mistakes, with their lines.
pub fn load_plan(file: &Path) -> Result<PlanFile, Error> {
    let text = bounded(file).map_err(|error| Error::unreadable(file, error))?;
    let mut plan = PlanText::new(file.display().to_string(), text);
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut included = BTreeMap::new();
    let read = parsed(&plan, &mut |name| {
        let text = bounded(&folder.join(name)).map_err(|error| error.to_string())?;
        included.insert(name.to_owned(), text.clone());
        Ok(text)
    })?;
    plan.included = included;
    checked(plan, read)
}

/// Reads a plan that came as a whole: what it includes is part of it, and no file is opened.
///
/// # Errors
/// When it cannot be read: all mistakes, with their lines.
pub(super) fn read_plan(text: PlanText) -> Result<PlanFile, Error> {
    let length = |text: &String| text.len();
    let bytes = text.text.len() + text.included.values().map(length).sum::<usize>();
    let bound = psconfig::BYTES_MAX;
    if bytes > bound {
        let what = format!("the plan has {bytes} bytes, more than {bound}");
        return Err(Error::wrong_request(what, "make two plans"));
    }
    let read = parsed(&text, &mut |name| {
        let known = text.included.get(name).cloned();
        known.ok_or_else(|| "it did not come with the plan".to_owned())
    })?;
    checked(text, read)
}

type Read = (Plan, Vec<Notice>);

fn parsed(plan: &PlanText, include: &mut Include<'_>) -> Result<Read, PlanError> {
    match is_json(&plan.text) {
        true => psconfig::read(&plan.text, &plan.file, include),
        false => Plan::parse(&plan.text, &plan.file),
    }
}

fn checked(text: PlanText, (plan, notices): Read) -> Result<PlanFile, Error> {
    let timetable = Timetable::new(&plan, 0)?;
    Ok(PlanFile {
        plan,
        timetable,
        text,
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
