//! The groups of files of a plan, and what they may not be beside each other.

use std::collections::BTreeMap;

use watch_plan::section::{Field, Findings, Place, Section, closest, parse};

use super::Checks;
use super::links::count;
use super::order::cycle;
use super::spots::spot;
use crate::model::{Group, Host, Link, Rule, Spot};
use crate::names::{GroupName, HostName, LinkName};
use crate::read::LINK_DEFAULT;

const GROUPS_MAX: usize = 10_000;
const PRIORITY: u8 = 5;
const KEYS: [&str; 10] = [
    "from",
    "to",
    "link",
    "include",
    "exclude",
    "priority",
    "deadline",
    "after",
    "folds_names",
    "bag",
];
/// Checksums that programs for bags know.
const BAG: [&str; 6] = ["sha512", "sha384", "sha256", "sha224", "sha1", "md5"];

pub(super) fn groups(
    root: &Section,
    hosts: &BTreeMap<HostName, Host>,
    links: &BTreeMap<LinkName, Link>,
    checks: &Checks,
    found: &mut Findings,
) -> Vec<Group> {
    let named = root.named("groups", found);
    if named.is_empty() {
        let hint = "write `[groups.NAME]` with `from = \"/data\"` and `to = \"HOST:/store\"`";
        found.refuse(
            &root.at("groups"),
            "the plan has no groups of files".to_owned(),
            hint,
        );
    }
    if named.len() > GROUPS_MAX {
        let problem = format!("{} groups are above {GROUPS_MAX}", named.len());
        found.refuse(&root.at("groups"), problem, "copy larger folders at once");
    }
    let reader = Reader {
        hosts,
        links,
        checks,
    };
    let mut placed = Vec::new();
    for (name, section) in &named {
        section.only(&KEYS, found);
        let name = parse::<GroupName>(name, &section.place, found);
        let group = name.and_then(|name| reader.group(name, section, found));
        placed.extend(group.map(|group| (group, section)));
    }
    check_overlaps(&placed, found);
    check_after(&placed, &named, found);
    placed.into_iter().map(|(group, _)| group).collect()
}

struct Reader<'a> {
    hosts: &'a BTreeMap<HostName, Host>,
    links: &'a BTreeMap<LinkName, Link>,
    checks: &'a Checks,
}

impl Reader<'_> {
    fn group(&self, name: GroupName, section: &Section, found: &mut Findings) -> Option<Group> {
        let from = self.spot(section, "from", "the folder whose content is copied", found);
        let to = self.spot(section, "to", "the folder that it is copied into", found);
        let link = self.link(section, found);
        let rules = self.rules(section, found);
        let priority = count(section, "priority", 1..=9, found);
        let deadline = self.deadline(section, found);
        let after = match section.has("after") {
            true => section.texts("after", found).unwrap_or_default(),
            false => Vec::new(),
        };
        let after = after
            .iter()
            .filter_map(|one| parse::<GroupName>(one.value, &one.place, found));
        let after = after.collect();
        let folds_names = section.boolean("folds_names", found).unwrap_or(false);
        let bag = bag(section, found);
        let (from, to) = (from?, to?);
        check_bag(section, &bag, &to, found);
        if from.host.is_none() && to.host.is_none() {
            let problem = "both ends are on this host".to_owned();
            let hint = "use cp; or name the other host: `HOST:/path` with a host of `[hosts]`";
            found.refuse(&section.at("to"), problem, hint);
        }
        if from.overlaps(&to) {
            let problem = format!("`{to}` and `{from}` are one folder, or one lies in the other");
            let hint = "choose a destination outside of the source";
            found.refuse(&section.at("to"), problem, hint);
        }
        Some(Group {
            name,
            from,
            to,
            link: link?,
            rules,
            priority: priority
                .and_then(|one| u8::try_from(one).ok())
                .unwrap_or(PRIORITY),
            deadline,
            after,
            folds_names,
            bag,
        })
    }

    fn spot(&self, section: &Section, key: &str, hint: &str, found: &mut Findings) -> Option<Spot> {
        let text = section.text(key, found);
        let text = section.required(key, text, &format!("write {hint}"), found)?;
        spot(text, self.hosts, found)
    }

    fn link(&self, section: &Section, found: &mut Findings) -> Option<LinkName> {
        let Some(Field { value, place }) = section.text("link", found) else {
            return LINK_DEFAULT.parse().ok();
        };
        if let Some((known, _)) = self.links.get_key_value(value) {
            return Some(known.clone());
        }
        let near = closest(value, self.links.keys().map(LinkName::as_str));
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let problem = format!("there is no link `{value}` in `[links]`");
        found.refuse(&place, problem, format!("{near}write it under `[links]`"));
        None
    }

    /// What is included is asked first: an include is an exception from the excludes.
    fn rules(&self, section: &Section, found: &mut Findings) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (key, leaves_out) in [("include", false), ("exclude", true)] {
            if !section.has(key) {
                continue;
            }
            for text in section.texts(key, found).unwrap_or_default() {
                if let Err(problem) = (self.checks.pattern)(text.value) {
                    let hint = "write `*.tmp` for files of any folder, `/run7/raw/` for one folder";
                    found.refuse(&text.place, problem, hint);
                }
                rules.push(Rule {
                    leaves_out,
                    pattern: text.value.to_owned(),
                });
            }
        }
        rules
    }

    fn deadline(&self, section: &Section, found: &mut Findings) -> Option<i64> {
        let text = section.text("deadline", found)?;
        let moment = (self.checks.moment)(text.value);
        if moment.is_none() {
            let shown: String = text.value.chars().take(60).collect();
            let problem = format!("`{shown}` is no moment");
            let hint = "write it like `2026-12-01T18:00:00Z`";
            found.refuse(&text.place, problem, hint);
        }
        moment
    }
}

