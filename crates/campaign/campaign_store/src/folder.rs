//! The folder of a campaign.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use campaign_plan::{GroupName, LinkName};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::summary::PlanSummary;

/// The name of a shard: `GROUP-PLAN-NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShardId {
    /// Which plan it is of, from 1.
    pub plan: u32,
    /// The group.
    pub group: GroupName,
    /// Its number within the plan and group, from 1.
    pub number: u32,
}

impl ShardId {
    /// Stands in until the first line of a manifest was read.
    pub(crate) fn unknown() -> ShardId {
        let group = GroupName::from_str("unknown");
        ShardId {
            plan: 0,
            group: group.unwrap_or_else(|_| unreachable!("`unknown` is a name")),
            number: 0,
        }
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:05}", self.group, self.plan, self.number)
    }
}

impl FromStr for ShardId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (rest, number) = text.rsplit_once('-')?;
            let (group, plan) = rest.rsplit_once('-')?;
            Some(ShardId {
                plan: plan.parse().ok()?,
                group: group.parse().ok()?,
                number: number.parse().ok()?,
            })
        };
        read().ok_or_else(|| format!("`{text}` is no shard; they are named like `raw-1-00001`"))
    }
}

impl TryFrom<String> for ShardId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ShardId> for String {
    fn from(shard: ShardId) -> String {
        shard.to_string()
    }
}

/// A shard as its plan lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRow {
    /// Its name.
    pub shard: ShardId,
    /// The link that it goes over.
    pub link: LinkName,
    /// Files, links and folders.
    pub names: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// BLAKE3 of the manifest.
    pub digest: String,
}

/// What a whole campaign can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing starts until it is resumed.
    Paused,
    /// Nothing starts any more.
    Cancelled,
}

impl Mark {
    fn file(self) -> &'static str {
        match self {
            Mark::Paused => "paused",
            Mark::Cancelled => "cancelled",
        }
    }
}

/// A campaign on disk. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CampaignFolder {
    root: PathBuf,
}

impl CampaignFolder {
    /// Makes the folder, or takes the one that is there.
    ///
    /// # Errors
    /// When it cannot be made, or is there and holds something else.
    pub fn create(root: &Path) -> Result<Self, StoreError> {
        let is_other = fs::read_dir(root).is_ok_and(|mut names| names.next().is_some())
            && !root.join("plans").is_dir();
        if is_other {
            return Err(StoreError::Missing {
                what: format!("{} holds something else than a campaign", root.display()),
                hint: "name a folder that is empty or not there".to_owned(),
            });
        }
        let plans = root.join("plans");
        fs::create_dir_all(&plans).map_err(StoreError::file("make", &plans))?;
        CampaignFolder::at(root)
    }

