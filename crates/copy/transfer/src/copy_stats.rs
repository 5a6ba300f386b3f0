//! Counts of one copy over all its sessions, and the events for its observer.

mod allowed;
mod failures;
mod links;
mod logged;
mod rate_history;
mod relayed;
mod sending;
mod timeline;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use copy_net::control_socket::Status;
use copy_protocol::{
    CopyEvent, CopyProgress, EndShares, Entry, Kind, Name, Outcome, ProblemKind, Reading, Removed,
};
use observe::{Limit, StreamCount};
use units::{Bytes, Rate, Span, Time};

use self::rate_history::{RateWindow, Readings};
use self::timeline::Timeline;
use crate::budget::BudgetUser;
use crate::copy_multipath::CopyMultipath;
use crate::copy_pairs::CopyPairs;
use crate::peer_links::LinkMember;
use crate::standstill::{Change, Marks, Standstill};
use crate::{CopyControl, CopyObserver, activity};

/// Counts what happens and tells the observer.
pub(crate) struct CopyStats<'a> {
    observer: &'a mut dyn CopyObserver,
    control: CopyControl,
    began: Instant,
    /// What the copy comes down to.
    pub outcome: Outcome,
    /// Names that were published before the far end was lost, hashed: there already, and still
    /// copied by us.
    published: BTreeSet<u64>,
    /// Of this conversation, and of the passes before it.
    counts: Counts,
    /// What the passes before came to, where the copy goes on while its sources are written.
    before: Passes,
    /// At the sender: what the streams of this conversation delivered.
    delivered: RateWindow,
    readings: Readings,
    timeline: Timeline,
    sending: SenderStatus,
    ends: Ends,
    rate_max: Option<Rate>,
    streams: Option<StreamCount>,
    /// At a server: its place among the copies with the same peer.
    link: Option<LinkMember>,
    /// At a server: its part of what that allows all copies.
    budget: Option<BudgetUser>,
    /// It grows while the copy gets on; see [`CopyStats::steps`].
    steps: u64,
    /// The most bytes that any conversation came to.
    done_most: Bytes,
    standstill: Standstill,
    /// Over which its streams are dealt.
    pairs: Option<CopyPairs>,
    /// What its streams go over, where they are of multipath TCP.
    multipath: Option<CopyMultipath>,
}

/// Passes that are complete.
#[derive(Debug, Clone, Default)]
struct Passes {
    counts: Counts,
    skipped: u64,
    folders: u64,
    links: u64,
}

#[derive(Debug, Clone, Default)]
struct Counts {
    files: u64,
    folders: u64,
    links: u64,
    bytes: Bytes,
    present: Bytes,
    /// Bytes of files that were there already as a whole.
    skipped: Bytes,
    done: Bytes,
    /// Bytes of pieces that arrived; those that were there before do not count.
    arrived: Bytes,
    files_done: u64,
    is_known: bool,
}

/// Where the sender's streams stand.
#[derive(Debug, Clone, Default)]
struct SenderStatus {
    streams: u16,
    rate: Rate,
    rtt: Option<Span>,
    retransmitted_share: Option<f64>,
    mark_echoed_share: Option<f64>,
    ecn: Option<bool>,
    /// What binds now.
    binds: Option<Limit>,
}

/// What the threads of both ends did last.
#[derive(Debug, Clone, Copy, Default)]
struct Ends {
    sender: Option<EndShares>,
    receiver: Option<EndShares>,
}

impl<'a> CopyStats<'a> {
    /// Begins now.
    pub(crate) fn new(observer: &'a mut dyn CopyObserver, control: &CopyControl) -> Self {
        CopyStats {
            observer,
            began: Instant::now(),
            outcome: Outcome::default(),
            published: BTreeSet::new(),
            counts: Counts::default(),
            before: Passes::default(),
            delivered: RateWindow::default(),
            readings: Readings::default(),
            timeline: Timeline::default(),
            sending: SenderStatus::default(),
            ends: Ends::default(),
            rate_max: control.rate_max(),
            streams: None,
            link: None,
            budget: None,
            control: control.clone(),
            steps: 0,
            done_most: Bytes::ZERO,
            standstill: Standstill::new(control.stalled_after()),
            pairs: None,
            multipath: None,
        }
    }

    /// When the copy began.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Since the copy began.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }

    /// Another conversation tells everything once more.
    pub(crate) fn begin_counting(&mut self) {
        let before = &self.before;
        self.counts = Counts {
            is_known: false,
            ..before.counts.clone()
        };
        self.standstill.begin(self.now());
        self.streams = None;
        self.delivered = RateWindow::default();
        let outcome = &mut self.outcome;
        (outcome.skipped, outcome.folders, outcome.links) =
            (before.skipped, before.folders, before.links);
        outcome.failed.clear();
        outcome.left_out.clear();
    }

