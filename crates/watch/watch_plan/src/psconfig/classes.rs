//! Address classes, as the sets of addresses that they match.

use std::collections::{BTreeMap, BTreeSet};

use super::addresses::Address;
use super::{known, no_counterpart};
use crate::section::{Field, Findings, Section, closest};

/// Names of addresses; `None` where a class has no counterpart.
pub(super) type Class = Option<BTreeSet<String>>;

/// Classes may name classes.
const DEEP_MAX: usize = 16;

const TYPES: [&str; 8] = [
    "address-class",
    "and",
    "host",
    "ip-version",
    "jq",
    "netmask",
    "not",
    "or",
];

/// The classes by name.
pub(super) fn classes(
    root: &Section,
    addresses: &BTreeMap<String, Address>,
    found: &mut Findings,
) -> BTreeMap<String, Class> {
    let written: BTreeMap<String, Section> = root
        .named("address-classes", found)
        .into_iter()
        .map(|(name, section)| (name.to_owned(), section))
        .collect();
    let mut reading = Reading {
        addresses,
        written: &written,
        done: BTreeMap::new(),
        within: Vec::new(),
    };
    for name in written.keys() {
        reading.class(name, found);
    }
    reading.done
}

struct Reading<'a, 't> {
    addresses: &'a BTreeMap<String, Address>,
    written: &'a BTreeMap<String, Section<'t>>,
    done: BTreeMap<String, Class>,
    /// The classes that are being read, each named by the one before.
    within: Vec<&'a str>,
}

impl<'a> Reading<'a, '_> {
    fn class(&mut self, name: &str, found: &mut Findings) -> Class {
        if let Some(done) = self.done.get(name) {
            return done.clone();
        }
        let (name, section) = self.written.get_key_value(name)?;
        self.within.push(name);
        let class = self.filtered(section, found);
        self.within.pop();
        self.done.insert(name.clone(), class.clone());
        class
    }

    fn filtered(&mut self, section: &Section, found: &mut Findings) -> Class {
        no_counterpart(
            section,
            &["data-source", "match-filter", "exclude-filter"],
            found,
        );
        let source = section.section("data-source", found);
        let source = source.and_then(|source| source.text("type", found));
        if let Some(source) = source.filter(|source| source.value != "current-config") {
            let shown = units::printable(source.value, 60);
            let text =
                format!("addresses of `{shown}` have no counterpart; write them in `addresses`");
            found.notice(&source.place, text);
            return None;
        }
        let mut matched = match section.section("match-filter", found) {
            Some(filter) => self.matched(&filter, found)?,
            None => self.all(),
        };
        if let Some(filter) = section.section("exclude-filter", found) {
            let excluded = self.matched(&filter, found)?;
            matched.retain(|name| !excluded.contains(name));
        }
        Some(matched)
    }

    fn all(&self) -> BTreeSet<String> {
        self.addresses.keys().cloned().collect()
    }

    fn those(&self, fits: impl Fn(&Address) -> bool) -> Class {
        let fitting = self.addresses.iter().filter(|(_, address)| fits(address));
        Some(fitting.map(|(name, _)| name.clone()).collect())
    }

    fn matched(&mut self, filter: &Section, found: &mut Findings) -> Class {
        let kind = filter.text("type", found);
        let kind = filter.required("type", kind, "write `tag`, `host`, `and`, ...", found)?;
        match kind.value {
            "tag" => {
                let tag = filter.text("tag", found);
                let tag = filter.required("tag", tag, "write a tag", found)?;
                let tag = tag.value.to_lowercase();
                self.those(|address| {
                    let host = address.host.iter().flat_map(|host| &host.tags);
                    address.tags.iter().chain(host).any(|one| *one == tag)
                })
            }
            "host" => self.of_host(filter, found),
            "ip-version" => self.of_version(filter, found),
            "address-class" => {
                let name = filter.text("class", found);
                let name =
                    filter.required("class", name, "name one of `address-classes`", found)?;
                self.of_class(&name, found)
            }
            "not" => {
                let inner = filter.section("filter", found);
                let inner = filter.required("filter", inner, "write what does not match", found)?;
                let matched = self.matched(&inner, found)?;
                let mut others = self.all();
                others.retain(|name| !matched.contains(name));
                Some(others)
            }
            "and" => {
                let parts = self.parts(filter, found)?;
                let all = self.all();
                Some(parts.into_iter().fold(all, |all, part| &all & &part))
            }
            "or" => {
                let parts = self.parts(filter, found)?;
                Some(parts.into_iter().flatten().collect())
            }
            other => unknown(other, &kind, found),
        }
    }

    fn parts(&mut self, filter: &Section, found: &mut Findings) -> Option<Vec<BTreeSet<String>>> {
        let hint = "write a list of filters";
        filter.required("filters", filter.has("filters").then_some(()), hint, found)?;
        let mut parts = Vec::new();
        for part in filter.sections("filters", found) {
            parts.push(self.matched(&part, found));
        }
        parts.into_iter().collect()
    }

    /// Addresses whose `host` is in `hosts`, with that tag, and as `no-agent` says.
    fn of_host(&self, filter: &Section, found: &mut Findings) -> Class {
        let tag = filter
            .text("tag", found)
            .map(|tag| tag.value.to_lowercase());
        let no_agent = filter.boolean("no-agent", found) == Some(true);
        if filter.has("jq") {
            return unknown(
                "jq",
                &Field {
                    value: "jq",
                    place: filter.at("jq"),
                },
                found,
            );
        }
        self.those(|address| {
            address.host.as_ref().is_some_and(|host| {
                let has = |tag: &String| host.tags.contains(tag);
                tag.as_ref().is_none_or(has) && host.no_agent == no_agent
            })
        })
    }

    fn of_version(&self, filter: &Section, found: &mut Findings) -> Class {
        let version = super::specs::ip_version(filter, found)?;
        let class = self.within.first().copied().unwrap_or_default();
        if let Some((name, _)) = self
            .addresses
            .iter()
            .find(|(_, address)| address.own.version().is_none())
        {
            let text = format!(
                "`{name}` is a name, which says no IP version: not in `{class}`; write numbers, or \
                 `ip-version` in the test"
            );
            found.notice(&filter.place, text);
        }
        self.those(|address| address.own.version() == Some(version))
    }

    fn of_class(&mut self, name: &Field<&str>, found: &mut Findings) -> Class {
        known(name, self.written, "address-classes", found)?;
        let is_within = self.within.contains(&name.value);
        if is_within || self.within.len() >= DEEP_MAX {
            let shown = units::printable(name.value, 60);
            let problem = match is_within {
                true => format!("the class `{shown}` is part of itself"),
                false => format!("classes name each other more than {DEEP_MAX} deep"),
            };
            found.refuse(
                &name.place,
                problem,
                "write the filters of the inner one here",
            );
            return None;
        }
        self.class(name.value, found)
    }
}

/// `jq` is a language of its own; `netmask` asks the domain name system.
fn unknown(kind: &str, at: &Field<&str>, found: &mut Findings) -> Class {
    let shown = units::printable(kind, 60);
    if ["jq", "netmask"].contains(&kind) {
        let text =
            format!("filters by `{shown}` have no counterpart; give addresses or hosts a tag");
        found.notice(&at.place, text);
        return None;
    }
    let near = closest(kind, TYPES.into_iter().chain(["tag"]));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let problem = format!("`{shown}` is no type of filter");
    let known = format!("{near}known: {}, tag", TYPES.join(", "));
    found.refuse(&at.place, problem, known);
    None
}
