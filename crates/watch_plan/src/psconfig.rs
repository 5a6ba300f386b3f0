//! psconfig files of perfSONAR, read as they are.
//!
//! Addresses become hosts, on the machine that their `host` names. Groups stay groups. A test and a
//! schedule become a task: `throughput` at the tuned setting, `rtt`, `latency` and `latencybg` as
//! `ping`, `trace` as `path`. What has no counterpart is named in a [`Notice`]; mistakes of the
//! file are errors with their lines. Source of the format: `psconfig-schema.json` of
//! perfsonar/psconfig. Addresses that depend on the other end (`remote-addresses`) are not read.

mod addresses;
mod groups;
mod iso;
mod specs;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::check;
use crate::model::{Plan, Task};
use crate::names::{GroupName, TaskName};
use crate::read::GAP;
use crate::schedule::{Schedule, UtcOffset};
use crate::section::{Field, Findings, Place, Section, closest, parse};
use crate::{Budget, Notice, PlanError, tree};

/// Reads a psconfig file; `file_name` names the text in messages.
///
/// # Errors
/// All mistakes of the file, with their lines; also when none of its tasks has a counterpart, and
/// when its schedules cannot be kept.
pub fn read(text: &str, file_name: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
    let mut found = Findings::new(file_name);
    let plan = match tree::json(file_name, text) {
        Ok(node) => Section::root(&node, &mut found).map(|root| plan(&root, &mut found)),
        Err(mistake) => {
            found.mistakes.push(mistake);
            None
        }
    };
    found.finish(plan)
}

/// What was noticed of groups, tests and tasks, each on a line.
fn reasons(found: &Findings) -> String {
    let parts = ["groups", "tests", "tasks"];
    let of = |notice: &&Notice| parts.iter().any(|part| notice.field.starts_with(part));
    let lines = found.notices.iter().filter(of).take(REASONS);
    lines.map(|notice| format!("\n  {notice}")).collect()
}

/// More would not be read.
const REASONS: usize = 12;

const READ: [&str; 7] = [
    "addresses",
    "address-classes",
    "groups",
    "hosts",
    "schedules",
    "tasks",
    "tests",
];

fn plan(root: &Section, found: &mut Findings) -> Plan {
    root.once(found);
    for key in ["addresses", "groups", "tests", "tasks"] {
        if !root.has(key) {
            let problem = format!("`{key}` is missing");
            found.refuse(
                &root.at(key),
                problem,
                "a psconfig file has addresses, groups, tests, tasks",
            );
        }
    }
    no_counterpart(root, &READ, found);
    let mut addresses = addresses::Addresses::read(root, found);
    let groups = groups::groups(root, &mut addresses, found);
    let specs = specs::specs(root, found);
    let schedules = schedules(root, found);
    let (tasks, places) = tasks(root, &groups, &specs, &schedules, found);
    if found.mistakes.is_empty() && tasks.is_empty() {
        let problem = format!("no task of this file has a counterpart{}", reasons(found));
        let hint = "write tasks of the tests throughput, rtt, latency, latencybg or trace";
        found.refuse(&root.at("tasks"), problem, hint);
    }
    let used: BTreeSet<&GroupName> = tasks.iter().map(|task| &task.group).collect();
    let kinds = groups
        .into_iter()
        .filter_map(|(name, group)| Some((name, group.kind?)));
    let plan = Plan {
        hosts: addresses.hosts,
        groups: kinds.filter(|(name, _)| used.contains(name)).collect(),
        tasks: tasks.clone(),
        offset: UtcOffset::default(),
        gap: GAP,
    };
    if found.mistakes.is_empty() {
        let hosts = root.section("addresses", found);
        check(&plan, hosts.as_ref(), &places, found);
    }
    plan
}

/// Names the keys of a table that are not read. `_meta` is for people and other programs.
fn no_counterpart(section: &Section, read: &[&str], found: &mut Findings) {
    for (key, place) in section.others(read) {
        if key != "_meta" {
            found.notice(
                &place,
                format!("`{key}` has no counterpart and is not used"),
            );
        }
    }
}

