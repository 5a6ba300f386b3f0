//! Lists of checksums of what a copy has copied, beside the BLAKE3 by which both ends agree.
//!
//! A thread beside the copy reads the files of this end once more: what was sent or has arrived a
//! moment ago comes from the page cache. The same reading gives their BLAKE3. Where that is not
//! what both ends have, the file was changed since and stands in no list.

mod here;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, mem};

use copy_protocol::{CopyEvent, CopySpec, Name, NearEnd};
use errors::Fault;
use files::checksums::{Algorithm, digests, line};
use files::shown;
use transfer::{CopyControl, CopyObserver};
use units::Bytes;

use self::here::Here;
use crate::Error;

/// How soon a stop is noticed once all is copied.
const TICK: Duration = Duration::from_millis(50);
/// Shorter waits for the last files are not told.
const TOLD_AFTER: Duration = Duration::from_secs(1);

/// A list to be written, with a line for each file of a copy as `sha256sum` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecksumList {
    /// Which checksum.
    pub algorithm: Algorithm,
    /// The list.
    pub file: PathBuf,
}

/// Refuses what cannot be listed.
pub(super) fn check(lists: &[ChecksumList], spec: &CopySpec) -> Result<(), Error> {
    let Some(first) = lists.first() else {
        return Ok(());
    };
    let algorithm = first.algorithm;
    if matches!(spec.near, NearEnd::At(_)) {
        return Err(Error::wrong_request(
            format!(
                "a list of {algorithm} is made by reading the files at this host, and a copy \
                between two other hosts has none here"
            ),
            "start the copy at one of the two hosts",
        ));
    }
    if spec.options.dry_run {
        return Err(Error::wrong_request(
            format!("a dry run copies nothing, and a list of {algorithm} is of what was copied"),
            "leave out one of the two",
        ));
    }
    for (at, one) in lists.iter().enumerate() {
        let mut before = lists.iter().take(at);
        let clashes = |it: &&ChecksumList| it.algorithm == one.algorithm || it.file == one.file;
        if let Some(other) = before.find(clashes) {
            return Err(Error::wrong_request(
                format!(
                    "`{}={}` and `{}={}` are one checksum, or one file, twice",
                    other.algorithm,
                    other.file.display(),
                    one.algorithm,
                    one.file.display()
                ),
                "name each checksum once, each with a file of its own",
            ));
        }
    }
    Ok(())
}

/// A file that is to be read.
struct Job {
    name: Vec<u8>,
    bytes: u64,
    /// What both ends have; none of a file that was there already, or has further names.
    blake3: Option<[u8; 32]>,
    /// It may be a symbolic link, which has no checksum.
    may_be_link: bool,
}

/// What the files have.
#[derive(Default)]
struct Sums {
    /// By name, in the order of the lists.
    files: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    /// Why these are in no list.
    missing: BTreeMap<Vec<u8>, String>,
}

/// A file whose checksums are known.
struct Read {
    name: Vec<u8>,
    bytes: u64,
    /// In the order of the lists.
    digests: Vec<Vec<u8>>,
}

/// Reads files beside a copy, and writes the lists at its end.
pub(super) struct ListWriter {
    lists: Vec<ChecksumList>,
    jobs: Option<Sender<Job>>,
    /// What was read and not told yet.
    read: Receiver<Read>,
    /// Read once all is copied: what was there already, and names that are made at the end.
    later: BTreeMap<Vec<u8>, Job>,
    /// Bytes that wait to be read.
    left: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Sums>>,
}

