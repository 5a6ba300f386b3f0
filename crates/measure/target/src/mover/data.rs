//! Test data at this end: a file that takes no room on the disk, in a folder that goes away.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use movers::Local;
use observe::Setting;
use sockets::random;
use units::Bytes;

/// Names of our folders begin so.
const PREFIX: &str = "trunkline-test-";
/// Locked as long as its folder is needed.
const LOCK: &str = "lock";

/// A folder with test data, until dropped.
#[derive(Debug)]
pub(super) struct TestData {
    folder: PathBuf,
    local: Local,
    // Its lock goes with it.
    _lock: File,
}

impl TestData {
    /// Makes a file of `size` and, for programs that send several, one for each stream; removes
    /// what killed processes of ours have left.
    pub(super) fn make(size: Bytes, setting: &Setting) -> io::Result<Self> {
        let place = std::env::temp_dir();
        sweep(&place);
        let folder = place.join(format!("{PREFIX}{:016x}", random::number()?));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let made = fill(&folder, size, setting);
        if made.is_err() {
            let _ = fs::remove_dir_all(&folder);
        }
        let (local, lock) = made?;
        Ok(TestData {
            folder,
            local,
            _lock: lock,
        })
    }

    /// Where everything is.
    pub(super) fn local(&self) -> &Local {
        &self.local
    }
}

impl Drop for TestData {
    fn drop(&mut self) {
        // What cannot be removed now goes with the next run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn fill(folder: &Path, size: Bytes, setting: &Setting) -> io::Result<(Local, File)> {
    let lock = File::create(folder.join(LOCK))?;
    lock.try_lock().map_err(io::Error::from)?;
    let (file, several) = (folder.join("data"), folder.join("files"));
    File::create(&file)?.set_len(size.get())?;
    fs::create_dir(&several)?;
    for number in 0..setting.streams.get() {
        fs::hard_link(&file, several.join(format!("{number}")))?;
    }
    let name = |path: PathBuf| {
        let name = path.into_os_string().into_string();
        name.map_err(|_| io::Error::other("the folder's name is not UTF-8"))
    };
    let local = Local {
        file: name(file)?,
        folder: name(several)?,
        sink: name(folder.join("sink"))?,
        size,
    };
    Ok((local, lock))
}

/// Removes folders of ours whose process is gone: their lock is free.
fn sweep(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries {
        let is_ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && is_abandoned(&entry.path()) {
            // Another process may be at it as well.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Of this user, and not a link to somewhere else.
fn is_abandoned(folder: &Path) -> bool {
    let own = fs::symlink_metadata(folder)
        .is_ok_and(|found| found.is_dir() && found.uid() == nix::unistd::geteuid().as_raw());
    own && File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{StreamCount, Window};

    #[test]
    fn data_takes_no_room_and_goes_away() {
        let setting = Setting::new(StreamCount::new(3).unwrap(), Window::Auto);
        let data = TestData::make(Bytes::new(100_000_000_000), &setting).unwrap();
        let file = fs::metadata(&data.local().file).unwrap();
        assert_eq!((file.len(), file.blocks()), (100_000_000_000, 0));
        assert_eq!(fs::read_dir(&data.local().folder).unwrap().count(), 3);
        let folder = data.folder.clone();
        sweep(&std::env::temp_dir());
        assert!(folder.exists(), "a folder in use was swept");
        drop(data);
        assert!(!folder.exists());
    }

    #[test]
    fn what_a_killed_process_left_is_swept() {
        let folder = std::env::temp_dir().join(format!("{PREFIX}left-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        sweep(&std::env::temp_dir());
        assert!(folder.exists(), "one without a lock may be just being made");
        fs::write(folder.join(LOCK), "").unwrap();
        sweep(&std::env::temp_dir());
        assert!(!folder.exists());
    }
}