/// A name that another part of the file has to have.
fn known<'n, T>(
    name: &Field<&str>,
    of: &'n BTreeMap<String, T>,
    what: &str,
    found: &mut Findings,
) -> Option<&'n T> {
    let value = of.get(name.value);
    if value.is_none() {
        let shown: String = name.value.chars().take(60).collect();
        let near = closest(name.value, of.keys().map(String::as_str));
        let hint = near.map_or(format!("add it to `{what}`"), |near| {
            format!("did you mean `{near}`?")
        });
        found.refuse(&name.place, format!("`{shown}` is not in `{what}`"), hint);
    }
    value
}

/// The schedules by name, `None` for those without `repeat`.
fn schedules(root: &Section, found: &mut Findings) -> BTreeMap<String, Option<Schedule>> {
    let mut schedules = BTreeMap::new();
    for (name, section) in root.named("schedules", found) {
        no_counterpart(&section, &["repeat", "slip", "sliprand"], found);
        if section.has("slip") || section.has("sliprand") {
            let text = "no slip: visits have fixed times that do not collide";
            found.notice(&section.place, text);
        }
        let every = section.text("repeat", found);
        let every = every.and_then(|text| iso::bounded(&text, iso::Bound::Every, found));
        schedules.insert(name.to_owned(), every.map(Schedule::Every));
    }
    schedules
}

const TASK: [&str; 4] = ["group", "test", "schedule", "disabled"];

fn tasks(
    root: &Section,
    groups: &BTreeMap<GroupName, groups::Group>,
    specs: &BTreeMap<String, Option<specs::Spec>>,
    schedules: &BTreeMap<String, Option<Schedule>>,
    found: &mut Findings,
) -> (Vec<Task>, BTreeMap<TaskName, Place>) {
    let (mut tasks, mut places) = (Vec::new(), BTreeMap::new());
    for (name, section) in root.named("tasks", found) {
        no_counterpart(&section, &TASK, found);
        let task = task(name, &section, groups, specs, schedules, found);
        if section.boolean("disabled", found) == Some(true) {
            found.notice(&section.place, "disabled, and so not in the plan");
        } else if let Some(task) = task {
            places.insert(task.name.clone(), section.place.clone());
            tasks.push(task);
        }
    }
    if tasks.len() > crate::read::TASKS_MAX {
        let problem = format!("{} tasks are above {}", tasks.len(), crate::read::TASKS_MAX);
        found.refuse(&root.at("tasks"), problem, "make two plans");
    }
    (tasks, places)
}

fn task(
    name: &str,
    section: &Section,
    groups: &BTreeMap<GroupName, groups::Group>,
    specs: &BTreeMap<String, Option<specs::Spec>>,
    schedules: &BTreeMap<String, Option<Schedule>>,
    found: &mut Findings,
) -> Option<Task> {
    let name = parse::<TaskName>(name, &section.place, found);
    let group = section.text("group", found);
    let group = section.required("group", group, "name one of `groups`", found);
    let by_text: BTreeMap<String, (&GroupName, &groups::Group)> = groups
        .iter()
        .map(|(name, group)| (name.to_string(), (name, group)))
        .collect();
    let group = group.and_then(|group| known(&group, &by_text, "groups", found));
    let test = section.text("test", found);
    let test = section.required("test", test, "name one of `tests`", found);
    let spec = test.and_then(|test| known(&test, specs, "tests", found));
    let schedule = section.text("schedule", found);
    let wrong = section.has("schedule") && schedule.is_none();
    let schedule = schedule.map(|schedule| known(&schedule, schedules, "schedules", found));
    if wrong || schedule == Some(None) {
        return None;
    }
    let schedule = schedule.flatten().cloned().flatten();
    let (name, (group, kind), spec) = (name?, group?, spec?);
    let (Some(spec), true) = (spec, kind.kind.is_some()) else {
        found.notice(
            &section.place,
            "its test or its group has no counterpart; not in the plan",
        );
        return None;
    };
    let schedule = spec.continuous.clone().or(schedule);
    let Some(schedule) = schedule else {
        found.notice(
            &section.place,
            "without `repeat` it runs once; not in the plan",
        );
        return None;
    };
    Some(Task {
        name,
        kind: spec.kind,
        group: (*group).clone(),
        schedule,
        duration: spec.duration,
        gentle: false,
        budget: Budget::default(),
    })
}

#[cfg(test)]
mod tests;