impl ListWriter {
    /// Begins; places that cannot be written to are refused now.
    pub fn start(lists: &[ChecksumList], spec: &CopySpec) -> Result<Self, Error> {
        for list in lists {
            record::check_target(&list.file)?;
        }
        let here = Here::of(spec)?;
        let (jobs, taken) = channel();
        let (reads, read) = channel();
        let algorithms: Vec<Algorithm> = lists.iter().map(|list| list.algorithm).collect();
        let (left, is_over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let (counted, stop) = (Arc::clone(&left), Arc::clone(&is_over));
        let thread =
            thread::spawn(move || sums(&taken, &here, &algorithms, &reads, &counted, &stop));
        Ok(ListWriter {
            lists: lists.to_vec(),
            jobs: Some(jobs),
            read,
            later: BTreeMap::new(),
            left,
            is_over,
            thread: Some(thread),
        })
    }

    /// Takes note of files.
    pub fn on_event(&mut self, event: &CopyEvent) {
        let (name, bytes, blake3, may_be_link) = match event {
            CopyEvent::Published {
                name,
                bytes,
                digest,
                ..
            } => {
                let may_be_link = digest.is_none() && *bytes == Bytes::ZERO;
                (name, bytes.get(), *digest, may_be_link)
            }
            CopyEvent::Skipped { name, bytes, .. } => (name, bytes.get(), None, false),
            _ => return,
        };
        let name = name.as_bytes().to_vec();
        let job = Job {
            name: name.clone(),
            bytes,
            blake3,
            may_be_link,
        };
        match blake3 {
            Some(_) => {
                self.later.remove(&name);
                self.give(job);
            }
            None => drop(self.later.insert(name, job)),
        }
    }

    /// Tells of the checksums that were read meanwhile.
    pub fn tell(&self, observer: &mut dyn CopyObserver) {
        for read in self.read.try_iter() {
            let Ok(name) = Name::new(read.name) else {
                continue;
            };
            for (list, digest) in self.lists.iter().zip(&read.digests) {
                observer.on_event(&CopyEvent::Checksum {
                    name: name.clone(),
                    bytes: Bytes::new(read.bytes),
                    algorithm: list.algorithm.to_string(),
                    digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
                });
            }
        }
    }

    fn give(&self, job: Job) {
        self.left.fetch_add(job.bytes, Ordering::Relaxed);
        if let Some(jobs) = &self.jobs {
            // It takes them until it is told to end.
            let _ = jobs.send(job);
        }
    }

    /// Reads what is left, and writes the lists.
    ///
    /// # Errors
    /// When it was stopped, a list cannot be written, or a file is in none.
    pub fn finish(
        mut self,
        control: &CopyControl,
        observer: &mut dyn CopyObserver,
    ) -> Result<(), Error> {
        for job in mem::take(&mut self.later).into_values() {
            self.give(job);
        }
        self.jobs = None;
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        let begun = Instant::now();
        // A copy that follows its sources ends with a stop, which is not about the lists.
        let was_stopped = control.is_stopped();
        while !thread.is_finished() {
            self.tell(observer);
            if control.is_stopped() && !was_stopped {
                self.is_over.store(true, Ordering::Relaxed);
                let what = "all is copied, and its lists of checksums are not written";
                let hint = "the same command writes them, and sends nothing again";
                return Err(Error::cancelled(what).with_hint(hint));
            }
            if begun.elapsed() >= TOLD_AFTER {
                observer.on_checksums(Bytes::new(self.left.load(Ordering::Relaxed)));
            }
            thread::sleep(TICK);
        }
        let sums = thread.join().map_err(|_| {
            let what = "all is copied, but the thread that reads files for checksum lists failed";
            let hint = "the same command writes them, and sends nothing again";
            Error::sentence(Fault::Run, what, None).with_hint(hint)
        })?;
        self.tell(observer);
        self.write(&sums)?;
        unlisted(&sums.missing)
    }

    fn write(&self, sums: &Sums) -> Result<(), Error> {
        for (at, list) in self.lists.iter().enumerate() {
            let mut text = Vec::new();
            for (name, digests) in &sums.files {
                if let Some(digest) = digests.get(at) {
                    text.extend(line(digest, name));
                }
            }
            record::save(&list.file, &text)?;
        }
        Ok(())
    }
}

/// Its thread ends soon, wherever the copy ended.
impl Drop for ListWriter {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn unlisted(missing: &BTreeMap<Vec<u8>, String>) -> Result<(), Error> {
    let Some((name, why)) = missing.first_key_value() else {
        return Ok(());
    };
    let (name, count) = (shown(name), missing.len());
    let what = match count {
        1 => format!("`{name}` was copied and is in no list of checksums: {why}"),
        _ => format!(
            "{count} files were copied and are in no list of checksums, the first is `{name}`: \
            {why}"
        ),
    };
    let hint = "once nothing writes to it, the same command copies what differs and lists all";
    Err(Error::sentence(Fault::Run, what, None).with_hint(hint))
}

/// Reads files until there are no more.
fn sums(
    jobs: &Receiver<Job>,
    here: &Here,
    algorithms: &[Algorithm],
    reads: &Sender<Read>,
    left: &AtomicU64,
    is_over: &AtomicBool,
) -> Sums {
    let mut sums = Sums::default();
    while let Ok(job) = jobs.recv() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        match read(&job, here, algorithms, is_over) {
            Ok(Some((name, digests))) => {
                sums.missing.remove(&name);
                // They are told until the copy ends.
                let _ = reads.send(Read {
                    name: job.name,
                    bytes: job.bytes,
                    digests: digests.clone(),
                });
                sums.files.insert(name, digests);
            }
            Ok(None) => {}
            Err(why) => {
                sums.files.remove(&job.name);
                sums.missing.insert(job.name, why);
            }
        }
        left.fetch_sub(job.bytes, Ordering::Relaxed);
    }
    sums
}

/// A name, and the checksums that it has in the lists.
type Listed = (Vec<u8>, Vec<Vec<u8>>);

/// What a file has; `None` of a link, and once it is over.
fn read(
    job: &Job,
    here: &Here,
    algorithms: &[Algorithm],
    is_over: &AtomicBool,
) -> Result<Option<Listed>, String> {
    let mut why = "it is not here any more".to_owned();
    for path in here.paths(&job.name) {
        let file = Path::new(OsStr::from_bytes(&path));
        let is_link = || fs::symlink_metadata(file).is_ok_and(|it| it.is_symlink());
        if job.may_be_link && is_link() {
            return Ok(None);
        }
        match digests(&path, algorithms, &|| is_over.load(Ordering::Relaxed)) {
            Ok(None) => return Ok(None),
            Ok(Some(found)) => {
                let is_it = match job.blake3 {
                    Some(blake3) => blake3 == found.blake3,
                    None => found.bytes == job.bytes,
                };
                if is_it {
                    return Ok(Some((here.listed_as(&job.name), found.asked)));
                }
                why = "it has other content here than what was copied".to_owned();
            }
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_since_is_in_no_list() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), b"new").unwrap();
        fs::write(folder.path().join("b"), b"abc").unwrap();
        let here = Here::To(folder.path().as_os_str().as_bytes().to_vec());
        let (jobs, taken) = channel();
        for (name, content) in [("a", "old"), ("b", "abc"), ("c", "abc")] {
            let job = Job {
                name: name.into(),
                bytes: 3,
                blake3: Some(blake3::hash(content.as_bytes()).into()),
                may_be_link: false,
            };
            jobs.send(job).unwrap();
        }
        drop(jobs);
        let (left, is_over) = (AtomicU64::new(9), AtomicBool::new(false));
        let (reads, read) = channel();
        let found = sums(&taken, &here, &[Algorithm::Md5], &reads, &left, &is_over);
        let told: Vec<Read> = read.try_iter().collect();
        assert_eq!((told.len(), told[0].bytes), (1, 3));
        assert_eq!(told[0].name, b"b");
        assert_eq!(told[0].digests[0][..4], [0x90, 0x01, 0x50, 0x98]);
        assert_eq!(left.into_inner(), 0);
        let names: Vec<&[u8]> = found.files.keys().map(Vec::as_slice).collect();
        assert_eq!(names, [b"b"]);
        let told = unlisted(&found.missing).unwrap_err().to_string();
        assert!(
            told.contains("2 files were copied and are in no list"),
            "{told}"
        );
        assert!(told.contains("the first is `a`"), "{told}");
        assert!(told.contains("other content"), "{told}");
    }
}
