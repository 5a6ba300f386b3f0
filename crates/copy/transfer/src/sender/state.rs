//! The sender's decisions on messages and files, without threads, sockets and clocks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use copy_protocol::{
    Entry, FileId, FileProblem, Filter, Message, Opening, Problem, ProblemKind, Range,
};
use units::Bytes;

use super::findings::Findings;
use super::send_queue::SendQueue;
use crate::copy_stats::CopyStats;
use crate::session::{Outbox, SessionEnd, protocol, unexpected};
use crate::standstill::count;
use files::source::Source;

/// Files in one message.
const ENDS: usize = 16_384;
/// A piece that arrives damaged so often has a cause that sending it again does not remove.
const DAMAGED_MAX: u32 = 8;

/// State of the sender.
pub(crate) struct SenderState<'a, 'o> {
    pub stats: &'a mut CopyStats<'o>,
    pub queue: Arc<SendQueue>,
    pub source: Arc<Source>,
    pub(super) walk: Option<Findings>,
    pub(super) is_dry: bool,
    /// Contents are compared: either end may read for hours before something is sent.
    pub compares: bool,
    /// Everything will be wanted: nothing waits for the receiver's answer.
    pub(super) is_fresh: bool,
    /// Entries that the receiver has not answered yet.
    pub(super) unanswered: VecDeque<(FileId, Entry)>,
    /// Those of them that are further names of files (hard links), whose content is not sent.
    pub(super) further_names: BTreeSet<FileId>,
    /// Folders and links of them that the receiver could not make.
    pub(super) refused: BTreeSet<FileId>,
    /// Files of which the receiver has something from an earlier try.
    pub(super) resumed: BTreeMap<FileId, Resumed>,
    /// Files that are not published yet.
    pub(super) unfinished: BTreeMap<FileId, Entry>,
    pub(super) told: FileId,
    pub(super) bytes: u64,
    pub(super) read: Vec<FileId>,
    /// Files without bytes to send that cannot be read.
    pub(super) unreadable: Vec<Problem>,
    pub(super) is_all_added: bool,
}

/// State of a file of which the receiver has parts from an earlier try.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Resumed {
    /// The receiver has read all of that back.
    pub is_read_back: bool,
    /// Its end was told.
    pub is_ended: bool,
}

impl<'a, 'o> SenderState<'a, 'o> {
    /// * `is_fresh`: the receiver has nothing yet.
    pub(crate) fn new(
        stats: &'a mut CopyStats<'o>,
        opening: &Opening,
        source: Arc<Source>,
        queue: Arc<SendQueue>,
        is_fresh: bool,
    ) -> Self {
        stats.begin_counting();
        let compares = opening.filter == Filter::Content;
        SenderState {
            stats,
            queue,
            walk: Some(Findings::of(&source, compares && !is_fresh)),
            source,
            compares,
            is_dry: opening.dry_run,
            is_fresh: is_fresh && !opening.dry_run,
            unanswered: VecDeque::new(),
            further_names: BTreeSet::new(),
            refused: BTreeSet::new(),
            resumed: BTreeMap::new(),
            unfinished: BTreeMap::new(),
            told: 0,
            bytes: 0,
            read: Vec::new(),
            unreadable: Vec::new(),
            is_all_added: false,
        }
    }

    /// Everything was told, and nothing that is wanted of it is left to be confirmed.
    pub(crate) fn has_nothing_left(&self) -> bool {
        self.is_all_added && self.queue.left() == 0
    }

    /// What is open beside what the streams do, to stand behind "this side".
    pub(super) fn open_question(&self) -> String {
        let (pieces, left) = (self.queue.unconfirmed(), self.queue.left());
        let (unanswered, unfinished) = (self.unanswered.len(), self.unfinished.len());
        if pieces > 0 {
            let pieces = count(pieces, "piece");
            format!("waits for the far end to confirm {pieces}")
        } else if left > 0 {
            format!("has {} to send", Bytes::new(left).human())
        } else if unanswered > 0 {
            let names = count(unanswered, "name");
            format!("waits for the far end to say what it lacks of {names}")
        } else if !self.is_all_added {
            "looks for files to send".to_owned()
        } else if unfinished > 0 {
            let files = count(unfinished, "file");
            format!("waits for the far end to name {files}")
        } else {
            "waits for the far end's last word".to_owned()
        }
    }

