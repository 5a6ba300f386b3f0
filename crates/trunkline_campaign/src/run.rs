//! Runs one shard, once the groups before its own are done.

use campaign_plan::{Campaign as Plan, GroupName};
use campaign_store::{ShardId, ShardRow, ShardRun, Slot, Slots};

use super::running::Running;
use super::shard_end::{OnEvent, RunOptions, ShardEnd, Stop, Unfinished, halted, unreachable_end};
use super::status::UnfinishedCause;
use super::summing::SumReader;
use super::watcher::{Halt, Watcher, now};
use super::{Campaign, places};
use trunkline::{Cancel, Error};

impl Campaign {
    /// Runs a shard, or goes on with it. What is at the destination is not sent again, and where
    /// all of it is, nothing happens.
    ///
    /// # Errors
    /// When it cannot be run: no such shard, both ends elsewhere, a campaign that was cancelled, a
    /// folder that cannot be written. Files that could not be copied are no error.
    pub fn run_shard(
        &self,
        shard: &ShardId,
        options: &RunOptions,
        cancel: &Cancel,
        on_event: &mut OnEvent<'_>,
    ) -> Result<ShardEnd, Error> {
        self.check_cancelled()?;
        self.check_host(options.host.as_deref())?;
        let row = self.folder.shard(shard)?;
        self.run_row(&row, options, cancel, &mut None, on_event)
    }

    /// A group that `group` waits for and that is not done.
    fn unfinished_before(
        &self,
        plan: &Plan,
        group: &GroupName,
    ) -> Result<Option<GroupName>, Error> {
        let after = plan
            .group(group.as_str())
            .map_or(&[][..], |group| &group.after);
        if after.is_empty() {
            return Ok(None);
        }
        for before in after {
            if !self.folder.is_planned(before)? {
                return Ok(Some(before.clone()));
            }
        }
        for row in self.folder.shards()? {
            if after.contains(&row.shard.group) {
                let result = ShardRun::of(&self.folder, &row)?.result()?;
                if result.is_none_or(|result| result.failed > 0) {
                    return Ok(Some(row.shard.group));
                }
            }
        }
        Ok(None)
    }

    /// * `kept`: the slot of the link that the shard before it had. The next one gets it.
    pub(super) fn run_row(
        &self,
        row: &ShardRow,
        options: &RunOptions,
        cancel: &Cancel,
        kept: &mut Option<Slot>,
        on_event: &mut OnEvent<'_>,
    ) -> Result<ShardEnd, Error> {
        let (current, plan) = (self.current()?, self.plan_of(row)?);
        let link = self.link(&current, &plan, row)?;
        let group = self.group(row)?;
        if let Some(before) = self.unfinished_before(&current, &row.shard.group)? {
            let waits = waits(&row.shard.group, &before);
            let waits = Unfinished::new(UnfinishedCause::Waits, waits);
            return Ok(ShardEnd::NotFinished(waits));
        }
        let host = options.host.as_deref();
        let ends_at = |turn| places::ends(&plan, &group, host, turn, options.patience);
        let present = current.group(row.shard.group.as_str());
        let ends = ends_at(0)?;
        // `bag` of the plan in force counts, also for shards that were cut before it was written.
        let bag = present.filter(|now| now.to == group.to);
        let sums = bag.map_or(Ok(None), |group| SumReader::of(group, &ends.here))?;
        let mut running = Running {
            watcher: Watcher {
                folder: &self.folder,
                plan: &current,
                link: &link,
                slots: &Slots::of(&self.folder, &row.link, link.copies),
                cancel,
            },
            run: ShardRun::of(&self.folder, row)?,
            row,
            link: &link,
            weight: present
                .map_or(group.priority, |group| group.priority)
                .into(),
            ends,
            ends_at: &ends_at,
            sums,
            began: now(),
        };
        match running.run(options, kept, on_event) {
            Ok(result) if result.failed == 0 => Ok(ShardEnd::Done(result)),
            Ok(result) => Ok(ShardEnd::Failed(result)),
            Err(Stop::Halt(Halt::Cancelled)) => self.check_cancelled().map(|()| unreachable_end()),
            Err(Stop::Halt(halt)) => Ok(ShardEnd::NotFinished(halted(halt))),
            Err(Stop::Unfinished(why)) => {
                running.note(&why);
                Ok(ShardEnd::NotFinished(why))
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

fn waits(group: &GroupName, before: &GroupName) -> Error {
    Error::unfinished(
        format!("group `{group}` comes after `{before}`, which is not done"),
        "run the same command again once it is".to_owned(),
    )
}
