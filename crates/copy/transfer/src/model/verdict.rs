//! What must be true after a try that nothing disturbs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use copy_protocol::{Filter, Kind};

use super::talk::Told;
use super::world::{Content, There, World};

/// What is to become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It gets this content.
    Copied,
    /// What stands under its name stays.
    Kept,
    /// It cannot be copied, and what stands under its name stays.
    Refused,
    /// Something stands where notes belong; whether they are needed depends on how it is cut.
    CopiedOrRefused,
}

/// By the number of the original.
pub(super) type Fates = Vec<Fate>;

impl World {
    /// What the next try is to come to, given what is there.
    pub fn expected(&mut self) -> Fates {
        (0..self.originals.len())
            .map(|number| self.fate(number))
            .collect()
    }

    fn fate(&self, number: usize) -> Fate {
        let file = &self.originals[number];
        let place = self.place_of(&file.name);
        let filter = self.options.filter;
        match &file.before {
            There::Other => return Fate::Refused,
            There::File(_) | There::Link(_) if filter == Filter::Missing => return Fate::Kept,
            There::File(content) if filter == Filter::Changed => {
                let stat = fs::symlink_metadata(&place).unwrap();
                let wanted = file.modified.duration_since(UNIX_EPOCH).unwrap();
                let is_same_second = stat.mtime() as u64 == wanted.as_secs();
                let rest = stat.mtime_nsec() as u32;
                let is_same = is_same_second && (rest == wanted.subsec_nanos() || rest == 0);
                if is_same && content.size == file.content.size {
                    return Fate::Kept;
                }
            }
            _ => {}
        }
        if self.beside(&file.name, "part").is_dir() {
            return Fate::Refused;
        }
        match self.beside(&file.name, "journal").is_dir() && file.content.size > 65_536 {
            true => Fate::CopiedOrRefused,
            false => Fate::Copied,
        }
    }

    /// Compares what is there with what had to become of it.
    pub fn judge(&mut self, fates: &Fates, told: &Told) {
        let before: Vec<There> = self
            .originals
            .iter()
            .map(|file| file.before.clone())
            .collect();
        self.check_names();
        for (number, fate) in fates.iter().enumerate() {
            let was_refused = self.was_refused(number, told);
            let name = &self.originals[number].name;
            let is_copied = match fate {
                Fate::Copied => true,
                Fate::Kept | Fate::Refused => false,
                Fate::CopiedOrRefused => was_refused.is_none(),
            };
            let may_be_refused = matches!(fate, Fate::Refused | Fate::CopiedOrRefused);
            assert!(
                was_refused.is_some() == may_be_refused || *fate == Fate::CopiedOrRefused,
                "{name} should be {fate:?}: {was_refused:?}"
            );
            match is_copied {
                true => self.check_copied(number, told),
                false => {
                    let now = &self.originals[number].before;
                    assert_eq!(*now, before[number], "{name} should be {fate:?}");
                }
            }
        }
        self.check_links();
        self.check_nothing_else(fates);
    }

    fn was_refused(&self, number: usize, told: &Told) -> Option<String> {
        let name = &self.originals[number].name;
        let is_it = |id: &u32| told.entries[*id as usize].name.to_string() == *name;
        let failed = told.failed.iter().find(|(id, _)| is_it(id));
        failed.map(|(_, problem)| problem.what.clone())
    }

    fn check_copied(&mut self, number: usize, told: &Told) {
        let (content, digest) = {
            let content = self.originals[number].content;
            (content, self.digest(content))
        };
        let file = &self.originals[number];
        assert_eq!(file.before, There::File(content), "{}", file.name);
        let id = told
            .entries
            .iter()
            .position(|entry| entry.name.to_string() == file.name);
        let published = told.published.get(&(id.unwrap() as u32));
        assert_eq!(published, Some(&digest), "the digest of {}", file.name);
        let stat = fs::symlink_metadata(self.place_of(&file.name)).unwrap();
        if self.options.attributes.times {
            assert_eq!(stat.modified().unwrap(), file.modified, "{}", file.name);
        }
        if self.options.attributes.permissions {
            assert_eq!(
                stat.permissions().mode() & 0o777,
                file.mode,
                "{}",
                file.name
            );
        }
    }

    fn check_links(&self) {
        // What they point to is copied instead, where there is such a thing.
        if !self.options.attributes.links {
            return;
        }
        for (name, text) in &self.links {
            let there = fs::read_link(self.to.join(name)).unwrap();
            assert_eq!(there, PathBuf::from(text), "{name}");
        }
    }

    /// What is there beside files, links and folders of the source and what others put there:
    /// nothing.
    fn check_nothing_else(&self, fates: &Fates) {
        let mut names = BTreeSet::new();
        list(&self.to, &mut names);
        for path in &names {
            let is_ours = self.foreign.contains_key(path)
                || self.is_wanted(path)
                || self.is_excused(path, fates);
            assert!(is_ours, "{} is left", path.display());
        }
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.to).unwrap();
        let is_one = self.options.is_one && below == Path::new("one");
        is_one || self.from.join(below).symlink_metadata().is_ok()
    }

    /// Beside files that are refused, and beside small ones that are there, nothing is looked for;
    /// folders are not removed.
    fn is_excused(&self, path: &Path, fates: &Fates) -> bool {
        self.originals.iter().zip(fates).any(|(file, fate)| {
            let names = ["part", "journal"].map(|ending| self.beside(&file.name, ending));
            // Without the lock of the part nothing is removed.
            let cannot_lock = names[0].is_dir();
            let is_small = file.content.size <= 65_536;
            let is_unswept = match fate {
                Fate::Copied => false,
                Fate::Kept => is_small || cannot_lock,
                Fate::Refused | Fate::CopiedOrRefused => true,
            };
            names
                .iter()
                .any(|name| name == path && (is_unswept || path.is_dir()))
        })
    }

    /// Where everything was there, nothing is sent.
    pub fn check_nothing_sent(&self, fates: &Fates, told: &Told) {
        let may_all = self.options.filter == Filter::Changed && self.options.attributes.times
            || self.options.filter == Filter::Missing;
        let is_kept = |fate: &Fate| *fate == Fate::Kept;
        let has_followed_links = !self.options.attributes.links && !self.links.is_empty();
        if may_all && !has_followed_links && fates.iter().all(is_kept) {
            assert_eq!(told.sent, 0, "everything was there");
        }
        let sizes: BTreeMap<_, Content> = BTreeMap::from_iter(
            self.originals
                .iter()
                .map(|file| (file.name.clone(), file.content)),
        );
        for entry in &told.entries {
            if let (Kind::File(size), Some(content)) =
                (&entry.kind, sizes.get(&entry.name.to_string()))
            {
                assert_eq!(*size, content.size as u64);
            }
        }
    }
}

fn list(folder: &Path, names: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            list(&path, names);
        }
        names.insert(path);
    }
}
