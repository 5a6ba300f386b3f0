//! The tasks of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use units::{Bytes, Dscp, Family, Span};

use super::TASKS_MAX;
use crate::budget::{Budget, Quiet, Share};
use crate::kind::{Kind, OWN_KEYS};
use crate::model::{Host, Task};
use crate::names::{GroupName, HostName, TaskName};
use crate::schedule::{Cron, Schedule, UtcOffset};
use crate::section::{Findings, Place, Section, closest, parse};

/// Below 10 s agents would do nothing but begin; above a year nothing is watched.
pub(crate) const EVERY: RangeInclusive<Span> = Span::from_secs(10)..=Span::from_secs(8_784 * 3600);
/// From one second to a search on a slow path.
pub(crate) const DURATION: RangeInclusive<Span> = Span::from_secs(1)..=Span::from_secs(6 * 3600);
/// Keys of all kinds.
const KEYS: [&str; 9] = [
    "kind", "group", "ip", "dscp", "every", "cron", "duration", "gentle", "budget",
];

pub(super) fn tasks(
    root: &Section,
    hosts: &BTreeMap<HostName, Host>,
    groups: &BTreeSet<GroupName>,
    offset: UtcOffset,
    found: &mut Findings,
) -> (Vec<Task>, BTreeMap<TaskName, Place>) {
    let (mut tasks, mut places) = (Vec::new(), BTreeMap::new());
    let named = root.named("tasks", found);
    if named.is_empty() || named.len() > TASKS_MAX {
        let problem = format!("the plan has {} tasks, not 1 to {TASKS_MAX}", named.len());
        let hint = "write `[tasks.NAME]` with kind, group, every and duration";
        found.refuse(&root.at("tasks"), problem, hint);
    }
    let own = OWN_KEYS.iter().map(|(key, _)| *key);
    let keys: Vec<&str> = KEYS.into_iter().chain(own).collect();
    for (name, section) in named {
        section.only(&keys, found);
        let name = parse::<TaskName>(name, &section.place, found);
        if let Some(task) = task(&section, name, hosts, groups, offset, found) {
            for task in of_versions(task, &section, found) {
                if places
                    .insert(task.name.clone(), section.place.clone())
                    .is_some()
                {
                    let problem = format!("a task `{}` comes of two entries", task.name);
                    found.refuse(&section.place, problem, "give one of them another name");
                }
                tasks.push(task);
            }
        }
    }
    (tasks, places)
}

fn task(
    section: &Section,
    name: Option<TaskName>,
    hosts: &BTreeMap<HostName, Host>,
    groups: &BTreeSet<GroupName>,
    offset: UtcOffset,
    found: &mut Findings,
) -> Option<Task> {
    let kind = Kind::read(section, found);
    let group = group(section, groups, found);
    let schedule = schedule(section, offset, found);
    let duration = section.whole_seconds("duration", DURATION, found);
    let hint = "write the longest time that a visit may take: `duration = \"30s\"`";
    let duration = section.required("duration", duration, hint, found);
    let gentle = section.boolean("gentle", found).unwrap_or(false);
    if let Some(kind) = kind.filter(|kind| gentle && !kind.can_be_gentle()) {
        let problem = format!(
            "`{}` loads the path, and `gentle` visits do not",
            kind.word()
        );
        let hint = "remove `gentle`; a `share` in `budget` bounds what it sends";
        found.refuse(&section.at("gentle"), problem, hint);
    }
    let dscp = section.parsed::<Dscp>("dscp", found);
    let budget = budget(section, kind, hosts, found);
    Some(Task {
        name: name?,
        kind: kind?,
        group: group?,
        ip: None,
        dscp: dscp.map(|dscp| dscp.value),
        schedule: schedule?,
        duration: duration?.value,
        gentle,
        budget: budget?,
    })
}

