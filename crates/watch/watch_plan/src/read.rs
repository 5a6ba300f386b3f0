//! From TOML to a checked plan.

mod flows;
mod groups;
mod hosts;
mod tasks;

use std::ops::RangeInclusive;

use units::Span;

pub(crate) use hosts::one_word;
pub(crate) use tasks::{DURATION, EVERY};

use crate::check::check;
use crate::model::Plan;
use crate::schedule::UtcOffset;
use crate::section::{Findings, Section, read_toml};
use crate::{Notice, PlanError};

/// As many hosts as a plan may have; all pairs of more would not be visited within a day.
pub(crate) const HOSTS_MAX: usize = 256;
/// As many tasks as a plan may have.
pub(crate) const TASKS_MAX: usize = 64;
/// The pause after a visit, where a plan gives none.
pub(crate) const GAP: Span = Span::from_secs(5);
const GAPS: RangeInclusive<Span> = Span::from_secs(1)..=Span::from_secs(600);

const LAYOUT: &str = "a plan has `key = \"value\"` lines under `[hosts.NAME]`, `[groups.NAME]`, \
                      `[tasks.NAME]`";

pub(crate) fn read(text: &str, file: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
    read_toml(text, file, LAYOUT, |root, found| Some(plan(root, found)))
}

fn plan(root: &Section, found: &mut Findings) -> Plan {
    let keys = ["utc_offset", "gap", "hosts", "groups", "tasks", "flows"];
    root.only(&keys, found);
    let offset = root.parsed::<UtcOffset>("utc_offset", found);
    let gap = root.whole_seconds("gap", GAPS, found);
    let hosts = hosts::hosts(root, found);
    let (groups, named) = groups::groups(root, &hosts, found);
    let offset = offset.map_or(UtcOffset::default(), |offset| offset.value);
    let (tasks, places) = tasks::tasks(root, &hosts, &named, offset, found);
    let plan = Plan {
        hosts,
        groups,
        tasks,
        offset,
        gap: gap.map_or(GAP, |gap| gap.value),
        flows: flows::flows(root, found),
    };
    if found.mistakes.is_empty() {
        let hosts = root.section("hosts", found);
        check(&plan, hosts.as_ref(), &places, found);
    }
    plan
}

#[cfg(test)]
mod tests;