/// The checksums of a bag, each once.
fn bag(section: &Section, found: &mut Findings) -> Vec<String> {
    let mut bag: Vec<String> = Vec::new();
    if !section.has("bag") {
        return bag;
    }
    let Some(named) = section.texts("bag", found) else {
        return bag;
    };
    let hint = format!(
        "write some of {}, like `bag = [\"sha256\"]`",
        BAG.join(", ")
    );
    if named.is_empty() {
        let problem = "a bag needs at least one checksum".to_owned();
        found.refuse(&section.at("bag"), problem, hint.as_str());
    }
    for Field { value, place } in named {
        let shown: String = value.chars().take(60).collect();
        if !BAG.contains(&value) {
            let problem = format!("`{shown}` is no checksum of bags");
            found.refuse(&place, problem, hint.as_str());
        } else if bag.iter().any(|known| known == value) {
            let problem = format!("`{shown}` is there twice");
            found.refuse(&place, problem, "name each checksum once");
        } else {
            bag.push(value.to_owned());
        }
    }
    bag
}

/// Files go where the plan says, and the payload of a bag is below `data`.
fn check_bag(section: &Section, bag: &[String], to: &Spot, found: &mut Findings) {
    let folder = to.path.strip_suffix("/data").unwrap_or_default();
    if !bag.is_empty() && folder.is_empty() {
        let problem = format!("the payload of a bag is in its folder `data`, and `to` is `{to}`");
        let hint = "end `to` with the folder of the bag and `/data`, like `HOST:/bags/july/data`; \
                    or leave `bag` out";
        found.refuse(&section.at("to"), problem, hint);
    }
}

/// Two groups that write into one folder could replace each other's files.
fn check_overlaps(groups: &[(Group, &Section)], found: &mut Findings) {
    let mut sorted: Vec<&(Group, &Section)> = groups.iter().collect();
    // By components: `x/y` stands behind `x` even where `x-y` is there, too.
    let key = |spot: &Spot| -> (Option<HostName>, Vec<String>) {
        let parts = spot.path.split('/').map(str::to_owned);
        (spot.host.clone(), parts.collect())
    };
    sorted.sort_by_cached_key(|(group, _)| key(&group.to));
    let mut outer: Option<&Group> = None;
    for (group, section) in sorted {
        match outer.filter(|outer| outer.to.overlaps(&group.to)) {
            Some(outer) => {
                let problem = format!(
                    "`{}` lies in `{}` of group `{}`",
                    group.to, outer.to, outer.name
                );
                let hint =
                    "give each group a folder of its own, so that none replaces another's files";
                found.refuse(&section.at("to"), problem, hint);
            }
            None => outer = Some(group),
        }
    }
}

fn check_after(groups: &[(Group, &Section)], named: &[(&str, Section)], found: &mut Findings) {
    for (group, section) in groups {
        for after in &group.after {
            if !named.iter().any(|(name, _)| *name == after.as_str()) {
                let near = closest(after.as_str(), named.iter().map(|(name, _)| *name));
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let problem = format!("there is no group `{after}`");
                let hint = format!("{near}name a group of `[groups]`");
                found.refuse(&section.at("after"), problem, hint);
            }
        }
    }
    let all: Vec<&Group> = groups.iter().map(|(group, _)| group).collect();
    if let Some(cycle) = cycle(&all) {
        let first = cycle.first().map(String::as_str).unwrap_or_default();
        let at = groups
            .iter()
            .find(|(group, _)| group.name.as_str() == first);
        let place = at.map_or(
            Place {
                line: 1,
                field: "groups".to_owned(),
            },
            |(_, section)| section.at("after"),
        );
        let problem = format!("groups wait for each other: {}", cycle.join(" after "));
        found.refuse(&place, problem, "leave one of these out of an `after`");
    }
}
