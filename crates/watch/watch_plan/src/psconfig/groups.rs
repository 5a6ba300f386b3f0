//! Groups of addresses.

use std::collections::BTreeMap;

use super::addresses::{Addresses, Member};
use super::{known, no_counterpart};
use crate::model::{GroupKind, Pair};
use crate::names::GroupName;
use crate::section::{Findings, Section, closest, parse};

/// What becomes of a group: `None` if it has no pair with a counterpart.
pub(super) type Pairs = Option<GroupKind>;

const KEYS: [&str; 8] = [
    "type",
    "addresses",
    "a-addresses",
    "b-addresses",
    "unidirectional",
    "excludes",
    "excludes-self",
    "default-address-label",
];

pub(super) fn groups(
    root: &Section,
    addresses: &mut Addresses,
    found: &mut Findings,
) -> BTreeMap<GroupName, Pairs> {
    let mut groups = BTreeMap::new();
    for (name, section) in root.named("groups", found) {
        no_counterpart(&section, &KEYS, found);
        let pairs = pairs(&section, addresses, found);
        let pairs = pairs.filter(|pairs| !pairs.is_empty());
        if pairs.is_none() {
            found.notice(
                &section.place,
                "has no pair of two addresses that are in the plan",
            );
        }
        if let Some(name) = parse::<GroupName>(name, &section.place, found) {
            groups.insert(name, pairs.map(GroupKind::List));
        }
    }
    groups
}

/// Two members, and the way between them.
type Way = (Member, Member);

fn pairs(section: &Section, addresses: &mut Addresses, found: &mut Findings) -> Option<Vec<Pair>> {
    let mut ways = ways(section, addresses, found)?;
    excludes_self(section, found);
    for (local, targets) in excluded(section, addresses, found) {
        ways.retain(|(from, to)| !local.contains(from) || !targets.contains(to));
    }
    let label = section.text("default-address-label", found);
    if let Some(label) = &label {
        has_label(label.value, section, addresses, found);
    }
    let default = |mut member: Member| {
        let label = label.as_ref().map(|label| label.value.to_owned());
        member.label = member.label.or(label);
        member
    };
    let mut pairs = Vec::new();
    for (from, to) in ways {
        let (from, to) = (default(from), default(to));
        let here = addresses.host(&from, &to.name, &section.place, found);
        let there = addresses.host(&to, &from.name, &section.place, found);
        if let (Some(from), Some(to)) = (here, there) {
            pairs.push(Pair { from, to });
        }
    }
    Some(pairs)
}

fn ways(section: &Section, addresses: &Addresses, found: &mut Findings) -> Option<Vec<Way>> {
    let kind = section.text("type", found);
    let kind = section.required("type", kind, "write `mesh`, `disjoint` or `list`", found)?;
    match kind.value {
        "mesh" => {
            let all = members(section, "addresses", addresses, found)?;
            Some(product(&all, &all))
        }
        "disjoint" => {
            let a = members(section, "a-addresses", addresses, found);
            let b = members(section, "b-addresses", addresses, found);
            let (a, b) = (a?, b?);
            let mut ways = product(&a, &b);
            if section.boolean("unidirectional", found) != Some(true) {
                ways.extend(product(&b, &a));
            }
            Some(ways)
        }
        "list" => {
            members(section, "addresses", addresses, found);
            found.notice(&kind.place, "a list of single addresses has no path");
            None
        }
        other => {
            let shown: String = other.chars().take(60).collect();
            let problem = format!("`{shown}` is no type of group");
            found.refuse(&kind.place, problem, "write `mesh`, `disjoint` or `list`");
            None
        }
    }
}

fn product(from: &[Member], to: &[Member]) -> Vec<Way> {
    let ways = |from: &Member| {
        let from = from.clone();
        let others = to.iter().filter(move |to| to.name != from.name).cloned();
        others.collect::<Vec<Member>>()
    };
    let all = from.iter().map(|one| (one, ways(one)));
    all.flat_map(|(from, to)| to.into_iter().map(|to| (from.clone(), to)))
        .collect()
}

