//! Checksums of the files of a bag, read at this end beside their copy.
//!
//! What was sent or has arrived a moment ago comes from the page cache. The same reading gives the
//! BLAKE3, which has to be the one that both ends of the copy have. What a kill or an error left
//! out is read before the shard is over.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use campaign_plan::Group;
use campaign_store::{Entry, Failed, Fate, Kind, ShardRun, StoreError, SumNotes, Summed};
use copy_protocol::ProblemKind;
use files::checksums::{Algorithm, digests};
use files::shown;

use super::changes;
use super::places::Here;
use trunkline::Error;

/// How soon a halt is noticed once all is copied.
const TICK: Duration = Duration::from_millis(50);

/// Reads the files of a group that is a bag.
#[derive(Debug, Clone)]
pub(super) struct SumReader {
    folder: PathBuf,
    is_source: bool,
    names: Vec<String>,
    algorithms: Vec<Algorithm>,
}

impl SumReader {
    /// That of a group; `None` of one that is no bag.
    ///
    /// # Errors
    /// When none of its ends is here.
    pub fn of(group: &Group, here: &Here) -> Result<Option<Self>, Error> {
        if group.bag.is_empty() {
            return Ok(None);
        }
        let Some(folder) = here.folder() else {
            return Err(Error::wrong_request(
                format!(
                    "group `{}` is a bag: its checksums are read at one of its two hosts, and this \
                    machine is neither",
                    group.name
                ),
                "run it there with `--host`, or leave `bag` out of the plan",
            ));
        };
        let known = group.bag.iter().filter_map(|name| {
            let algorithm = Algorithm::named(name)?;
            Some((name.clone(), algorithm))
        });
        let (names, algorithms) = known.unzip();
        Ok(Some(SumReader {
            folder: folder.to_owned(),
            is_source: matches!(here, Here::Source(_)),
            names,
            algorithms,
        }))
    }

    /// Reads a file; `None` when it was stopped, and of what is no file or only a part of one.
    ///
    /// # Errors
    /// Why it has no checksums.
    pub fn read(
        &self,
        entry: &Entry,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Summed>, Fate> {
        let (Kind::File(bytes), None) = (&entry.kind, entry.part) else {
            return Ok(None);
        };
        let path = self.folder.join(OsStr::from_bytes(&entry.name));
        let found = digests(path.as_os_str().as_bytes(), &self.algorithms, is_stopped);
        let found = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) => return Err(unread(&path, &error.to_string())),
        };
        let is_other = match entry.digest {
            Some(known) => known != found.blake3,
            // What was there already has none yet: size and time say that it is the same.
            None => changes::difference(&self.folder, entry).is_some(),
        };
        if found.bytes != *bytes || is_other {
            return Err(self.differs(entry));
        }
        let sums = self
            .names
            .iter()
            .cloned()
            .zip(found.asked.iter().map(|sum| hex(sum)));
        Ok(Some(Summed {
            entry: Entry {
                digest: Some(found.blake3),
                ..entry.clone()
            },
            sums: sums.collect(),
        }))
    }

    fn differs(&self, entry: &Entry) -> Fate {
        // Other content under the same size and time: the next try has to compare contents.
        let is_newer = self.is_source && changes::difference(&self.folder, entry).is_some();
        let (cause, hint) = match is_newer {
            true => (
                ProblemKind::SourceChanged,
                "once nothing writes to it, plan again and run",
            ),
            false => (
                ProblemKind::Corrupt,
                "once nothing writes to it, `trunkline campaign retry` and run",
            ),
        };
        Fate {
            cause,
            what: format!(
                "`{}` has other content now than what was copied, and no checksum for its bag",
                shown(&entry.name)
            ),
            hint: Some(hint.to_owned()),
        }
    }

    /// Reads what has no checksums yet. Returns what cannot have any; `None` when it was halted.
    ///
    /// # Errors
    /// When the notes cannot be read or written.
    pub fn complete<'a>(
        &self,
        run: &ShardRun,
        done: impl Iterator<Item = &'a Entry>,
        is_halted: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Failed>>, StoreError> {
        let noted = run.sums()?;
        let serves = |entry: &Entry| {
            let noted = noted.get(&entry.name);
            noted.is_some_and(|noted| noted.serves(entry, &self.names))
        };
        // Parts were planned before the bag was, and are read once their file is whole.
        let is_read = |entry: &&Entry| matches!(entry.kind, Kind::File(_)) && entry.part.is_none();
        let files = done.filter(is_read);
        let mut lacking = files.filter(|&entry| !serves(entry)).peekable();
        let mut failed = Vec::new();
        if lacking.peek().is_none() {
            return Ok(Some(failed));
        }
        let mut notes = run.sum_notes()?;
        for entry in lacking {
            match self.read(entry, is_halted) {
                Ok(Some(summed)) => notes.push(&summed)?,
                Ok(None) => return Ok(None),
                Err(fate) => failed.push(Failed {
                    entry: entry.clone(),
                    fate,
                }),
            }
        }
        Ok(Some(failed))
    }

    /// Begins to read beside a copy.
    pub fn beside(&self, notes: SumNotes) -> SumsBeside {
        let (jobs, taken) = channel();
        let is_over = Arc::<AtomicBool>::default();
        let (reader, stop) = (self.clone(), Arc::clone(&is_over));
        let thread = thread::spawn(move || reader.read_all(&taken, notes, &stop));
        SumsBeside {
            jobs: Some(jobs),
            is_over,
            thread: Some(thread),
        }
    }

    fn read_all(
        &self,
        jobs: &Receiver<Entry>,
        mut notes: SumNotes,
        stop: &AtomicBool,
    ) -> Result<(), StoreError> {
        let is_stopped = || stop.load(Ordering::Relaxed);
        while let Ok(entry) = jobs.recv() {
            if is_stopped() {
                break;
            }
            // What cannot be read is told before the shard is over.
            if let Ok(Some(summed)) = self.read(&entry, &is_stopped) {
                notes.push(&summed)?;
            }
        }
        Ok(())
    }
}

