//! Addresses as hosts.

use std::collections::BTreeMap;

use super::no_counterpart;
use crate::model::Host;
use crate::names::{HostName, MachineName};
use crate::read::{HOSTS_MAX, one_word};
use crate::section::{Field, Findings, Section, parse};

/// The hosts, and what groups need of addresses.
pub(super) struct Addresses {
    /// Hosts that are in use: addresses, and labels that groups name.
    pub hosts: BTreeMap<HostName, Host>,
    /// All addresses by name, disabled ones too.
    pub all: BTreeMap<String, Address>,
    /// The classes by name: the tag that they match, if that is what they match.
    pub classes: BTreeMap<String, Option<String>>,
}

pub(super) struct Address {
    pub host: HostName,
    pub enabled: bool,
    pub tags: Vec<String>,
    /// Other addresses of the same machine, by label.
    labels: BTreeMap<String, String>,
}

impl Addresses {
    pub(super) fn read(root: &Section, found: &mut Findings) -> Addresses {
        let off = disabled_machines(root, found);
        let mut addresses = Addresses {
            hosts: BTreeMap::new(),
            all: BTreeMap::new(),
            classes: classes(root, found),
        };
        let mut machines: BTreeMap<String, MachineName> = BTreeMap::new();
        for (name, section) in root.named("addresses", found) {
            no_counterpart(&section, &KEYS, found);
            let Some((host, address)) = address(name, &section, &mut machines, found) else {
                continue;
            };
            let enabled = address.enabled && !off.contains(&host.machine.to_string());
            if !enabled {
                found.notice(&section.place, "disabled, and so not in the plan");
            } else {
                addresses.hosts.insert(address.host.clone(), host);
            }
            addresses
                .all
                .insert(name.to_owned(), Address { enabled, ..address });
        }
        if addresses.all.len() > HOSTS_MAX {
            let problem = format!("{} addresses are above {HOSTS_MAX}", addresses.all.len());
            found.refuse(&root.at("addresses"), problem, "make two plans");
        }
        addresses
    }

    /// The host of a labelled address, which is on the machine of the address itself.
    pub(super) fn labelled(&mut self, name: &str, label: &str) -> Option<HostName> {
        let address = self.all.get(name)?;
        let at = address.labels.get(label)?.clone();
        let host: HostName = format!("{name}:{label}").parse().ok()?;
        let machine = self.hosts.get(&address.host)?.machine.clone();
        let labelled = Host {
            address: at,
            machine,
            link: None,
            token: None,
        };
        self.hosts.insert(host.clone(), labelled);
        Some(host)
    }
}

const KEYS: [&str; 5] = ["address", "host", "labels", "tags", "disabled"];

/// The machines that `hosts` disables.
fn disabled_machines(root: &Section, found: &mut Findings) -> Vec<String> {
    let mut off = Vec::new();
    for (name, section) in root.named("hosts", found) {
        no_counterpart(&section, &["disabled"], found);
        if section.boolean("disabled", found) == Some(true) {
            off.push(name.to_owned());
        }
    }
    off
}

fn address(
    name: &str,
    section: &Section,
    machines: &mut BTreeMap<String, MachineName>,
    found: &mut Findings,
) -> Option<(Host, Address)> {
    let host = parse::<HostName>(name, &section.place, found);
    let at = section.text("address", found);
    let at = section.required("address", at, "write a name or an address", found);
    let at = at.and_then(|at| one_word(at, found));
    let machine = section.parsed::<MachineName>("host", found);
    let enabled = section.boolean("disabled", found) != Some(true);
    let tags = section.texts("tags", found).unwrap_or_default();
    let labels = labels(section, found);
    let (host, at) = (host?, at?);
    let machine = machine.map(|machine| machine.value);
    // Without `host`, entries with one address are one machine.
    let first = machines.entry(at.to_ascii_lowercase());
    let first = first.or_insert_with(|| machine.clone().unwrap_or_else(|| MachineName::of(&host)));
    let machine = machine.unwrap_or_else(|| first.clone());
    let address = Address {
        host,
        enabled,
        tags: tags.into_iter().map(|tag| tag.value.to_owned()).collect(),
        labels,
    };
    let host = Host {
        address: at,
        machine,
        link: None,
        token: None,
    };
    Some((host, address))
}

fn labels(section: &Section, found: &mut Findings) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (label, section) in section.named("labels", found) {
        no_counterpart(&section, &["address"], found);
        let at = section.text("address", found);
        let at = section.required("address", at, "write a name or an address", found);
        if let Some(at) = at.and_then(|at: Field<&str>| one_word(at, found)) {
            labels.insert(label.to_owned(), at);
        }
    }
    labels
}

fn classes(root: &Section, found: &mut Findings) -> BTreeMap<String, Option<String>> {
    let mut classes = BTreeMap::new();
    for (name, section) in root.named("address-classes", found) {
        no_counterpart(&section, &["data-source", "match-filter"], found);
        let filter = section.section("match-filter", found);
        let tag = filter.and_then(|filter| {
            let tag = filter.text("type", found)?.value == "tag";
            filter.text("tag", found).filter(|_| tag)
        });
        let tag = tag.map(|tag| tag.value.to_owned());
        if tag.is_none() {
            found.notice(
                &section.place,
                "only classes that match a tag have a counterpart",
            );
        }
        classes.insert(name.to_owned(), tag);
    }
    classes
}
