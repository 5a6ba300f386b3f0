//! The groups of a plan.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{GroupKind, Host, Pair};
use crate::names::{GroupName, HostName};
use crate::section::{Field, Findings, Section, closest, items, parse, texts_of};

type Hosts = BTreeMap<HostName, Host>;

/// The groups, and the names of all that are written, also of those with mistakes.
pub(super) fn groups(
    root: &Section,
    hosts: &Hosts,
    found: &mut Findings,
) -> (BTreeMap<GroupName, GroupKind>, BTreeSet<GroupName>) {
    let (mut groups, mut named) = (BTreeMap::new(), BTreeSet::new());
    for (name, section) in root.named("groups", found) {
        section.only(&["mesh", "disjoint", "list"], found);
        let kind = kind(&section, hosts, found);
        let Some(name) = parse::<GroupName>(name, &section.place, found) else {
            continue;
        };
        named.insert(name.clone());
        if let Some(kind) = kind {
            groups.insert(name, kind);
        }
    }
    (groups, named)
}

fn kind(section: &Section, hosts: &Hosts, found: &mut Findings) -> Option<GroupKind> {
    let written = ["mesh", "disjoint", "list"]
        .into_iter()
        .filter(|key| section.has(key));
    let written: Vec<&str> = written.collect();
    let before = found.mistakes.len();
    let group = match written.as_slice() {
        ["mesh"] => GroupKind::Mesh(members(section, "mesh", hosts, found)?),
        ["disjoint"] => disjoint(&section.section("disjoint", found)?, hosts, found)?,
        ["list"] => GroupKind::List(list(section, hosts, found)?),
        _ => {
            let problem = format!(
                "`{}` has {} of mesh, disjoint and list",
                section.place.field,
                written.len()
            );
            let hint = "write one: `mesh = [..]`, `disjoint = { a = [..], b = [..] }` or \
                        `list = [[\"from\", \"to\"], ..]`";
            found.refuse(&section.place, problem, hint);
            return None;
        }
    };
    // Where a host is unknown, that is the mistake.
    if group.pairs().is_empty() && found.mistakes.len() == before {
        let problem = format!("`{}` has no pair of two hosts", section.place.field);
        found.refuse(&section.place, problem, "name two hosts or more");
        return None;
    }
    Some(group)
}

fn disjoint(section: &Section, hosts: &Hosts, found: &mut Findings) -> Option<GroupKind> {
    section.only(&["a", "b"], found);
    let side = |key, found: &mut Findings| {
        let side = section
            .has(key)
            .then(|| members(section, key, hosts, found))
            .flatten();
        section.required(key, side, "write the hosts of this side", found)
    };
    let (a, b) = (side("a", found), side("b", found));
    let (a, b) = (a?, b?);
    if let Some(both) = a.iter().find(|host| b.contains(host)) {
        let problem = format!("`{both}` is on both sides");
        found.refuse(
            &section.place,
            problem,
            "keep it on one side, or make a mesh",
        );
        return None;
    }
    Some(GroupKind::Disjoint { a, b })
}

fn members(
    section: &Section,
    key: &str,
    hosts: &Hosts,
    found: &mut Findings,
) -> Option<Vec<HostName>> {
    let mut members: Vec<HostName> = Vec::new();
    for text in section.texts(key, found)? {
        let Some(host) = known(&text, hosts, found) else {
            continue;
        };
        if members.contains(&host) {
            let problem = format!("`{host}` is written twice");
            found.refuse(&text.place, problem, "keep one of them");
        }
        members.push(host);
    }
    Some(members)
}

fn known(text: &Field<&str>, hosts: &Hosts, found: &mut Findings) -> Option<HostName> {
    let host = hosts.get_key_value(text.value);
    if host.is_none() {
        let shown: String = text.value.chars().take(60).collect();
        let near = closest(text.value, hosts.keys().map(HostName::as_str));
        let hint = near.map_or("name a host of `[hosts]`".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        found.refuse(
            &text.place,
            format!("`{shown}` is not a host of this plan"),
            hint,
        );
    }
    host.map(|(name, _)| name.clone())
}

fn list(section: &Section, hosts: &Hosts, found: &mut Findings) -> Option<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (node, place) in section.list("list", found)? {
        let Some(ends) = items(node, &place, found) else {
            continue;
        };
        let ends = texts_of(ends, found);
        let [from, to] = ends.as_slice() else {
            let problem = format!("a pair has {} hosts", ends.len());
            found.refuse(&place, problem, "write two: `[\"from\", \"to\"]`");
            continue;
        };
        let (from, to) = (known(from, hosts, found), known(to, hosts, found));
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        let pair = Pair { from, to };
        if pair.from == pair.to || pairs.contains(&pair) {
            let problem = format!(
                "`{}` to `{}` is no new pair of two hosts",
                pair.from, pair.to
            );
            found.refuse(&place, problem, "keep pairs of different hosts, each once");
            continue;
        }
        pairs.push(pair);
    }
    Some(pairs)
}
