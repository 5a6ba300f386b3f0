//! The tag files of groups that are BagIt bags (RFC 8493), once all of the payload is there.
//!
//! They are made in the campaign's folder from the checksums that the shards noted, and copied to
//! the folder above the payload. All hosts make the same bytes of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use campaign_plan::{Campaign as Plan, Group, Spot};
use campaign_store::{Entry, Kind, ShardRow, ShardRun, replace};
use transfer::CopyControl;

use super::bag_checks::{check_payload, check_source};
use super::places::{self, Ends, Here};
use super::shard_copy::request;
use super::shard_end::{RunOptions, passing_cause};
use super::status::UnfinishedCause;
use super::summing::{SumReader, check_names};
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
    /// When the campaign cannot be read. Each bag has errors of its own: files have no checksums
    /// and cannot be read here, or the tag files cannot be written.
    pub fn finish_bags(
        &self,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Vec<Result<Bag, Error>>, Error> {
        let plan = self.current()?;
        let groups = plan.groups().iter();
        let bags = groups.map(|group| self.finish_bag(&plan, group, options, cancel));
        Ok(bags.filter_map(Result::transpose).collect())
    }

    /// `None` where there is no bag, or not all of its payload yet.
    fn finish_bag(
        &self,
        plan: &Plan,
        group: &Group,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Option<Bag>, Error> {
        let host = options.host.as_deref();
        let Some(spot) = group.bag_spot() else {
            return Ok(None);
        };
        if cancel.is_cancelled() || !places::is_run_here(group, host) {
            return Ok(None);
        }
        let Some(payload) = self.payload(plan, group, options, cancel)? else {
            return Ok(None);
        };
        if places::is_here(&group.from, host) {
            check_source(&places::local(plan, &group.from)?, group, &payload)?;
        }
        self.write_bag(plan, group, &spot, &payload, options, cancel)?;
        Ok(Some(Bag {
            group: group.name.clone(),
            folder: spot.to_string(),
            files: payload.files.len() as u64,
        }))
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
        // Those that were copied before the plan asked for a bag.
        let mut links = BTreeMap::new();
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
                if let Kind::Link(_) = entry.kind {
                    links.insert(name, entry);
                    continue;
                }
                let Kind::File(_) = entry.kind else {
                    continue;
                };
                check_names([&entry])?;
                links.remove(&name);
                let summed = sums.remove(&name);
                match summed.filter(|one| one.serves(&entry, &group.bag)) {
                    Some(summed) => {
                        lacking.remove(&name);
                        payload.add(summed, &group.bag);
                    }
                    // Of a file that came in parts, all is read.
                    None => {
                        let entry = Entry {
                            part: None,
                            ..entry
                        };
                        lacking.insert(name, (row, entry));
                    }
                }
            }
        }
        check_names(links.values())?;
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
        let ends = places::ends(
            plan,
            group,
            options.host.as_deref(),
            places::any_turn(),
            options.patience,
        )?;
        let Some(reader) = SumReader::of(group, &ends.here)? else {
            return Ok(());
        };
        for (row, entry) in lacking.into_values() {
            let read = reader.read(&entry, &|| cancel.is_cancelled());
            let read = read.map_err(|fate| {
                let hint = "plan again and run, if it changed; or give the same command at the \
                            other end, with its `--host`";
                Error::sentence(Fault::Run, fate.what, None).with_hint(hint)
            });
            let Some(summed) = read? else {
                return Err(Error::cancelled("ended before the bag was complete"));
            };
            let run = ShardRun::of(&self.folder, row)?;
            run.sum_notes()?.push(&summed)?;
            payload.add(summed, &group.bag);
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
            true => {
                check_payload(&places::local(plan, &group.to)?, payload)?;
                put_here(&tags, &names, &places::local(plan, spot)?)?;
            }
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
        destination: places::far_place(plan, spot, places::any_turn())?,
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
    let sent = transfer::copy(&request.spec, &CopyControl::from(cancel), &mut ());
    let sent = sent.map_err(|error| match passing_cause(&error) {
        Some(_) => Error::from(error).with_fault(Fault::Later),
        None => error.into(),
    })?;
    match sent.failed.first() {
        None => Ok(()),
        Some(first) => {
            let what = format!(
                "the tag files of the bag {spot} were not all written: {}: {}",
                first.name, first.what
            );
            let hint = first.hint.clone();
            let hint = hint.unwrap_or_else(|| "run the same command again".to_owned());
            let fault = UnfinishedCause::of(first.kind).map_or(Fault::Run, |_| Fault::Later);
            Err(Error::sentence(fault, what, None).with_hint(hint))
        }
    }
}
