//! From TOML to a checked plan.

mod groups;
mod links;
mod order;
mod spots;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use units::Bytes;
use watch_plan::section::{Findings, Section, parse, read_toml};
use watch_plan::{Notice, PlanError, UtcOffset};

use crate::cut::CutBounds;
use crate::model::{Campaign, Host};
use crate::names::{HostName, LinkName};

/// The link of groups that name none.
pub const LINK_DEFAULT: &str = "default";

/// Lengths that parts of a file can have.
const PARTS: RangeInclusive<Bytes> = Bytes::new(64 << 20)..=Bytes::new(1 << 50);

const LAYOUT: &str = "a plan has `key = \"value\"` lines under `[groups.NAME]`, `[links.NAME]`, \
                      `[hosts.NAME]`";

/// What other rooms know about the words of a plan. Each gives the mistake and the next step.
#[derive(Clone, Copy)]
pub struct Checks {
    /// Whether a host's address is one.
    pub address: fn(&str) -> Result<(), (String, String)>,
    /// Whether a pattern is one.
    pub pattern: fn(&str) -> Result<(), String>,
    /// A moment in seconds since 1970.
    pub moment: fn(&str) -> Option<i64>,
}

impl Checks {
    /// Takes all addresses and patterns, and no moments.
    pub fn none() -> Checks {
        Checks {
            address: |_| Ok(()),
            pattern: |_| Ok(()),
            moment: |_| None,
        }
    }
}

pub(crate) fn read(
    text: &str,
    file: &str,
    checks: &Checks,
) -> Result<(Campaign, Vec<Notice>), PlanError> {
    read_toml(text, file, LAYOUT, |root, found| {
        campaign(root, checks, found)
    })
}

fn campaign(root: &Section, checks: &Checks, found: &mut Findings) -> Option<Campaign> {
    root.only(&["utc_offset", "shards", "hosts", "links", "groups"], found);
    let offset = root.parsed::<UtcOffset>("utc_offset", found);
    let cut = cut(root, found);
    let hosts = hosts(root, checks, found);
    let mut links = links::links(root, found);
    let groups = groups::groups(root, &hosts, &links, checks, found);
    if let (Some(part), Some(bag)) = (cut.part, groups.iter().find(|one| !one.bag.is_empty())) {
        let problem = format!(
            "group `{}` is a bag, and files above {part} are cut into parts: no host reads all of \
            such a file",
            bag.name
        );
        let hint = "leave out `parts` or `bag`, or plan the bag as a campaign of its own";
        found.refuse(&root.at("shards"), problem, hint);
    }
    if let Ok(name) = LINK_DEFAULT.parse::<LinkName>()
        && groups.iter().any(|group| group.link == name)
    {
        links.entry(name).or_insert_with(links::unbounded);
    }
    Some(Campaign {
        hosts,
        links,
        groups: order::in_order(groups),
        offset: offset.map_or(UtcOffset::default(), |offset| offset.value),
        cut,
    })
}

fn cut(root: &Section, found: &mut Findings) -> CutBounds {
    let mut cut = CutBounds::default();
    let Some(shards) = root.section("shards", found) else {
        return cut;
    };
    shards.only(&["files", "bytes", "parts"], found);
    if let Some(names) = links::count(&shards, "files", 1..=1_000_000, found) {
        cut.names = names;
    }
    let bytes = shards.parsed::<Bytes>("bytes", found);
    let bytes = bytes.and_then(|bytes| bytes.within(Bytes::new(1)..=Bytes::new(1 << 60), found));
    cut.bytes = bytes.map_or(cut.bytes, |bytes| bytes.value);
    if let Some(part) = shards.parsed::<Bytes>("parts", found) {
        match PARTS.contains(&part.value) && part.value.get().is_power_of_two() {
            true => cut.part = Some(part.value),
            false => {
                let problem = format!("{} is no length of parts", part.value);
                let hint = "write a power of two from 64MiB to 1024TiB, like 16GiB";
                found.refuse(&part.place, problem, hint);
            }
        }
    }
    cut
}

fn hosts(root: &Section, checks: &Checks, found: &mut Findings) -> BTreeMap<HostName, Host> {
    let mut hosts = BTreeMap::new();
    for (name, section) in root.named("hosts", found) {
        section.only(&["address", "also", "token", "program", "root"], found);
        let name = parse::<HostName>(name, &section.place, found);
        let address = section.text("address", found);
        let hint = "write how it is reached: `ana@dtn.example.org` for ssh, or \
                    `trunkline://dtn.example.org` for a server";
        let Some(address) = section.required("address", address, hint, found) else {
            continue;
        };
        if let Err((problem, hint)) = (checks.address)(address.value) {
            found.refuse(&address.place, problem, hint);
        }
        for key in ["token", "root"] {
            if let Some(path) = section.text(key, found)
                && !path.value.starts_with('/')
            {
                let problem = format!("`{}` does not begin with `/`", path.value);
                let hint =
                    "write the whole path: tasks run in other folders than this plan stands in";
                found.refuse(&path.place, problem, hint);
            }
        }
        let also = also(&section, address.value, checks, found);
        let text = |key, found: &mut Findings| {
            let text = section.text(key, found);
            text.map(|text| text.value.to_owned())
        };
        let host = Host {
            address: address.value.to_owned(),
            also,
            token: text("token", found),
            program: text("program", found),
            root: text("root", found),
        };
        if let Some(name) = name {
            hosts.insert(name, host);
        }
    }
    hosts
}

/// Addresses of further hosts, which one token and one program have to serve.
fn also(section: &Section, address: &str, checks: &Checks, found: &mut Findings) -> Vec<String> {
    let is_server = |address: &str| address.starts_with("trunkline://");
    let mut also = Vec::new();
    for other in section.texts("also", found).unwrap_or_default() {
        if let Err((problem, hint)) = (checks.address)(other.value) {
            found.refuse(&other.place, problem, hint);
        } else if is_server(other.value) != is_server(address) {
            let problem = format!("`{}` is not reached as `{address}` is", other.value);
            let hint = "name servers alone, or hosts that ssh reaches alone";
            found.refuse(&other.place, problem, hint);
        } else {
            also.push(other.value.to_owned());
        }
    }
    also
}

#[cfg(test)]
mod tests;
