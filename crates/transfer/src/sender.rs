//! The end that has the data: tells what there is, and has the streams send what is wanted of it.
//!
//! Reading order: this file for the conversation, `entries`, `work` for what the streams share, `stream` for one of them,
//! `streams` for all of them, `line` for what is known of each, `stall`, `quiet`.

mod entries;
mod line;
mod packing;
mod quiet;
mod stall;
mod stream;
mod streams;
mod work;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use units::{Bytes, Rate, Span, Time};
use wire::copying::{Activity, Entry, FileId, Message, Opening, Problem, ProblemKind, Range};

use self::quiet::Quiet;
use self::streams::Streams;
use self::work::Work;
use crate::FileProblem;
use crate::activity::{Reporter, for_tuner};
use crate::chronicle::Chronicle;
use crate::lines::Roster;
use crate::session::{Desk, End, Happening, NO_PROGRESS_MAX, Role, protocol, unexpected};
use crate::source::{Source, Walk};

/// Entries in one message, and bytes of their names: so that it stays below `MESSAGE_MAX`.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 100 << 10;
/// Entries that may be told before the receiver has answered.
const AHEAD: usize = 16_384;
/// Files that may be on their way at once; bounds the memory of both ends.
const UNFINISHED: usize = 65_536;
/// Files in one message.
const ENDS: usize = 16_384;
/// How long a receiver that has all bytes may take to name the files.
const PUBLISHING_MAX: Duration = Duration::from_secs(6 * 3600);
/// How often the tuner looks, and how often this end says what it does.
const TICK: Span = Span::from_millis(250);
/// A piece that arrives damaged so often has a cause that sending it again does not remove.
const DAMAGED_MAX: u32 = 8;

/// Leads the sender's half of a conversation.
pub(crate) struct Sender<'a, 'o> {
    chronicle: &'a mut Chronicle<'o>,
    walk: Option<Walk>,
    streams: Streams,
    work: Arc<Work>,
    source: Arc<Source>,
    is_dry: bool,
    /// Everything will be wanted: nothing waits for the receiver's answer.
    is_fresh: bool,
    /// Entries that the receiver has not answered yet.
    unanswered: VecDeque<(FileId, Entry)>,
    /// Folders and links of them that the receiver could not make.
    refused: BTreeSet<FileId>,
    /// Files of which the receiver has something from an earlier try.
    resumed: BTreeMap<FileId, Resumed>,
    /// Files that are not published yet.
    unfinished: BTreeMap<FileId, Entry>,
    told: FileId,
    bytes: u64,
    read: Vec<FileId>,
    /// Files without bytes to send that cannot be read.
    unreadable: Vec<Problem>,
    is_all_added: bool,
    reporter: Reporter,
    mine: Option<Activity>,
    theirs: Option<Activity>,
    last: Time,
    ticks: u32,
    quiet: Quiet,
}

/// Where a file stands of which the receiver has something from an earlier try.
#[derive(Debug, Clone, Copy, Default)]
struct Resumed {
    /// The receiver has read all of that back.
    is_read_back: bool,
    /// Its end was told.
    is_ended: bool,
}

/// What a sender needs to begin.
pub(crate) struct Sending {
    /// Where the files are.
    pub source: Arc<Source>,
    /// Where streams come from.
    pub roster: Roster,
    /// The receiver has nothing yet.
    pub is_fresh: bool,
    /// Smallest round trip of the handshake.
    pub rtt: Option<Span>,
}

