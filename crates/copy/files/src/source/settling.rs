//! Which files of a source are finished, where a copy goes on while they are written.
//!
//! No file system tells over a network that a file was closed. So a file counts as finished once
//! two looks, some seconds apart, find the same size and [version](super::version). A pass copies
//! those that are finished and no others; what could not be copied is tried again, after pauses
//! that double.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use copy_protocol::{Entry, Followed, Kind, Name, ProblemKind};
use nix::sys::stat::FileStat;

use super::look::Found;
use super::reader::version;

/// Looks between two tries of what could not be copied, as a power of two.
const PAUSE_MAX: u32 = 6;

/// What looks at a source have found; shared by a pass and by what follows it.
#[derive(Debug, Default)]
pub struct Settling {
    looks: Mutex<Looks>,
}

/// What the last look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Something was new, or other than at the look before.
    pub has_changed: bool,
    /// Something that no pass has tried to copy is finished.
    pub has_finished: bool,
    /// There is something for a pass to do.
    pub is_due: bool,
}

#[derive(Debug, Default)]
struct Looks {
    names: BTreeMap<Key, Seen>,
    /// How many looks there were.
    count: u64,
    /// Files that the present pass has copied.
    copied: BTreeSet<Key>,
    /// What could not be copied is tried again at this look.
    retry_at: u64,
    /// Passes in a row that left something.
    in_vain: u32,
}

/// Of a name; names of millions of files would take more room.
type Key = [u8; 16];

/// What a name looked like.
#[derive(Debug)]
struct Seen {
    version: u64,
    /// Of a file.
    bytes: Option<u64>,
    look: u64,
    standing: Standing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is new, or other than before.
    Changed,
    /// It is the same as before.
    Finished,
    /// A pass could not copy it.
    Left,
    Copied,
}

impl Settling {
    fn looks(&self) -> MutexGuard<'_, Looks> {
        // Each change is complete, even when another thread panicked.
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of all that a walk finds; `None` where `is_over` ended it. The first look is due
    /// for a pass in any case, which makes folders and links.
    pub fn look(
        &self,
        walk: impl Iterator<Item = Found>,
        is_over: &dyn Fn() -> bool,
    ) -> Option<Look> {
        let mut looks = self.looks();
        looks.count += 1;
        let mut has_changed = false;
        for found in walk {
            if is_over() {
                return None;
            }
            has_changed |= looks.see(&found);
        }
        let count = looks.count;
        looks.names.retain(|_, seen| seen.look == count);
        let has = |standing| looks.names.values().any(|seen| seen.standing == standing);
        let has_finished = has(Standing::Finished);
        let is_retried = count >= looks.retry_at && has(Standing::Left);
        Some(Look {
            has_changed,
            has_finished,
            is_due: has_finished || is_retried || count == 1,
        })
    }

    /// Whether a pass copies a file: it is finished, not copied yet, and still what the last look
    /// saw.
    pub(super) fn takes(&self, name: &[u8], stat: &FileStat) -> bool {
        let looks = self.looks();
        let seen = looks.names.get(&key(name, b""));
        seen.is_some_and(|seen| {
            let is_due = matches!(seen.standing, Standing::Finished | Standing::Left);
            is_due
                && seen.version == version(stat)
                && seen.bytes == u64::try_from(stat.st_size).ok()
        })
    }

    /// The present pass has copied a file, or found that it is there.
    pub fn copied(&self, name: &Name) {
        self.looks().copied.insert(key(name.as_bytes(), b""));
    }

    /// A pass is over. What it did not copy of what was finished is tried again later.
    pub fn end_pass(&self) {
        let mut looks = self.looks();
        let copied = std::mem::take(&mut looks.copied);
        let mut has_left = false;
        for (key, seen) in &mut looks.names {
            seen.standing = match (seen.bytes, seen.standing) {
                (Some(_), Standing::Changed) => Standing::Changed,
                (Some(_), Standing::Finished | Standing::Left) if !copied.contains(key) => {
                    has_left = true;
                    Standing::Left
                }
                _ => Standing::Copied,
            };
        }
        let before = looks.in_vain.min(PAUSE_MAX);
        looks.in_vain = if has_left { before + 1 } else { 0 };
        looks.retry_at = looks.count + (1 << before);
    }

    /// What is copied, and what waits. What could not be copied counts as neither.
    pub fn followed(&self) -> Followed {
        let looks = self.looks();
        let mut followed = Followed::default();
        for seen in looks.names.values() {
            match (seen.bytes, seen.standing) {
                (Some(bytes), Standing::Copied) => {
                    followed.files += 1;
                    followed.bytes = followed.bytes.saturating_add(bytes);
                }
                (Some(_), Standing::Changed | Standing::Finished) => followed.waiting += 1,
                _ => {}
            }
        }
        followed
    }

    /// Files that passes could not copy.
    pub fn left(&self) -> u64 {
        let looks = self.looks();
        let seen = looks.names.values();
        seen.filter(|seen| seen.standing == Standing::Left).count() as u64
    }
}

impl Looks {
    /// Whether it is new, or other than before.
    fn see(&mut self, found: &Found) -> bool {
        let (key, version, bytes) = match found {
            Found::Entry(entry, _) => looked_like(entry),
            // Temporary files of other copies come and go.
            Found::LeftOut(problem) if problem.kind == ProblemKind::Unfinished => return false,
            Found::LeftOut(problem) => (key(problem.name.as_bytes(), b"left out"), 0, None),
        };
        let look = self.count;
        let known = self.names.get_mut(&key);
        if let Some(seen) = known.filter(|seen| (seen.version, seen.bytes) == (version, bytes)) {
            seen.look = look;
            if seen.standing == Standing::Changed {
                seen.standing = Standing::Finished;
            }
            return false;
        }
        let seen = Seen {
            version,
            bytes,
            look,
            standing: Standing::Changed,
        };
        self.names.insert(key, seen);
        true
    }
}

