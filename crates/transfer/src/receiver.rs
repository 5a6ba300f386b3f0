//! The end that gets the data: says what it wants, has the streams write it, and gives files their names.
//!
//! Reading order: this file for the conversation, `shelf` for what the streams share, `stream` for one of them,
//! `publisher`, `rereader`.

mod entries;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod publisher;
mod rereader;
mod shelf;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use net::copying::StreamHandle;
use units::{Bytes, Rate, Span, Time};
use wire::copying::{
    Entry, FileId, HASH_LENGTH, Message, Opening, Problem, ProblemKind, Published, Range, Way,
};

use self::publisher::Publisher;
use self::rereader::Rereader;
use self::shelf::Shelf;
use self::stream::Inflow;
use crate::FileProblem;
use crate::activity::{Reporter, Spent};
use crate::asked::Asked;
use crate::chronicle::Chronicle;
use crate::lines::Roster;
use crate::session::{self, Desk, End, Happening, NO_PROGRESS_MAX, Role, unexpected};
use crate::store::Store;

/// How often this end says what it does.
const TICK: Span = Span::from_millis(250);
/// Pieces or files in one message.
const BATCH: usize = 4096;
/// Parts of files in one message of wants; each takes up to 20 bytes.
const PARTS: usize = 8192;
/// Streams that one conversation may have.
const STREAMS_MAX: u16 = 256;

/// What the receiver's threads share.
pub(crate) struct Shared {
    store: Arc<Store>,
    shelf: Shelf,
    publisher: Publisher,
    rereader: Rereader,
    spent: Arc<Spent>,
    /// Bytes read from streams.
    on_wire: AtomicU64,
}

/// Leads the receiver's half of a conversation.
pub(crate) struct Receiver<'a, 'o> {
    chronicle: &'a mut Chronicle<'o>,
    shared: Arc<Shared>,
    /// At a near end: what it asked for.
    asked: Option<Asked>,
    roster: Roster,
    streams: Vec<(StreamHandle, JoinHandle<()>)>,
    is_dry: bool,
    /// This is the end that somebody waits for. It does not wait for the far end once it has everything.
    is_near: bool,
    /// Files that are wanted and not published yet.
    unfinished: BTreeMap<FileId, Entry>,
    /// Those of them that wait for their names.
    whole: BTreeSet<FileId>,
    next: FileId,
    /// All entries were told.
    is_known: bool,
    is_complete: bool,
    received: Vec<Range>,
    published: Vec<Published>,
    reporter: Reporter,
    last: Time,
    ticks: u32,
}

impl<'a, 'o> Receiver<'a, 'o> {
    /// # Errors
    /// At a near end, when a wildcard cannot be read.
    pub(crate) fn new(
        chronicle: &'a mut Chronicle<'o>,
        opening: &Opening,
        store: Store,
        roster: Roster,
        desk: &Desk,
    ) -> Result<Self, Problem> {
        let is_near = opening.way == Way::Get;
        let asked = is_near.then(|| Asked::of(opening)).transpose()?;
        let store = Arc::new(store);
        let spent = Arc::new(Spent::default());
        let publisher = Publisher::start(Arc::clone(&store), desk.report(), Arc::clone(&spent));
        let rereader = Rereader::start(Arc::clone(&store), desk.report());
        chronicle.begin_counting();
        Ok(Receiver {
            last: chronicle.now(),
            chronicle,
            shared: Arc::new(Shared {
                store,
                shelf: Shelf::default(),
                publisher,
                rereader,
                spent,
                on_wire: AtomicU64::new(0),
            }),
            roster,
            streams: Vec::new(),
            is_dry: opening.dry_run,
            is_near,
            asked,
            unfinished: BTreeMap::new(),
            whole: BTreeSet::new(),
            next: 0,
            is_known: false,
            is_complete: false,
            received: Vec::new(),
            published: Vec::new(),
            reporter: Reporter::start(),
            ticks: 0,
        })
    }

    fn fail(&mut self, entry: Option<&Entry>, problem: Problem, desk: &Desk) -> Result<(), End> {
        if problem.kind == ProblemKind::DiskFull {
            // What is missing of all others would fail the same way.
            let file = None;
            return Err(End::Problem(Problem { file, ..problem }));
        }
        desk.say(Message::Failed(problem.clone()));
        self.chronicle.on_failed(entry, problem);
        Ok(())
    }

    fn fail_file(&mut self, problem: Problem, desk: &Desk) -> Result<(), End> {
        let Some(id) = problem.file else {
            return Err(End::Problem(problem));
        };
        self.shared.shelf.remove(id);
        self.whole.remove(&id);
        match self.unfinished.remove(&id) {
            Some(entry) => self.fail(Some(&entry), problem, desk),
            None => Ok(()),
        }
    }

