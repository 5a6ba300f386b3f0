//! The tag files of groups that are BagIt bags (RFC 8493), once all of the payload is there.
//!
//! They are made in the campaign's folder from the checksums that the shards noted, and copied to
//! the folder above the payload. All hosts make the same bytes of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use campaign_plan::{Campaign as Plan, Group, Spot};
use campaign_store::{Entry, Kind, ShardRow, ShardRun, Summed, replace};
use transfer::CopyControl;

use super::bag_checks::check_source;
use super::places::{self, Ends, Here};
use super::run::RunOptions;
use super::shard_copy::request;
use super::summing::SumReader;
use super::tag_files::{Payload, check_kept, put_here, write_tags};
use super::watcher::{now, quiet};
use super::{Campaign, GroupName, unwritable};
use trunkline::copy::Filter;
use trunkline::{Cancel, Error, Fault};

/// A bag of which all is at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bag {
    /// The group that is its payload.
    pub group: GroupName,
    /// Its folder, as the plan names places.
    pub folder: String,
    /// Files of the payload.
    pub files: u64,
}

impl Campaign {
    /// Completes the bags of all groups whose shards are done: [`run_all`](Campaign::run_all) does
    /// at its end. One that is as it was written last is left alone.
    ///
    /// # Errors
    /// When files have no checksums and cannot be read here, or the tag files cannot be written.
    pub fn finish_bags(&self, options: &RunOptions, cancel: &Cancel) -> Result<Vec<Bag>, Error> {
        let plan = self.current()?;
        let mut bags = Vec::new();
        for group in plan.groups() {
            let Some(spot) = group.bag_spot() else {
                continue;
            };
            if !places::is_run_here(group, options.host.as_deref()) {
                continue;
            }
            let Some(payload) = self.payload(&plan, group, options, cancel)? else {
                continue;
            };
            if places::is_here(&group.from, options.host.as_deref()) {
                let from = places::local(&plan, &group.from)?;
                check_source(&from, group, &payload)?;
            }
            self.write_bag(&plan, group, &spot, &payload, options, cancel)?;
            bags.push(Bag {
                group: group.name.clone(),
                folder: spot.to_string(),
                files: payload.files.len() as u64,
            });
        }
        Ok(bags)
    }

