//! The receiver's decisions on messages and arrivals, without threads, sockets and clocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use units::Bytes;
use wire::copying::{
    Entry, FileId, HASH_LENGTH, Message, Opening, Problem, ProblemKind, Published, Range, Want, Way,
};

use super::Shared;
use super::comparer::Comparer;
use super::removing::Removing;
use crate::FileProblem;
use crate::asked::Asked;
use crate::chronicle::Chronicle;
use crate::session::{End, Happening, Voice, unexpected};
use crate::source::rules::Rules;

/// Pieces or files in one message.
const BATCH: usize = 4096;

/// State of the receiver.
pub(crate) struct ReceiverState<'a, 'o> {
    pub chronicle: &'a mut Chronicle<'o>,
    pub shared: Arc<Shared>,
    /// At a near end: what it asked for.
    pub(super) asked: Option<Asked>,
    pub(super) is_dry: bool,
    /// This is the near, interactive end. It does not wait for the far end once it has everything.
    pub(super) is_near: bool,
    /// Files that are wanted and not published yet.
    pub(super) unfinished: BTreeMap<FileId, Entry>,
    /// Those of them that wait for their names.
    whole: BTreeSet<FileId>,
    /// Entries that were told.
    pub(super) told: FileId,
    /// Entries that are answered.
    pub(super) next: FileId,
    /// Answers that are not said yet, and how many parts are in them.
    pub(super) wants: Vec<Want>,
    pub(super) wanted_parts: usize,
    /// Where contents are compared.
    pub(super) comparer: Option<Comparer>,
    pub(super) removing: Removing,
    /// All entries were told.
    is_known: bool,
    /// And all are answered.
    is_planned: bool,
    pub is_complete: bool,
    received: Vec<Range>,
    published: Vec<Published>,
}

impl<'a, 'o> ReceiverState<'a, 'o> {
    /// * `comparer`: where contents are compared.
    ///
    /// # Errors
    /// When a wildcard or a pattern cannot be read.
    pub(crate) fn new(
        chronicle: &'a mut Chronicle<'o>,
        opening: &Opening,
        shared: Arc<Shared>,
        comparer: Option<Comparer>,
    ) -> Result<Self, Problem> {
        let removing = match opening.delete {
            true => Removing::Later(Rules::new(&opening.selection.rules)?),
            false => Removing::Nothing,
        };
        let is_near = opening.way == Way::Get;
        let asked = is_near.then(|| Asked::of(opening)).transpose()?;
        chronicle.begin_counting();
        Ok(ReceiverState {
            chronicle,
            shared,
            is_dry: opening.dry_run,
            is_near,
            asked,
            unfinished: BTreeMap::new(),
            whole: BTreeSet::new(),
            told: 0,
            next: 0,
            wants: Vec::new(),
            wanted_parts: 0,
            comparer,
            removing,
            is_known: false,
            is_planned: false,
            is_complete: false,
            received: Vec::new(),
            published: Vec::new(),
        })
    }

    /// Whether this end's disk has something to do: contents are compared, what is whole waits for
    /// its name, what was left is read, what the sources do not have is removed.
    pub(crate) fn is_busy(&self) -> bool {
        let compares = self.comparer.is_some() && !self.is_planned;
        let removes = matches!(self.removing, Removing::Now(_));
        compares || removes || !self.whole.is_empty() || self.shared.rereader.is_busy()
    }

    /// From when on everything that is wanted is known.
    fn check_all_answered(&mut self) {
        if self.is_known && self.next == self.told && !self.is_planned {
            self.is_planned = true;
            self.shared.shelf.told_all();
            self.chronicle.on_planned();
        }
    }

    pub(super) fn fail(
        &mut self,
        entry: Option<&Entry>,
        problem: Problem,
        voice: &dyn Voice,
    ) -> Result<(), End> {
        if problem.kind == ProblemKind::DiskFull {
            // What is missing of all others would fail the same way.
            let file = None;
            return Err(End::Problem(Problem { file, ..problem }));
        }
        voice.say(Message::Failed(problem.clone()));
        self.chronicle.on_failed(entry, problem);
        Ok(())
    }

    fn fail_file(&mut self, problem: Problem, voice: &dyn Voice) -> Result<(), End> {
        let Some(id) = problem.file else {
            return Err(End::Problem(problem));
        };
        self.shared.shelf.remove(id);
        self.whole.remove(&id);
        match self.unfinished.remove(&id) {
            Some(entry) => self.fail(Some(&entry), problem, voice),
            None => Ok(()),
        }
    }

    fn on_read_back(
        &mut self,
        file: FileId,
        parts: Vec<(u64, u64)>,
        is_all: bool,
        voice: &dyn Voice,
    ) {
        if !self.unfinished.contains_key(&file) {
            return;
        }
        let wrong = parts.iter().map(|(_, length)| length).sum();
        self.chronicle.on_part_lost(wrong);
        voice.say(Message::ReadBack {
            file,
            parts,
            is_all,
        });
    }

