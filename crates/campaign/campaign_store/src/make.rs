//! Makes a plan: all or nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use campaign_plan::{Campaign, CutBounds, Group};
use nix::fcntl::Flock;
use serde::Serialize;

use crate::difference::{Difference, Differences};
use crate::folder::{lock, replace};
use crate::line::{LeftOut, Line};
use crate::listing::{Listing, ListingWriter};
use crate::shards::ShardWriter;
use crate::summary::{GroupSummary, PlanSummary};
use crate::{CampaignFolder, Entry, ShardRow, StoreError};

/// What was found of a group, besides its entries.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub left_out: Vec<LeftOut>,
    pub dropped: BTreeSet<Vec<u8>>,
    pub linked: u64,
    pub clashes: u64,
}

/// A plan that is being made. Dropped before its end, it leaves nothing.
#[derive(Debug)]
pub struct PlanMaker {
    campaign: CampaignFolder,
    making: PathBuf,
    number: u32,
    text: String,
    rows: Vec<ShardRow>,
    left_out: Vec<LeftOut>,
    groups: Vec<GroupSummary>,
    /// A group was never planned before; it may have no names.
    has_new_group: bool,
    _lock: Flock<File>,
}

impl PlanMaker {
    /// Begins the next plan, with the text that it is made from.
    ///
    /// # Errors
    /// When another one is being made, or the folder cannot be written.
    pub fn begin(campaign: &CampaignFolder, text: &str) -> Result<Self, StoreError> {
        let file = campaign.path().join("plan.lock");
        let lock = lock(&file, "this campaign is being planned")?;
        let plans = campaign.plans()?;
        let making = campaign.path().join("plans").join(".making");
        remove(&making)?;
        fs::create_dir(&making).map_err(StoreError::file("make", &making))?;
        Ok(PlanMaker {
            campaign: campaign.clone(),
            making,
            number: plans.last().map_or(1, |last| last + 1),
            text: text.to_owned(),
            rows: Vec::new(),
            left_out: Vec::new(),
            groups: Vec::new(),
            has_new_group: false,
            _lock: lock,
        })
    }

    /// Where runs of sorted names may be written; gone with this.
    pub fn scratch(&self) -> &Path {
        &self.making
    }

    /// Adds a group.
    ///
    /// * `entries`: all of it, sorted by name.
    /// * `found`: what else was found.
    /// * `before`: the group of an earlier plan by its number; its listing counts where the group
    ///   goes from and to the same places.
    ///
    /// # Errors
    /// When the plan cannot be written, or entries cannot be read.
    pub fn group(
        &mut self,
        group: &Group,
        bounds: CutBounds,
        entries: impl Iterator<Item = Result<Entry, StoreError>>,
        found: crate::Walked,
        before: &dyn Fn(u32) -> Option<Campaign>,
    ) -> Result<(), StoreError> {
        let found = Found {
            left_out: found.left_out,
            dropped: found.dropped,
            linked: found.linked,
            clashes: found.clashes,
        };
        self.has_new_group |= !self.campaign.is_planned(&group.name)?;
        let listing = self.listing_before(group, before)?;
        let kept = entries.filter(|entry| match entry {
            Ok(entry) => !is_dropped(&entry.name, &found.dropped),
            Err(_) => true,
        });
        let differences = Differences::new(kept, Listing::open(listing.as_deref())?)?;
        let mut writer = GroupWriter::new(self, group, bounds)?;
        writer.take_all(differences)?;
        let (mut summary, rows) = writer.finish()?;
        summary.left_out = found.left_out.len() as u64;
        let is_unread = |one: &&LeftOut| one.reason == crate::Reason::Unread;
        summary.unread = found.left_out.iter().filter(is_unread).count() as u64;
        (summary.linked, summary.clashes) = (found.linked, found.clashes);
        self.groups.push(summary);
        self.rows.extend(rows);
        self.left_out
            .extend(found.left_out.into_iter().map(|one| LeftOut {
                group: group.name.to_string(),
                ..one
            }));
        Ok(())
    }

    fn listing_before(
        &self,
        group: &Group,
        before: &dyn Fn(u32) -> Option<Campaign>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let Some((plan, file)) = self.campaign.listing_before(&group.name, self.number)? else {
            return Ok(None);
        };
        let earlier = before(plan);
        let earlier = earlier
            .as_ref()
            .and_then(|plan| plan.group(group.name.as_str()));
        let is_same = earlier.is_some_and(|other| other.from == group.from && other.to == group.to);
        Ok(is_same.then_some(file))
    }

