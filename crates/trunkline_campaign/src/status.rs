//! Where a campaign stands, from the files in its folder.

use std::collections::BTreeMap;

use campaign_plan::{GroupName, LinkName};
use campaign_store::{Entry, Mark, ShardId, ShardResult, ShardRow, ShardRun, Slots};
use copy_protocol::ProblemKind;
use observe::Limit;
use serde::{Deserialize, Serialize};
use units::Rate;

use super::Campaign;
use super::watcher::{now, quiet};
use trunkline::Error;

/// How far a shard is that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardProgress {
    /// Which.
    pub shard: ShardId,
    /// When its run began, in seconds since 1970.
    #[serde(default)]
    pub began: i64,
    /// When this was written, in seconds since 1970.
    pub at: i64,
    /// Names that are at the destination.
    pub done: u64,
    /// Bytes that are there, of files that are not whole yet, too.
    pub bytes: u64,
    /// Over the last seconds.
    pub bits_per_second: u64,
    /// Streams that carry data.
    pub streams: u16,
    /// What binds, where one thing does.
    pub limited_by: Option<String>,
}

impl ShardProgress {
    pub(super) fn of(
        row: &ShardRow,
        progress: &copy_protocol::CopyProgress,
        done: u64,
        [began, at]: [i64; 2],
    ) -> ShardProgress {
        ShardProgress {
            shard: row.shard.clone(),
            began,
            at,
            done,
            bytes: progress.done.get(),
            bits_per_second: progress.rate.bits_per_second(),
            streams: progress.streams,
            limited_by: progress.limited_by.map(Limit::name).map(str::to_owned),
        }
    }
}

/// A shard that is not finished and that nothing runs: why its last run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardLeft {
    /// Which.
    pub shard: ShardId,
    /// When it ended, in seconds since 1970.
    pub at: i64,
    /// What kind of reason.
    pub cause: UnfinishedCause,
    /// The same in words.
    pub what: String,
}

/// A link and what goes over it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkStatus {
    /// The link.
    pub link: LinkName,
    /// Its bound.
    pub bound_bits_per_second: Option<u64>,
    /// Copies that run, and how many may.
    pub running: u64,
    /// The same.
    pub copies: u16,
    /// Shards that are over, that have failed files, and that are left.
    pub shards_done: u64,
    /// The same.
    pub shards_failed: u64,
    /// The same.
    pub shards_left: u64,
    /// Names that are at the destination, and all.
    pub names_done: u64,
    /// The same.
    pub names: u64,
    /// Bytes that are at the destination, and all.
    pub bytes_done: u64,
    /// The same.
    pub bytes: u64,
    /// Of the copies that run, together, over the last seconds.
    pub bits_per_second: u64,
    /// Until when it is quiet, in words; absent where it is not.
    pub quiet: Option<String>,
    /// What binds most of the copies that run.
    pub limited_by: Option<String>,
    /// Time left; `None` where nothing runs, or too little has been seen to tell.
    pub left: Option<Interval>,
}

/// Time left, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Seconds, if shards take as long as the tenth fastest so far.
    pub seconds_min: f64,
    /// The same of the tenth slowest.
    pub seconds_max: f64,
}

/// Where a campaign stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Nothing starts.
    pub is_paused: bool,
    /// Nothing starts any more.
    pub is_cancelled: bool,
    /// Each link.
    pub links: Vec<LinkStatus>,
    /// Files that failed, by cause, most first.
    pub causes: Vec<(ProblemKind, u64)>,
    /// Shards with files that failed.
    pub failed: Vec<ShardId>,
    /// Shards that run.
    pub running: Vec<ShardProgress>,
    /// Shards that are left because of something that may pass.
    pub unfinished: Vec<ShardLeft>,
    /// Results that are damaged: their shards are run again.
    pub damaged: Vec<String>,
    /// Names that a later plan has otherwise.
    pub superseded: u64,
}

impl Status {
    /// Whether every shard is over and none has failed files.
    pub fn is_done(&self) -> bool {
        let is_over = |link: &LinkStatus| link.shards_left == 0 && link.shards_failed == 0;
        !self.links.is_empty() && self.links.iter().all(is_over)
    }
}

