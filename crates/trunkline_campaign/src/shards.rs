//! The shards of a campaign, for engines that run them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use campaign_plan::{Campaign as Plan, GroupName, Host, HostName, LinkName};
use campaign_store::{ShardId, ShardRow, ShardRun};
use serde::Serialize;

use super::Campaign;
use super::places::SERVER;
use trunkline::Error;

/// Where a shard stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardState {
    /// Some of it is left.
    Left,
    /// All of it is at the destination.
    Done,
    /// All of it was tried, and some files failed.
    Failed,
}

/// A host where a shard can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShardHost {
    /// Its name in the plan.
    pub name: HostName,
    /// `[USER@]HOST` or `trunkline://HOST[:PORT]`, as the plan has it; none where what runs on that
    /// host would not find the places of the plan: those of a server whose `root` is not said.
    pub address: Option<String>,
}

/// One task for an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShardTask {
    /// Its name.
    pub shard: ShardId,
    /// Its group; shards of one group are in order.
    pub group: GroupName,
    /// Groups that have to be done before.
    pub after: Vec<GroupName>,
    /// Higher goes first, 1 to 9.
    pub priority: u8,
    /// The link that it goes over.
    pub link: LinkName,
    /// How many copies run on this link at once.
    pub copies: u16,
    /// The hosts of the plan where it can run; none where an end is on the machine that planned.
    pub hosts: Vec<ShardHost>,
    /// Names in its manifest.
    pub names: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Where it stands.
    pub state: ShardState,
}

impl Campaign {
    /// All shards, in the order in which they are to run.
    ///
    /// # Errors
    /// When the campaign's files cannot be read.
    pub fn shards(&self) -> Result<Vec<ShardTask>, Error> {
        let current = self.current()?;
        let mut plans: BTreeMap<u32, Plan> = BTreeMap::new();
        let mut tasks = Vec::new();
        for row in self.ordered_rows(&current)? {
            let plan = match plans.entry(row.shard.plan) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(self.plan_of(&row)?),
            };
            tasks.push(self.task(&row, &current, plan)?);
        }
        Ok(tasks)
    }

    /// Those of groups with priority and an early deadline first, behind those they wait for.
    pub(super) fn ordered_rows(&self, current: &Plan) -> Result<Vec<ShardRow>, Error> {
        let mut rows = self.folder.shards()?;
        let place = |row: &ShardRow| {
            let mut groups = current.groups().iter();
            let place = groups.position(|group| group.name == row.shard.group);
            place.unwrap_or(usize::MAX)
        };
        rows.sort_by_key(|row| (place(row), row.shard.plan, row.shard.number));
        Ok(rows)
    }

    fn task(&self, row: &ShardRow, current: &Plan, plan: &Plan) -> Result<ShardTask, Error> {
        let group = self.group_in(plan, row)?;
        let link = self.link(current, plan, row)?;
        let result = ShardRun::of(&self.folder, row)?.result()?;
        let hosts = match (&group.from.host, &group.to.host) {
            (Some(from), Some(to)) => [from, to].map(|name| host_of(plan, name)).into(),
            _ => Vec::new(),
        };
        // What a group waits for is what the plan in force says.
        let after = current
            .group(group.name.as_str())
            .map(|group| group.after.clone());
        Ok(ShardTask {
            shard: row.shard.clone(),
            group: group.name.clone(),
            after: after.unwrap_or_default(),
            priority: group.priority,
            link: row.link.clone(),
            copies: link.copies,
            hosts,
            names: row.names,
            bytes: row.bytes,
            state: match result {
                None => ShardState::Left,
                Some(result) if result.failed == 0 => ShardState::Done,
                Some(_) => ShardState::Failed,
            },
        })
    }
}

fn host_of(plan: &Plan, name: &HostName) -> ShardHost {
    let finds_places = |host: &&Host| host.root.is_some() || !host.address.starts_with(SERVER);
    let host = plan.hosts().get(name).filter(finds_places);
    ShardHost {
        name: name.clone(),
        address: host.map(|host| host.address.clone()),
    }
}