/// A label that no address has leaves the whole group out, as in perfSONAR.
fn has_label(label: &str, section: &Section, addresses: &Addresses, found: &mut Findings) {
    if addresses.labels().any(|known| known == label) {
        return;
    }
    let shown = units::printable(label, 60);
    let near = closest(label, addresses.labels());
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    found.notice(
        &section.at("default-address-label"),
        format!("no address has the label `{shown}`{near}"),
    );
}

fn members(
    section: &Section,
    key: &str,
    addresses: &Addresses,
    found: &mut Findings,
) -> Option<Vec<Member>> {
    let list = section.list(key, found);
    let list = section.required(key, list, "write a list of `{ \"name\": \"...\" }`", found)?;
    let mut members: Vec<Member> = Vec::new();
    for (node, place) in list {
        if let Some(selector) = Section::of(node, place, found) {
            members.extend(selected(&selector, addresses, found));
        }
    }
    members.sort();
    members.dedup();
    if members.len() > MEMBERS_MAX {
        let problem = format!("{} addresses are above {MEMBERS_MAX}", members.len());
        found.refuse(&section.at(key), problem, "make two plans");
        return None;
    }
    Some(members)
}

/// A group of more would not be visited within a day.
const MEMBERS_MAX: usize = crate::read::HOSTS_MAX;
const EXCLUDES_MAX: usize = 4096;

/// What one selector selects: an address by name, maybe with a label, or all of a class.
fn selected(selector: &Section, addresses: &Addresses, found: &mut Findings) -> Vec<Member> {
    selector.only(&["name", "label", "class", "disabled"], found);
    if selector.boolean("disabled", found) == Some(true) {
        found.notice(&selector.place, "disabled, and so not in the group");
        return Vec::new();
    }
    if selector.has("class") {
        return of_class(selector, addresses, found);
    }
    let name = selector.text("name", found);
    let name = selector.required("name", name, "name one of `addresses`", found);
    let Some(name) = name.filter(|name| known(name, &addresses.all, "addresses", found).is_some())
    else {
        return Vec::new();
    };
    let label = selector.text("label", found);
    vec![Member {
        name: name.value.to_owned(),
        label: label.map(|label| label.value.to_owned()),
    }]
}

fn of_class(selector: &Section, addresses: &Addresses, found: &mut Findings) -> Vec<Member> {
    let class = selector.text("class", found);
    let class = class.and_then(|class| known(&class, &addresses.classes, "address-classes", found));
    let names = class.iter().copied().flatten().flatten();
    let member = |name: &String| Member {
        name: name.clone(),
        label: None,
    };
    names.map(member).collect()
}

fn excludes_self(section: &Section, found: &mut Findings) {
    let text = section.text("excludes-self", found);
    if let Some(text) = text.filter(|text| text.value != "host") {
        found.notice(&text.place, "no machine visits itself");
    }
}

/// The members that do not visit, each with those that they do not visit.
fn excluded(
    section: &Section,
    addresses: &Addresses,
    found: &mut Findings,
) -> Vec<(Vec<Member>, Vec<Member>)> {
    let mut excluded = Vec::new();
    let written = section.sections("excludes", found);
    if written.len() > EXCLUDES_MAX {
        let problem = format!("{} excludes are above {EXCLUDES_MAX}", written.len());
        found.refuse(
            &section.at("excludes"),
            problem,
            "write one for each local address",
        );
        return excluded;
    }
    for exclude in written {
        let local = exclude.section("local-address", found);
        let local = local.map(|local| selected(&local, addresses, found));
        let mut targets = Vec::new();
        for target in exclude.sections("target-addresses", found) {
            targets.extend(selected(&target, addresses, found));
        }
        excluded.push((local.unwrap_or_default(), targets));
    }
    excluded
}
