//! psconfig files of perfSONAR, read as they are.
//!
//! Addresses become hosts, on the machine that their `host` names. Groups become lists of pairs:
//! which address a host has may depend on the other end. A test and a schedule become a task:
//! `throughput` at the tuned setting or as `udp`, `rtt` as `ping`, `latency` and `latencybg` as
//! `one-way`, `trace` as `path`. What has no counterpart is named in a [`Notice`]; mistakes of the
//! file are errors with their lines. Source of the format: `psconfig-schema.json` of
//! perfsonar/psconfig, and its agent for what selects which address.

mod addresses;
mod classes;
mod groups;
mod includes;
mod iso;
mod specs;

use std::collections::{BTreeMap, BTreeSet};

pub use includes::{BYTES_MAX, INCLUDES_MAX, Include};

use crate::check::check;
use crate::model::{GroupKind, Host, Pair, Plan, Task};
use crate::names::{GroupName, HostName, TaskName};
use crate::read::GAP;
use crate::schedule::{Schedule, UtcOffset};
use crate::section::{Field, Findings, Place, Section, closest, parse};
use crate::{Budget, Notice, PlanError, tree};

/// Reads a psconfig file.
///
/// * `file_name`: names the text in messages.
/// * `include`: gives the texts of files that it includes.
///
/// # Errors
/// All mistakes of the files, with their lines; also when none of their tasks has a counterpart,
/// and when their schedules cannot be kept.
pub fn read(
    text: &str,
    file_name: &str,
    include: &mut Include<'_>,
) -> Result<(Plan, Vec<Notice>), PlanError> {
    let mut found = Findings::new(file_name);
    let plan = match tree::json(text, 0) {
        Ok(mut node) => {
            for included in includes::included(text, &node, include, &mut found) {
                includes::merge(&mut node, included, &mut found);
            }
            // Without a file that is missing, many names would be.
            let root = Section::root(&node, &mut found);
            let root = root.filter(|_| found.mistakes.is_empty());
            root.map(|root| plan(&root, &mut found))
        }
        Err(mistake) => {
            found.mistakes.push(mistake);
            None
        }
    };
    found.finish(plan)
}

/// What was noticed of classes, groups, tests and tasks, each on a line.
fn reasons(found: &Findings) -> String {
    let parts = ["address-classes", "groups", "tests", "tasks"];
    let of = |notice: &&Notice| parts.iter().any(|part| notice.field.starts_with(part));
    let notices = found.grouped_notices();
    let lines = notices.iter().filter(of).take(REASONS);
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
    no_counterpart(root, &[&READ[..], &["includes"]].concat(), found);
    let mut addresses = addresses::Addresses::read(root, found);
    let groups = groups::groups(root, &mut addresses, found);
    let specs = specs::specs(root, found);
    let schedules = schedules(root, found);
    let (tasks, places) = tasks(root, &groups, &specs, &schedules, found);
    let plan = in_use(addresses.hosts, &groups, tasks, &places, found);
    if found.mistakes.is_empty() && plan.tasks.is_empty() {
        let problem = format!("no task of this file has a counterpart{}", reasons(found));
        let hint = "write tasks of the tests throughput, rtt, latency, latencybg or trace";
        found.refuse(&root.at("tasks"), problem, hint);
    }
    if found.mistakes.is_empty() {
        let hosts = root.section("addresses", found);
        check(&plan, hosts.as_ref(), &places, found);
    }
    plan
}

/// The plan of these tasks, with the groups and hosts that they use.
fn in_use(
    hosts: BTreeMap<HostName, Host>,
    groups: &Groups,
    tasks: Vec<(Task, bool)>,
    places: &BTreeMap<TaskName, Place>,
    found: &mut Findings,
) -> Plan {
    let mut plan = Plan {
        hosts,
        groups: BTreeMap::new(),
        tasks: Vec::new(),
        offset: UtcOffset::default(),
        gap: GAP,
        flows: None,
    };
    for (mut task, is_turned) in tasks {
        let Some(Some(mut kind)) = groups.get(&task.group).cloned() else {
            continue;
        };
        if is_turned {
            task.group = turned_name(&task.group, groups);
            kind = turned(&kind);
        }
        plan.groups.insert(task.group.clone(), kind);
        if !plan.pairs(&task).is_empty() {
            plan.tasks.push(task);
        } else if let Some(place) = places.get(&task.name) {
            found.notice(
                place,
                "no pair of its group can be visited so; not in the plan",
            );
        }
    }
    let tasks = plan.tasks.iter();
    let used: BTreeSet<HostName> = tasks
        .flat_map(|task| plan.pairs(task))
        .flat_map(|pair| [pair.from, pair.to])
        .collect();
    plan.hosts.retain(|name, _| used.contains(name));
    let used: BTreeSet<&GroupName> = plan.tasks.iter().map(|task| &task.group).collect();
    plan.groups.retain(|name, _| used.contains(name));
    plan
}

/// A name that no other group has.
fn turned_name(name: &GroupName, groups: &Groups) -> GroupName {
    let mut turned = name.turned();
    while groups.contains_key(&turned) {
        turned = turned.turned();
    }
    turned
}

fn turned(kind: &GroupKind) -> GroupKind {
    let pairs = kind.pairs().into_iter().map(|pair| Pair {
        from: pair.to,
        to: pair.from,
    });
    GroupKind::List(pairs.collect())
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

type Groups = BTreeMap<GroupName, groups::Pairs>;

const TASK: [&str; 4] = ["group", "test", "schedule", "disabled"];

fn tasks(
    root: &Section,
    groups: &Groups,
    specs: &BTreeMap<String, Option<specs::Spec>>,
    schedules: &BTreeMap<String, Option<Schedule>>,
    found: &mut Findings,
) -> (Vec<(Task, bool)>, BTreeMap<TaskName, Place>) {
    let (mut tasks, mut places) = (Vec::new(), BTreeMap::new());
    for (name, section) in root.named("tasks", found) {
        if section.boolean("disabled", found) == Some(true) {
            found.notice(&section.place, addresses::DISABLED);
            continue;
        }
        no_counterpart(&section, &TASK, found);
        let task = task(name, &section, groups, specs, schedules, found);
        if let Some(task) = task {
            places.insert(task.0.name.clone(), section.place.clone());
            tasks.push(task);
        }
    }
    if tasks.len() > crate::read::TASKS_MAX {
        let problem = format!("{} tasks are above {}", tasks.len(), crate::read::TASKS_MAX);
        found.refuse(&root.at("tasks"), problem, "make two plans");
    }
    (tasks, places)
}

/// A task, and whether it goes from the second address to the first.
fn task(
    name: &str,
    section: &Section,
    groups: &Groups,
    specs: &BTreeMap<String, Option<specs::Spec>>,
    schedules: &BTreeMap<String, Option<Schedule>>,
    found: &mut Findings,
) -> Option<(Task, bool)> {
    let name = parse::<TaskName>(name, &section.place, found);
    let group = section.text("group", found);
    let group = section.required("group", group, "name one of `groups`", found);
    let by_text: BTreeMap<String, (&GroupName, &groups::Pairs)> = groups
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
    let (Some(spec), true) = (spec, kind.is_some()) else {
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
    let task = Task {
        name,
        kind: spec.kind,
        group: (*group).clone(),
        ip: spec.ip,
        dscp: None,
        schedule,
        duration: spec.duration,
        gentle: false,
        budget: Budget::default(),
    };
    Some((task, spec.is_turned))
}

#[cfg(test)]
mod tests;
