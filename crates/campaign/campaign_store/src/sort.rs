//! Sorts more entries than fit into memory: sorted runs on disk, then one merge.
//!
//! Knuth, The Art of Computer Programming 3, section 5.4.1.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::entry::{Entry, decode, encode, name_of};

/// Runs that are merged at once; each has a buffer of 64 KiB.
const RUNS_MAX: usize = 256;
const BUFFER: usize = 64 << 10;

/// Takes entries in any order.
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    prefix: String,
    records: Vec<u8>,
    /// Where each record begins behind its length.
    starts: Vec<u32>,
    most: usize,
    runs: Vec<PathBuf>,
}

impl Sorter {
    /// * `folder`: where runs are written; they are removed when they are merged.
    /// * `prefix`: tells runs of several sorters apart.
    /// * `most`: bytes of memory.
    pub fn new(folder: &Path, prefix: &str, most: usize) -> Self {
        Sorter {
            folder: folder.to_owned(),
            prefix: prefix.to_owned(),
            records: Vec::new(),
            starts: Vec::new(),
            most: most.clamp(64 << 10, u32::MAX as usize / 2),
            runs: Vec::new(),
        }
    }

    /// Takes one entry.
    ///
    /// # Errors
    /// When a run cannot be written.
    pub fn push(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let start = self.records.len() + 4;
        let failed = |error: postcard::Error| io::Error::other(error);
        let told = StoreError::file("sort names in", &self.folder);
        encode(entry, &mut self.records).map_err(|error| told(failed(error)))?;
        // `most` keeps all of it below four gigabytes.
        self.starts.push(start as u32);
        match self.records.len() + 4 * self.starts.len() > self.most {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// All runs; nothing is in memory any more.
    ///
    /// # Errors
    /// When the last run cannot be written.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, StoreError> {
        self.flush()?;
        Ok(self.runs)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.starts.is_empty() {
            return Ok(());
        }
        let records = &self.records;
        let name = |start: &u32| {
            let record = &records[*start as usize..];
            name_of(record).map(|(name, _)| name)
        };
        self.starts
            .sort_by(|one, other| name(one).cmp(&name(other)));
        let path = self
            .folder
            .join(format!("{}-{}.run", self.prefix, self.runs.len()));
        let written = write_run(&path, records, &self.starts);
        written.map_err(StoreError::file("write", &path))?;
        self.runs.push(path);
        self.records.clear();
        self.starts.clear();
        Ok(())
    }
}

fn write_run(path: &Path, records: &[u8], starts: &[u32]) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(BUFFER, File::create(path)?);
    for start in starts {
        let start = *start as usize;
        let length = records[start - 4..start].first_chunk::<4>();
        let length = u32::from_le_bytes(*length.unwrap_or(&[0; 4])) as usize;
        file.write_all(&records[start - 4..start + length])?;
    }
    file.flush()
}

/// Reads records one after the other.
pub(crate) struct Records<R> {
    file: R,
    path: PathBuf,
    record: Vec<u8>,
}

impl<R: Read> Records<R> {
    pub fn new(file: R, path: &Path) -> Self {
        Records {
            file,
            path: path.to_owned(),
            record: Vec::new(),
        }
    }

    pub fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        let mut length = [0; 4];
        let failed = |path: &Path| StoreError::file("read", path);
        match self.file.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(failed(&self.path)(error)),
        }
        self.record.resize(u32::from_le_bytes(length) as usize, 0);
        let read = self.file.read_exact(&mut self.record);
        read.map_err(failed(&self.path))?;
        let entry = decode(&self.record).ok_or(io::ErrorKind::InvalidData.into());
        entry.map(Some).map_err(failed(&self.path))
    }
}

type Run = Records<BufReader<File>>;

/// The entries of all runs in the order of the bytes of their names.
pub struct Sorted {
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<Head>>,
}

struct Head {
    entry: Entry,
    run: usize,
}

