//! Compares both ends of a campaign, file by file, and writes what an auditor can check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use campaign_store::{Entry, Failed, Fate, Kind, ShardRow, ShardRun, StoreError, replace};
use copy_protocol::{CopyEvent, ProblemKind};
use files::checksums::line;
use files::shown;
use serde::Serialize;
use transfer::{CopyControl, CopyObserver};
use units::Bytes;

use super::places::{self, Ends};
use super::retry_while_busy::Patience;
use super::shard_copy::{batches, comparison};
use super::shard_end::{RunOptions, passing_cause};
use super::watcher::now;
use super::{Campaign, ShardId, unwritable};
use trunkline::{Cancel, Error};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Files of which both ends have the same content, by their BLAKE3.
    pub equal: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// Files that differ, or are at one end alone: `GROUP/NAME`, as people read them.
    pub different: Vec<String>,
    /// Files whose content here is not what was hashed on the way.
    pub other_digest: Vec<String>,
    /// Names that were never copied: they failed, or their shard is not over.
    pub not_copied: u64,
    /// Links and folders, which have no digest and are not compared.
    pub without_content: u64,
    /// When, in seconds since 1970.
    pub at: i64,
    /// The list of digests, a line for each file as `b3sum` prints and checks them; by group.
    pub lists: Vec<PathBuf>,
    /// BLAKE3 of each list.
    pub list_digests: Vec<String>,
}

impl Verified {
    /// Whether both ends have all of the campaign, and the same.
    pub fn is_equal(&self) -> bool {
        self.different.is_empty() && self.other_digest.is_empty() && self.not_copied == 0
    }
}

/// How far it is.
#[derive(Debug, Clone)]
pub struct VerifyProgress {
    /// The shard that is being compared.
    pub shard: ShardId,
    /// Files that were compared before it.
    pub files: u64,
}

impl Campaign {
    /// Has both ends read every file that was copied, and compares their digests.
    ///
    /// # Errors
    /// When the campaign cannot be read, the other end does not answer, or the lists cannot be
    /// written.
    pub fn verify(
        &self,
        options: &RunOptions,
        cancel: &Cancel,
        on_progress: &mut dyn FnMut(&VerifyProgress),
    ) -> Result<Verified, Error> {
        self.check_host(options.host.as_deref())?;
        let mut verifying = Verifying::new();
        let rows = self.folder.shards()?;
        verifying.whole = whole_files(self, &rows)?;
        for row in rows {
            if cancel.is_cancelled() {
                return Err(Error::cancelled("ended before all was compared"));
            }
            let files = verifying.found.equal;
            let shard = row.shard.clone();
            on_progress(&VerifyProgress { shard, files });
            verifying.shard(self, &row, options, cancel)?;
        }
        verifying.finish(self)
    }
}

/// What a comparison came to for one shard.
struct Compared {
    /// Names that were noted as done.
    noted: u64,
    different: Vec<Failed>,
}

/// A file that is copied in parts: the plan, the group, the name.
type Parted = (u32, String, Vec<u8>);

struct Verifying {
    found: Verified,
    /// Files in parts of which all are copied, and those of them that differ. Both are known once
    /// the first part was looked at.
    whole: BTreeSet<Parted>,
    parted_different: BTreeSet<Parted>,
    /// Of each group: the digest of each file.
    digests: BTreeMap<String, BTreeMap<Vec<u8>, blake3::Hash>>,
}

impl Verifying {
    fn new() -> Self {
        Verifying {
            found: Verified {
                equal: 0,
                bytes: Bytes::ZERO,
                different: Vec::new(),
                other_digest: Vec::new(),
                not_copied: 0,
                without_content: 0,
                at: now(),
                lists: Vec::new(),
                list_digests: Vec::new(),
            },
            whole: BTreeSet::new(),
            parted_different: BTreeSet::new(),
            digests: BTreeMap::new(),
        }
    }

