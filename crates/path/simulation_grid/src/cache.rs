//! Finished runs in a folder.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use sim::Scenario;
use tempfile::NamedTempFile;
use thiserror::Error;

use super::{Ran, entry};

/// Digest of the sources that decide what a simulation shows; see `build.rs`.
pub const ENGINE: &str = env!("TRUNKLINE_ENGINE");

/// A folder of finished runs.
///
/// A run's file is named by the BLAKE3 digest of its scenario with its seed and of the simulator's
/// own sources: a scenario that differs anywhere, or another simulator, has another name. Each file
/// ends with a digest of itself; one that does not agree, or that belongs to another name, is as
/// good as absent.
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
        fs::create_dir_all(folder).map_err(|source| CacheError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
        // Better known now than after the first run. The file goes away by itself.
        NamedTempFile::new_in(folder).map_err(|source| CacheError::Unwritable {
            folder: folder.to_owned(),
            source,
        })?;
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
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(entry::write(&ran.result, ran.cpu, &name)?.as_bytes())?;
        file.persist(self.file(&name))?;
        Ok(())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.run"))
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
        let mut files = fs::read_dir(&cache.folder).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none(), "one run, one file");
        file
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
        fs::rename(&file, cache.file(&name(&other))).unwrap();
        assert_eq!(cache.load(&other), None);
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