    /// A folder with a plan.
    ///
    /// # Errors
    /// When it holds no campaign.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        if !root.join("plan.toml").is_file() || !root.join("plans").is_dir() {
            return Err(StoreError::Missing {
                what: format!("{} holds no campaign", root.display()),
                hint: "`trunkline campaign plan PLAN.toml FOLDER` makes one".to_owned(),
            });
        }
        CampaignFolder::at(root)
    }

    fn at(root: &Path) -> Result<Self, StoreError> {
        // Absolute, because engines start tasks elsewhere.
        let root = root
            .canonicalize()
            .map_err(StoreError::file("read", root))?;
        let found = fs::metadata(&root).map_err(StoreError::file("read", &root))?;
        if found.mode() & 0o002 != 0 {
            return Err(StoreError::Unsafe {
                path: root,
                why: format!(
                    "may be written by everybody (mode {:o})",
                    found.mode() & 0o7777
                ),
            });
        }
        Ok(CampaignFolder { root })
    }

    /// Where it is, from `/`.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The numbers of the plans, the oldest first. Plans are numbered from 1 without gaps.
    ///
    /// # Errors
    /// When they cannot be listed, or one is missing.
    pub fn plans(&self) -> Result<Vec<u32>, StoreError> {
        let plans = self.listed_plans()?;
        // A campaign without plans is one whose first plan is being made.
        let last = plans.last().copied().unwrap_or(0).max(self.last_plan());
        let missing = (1..=last).find(|number| !plans.contains(number));
        match missing {
            None => Ok(plans),
            Some(number) => Err(self.lost(format!("plan {number} of {last} is missing"))),
        }
    }

    /// The number of the last plan, as it was written down; 0 where none was.
    fn last_plan(&self) -> u32 {
        let text = fs::read_to_string(self.root.join(LAST_PLAN));
        text.ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0)
    }

    /// Writes down that this plan is there.
    pub(crate) fn set_last_plan(&self, number: u32) -> Result<(), StoreError> {
        replace(&self.root.join(LAST_PLAN), format!("{number}\n").as_bytes())
    }

    fn lost(&self, what: String) -> StoreError {
        StoreError::Lost {
            what: format!("{} is not whole: {what}", self.root.display()),
        }
    }

    fn listed_plans(&self) -> Result<Vec<u32>, StoreError> {
        let folder = self.root.join("plans");
        let failed = || StoreError::file("list", &folder);
        let mut plans = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed())? {
            let name = entry.map_err(failed())?.file_name();
            plans.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        plans.sort_unstable();
        Ok(plans)
    }

    /// The folder of a plan.
    pub fn plan(&self, number: u32) -> PathBuf {
        self.root.join("plans").join(number.to_string())
    }

    /// The text of a plan; without a number, of the one that was read last.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn plan_text(&self, number: Option<u32>) -> Result<(String, PathBuf), StoreError> {
        let folder = number.map_or(self.root.clone(), |number| self.plan(number));
        let file = folder.join("plan.toml");
        let text = fs::read_to_string(&file).map_err(StoreError::file("read", &file))?;
        Ok((text, file))
    }

    /// All shards of all plans, in the order in which they should go.
    ///
    /// # Errors
    /// When a list of shards cannot be read, or lacks shards that its plan counted.
    pub fn shards(&self) -> Result<Vec<ShardRow>, StoreError> {
        let mut rows = Vec::new();
        for plan in self.plans()? {
            rows.extend(self.shards_of(plan)?);
        }
        Ok(rows)
    }

    fn shards_of(&self, plan: u32) -> Result<Vec<ShardRow>, StoreError> {
        let folder = self.plan(plan);
        let rows = read_lines::<ShardRow>(&folder.join("shards.ndjson"))?;
        let summary = read_lines::<PlanSummary>(&folder.join("plan.json"))?;
        let Some(summary) = summary.first() else {
            return Err(self.lost(format!("plan {plan} has no plan.json")));
        };
        for group in &summary.groups {
            let listed = rows.iter().filter(|row| row.shard.group == group.group);
            let listed = listed.count() as u64;
            if listed != group.shards {
                return Err(self.lost(format!(
                    "of group `{}`, plan {plan} lists {listed} of {} shards",
                    group.group, group.shards
                )));
            }
        }
        Ok(rows)
    }

    /// How many names of each group a later plan has otherwise, or no more.
    ///
    /// # Errors
    /// When a plan cannot be read.
    pub fn superseded(&self) -> Result<BTreeMap<GroupName, u64>, StoreError> {
        let mut superseded = BTreeMap::new();
        for plan in self.plans()? {
            let summaries = read_lines::<PlanSummary>(&self.plan(plan).join("plan.json"))?;
            for group in summaries.into_iter().flat_map(|summary| summary.groups) {
                *superseded.entry(group.group).or_default() += group.changed + group.gone;
            }
        }
        Ok(superseded)
    }

    /// One shard.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn shard(&self, shard: &ShardId) -> Result<ShardRow, StoreError> {
        let rows = self.shards()?;
        let ends = rows.first().zip(rows.last());
        let known = ends.map(|(first, last)| {
            let (first, last) = (&first.shard, &last.shard);
            format!(
                "the first of {} is `{first}`, the last `{last}`",
                rows.len()
            )
        });
        let row = rows.iter().find(|row| row.shard == *shard).cloned();
        row.ok_or_else(|| StoreError::Missing {
            what: format!("{} has no shard `{shard}`", self.root.display()),
            hint: known.unwrap_or_else(|| "its plans found nothing to copy".to_owned()),
        })
    }

    /// The manifest of a shard.
    pub fn manifest(&self, shard: &ShardId) -> PathBuf {
        let folder = self.plan(shard.plan).join(shard.group.as_str());
        folder.join(format!("{:05}.ndjson", shard.number))
    }

    /// What became of a shard is in there.
    pub fn run(&self, shard: &ShardId) -> PathBuf {
        self.root.join("runs").join(shard.to_string())
    }

    /// The folder of what was found when both ends were compared.
    ///
    /// # Errors
    /// When it cannot be made, or is a link.
    pub fn verified(&self) -> Result<PathBuf, StoreError> {
        let folder = self.root.join("verified");
        own_folder(&folder).map(|()| folder)
    }

    /// The folder of the tag files of a group that is a bag.
    ///
    /// # Errors
    /// When it cannot be made, or is a link.
    pub fn bag(&self, group: &GroupName) -> Result<PathBuf, StoreError> {
        let folder = self.root.join("bags").join(group.as_str());
        own_folder(&folder).map(|()| folder)
    }

    /// The newest listing of a group before plan `number`, with the plan that it is of.
    pub(crate) fn listing_before(
        &self,
        group: &GroupName,
        number: u32,
    ) -> Result<Option<(u32, PathBuf)>, StoreError> {
        let plans = self.plans()?;
        let before = plans.into_iter().rev().filter(|plan| *plan < number);
        let mut listings =
            before.map(|plan| (plan, self.plan(plan).join(format!("{group}.listing"))));
        Ok(listings.find(|(_, file)| file.exists()))
    }

    /// Whether a plan has listed this group.
    ///
    /// # Errors
    /// When the plans cannot be listed.
    pub fn is_planned(&self, group: &GroupName) -> Result<bool, StoreError> {
        Ok(self.listing_before(group, u32::MAX)?.is_some())
    }

    /// Whether the campaign has a mark.
    pub fn has(&self, mark: Mark) -> bool {
        self.root.join(mark.file()).exists()
    }

    /// Sets or removes a mark.
    ///
    /// # Errors
    /// When its file cannot be made or removed.
    pub fn set(&self, mark: Mark, is_set: bool) -> Result<(), StoreError> {
        let file = self.root.join(mark.file());
        if is_set {
            return open_own(&file, File::options().write(true).create(true)).map(drop);
        }
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::file("remove", &file)(error))
            }
            _ => Ok(()),
        }
    }
}

