//! What a copy told of the names of a shard.

use std::collections::BTreeMap;

use campaign_store::{Entry, Failed, Fate, Kind, Notes, StoreError};
use copy_protocol::{CopyEvent, FileProblem, ProblemKind};
use files::shown;

use super::changes;

/// Names that are still to be copied, and what was told of them.
pub(super) struct Outcomes<'a> {
    todo: BTreeMap<Vec<u8>, Entry>,
    /// What arrived, with its digest.
    pub done: BTreeMap<Vec<u8>, Entry>,
    problems: Vec<FileProblem>,
    /// What arrived and is not what was planned.
    changed: Vec<Failed>,
    notes: &'a mut Notes,
    /// Notes that could not be written.
    pub trouble: Option<StoreError>,
}

impl<'a> Outcomes<'a> {
    pub fn new(todo: Vec<Entry>, notes: &'a mut Notes) -> Self {
        let todo = todo.into_iter().map(|entry| (entry.name.clone(), entry));
        Outcomes {
            todo: todo.collect(),
            done: BTreeMap::new(),
            problems: Vec::new(),
            changed: Vec::new(),
            notes,
            trouble: None,
        }
    }

    pub fn on_event(&mut self, event: &CopyEvent) {
        match event {
            CopyEvent::Published {
                name,
                bytes,
                digest,
                ..
            } => self.arrived(name.as_bytes(), bytes.get(), *digest),
            CopyEvent::Skipped { name, bytes, .. } => {
                self.arrived(name.as_bytes(), bytes.get(), None);
            }
            CopyEvent::Failed { problem, .. } | CopyEvent::LeftOut { problem, .. } => {
                self.problems.push(problem.clone());
            }
            // What could not be copied is tried again.
            CopyEvent::Queued { .. } | CopyEvent::Lost { .. } => self.problems.clear(),
            CopyEvent::Progress(_) => {
                let flushed = self.notes.flush();
                self.note(flushed);
            }
            _ => {}
        }
    }

    fn arrived(&mut self, name: &[u8], bytes: u64, digest: Option<[u8; 32]>) {
        // Folders on the way are told, too, and are not in the list.
        let Some(mut entry) = self.todo.remove(name) else {
            return;
        };
        if let Kind::File(size) = entry.kind
            && size != bytes
        {
            let why = format!("it has {bytes} bytes and had {size}");
            let fate = changes::changed(&entry, &why);
            return self.changed.push(Failed { entry, fate });
        }
        // What stands for the digest of a part is of no use without the others.
        entry.digest = digest.or(entry.digest).filter(|_| entry.part.is_none());
        let noted = self.notes.push(&entry);
        self.note(noted);
        self.done.insert(entry.name.clone(), entry);
    }

    fn note(&mut self, noted: Result<(), StoreError>) {
        if let Err(error) = noted {
            self.trouble.get_or_insert(error);
        }
    }

    /// The copy said that all is over: links and folders that it did not complain of are there, and
    /// files that it said nothing of are not.
    pub fn concluded(mut self) -> (BTreeMap<Vec<u8>, Entry>, Vec<Failed>) {
        let mut failed = std::mem::take(&mut self.changed);
        for (name, entry) in std::mem::take(&mut self.todo) {
            let fate = self.fate(&entry);
            match (&entry.kind, fate) {
                (_, Some(fate)) => failed.push(Failed { entry, fate }),
                (Kind::File(_), None) => failed.push(Failed {
                    fate: without_a_word(&entry),
                    entry,
                }),
                (Kind::Link(_) | Kind::Folder, None) => drop(self.done.insert(name, entry)),
            }
        }
        (self.done, failed)
    }

    /// The copy did not come about, for a reason that is about all names.
    pub fn all_failed(self, fate: &Fate) -> Vec<Failed> {
        let failed = |entry| Failed {
            entry,
            fate: fate.clone(),
        };
        self.todo.into_values().map(failed).collect()
    }

    /// What was said of the name itself, of a folder that it is in, or of all.
    fn fate(&self, entry: &Entry) -> Option<Fate> {
        let name = shown(&entry.name);
        let is_about = |problem: &&FileProblem| {
            let of_folder = problem.name.ends_with('/') && name.starts_with(&problem.name);
            problem.name == name || of_folder || problem.name.trim_end_matches('/') == name
        };
        let problem = self.problems.iter().find(is_about)?;
        Some(Fate {
            cause: problem.kind,
            what: problem.what.clone(),
            hint: match problem.kind {
                ProblemKind::NotFound => changes::gone_hint(),
                _ => problem.hint.clone(),
            },
        })
    }
}

fn without_a_word(entry: &Entry) -> Fate {
    Fate {
        cause: ProblemKind::Protocol,
        what: format!("the copy ended without a word of `{}`", shown(&entry.name)),
        hint: Some("run the shard again".to_owned()),
    }
}