    /// A pass is complete, and the next one tells only of what is new since. A source that changed
    /// meanwhile is such, and no failure.
    pub(crate) fn end_pass(&mut self) {
        let outcome = &mut self.outcome;
        outcome
            .failed
            .retain(|one| one.kind != ProblemKind::SourceChanged);
        self.before = Passes {
            counts: self.counts.clone(),
            skipped: outcome.skipped,
            folders: outcome.folders,
            links: outcome.links,
        };
        self.published.clear();
    }

    /// What it comes down to.
    pub(crate) fn conclude(&self) -> Outcome {
        let mut outcome = self.outcome.clone();
        let now = self.now();
        outcome.took = now.since(Time::ZERO);
        (outcome.time, outcome.limit) = self.timeline.conclude(now);
        outcome.bytes += self.counts.skipped;
        outcome.processor = Span::from(activity::processor());
        outcome.streams = self.streams_mostly();
        outcome.readings = self.readings.all().to_vec();
        outcome.multipath = self.multipath.as_ref().map(CopyMultipath::outcome);
        outcome.pairs = self.pairs.iter().flat_map(CopyPairs::outcome).collect();
        outcome
    }

    /// Streams that carried most of it; those that came, where it was over before more was seen.
    fn streams_mostly(&self) -> u16 {
        let mostly = self.readings.streams_mostly();
        mostly.unwrap_or(self.sending.streams)
    }

    /// At the receiver: so many streams came so far, where the sender has not told.
    pub(crate) fn on_joined(&mut self, streams: u16) {
        self.sending.streams = self.sending.streams.max(streams);
    }

    /// Tells it as it is.
    pub(crate) fn tell(&mut self, event: &CopyEvent) {
        logged::log(event);
        self.timeline.on_event(event);
        self.observer.on_event(event);
    }

    /// Grows whenever something was done that a later conversation need not do again.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the user wants it to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }

    /// The control of this copy.
    pub(crate) fn control(&self) -> CopyControl {
        self.control.clone()
    }

    /// Something that there is to copy.
    pub(crate) fn on_entry(&mut self, entry: &Entry) {
        match entry.kind {
            Kind::File(size) => {
                self.counts.files += 1;
                self.counts.bytes += Bytes::new(size);
            }
            Kind::Folder => self.counts.folders += 1,
            Kind::Link(_) => self.counts.links += 1,
        }
    }

    /// The listing is complete. `linked`: number of hard links.
    pub(crate) fn on_all_known(&mut self, linked: u32) {
        self.counts.is_known = true;
        self.outcome.linked = linked;
    }

    /// It is known what of it is missing.
    pub(crate) fn on_planned(&mut self) {
        let counts = &self.counts;
        let event = CopyEvent::Planned {
            at: self.now(),
            files: counts.files,
            folders: counts.folders,
            links: counts.links,
            bytes: counts.bytes,
            present: counts.present,
        };
        self.tell(&event);
        if self.outcome.reconnects > 0 {
            let left = self.counts.bytes - self.counts.done.min(self.counts.bytes);
            let at = self.now();
            self.tell(&CopyEvent::Resumed { at, left });
        }
    }

    /// Bytes arrived where they belong.
    pub(crate) fn on_arrived(&mut self, bytes: u64) {
        self.end_standstill();
        self.timeline.on_data(self.now());
        self.counts.arrived += Bytes::new(bytes);
        self.add_done(Bytes::new(bytes));
    }

    /// A far end that gives the same bytes again each time it comes back does not get on with the
    /// copy.
    fn add_done(&mut self, bytes: Bytes) {
        self.counts.done += bytes;
        if self.counts.done > self.done_most {
            self.done_most = self.counts.done;
            self.steps += 1;
        }
    }

    /// Part of a file was there already.
    pub(crate) fn on_part_present(&mut self, bytes: u64) {
        self.counts.present += Bytes::new(bytes);
        self.add_done(Bytes::new(bytes));
    }

    /// What counted as there reads back wrong.
    pub(crate) fn on_part_lost(&mut self, bytes: u64) {
        let counts = &mut self.counts;
        let bytes = Bytes::new(bytes).min(counts.present);
        counts.present = counts.present - bytes;
        counts.done = counts.done - bytes.min(counts.done);
    }

    /// An entry has its final name.
    pub(crate) fn on_published(&mut self, entry: &Entry, digest: Option<[u8; 32]>) {
        self.end_standstill();
        self.steps += u64::from(self.published.insert(hash_of(&entry.name)));
        let bytes = match entry.kind {
            Kind::File(size) => {
                self.outcome.files += 1;
                self.counts.files_done += 1;
                Bytes::new(size)
            }
            Kind::Link(_) => {
                self.outcome.links += 1;
                Bytes::ZERO
            }
            Kind::Folder => {
                self.outcome.folders += 1;
                return;
            }
        };
        self.outcome.bytes += bytes;
        let event = CopyEvent::Published {
            at: self.now(),
            name: entry.name.clone(),
            bytes,
            digest,
        };
        self.tell(&event);
    }

