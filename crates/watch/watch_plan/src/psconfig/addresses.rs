//! Addresses as hosts.

use std::collections::BTreeMap;

use super::classes::{Class, classes};
use super::no_counterpart;
use crate::model::Host;
use crate::names::{HostName, MachineName};
use crate::read::{HOSTS_MAX, one_word};
use crate::section::{Field, Findings, Place, Section, parse};

/// The hosts, and what groups need of addresses.
pub(super) struct Addresses {
    /// Hosts that groups use.
    pub hosts: BTreeMap<HostName, Host>,
    /// All addresses by name, disabled ones too.
    pub all: BTreeMap<String, Address>,
    /// The classes by name.
    pub classes: BTreeMap<String, Class>,
}

pub(super) struct Address {
    machine: MachineName,
    /// What `hosts` says of its host, if anything.
    pub host: Option<HostEntry>,
    /// In small letters.
    pub tags: Vec<String>,
    pub own: Spot,
    labels: BTreeMap<String, Spot>,
    /// Other addresses of the same machine towards another address.
    remotes: BTreeMap<String, Remote>,
}

/// An entry of `hosts`.
#[derive(Clone)]
pub(super) struct HostEntry {
    is_disabled: bool,
    pub no_agent: bool,
    /// In small letters.
    pub tags: Vec<String>,
}

/// Where a machine is reached.
pub(super) struct Spot {
    address: String,
    is_disabled: bool,
    no_agent: bool,
}

struct Remote {
    own: Option<Spot>,
    labels: BTreeMap<String, Spot>,
}

impl Spot {
    pub(super) fn version(&self) -> Option<units::Family> {
        crate::ip_version(&self.address)
    }
}

/// What a group selects: an address by its name in `addresses`, maybe with a label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub name: String,
    pub label: Option<String>,
}

const KEYS: [&str; 7] = [
    "address",
    "host",
    "labels",
    "tags",
    "disabled",
    "no-agent",
    "remote-addresses",
];
const SPOT_KEYS: [&str; 3] = ["address", "disabled", "no-agent"];

impl Addresses {
    pub(super) fn read(root: &Section, found: &mut Findings) -> Addresses {
        let hosts = host_entries(root, found);
        let mut all = BTreeMap::new();
        let mut machines: BTreeMap<String, MachineName> = BTreeMap::new();
        for (name, section) in root.named("addresses", found) {
            no_counterpart(&section, &KEYS, found);
            let Some(address) = address(name, &section, &hosts, &mut machines, found) else {
                continue;
            };
            if address.is_disabled() {
                found.notice(&section.place, DISABLED);
            }
            all.insert(name.to_owned(), address);
        }
        Addresses {
            hosts: BTreeMap::new(),
            classes: classes(root, &all, found),
            all,
        }
    }

    /// The host that a member of a group is towards the address `remote`: `None` if it has no
    /// address there, or a disabled one.
    ///
    /// As in perfSONAR: `remote-addresses` come before `labels`, and a label that is not there
    /// leaves the address out.
    pub(super) fn host(
        &mut self,
        member: &Member,
        remote: &str,
        at: &Place,
        found: &mut Findings,
    ) -> Option<HostName> {
        let address = self.all.get(&member.name)?;
        let (suffix, spot) = address.towards(remote, member.label.as_deref())?;
        if address.is_disabled() || spot.is_disabled {
            return None;
        }
        let name = format!("{}{suffix}", member.name);
        let name = parse::<HostName>(&name, at, found)?;
        let host = Host {
            address: spot.address.clone(),
            machine: address.machine.clone(),
            link: None,
            bind: None,
            token: None,
            agent: !(address.no_agent() || spot.no_agent),
            login: None,
        };
        let known = self.hosts.entry(name.clone()).or_insert(host.clone());
        if *known != host {
            let problem = format!(
                "`{name}` would be both `{}` and `{}`",
                known.address, host.address
            );
            found.refuse(at, problem, "give the address or its label another name");
        }
        if self.hosts.len() == HOSTS_MAX + 1 {
            let problem = format!("the groups use more than {HOSTS_MAX} addresses");
            found.refuse(at, problem, "make two plans");
        }
        Some(name)
    }

    /// Whether any address has a label, also only towards another.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.all.values().flat_map(Address::label_names)
    }
}

pub(super) const DISABLED: &str = "disabled, and so not in the plan";

impl Address {
    fn is_disabled(&self) -> bool {
        self.own.is_disabled || self.host.as_ref().is_some_and(|host| host.is_disabled)
    }

    fn no_agent(&self) -> bool {
        self.own.no_agent || self.host.as_ref().is_some_and(|host| host.no_agent)
    }