    fn on_whole(&mut self, id: FileId) {
        self.shared.shelf.remove(id);
        if self.unfinished.contains_key(&id) {
            self.whole.insert(id);
        }
    }

    fn on_published(&mut self, file: FileId, digest: [u8; HASH_LENGTH]) {
        self.whole.remove(&file);
        if let Some(entry) = self.unfinished.remove(&file) {
            self.chronicle.on_published(&entry, Some(digest));
            self.published.push(Published { file, digest });
        }
    }

    /// The sender cannot read it (any more), or it changed: what arrived of it is of no use then.
    fn on_source_failed(&mut self, problem: Problem) {
        let Some(id) = problem.file else {
            return;
        };
        self.shared.shelf.remove(id);
        match problem.kind {
            _ if self.whole.contains(&id) => {}
            ProblemKind::SourceChanged => self.shared.store.discard(id),
            _ => self.shared.store.let_go(id),
        }
        let entry = self.unfinished.remove(&id);
        self.chronicle.on_failed(entry.as_ref(), problem);
    }

    /// Handles a message of the sender.
    pub(crate) fn on_message(&mut self, message: Message, voice: &dyn Voice) -> Result<(), End> {
        match message {
            Message::Entries(entries) if !self.is_known => {
                return self.on_entries(entries, voice);
            }
            Message::EntriesEnd { count, linked, .. } if count == self.told => {
                self.is_known = true;
                self.chronicle.on_all_known(linked);
            }
            Message::FileEnds(files) => {
                for id in files {
                    if let Some(digest) = self.shared.shelf.on_read(id) {
                        self.shared.publisher.take(id, digest);
                        self.on_whole(id);
                    }
                }
            }
            Message::Failed(problem) => self.on_source_failed(problem),
            Message::LeftOut { name, problem } => {
                self.chronicle.on_left_out(FileProblem::new(name, problem));
            }
            Message::Sending { .. } => self.chronicle.on_sending(message),
            Message::Bye if self.is_complete => return Err(End::Done),
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }

    fn complete(&mut self, voice: &dyn Voice) {
        self.is_complete = true;
        for problem in self.shared.store.end() {
            let folder = problem.file.and_then(|id| self.shared.store.name(id));
            let name = folder.map(|name| format!("{name}/")).unwrap_or_default();
            let problem = Problem {
                file: None,
                ..problem
            };
            self.chronicle
                .on_left_out(FileProblem::new(name.clone(), problem.clone()));
            voice.say(Message::LeftOut { name, problem });
        }
        voice.say(Message::Complete);
    }

    /// Handles an event of this end.
    pub(crate) fn on_happening(
        &mut self,
        happening: Happening,
        voice: &dyn Voice,
    ) -> Result<(), End> {
        match happening {
            // Pieces that were sent twice, or of a file that was given up: of no use after
            // completion.
            Happening::Arrived(..) | Happening::Unneeded(_) | Happening::Damaged(_)
                if self.is_complete => {}
            Happening::Arrived(range, data) => {
                self.chronicle.on_arrived(range.length);
                let outcome = &mut self.chronicle.outcome;
                outcome.sent += Bytes::new(data);
                outcome.holes += Bytes::new(range.length.saturating_sub(data));
                self.received.push(range);
            }
            Happening::Unneeded(data) => self.chronicle.outcome.sent += Bytes::new(data),
            Happening::Damaged(range) => voice.say(Message::Damaged(range)),
            Happening::ReadBack(id, parts, is_all) => self.on_read_back(id, parts, is_all, voice),
            Happening::Finished(id) => self.on_whole(id),
            Happening::Answered(answered) => {
                let (entry, id, answer) = *answered;
                return self.on_answered(entry, id, answer, voice);
            }
            Happening::Published(id, digest) => self.on_published(id, digest),
            Happening::Failed(problem) => return self.fail_file(problem, voice),
            _ => (),
        }
        Ok(())
    }

    /// Sends what was gathered, and removes some of what is to be removed, while no event waits.
    /// Returns whether there is more of that at once.
    pub(crate) fn on_quiet(&mut self, voice: &dyn Voice) -> Result<bool, End> {
        self.say_wants(voice);
        self.check_all_answered();
        while !self.received.is_empty() {
            let rest = self.received.split_off(self.received.len().min(BATCH));
            let all = std::mem::replace(&mut self.received, rest);
            voice.say(Message::Received(all));
        }
        while !self.published.is_empty() {
            let rest = self.published.split_off(self.published.len().min(BATCH));
            let all = std::mem::replace(&mut self.published, rest);
            voice.say(Message::Published(all));
        }
        let is_last = self.is_planned && self.whole.len() == self.unfinished.len();
        self.shared.publisher.hurry(is_last);
        if self.is_planned && self.unfinished.is_empty() && !self.is_complete {
            if self.remove_some(voice) {
                return Ok(true);
            }
            self.complete(voice);
            if self.is_near {
                return Err(End::Done);
            }
        }
        Ok(false)
    }
}
