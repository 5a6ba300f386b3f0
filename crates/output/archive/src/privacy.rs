//! The archive names hosts and files: only its owner may read it.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bits that let others than the owner do anything.
const OTHERS: u32 = 0o077;
/// Of a folder that is made, and of one of ours that is mended.
const FOLDER: u32 = 0o700;
/// Of the file.
const FILE: u32 = 0o600;
/// What SQLite keeps beside the file, with the file's own permissions when it makes them.
const BESIDE: [&str; 2] = ["-wal", "-shm"];
/// The folder that trunkline makes below `~/.local/state`.
const OURS: &str = "trunkline";

/// Makes the folder and those that it is in. One of ours that others may look into is mended; any
/// other that is there already stays as its owner has it.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER)
        .create(folder)?;
    if folder.file_name().is_some_and(|name| name == OURS) {
        mend(folder, FOLDER);
    }
    Ok(())
}

/// Makes an empty file, which is an empty archive, unless there is one.
pub(super) fn make_file(path: &Path) {
    let mut new = OpenOptions::new();
    // What goes wrong here goes wrong again, and with better words, where SQLite opens it.
    let _ = new.write(true).create_new(true).mode(FILE).open(path);
}

/// Takes the file, and what lies beside it, from others. In a file of another user that is
/// not possible, and no reason to leave a result out.
pub(super) fn mend_file(path: &Path) {
    mend(path, FILE);
    for ending in BESIDE {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        mend(&PathBuf::from(name), FILE);
    }
}

fn mend(path: &Path, mode: u32) {
    let found = fs::metadata(path).map(|found| found.permissions().mode());
    if found.is_ok_and(|found| found & OTHERS != 0) {
        let _ = fs::set_permissions(path, Permissions::from_mode(mode));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Archive;
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_archive_is_for_its_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state/trunkline");
        let file = folder.join("archive.sqlite");
        let _open = Archive::open(&file).unwrap();
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        for found in fs::read_dir(&folder).unwrap() {
            assert_eq!(mode(&found.unwrap().path()) & OTHERS, 0);
        }
    }

    #[test]
    fn an_older_archive_is_mended_and_a_foreign_folder_is_not() {
        let place = tempfile::tempdir().unwrap();
        for (name, expected) in [("trunkline", 0o700), ("shared", 0o755)] {
            let folder = place.path().join(name);
            let file = folder.join("archive.sqlite");
            drop(Archive::open(&file).unwrap());
            fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
            drop(Archive::open(&file).unwrap());
            assert_eq!((mode(&folder), mode(&file)), (expected, 0o600), "{name}");
            fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
            drop(Archive::open_existing(&file).unwrap());
            assert_eq!(mode(&file), 0o600);
        }
    }
}
