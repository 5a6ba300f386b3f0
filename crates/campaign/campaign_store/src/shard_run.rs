//! What becomes of a shard.
//!
//! `result.json` appears when all of its names were tried. Until then, `done-so-far.ndjson` has
//! those that arrived, a line each as it happens; its last line may be cut.
//!
//! A file of a run that cannot be read counts as one that is not there: the shard is run again, and
//! what is at the destination is not sent again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use copy_protocol::ProblemKind;
use nix::fcntl::Flock;
use serde::{Deserialize, Serialize};

use crate::folder::{is_locked, lock, own_folder, replace};
use crate::line::{Fate, Line, Manifest, ManifestWriter};
use crate::{CampaignFolder, Entry, ShardId, ShardRow, StoreError, appended};

/// A name that is at the destination.
pub type Done = Entry;

/// A name that is not, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// As it was planned.
    pub entry: Entry,
    /// Why.
    pub fate: Fate,
}

/// How a shard ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardResult {
    /// Which.
    pub shard: ShardId,
    /// The link that it went over.
    pub link: campaign_plan::LinkName,
    /// Names that are at the destination.
    pub done: u64,
    /// Names that a later plan has otherwise, or no more.
    pub superseded: u64,
    /// Names that are not there; `failed.ndjson` has them.
    pub failed: u64,
    /// The same by the kind of cause.
    pub causes: Vec<(ProblemKind, u64)>,
    /// Bytes of the files that are there.
    pub bytes: u64,
    /// Bytes that went over the network for it, in all runs that ended.
    pub sent: u64,
    /// Of these, bytes that were sent twice.
    pub sent_again: u64,
    /// When its last run began and ended, in seconds since 1970.
    pub began: i64,
    /// The same.
    pub ended: i64,
    /// Runs that ended with a result.
    pub rounds: u32,
    /// BLAKE3 of `done.ndjson`.
    pub done_digest: String,
}

/// A shard, of which at most one process runs.
#[derive(Debug)]
pub struct ShardRun {
    folder: PathBuf,
    row: ShardRow,
    manifest: PathBuf,
    later: Vec<PathBuf>,
}

/// That this process runs the shard.
#[derive(Debug)]
pub struct RunLock {
    _lock: Flock<File>,
}

