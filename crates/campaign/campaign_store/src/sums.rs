//! Checksums of what is at the destination, for the manifests of a bag.
//!
//! `sums.ndjson` of a run has a line for each file, as it was read. It is only appended to, and
//! outlives the end of the run; a line that a killed process cut counts as none, and of two of one
//! name the later one counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::line::Line;
use crate::{Entry, ShardRun, StoreError, appended};

/// A file with its checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summed {
    /// The file, with the BLAKE3 that the same reading gave.
    pub entry: Entry,
    /// In lower-case hexadecimal digits, by the names of the checksums.
    pub sums: BTreeMap<String, String>,
}

impl Summed {
    /// Whether it has the checksums of the file that was noted as done, and all that are asked for.
    pub fn serves(&self, done: &Entry, asked: &[String]) -> bool {
        let same_content = match (self.entry.digest, done.digest) {
            (Some(one), Some(two)) => one == two,
            _ => true,
        };
        same_content
            && self.entry.is_like(done)
            && asked.iter().all(|name| self.sums.contains_key(name))
    }
}

#[derive(Serialize, Deserialize)]
struct SumLine {
    file: Line,
    sums: BTreeMap<String, String>,
}

/// Appends checksums as files are read.
#[derive(Debug)]
pub struct SumNotes {
    file: File,
    path: PathBuf,
}

impl SumNotes {
    /// Hands the checksums of a file to the system: a killed process loses none of them.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn push(&mut self, summed: &Summed) -> Result<(), StoreError> {
        let line = SumLine {
            file: Line::of(&summed.entry, None),
            sums: summed.sums.clone(),
        };
        let mut line = serde_json::to_vec(&line).unwrap_or_default();
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written.map_err(StoreError::file("write", &self.path))
    }
}

impl ShardRun {
    /// The checksums that were noted, by name.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn sums(&self) -> Result<BTreeMap<Vec<u8>, Summed>, StoreError> {
        let path = self.folder().join("sums.ndjson");
        let mut noted = BTreeMap::new();
        appended::read(&path, |SumLine { file, sums }| {
            if let Ok(entry) = file.entry() {
                noted.insert(entry.name.clone(), Summed { entry, sums });
            }
        })?;
        Ok(noted)
    }

    /// Notes checksums while it runs.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn sum_notes(&self) -> Result<SumNotes, StoreError> {
        let path = self.folder().join("sums.ndjson");
        let file = appended::open(&path)?;
        Ok(SumNotes { file, path })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::make::tests::{Tree, make};
    use crate::{CampaignFolder, Kind};

    fn summed(name: &[u8], bytes: u64, sum: &str) -> Summed {
        let entry = Entry {
            name: name.to_vec(),
            kind: Kind::File(bytes),
            modified_nanoseconds: 5,
            digest: Some([7; 32]),
            part: None,
        };
        let sums = [("md5".to_owned(), sum.to_owned())].into();
        Summed { entry, sums }
    }

    #[test]
    fn a_kill_at_any_byte_loses_no_checksum_before_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = CampaignFolder::create(root.path()).unwrap();
        let tree: Tree = [(b"a".to_vec(), (3, 5))].into();
        make(&folder, &tree).unwrap();
        let run = ShardRun::of(&folder, &folder.shards().unwrap()[0]).unwrap();
        let _lock = run.lock().unwrap();
        assert!(run.sums().unwrap().is_empty());
        let files = [summed(b"a", 3, "01"), summed(b"b\xff\n", 4, "02")];
        let mut notes = run.sum_notes().unwrap();
        files.iter().for_each(|one| notes.push(one).unwrap());
        let file = run.folder().join("sums.ndjson");
        let whole = fs::read(&file).unwrap();
        let first = whole
            .iter()
            .skip(1)
            .position(|byte| *byte == b'\n')
            .unwrap()
            + 1;
        for cut in first..=whole.len() {
            fs::write(&file, &whole[..cut]).unwrap();
            // The next run ends the cut line, and notes the file once more.
            let mut notes = run.sum_notes().unwrap();
            notes.push(&summed(b"c", 9, "03")).unwrap();
            let found = run.sums().unwrap();
            assert_eq!(found.get(&b"a"[..]), Some(&files[0]), "cut at {cut}");
            assert!(found.contains_key(&b"c"[..]), "cut at {cut}");
            let is_there = found.get(&b"b\xff\n"[..]) == Some(&files[1]);
            assert_eq!(is_there, cut + 1 >= whole.len(), "cut at {cut}");
        }
        let mut notes = run.sum_notes().unwrap();
        notes.push(&summed(b"a", 3, "99")).unwrap();
        assert_eq!(
            run.sums().unwrap()[&b"a"[..]].sums["md5"],
            "99",
            "the later"
        );
    }

    #[test]
    fn checksums_serve_for_the_content_that_they_are_of() {
        let one = summed(b"a", 3, "01");
        let asked = ["md5".to_owned()];
        assert!(one.serves(&one.entry, &asked));
        assert!(!one.serves(&one.entry, &["md5".to_owned(), "sha1".to_owned()]));
        let told = |digest| Entry {
            digest,
            ..one.entry.clone()
        };
        assert!(one.serves(&told(None), &asked));
        assert!(!one.serves(&told(Some([8; 32])), &asked));
        assert!(!one.serves(&summed(b"a", 4, "01").entry, &asked));
    }
}
