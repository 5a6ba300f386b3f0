//! The order of groups: behind those that they wait for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::Group;

/// Each behind those that it waits for, then by priority, deadline and name. Groups that wait for
/// each other are left as they are; they are refused.
pub(super) fn in_order(mut groups: Vec<Group>) -> Vec<Group> {
    let key = |group: &Group| {
        let deadline = group.deadline.unwrap_or(i64::MAX);
        (Reverse(group.priority), deadline, group.name.clone())
    };
    groups.sort_by_key(key);
    let mut ordered: Vec<Group> = Vec::with_capacity(groups.len());
    while !groups.is_empty() {
        let is_there = |name| ordered.iter().any(|group: &Group| group.name == name);
        let next = groups
            .iter()
            .position(|group| group.after.iter().cloned().all(is_there));
        ordered.push(groups.remove(next.unwrap_or(0)));
    }
    ordered
}

/// The names of groups that wait for each other in a circle, the first one again at the end.
pub(super) fn cycle(groups: &[&Group]) -> Option<Vec<String>> {
    let by_name: BTreeMap<&str, &Group> = groups
        .iter()
        .map(|group| (group.name.as_str(), *group))
        .collect();
    let mut left: BTreeMap<&str, &Group> = by_name.clone();
    // What waits for nothing that is left cannot be part of a circle.
    loop {
        let waits = |group: &Group| {
            let mut after = group.after.iter();
            after.any(|name| left.contains_key(name.as_str()))
        };
        let free: Vec<&str> = left
            .iter()
            .filter(|(_, group)| !waits(group))
            .map(|(name, _)| *name)
            .collect();
        if free.is_empty() {
            break;
        }
        for name in free {
            left.remove(name);
        }
    }
    let mut way: Vec<&str> = vec![*left.keys().next()?];
    loop {
        let group = left.get(way.last()?)?;
        let next = group.after.iter().map(|name| name.as_str());
        let next = next.into_iter().find(|name| left.contains_key(name))?;
        let begins = way.iter().position(|name| *name == next);
        way.push(next);
        if let Some(begins) = begins {
            return Some(
                way[begins..]
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect(),
            );
        }
    }
}
