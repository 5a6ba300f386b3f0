//! Where a campaign stands, from the files in its folder.

use campaign_plan::LinkName;
use campaign_store::{Entry, Mark, ShardId, ShardResult, ShardRow, ShardRun, Slots};
use observe::Limit;
use serde::{Deserialize, Serialize};
use units::Rate;
use wire::copy::ProblemKind;

use super::Campaign;
use crate::Error;

/// How far a shard is that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardProgress {
    /// Which.
    pub shard: ShardId,
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
        progress: &transfer::Progress,
        done: u64,
        at: i64,
    ) -> ShardProgress {
        ShardProgress {
            shard: row.shard.clone(),
            at,
            done,
            bytes: progress.done.get(),
            bits_per_second: progress.reading.rate.bits_per_second(),
            streams: progress.reading.streams,
            limited_by: progress
                .reading
                .limited_by
                .map(Limit::name)
                .map(str::to_owned),
        }
    }
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
    /// Of the copies that run, together.
    pub bits_per_second: u64,
    /// What binds most of the copies that run.
    pub limited_by: Option<String>,
    /// Time left; `None` while too little has been seen to tell.
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
    /// Names that a later plan has otherwise.
    pub superseded: u64,
}

impl Status {
    /// Whether every shard is over and none has failed files.
    pub fn is_done(&self) -> bool {
        let is_over = |link: &LinkStatus| link.shards_left == 0 && link.shards_failed == 0;
        self.links.iter().all(is_over)
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
                superseded: 0,
            },
            ended: Vec::new(),
        };
        for row in self.folder.shards()? {
            let bound = plan.links().get(&row.link);
            let copies = bound.map_or(1, |link| link.copies);
            let rate = bound.and_then(|link| link.rate);
            let at = gathered.link(&row.link, copies, rate);
            let run = ShardRun::of(&self.folder, &row)?;
            match run.result()? {
                Some(result) => gathered.over(at, &row, result),
                None => gathered.open(at, &row, &run)?,
            }
        }
        for link in &mut gathered.status.links {
            let slots = Slots::of(&self.folder, &link.link, link.copies);
            link.running = slots.held().into();
            let ended: Vec<&ShardResult> = gathered
                .ended
                .iter()
                .filter(|result| result.link == link.link)
                .collect();
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
}

impl Gathered {
    fn link(&mut self, name: &LinkName, copies: u16, rate: Option<Rate>) -> usize {
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
            limited_by: None,
            left: None,
        });
        links.len() - 1
    }

    fn over(&mut self, at: usize, row: &ShardRow, result: ShardResult) {
        let link = &mut self.status.links[at];
        link.names += row.names - result.superseded.min(row.names);
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
        self.ended.push(result);
    }

    fn open(&mut self, at: usize, row: &ShardRow, run: &ShardRun) -> Result<(), Error> {
        let link = &mut self.status.links[at];
        link.names += row.names;
        link.bytes += row.bytes;
        link.shards_left += 1;
        let told = run.told::<ShardProgress>()?;
        let Some(progress) = told.filter(|_| run.is_running()) else {
            let noted = run.noted()?;
            link.names_done += noted.len() as u64;
            link.bytes_done += noted.values().map(Entry::bytes).sum::<u64>();
            return Ok(());
        };
        link.names_done += progress.done;
        link.bytes_done += progress.bytes.min(row.bytes);
        link.bits_per_second += progress.bits_per_second;
        link.limited_by = link
            .limited_by
            .take()
            .or_else(|| progress.limited_by.clone());
        self.status.running.push(progress);
        Ok(())
    }
}

/// Fewest shards of which quantiles say anything.
const ENDED_MIN: usize = 5;

/// What is left, if each shard takes as long as the tenth fastest, and as the tenth slowest, of
/// those that ended. Shards are cut by files and by bytes, so one is much like another.
fn left(link: &LinkStatus, ended: &[&ShardResult]) -> Option<Interval> {
    if ended.len() < ENDED_MIN || link.shards_left == 0 {
        return None;
    }
    // Times are whole seconds; a shard that took none took half a one on average.
    let took = |result: &&ShardResult| ((result.ended - result.began) as f64).max(0.5);
    let took: Vec<f64> = ended.iter().map(took).collect();
    let at_once = u64::from(link.copies).min(link.shards_left).max(1);
    let turns = link.shards_left.div_ceil(at_once) as f64;
    Some(Interval {
        seconds_min: turns * stats::quantile(&took, 0.1)?,
        seconds_max: turns * stats::quantile(&took, 0.9)?,
    })
}
