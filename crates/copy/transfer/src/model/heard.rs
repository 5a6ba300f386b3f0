//! What both ends say, as the model keeps it and compares it with what was confirmed before.

use copy_protocol::{FileId, Kind, Message, Problem, ProblemKind, Range, Want};

use super::talk::Talk;

impl Talk<'_, '_, '_> {
    pub fn sender_said(&mut self, message: Message) {
        self.draw
            .note(|| format!("    sender: {}", brief(&message)));
        match message {
            Message::Entries(entries) => self.told.entries.extend(entries),
            Message::Failed(problem) => self.failed(problem),
            _ => {}
        }
    }

    pub fn receiver_said(&mut self, message: Message) {
        self.draw
            .note(|| format!("    receiver: {}", brief(&message)));
        match message {
            Message::Wants(wants) => wants.iter().for_each(|want| self.wanted(want)),
            Message::ReadBack { file, parts, .. } => {
                self.check_parts(file, &parts, "read back wrong");
            }
            Message::Received(ranges) => {
                let is_here = |range: &Range| !self.told.gone.contains(&range.file);
                for range in ranges.into_iter().filter(is_here).collect::<Vec<_>>() {
                    let entry = &self.told.entries[range.file as usize];
                    // Of a source that changed meanwhile it may be the older version.
                    if let Some(file) = self.world.original(entry)
                        && file.lately.len() == 1
                    {
                        file.confirmed.insert((range.start, range.length));
                    }
                }
            }
            Message::Published(files) => {
                for one in files {
                    self.forget(one.file);
                    self.told.published.insert(one.file, one.digest);
                }
            }
            Message::Failed(problem) => self.failed(problem),
            // What a receiver that was killed left beside a file that is there now.
            Message::LeftOut { problem, .. } if problem.kind == ProblemKind::Unfinished => {}
            Message::LeftOut { name, problem } => panic!("{name} is left out: {problem:?}"),
            _ => {}
        }
    }

    fn failed(&mut self, problem: Problem) {
        let file = problem.file.unwrap_or_else(|| panic!("{problem:?}"));
        self.forget(file);
        self.told.failed.insert(file, problem);
    }

    /// It has its name, or failed: what was confirmed of it is not taken up again.
    pub fn forget(&mut self, file: FileId) {
        self.told.gone.insert(file);
        if let Some(file) = self.world.original(&self.told.entries[file as usize]) {
            file.confirmed.clear();
        }
    }

    fn wanted(&mut self, want: &Want) {
        match want {
            Want::Nothing(file) | Want::Made(file) => self.forget(*file),
            Want::Whole(file) => {
                if let Kind::File(size) = self.told.entries[*file as usize].kind {
                    self.check_parts(*file, &[(0, size)], "wanted");
                }
            }
            Want::Rest(file, parts) => self.check_parts(*file, parts, "wanted"),
        }
    }

    /// What was confirmed, and what nothing has befallen since, does not come again. Small files,
    /// and those that are one piece, have no journal.
    fn check_parts(&mut self, file: FileId, parts: &[(u64, u64)], what: &str) {
        let entry = &self.told.entries[file as usize];
        let Kind::File(size) = entry.kind else {
            return;
        };
        let Some(file) = self.world.original(entry) else {
            return;
        };
        let confirmed = std::mem::take(&mut file.confirmed);
        if self.told.was_dry || size <= 65_536 {
            file.confirmed = confirmed.clone();
            return;
        }
        for (start, length) in confirmed.iter().filter(|(_, length)| *length < size) {
            let meets = |part: &&(u64, u64)| part.0 < start + length && *start < part.0 + part.1;
            let met = parts.iter().find(meets);
            assert!(
                met.is_none(),
                "{length} bytes at {start} of {} were confirmed, and {met:?} is {what}",
                file.name
            );
        }
        file.confirmed = confirmed;
    }
}

fn brief(message: &Message) -> String {
    match message {
        Message::Entries(entries) => {
            let names = entries.iter().map(|entry| format!("`{}`", entry.name));
            format!("Entries({})", names.collect::<Vec<_>>().join(", "))
        }
        Message::Published(files) => {
            let files: Vec<FileId> = files.iter().map(|one| one.file).collect();
            format!("Published({files:?})")
        }
        other => format!("{other:?}"),
    }
}
