//! Which agent may send visits from which host.

use std::collections::{BTreeMap, BTreeSet};

use copy_protocol::KeyName;
use watch_plan::{HostName, Plan, TaskName};
use watch_store::{Name, Pair, Series};

/// Most series of a host that are neither in the plan nor in the database, until the collector
/// starts again.
///
/// Late visits of an older plan, and those of agents that have a newer one, are such. A new name
/// for each of five tasks among a hundred hosts makes as many.
pub const UNPLANNED_MAX: usize = 500;

/// The hosts of each token: a token has the name of a host of the plan, or of a machine, and then
/// stands for all hosts on it. And the series of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    hosts: BTreeMap<String, BTreeSet<Name>>,
    /// Hosts without an agent: visits from them are made by the agents that they send to.
    silent: BTreeSet<Name>,
    series: BTreeSet<Series>,
}

impl Allowed {
    /// The names that a plan allows.
    ///
    /// ```
    /// let text = r#"
    ///     [hosts]
    ///     a = { address = "a.example.org", machine = "m" }
    ///     b = { address = "b.example.org", machine = "m" }
    ///     c = { address = "c.example.org" }
    ///     [groups]
    ///     all = { mesh = ["a", "b", "c"] }
    ///     [tasks]
    ///     trips = { kind = "ping", group = "all", every = "5min", duration = "10s" }
    /// "#;
    /// let (plan, _) = watch_plan::Plan::parse(text, "plan.toml").unwrap();
    /// let allowed = watch_run::collector::Allowed::of(&plan);
    /// assert_eq!(allowed.hosts("m").count(), 2);
    /// assert_eq!(allowed.hosts("c").count(), 1);
    /// assert_eq!(allowed.hosts("d").count(), 0);
    /// ```
    pub fn of(plan: &Plan) -> Self {
        let mut allowed = Allowed::default();
        for (name, host) in plan.hosts() {
            let name = Name::from(name);
            if !host.agent {
                allowed.silent.insert(name);
                continue;
            }
            for token in [name.as_str(), host.machine.as_str()] {
                let hosts = allowed.hosts.entry(token.to_owned()).or_default();
                hosts.insert(name.clone());
            }
        }
        for task in plan.tasks() {
            let task_name = Name::from(&task.name);
            let series = plan.pairs(task).into_iter().map(|pair| Series {
                pair: Pair::from(&pair),
                task: task_name.clone(),
            });
            allowed.series.extend(series);
        }
        allowed
    }

    /// The hosts that a token of this name stands for.
    pub fn hosts(&self, token: &str) -> impl Iterator<Item = &Name> {
        self.hosts.get(token).into_iter().flatten()
    }

    /// Whether the agent with a token of this name makes the visits of a pair.
    pub(crate) fn makes(&self, token: &KeyName, pair: &Pair) -> bool {
        let by = match self.silent.contains(&pair.from) {
            true => &pair.to,
            false => &pair.from,
        };
        self.is_from(token, by)
    }

    /// Whether a token of this name stands for a host.
    pub(crate) fn is_from(&self, token: &KeyName, host: &Name) -> bool {
        self.hosts(token.as_str()).any(|known| known == host)
    }

    /// Whether the plan has a series.
    pub(crate) fn has(&self, series: &Series) -> bool {
        self.series.contains(series)
    }
}

/// Whether some plan may have a series.
pub(crate) fn is_possible(pair: &Pair, task: &Name) -> bool {
    let is_host = pair.to.as_str().parse::<HostName>().is_ok();
    is_host && task.as_str().parse::<TaskName>().is_ok() && pair.from != pair.to
}

/// Series that hosts have begun beyond the plan and the database.
#[derive(Debug, Default)]
pub(crate) struct Unplanned(BTreeMap<Name, BTreeSet<Series>>);

impl Unplanned {
    /// Whether its host may begin this one, or has.
    pub fn admits(&mut self, series: &Series) -> bool {
        let begun = self.0.entry(series.pair.from.clone()).or_default();
        begun.contains(series) || (begun.len() < UNPLANNED_MAX && begun.insert(series.clone()))
    }
}