impl ShardRun {
    /// The runs of a shard.
    ///
    /// # Errors
    /// When the campaign cannot be read.
    pub fn of(campaign: &CampaignFolder, row: &ShardRow) -> Result<Self, StoreError> {
        let shard = &row.shard;
        let later = campaign
            .plans()?
            .into_iter()
            .filter(|plan| *plan > shard.plan);
        let superseded = format!("{}.superseded.ndjson", shard.group);
        Ok(ShardRun {
            folder: campaign.run(shard),
            row: row.clone(),
            manifest: campaign.manifest(shard),
            later: later
                .map(|plan| campaign.plan(plan).join(&superseded))
                .collect(),
        })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Becomes the one that runs it.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another process does.
    pub fn lock(&self) -> Result<RunLock, StoreError> {
        own_folder(&self.folder)?;
        let what = format!("shard `{}` is being run", self.row.shard);
        let lock = lock(&self.file("lock"), &what)?;
        Ok(RunLock { _lock: lock })
    }

    /// Whether a process runs it.
    pub fn is_running(&self) -> bool {
        is_locked(&self.file("lock"))
    }

    /// How it ended last; `None` where it did not, is to be tried again, or where the result is
    /// [damaged](ShardRun::damage). What failed and is now a later plan's matter did not fail.
    ///
    /// # Errors
    /// When the result is there and may not be read, or a later plan cannot be read.
    pub fn result(&self) -> Result<Option<ShardResult>, StoreError> {
        let written = self.written()?;
        let is_open = |result: &ShardResult| result.failed > 0 && !self.later.is_empty();
        match written {
            Some(result) if is_open(&result) => self.without_superseded(result).map(Some),
            written => Ok(written),
        }
    }

    fn written(&self) -> Result<Option<ShardResult>, StoreError> {
        read_json(&self.file("result.json"))
    }

    fn without_superseded(&self, result: ShardResult) -> Result<ShardResult, StoreError> {
        let superseded = self.superseded()?;
        let is_later = |one: &Failed| superseded.contains(&one.entry.name);
        let (later, left): (Vec<_>, Vec<_>) = self.failed()?.into_iter().partition(is_later);
        Ok(match later.len() as u64 {
            0 => result,
            later => ShardResult {
                failed: result.failed.saturating_sub(later),
                superseded: result.superseded + later,
                causes: causes(&left),
                ..result
            },
        })
    }

    /// What is wrong with the result, where it is there and none.
    pub fn damage(&self) -> Option<String> {
        let file = self.file("result.json");
        let is_damaged = file.exists() && matches!(self.written(), Ok(None));
        is_damaged.then(|| format!("{} is damaged", file.display()))
    }

    /// All names of the manifest.
    ///
    /// # Errors
    /// When it cannot be read, or is not the one that was planned.
    pub fn planned(&self) -> Result<Vec<Entry>, StoreError> {
        let mut manifest = Manifest::open(&self.manifest)?;
        let mut entries = Vec::new();
        while let Some((entry, _)) = manifest.read()? {
            entries.push(entry);
        }
        match manifest.digest() == self.row.digest {
            true => Ok(entries),
            false => Err(StoreError::Changed {
                path: self.manifest.clone(),
                why: format!(
                    "its BLAKE3 is {}, not {}",
                    manifest.digest(),
                    self.row.digest
                ),
            }),
        }
    }

    /// The names that a later plan has otherwise, or no more.
    ///
    /// # Errors
    /// When a later plan cannot be read.
    pub fn superseded(&self) -> Result<std::collections::BTreeSet<Vec<u8>>, StoreError> {
        let mut names = std::collections::BTreeSet::new();
        for file in &self.later {
            for line in crate::folder::read_lines::<Line>(file)? {
                let entry = line.entry().map_err(|why| StoreError::line(file, 0, why))?;
                names.insert(entry.name);
            }
        }
        Ok(names)
    }

    /// What is at the destination by what earlier runs noted.
    ///
    /// # Errors
    /// When a note cannot be read.
    pub fn noted(&self) -> Result<BTreeMap<Vec<u8>, Done>, StoreError> {
        let mut noted = BTreeMap::new();
        for (entry, _) in readable(&self.file("done.ndjson"))? {
            noted.insert(entry.name.clone(), entry);
        }
        noted.extend(so_far(&self.file("done-so-far.ndjson"))?);
        Ok(noted)
    }

    /// What failed at last.
    ///
    /// # Errors
    /// When the manifest of it cannot be read.
    pub fn failed(&self) -> Result<Vec<Failed>, StoreError> {
        let lines = readable(&self.file("failed.ndjson"))?;
        let failed = lines.into_iter().filter_map(|(entry, fate)| {
            let fate = fate?;
            Some(Failed { entry, fate })
        });
        Ok(failed.collect())
    }

    /// Notes what arrives while it runs.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn notes(&self) -> Result<Notes, StoreError> {
        let path = self.file("done-so-far.ndjson");
        Ok(Notes {
            file: BufWriter::new(appended::open(&path)?),
            path,
        })
    }

