//! Which agent may send visits from which host.

use std::collections::{BTreeMap, BTreeSet};

use watch_plan::Plan;
use watch_store::Name;
use wire::copy::KeyName;

/// The hosts of each token: a token has the name of a host of the plan, or of a machine, and then
/// stands for all hosts on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    hosts: BTreeMap<String, BTreeSet<Name>>,
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
    /// let allowed = watch_collector::Allowed::of(&plan);
    /// assert_eq!(allowed.hosts("m").count(), 2);
    /// assert_eq!(allowed.hosts("c").count(), 1);
    /// assert_eq!(allowed.hosts("d").count(), 0);
    /// ```
    pub fn of(plan: &Plan) -> Self {
        let mut allowed = Allowed::default();
        for (name, host) in plan.hosts() {
            // Names of plans are names of stores: their bounds are narrower.
            let Ok(name) = name.as_str().parse::<Name>() else {
                continue;
            };
            for token in [name.as_str(), host.machine.as_str()] {
                let hosts = allowed.hosts.entry(token.to_owned()).or_default();
                hosts.insert(name.clone());
            }
        }
        allowed
    }

    /// The hosts that a token of this name stands for.
    pub fn hosts(&self, token: &str) -> impl Iterator<Item = &Name> {
        self.hosts.get(token).into_iter().flatten()
    }

    /// Whether a token of this name stands for a host.
    pub(crate) fn is_from(&self, token: &KeyName, host: &Name) -> bool {
        self.hosts(token.as_str()).any(|known| known == host)
    }
}
