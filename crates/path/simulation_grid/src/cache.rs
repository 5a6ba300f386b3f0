//! Finished runs in a folder.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use errors::{Fault, Hint};
use sim::Scenario;
use tempfile::{NamedTempFile, PersistError};
use thiserror::Error;

use super::{Ran, entry};

/// Digest of the sources that decide what a simulation shows; see `build.rs`.
pub const ENGINE: &str = env!("TRUNKLINE_ENGINE");

/// Where files are written before they get their names.
const NEW: &str = "new";
/// Digits of a run's name that name its folder: 256 folders, so that a campaign of 10,000 runs has
/// 40 files in each.
const PREFIX: usize = 2;
/// A file that has no name for longer than this is left over from a program that was killed.
/// Writing one takes milliseconds.
const LEFT_OVER: Duration = Duration::from_secs(3_600);

/// A folder of finished runs.
///
/// A run's file is named by the BLAKE3 digest of its scenario with its seed and of the simulator's
/// own sources: a scenario that differs anywhere, or another simulator, has another name. Each file
/// ends with a digest of itself; one that does not agree, or that belongs to another name, is as
/// good as absent. That holds for a file that a power failure has emptied, too, so none is flushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// A folder that cannot be used.
#[derive(Debug, Error)]
pub enum CacheError {
    /// It cannot be made.
    #[error("cannot make the folder {} for finished runs", folder.display())]
    Folder {
        /// Which one.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing can be written into it.
    #[error("cannot write into the folder {} of finished runs", folder.display())]
    Unwritable {
        /// Which one.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no place for it by default.
    #[error("there is no folder for finished runs: neither XDG_CACHE_HOME nor HOME is set")]
    Homeless,
}

impl Hint for CacheError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let hint = "name another folder with `--cache DIR`, or keep nothing with `--no-cache`";
        Some(hint.to_owned())
    }
}

impl Cache {
    /// The runs in `folder`, which is made if it does not exist.
    ///
    /// # Errors
    /// When it cannot be made or written into.
    pub fn open(folder: &Path) -> Result<Self, CacheError> {
        let new = folder.join(NEW);
        fs::create_dir_all(&new).map_err(|source| CacheError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
        // Better known now than after the first run. The file goes away by itself.
        NamedTempFile::new_in(&new).map_err(|source| CacheError::Unwritable {
            folder: folder.to_owned(),
            source,
        })?;
        remove_left_over(&new);
        Ok(Cache {
            folder: folder.to_owned(),
        })
    }

    /// The runs in the user's own folder: `$XDG_CACHE_HOME/trunkline/simulate`, or the same below
    /// `~/.cache` (XDG Base Directory Specification, which has relative names ignored).
    ///
    /// # Errors
    /// When it cannot be made or written into, or the user has none.
    pub fn open_default() -> Result<Self, CacheError> {
        let absolute = |name| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = || absolute("HOME").map(|home| home.join(".cache"));
        let caches = absolute("XDG_CACHE_HOME")
            .or_else(home)
            .ok_or(CacheError::Homeless)?;
        Cache::open(&caches.join("trunkline").join("simulate"))
    }

    /// The run of `scenario`, if it is there and whole.
    pub(super) fn load(&self, scenario: &Scenario) -> Option<Ran> {
        let name = name(scenario);
        let text = fs::read_to_string(self.file(&name)).ok()?;
        let (result, cpu) = entry::read(&text, &name)?;
        (result.seed == scenario.seed).then_some(Ran {
            result,
            cpu,
            cached: true,
        })
    }

    /// Keeps the run of `scenario`: the whole file appears at once, or nothing does.
    pub(super) fn store(&self, scenario: &Scenario, ran: &Ran) -> io::Result<()> {
        let name = name(scenario);
        let mut file = NamedTempFile::new_in(self.folder.join(NEW))?;
        file.write_all(entry::write(&ran.result, ran.cpu, &name)?.as_bytes())?;
        let place = self.file(&name);
        match file.persist(&place) {
            Err(PersistError { error, file }) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(self.folder_of(&name))?;
                file.persist(&place)?;
            }
            kept => drop(kept?),
        }
        Ok(())
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join(&name[..PREFIX])
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder_of(name).join(format!("{name}.run"))
    }
}

