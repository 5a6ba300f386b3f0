//! Hosts whose pairs have no data.

use std::collections::BTreeSet;

use crate::{Name, Pair};

/// One pair alone does not show which of its hosts is silent.
const PAIRS_MIN: usize = 2;

/// A host all of whose pairs in one direction, or in both, have no data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentHost {
    /// Its name.
    pub name: Name,
    /// All pairs from it have no data.
    pub sends_nothing: bool,
    /// All pairs to it have no data.
    pub is_not_reached: bool,
}

/// The fewest hosts that explain pairs without data, among the pairs that are visited.
pub fn silent_hosts<'a>(
    without_data: impl Iterator<Item = &'a Pair>,
    visited: &[Pair],
) -> Vec<SilentHost> {
    let mut left: BTreeSet<&Pair> = without_data.collect();
    let silent = left.clone();
    let names: BTreeSet<&Name> = silent
        .iter()
        .flat_map(|pair| [&pair.from, &pair.to])
        .collect();
    let hosts = names
        .iter()
        .filter_map(|name| silent_host(name, &silent, visited));
    let mut hosts: Vec<SilentHost> = hosts.collect();
    hosts.sort_by_key(|host| std::cmp::Reverse(silent.iter().filter(|p| host.explains(p)).count()));
    hosts.retain(|host| {
        let before = left.len();
        left.retain(|pair| !host.explains(pair));
        left.len() < before
    });
    hosts
}

fn silent_host(name: &Name, silent: &BTreeSet<&Pair>, visited: &[Pair]) -> Option<SilentHost> {
    let all_silent = |end: fn(&Pair) -> &Name| {
        let mut of_host = visited.iter().filter(|pair| end(pair) == name);
        of_host.clone().count() >= PAIRS_MIN && of_host.all(|pair| silent.contains(pair))
    };
    let host = SilentHost {
        name: name.clone(),
        sends_nothing: all_silent(|pair| &pair.from),
        is_not_reached: all_silent(|pair| &pair.to),
    };
    (host.sends_nothing || host.is_not_reached).then_some(host)
}

impl SilentHost {
    fn explains(&self, pair: &Pair) -> bool {
        (self.sends_nothing && pair.from == self.name)
            || (self.is_not_reached && pair.to == self.name)
    }
}

#[cfg(test)]
mod tests;
