//! Folders at the far end.

use std::collections::BTreeSet;

use copy_protocol::sftp::{FarKind, Request, Stat};
use copy_protocol::{Entry, Problem};
use units::Bytes;

use super::super::failure::refused;
use super::super::far_name::seconds;
use super::super::talk::{Halt, is_ok};
use super::{Numbered, Planner, Target, above, in_the_way};

impl Planner<'_, '_> {
    /// Makes those that are not there, and notes what they get at the end. Returns the names of
    /// those that cannot be had, with all that is in them.
    pub(super) fn make_folders(&mut self, folders: &[Numbered]) -> Result<BTreeSet<Vec<u8>>, Halt> {
        let mut lost = BTreeSet::new();
        let looks = self.look(folders)?;
        let mut to_make: Vec<(&Entry, Vec<u8>)> = Vec::new();
        for ((_, entry), look) in folders.iter().zip(looks) {
            let path = self.path(entry);
            let kind = look.map(|stat| stat.kind().unwrap_or(FarKind::Folder));
            match kind {
                _ if entry.name.is_empty() => self.note_folder(entry, path, look.as_ref()),
                Some(FarKind::Folder) => self.note_folder(entry, path, look.as_ref()),
                Some(kind) => {
                    let problem = in_the_way(&path, kind, "a folder");
                    self.lose(entry, problem, &mut lost);
                }
                None => to_make.push((entry, path)),
            }
        }
        if self.options.dry_run {
            for (entry, _) in &to_make {
                self.made.insert(entry.name.as_bytes().to_vec());
                self.stats.on_would_copy(entry, Bytes::ZERO);
            }
            return Ok(lost);
        }
        let requests: Vec<_> = to_make
            .iter()
            .map(|(entry, path)| {
                let mode = Some(entry.mode & 0o777 | 0o700);
                let stat = Stat {
                    mode,
                    ..Stat::default()
                };
                Request::MakeFolder(path, stat)
            })
            .collect();
        let replies = self.talk.ask_all(&requests)?;
        drop(requests);
        for ((entry, path), reply) in to_make.into_iter().zip(replies) {
            match is_ok(&reply) {
                true => {
                    self.made.insert(entry.name.as_bytes().to_vec());
                    self.stats.on_published(entry, None);
                    self.note_folder(entry, path, None);
                }
                false => self.lose(entry, refused("make", &path, &reply), &mut lost),
            }
        }
        Ok(lost)
    }

    /// A folder cannot be had, and so nothing that is in it.
    fn lose(&mut self, entry: &Entry, problem: Problem, lost: &mut BTreeSet<Vec<u8>>) {
        match above(entry).is_some_and(|folder| lost.contains(folder)) {
            true => self.follows(entry),
            false => self.stats.on_failed(Some(entry), problem),
        }
        lost.insert(entry.name.as_bytes().to_vec());
    }

    /// What a folder gets once all is in it.
    fn note_folder(&mut self, entry: &Entry, path: Vec<u8>, there: Option<&Stat>) {
        if self.options.dry_run || self.target == Target::Nowhere {
            return;
        }
        let attributes = &self.options.attributes;
        let old = there.and_then(|stat| stat.mode).unwrap_or(0o755);
        let mode = match entry.name.is_empty() {
            // The user's own destination is not opened to others for writing because the source
            // is.
            true => entry.mode & 0o777 & !(0o022 & !old),
            false => entry.mode & 0o1777,
        };
        let modified = seconds(entry);
        let stat = Stat {
            size: None,
            mode: attributes.permissions.then_some(mode | old & 0o6000),
            times: attributes.times.then_some((modified, modified)),
        };
        let name = format!("{}/", entry.name);
        self.plan.folders.push((name, path, stat));
    }
}