/// A folder is the same for as long as it is there.
fn looked_like(entry: &Entry) -> (Key, u64, Option<u64>) {
    let (version, bytes) = match &entry.kind {
        Kind::File(bytes) => (entry.version, Some(*bytes)),
        Kind::Folder => (0, None),
        Kind::Link(_) => (entry.version, None),
    };
    (key(entry.name.as_bytes(), b""), version, bytes)
}

fn key(name: &[u8], kind: &[u8]) -> Key {
    let mut hasher = blake3::Hasher::new();
    // No name has a zero byte.
    hasher.update(name).update(&[0]).update(kind);
    let mut key = Key::default();
    hasher.finalize_xof().fill(&mut key);
    key
}

#[cfg(test)]
mod tests {
    use copy_protocol::{FileProblem, Problem};

    use super::*;

    fn file(name: &str, version: u64, bytes: u64) -> Found {
        let entry = Entry {
            name: Name::new(name.into()).unwrap(),
            kind: Kind::File(bytes),
            mode: 0o644,
            modified_nanoseconds: 0,
            version,
            is_sparse: false,
            digest: None,
        };
        Found::Entry(entry, None)
    }

    fn look(settling: &Settling, found: &[Found]) -> (bool, bool, bool) {
        let walk = found.iter().cloned();
        let look = settling.look(walk, &|| false).unwrap();
        (look.has_changed, look.has_finished, look.is_due)
    }

    fn copied(settling: &Settling, name: &str) {
        settling.copied(&Name::new(name.into()).unwrap());
    }

    fn followed(settling: &Settling) -> (u64, u64, u64) {
        let followed = settling.followed();
        (followed.files, followed.bytes, followed.waiting)
    }

    #[test]
    fn a_file_is_finished_once_two_looks_see_the_same() {
        let settling = Settling::default();
        let growing = |bytes| [file("a", 1, 10), file("b", bytes, bytes)];
        assert_eq!(look(&settling, &growing(5)), (true, false, true));
        settling.end_pass();
        assert_eq!(followed(&settling), (0, 0, 2), "nothing was finished");
        assert_eq!(look(&settling, &growing(6)), (true, true, true));
        copied(&settling, "a");
        settling.end_pass();
        assert_eq!(followed(&settling), (1, 10, 1));
        assert_eq!(look(&settling, &growing(6)), (false, true, true));
        copied(&settling, "b");
        settling.end_pass();
        assert_eq!(look(&settling, &growing(6)), (false, false, false));
        // It is written to once more, and another one is removed.
        assert_eq!(look(&settling, &[file("b", 7, 6)]), (true, false, false));
        assert_eq!(followed(&settling), (0, 0, 1));
    }

    #[test]
    fn what_cannot_be_copied_is_tried_again_ever_later() {
        let settling = Settling::default();
        let found = [file("a", 1, 10)];
        let mut tries = Vec::new();
        for count in 1..=300 {
            let (_, _, is_due) = look(&settling, &found);
            if is_due {
                tries.push(count);
                settling.end_pass();
            }
        }
        assert_eq!(tries, [1, 2, 3, 5, 9, 17, 33, 65, 129, 193, 257]);
        assert_eq!((followed(&settling), settling.left()), ((0, 0, 0), 1));
        // In a new version it is tried at once.
        let newer = [file("a", 2, 10)];
        assert_eq!(look(&settling, &newer), (true, false, false));
        assert_eq!(look(&settling, &newer), (false, true, true));
    }

    #[test]
    fn a_pass_takes_what_the_last_look_saw_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, "ten bytes!").unwrap();
        let stat = || nix::sys::stat::lstat(path.as_path()).unwrap();
        let settling = Settling::default();
        let found = [file("a", version(&stat()), 10)];
        look(&settling, &found);
        assert!(!settling.takes(b"a", &stat()), "it is new");
        look(&settling, &found);
        assert!(settling.takes(b"a", &stat()));
        assert!(!settling.takes(b"b", &stat()), "it was never seen");
        // Of the same size, and another file.
        std::fs::write(&other, "other ten!").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(!settling.takes(b"a", &stat()), "another version");
        look(&settling, &[file("a", version(&stat()), 10)]);
        look(&settling, &[file("a", version(&stat()), 10)]);
        assert!(settling.takes(b"a", &stat()));
    }

    #[test]
    fn what_has_no_content_is_told_once() {
        let settling = Settling::default();
        let problem = Problem {
            kind: ProblemKind::Permission,
            file: None,
            what: "not listed".to_owned(),
            hint: None,
        };
        let folder = Found::LeftOut(FileProblem::new("d/".to_owned(), problem));
        assert_eq!(look(&settling, &[]), (false, false, true));
        settling.end_pass();
        let found = [folder];
        assert_eq!(look(&settling, &found), (true, false, false));
        assert_eq!(look(&settling, &found), (false, true, true));
        settling.end_pass();
        assert_eq!(look(&settling, &found), (false, false, false));
        assert_eq!(followed(&settling), (0, 0, 0));
    }

    #[test]
    fn a_look_that_is_ended_forgets_nothing() {
        let settling = Settling::default();
        look(&settling, &[file("a", 1, 10)]);
        assert_eq!(settling.look([file("b", 1, 1)].into_iter(), &|| true), None);
        assert_eq!(followed(&settling), (0, 0, 1));
    }
}