impl Campaign {
    /// Where it stands now.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn status(&self) -> Result<Status, Error> {
        let plan = self.current()?;
        let mut gathered = Gathered {
            status: Status {
                is_paused: self.folder.has(Mark::Paused),
                is_cancelled: self.folder.has(Mark::Cancelled),
                links: Vec::new(),
                causes: Vec::new(),
                failed: Vec::new(),
                running: Vec::new(),
                unfinished: Vec::new(),
                damaged: Vec::new(),
                superseded: 0,
            },
            ended: Vec::new(),
            carried: Vec::new(),
            links: BTreeMap::new(),
        };
        for row in self.folder.shards()? {
            let bound = plan.links().get(&row.link);
            let copies = bound.map_or(1, |link| link.copies);
            let rate = bound.and_then(|link| link.rate_at(now(), plan.offset()));
            let quiet = bound.and_then(|link| quiet(link, &plan));
            let at = gathered.link(&row.link, copies, rate, quiet);
            gathered.links.insert(row.shard.group.clone(), at);
            let run = ShardRun::of(&self.folder, &row)?;
            match run.result()? {
                Some(result) => gathered.over(at, &row, result),
                None => gathered.open(at, &row, &run)?,
            }
        }
        gathered.count_once(self.folder.superseded()?);
        for link in &mut gathered.status.links {
            let slots = Slots::of(&self.folder, &link.link, link.copies);
            link.running = slots.held().into();
            let ended: Vec<&ShardResult> = gathered
                .ended
                .iter()
                .filter(|result| result.link == link.link)
                .collect();
            let carried = gathered.carried.iter().filter(|one| one.link == link.link);
            link.bits_per_second = match link.running {
                0 => 0,
                _ => recent_rate(carried),
            };
            link.left = left(link, &ended);
        }
        gathered
            .status
            .causes
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(gathered.status)
    }
}

struct Gathered {
    status: Status,
    ended: Vec<ShardResult>,
    carried: Vec<Carried>,
    /// The place of each group's link.
    links: BTreeMap<GroupName, usize>,
}

/// Bytes of a shard, and when they were carried, in seconds since 1970.
struct Carried {
    link: LinkName,
    from: i64,
    to: i64,
    bytes: u64,
}

impl Gathered {
    fn link(
        &mut self,
        name: &LinkName,
        copies: u16,
        rate: Option<Rate>,
        quiet: Option<String>,
    ) -> usize {
        let links = &mut self.status.links;
        if let Some(at) = links.iter().position(|link| link.link == *name) {
            return at;
        }
        links.push(LinkStatus {
            link: name.clone(),
            bound_bits_per_second: rate.map(Rate::bits_per_second),
            running: 0,
            copies,
            shards_done: 0,
            shards_failed: 0,
            shards_left: 0,
            names_done: 0,
            names: 0,
            bytes_done: 0,
            bytes: 0,
            bits_per_second: 0,
            quiet,
            limited_by: None,
            left: None,
        });
        links.len() - 1
    }

    fn over(&mut self, at: usize, row: &ShardRow, result: ShardResult) {
        let link = &mut self.status.links[at];
        link.names += row.names;
        link.names_done += result.done;
        link.bytes += row.bytes;
        link.bytes_done += result.bytes;
        match result.failed {
            0 => link.shards_done += 1,
            _ => {
                link.shards_failed += 1;
                self.status.failed.push(row.shard.clone());
            }
        }
        self.status.superseded += result.superseded;
        for (cause, count) in &result.causes {
            match self
                .status
                .causes
                .iter_mut()
                .find(|(known, _)| known == cause)
            {
                Some((_, sum)) => *sum += count,
                None => self.status.causes.push((*cause, *count)),
            }
        }
        self.carried.push(Carried {
            link: row.link.clone(),
            from: result.began,
            to: result.ended,
            bytes: result.sent.min(result.bytes),
        });
        self.ended.push(result);
    }

    /// A name of several plans counts in the last of them: in the others it was copied, or was left
    /// to that one.
    fn count_once(&mut self, superseded: BTreeMap<GroupName, u64>) {
        for (group, later) in superseded {
            let Some(at) = self.links.get(&group) else {
                continue;
            };
            let of_group = self.ended.iter().filter(|one| one.shard.group == group);
            let left: u64 = of_group.map(|result| result.superseded).sum();
            let link = &mut self.status.links[*at];
            // A file in parts is one name, and each of its parts counts.
            link.names = link.names.saturating_sub(later.max(left));
            link.names_done = link.names_done.saturating_sub(later.saturating_sub(left));
        }
    }