/// Refuses names that no bag holds.
///
/// # Errors
/// When a name is a symbolic link, or no UTF-8.
pub(super) fn check_names<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<(), Error> {
    for entry in entries {
        let why = match &entry.kind {
            Kind::Link(_) => "is a symbolic link, and a bag holds files alone",
            _ if std::str::from_utf8(&entry.name).is_err() => {
                "is no UTF-8, and the manifests of a bag are"
            }
            _ => continue,
        };
        return Err(Error::wrong_request(
            format!("`{}` {why}", shown(&entry.name)),
            "leave it out with `exclude` and plan again (into another folder, where it was copied \
             already), or leave `bag` out of the plan",
        ));
    }
    Ok(())
}

/// A checksum in lower-case hexadecimal digits.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unread(path: &Path, why: &str) -> Fate {
    Fate {
        cause: ProblemKind::Disk,
        what: format!(
            "cannot read {} for the checksums of its bag: {why}",
            path.display()
        ),
        hint: Some("make it readable here, and run the shard again".to_owned()),
    }
}

/// A thread that reads files as they are copied. It ends soon, wherever the copy ended.
pub(super) struct SumsBeside {
    jobs: Option<Sender<Entry>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl SumsBeside {
    /// A file was copied.
    pub fn give(&self, entry: &Entry) {
        if let Some(jobs) = &self.jobs {
            // One that ended has told why.
            let _ = jobs.send(entry.clone());
        }
    }

    /// Waits until all are read, or it is halted.
    ///
    /// # Errors
    /// When notes could not be written.
    pub fn finish(mut self, is_halted: &dyn Fn() -> bool) -> Result<(), StoreError> {
        self.jobs = None;
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        while !thread.is_finished() {
            if is_halted() {
                self.is_over.store(true, Ordering::Relaxed);
            }
            thread::sleep(TICK);
        }
        // What a thread that failed has left out is read before the shard is over.
        thread.join().unwrap_or(Ok(()))
    }
}

impl Drop for SumsBeside {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, bytes: u64, content: Option<&[u8]>) -> Entry {
        Entry {
            name: name.into(),
            kind: Kind::File(bytes),
            modified_nanoseconds: 0,
            digest: content.map(|content| *blake3::hash(content).as_bytes()),
            part: None,
        }
    }

    #[test]
    fn a_file_has_checksums_while_it_is_what_was_copied() {
        let folder = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a"), b"abc").unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        let reader = SumReader {
            folder: folder.path().to_owned(),
            is_source: true,
            names: vec!["md5".to_owned()],
            algorithms: vec![Algorithm::Md5],
        };
        let read = |entry: Entry| reader.read(&entry, &|| false);
        let summed = read(entry("a", 3, Some(b"abc"))).unwrap().unwrap();
        assert_eq!(summed.sums["md5"], "900150983cd24fb0d6963f7d28e17f72");
        assert!(read(entry("a", 3, None)).unwrap().is_some());
        let changed = || read(entry("a", 3, Some(b"old"))).unwrap_err().cause;
        assert_eq!(changed(), ProblemKind::Corrupt, "of the same time");
        assert!(read(entry("a", 4, None)).is_err());
        file.set_modified(std::time::SystemTime::now()).unwrap();
        assert_eq!(changed(), ProblemKind::SourceChanged);
        assert!(read(entry("a", 3, None)).is_err(), "written to since");
        assert!(read(entry("a", 3, Some(b"abc"))).unwrap().is_some());
        assert!(read(entry("b", 3, None)).is_err());
    }

    #[test]
    fn names_that_no_bag_holds_are_refused_by_name() {
        let link = Entry {
            kind: Kind::Link(b"a".to_vec()),
            ..entry("run/link", 0, None)
        };
        let told = check_names(&[entry("a", 0, None), link]).unwrap_err();
        assert!(told.what().contains("`run/link` is a symbolic link"));
        let bytes = Entry {
            name: vec![255],
            ..entry("", 0, None)
        };
        assert!(check_names(&[bytes]).is_err());
        assert!(check_names(&[entry("ü", 0, None)]).is_ok());
    }
}