impl<'a, 'o> Sender<'a, 'o> {
    pub(crate) fn new(
        chronicle: &'a mut Chronicle<'o>,
        opening: &Opening,
        sending: Sending,
    ) -> Self {
        let rate_max = opening
            .rate_max_bits_per_second
            .map(Rate::from_bits_per_second);
        let is_gentle = opening.gentle_nanoseconds.is_some();
        let work = Arc::new(Work::new(rate_max, is_gentle));
        let source = sending.source;
        let streams = Streams::new(
            sending.roster,
            Arc::clone(&work),
            Arc::clone(&source),
            opening,
            sending.rtt,
            chronicle.now(),
        );
        chronicle.begin_counting();
        Sender {
            walk: Some(source.walk()),
            last: chronicle.now(),
            chronicle,
            streams,
            work,
            source,
            is_dry: opening.dry_run,
            is_fresh: sending.is_fresh && !opening.dry_run,
            unanswered: VecDeque::new(),
            refused: BTreeSet::new(),
            resumed: BTreeMap::new(),
            unfinished: BTreeMap::new(),
            told: 0,
            bytes: 0,
            read: Vec::new(),
            unreadable: Vec::new(),
            is_all_added: false,
            reporter: Reporter::start(),
            mine: None,
            theirs: None,
            ticks: 0,
            quiet: Quiet::default(),
        }
    }

    fn fail(&mut self, problem: Problem, desk: &Desk) {
        let entry = problem.file.and_then(|id| self.unfinished.remove(&id));
        if let (Some(id), Some(entry)) = (problem.file, entry) {
            self.work.forget(id);
            desk.say(Message::Failed(problem.clone()));
            self.chronicle.on_failed(Some(&entry), problem);
        }
    }

