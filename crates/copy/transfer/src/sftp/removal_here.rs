//! The end of a download with `--delete`: what the sources do not have is removed here.
//!
//! A listing may lack names without a word of it: OpenSSH's server leaves out what it may not look
//! at, and ends where the disk fails. So what would go is asked for at the far end first, and
//! stays unless the server says that there is nothing of that name.

use std::collections::BTreeMap;

use copy_protocol::sftp::{Reply, Request};
use copy_protocol::{CopyOptions, FileProblem, Problem, is_reserved};
use files::store::{Gone, Removal, Store};
use files::{Rules, shown};

use super::failure::{refused, stays};
use super::far_name::join;
use super::talk::{Halt, Talk, is_missing};
use crate::copy_stats::CopyStats;

/// Names that are asked for together.
const TOGETHER: usize = 256;

/// The folders of the sources, and their names at the far end: several sources may have one.
#[derive(Debug, Default)]
pub(super) struct Folders(BTreeMap<Vec<u8>, Vec<Vec<u8>>>);

impl Folders {
    pub fn add(&mut self, name: &[u8], path: &[u8]) {
        let paths = self.0.entry(name.to_vec()).or_default();
        paths.push(path.to_vec());
    }

    /// The outermost part of a name that lies in a folder of the sources and is none itself, and
    /// what it would be called at the far end.
    fn outermost(&self, name: &[u8]) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
        let slashes = name.iter().enumerate().rev();
        let slashes = slashes.filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| (&name[..at], &name[at + 1..]));
        let found = above.find_map(|(folder, rest)| Some((folder, rest, self.0.get(folder)?)));
        let top = || Some((&name[..0], name, self.0.get(&name[..0])?));
        let (folder, rest, paths) = found.or_else(top)?;
        let last = rest.split(|byte| *byte == b'/').next()?;
        let paths = paths.iter().map(|path| join(path, last)).collect();
        Some((join(folder, last), paths))
    }
}

/// Removes what the sources lack, or says what would be removed.
pub(super) fn remove(
    talk: &mut Talk,
    folders: &Folders,
    store: &Store,
    options: &CopyOptions,
    stats: &mut CopyStats<'_>,
) -> Result<(), Halt> {
    let mut kept = match stats.spared() {
        Ok(kept) => kept,
        Err(problem) => {
            stats.on_left_out(problem);
            return Ok(());
        }
    };
    let rules = Rules::new(&options.selection.rules)?;
    let mut found = store.would_remove(rules.clone(), kept.clone());
    let mut asked = BTreeMap::new();
    while let Some(gone) = some(store, &mut found, stats)? {
        asked.extend(gone.iter().filter_map(|one| match one {
            Gone::Removed(removed) => folders.outermost(removed.name.as_bytes()),
            Gone::Stays(_) => None,
        }));
    }
    for (name, trouble) in there(talk, &asked)? {
        if kept.insert(shown(&name)) {
            stats.on_left_out(FileProblem::new(shown(&name), trouble));
        }
    }
    let mut removal = store.removal(rules, kept);
    while let Some(gone) = some(store, &mut removal, stats)? {
        for one in gone {
            match one {
                Gone::Removed(removed) => stats.on_removed(&removed),
                Gone::Stays(problem) => stats.on_left_out(problem),
            }
        }
    }
    Ok(())
}

fn some(
    store: &Store,
    removal: &mut Removal,
    stats: &CopyStats<'_>,
) -> Result<Option<Vec<Gone>>, Halt> {
    match stats.is_stopped() {
        true => Err(Halt::Stopped),
        false => Ok(store.remove_some(removal)),
    }
}

/// Those that are at the far end all the same, or may be. Temporary names are of copies to here.
fn there(
    talk: &mut Talk,
    asked: &BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
) -> Result<Vec<(Vec<u8>, Problem)>, Halt> {
    let paths = asked
        .iter()
        .filter(|(name, _)| !name.rsplit(|byte| *byte == b'/').take(1).any(is_reserved))
        .flat_map(|(name, paths)| paths.iter().map(move |path| (name, path)));
    let paths: Vec<(&Vec<u8>, &Vec<u8>)> = paths.collect();
    let mut there = Vec::new();
    for some in paths.chunks(TOGETHER) {
        let looks = some.iter().map(|(_, path)| Request::LStat(path));
        let replies = talk.ask_all(&looks.collect::<Vec<_>>())?;
        for ((name, path), reply) in some.iter().zip(replies) {
            let trouble = match reply {
                reply if is_missing(&reply) => continue,
                Reply::Stat(_) => unlisted(path),
                reply => refused("look at", path, &reply),
            };
            there.push(((*name).clone(), trouble));
        }
    }
    Ok(there)
}

fn unlisted(path: &[u8]) -> Problem {
    let what = format!(
        "`{}` is at the far end, whose listing lacked it: what has its name here is not removed",
        shown(path)
    );
    let hint = "give the same command again; where it stays so, look at the disk of that host";
    stays(what, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_asked_for_below_the_innermost_folder_of_the_sources() {
        let mut folders = Folders::default();
        folders.add(b"run", b"/data/run");
        folders.add(b"run/raw", b"/data/run/raw");
        let table: [(&[u8], &[u8], &[u8]); 3] = [
            (b"run/old", b"run/old", b"/data/run/old"),
            (b"run/old/x/y", b"run/old", b"/data/run/old"),
            (b"run/raw/a", b"run/raw/a", b"/data/run/raw/a"),
        ];
        for (name, asked, path) in table {
            let expected = (asked.to_vec(), vec![path.to_vec()]);
            assert_eq!(folders.outermost(name), Some(expected));
        }
        assert_eq!(folders.outermost(b"other"), None);
        folders.add(b"", b".");
        let expected = (b"other".to_vec(), vec![b"other".to_vec()]);
        assert_eq!(folders.outermost(b"other/x"), Some(expected));
    }
}