    fn open(&mut self, at: usize, row: &ShardRow, run: &ShardRun) -> Result<(), Error> {
        let link = &mut self.status.links[at];
        link.names += row.names;
        link.bytes += row.bytes;
        link.shards_left += 1;
        self.status.damaged.extend(run.damage());
        let told = run.told::<ShardProgress>()?;
        let Some(progress) = told.filter(|_| run.is_running()) else {
            let noted = run.noted()?;
            link.names_done += noted.len() as u64;
            link.bytes_done += noted.values().map(Entry::bytes).sum::<u64>();
            self.status.unfinished.extend(run.unfinished()?);
            return Ok(());
        };
        link.names_done += progress.done;
        link.bytes_done += progress.bytes.min(row.bytes);
        self.carried.push(Carried {
            link: row.link.clone(),
            from: progress.began,
            to: progress.at,
            bytes: progress.bytes,
        });
        link.limited_by = link
            .limited_by
            .take()
            .or_else(|| progress.limited_by.clone());
        self.status.running.push(progress);
        Ok(())
    }
}

/// Time over which the rate of a link is taken: some shards may be between two files.
const RECENT: i64 = 15;

/// Bits per second of the last seconds, with the bytes of each shard spread evenly over its time.
fn recent_rate<'a>(carried: impl Iterator<Item = &'a Carried> + Clone) -> u64 {
    let Some(end) = carried.clone().map(|one| one.to).max() else {
        return 0;
    };
    let recent = carried.filter(|one| one.to > end - RECENT);
    let begin = recent.clone().map(|one| one.from).min().unwrap_or(end);
    let begin = begin.max(end - RECENT);
    let within = |one: &Carried| {
        let length = (one.to - one.from).max(1) as f64;
        let part = (one.to - one.from.max(begin)).max(1) as f64;
        one.bytes as f64 * (part / length).min(1.0)
    };
    let bytes: f64 = recent.map(within).sum();
    (bytes * 8.0 / (end - begin).max(1) as f64) as u64
}

/// Fewest shards of which quantiles say anything.
const ENDED_MIN: usize = 5;

/// What is left, if each shard takes as long as the tenth fastest, and as the tenth slowest, of
/// those that ended, and never less than the bound of the link allows. Shards are cut by files and
/// by bytes, so one is much like another.
fn left(link: &LinkStatus, ended: &[&ShardResult]) -> Option<Interval> {
    if ended.len() < ENDED_MIN || link.shards_left == 0 || link.running == 0 {
        return None;
    }
    // Times are whole seconds; a shard that took none took half a one on average.
    let took = |result: &&ShardResult| ((result.ended - result.began) as f64).max(0.5);
    let took: Vec<f64> = ended.iter().map(took).collect();
    let at_once = u64::from(link.copies).min(link.shards_left).max(1);
    let turns = link.shards_left.div_ceil(at_once) as f64;
    let bits_left = 8 * link.bytes.saturating_sub(link.bytes_done);
    let bound = link.bound_bits_per_second.filter(|bound| *bound > 0);
    let least = bound.map_or(0.0, |bound| bits_left as f64 / bound as f64);
    Some(Interval {
        seconds_min: least.max(turns * stats::quantile(&took, 0.1)?),
        seconds_max: least.max(turns * stats::quantile(&took, 0.9)?),
    })
}

/// What kept a shard from being finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnfinishedCause {
    /// It was stopped, or the campaign is paused.
    Halted,
    /// Its link is quiet.
    Quiet,
    /// Another process runs it, or groups before it are not done.
    Waits,
    /// The far end was gone for longer than the patience with it.
    Lost,
    /// Another copy writes to the same files, for longer than the patience with it.
    Busy,
    /// The far end does not answer, or a disk is full, for longer than the patience with it.
    Passing,
}

impl UnfinishedCause {
    /// What may pass while the run goes on.
    pub(super) fn is_waited_for(self) -> bool {
        matches!(self, UnfinishedCause::Busy | UnfinishedCause::Passing)
    }

    pub(super) fn of(kind: ProblemKind) -> Option<Self> {
        match kind {
            ProblemKind::Busy => Some(UnfinishedCause::Busy),
            ProblemKind::DiskFull => Some(UnfinishedCause::Passing),
            _ => None,
        }
    }
}
