//! The part of one copy in the steering of its link.
//!
//! All copies of a link see one folder: those of a campaign its own, on whichever host, and others
//! that of this user on this host. Once a second each tells there how it fares and reads how many
//! streams it is to have. The copy in the lowest slot that is held decides that for all of them
//! with [`steer::LinkSteer`]; when it ends, the next one goes on with the streams that were told
//! last. A copy that is alone steers itself: it sees more of its own streams than its reports tell.

use std::collections::BTreeMap;
use std::time::Instant;

use campaign_store::{CopyReport, LinkReports, Slot, Slots};
use copy_protocol::CopyProgress;
use observe::{Limit, StreamCount};
use steer::{LinkReport, LinkSteer, REPORT_PERIOD};
use transfer::CopyControl;
use units::{Bytes, Span};

/// Takes part for one copy.
pub struct LinkShare<'a> {
    slots: &'a Slots,
    reports: LinkReports,
    slot: u16,
    copy: u64,
    weight: u16,
    /// Streams of all copies, where the plan fixes them.
    streams: Option<StreamCount>,
    last: Instant,
    /// While this copy decides for all.
    deciding: Option<LinkSteer>,
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
    pub fn look(&mut self, control: &CopyControl, progress: CopyProgress) {
        let length = Span::from(self.last.elapsed());
        if length < REPORT_PERIOD {
            return;
        }
        self.last = Instant::now();
        // A folder that cannot be written now leaves the streams as they are.
        let _ = self.reports.tell(self.slot, &self.report(&progress));
        let held = self.slots.held_numbers();
        if held.len() < 2 {
            self.deciding = None;
            control.set_streams(self.streams);
            return;
        }
        match held.first() {
            Some(first) if *first == self.slot => self.decide(&held, length),
            _ => self.deciding = None,
        }
        if let Some(streams) = self.reports.shares().get(&self.slot) {
            control.set_streams(StreamCount::new((*streams).into()).ok());
        }
    }

    fn report(&self, progress: &CopyProgress) -> CopyReport {
        CopyReport {
            copy: self.copy,
            weight: self.weight,
            done: progress.done.get(),
            streams: progress.streams,
            rtt_nanoseconds: progress.rtt.map(Span::as_nanos),
            retransmitted_share: progress.retransmitted_share,
            limited_by: progress.limited_by.map(|limit| limit.name().to_owned()),
        }
    }

    fn decide(&mut self, held: &[u16], length: Span) {
        let told = held
            .iter()
            .filter_map(|slot| Some((u32::from(*slot), read(&self.reports.told(*slot)?))));
        let told: BTreeMap<u32, LinkReport> = told.collect();
        let deciding = self
            .deciding
            .get_or_insert_with(|| begin(&told, &self.reports, self.streams));
        let slot = |(number, streams): (&u32, &u16)| Some((u16::try_from(*number).ok()?, *streams));
        let shares = deciding.on_reports(length, &told);
        let shares = shares.iter().filter_map(slot).collect();
        let _ = self.reports.share(&shares);
    }
}

/// The slot is free again soon.
impl Drop for LinkShare<'_> {
    fn drop(&mut self) {
        self.reports.end(self.slot);
    }
}

/// Goes on with the streams of before, or with those that there are.
fn begin(
    told: &BTreeMap<u32, LinkReport>,
    reports: &LinkReports,
    streams: Option<StreamCount>,
) -> LinkSteer {
    let shares: u64 = reports.shares().values().copied().map(u64::from).sum();
    let known = StreamCount::new(shares.min(StreamCount::MAX.get().into())).ok();
    LinkSteer::of_reports(told, known, streams)
}

fn read(report: &CopyReport) -> LinkReport {
    LinkReport {
        copy: report.copy,
        weight: report.weight,
        done: Bytes::new(report.done),
        streams: report.streams,
        rtt: report.rtt_nanoseconds.map(Span::from_nanos),
        retransmitted_share: report.retransmitted_share,
        limited_by: report.limited_by.as_deref().and_then(Limit::named),
    }
}

/// A number that no other copy has.
fn copy_number() -> u64 {
    sockets::random::number().unwrap_or_else(|_| std::process::id().into())
}
