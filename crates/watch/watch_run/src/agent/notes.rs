//! Notes of the visits that run, one file each, so that one that is cut off is known.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use changes::{Failure, UnixTime, Visit, VisitKind};
use serde::{Deserialize, Serialize};
use watch_store::{Name, Pair, StoredVisit, VisitId};

/// What is known of a visit before it has a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub id: VisitId,
    pub at: UnixTime,
    pub kind: VisitKind,
    pub task: Name,
    pub pair: Pair,
}

/// The folder of the notes.
#[derive(Debug)]
pub(crate) struct Notes(PathBuf);

impl Notes {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let folder = folder.join("running");
        fs::create_dir_all(&folder)?;
        Ok(Notes(folder))
    }

    fn file(&self, id: VisitId) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }

    /// Writes a note. A visit without one is made all the same: only its failure would not be told.
    pub fn write(&self, note: &Note) -> io::Result<()> {
        let json = serde_json::to_vec(note)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        io::Write::write_all(&mut file, &json)?;
        file.persist(self.file(note.id))?;
        Ok(())
    }

    /// The visit has a result that is on the disk.
    pub fn remove(&self, id: VisitId) {
        // One that stays is told as a visit with a known identity, which is refused.
        let _ = fs::remove_file(self.file(id));
    }

    /// The notes that are there. What is none is removed: a file that a kill cut off.
    pub fn all(&self) -> Vec<Note> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut notes: Vec<Note> = Vec::new();
        for entry in entries {
            let file = entry.path();
            let note = fs::read(&file).ok();
            match note.and_then(|json| serde_json::from_slice(&json).ok()) {
                Some(note) => notes.push(note),
                None => drop(fs::remove_file(file)),
            }
        }
        notes.sort_by_key(|note| (note.at, note.id));
        notes
    }
}

impl Note {
    /// The visit as one without a result.
    pub fn failed(self, reason: &str) -> StoredVisit {
        let mut visit = Visit::new(self.at, self.kind);
        visit.failure = Some(Failure {
            reason: reason.to_owned(),
        });
        StoredVisit {
            id: self.id,
            pair: self.pair,
            task: self.task,
            visit,
            rates: None,
            document: None,
        }
    }
}
