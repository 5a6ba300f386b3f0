//! What the sources of an upload have, whose rest is removed at the far end.

use std::collections::{BTreeMap, BTreeSet};

use copy_protocol::sftp::Listed;
use copy_protocol::{Entry, Kind};

use super::far_name::join;

/// What they have.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub names: BTreeSet<Vec<u8>>,
    /// Their folders, and the names of those at the far end.
    pub folders: BTreeMap<Vec<u8>, Vec<u8>>,
    /// How many names each folder has.
    counts: BTreeMap<Vec<u8>, usize>,
}

impl Told {
    /// * `path`: its name at the far end.
    pub fn add(&mut self, entry: &Entry, path: Vec<u8>) {
        let name = entry.name.as_bytes();
        if entry.kind == Kind::Folder {
            self.folders.insert(name.to_vec(), path);
        }
        let end = name.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        if self.names.insert(name.to_vec()) && !name.is_empty() {
            *self.counts.entry(name[..end].to_vec()).or_default() += 1;
        }
    }

    /// Whether a folder of theirs is listed with all that they have in it.
    pub fn is_listed(&self, folder: &[u8], list: &[Listed]) -> bool {
        let is_told = |one: &&Listed| self.names.contains(&join(folder, &one.name));
        let wanted = self.counts.get(folder).copied().unwrap_or(0);
        list.iter().filter(is_told).count() >= wanted
    }

    /// They have nothing but empty folders: what was to be copied may not be mounted.
    pub fn is_empty(&self) -> bool {
        match self.folders.contains_key(&b""[..]) {
            true => self.names.len() == 1,
            false => {
                let is_deep = |name: &Vec<u8>| name.contains(&b'/');
                self.names.len() == self.folders.len() && !self.folders.keys().any(is_deep)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use copy_protocol::Name;
    use copy_protocol::sftp::Stat;

    use super::*;

    fn entry(name: &str, kind: Kind) -> Entry {
        Entry {
            name: Name::new(name.as_bytes().to_vec()).unwrap(),
            kind,
            mode: 0o755,
            modified_nanoseconds: 0,
            version: 0,
            is_sparse: false,
            digest: None,
        }
    }

    #[test]
    fn a_folder_that_lacks_what_was_copied_into_it_has_other_names() {
        let mut told = Told::default();
        for (name, kind) in [
            ("", Kind::Folder),
            ("Readme", Kind::File(1)),
            ("d", Kind::Folder),
            ("d/a", Kind::File(1)),
        ] {
            told.add(&entry(name, kind), name.as_bytes().to_vec());
        }
        let is_listed = |folder: &str, names: &[&str]| {
            let listed = |name: &&str| Listed {
                name: name.as_bytes().to_vec(),
                stat: Stat::default(),
            };
            let list: Vec<Listed> = names.iter().map(listed).collect();
            told.is_listed(folder.as_bytes(), &list)
        };
        assert!(is_listed("", &["Readme", "d", "old"]));
        assert!(!is_listed("", &["README", "d", "old"]));
        assert!(is_listed("d", &["a"]));
        assert!(!is_listed("d", &[]));
    }
}