    fn shard(
        &mut self,
        campaign: &Campaign,
        row: &ShardRow,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let run = ShardRun::of(&campaign.folder, row)?;
        let compared = self.compare(campaign, row, &run, options, cancel)?;
        // A shard that is being run keeps its own account.
        let _lock = match run.lock() {
            Err(StoreError::Busy { .. }) => return Ok(()),
            lock => lock?,
        };
        let lacks_notes = match run.result()? {
            Some(result) => compared.noted < result.done,
            None => false,
        };
        match compared.different.is_empty() && !lacks_notes {
            true => Ok(()),
            false => Ok(run.refute(&compared.different)?),
        }
    }

    fn compare(
        &mut self,
        campaign: &Campaign,
        row: &ShardRow,
        run: &ShardRun,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Compared, Error> {
        let superseded = run.superseded()?;
        let done = run.noted()?;
        let mut compared = Compared {
            noted: done.len() as u64,
            different: Vec::new(),
        };
        let current: Vec<Entry> = done
            .into_values()
            .filter(|entry| !superseded.contains(&entry.name))
            .collect();
        let counted = row.names.saturating_sub(current.len() as u64);
        self.found.not_copied += counted.saturating_sub(superseded_in(run, &superseded)?);
        let (files, others): (Vec<_>, Vec<_>) = current
            .into_iter()
            .partition(|entry| matches!(entry.kind, Kind::File(_)));
        self.found.without_content += others.len() as u64;
        let files = self.first_parts(&row.shard, files, &mut compared);
        if files.is_empty() {
            return Ok(compared);
        }
        let (plan, now) = (campaign.plan_of(row)?, campaign.current()?);
        let link = campaign.link(&now, &plan, row)?;
        let group = campaign.group(row)?;
        let ends = places::ends(
            &plan,
            &group,
            options.host.as_deref(),
            places::any_turn(),
            options.patience,
        )?;
        for batch in batches(files, &ends.here) {
            let request = comparison(&ends, &link, &batch)?;
            let mut heard = Heard::default();
            let control = CopyControl::from(cancel);
            let mut patience = Patience::new(options.patience);
            while let Err(error) = transfer::copy(&request.spec, &control, &mut heard) {
                if passing_cause(&error).is_none() || !patience.wait(|| control.is_stopped()) {
                    return Err(error.into());
                }
                heard = Heard::default();
            }
            let different = self.take(&row.shard, &ends, batch, &heard)?;
            compared.different.extend(different);
        }
        Ok(compared)
    }

    /// Of files in parts, the first one stands for all of them, once all are copied. What it came
    /// to holds for the others, so that all are copied again.
    fn first_parts(
        &self,
        shard: &ShardId,
        files: Vec<Entry>,
        compared: &mut Compared,
    ) -> Vec<Entry> {
        let (parts, mut files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|entry| entry.part.is_some());
        for entry in parts {
            let file = parted(shard, &entry);
            let is_first = entry.part.is_some_and(|part| part.index == 0);
            if is_first && self.whole.contains(&file) {
                files.push(entry);
            } else if self.parted_different.contains(&file) {
                let fate = self.differs();
                compared.different.push(Failed { entry, fate });
            }
        }
        files
    }

    fn take(
        &mut self,
        shard: &ShardId,
        ends: &Ends,
        batch: Vec<Entry>,
        heard: &Heard,
    ) -> Result<Vec<Failed>, Error> {
        let group = shard.group.to_string();
        let mut different = Vec::new();
        for entry in batch {
            let name = format!("{group}/{}", shown(&entry.name));
            if !heard.equal.contains(&entry.name) {
                self.found.different.push(name);
                if entry.part.is_some() {
                    self.parted_different.insert(parted(shard, &entry));
                }
                let fate = self.differs();
                different.push(Failed { entry, fate });
                continue;
            }
            let digest = digest_of(ends, &entry)?;
            if entry
                .digest
                .is_some_and(|known| digest.is_some_and(|digest| digest != known))
            {
                self.found.other_digest.push(name);
            }
            self.found.equal += 1;
            self.found.bytes += Bytes::new(match entry.kind {
                Kind::File(bytes) => bytes,
                Kind::Link(_) | Kind::Folder => 0,
            });
            let of_group = self.digests.entry(group.clone()).or_default();
            if let Some(digest) = digest {
                of_group.insert(entry.name, digest);
            }
        }
        Ok(different)
    }

    fn differs(&self) -> Fate {
        let at = jiff::Timestamp::from_second(self.found.at).unwrap_or_default();
        Fate {
            cause: ProblemKind::Corrupt,
            what: format!(
                "both ends differ, or one has no such file (compared {})",
                at.strftime("%F %H:%MZ")
            ),
            hint: Some("`trunkline campaign retry` has it copied again".to_owned()),
        }
    }

    fn finish(mut self, campaign: &Campaign) -> Result<Verified, Error> {
        let folder = campaign.folder.verified()?;
        for (group, digests) in &self.digests {
            let file = folder.join(format!("{group}.b3"));
            let written = write_list(&file, digests);
            let digest = written.map_err(|error| unwritable(&file, error))?;
            self.found.lists.push(file);
            self.found.list_digests.push(digest);
        }
        let report = serde_json::to_vec_pretty(&self.found).unwrap_or_default();
        replace(&folder.join("report.json"), &report)?;
        Ok(self.found)
    }
}

fn parted(shard: &ShardId, entry: &Entry) -> Parted {
    (shard.plan, shard.group.to_string(), entry.name.clone())
}

/// Files of which each part is noted as copied. A part is alone in its shard.
fn whole_files(campaign: &Campaign, rows: &[ShardRow]) -> Result<BTreeSet<Parted>, Error> {
    let mut noted: BTreeMap<Parted, u64> = BTreeMap::new();
    let mut whole = BTreeSet::new();
    for row in rows.iter().filter(|row| row.names == 1) {
        for entry in ShardRun::of(&campaign.folder, row)?.noted()?.into_values() {
            let (Some(part), Kind::File(bytes)) = (entry.part, &entry.kind) else {
                continue;
            };
            let file = parted(&row.shard, &entry);
            let count = noted.entry(file.clone()).or_default();
            *count += 1;
            if *count == bytes.div_ceil(part.length) {
                whole.insert(file);
            }
        }
    }
    Ok(whole)
}

fn superseded_in(run: &ShardRun, superseded: &BTreeSet<Vec<u8>>) -> Result<u64, Error> {
    if superseded.is_empty() {
        return Ok(0);
    }
    let planned = run.planned()?;
    let is_superseded = |entry: &&Entry| superseded.contains(&entry.name);
    Ok(planned.iter().filter(is_superseded).count() as u64)
}

/// Names that the comparison said are the same.
#[derive(Default)]
struct Heard {
    equal: BTreeSet<Vec<u8>>,
}

impl CopyObserver for Heard {
    fn on_event(&mut self, event: &CopyEvent) {
        if let CopyEvent::Skipped { name, .. } = event {
            self.equal.insert(name.as_bytes().to_vec());
        }
    }
}

/// Digest of the local file; else the digest from the copy, `None` of a file that was skipped.
fn digest_of(ends: &Ends, entry: &Entry) -> Result<Option<blake3::Hash>, Error> {
    let Some(folder) = ends.here.folder() else {
        return Ok(entry.digest.map(blake3::Hash::from_bytes));
    };
    let path = folder.join(std::ffi::OsStr::from_bytes(&entry.name));
    let digest = hash(&path).map_err(|error| Error::unreadable(&path, error))?;
    Ok(Some(digest))
}

fn hash(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize())
}

/// As `b3sum` writes it: names with a backslash or a line break are escaped, behind a backslash at
/// the beginning of the line.
fn write_list(path: &Path, digests: &BTreeMap<Vec<u8>, blake3::Hash>) -> io::Result<String> {
    let mut text = BufWriter::new(tempfile::NamedTempFile::new_in(
        path.parent().unwrap_or(Path::new(".")),
    )?);
    let mut hasher = blake3::Hasher::new();
    for (name, digest) in digests {
        let line = line(digest.as_bytes(), name);
        hasher.update(&line);
        text.write_all(&line)?;
    }
    let file = text.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(hasher.finalize().to_hex().to_string())
}