    /// Handles a message of the receiver.
    pub(crate) fn on_message(
        &mut self,
        message: Message,
        outbox: &dyn Outbox,
    ) -> Result<(), SessionEnd> {
        match message {
            Message::Wants(wants) => return self.on_wants(wants),
            Message::Older(files) => self.queue.older(&files),
            Message::Chunks {
                file,
                start,
                chunks,
            } => self.queue.chunks(file, start, &chunks),
            Message::ReadBack {
                file,
                parts,
                is_all,
            } => self.on_read_back(file, &parts, is_all),
            Message::Received(pieces) => match self.queue.acked(&pieces) {
                Some(bytes) => self.stats.on_arrived(bytes),
                None => return Err(protocol("a piece was confirmed that was not sent".into())),
            },
            Message::Damaged(piece) => self.on_damaged(piece, outbox),
            Message::Published(files) => {
                for published in files {
                    if let Some(entry) = self.unfinished.remove(&published.file) {
                        self.stats.on_published(&entry, Some(published.digest));
                    }
                }
            }
            Message::Failed(problem) => self.on_refused(problem),
            Message::LeftOut { name, problem } => {
                self.stats.on_left_out(FileProblem::new(name, problem));
            }
            Message::Removed(removed) => {
                for one in &removed {
                    self.stats.on_removed(one);
                }
            }
            Message::Complete => {
                self.queue.close();
                outbox.send(Message::Bye);
                return Err(SessionEnd::Done);
            }
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }

    /// A file cannot be read, or cannot arrive.
    pub(crate) fn fail(&mut self, problem: Problem, outbox: &dyn Outbox) {
        let entry = problem.file.and_then(|id| self.unfinished.remove(&id));
        if let (Some(id), Some(entry)) = (problem.file, entry) {
            self.queue.forget(id);
            outbox.send(Message::Failed(problem.clone()));
            self.stats.on_failed(Some(&entry), problem);
        }
    }

    fn on_damaged(&mut self, piece: Range, outbox: &dyn Outbox) {
        if self.queue.refused(piece) {
            return;
        }
        self.stats.outcome.sent_again += Bytes::new(piece.length);
        if self.queue.damaged(piece) < DAMAGED_MAX {
            return;
        }
        let what = format!(
            "{} bytes at {} arrived {DAMAGED_MAX} times other than they were sent",
            piece.length, piece.start
        );
        let problem = Problem {
            kind: ProblemKind::Corrupt,
            file: Some(piece.file),
            what,
            hint: Some("memory or a device on the way is faulty; copy without --plain".to_owned()),
        };
        self.fail(problem, outbox);
    }

    /// The receiver cannot have a file, folder or link.
    fn on_refused(&mut self, problem: Problem) {
        let mut entry = problem.file.and_then(|id| self.unfinished.remove(&id));
        if let Some(id) = problem.file {
            self.queue.forget(id);
            if entry.is_none()
                && let Ok(at) = self.unanswered.binary_search_by_key(&id, |(id, _)| *id)
            {
                entry = self.unanswered.get(at).map(|(_, entry)| entry.clone());
                self.refused.insert(id);
            }
        }
        self.stats.on_failed(entry.as_ref(), problem);
    }

    /// Sends what was gathered, and up to `most` entries, while no event waits. Returns whether
    /// there may be more of those at once.
    pub(crate) fn on_idle(&mut self, outbox: &dyn Outbox, most: usize) -> bool {
        let has_more = self.tell_entries(outbox, most);
        self.check_all_added();
        for problem in std::mem::take(&mut self.unreadable) {
            self.fail(problem, outbox);
        }
        while !self.read.is_empty() {
            let rest = self.read.split_off(self.read.len().min(ENDS));
            outbox.send(Message::FileEnds(std::mem::replace(&mut self.read, rest)));
        }
        has_more
    }
}