impl Head {
    fn key(&self) -> (&[u8], usize) {
        (&self.entry.name, self.run)
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Head {}
impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Sorted {
    /// Opens runs, and removes them: they are gone when this is dropped.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn open(mut paths: Vec<PathBuf>) -> Result<Self, StoreError> {
        let mut round = 0;
        while paths.len() > RUNS_MAX {
            let rest = paths.split_off(RUNS_MAX);
            let into = paths[0].with_extension(format!("merged-{round}"));
            merge_into(Sorted::of(&paths)?, &into)?;
            paths = rest;
            paths.push(into);
            round += 1;
        }
        Sorted::of(&paths)
    }

    fn of(paths: &[PathBuf]) -> Result<Self, StoreError> {
        let mut sorted = Sorted {
            runs: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for path in paths {
            let file = File::open(path).map_err(StoreError::file("read", path))?;
            fs::remove_file(path).map_err(StoreError::file("remove", path))?;
            let file = BufReader::with_capacity(BUFFER, file);
            sorted.runs.push(Records::new(file, path));
            sorted.refill(sorted.runs.len() - 1)?;
        }
        Ok(sorted)
    }

    fn refill(&mut self, run: usize) -> Result<(), StoreError> {
        if let Some(entry) = self.runs[run].next()? {
            self.heads.push(Reverse(Head { entry, run }));
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Entry>, StoreError> {
        let Some(mut top) = self.heads.peek_mut() else {
            return Ok(None);
        };
        let run = top.0.run;
        let entry = match self.runs[run].next()? {
            Some(next) => std::mem::replace(&mut top.0.entry, next),
            None => std::collections::binary_heap::PeekMut::pop(top).0.entry,
        };
        Ok(Some(entry))
    }
}

impl Iterator for Sorted {
    type Item = Result<Entry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

fn merge_into(sorted: Sorted, path: &Path) -> Result<(), StoreError> {
    let failed = || StoreError::file("write", path);
    let file = File::create(path).map_err(failed())?;
    let mut file = BufWriter::with_capacity(BUFFER, file);
    let mut record = Vec::new();
    for entry in sorted {
        record.clear();
        encode(&entry?, &mut record).map_err(|error| failed()(io::Error::other(error)))?;
        file.write_all(&record).map_err(failed())?;
    }
    file.flush().map_err(failed())
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::Kind;

    /// Smallest runs, of which there are more than are merged at once.
    #[test]
    fn entries_come_back_sorted_and_whole_from_any_number_of_runs() {
        for (seed, count) in [(1, 0), (2, 1), (3, 5_000), (4, 300_000)] {
            let folder = tempfile::tempdir().unwrap();
            let mut random = Pcg64Mcg::new(seed);
            let mut sorter = Sorter::new(folder.path(), "a", 0);
            let mut all = Vec::new();
            for at in 0..count {
                let length = random.next_u32() as usize % 40 + 1;
                let mut name = vec![0; length];
                random.fill_bytes(&mut name);
                name.extend_from_slice(&u32::to_be_bytes(at));
                let kind = match random.next_u32() % 3 {
                    0 => Kind::File(random.next_u64()),
                    1 => Kind::Link(vec![b'x'; random.next_u32() as usize % 200]),
                    _ => Kind::Folder,
                };
                let entry = Entry {
                    name,
                    kind,
                    modified_nanoseconds: random.next_u64() as i64,
                    digest: random.next_u32().is_multiple_of(2).then_some([7; 32]),
                    part: None,
                };
                sorter.push(&entry).unwrap();
                all.push(entry);
            }
            all.sort_by(|one, other| one.name.cmp(&other.name));
            let runs = sorter.finish().unwrap();
            assert_eq!(runs.len() > RUNS_MAX, count == 300_000, "seed {seed}");
            let sorted: Result<Vec<Entry>, _> = Sorted::open(runs).unwrap().collect();
            assert_eq!(sorted.unwrap(), all, "seed {seed}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
