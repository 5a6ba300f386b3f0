//! Millions of files between many hosts, in shards that any engine can run.
//!
//! A plan ([`load_plan`]) says which folders go where and over which links. [`Campaign::plan`]
//! walks the sources and cuts what they have into shards: manifests of some thousand files.
//! [`Campaign::run_shard`] is one idempotent task, for Slurm, Dask or a shell loop;
//! [`Campaign::run_all`] runs all of them from this machine. What became of each is in files of the
//! campaign's folder, from which [`Campaign::status`] and [`Campaign::verify`] tell.

mod bag_checks;
mod bags;
mod changes;
mod copying;
mod doubts;
mod far_listing;
mod outcomes;
pub mod pages;
mod places;
mod plan;
mod plan_options;
mod retry_while_busy;
mod run;
mod run_all;
mod running;
mod shard_copy;
mod shard_end;
mod shards;
mod slurm;
mod status;
mod summing;
mod tag_files;
mod verify;
mod watcher;

use std::io;
use std::path::Path;

use campaign_plan::{Campaign as Plan, Group, Link};
use campaign_store::{CampaignFolder, Manifest, ShardRow, ShardRun};

use trunkline::{Error, Fault};

pub use bags::Bag;
pub use campaign_plan::{GroupName, LinkName};
pub use campaign_store::{Fate, GroupSummary, Mark, PlanSummary, Reason, ShardId, ShardResult};
pub use plan::{LoadedPlan, PlanProgress, load_plan};
pub use plan_options::PlanOptions;
pub use run_all::{RunAllEvent, Selection as ShardSelection, Summary};
pub use shard_end::{RunOptions, ShardEnd, ShardEvent, Unfinished};
pub use shards::{ShardHost, ShardState, ShardTask};
pub use slurm::SlurmOptions;
pub use status::{Interval, LinkStatus, ShardLeft, ShardProgress, Status, UnfinishedCause};
pub use verify::{Verified, VerifyProgress};

/// A campaign on disk.
#[derive(Debug, Clone)]
pub struct Campaign {
    folder: CampaignFolder,
}

