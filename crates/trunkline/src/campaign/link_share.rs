//! The part of one copy in the steering of its link.
//!
//! All copies of a link, on whichever host, see the campaign's folder. Once a second each tells
//! there how it fares and reads how many streams it is to have. The copy in the lowest slot that is
//! held decides that for all of them with [`steer::LinkSteer`]; when it ends, the next one goes on
//! with the streams that were told last. A copy that is alone steers itself: it sees more of its
//! own streams than its reports tell.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use campaign_store::{CopyReport, LinkReports, Slot, Slots};
use observe::{Limit, StreamCount};
use steer::online::{OnlinePlan, Streams};
use steer::{LinkCopy, LinkSteer};
use transfer::{CopyControl, Reading};
use units::{Bytes, Span};

/// How often copies tell how they fare.
const PERIOD: Duration = Duration::from_secs(1);
/// Until a copy has read its streams, has connected them, and has told what was confirmed since.
const LAG: Span = Span::from_secs(3);

/// Takes part for one copy.
pub(super) struct LinkShare<'a> {
    slots: &'a Slots,
    reports: LinkReports,
    slot: u16,
    copy: u64,
    weight: u16,
    /// Streams of all copies, where the plan fixes them.
    streams: Option<StreamCount>,
    last: Instant,
    /// While this copy decides for all.
    deciding: Option<Deciding>,
}

/// What the deciding copy knows.
struct Deciding {
    steer: LinkSteer,
    /// Which copy was in each slot, and how many bytes it had.
    before: BTreeMap<u16, (u64, u64)>,
}

impl<'a> LinkShare<'a> {
    /// * `weight`: parts of the link's streams that the copy gets.
    pub fn new(slots: &'a Slots, slot: &Slot, weight: u16, streams: Option<StreamCount>) -> Self {
        LinkShare {
            slots,
            reports: slots.reports(),
            slot: slot.number(),
            copy: copy_number(),
            weight,
            streams,
            last: Instant::now(),
            deciding: None,
        }
    }

    /// Tells, decides where that is this copy's turn, and follows.
    pub fn look(&mut self, control: &CopyControl, done: Bytes, reading: Reading) {
        let length = self.last.elapsed();
        if length < PERIOD {
            return;
        }
        self.last = Instant::now();
        // A folder that cannot be written now leaves the streams as they are.
        let _ = self.reports.tell(self.slot, &self.report(done, &reading));
        let held = self.slots.held_numbers();
        if held.len() < 2 {
            self.deciding = None;
            control.set_streams(self.streams);
            return;
        }
        match held.first() {
            Some(first) if *first == self.slot => self.decide(&held, Span::from(length)),
            _ => self.deciding = None,
        }
        if let Some(streams) = self.reports.shares().get(&self.slot) {
            control.set_streams(StreamCount::new((*streams).into()).ok());
        }
    }

    fn report(&self, done: Bytes, reading: &Reading) -> CopyReport {
        CopyReport {
            copy: self.copy,
            weight: self.weight,
            done: done.get(),
            streams: reading.streams,
            rtt_nanoseconds: reading.rtt.map(Span::as_nanos),
            retransmitted_share: reading.retransmitted_share,
            limited_by: reading.limited_by.map(|limit| limit.name().to_owned()),
        }
    }

    fn decide(&mut self, held: &[u16], length: Span) {
        let told = held
            .iter()
            .filter_map(|slot| Some((*slot, self.reports.told(*slot)?)));
        let told: BTreeMap<u16, CopyReport> = told.collect();
        let deciding = self
            .deciding
            .get_or_insert_with(|| Deciding::new(&told, &self.reports, self.streams));
        let shares = deciding.on_reports(&told, length);
        let _ = self.reports.share(&shares);
    }
}

/// The slot is free again soon.
impl Drop for LinkShare<'_> {
    fn drop(&mut self) {
        self.reports.end(self.slot);
    }
}

impl Deciding {
    /// Goes on with the streams of before, or with those that there are.
    fn new(
        told: &BTreeMap<u16, CopyReport>,
        reports: &LinkReports,
        streams: Option<StreamCount>,
    ) -> Self {
        let shares: u64 = reports.shares().values().copied().map(u64::from).sum();
        let there: u64 = told
            .values()
            .map(|one| u64::from(one.streams))
            .max()
            .unwrap_or(0);
        let known = if shares > 0 { shares } else { there };
        let known = known.min(StreamCount::MAX.get().into());
        let rtt = told.values().filter_map(|one| one.rtt_nanoseconds).min();
        let plan = OnlinePlan {
            streams,
            remembered: StreamCount::new(known).ok(),
            rtt: rtt.map(Span::from_nanos),
            ..OnlinePlan::default()
        };
        Deciding {
            steer: LinkSteer::new(plan, LAG),
            before: BTreeMap::new(),
        }
    }

    /// Streams of each copy that has told something.
    fn on_reports(&mut self, told: &BTreeMap<u16, CopyReport>, length: Span) -> BTreeMap<u16, u16> {
        let copies: Vec<LinkCopy> = told
            .iter()
            .map(|(slot, report)| LinkCopy {
                number: u32::from(*slot),
                weight: report.weight,
                streams: self.streams_of(*slot, report),
                limited_by: report.limited_by.as_deref().and_then(Limit::named),
            })
            .collect();
        let before = |(slot, report): (&u16, &CopyReport)| (*slot, (report.copy, report.done));
        self.before = told.iter().map(before).collect();
        let shares = self.steer.on_interval(length, &copies);
        let slot = |(number, streams): (&u32, &u16)| Some((u16::try_from(*number).ok()?, *streams));
        shares.iter().filter_map(slot).collect()
    }

    /// What a report shows since the one before. The kernel's counts of bytes stay with the sender,
    /// so they follow from the share that was sent again.
    fn streams_of(&self, slot: u16, report: &CopyReport) -> Streams {
        let before = self.before.get(&slot);
        let before = before.filter(|(copy, done)| *copy == report.copy && *done <= report.done);
        let arrived = before.map_or(0, |(_, done)| report.done - done);
        let again = report
            .retransmitted_share
            .map(|share| share.clamp(0.0, 0.99));
        let sent = again.map(|share| arrived as f64 / (1.0 - share));
        let bytes = |count: f64| Bytes::new(count as u64);
        let rtt = report.rtt_nanoseconds.map(Span::from_nanos);
        Streams {
            count: report.streams,
            arrived: Bytes::new(arrived),
            sent: sent.map(bytes),
            retransmitted: sent.zip(again).map(|(sent, share)| bytes(sent * share)),
            rtt,
            rtt_min: rtt,
            ..Streams::default()
        }
    }
}

/// A number that no other copy has.
fn copy_number() -> u64 {
    sockets::random::number().unwrap_or_else(|_| std::process::id().into())
}