    /// The address towards another, and what makes its name different from the own one.
    fn towards(&self, remote: &str, label: Option<&str>) -> Option<(String, &Spot)> {
        let towards = self.remotes.get(remote);
        if let Some(towards) = towards {
            match label {
                Some(label) => {
                    if let Some(spot) = towards.labels.get(label) {
                        return Some((format!(":{remote}:{label}"), spot));
                    }
                    towards.own.as_ref()?;
                }
                None => {
                    if let Some(spot) = &towards.own {
                        return Some((format!(":{remote}"), spot));
                    }
                }
            }
        }
        match label {
            Some(label) => Some((format!(":{label}"), self.labels.get(label)?)),
            None => Some((String::new(), &self.own)),
        }
    }

    fn label_names(&self) -> impl Iterator<Item = &str> {
        let remote = self
            .remotes
            .values()
            .flat_map(|remote| remote.labels.keys());
        self.labels.keys().chain(remote).map(String::as_str)
    }
}

fn host_entries(root: &Section, found: &mut Findings) -> BTreeMap<String, HostEntry> {
    let mut hosts = BTreeMap::new();
    for (name, section) in root.named("hosts", found) {
        no_counterpart(&section, &["disabled", "no-agent", "tags"], found);
        let entry = HostEntry {
            is_disabled: section.boolean("disabled", found) == Some(true),
            no_agent: section.boolean("no-agent", found) == Some(true),
            tags: tags(&section, found),
        };
        hosts.insert(name.to_owned(), entry);
    }
    hosts
}

fn tags(section: &Section, found: &mut Findings) -> Vec<String> {
    let tags = section.texts("tags", found).unwrap_or_default();
    tags.into_iter()
        .map(|tag| tag.value.to_lowercase())
        .collect()
}

fn address(
    name: &str,
    section: &Section,
    hosts: &BTreeMap<String, HostEntry>,
    machines: &mut BTreeMap<String, MachineName>,
    found: &mut Findings,
) -> Option<Address> {
    let host_name = parse::<HostName>(name, &section.place, found);
    let own = spot(section, found);
    let machine = section.parsed::<MachineName>("host", found);
    let tags = tags(section, found);
    let labels = labels(section, found);
    let remotes = remotes(section, found);
    let (name, own) = (host_name?, own?);
    let machine = machine.map(|machine| machine.value);
    let host = machine
        .as_ref()
        .and_then(|machine| hosts.get(machine.as_str()));
    // Without `host`, entries with one address are one machine.
    let first = machines.entry(own.address.to_ascii_lowercase());
    let first = first.or_insert_with(|| machine.clone().unwrap_or_else(|| MachineName::of(&name)));
    Some(Address {
        machine: machine.clone().unwrap_or_else(|| first.clone()),
        host: host.cloned(),
        tags,
        own,
        labels,
        remotes,
    })
}

/// An address that has to be there.
fn spot(section: &Section, found: &mut Findings) -> Option<Spot> {
    let at = section.text("address", found);
    let at = section.required("address", at, "write a name or an address", found);
    let address = at.and_then(|at: Field<&str>| one_word(at, found));
    let is_disabled = section.boolean("disabled", found) == Some(true);
    let no_agent = section.boolean("no-agent", found) == Some(true);
    Some(Spot {
        address: address?,
        is_disabled,
        no_agent,
    })
}

fn labels(section: &Section, found: &mut Findings) -> BTreeMap<String, Spot> {
    let mut labels = BTreeMap::new();
    for (label, section) in section.named("labels", found) {
        no_counterpart(&section, &SPOT_KEYS, found);
        if let Some(spot) = spot(&section, found) {
            labels.insert(label.to_owned(), spot);
        }
    }
    labels
}

fn remotes(section: &Section, found: &mut Findings) -> BTreeMap<String, Remote> {
    let mut remotes = BTreeMap::new();
    for (name, section) in section.named("remote-addresses", found) {
        no_counterpart(
            &section,
            &["address", "disabled", "no-agent", "labels"],
            found,
        );
        let own = section.has("address").then(|| spot(&section, found));
        let mut remote = Remote {
            own: own.flatten(),
            labels: labels(&section, found),
        };
        let is_disabled = section.boolean("disabled", found) == Some(true);
        let no_agent = section.boolean("no-agent", found) == Some(true);
        for spot in remote.own.iter_mut().chain(remote.labels.values_mut()) {
            spot.is_disabled |= is_disabled;
            spot.no_agent |= no_agent;
        }
        remotes.insert(name.to_owned(), remote);
    }
    remotes
}