impl Campaign {
    /// The campaign in a folder.
    ///
    /// # Errors
    /// When it holds none.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let folder = CampaignFolder::open(folder)?;
        Ok(Campaign { folder })
    }

    /// Its folder, from `/`.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Nothing starts until it is resumed, and what runs ends cleanly within a second.
    ///
    /// # Errors
    /// When the mark cannot be set.
    pub fn pause(&self) -> Result<(), Error> {
        Ok(self.folder.set(Mark::Paused, true)?)
    }

    /// Ends a pause.
    ///
    /// # Errors
    /// When the campaign was cancelled, or the mark cannot be removed.
    pub fn resume(&self) -> Result<(), Error> {
        self.check_cancelled()?;
        Ok(self.folder.set(Mark::Paused, false)?)
    }

    /// Nothing starts any more, and what runs ends cleanly. What arrived stays.
    ///
    /// # Errors
    /// When the mark cannot be set.
    pub fn cancel(&self) -> Result<(), Error> {
        Ok(self.folder.set(Mark::Cancelled, true)?)
    }

    /// Has the files that failed be tried again by the next run. Returns how many shards that are.
    ///
    /// # Errors
    /// When the campaign was cancelled, or a result cannot be read or removed.
    pub fn retry(&self) -> Result<usize, Error> {
        self.check_cancelled()?;
        let mut count = 0;
        for row in self.folder.shards()? {
            let run = ShardRun::of(&self.folder, &row)?;
            if run.result()?.is_some_and(|result| result.failed > 0) {
                run.reopen()?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Has the files of one shard that failed be tried again by its next run.
    ///
    /// # Errors
    /// When there is no such shard, or its result cannot be read or removed.
    pub fn retry_shard(&self, shard: &ShardId) -> Result<(), Error> {
        self.check_cancelled()?;
        let row = self.folder.shard(shard)?;
        let run = ShardRun::of(&self.folder, &row)?;
        match run.result()?.is_some_and(|result| result.failed > 0) {
            true => Ok(run.reopen()?),
            false => Ok(()),
        }
    }

    /// # Errors
    /// When the plan in force has no host of this name.
    fn check_host(&self, host: Option<&str>) -> Result<(), Error> {
        let plan = self.current()?;
        let is_known = |host: &str| plan.hosts().keys().any(|known| known.as_str() == host);
        match host.filter(|host| !is_known(host)) {
            None => Ok(()),
            Some(host) => Err(Error::wrong_request(
                format!("the plan has no host `{host}`"),
                match plan.hosts().is_empty() {
                    true => "it names no hosts; leave `--host` out".to_owned(),
                    false => format!("its hosts are {}", listed(plan.hosts().keys())),
                },
            )),
        }
    }

    /// The shard of a manifest of this campaign, or of the `failed.ndjson` of a run.
    ///
    /// # Errors
    /// When the file is neither.
    pub fn shard_of_manifest(&self, file: &Path) -> Result<ShardId, Error> {
        let refused = |why: String| {
            Error::wrong_request(
                why,
                "give the name of a shard, like `raw-1-00001`, or its manifest in the campaign's \
                 folder `plans`",
            )
        };
        let opened = Manifest::open(file);
        let opened = opened.map_err(|error| refused(Error::from(error).what()))?;
        let shard = opened.shard().clone();
        let known = [
            self.folder.manifest(&shard),
            self.folder.run(&shard).join("failed.ndjson"),
        ];
        let place = file.canonicalize().ok();
        let is_known = |known: &Path| known.canonicalize().ok() == place;
        match place.is_some() && known.iter().any(|known| is_known(known)) {
            true => Ok(shard),
            false => Err(refused(format!(
                "{} is no manifest of the campaign in {}",
                file.display(),
                self.path().display()
            ))),
        }
    }

    fn check_cancelled(&self) -> Result<(), Error> {
        match self.folder.has(Mark::Cancelled) {
            true => Err(Error::wrong_request(
                format!("{} was cancelled", self.path().display()),
                "`trunkline campaign plan` in another folder begins it anew; files that are there \
                 already are not sent again",
            )),
            false => Ok(()),
        }
    }

    /// The plan in force: its links bind.
    fn current(&self) -> Result<Plan, Error> {
        let (text, file) = self.folder.plan_text(None)?;
        plan::parse(&text, &file).map(|(plan, _)| plan)
    }

    /// The group of a shard, as it was planned.
    fn group(&self, row: &ShardRow) -> Result<Group, Error> {
        self.group_in(&self.plan_of(row)?, row).cloned()
    }

    fn group_in<'a>(&self, plan: &'a Plan, row: &ShardRow) -> Result<&'a Group, Error> {
        plan.group(row.shard.group.as_str()).ok_or_else(|| {
            let (number, folder) = (row.shard.plan, self.path().display());
            Error::wrong_request(
                format!(
                    "plan {number} of {folder} has no group `{}`",
                    row.shard.group
                ),
                "the folder was changed by hand; plan again in another folder",
            )
        })
    }

    /// The plan that a shard was cut by, with its hosts.
    fn plan_of(&self, row: &ShardRow) -> Result<Plan, Error> {
        let (text, file) = self.folder.plan_text(Some(row.shard.plan))?;
        plan::parse(&text, &file).map(|(plan, _)| plan)
    }

    /// The link of a shard with its present bounds; one that the plan has no more has none.
    fn link(&self, current: &Plan, of_shard: &Plan, row: &ShardRow) -> Result<Link, Error> {
        let known = |plan: &Plan| plan.links().get(&row.link).cloned();
        known(current).or_else(|| known(of_shard)).ok_or_else(|| {
            Error::wrong_request(
                format!("there is no link `{}` in the plan", row.link),
                "the folder was changed by hand; plan again in another folder",
            )
        })
    }
}

/// A file or folder that cannot be written: later, where its disk is full.
fn unwritable(file: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull => Error::unwritable(file, error).with_fault(Fault::Later),
        _ => Error::unwritable(file, error),
    }
}

/// Names in backticks, for a sentence.
fn listed<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}
