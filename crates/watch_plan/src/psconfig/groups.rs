//! Groups of addresses.

use std::collections::BTreeMap;

use super::addresses::Addresses;
use super::{known, no_counterpart};
use crate::model::{GroupKind, Pair};
use crate::names::{GroupName, HostName};
use crate::section::{Findings, Section, parse};
use crate::tree::Node;

/// What becomes of a group: `None` if it has no pair with a counterpart.
pub(super) struct Group {
    pub kind: Option<GroupKind>,
}

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
) -> BTreeMap<GroupName, Group> {
    let mut groups = BTreeMap::new();
    for (name, section) in root.named("groups", found) {
        no_counterpart(&section, &KEYS, found);
        let kind = kind(&section, addresses, found);
        let kind = kind.filter(|kind| !kind.pairs().is_empty());
        if kind.is_none() {
            found.notice(
                &section.place,
                "has no pair of two addresses that are in the plan",
            );
        }
        if let Some(name) = parse::<GroupName>(name, &section.place, found) {
            groups.insert(name, Group { kind });
        }
    }
    groups
}

fn kind(section: &Section, addresses: &mut Addresses, found: &mut Findings) -> Option<GroupKind> {
    let kind = section.text("type", found);
    let kind = section.required("type", kind, "write `mesh`, `disjoint` or `list`", found)?;
    let group = match kind.value {
        "mesh" => GroupKind::Mesh(members(section, "addresses", addresses, found)?),
        "disjoint" => disjoint(section, addresses, found)?,
        "list" => {
            members(section, "addresses", addresses, found);
            found.notice(&kind.place, "a list of single addresses has no path");
            return None;
        }
        other => {
            let shown: String = other.chars().take(60).collect();
            let problem = format!("`{shown}` is no type of group");
            found.refuse(&kind.place, problem, "write `mesh`, `disjoint` or `list`");
            return None;
        }
    };
    Some(without_excluded(section, group, addresses, found))
}

fn disjoint(
    section: &Section,
    addresses: &mut Addresses,
    found: &mut Findings,
) -> Option<GroupKind> {
    let a = members(section, "a-addresses", addresses, found);
    let b = members(section, "b-addresses", addresses, found);
    let (a, b) = (a?, b?);
    let one_way = section.boolean("unidirectional", found) == Some(true);
    if !one_way && !a.iter().any(|host| b.contains(host)) {
        return Some(GroupKind::Disjoint { a, b });
    }
    let mut pairs = Vec::new();
    for from in &a {
        for to in b.iter().filter(|to| *to != from) {
            let (from, to) = (from.clone(), to.clone());
            let back = Pair {
                from: to.clone(),
                to: from.clone(),
            };
            pairs.push(Pair { from, to });
            if !one_way {
                pairs.push(back);
            }
        }
    }
    Some(GroupKind::List(pairs))
}

fn members(
    section: &Section,
    key: &str,
    addresses: &mut Addresses,
    found: &mut Findings,
) -> Option<Vec<HostName>> {
    let list = section.list(key, found);
    let list = section.required(key, list, "write a list of `{ \"name\": \"...\" }`", found)?;
    let label = section.text("default-address-label", found);
    let label = label.map(|label| label.value);
    let mut members: Vec<HostName> = Vec::new();
    for (node, place) in list {
        let Some(selector) = Section::of(node, place, found) else {
            continue;
        };
        for host in selected(&selector, label, addresses, found) {
            if !members.contains(&host) {
                members.push(host);
            }
        }
    }
    Some(members)
}

/// The hosts of one selector: an address by name, maybe with a label, or all of a class.
fn selected(
    selector: &Section,
    label: Option<&str>,
    addresses: &mut Addresses,
    found: &mut Findings,
) -> Vec<HostName> {
    selector.only(&["name", "label", "class", "disabled"], found);
    if selector.boolean("disabled", found) == Some(true) {
        found.notice(&selector.place, "disabled, and so not in the group");
        return Vec::new();
    }
    if selector.has("class") {
        return of_class(selector, addresses, found);
    }
    let name = selector.text("name", found);
    let Some(name) = selector.required("name", name, "name one of `addresses`", found) else {
        return Vec::new();
    };
    let address = known(&name, &addresses.all, "addresses", found);
    let Some((host, true)) = address.map(|address| (address.host.clone(), address.enabled)) else {
        return Vec::new();
    };
    let own = selector.text("label", found);
    let Some(label) = own.map(|own| own.value).or(label) else {
        return vec![host];
    };
    let labelled = addresses.labelled(name.value, label);
    if labelled.is_none() {
        let shown: String = label.chars().take(60).collect();
        let text = format!(
            "`{}` has no label `{shown}` of its own; not in the group",
            name.value
        );
        found.notice(&selector.place, text);
    }
    labelled.into_iter().collect()
}

fn of_class(selector: &Section, addresses: &Addresses, found: &mut Findings) -> Vec<HostName> {
    let class = selector.text("class", found);
    let class = class.and_then(|class| known(&class, &addresses.classes, "address-classes", found));
    let Some(Some(tag)) = class else {
        return Vec::new();
    };
    let tagged = addresses
        .all
        .values()
        .filter(|address| address.enabled && address.tags.contains(tag));
    tagged.map(|address| address.host.clone()).collect()
}

/// The pairs that are left where a group excludes some.
fn without_excluded(
    section: &Section,
    group: GroupKind,
    addresses: &mut Addresses,
    found: &mut Findings,
) -> GroupKind {
    if section.has("excludes-self") {
        let text = section.text("excludes-self", found);
        if let Some(text) = text.filter(|text| text.value != "host") {
            found.notice(&text.place, "no machine visits itself");
        }
    }
    if !section.has("excludes") {
        return group;
    }
    let mut pairs = group.pairs();
    for (node, place) in section.list("excludes", found).unwrap_or_default() {
        let Some(exclude) = Section::of(node, place, found) else {
            continue;
        };
        let local = exclude.section("local-address", found);
        let local = local
            .map(|local| selected(&local, None, addresses, found))
            .unwrap_or_default();
        let targets: Vec<(&Node, _)> = exclude.list("target-addresses", found).unwrap_or_default();
        for (node, place) in targets {
            let Some(target) = Section::of(node, place, found) else {
                continue;
            };
            let target = selected(&target, None, addresses, found);
            pairs.retain(|pair| !local.contains(&pair.from) || !target.contains(&pair.to));
        }
    }
    GroupKind::List(pairs)
}