    /// An entry was there already.
    pub(crate) fn on_present(&mut self, entry: &Entry) {
        let Kind::File(size) = entry.kind else {
            return;
        };
        let bytes = Bytes::new(size);
        self.counts.present += bytes;
        self.add_done(bytes);
        self.counts.files_done += 1;
        if self.published.contains(&hash_of(&entry.name)) {
            return;
        }
        self.outcome.skipped += 1;
        self.counts.skipped += bytes;
        let event = CopyEvent::Skipped {
            at: self.now(),
            name: entry.name.clone(),
            bytes,
        };
        self.tell(&event);
    }

    /// Something that the sources do not have is gone.
    pub(crate) fn on_removed(&mut self, removed: &Removed) {
        self.steps += 1;
        self.outcome.removed += 1;
        let end = if removed.is_folder { "/" } else { "" };
        let name = format!("{}{end}", removed.name);
        let at = self.now();
        self.tell(&CopyEvent::Removed { at, name });
    }

    /// A dry run would copy it.
    pub(crate) fn on_would_copy(&mut self, entry: &Entry, bytes: Bytes) {
        let name = entry.name.clone();
        self.tell(&CopyEvent::WouldCopy { name, bytes });
    }

    /// The number of streams changes.
    pub(crate) fn on_steered(&mut self, streams: u16, why: String) {
        let at = self.now();
        self.tell(&CopyEvent::Steered { at, streams, why });
    }

    /// Whether the session has just been found to stand still, and for how long. That it moves
    /// again is told.
    ///
    /// * `moved`: bytes on the streams of this conversation.
    pub(crate) fn stalled(&mut self, moved: u64) -> Option<Span> {
        let (at, counts) = (self.now(), &self.counts);
        let marks = Marks {
            moved: Bytes::new(moved),
            done: counts.done,
            names: counts.files + counts.folders + counts.links + counts.files_done + self.steps,
        };
        match self.standstill.look(at, marks)? {
            Change::Stalled(still) => Some(still),
            Change::Moves(still) => {
                self.tell(&CopyEvent::Moving { at, still });
                None
            }
        }
    }

    /// Something happened: what is told next is not that nothing does.
    fn end_standstill(&mut self) {
        let at = self.now();
        if let Some(still) = self.standstill.end(at) {
            self.tell(&CopyEvent::Moving { at, still });
        }
    }

    /// Tells where it stands; twice a second.
    pub(crate) fn on_tick(&mut self) {
        let (at, rate) = (self.now(), self.sending.rate);
        let reading = Reading {
            at,
            rate,
            files: self.counts.files_done,
            streams: self.sending.streams,
            rtt: self.sending.rtt,
            retransmitted_share: self.sending.retransmitted_share,
            mark_echoed_share: self.sending.mark_echoed_share,
            ecn: self.sending.ecn,
            limited_by: self.sending.binds,
            sender: self.ends.sender,
            receiver: self.ends.receiver,
        };
        self.readings.keep(reading);
        let counts = &self.counts;
        let missing = counts.bytes - counts.done.min(counts.bytes);
        self.control.set_status(Status {
            rate,
            done: counts.done,
            total: counts.is_known.then_some(counts.bytes),
        });
        let bound = self.control.rate_bound();
        let may_say = counts.is_known && rate > Rate::ZERO;
        let progress = CopyProgress {
            at,
            done: counts.done,
            total: counts.bytes,
            total_is_known: counts.is_known,
            files_done: counts.files_done,
            files_total: counts.files,
            rate: reading.rate,
            streams: reading.streams,
            rtt: reading.rtt,
            retransmitted_share: reading.retransmitted_share,
            limited_by: reading.limited_by,
            rate_max: bound.rate,
            rate_max_until: bound.until,
            left: may_say.then(|| rate.time_to_send(missing)),
        };
        self.tell(&CopyEvent::Progress(progress));
    }
}

fn hash_of(name: &Name) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gives_the_same_again_does_not_get_on() {
        let (mut no_watch, control) = ((), CopyControl::default());
        let mut stats = CopyStats::new(&mut no_watch, &control);
        let folder = Entry {
            name: Name::new(b"run7".to_vec()).unwrap(),
            kind: Kind::Folder,
            mode: 0o755,
            modified_nanoseconds: 0,
            version: 0,
            is_sparse: false,
            digest: None,
        };
        let mut conversation = |bytes: u64| {
            let before = stats.steps();
            stats.begin_counting();
            stats.on_published(&folder, None);
            stats.on_arrived(bytes);
            stats.steps() > before
        };
        assert!(conversation(100), "the first one");
        assert!(!conversation(100), "the same again");
        assert!(!conversation(70), "less");
        assert!(conversation(101), "more");
    }
}