/// The task, or the two that `ip = "both"` stands for: each is a series of its own.
fn of_versions(task: Task, section: &Section, found: &mut Findings) -> Vec<Task> {
    let Some(ip) = section.text("ip", found) else {
        return vec![task];
    };
    let with = |ip| Task {
        ip: Some(ip),
        ..task.clone()
    };
    let named = |ip| Task {
        name: task.name.of_version(ip),
        ..with(ip)
    };
    match ip.value {
        "4" => vec![with(Family::V4)],
        "6" => vec![with(Family::V6)],
        "both" => vec![named(Family::V4), named(Family::V6)],
        other => {
            let shown = units::printable(other, 60);
            let problem = format!("`{shown}` is no version of the internet protocol");
            let hint = "write \"4\", \"6\", or \"both\" for two tasks of which each uses one";
            found.refuse(&ip.place, problem, hint);
            Vec::new()
        }
    }
}

fn group(
    section: &Section,
    groups: &BTreeSet<GroupName>,
    found: &mut Findings,
) -> Option<GroupName> {
    let name = section.text("group", found);
    let name = section.required("group", name, "name a group of `[groups]`", found)?;
    let group = groups.get(name.value);
    if group.is_none() {
        let shown: String = name.value.chars().take(60).collect();
        let near = closest(name.value, groups.iter().map(GroupName::as_str));
        let hint = near.map_or("name a group of `[groups]`".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        found.refuse(
            &name.place,
            format!("`{shown}` is not a group of this plan"),
            hint,
        );
    }
    group.cloned()
}

fn schedule(section: &Section, offset: UtcOffset, found: &mut Findings) -> Option<Schedule> {
    match (section.has("every"), section.has("cron")) {
        (true, false) => {
            let every = section.whole_seconds("every", EVERY, found)?;
            Some(Schedule::Every(every.value))
        }
        (false, true) => {
            let text = section.text("cron", found)?;
            let cron = Cron::new(text.value, offset);
            let hint = "write five fields: minute, hour, day, month, weekday, like `30 2 * * *`";
            cron.map_err(|problem| found.refuse(&text.place, problem, hint))
                .map(Schedule::Cron)
                .ok()
        }
        (both, _) => {
            let which = if both {
                "both `every` and `cron`"
            } else {
                "neither `every` nor `cron`"
            };
            let problem = format!("`{}` has {which}", section.place.field);
            let hint = "write one: `every = \"30min\"` or `cron = \"30 2 * * *\"`";
            found.refuse(&section.place, problem, hint);
            None
        }
    }
}

fn budget(
    section: &Section,
    kind: Option<Kind>,
    hosts: &BTreeMap<HostName, Host>,
    found: &mut Findings,
) -> Option<Budget> {
    if !section.has("budget") {
        return Some(Budget::default());
    }
    let section = section.section("budget", found)?;
    section.only(&["bytes_a_day", "share", "quiet"], found);
    let bytes = section.parsed::<Bytes>("bytes_a_day", found);
    let share = section.parsed::<Share>("share", found);
    let mut quiet = Vec::new();
    if section.has("quiet") {
        for text in section.texts("quiet", found).unwrap_or_default() {
            quiet.extend(parse::<Quiet>(text.value, &text.place, found));
        }
    }
    if let Some(kind) = kind.filter(|kind| !kind.is_exclusive()) {
        for key in ["bytes_a_day", "share"]
            .into_iter()
            .filter(|key| section.has(key))
        {
            let problem = format!("`{}` sends too little for `{key}`", kind.word());
            found.refuse(&section.at(key), problem, "remove it, or use `quiet`");
        }
    }
    if share.is_some() && hosts.values().all(|host| host.link.is_none()) {
        let problem = "`share` is of a link, and no host has a `link`".to_owned();
        found.refuse(
            &section.at("share"),
            problem,
            "give hosts a `link`, like \"10Gbit/s\"",
        );
    }
    Some(Budget {
        bytes_a_day: bytes.map(|bytes| bytes.value),
        share: share.map(|share| share.value),
        quiet,
    })
}