    fn on_damaged(&mut self, piece: Range, desk: &Desk) {
        self.chronicle.outcome.sent_again += Bytes::new(piece.length);
        if self.work.damaged(piece) < DAMAGED_MAX {
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
        self.fail(problem, desk);
    }

    fn on_message(&mut self, message: Message, desk: &Desk) -> Result<(), End> {
        match message {
            Message::Wants(wants) => return self.on_wants(wants),
            Message::ReadBack {
                file,
                parts,
                is_all,
            } => self.on_read_back(file, &parts, is_all),
            Message::Received(pieces) => return self.on_received(&pieces),
            Message::Damaged(piece) => self.on_damaged(piece, desk),
            Message::Published(files) => {
                for published in files {
                    if let Some(entry) = self.unfinished.remove(&published.file) {
                        self.chronicle.on_published(&entry, Some(published.digest));
                    }
                }
            }
            Message::Failed(problem) => self.on_refused(problem),
            Message::LeftOut { name, problem } => {
                self.chronicle.on_left_out(FileProblem::new(name, problem));
            }
            Message::Alive(activity) => self.theirs = Some(activity),
            Message::RateMax(rate) => {
                self.set_rate_max(rate.map(Rate::from_bits_per_second), desk.now());
            }
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }

    fn on_received(&mut self, pieces: &[Range]) -> Result<(), End> {
        let Some(bytes) = self.work.acked(pieces) else {
            return Err(protocol("a piece was confirmed that was not sent".into()));
        };
        let all = pieces.iter().map(|piece| piece.length).sum();
        self.chronicle.outcome.sent += Bytes::new(all);
        self.chronicle.on_arrived(bytes);
        Ok(())
    }

    /// The receiver cannot have a file, folder or link.
    fn on_refused(&mut self, problem: Problem) {
        let mut entry = problem.file.and_then(|id| self.unfinished.remove(&id));
        if let Some(id) = problem.file {
            self.work.forget(id);
            if entry.is_none()
                && let Ok(at) = self.unanswered.binary_search_by_key(&id, |(id, _)| *id)
            {
                entry = self.unanswered.get(at).map(|(_, entry)| entry.clone());
                self.refused.insert(id);
            }
        }
        self.chronicle.on_failed(entry.as_ref(), problem);
    }

    /// Another bound on the rate of all streams together.
    fn set_rate_max(&mut self, rate: Option<Rate>, now: Time) {
        self.streams.set_rate_max(rate, now);
    }

    fn tick(&mut self, desk: &Desk) -> Result<(), End> {
        let now = desk.now();
        if let Some(streams) = self.streams.give_way(now) {
            let why = "their own windows keep those that are there from the rate that is free";
            self.chronicle.on_steered(streams, why.to_owned());
        }
        if let Some(rate) = self.chronicle.wished_rate() {
            self.set_rate_max(rate, now);
        }
        if now.since(self.last) < TICK {
            return Ok(());
        }
        self.last = now;
        if self.is_dry {
            self.say_alive(desk);
            return Ok(());
        }
        let written = self.work.on_wire.load(Ordering::Relaxed);
        let rate_max = self.streams.rate_max();
        if self
            .quiet
            .is_too_long(now, self.work.left(), written, rate_max)
        {
            return Err(End::Lost(quiet::text()));
        }
        self.look(desk);
        self.streams.keep(desk);
        self.ticks += 1;
        if self.ticks.is_multiple_of(2) {
            self.say_alive(desk);
            self.chronicle.on_tick();
        }
        Ok(())
    }

    /// Looks at the streams, and at what both ends did.
    fn look(&mut self, desk: &Desk) {
        let now = desk.now();
        self.mine = Some(self.reporter.report(&self.work.spent, self.streams.count()));
        let left = self.is_all_added.then(|| Bytes::new(self.work.left()));
        let (mine, theirs) = (
            self.mine.as_ref().map(for_tuner),
            self.theirs.as_ref().map(for_tuner),
        );
        let look = self.streams.look(desk, left, mine, theirs);
        if let Some((streams, why)) = look.steered {
            self.chronicle.on_steered(streams, why);
        }
        let again = self.streams.settle(now);
        self.chronicle.outcome.sent_again += Bytes::new(again);
        let (binds, limited) = self.streams.limited();
        self.chronicle.on_limited(binds, limited);
        self.chronicle.on_streams(self.streams.count(), &look.seen);
    }

    fn say_alive(&mut self, desk: &Desk) {
        desk.say(Message::Alive(self.mine.unwrap_or_default()));
        desk.say(self.chronicle.sending());
    }
}

impl Role for Sender<'_, '_> {
    /// It is done with the receiver's last word, and the conversation with it.
    fn is_done(&self) -> bool {
        false
    }

    /// A receiver that has everything may read it again from its disk, and flush it, for hours.
    fn patience(&self) -> Option<Duration> {
        Some(match self.is_all_added && self.work.left() == 0 {
            true => PUBLISHING_MAX,
            false => NO_PROGRESS_MAX,
        })
    }

    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End> {
        match happening {
            Happening::Message(Message::Complete) => {
                if !self.is_dry {
                    self.look(desk);
                }
                self.work.close();
                desk.say(Message::Bye);
                return Err(End::Done);
            }
            Happening::Message(message) => return self.on_message(message, desk),
            Happening::Joined(number, channel) => self.streams.on_joined(number, channel, desk),
            Happening::NotJoined(why) => return self.streams.on_not_joined(desk, &why),
            Happening::StreamOver(number, end) => {
                let bytes = self.streams.on_over(number, &end, desk.now());
                self.chronicle.outcome.sent_again += Bytes::new(bytes);
                self.streams.keep(desk);
            }
            Happening::FileRead(file) => self.on_file_read(file),
            Happening::Failed(problem) => self.fail(problem, desk),
            _ => (),
        }
        Ok(())
    }

    fn on_quiet(&mut self, desk: &Desk) -> Result<Duration, End> {
        if self.ticks == 0 && self.told == 0 && !self.is_dry {
            self.streams.keep(desk);
        }
        let has_more = self.tell_entries(desk);
        self.check_all_added();
        for problem in std::mem::take(&mut self.unreadable) {
            self.fail(problem, desk);
        }
        while !self.read.is_empty() {
            let rest = self.read.split_off(self.read.len().min(ENDS));
            desk.say(Message::FileEnds(std::mem::replace(&mut self.read, rest)));
        }
        self.tick(desk)?;
        Ok(match has_more {
            true => Duration::ZERO,
            false => self.streams.patience(desk.now()),
        })
    }
}

impl Drop for Sender<'_, '_> {
    fn drop(&mut self) {
        self.work.close();
        self.streams.shut_down();
        let load =
            |counter: &std::sync::atomic::AtomicU64| Bytes::new(counter.load(Ordering::Relaxed));
        let outcome = &mut self.chronicle.outcome;
        outcome.on_wire += load(&self.work.on_wire);
        outcome.sent_again += load(&self.work.repeated);
        outcome.streams_replaced += self.streams.replaced;
    }
}