    /// Puts the plan into force, unless it has nothing new.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<PlanSummary, StoreError> {
        let is_news = |group: &GroupSummary| group.new + group.changed + group.gone > 0;
        let any = self.has_new_group || self.groups.iter().any(is_news);
        let mut summary = PlanSummary {
            plan: any.then_some(self.number),
            groups: std::mem::take(&mut self.groups),
        };
        summary
            .groups
            .sort_by(|one, other| one.group.cmp(&other.group));
        if any {
            self.publish(&summary)?;
        }
        let current = self.campaign.path().join("plan.toml");
        replace(&current, self.text.as_bytes())?;
        Ok(summary)
    }

    fn publish(&mut self, summary: &PlanSummary) -> Result<(), StoreError> {
        write_lines(&self.making.join("shards.ndjson"), &self.rows)?;
        write_lines(&self.making.join("left_out.ndjson"), &self.left_out)?;
        write_lines(
            &self.making.join("plan.json"),
            std::slice::from_ref(summary),
        )?;
        let text = self.making.join("plan.toml");
        fs::write(&text, &self.text).map_err(StoreError::file("write", &text))?;
        flush(&self.making)?;
        let place = self.campaign.plan(self.number);
        fs::rename(&self.making, &place).map_err(StoreError::file("write", &place))?;
        let plans = self.campaign.path().join("plans");
        let synced = File::open(&plans).and_then(|folder| folder.sync_all());
        synced.map_err(StoreError::file("write", &plans))?;
        self.campaign.set_last_plan(self.number)
    }
}

impl Drop for PlanMaker {
    fn drop(&mut self) {
        // The next plan removes it otherwise.
        let _ = fs::remove_dir_all(&self.making);
    }
}

/// One flush for thousands of manifests: one each would take longer than the walk.
fn flush(folder: &Path) -> Result<(), StoreError> {
    let failed = || StoreError::file("write", folder);
    let opened = File::open(folder).map_err(failed())?;
    rustix::fs::syncfs(opened).map_err(|error| failed()(error.into()))
}

fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::file("remove", folder)(error))
        }
        _ => Ok(()),
    }
}

fn write_lines<T: Serialize>(path: &Path, values: &[T]) -> Result<(), StoreError> {
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create_new(path)?);
        for value in values {
            serde_json::to_writer(&mut file, value)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    };
    write().map_err(StoreError::file("write", path))
}

/// Whether a name, or a folder that it is in, was dropped.
fn is_dropped(name: &[u8], dropped: &BTreeSet<Vec<u8>>) -> bool {
    let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut above = slashes.map(|(at, _)| &name[..at]);
    !dropped.is_empty() && (dropped.contains(name) || above.any(|name| dropped.contains(name)))
}

struct GroupWriter {
    shards: ShardWriter,
    listing: ListingWriter,
    superseded: BufWriter<File>,
    superseded_path: PathBuf,
    summary: GroupSummary,
}

impl GroupWriter {
    fn new(plan: &PlanMaker, group: &Group, bounds: CutBounds) -> Result<Self, StoreError> {
        let name = &group.name;
        let superseded_path = plan.making.join(format!("{name}.superseded.ndjson"));
        let superseded = File::create_new(&superseded_path);
        let superseded = superseded.map_err(StoreError::file("write", &superseded_path))?;
        Ok(GroupWriter {
            shards: ShardWriter::new(&plan.making, plan.number, name, &group.link, bounds),
            listing: ListingWriter::create(&plan.making.join(format!("{name}.listing")))?,
            superseded: BufWriter::new(superseded),
            superseded_path,
            summary: GroupSummary {
                group: name.clone(),
                new: 0,
                changed: 0,
                same: 0,
                gone: 0,
                bytes: 0,
                shards: 0,
                left_out: 0,
                unread: 0,
                linked: 0,
                clashes: 0,
            },
        })
    }

    fn take_all<I>(&mut self, mut differences: Differences<I>) -> Result<(), StoreError>
    where
        I: Iterator<Item = Result<Entry, StoreError>>,
    {
        while let Some(difference) = differences.next()? {
            match difference {
                Difference::New(entry) => {
                    self.summary.new += 1;
                    self.keep(&entry)?;
                }
                Difference::Changed(entry) => {
                    self.summary.changed += 1;
                    self.supersede(&entry)?;
                    self.keep(&entry)?;
                }
                Difference::Same(entry) => {
                    self.summary.same += 1;
                    self.listing.push(&entry)?;
                }
                Difference::Gone(entry) => {
                    self.summary.gone += 1;
                    self.supersede(&entry)?;
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.summary.bytes = self.summary.bytes.saturating_add(entry.bytes());
        self.shards.push(entry)?;
        self.listing.push(entry)
    }

    fn supersede(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let write = || -> io::Result<()> {
            serde_json::to_writer(&mut self.superseded, &Line::of(entry, None))?;
            self.superseded.write_all(b"\n")
        };
        let mut write = write;
        write().map_err(StoreError::file("write", &self.superseded_path))
    }

    fn finish(mut self) -> Result<(GroupSummary, Vec<ShardRow>), StoreError> {
        self.listing.finish()?;
        let flushed = self.superseded.flush();
        flushed.map_err(StoreError::file("write", &self.superseded_path))?;
        let rows = self.shards.finish()?;
        self.summary.shards = rows.len() as u64;
        Ok((self.summary, rows))
    }
}

#[cfg(test)]
pub(crate) mod tests;