    fn on_read_back(&mut self, file: FileId, parts: Vec<(u64, u64)>, is_all: bool, desk: &Desk) {
        if !self.unfinished.contains_key(&file) {
            return;
        }
        let wrong = parts.iter().map(|(_, length)| length).sum();
        self.chronicle.on_part_lost(wrong);
        desk.say(Message::ReadBack {
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

    fn on_message(&mut self, message: Message, desk: &Desk) -> Result<(), End> {
        match message {
            Message::Entries(entries) if !self.is_known => {
                return self.on_entries(entries, desk);
            }
            Message::EntriesEnd { count, .. } if count == self.next => {
                self.is_known = true;
                self.shared.shelf.told_all();
                self.chronicle.on_all_known();
                self.chronicle.on_planned();
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
            Message::Streams(count) => self.roster.grow(count.min(STREAMS_MAX), desk),
            Message::Alive(_) => (),
            Message::Sending { .. } => self.chronicle.on_sending(message),
            Message::RateMax(_) => (),
            Message::Bye if self.is_complete => return Err(End::Done),
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }

    fn on_joined(&mut self, number: u32, channel: net::copying::Channel, desk: &Desk) {
        if self.roster.present >= STREAMS_MAX {
            return;
        }
        self.roster.on_joined();
        self.streams.retain(|(_, thread)| !thread.is_finished());
        let handle = channel.handle();
        let shared = Arc::clone(&self.shared);
        let inflow = Inflow::new(number, channel, shared, desk.report());
        self.streams
            .push((handle, thread::spawn(move || inflow.run())));
    }

    fn complete(&mut self, desk: &Desk) {
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
            desk.say(Message::LeftOut { name, problem });
        }
        desk.say(Message::Complete);
    }

    fn tick(&mut self, desk: &Desk) {
        if let Some(rate) = self.chronicle.wished_rate() {
            desk.say(Message::RateMax(rate.map(Rate::bits_per_second)));
        }
        let now = desk.now();
        if now.since(self.last) >= TICK {
            self.last = now;
            let activity = self
                .reporter
                .report(&self.shared.spent, self.roster.present);
            desk.say(Message::Alive(activity));
            self.ticks += 1;
            if self.ticks.is_multiple_of(2) {
                self.chronicle.on_tick();
            }
        }
    }
}

impl Role for Receiver<'_, '_> {
    fn is_done(&self) -> bool {
        self.is_complete
    }

    /// What is whole waits for this end's disk.
    fn patience(&self) -> Option<Duration> {
        let is_busy = !self.whole.is_empty() || self.shared.rereader.is_busy();
        (!is_busy).then_some(NO_PROGRESS_MAX)
    }

    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End> {
        match happening {
            Happening::Message(message) => return self.on_message(message, desk),
            Happening::Joined(number, channel) => self.on_joined(number, channel, desk),
            Happening::NotJoined(why) => return self.roster.on_not_joined(desk.now(), &why),
            Happening::StreamOver(..) => {
                self.roster.on_over();
                self.streams.retain(|(_, thread)| !thread.is_finished());
            }
            // What was sent twice, or of a file that was given up: nobody waits for it after all is complete.
            Happening::Arrived(_) | Happening::Unneeded(_) | Happening::Damaged(_)
                if self.is_complete => {}
            Happening::Arrived(range) => {
                self.chronicle.on_arrived(range.length);
                self.chronicle.outcome.sent += Bytes::new(range.length);
                self.received.push(range);
            }
            Happening::Unneeded(range) => {
                self.chronicle.outcome.sent += Bytes::new(range.length);
                self.received.push(range);
            }
            Happening::Damaged(range) => desk.say(Message::Damaged(range)),
            Happening::ReadBack(id, parts, is_all) => self.on_read_back(id, parts, is_all, desk),
            Happening::Finished(id) => self.on_whole(id),
            Happening::Published(id, digest) => self.on_published(id, digest),
            Happening::Failed(problem) => return self.fail_file(problem, desk),
            _ => (),
        }
        Ok(())
    }

    fn on_quiet(&mut self, desk: &Desk) -> Result<Duration, End> {
        while !self.received.is_empty() {
            let rest = self.received.split_off(self.received.len().min(BATCH));
            let all = std::mem::replace(&mut self.received, rest);
            desk.say(Message::Received(all));
        }
        while !self.published.is_empty() {
            let rest = self.published.split_off(self.published.len().min(BATCH));
            let all = std::mem::replace(&mut self.published, rest);
            desk.say(Message::Published(all));
        }
        let is_last = self.is_known && self.whole.len() == self.unfinished.len();
        self.shared.publisher.hurry(is_last);
        if self.is_known && self.unfinished.is_empty() && !self.is_complete {
            self.complete(desk);
            if self.is_near {
                return Err(End::Done);
            }
        }
        self.tick(desk);
        Ok(session::TICK)
    }
}

impl Receiver<'_, '_> {
    /// Ends what its threads do and waits for them, so that the files are free when the conversation is over. Where all is
    /// complete, streams only wait for the sender to close them; the near end does not.
    pub(crate) fn end(mut self, desk: &Desk) {
        self.shared.shelf.close();
        let (handles, mut threads): (Vec<_>, Vec<_>) = self.streams.drain(..).unzip();
        if !self.is_complete {
            handles.iter().for_each(StreamHandle::shut_down);
        } else if self.is_near {
            threads.clear();
        }
        threads.extend(self.shared.publisher.close());
        threads.extend(self.shared.rereader.close());
        desk.wait_for(&threads);
        if !self.is_near {
            handles.iter().for_each(StreamHandle::shut_down);
        }
        let on_wire = self.shared.on_wire.load(Ordering::Relaxed);
        self.chronicle.outcome.on_wire += Bytes::new(on_wire);
    }
}
