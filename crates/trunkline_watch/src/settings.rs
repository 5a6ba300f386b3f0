//! The settings that searches have found, in a file of the agent.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use observe::Setting;

use super::write_whole;

/// The latest setting of each pair and manner, by a name of both.
#[derive(Debug)]
pub(crate) struct Settings {
    file: PathBuf,
    known: Mutex<BTreeMap<String, Setting>>,
}

impl Settings {
    /// Reads the file. Without one, or with one that cannot be read, nothing is known: the next
    /// visit searches anew.
    pub fn open(folder: &Path) -> Self {
        let file = folder.join("settings.json");
        let text = fs::read_to_string(&file).ok();
        let known = text.and_then(|text| serde_json::from_str(&text).ok());
        Settings {
            file,
            known: Mutex::new(known.unwrap_or_default()),
        }
    }

    /// The setting of a pair; `None` before its first search.
    pub fn find(&self, pair: &str) -> Option<Setting> {
        self.known().get(pair).cloned()
    }

    /// Remembers what a search has found. A file that cannot be written costs a search after the
    /// next start.
    pub fn remember(&self, pair: &str, setting: Setting) {
        let mut known = self.known();
        known.insert(pair.to_owned(), setting);
        if let Ok(json) = serde_json::to_vec(&*known) {
            let _ = write_whole(&self.file, &json);
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Setting>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