    /// Shards of the group that went to where it goes now, in the order of their plans.
    fn rows_of(&self, group: &Group) -> Result<Vec<ShardRow>, Error> {
        let mut went_there: BTreeMap<u32, bool> = BTreeMap::new();
        let mut rows = Vec::new();
        for row in self.folder.shards()? {
            if row.shard.group != group.name {
                continue;
            }
            let is_there = match went_there.get(&row.shard.plan) {
                Some(is_there) => *is_there,
                None => self.group(&row)?.to == group.to,
            };
            went_there.insert(row.shard.plan, is_there);
            if is_there {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// `None` while a shard is left or has failures. Nothing is removed at a destination, so that
    /// files which are gone from the source stay in the bag.
    fn payload(
        &self,
        plan: &Plan,
        group: &Group,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Option<Payload>, Error> {
        let mut payload = Payload::default();
        let rows = self.rows_of(group)?;
        let mut lacking: BTreeMap<Vec<u8>, (&ShardRow, Entry)> = BTreeMap::new();
        for row in &rows {
            let run = ShardRun::of(&self.folder, row)?;
            match run.result()? {
                Some(result) if result.failed == 0 => {
                    payload.ended = payload.ended.max(result.ended);
                }
                _ => return Ok(None),
            }
            let mut sums = run.sums()?;
            for (name, entry) in run.noted()? {
                let Kind::File(bytes) = entry.kind else {
                    continue;
                };
                match sums
                    .remove(&name)
                    .filter(|one| one.serves(&entry, &group.bag))
                {
                    Some(summed) => {
                        lacking.remove(&name);
                        payload.files.insert(name, (bytes, summed.sums));
                    }
                    None => drop(lacking.insert(name, (row, entry))),
                }
            }
        }
        self.read_lacking(plan, group, lacking, &mut payload, options, cancel)?;
        Ok((!rows.is_empty()).then_some(payload))
    }

    /// Files that were copied before the plan asked for a bag, or for one of its checksums.
    fn read_lacking(
        &self,
        plan: &Plan,
        group: &Group,
        lacking: BTreeMap<Vec<u8>, (&ShardRow, Entry)>,
        payload: &mut Payload,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        if lacking.is_empty() {
            return Ok(());
        }
        let ends = places::ends(plan, group, options.host.as_deref(), options.patience)?;
        let Some(reader) = SumReader::of(group, &ends.here)? else {
            return Ok(());
        };
        for (name, (row, entry)) in lacking {
            let Some(Summed { entry, sums }) = reader
                .read(&entry, &|| cancel.is_cancelled())
                .map_err(|fate| {
                    let error = Error::sentence(Fault::Run, fate.what, None);
                    error.with_hint(fate.hint.unwrap_or_default())
                })?
            else {
                return Err(Error::cancelled("ended before the bag was complete"));
            };
            let run = ShardRun::of(&self.folder, row)?;
            let summed = Summed { entry, sums };
            run.sum_notes()?.push(&summed)?;
            let bytes = summed.entry.bytes();
            payload.files.insert(name, (bytes, summed.sums));
        }
        Ok(())
    }

    fn write_bag(
        &self,
        plan: &Plan,
        group: &Group,
        spot: &Spot,
        payload: &Payload,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let folder = self.folder.bag(&group.name)?;
        let tags = folder.join("tags");
        fs::create_dir_all(&tags).map_err(|error| unwritable(&tags, error))?;
        check_kept(&tags, group, spot)?;
        let names = write_tags(&tags, group, payload)?;
        // What the tag files are is in the tag manifest of the first checksum, but for itself.
        let last = names.last().map(|name| tags.join(name));
        let last = last.map_or(Ok(Vec::new()), |last| {
            fs::read(&last).map_err(|error| Error::unreadable(&last, error))
        })?;
        let state = [last.as_slice(), spot.to_string().as_bytes()].concat();
        let written = folder.join("written");
        if fs::read(&written).is_ok_and(|before| before == state) {
            return Ok(());
        }
        match places::is_here(&group.to, options.host.as_deref()) {
            true => put_here(&tags, &names, &places::local(plan, spot)?)?,
            false => send(&tags, &names, plan, group, spot, options, cancel)?,
        }
        Ok(replace(&written, &state)?)
    }
}

/// Sends the tag files to the host of the destination, within the bounds of the group's link.
fn send(
    tags: &Path,
    names: &[String],
    plan: &Plan,
    group: &Group,
    spot: &Spot,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<(), Error> {
    let Some(link) = plan.links().get(&group.link) else {
        return Err(Error::wrong_request(
            format!("there is no link `{}` in the plan", group.link),
            "the folder was changed by hand; plan again in another folder",
        ));
    };
    if let Some(until) = quiet(link, plan) {
        return Err(Error::unfinished(
            format!("the bag {spot} waits: link `{}` is {until}", group.link),
            "run the same command again after that".to_owned(),
        ));
    }
    let here = Here::Source(tags.to_owned());
    let ends = Ends {
        source: tags.join(""),
        destination: places::far_place(plan, spot)?,
        access: places::access(plan, group, &here, options.patience)?,
        here,
    };
    let entry = |name: &String| Entry {
        name: name.clone().into_bytes(),
        kind: Kind::File(0),
        modified_nanoseconds: 0,
        digest: None,
        part: None,
    };
    let entries: Vec<Entry> = names.iter().map(entry).collect();
    let rate = link.rate_at(now(), plan.offset());
    let request = request(&ends, link, &entries, Filter::Content, rate)?;
    let sent = transfer::copy(&request.spec, &CopyControl::from(cancel), &mut ())?;
    match sent.failed.first() {
        None => Ok(()),
        Some(first) => {
            let what = format!(
                "the tag files of the bag {spot} were not all written: {}: {}",
                first.name, first.what
            );
            let hint = first.hint.clone();
            let hint = hint.unwrap_or_else(|| "run the same command again".to_owned());
            Err(Error::sentence(Fault::Run, what, None).with_hint(hint))
        }
    }
}