/// Removes what programs that were killed have left in `new`, as far as that goes.
fn remove_left_over(new: &Path) {
    let is_old = |file: &fs::DirEntry| {
        let age = file.metadata().and_then(|about| about.modified());
        age.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > LEFT_OVER))
    };
    for file in fs::read_dir(new).into_iter().flatten().flatten() {
        if is_old(&file) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// The name of the run of `scenario`. Its derived text has every field of it, numbers in full.
fn name(scenario: &Scenario) -> String {
    let text = format!("{}\n{ENGINE}\n{scenario:?}\n", entry::FORM);
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made_up, scenario};
    use super::*;

    fn kept() -> (tempfile::TempDir, Cache, Ran) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("a/b")).unwrap();
        let ran = Ran {
            result: made_up(&scenario()),
            cpu: units::Span::from_millis(12),
            cached: false,
        };
        cache.store(&scenario(), &ran).unwrap();
        (folder, cache, ran)
    }

    fn only_file(cache: &Cache) -> PathBuf {
        let folders = fs::read_dir(&cache.folder).unwrap();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        let [file] = &files[..] else {
            panic!("one run, one file: {files:?}");
        };
        file.clone()
    }

    #[test]
    fn a_run_comes_back_and_says_that_it_was_kept() {
        let (_folder, cache, ran) = kept();
        let back = cache.load(&scenario()).unwrap();
        assert_eq!(
            back,
            Ran {
                cached: true,
                ..ran
            }
        );
    }

    #[test]
    fn anything_that_differs_is_another_run() {
        let (_folder, cache, _) = kept();
        let mut others = vec![scenario(); 5];
        others[0].seed += 1;
        others[1].streams += 1;
        others[2].tcp.ecn = true;
        others[3].path.forward.delay += units::Span::from_nanos(1);
        others[4].path.forward.loss = netpath::Loss::Random { rate: 1e-300 };
        for other in others {
            assert_eq!(cache.load(&other), None);
        }
    }

    #[test]
    fn a_file_that_was_changed_cut_or_swapped_is_not_trusted() {
        let (_folder, cache, _) = kept();
        let file = only_file(&cache);
        let whole = fs::read_to_string(&file).unwrap();
        for end in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&file, &whole[..end]).unwrap();
            assert_eq!(cache.load(&scenario()), None, "cut at {end}");
        }
        for (place, _) in whole.match_indices(|c: char| c.is_ascii_digit()) {
            let mut changed = whole.clone().into_bytes();
            changed[place] = if changed[place] == b'7' { b'8' } else { b'7' };
            fs::write(&file, changed).unwrap();
            assert_eq!(cache.load(&scenario()), None, "changed at {place}");
        }
        let mut other = scenario();
        other.streams += 1;
        fs::write(&file, &whole).unwrap();
        let place = cache.file(&name(&other));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::rename(&file, place).unwrap();
        assert_eq!(cache.load(&other), None);
    }

    #[test]
    fn what_a_killed_program_left_goes_away_and_what_is_being_written_stays() {
        let (folder, cache, _) = kept();
        let new = cache.folder.join(NEW);
        let old = fs::File::create(new.join("old")).unwrap();
        let hours = std::time::SystemTime::now() - LEFT_OVER * 2;
        old.set_modified(hours).unwrap();
        fs::write(new.join("young"), "").unwrap();
        let again = Cache::open(&folder.path().join("a/b")).unwrap();
        assert!(!new.join("old").exists() && new.join("young").exists());
        assert!(again.load(&scenario()).is_some());
    }

    #[test]
    fn runs_spread_over_folders() {
        let (_folder, cache, ran) = kept();
        let seeded = |seed| Scenario { seed, ..scenario() };
        for seed in 1..=64 {
            cache.store(&seeded(seed), &ran).unwrap();
            let file = cache.file(&name(&seeded(seed)));
            assert!(file.is_file(), "{}", file.display());
        }
        let folders = fs::read_dir(&cache.folder).unwrap().count();
        assert!((20..=65).contains(&folders), "{folders}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("taken");
        fs::write(&file, "").unwrap();
        let error = Cache::open(&file.join("below")).unwrap_err();
        assert!(error.to_string().contains("taken/below"), "{error}");
        assert!(error.hint().unwrap().contains("--no-cache"));
    }
}