    /// Writes down how it ended; the result last, since it says that the others are whole.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(
        &self,
        done: &BTreeMap<Vec<u8>, Done>,
        failed: &[Failed],
        result: impl FnOnce(String) -> ShardResult,
    ) -> Result<ShardResult, StoreError> {
        let done = done.values().map(|entry| Line::of(entry, None));
        let digest = self.write_manifest("done.ndjson", done)?;
        let failed = failed
            .iter()
            .map(|one| Line::of(&one.entry, Some(one.fate.clone())));
        self.write_manifest("failed.ndjson", failed)?;
        let result = result(digest);
        write_json(&self.file("result.json"), &result)?;
        remove_file(&self.file("earlier.json"))?;
        remove_file(&self.file("done-so-far.ndjson"))?;
        remove_file(&self.file("progress.json"))?;
        remove_file(&self.file("unfinished.json"))?;
        Ok(result)
    }

    /// Names that were found otherwise at the destination become failures of the result, which
    /// [`reopen`](ShardRun::reopen) has tried again. Where names are missing from the notes, all of
    /// the shard is looked at again.
    ///
    /// # Errors
    /// When the result cannot be read or written.
    pub fn refute(&self, different: &[Failed]) -> Result<(), StoreError> {
        let Some(before) = self.written()? else {
            return Ok(());
        };
        let mut done = self.noted()?;
        if (done.len() as u64) < before.done {
            return self.reopen();
        }
        for one in different {
            done.remove(&one.entry.name);
        }
        let mut failed = self.failed()?;
        failed.extend_from_slice(different);
        self.finish(&done, &failed, |done_digest| ShardResult {
            done: done.len() as u64,
            failed: failed.len() as u64,
            causes: causes(&failed),
            bytes: done.values().map(Entry::bytes).sum(),
            done_digest,
            ..before
        })?;
        Ok(())
    }

    /// Why its last run ended before all was tried, for `status`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_unfinished<T: Serialize>(&self, why: &T) -> Result<(), StoreError> {
        write_json(&self.file("unfinished.json"), why)
    }

    /// What was [noted](ShardRun::note_unfinished) last.
    ///
    /// # Errors
    /// When it is there and may not be read.
    pub fn unfinished<T: for<'a> Deserialize<'a>>(&self) -> Result<Option<T>, StoreError> {
        read_json(&self.file("unfinished.json"))
    }

    fn write_manifest(
        &self,
        name: &str,
        lines: impl Iterator<Item = Line>,
    ) -> Result<String, StoreError> {
        let new = self.file(&format!(".{name}.new"));
        remove_file(&new)?;
        let mut writer = ManifestWriter::create(&new, &self.row.shard)?;
        for line in lines {
            writer.push(&line)?;
        }
        let (digest, file) = writer.finish()?;
        let file_name = self.file(name);
        let put = file.sync_data().and_then(|()| fs::rename(&new, &file_name));
        put.map_err(StoreError::file("write", &file_name))?;
        Ok(digest)
    }

    /// Has the next run try what failed.
    ///
    /// # Errors
    /// When the result cannot be set aside.
    pub fn reopen(&self) -> Result<(), StoreError> {
        let result = self.file("result.json");
        let aside = fs::rename(&result, self.file("earlier.json"));
        aside.map_err(StoreError::file("write", &result))
    }

    /// How it ended before it was opened again.
    ///
    /// # Errors
    /// When the result cannot be read.
    pub fn earlier(&self) -> Result<Option<ShardResult>, StoreError> {
        read_json(&self.file("earlier.json"))
    }

    /// Tells how far it is, for `status`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tell<T: Serialize>(&self, progress: &T) -> Result<(), StoreError> {
        write_json(&self.file("progress.json"), progress)
    }

    /// How far it is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn told<T: for<'a> Deserialize<'a>>(&self) -> Result<Option<T>, StoreError> {
        read_json(&self.file("progress.json"))
    }
}

/// Appends names as they arrive.
#[derive(Debug)]
pub struct Notes {
    file: BufWriter<File>,
    path: PathBuf,
}

impl Notes {
    /// A name arrived.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn push(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(&Line::of(entry, None)).unwrap_or_default();
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written.map_err(StoreError::file("write", &self.path))
    }

    /// Hands all notes to the system: a killed process loses none of them.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.file
            .flush()
            .map_err(StoreError::file("write", &self.path))
    }
}

/// Notes of a run that did not end. The file of a line that was cut is looked at again.
fn so_far(path: &Path) -> Result<BTreeMap<Vec<u8>, Done>, StoreError> {
    let mut noted = BTreeMap::new();
    appended::read(path, |line: Line| {
        if let Ok(entry) = line.entry() {
            noted.insert(entry.name.clone(), entry);
        }
    })?;
    Ok(noted)
}

/// Failures by the kind of their cause, in the order of the first of each.
pub fn causes(failed: &[Failed]) -> Vec<(ProblemKind, u64)> {
    let mut causes: Vec<(ProblemKind, u64)> = Vec::new();
    for one in failed {
        let cause = one.fate.cause;
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, count)) => *count += 1,
            None => causes.push((cause, 1)),
        }
    }
    causes
}

/// The lines of a manifest as far as it is whole; none where it is not there.
fn readable(path: &Path) -> Result<Vec<(Entry, Option<Fate>)>, StoreError> {
    let manifest = match Manifest::open(path) {
        Err(StoreError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        Err(StoreError::Line { .. }) => return Ok(Vec::new()),
        manifest => manifest?,
    };
    Ok(manifest.map_while(Result::ok).collect())
}

/// What a file says; `None` where it is not there, or says nothing that can be understood.
fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>, StoreError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => {
            let text = text.map_err(StoreError::file("read", path))?;
            Ok(serde_json::from_slice(&text).ok())
        }
    }
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    let text = serde_json::to_vec(value).map_err(io::Error::from);
    let mut text = text.map_err(StoreError::file("write", path))?;
    text.push(b'\n');
    replace(path, &text)
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}
