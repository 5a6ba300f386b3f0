//! What has happened so far, over all conversations of one copy.

use std::collections::HashSet;
use std::time::Instant;

use units::{Bytes, Span, Time};
use wire::copying::{Entry, Kind, Problem};

use crate::{CopyEvent, FileProblem, Onlooker, Outcome};

/// Counts what happens and tells the onlooker.
pub(crate) struct Chronicle<'a> {
    onlooker: &'a mut dyn Onlooker,
    began: Instant,
    /// What the copy comes down to.
    pub outcome: Outcome,
    /// Names that were published before the far end was lost: there already, and still copied by us.
    published: HashSet<Vec<u8>>,
}

impl<'a> Chronicle<'a> {
    /// Begins now.
    pub(crate) fn new(onlooker: &'a mut dyn Onlooker) -> Self {
        Chronicle {
            onlooker,
            began: Instant::now(),
            outcome: Outcome::default(),
            published: HashSet::new(),
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

    /// What it comes down to.
    pub(crate) fn conclude(&self) -> Outcome {
        let mut outcome = self.outcome.clone();
        outcome.took = Span::from(self.began.elapsed());
        outcome
    }

    /// Tells it as it is.
    pub(crate) fn tell(&mut self, event: &CopyEvent) {
        self.onlooker.on_event(event);
    }

    /// An entry has its final name.
    pub(crate) fn on_published(&mut self, entry: &Entry, digest: Option<[u8; 32]>) {
        let bytes = match entry.kind {
            Kind::File(size) => {
                self.outcome.files += 1;
                Bytes::new(size)
            }
            Kind::Link(_) => {
                self.outcome.links += 1;
                Bytes::new(0)
            }
            Kind::Folder => {
                self.outcome.folders += 1;
                return;
            }
        };
        self.outcome.bytes += bytes;
        self.published.insert(entry.name.as_bytes().to_vec());
        let event = CopyEvent::Published {
            at: self.now(),
            name: entry.name.to_string(),
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
        if self.published.contains(entry.name.as_bytes()) {
            return;
        }
        self.outcome.skipped += 1;
        self.outcome.bytes += Bytes::new(size);
        let event = CopyEvent::Skipped {
            at: self.now(),
            name: entry.name.to_string(),
            bytes: Bytes::new(size),
        };
        self.tell(&event);
    }

    /// An entry cannot be copied.
    pub(crate) fn on_failed(&mut self, entry: Option<&Entry>, problem: Problem) {
        let problem = FileProblem {
            name: entry
                .map(|entry| entry.name.to_string())
                .unwrap_or_default(),
            kind: problem.kind,
            what: problem.what,
            hint: problem.hint,
        };
        self.outcome.failed.push(problem.clone());
        let at = self.now();
        self.tell(&CopyEvent::Failed { at, problem });
    }
}