/// The file with the number of the last plan.
const LAST_PLAN: &str = "last-plan";

/// Opens a file that only this program writes: what a link points to is not touched, nor is a file
/// that has another name elsewhere.
pub(crate) fn open_own(file: &Path, options: &mut OpenOptions) -> Result<File, StoreError> {
    let refused = |why: &str| StoreError::Unsafe {
        path: file.to_owned(),
        why: why.to_owned(),
    };
    let opened = match options.custom_flags(OFlag::O_NOFOLLOW.bits()).open(file) {
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            return Err(refused("is a link to somewhere else"));
        }
        opened => opened.map_err(StoreError::file("write", file))?,
    };
    let found = opened.metadata().map_err(StoreError::file("read", file))?;
    match (found.is_file(), found.nlink()) {
        (false, _) => Err(refused("is no file")),
        (true, 0 | 1) => Ok(opened),
        (true, _) => Err(refused("is a file that has another name, too")),
    }
}

/// Makes a folder of a campaign where it is not there.
pub(crate) fn own_folder(folder: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(folder).map_err(StoreError::file("make", folder))?;
    let found = fs::symlink_metadata(folder).map_err(StoreError::file("read", folder))?;
    match found.is_dir() {
        true => Ok(()),
        false => Err(StoreError::Unsafe {
            path: folder.to_owned(),
            why: "is a link to somewhere else".to_owned(),
        }),
    }
}

/// A look at a lock holds it for a moment ([`is_locked`]), so a try is repeated.
const GLANCES: u32 = 3;
const GLANCE: Duration = Duration::from_millis(15);

/// Between the process and its host in the text of a lock.
const ON_HOST: &str = " on ";

/// The name of this machine; empty where the kernel does not tell it.
pub(crate) fn this_host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// A lock that its holder names itself in.
pub(crate) fn lock(file: &Path, what: &str) -> Result<Flock<File>, StoreError> {
    lock_for(&this_host(), file, what)
}

/// The same, held for a process of `host`.
pub(crate) fn lock_for(host: &str, file: &Path, what: &str) -> Result<Flock<File>, StoreError> {
    let failed = || StoreError::file("lock", file);
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let opened = open_own(file, &mut options)?;
    let mut locked = Flock::lock(opened, FlockArg::LockExclusiveNonblock);
    for _ in 0..GLANCES {
        let Err((opened, Errno::EWOULDBLOCK)) = locked else {
            break;
        };
        thread::sleep(GLANCE);
        locked = Flock::lock(opened, FlockArg::LockExclusiveNonblock);
    }
    match locked {
        Ok(mut lock) => {
            let text = format!("process {}{ON_HOST}{host}\n", std::process::id());
            // For messages of others, and for the parts of hosts in a link's slots.
            let _ = lock.set_len(0).and_then(|()| {
                lock.rewind()?;
                lock.write_all(text.as_bytes())
            });
            Ok(lock)
        }
        Err((mut opened, Errno::EWOULDBLOCK)) => {
            let mut by = String::new();
            let _ = opened.read_to_string(&mut by);
            let by = match by.trim() {
                "" => "another process".to_owned(),
                by => by.to_owned(),
            };
            let what = what.to_owned();
            Err(StoreError::Busy { what, by })
        }
        Err((_, error)) => Err(failed()(error.into())),
    }
}

/// Whether the lock of a file is held.
pub(crate) fn is_locked(file: &Path) -> bool {
    let Ok(opened) = File::open(file) else {
        return false;
    };
    Flock::lock(opened, FlockArg::LockSharedNonblock).is_err()
}

/// The host of the process that holds the lock of a file; `None` while it is not held.
pub(crate) fn lock_host(file: &Path) -> Option<String> {
    let text = is_locked(file).then(|| fs::read_to_string(file))?;
    let text = text.unwrap_or_default();
    let (_, host) = text.trim_end().split_once(ON_HOST).unwrap_or_default();
    Some(host.to_owned())
}

/// A file that appears whole or not at all.
pub fn replace(file: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(bytes)?;
        new.as_file().sync_data()?;
        new.persist(file).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(StoreError::file("write", file))
}

/// The lines of a file that is written whole; none where it is not there.
pub(crate) fn read_lines<T: for<'a> Deserialize<'a>>(file: &Path) -> Result<Vec<T>, StoreError> {
    let opened = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(StoreError::file("read", file))?,
    };
    let mut values = Vec::new();
    for (line, at) in BufReader::new(opened).lines().zip(1..) {
        let line = line.map_err(StoreError::file("read", file))?;
        let value = serde_json::from_str(&line);
        values.push(value.map_err(|error| StoreError::line(file, at, error.to_string()))?);
    }
    Ok(values)
}
