//! Counts of a third-party copy, from what its source tells.

use copy_protocol::third_party::{Report, Standing, Totals};
use copy_protocol::{CopyEvent, FileProblem};
use units::{Bytes, Span};

use super::{CopyStats, SenderStatus, hash_of};

impl CopyStats<'_> {
    /// The source tells something.
    pub(crate) fn on_report(&mut self, report: Report) {
        let at = self.now();
        match report {
            Report::Connected { peer, rtt } => {
                let rtt = rtt.map(Span::from_nanos);
                self.tell(&CopyEvent::Connected { at, peer, rtt });
            }
            Report::Planned {
                files,
                folders,
                links,
                bytes,
                present,
            } => {
                let counts = &mut self.counts;
                (counts.files, counts.folders, counts.links) = (files, folders, links);
                (counts.bytes, counts.present) = (Bytes::new(bytes), Bytes::new(present));
                counts.is_known = true;
                self.set_done(Bytes::new(present));
                self.on_planned();
            }
            Report::Standing(standing) => self.on_standing(*standing),
            Report::Published {
                name,
                bytes,
                digest,
            } => {
                self.steps += u64::from(self.published.insert(hash_of(&name)));
                match digest {
                    Some(_) => self.outcome.files += 1,
                    None => self.outcome.links += 1,
                }
                let bytes = Bytes::new(bytes);
                self.outcome.bytes += bytes;
                self.tell(&CopyEvent::Published {
                    at,
                    name,
                    bytes,
                    digest,
                });
            }
            // One that was published before the source or the destination was lost is not told
            // again.
            Report::Skipped { name, .. } if self.published.contains(&hash_of(&name)) => {}
            Report::Skipped { name, bytes } => {
                let bytes = Bytes::new(bytes);
                self.outcome.skipped += 1;
                self.counts.skipped += bytes;
                self.tell(&CopyEvent::Skipped { at, name, bytes });
            }
            Report::WouldCopy { name, bytes } => {
                let bytes = Bytes::new(bytes);
                self.tell(&CopyEvent::WouldCopy { name, bytes });
            }
            Report::Removed(name) => {
                self.steps += 1;
                self.outcome.removed += 1;
                self.tell(&CopyEvent::Removed { at, name });
            }
            Report::Failed { name, problem } => {
                self.on_left_out(FileProblem::new(name, problem));
            }
            Report::Steered { streams, why } => self.on_steered(streams, why),
            Report::Granted(_) | Report::Alive | Report::Ended { .. } => {}
        }
    }

    /// What the source did at one command.
    pub(crate) fn on_totals(&mut self, totals: Totals) {
        let outcome = &mut self.outcome;
        (outcome.folders, outcome.linked) = (totals.folders, totals.linked);
        outcome.sent += Bytes::new(totals.sent);
        outcome.holes += Bytes::new(totals.holes);
        outcome.on_wire += Bytes::new(totals.on_wire);
        outcome.sent_again += Bytes::new(totals.sent_again);
        outcome.streams_replaced = outcome
            .streams_replaced
            .saturating_add(totals.streams_replaced);
        self.sending.streams = totals.streams;
        if let Some(limited) = totals.limited {
            self.timeline.on_limited(self.now(), limited);
        }
    }

    /// The same, at the source.
    pub(crate) fn totals(&self) -> Totals {
        let outcome = &self.outcome;
        Totals {
            folders: outcome.folders,
            linked: outcome.linked,
            sent: outcome.sent.get(),
            holes: outcome.holes.get(),
            on_wire: outcome.on_wire.get(),
            sent_again: outcome.sent_again.get(),
            streams_replaced: outcome.streams_replaced,
            streams: self.streams_mostly(),
            limited: self.timeline.told().cloned(),
        }
    }

    /// The source is gone without a last word: what it sent is what came.
    pub(crate) fn on_source_lost(&mut self) {
        let counts = &self.counts;
        self.outcome.sent += counts.done - counts.present.min(counts.done);
    }

    fn on_standing(&mut self, standing: Standing) {
        let counts = &mut self.counts;
        counts.bytes = Bytes::new(standing.total);
        counts.is_known = standing.total_is_known;
        (counts.files, counts.files_done) = (standing.files_total, standing.files_done);
        self.sending = SenderStatus::from(&standing.sending);
        self.set_done(Bytes::new(standing.done));
        self.on_tick();
    }

    fn set_done(&mut self, done: Bytes) {
        if done > self.counts.done {
            self.timeline.on_data(self.now());
        }
        self.counts.done = Bytes::ZERO;
        self.add_done(done);
    }
}
