//! From TOML to a checked plan.

mod groups;
mod hosts;
mod tasks;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use units::Span;

pub(crate) use hosts::one_word;
pub(crate) use tasks::{DURATION, EVERY};

use crate::check::check;
use crate::model::Plan;
use crate::schedule::UtcOffset;
use crate::section::{Field, Findings, Section};
use crate::{Notice, PlanError, tree};

/// As many hosts as a plan may have; all pairs of more would not be visited within a day.
pub(crate) const HOSTS_MAX: usize = 256;
/// As many tasks as a plan may have.
pub(crate) const TASKS_MAX: usize = 64;
/// The pause after a visit, where a plan gives none.
pub(crate) const GAP: Span = Span::from_secs(5);
const GAPS: RangeInclusive<Span> = Span::from_secs(1)..=Span::from_secs(600);

pub(crate) fn read(text: &str, file: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
    let mut found = Findings::new(file);
    let plan = match tree::toml(file, text) {
        Ok(node) => Section::root(&node, &mut found).map(|root| plan(&root, &mut found)),
        Err(mistake) => {
            found.mistakes.push(mistake);
            None
        }
    };
    finish(plan, found)
}

/// The plan, unless there were mistakes.
pub(crate) fn finish(
    plan: Option<Plan>,
    found: Findings,
) -> Result<(Plan, Vec<Notice>), PlanError> {
    match plan {
        Some(plan) if found.mistakes.is_empty() => Ok((plan, found.notices)),
        _ => Err(PlanError::of(found.mistakes)),
    }
}

fn plan(root: &Section, found: &mut Findings) -> Plan {
    root.only(&["utc_offset", "gap", "hosts", "groups", "tasks"], found);
    let offset = root.parsed::<UtcOffset>("utc_offset", found);
    let gap = whole_seconds(root, "gap", GAPS, found);
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
    };
    if found.mistakes.is_empty() {
        let hosts = root.section("hosts", found);
        check(&plan, hosts.as_ref(), &places, found);
    }
    plan
}

/// A span of whole seconds within a bound.
fn whole_seconds(
    section: &Section,
    key: &str,
    bound: RangeInclusive<Span>,
    found: &mut Findings,
) -> Option<Field<Span>> {
    let span = section.parsed::<Span>(key, found)?;
    if !span.value.as_nanos().is_multiple_of(1_000_000_000) {
        let problem = format!("`{key}` of {} is not a whole number of seconds", span.value);
        found.refuse(
            &span.place,
            problem,
            "clocks of hosts differ by more; write whole seconds",
        );
        return None;
    }
    within(span, bound, found)
}

fn within<T: PartialOrd + Display + FromStr>(
    field: Field<T>,
    bound: RangeInclusive<T>,
    found: &mut Findings,
) -> Option<Field<T>> {
    if bound.contains(&field.value) {
        return Some(field);
    }
    let (low, high) = (bound.start(), bound.end());
    let problem = format!("{} is not between {low} and {high}", field.value);
    found.refuse(&field.place, problem, format!("write {low} to {high}"));
    None
}

#[cfg(test)]
mod tests;
