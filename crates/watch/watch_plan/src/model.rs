//! The plan as a value.

use std::collections::BTreeMap;

use serde::Serialize;
use units::{Dscp, Family, Rate, ServerUser, Source, Span};

use crate::budget::Budget;
use crate::flows::Flows;
use crate::ip_version::ip_version;
use crate::kind::Kind;
use crate::names::{GroupName, HostName, MachineName, TaskName};
use crate::schedule::{Schedule, UtcOffset};

/// A checked plan: every name in it is known, every schedule can be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(crate) hosts: BTreeMap<HostName, Host>,
    pub(crate) groups: BTreeMap<GroupName, GroupKind>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) offset: UtcOffset,
    pub(crate) gap: Span,
    pub(crate) flows: Option<Flows>,
}

/// One end of visits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Where it is reached: a name of the domain name system or an address.
    pub address: String,
    /// The machine that it is on. Visits must not collide at a machine.
    pub machine: MachineName,
    /// The rate of its link, if known.
    pub link: Option<Rate>,
    /// The address or device that its agent sends from; `None` is left to the kernel.
    pub bind: Option<Source>,
    /// The file with the token for this host. The secret itself is never part of a plan.
    pub token: Option<TokenFile>,
    /// Whether an agent runs there. Others visit a host without one, as from an iperf3 server.
    pub agent: bool,
    /// Who agents are to its server, where that has users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<HostLogin>,
}

/// A login at the server of a host. Its files lie on the hosts that visit it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostLogin {
    /// The user, and the server's public key.
    pub user: ServerUser,
    /// The file with the password; without, it is in the agent's environment.
    pub password_file: Option<String>,
}

/// The name of a file with a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TokenFile(pub(crate) String);

impl TokenFile {
    /// The name of the file.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Two different hosts; what is visited goes from the first to the second.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pair {
    /// The end that calls and sends.
    pub from: HostName,
    /// The end that answers.
    pub to: HostName,
}

/// Which hosts visit which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupKind {
    /// Each host visits each other host.
    Mesh(Vec<HostName>),
    /// Each host of `a` visits each of `b`, and the other way round.
    Disjoint {
        /// One side.
        a: Vec<HostName>,
        /// The other side.
        b: Vec<HostName>,
    },
    /// These ordered pairs.
    List(Vec<Pair>),
}

/// What is done on the pairs of a group, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its name, once in a plan.
    pub name: TaskName,
    /// What a visit does.
    pub kind: Kind,
    /// Between whom.
    pub group: GroupName,
    /// The version of the internet protocol, where the task asks for one.
    pub ip: Option<Family>,
    /// How the packets of visits are marked, where the task asks for a class.
    pub dscp: Option<Dscp>,
    /// When a cycle, one visit of each pair, is due.
    pub schedule: Schedule,
    /// The longest time that a visit may take, in whole seconds.
    pub duration: Span,
    /// Whether visits leave the path to others.
    pub gentle: bool,
    /// What it may use.
    pub budget: Budget,
}

impl Plan {
    /// The hosts by their names.
    pub fn hosts(&self) -> &BTreeMap<HostName, Host> {
        &self.hosts
    }

    /// The groups by their names.
    pub fn groups(&self) -> &BTreeMap<GroupName, GroupKind> {
        &self.groups
    }

    /// The tasks in the order of the file.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The offset of local time, in which cron patterns and quiet hours are read.
    pub fn utc_offset(&self) -> UtcOffset {
        self.offset
    }

    /// The pause after each visit, in whole seconds. It absorbs clocks that differ.
    pub fn gap(&self) -> Span {
        self.gap
    }

    /// What the collector does with flow records of routers; `None` where it takes none.
    pub fn flows(&self) -> Option<&Flows> {
        self.flows.as_ref()
    }

    /// The ordered pairs that a task visits, each once. Left out are pairs within a machine, those
    /// whose addresses are of another version of the internet protocol, and those that no agent
    /// can visit.
    pub fn pairs(&self, task: &Task) -> Vec<Pair> {
        let group = self.groups.get(&task.group);
        let mut pairs = group.map_or(Vec::new(), GroupKind::pairs);
        pairs.retain(|pair| self.machine(&pair.from) != self.machine(&pair.to));
        pairs.retain(|pair| self.can_visit(task.kind, pair));
        if let Some(ip) = task.ip {
            let speaks = |host: &HostName| {
                let version = self
                    .hosts
                    .get(host)
                    .and_then(|host| ip_version(&host.address));
                version.is_none_or(|version| version == ip)
            };
            pairs.retain(|pair| speaks(&pair.from) && speaks(&pair.to));
        }
        pairs
    }

    /// The end whose agent makes the visits of a pair: the first, unless none runs there.
    pub fn by<'p>(&self, pair: &'p Pair) -> &'p HostName {
        match self.has_agent(&pair.from) {
            true => &pair.from,
            false => &pair.to,
        }
    }

    fn has_agent(&self, host: &HostName) -> bool {
        self.hosts.get(host).is_some_and(|host| host.agent)
    }

    fn can_visit(&self, kind: Kind, pair: &Pair) -> bool {
        match (self.has_agent(&pair.from), self.has_agent(&pair.to)) {
            (true, true) => true,
            (true, false) => !kind.needs_both_agents(),
            (false, true) => kind.goes_both_ways(),
            (false, false) => false,
        }
    }

    pub(crate) fn machines(&self, pair: &Pair) -> Option<[&MachineName; 2]> {
        Some([self.machine(&pair.from)?, self.machine(&pair.to)?])
    }

    pub(crate) fn machine(&self, host: &HostName) -> Option<&MachineName> {
        self.hosts.get(host).map(|host| &host.machine)
    }
}

impl GroupKind {
    /// The ordered pairs, each once, no host with itself.
    pub fn pairs(&self) -> Vec<Pair> {
        let pair = |from: &HostName, to: &HostName| Pair {
            from: from.clone(),
            to: to.clone(),
        };
        let mut pairs: Vec<Pair> = match self {
            GroupKind::Mesh(hosts) => {
                let from = |from| hosts.iter().map(move |to| pair(from, to));
                hosts.iter().flat_map(from).collect()
            }
            GroupKind::Disjoint { a, b } => {
                let both = |one| {
                    b.iter()
                        .flat_map(move |two| [pair(one, two), pair(two, one)])
                };
                a.iter().flat_map(both).collect()
            }
            GroupKind::List(pairs) => pairs.clone(),
        };
        pairs.retain(|pair| pair.from != pair.to);
        pairs.sort();
        pairs.dedup();
        pairs
    }
}
