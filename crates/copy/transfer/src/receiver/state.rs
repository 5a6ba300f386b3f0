//! The receiver's decisions on messages and arrivals, without threads, sockets and clocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use copy_protocol::{
    Chunk, CopyDirection, Entry, FileId, FileProblem, HASH_LENGTH, Message, Opening, Problem,
    ProblemKind, Published, Range, Want,
};
use units::Bytes;

use super::comparer::Comparer;
use super::moved::Moved;
use super::shared::Shared;
use crate::copy_stats::CopyStats;
use crate::requested::Requested;
use crate::session::{Event, Outbox, SessionEnd, unexpected};
use crate::standstill::count;
use files::Rules;
use files::store::Removal;

/// Pieces or files in one message.
const BATCH: usize = 4096;

/// State of the receiver.
pub(crate) struct ReceiverState<'a, 'o> {
    pub stats: &'a mut CopyStats<'o>,
    pub shared: Arc<Shared>,
    /// At a near end: what it asked for.
    pub(super) asked: Option<Requested>,
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
    /// Files of these that are there in an older version, with its bytes.
    pub(super) older: Vec<(FileId, u64)>,
    /// Their pieces that came back, and what they have at other places.
    pub(super) moved: Moved,
    /// Where contents are compared.
    pub(super) comparer: Option<Comparer>,
    pub(super) removal: RemovalPhase,
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
        stats: &'a mut CopyStats<'o>,
        opening: &Opening,
        shared: Arc<Shared>,
        comparer: Option<Comparer>,
    ) -> Result<Self, Problem> {
        let rules = opening.delete.then(|| Rules::new(&opening.selection.rules));
        let removal = RemovalPhase::Later(rules.transpose()?);
        let is_near = opening.direction == CopyDirection::Get;
        let asked = is_near.then(|| Requested::of(opening)).transpose()?;
        stats.begin_counting();
        Ok(ReceiverState {
            stats,
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
            older: Vec::new(),
            moved: Moved::default(),
            comparer,
            removal,
            is_known: false,
            is_planned: false,
            is_complete: false,
            received: Vec::new(),
            published: Vec::new(),
        })
    }

    /// Whether this end's disk has something to do: contents are compared, what is whole waits for
    /// its name, what was left is read, older versions are cut, what the sources do not have is
    /// removed.
    pub(crate) fn is_busy(&self) -> bool {
        let compares = self.comparer.is_some() && !self.is_planned;
        let removes = matches!(self.removal, RemovalPhase::Now(_));
        let reads = self.shared.rereader.is_busy() || self.moved.is_busy();
        compares || removes || reads || !self.whole.is_empty()
    }

    /// From when on everything that is wanted is known.
    fn check_all_answered(&mut self) {
        if self.is_known && self.next == self.told && !self.is_planned {
            self.is_planned = true;
            self.shared.files.told_all();
            self.stats.on_planned();
        }
    }

    pub(super) fn fail(
        &mut self,
        entry: Option<&Entry>,
        problem: Problem,
        outbox: &dyn Outbox,
    ) -> Result<(), SessionEnd> {
        if problem.kind == ProblemKind::DiskFull {
            // What is missing of all others would fail the same way.
            let file = None;
            return Err(SessionEnd::Problem(Problem { file, ..problem }));
        }
        outbox.send(Message::Failed(problem.clone()));
        self.stats.on_failed(entry, problem);
        Ok(())
    }

    /// What is open beside what the streams do, to stand behind "this side".
    pub(super) fn open_question(&self) -> String {
        let (unfinished, whole) = (self.unfinished.len(), self.whole.len());
        match self.is_planned {
            false => "waits for the far end to list its files".to_owned(),
            true if self.moved.is_busy() => "looks for what moved in older versions".to_owned(),
            true if unfinished > whole => {
                format!("lacks parts of {}", count(unfinished - whole, "file"))
            }
            true if whole > 0 => format!("names {}", count(whole, "file")),
            true => "has all files".to_owned(),
        }
    }

    fn fail_file(&mut self, problem: Problem, outbox: &dyn Outbox) -> Result<(), SessionEnd> {
        let Some(id) = problem.file else {
            return Err(SessionEnd::Problem(problem));
        };
        self.shared.files.remove(id);
        self.moved.forget(id);
        self.shared.store.forget_inode(id);
        self.whole.remove(&id);
        match self.unfinished.remove(&id) {
            Some(entry) => self.fail(Some(&entry), problem, outbox),
            None => Ok(()),
        }
    }

    fn on_read_back(
        &mut self,
        file: FileId,
        parts: Vec<(u64, u64)>,
        is_all: bool,
        outbox: &dyn Outbox,
    ) {
        if !self.unfinished.contains_key(&file) {
            return;
        }
        let wrong = parts.iter().map(|(_, length)| length).sum();
        self.stats.on_part_lost(wrong);
        outbox.send(Message::ReadBack {
            file,
            parts,
            is_all,
        });
    }

    /// An older version was cut this far: what waited for that is asked for now, and the sender
    /// knows the chunks by then.
    fn on_cut(&mut self, file: FileId, chunks: Option<(u64, Vec<Chunk>)>, outbox: &dyn Outbox) {
        let end = chunks.as_ref().map(|(start, chunks)| {
            let lengths = chunks.iter().map(|chunk| u64::from(chunk.length));
            start + lengths.sum::<u64>()
        });
        let Some(released) = self.moved.on_cut(file, end) else {
            return;
        };
        if let Some((start, chunks)) = chunks {
            outbox.send(Message::Chunks {
                file,
                start,
                chunks,
            });
        }
        for range in released {
            outbox.send(Message::Damaged(range));
        }
    }

    fn on_whole(&mut self, id: FileId) {
        self.shared.files.remove(id);
        self.moved.forget(id);
        if self.unfinished.contains_key(&id) {
            self.whole.insert(id);
        }
    }

    fn on_published(&mut self, file: FileId, digest: [u8; HASH_LENGTH]) {
        self.whole.remove(&file);
        if let Some(entry) = self.unfinished.remove(&file) {
            self.stats.on_published(&entry, Some(digest));
            self.published.push(Published { file, digest });
        }
    }

    /// The sender cannot read it (any more), or it changed: what arrived of it is of no use then.
    fn on_source_failed(&mut self, problem: Problem) {
        let Some(id) = problem.file else {
            return;
        };
        self.shared.files.remove(id);
        self.moved.forget(id);
        match problem.kind {
            _ if self.whole.contains(&id) => {}
            ProblemKind::SourceChanged => self.shared.store.discard(id),
            _ => self.shared.store.let_go(id),
        }
        let entry = self.unfinished.remove(&id);
        self.stats.on_failed(entry.as_ref(), problem);
    }

    /// Handles a message of the sender.
    pub(crate) fn on_message(
        &mut self,
        message: Message,
        outbox: &dyn Outbox,
    ) -> Result<(), SessionEnd> {
        match message {
            Message::Entries(entries) if !self.is_known => {
                return self.on_entries(entries, outbox);
            }
            Message::Inodes(inodes) if !self.is_known => self.shared.store.take_inodes(inodes),
            Message::EntriesEnd { count, linked, .. } if count == self.told => {
                self.is_known = true;
                self.stats.on_all_known(linked);
            }
            Message::FileEnds(files) => {
                for id in files {
                    if let Some(digest) = self.shared.files.on_read(id) {
                        self.shared.publisher.take(id, digest);
                        self.on_whole(id);
                    }
                }
            }
            Message::Failed(problem) => self.on_source_failed(problem),
            Message::LeftOut { name, problem } => {
                self.stats.on_left_out(FileProblem::new(name, problem));
            }
            Message::Sending(sending, limited) => self.stats.on_sending(&sending, limited),
            Message::Bye if self.is_complete => return Err(SessionEnd::Done),
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }

    fn complete(&mut self, outbox: &dyn Outbox) {
        self.is_complete = true;
        for FileProblem {
            name,
            kind,
            what,
            hint,
            ..
        } in self.shared.store.end()
        {
            let problem = Problem {
                kind,
                file: None,
                what,
                hint,
            };
            self.stats
                .on_left_out(FileProblem::new(name.clone(), problem.clone()));
            outbox.send(Message::LeftOut { name, problem });
        }
        outbox.send(Message::Complete);
    }

    /// Handles an event of this end.
    pub(crate) fn on_event(&mut self, event: Event, outbox: &dyn Outbox) -> Result<(), SessionEnd> {
        match event {
            // Pieces that were sent twice, or of a file that was given up: of no use after
            // completion.
            Event::Arrived(..)
            | Event::Kept(..)
            | Event::Unneeded(_)
            | Event::Damaged(_)
            | Event::Refused(_)
                if self.is_complete => {}
            Event::Arrived(range, data) => {
                self.stats.on_arrived(range.length);
                let outcome = &mut self.stats.outcome;
                outcome.sent += Bytes::new(data);
                outcome.holes += Bytes::new(range.length.saturating_sub(data));
                self.received.push(range);
            }
            Event::Kept(range, sent) => {
                self.stats.on_arrived(range.length);
                let outcome = &mut self.stats.outcome;
                outcome.sent += Bytes::new(sent);
                outcome.unchanged += Bytes::new(range.length.saturating_sub(sent));
                self.received.push(range);
            }
            Event::Refused(range) => {
                if let Some(range) = self.moved.refused(range) {
                    outbox.send(Message::Damaged(range));
                }
            }
            Event::Cut(file, chunks) => self.on_cut(file, chunks, outbox),
            Event::Unneeded(data) => self.stats.outcome.sent_again += Bytes::new(data),
            Event::Damaged(range) => outbox.send(Message::Damaged(range)),
            Event::ReadBack(id, parts, is_all) => self.on_read_back(id, parts, is_all, outbox),
            Event::Finished(id) => self.on_whole(id),
            Event::EntryPlanned(answered) => {
                let (entry, id, answer) = *answered;
                return self.on_answered(entry, id, answer, outbox);
            }
            Event::Published(id, digest) => self.on_published(id, digest),
            Event::Failed(problem) => return self.fail_file(problem, outbox),
            _ => (),
        }
        Ok(())
    }

    /// Sends what was gathered, and removes some of what is to be removed, while no event waits.
    /// Returns whether there is more of that at once.
    pub(crate) fn on_idle(&mut self, outbox: &dyn Outbox) -> Result<bool, SessionEnd> {
        self.say_wants(outbox);
        self.check_all_answered();
        while !self.received.is_empty() {
            let rest = self.received.split_off(self.received.len().min(BATCH));
            let all = std::mem::replace(&mut self.received, rest);
            outbox.send(Message::Received(all));
        }
        while !self.published.is_empty() {
            let rest = self.published.split_off(self.published.len().min(BATCH));
            let all = std::mem::replace(&mut self.published, rest);
            outbox.send(Message::Published(all));
        }
        let is_last = self.is_planned && self.whole.len() == self.unfinished.len();
        self.shared.publisher.hurry(is_last);
        if self.is_planned && self.unfinished.is_empty() && !self.is_complete {
            if self.remove_some(outbox) {
                return Ok(true);
            }
            self.complete(outbox);
            if self.is_near {
                return Err(SessionEnd::Done);
            }
        }
        Ok(false)
    }
}

/// State of the removal.
#[derive(Debug)]
pub(super) enum RemovalPhase {
    /// All is done.
    Nothing,
    /// Everything else comes first; the rules where something is to be removed.
    Later(Option<Rules>),
    /// It goes on.
    Now(Removal),
}
