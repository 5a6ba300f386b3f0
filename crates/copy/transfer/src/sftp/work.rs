//! What is to be done, for whichever connection is free.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::store::Piece;

use super::item::Item;
use crate::ledger::split::piece_length;

/// Connections that may die while they carry a part of a file before it is taken to be their
/// reason.
const TRIES_MAX: u8 = 4;

/// Something to do.
#[derive(Debug)]
pub(super) struct Job {
    pub item: Arc<Item>,
    pub kind: JobKind,
    /// Connections that died over it.
    pub tries: u8,
}

/// What.
#[derive(Debug, Clone)]
pub(super) enum JobKind {
    /// All of a small file.
    Whole,
    /// A part of it.
    Piece(Range<u64>),
    /// The far end tells the digest of a file whose parts are all there.
    Digest,
    /// A part is read back from the far end.
    Check(Piece),
    /// The last steps of a file whose parts are all there.
    Finish,
}

#[derive(Debug)]
enum Queued {
    Job(Job),
    Ranges(Arc<Item>, VecDeque<Range<u64>>),
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Work(Mutex<VecDeque<Queued>>);

impl Work {
    fn queue(&self) -> MutexGuard<'_, VecDeque<Queued>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that is missing of a file, behind what waits already.
    pub fn add(&self, item: Arc<Item>, is_small: bool) {
        let queued = match is_small {
            true => Queued::Job(Job::new(item, JobKind::Whole)),
            false => {
                let missing = item.missing().into();
                Queued::Ranges(item, missing)
            }
        };
        self.queue().push_back(queued);
    }

    /// Something that goes before all else.
    pub fn add_first(&self, job: Job) {
        self.queue().push_front(Queued::Job(job));
    }

    /// The next job.
    ///
    /// * `piece_size`: most bytes of a part of a file of that size.
    pub fn take(&self, piece_size: &dyn Fn(u64) -> u64) -> Option<Job> {
        let mut queue = self.queue();
        loop {
            match queue.pop_front()? {
                Queued::Job(job) if job.item.is_over() => {}
                Queued::Job(job) => return Some(job),
                Queued::Ranges(item, _) if item.is_over() => {}
                Queued::Ranges(item, mut ranges) => {
                    let Some(range) = cut(item.size, &mut ranges, piece_size(item.size)) else {
                        continue;
                    };
                    let job = Job::new(Arc::clone(&item), JobKind::Piece(range));
                    if !ranges.is_empty() {
                        queue.push_front(Queued::Ranges(item, ranges));
                    }
                    return Some(job);
                }
            }
        }
    }

    /// A connection died that had this job. `false` where it is not tried again.
    pub fn give_back(&self, job: Job) -> bool {
        let tries = job.tries + 1;
        let is_tried_again = tries < TRIES_MAX;
        if is_tried_again {
            self.add_first(Job { tries, ..job });
        }
        is_tried_again
    }

    /// Whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.queue().is_empty()
    }
}

impl Job {
    pub fn new(item: Arc<Item>, kind: JobKind) -> Self {
        let tries = 0;
        Job { item, kind, tries }
    }
}

fn cut(size: u64, ranges: &mut VecDeque<Range<u64>>, piece_size: u64) -> Option<Range<u64>> {
    let range = ranges.front_mut()?;
    let length = piece_length(size, range, piece_size);
    let piece = range.start..range.start + length;
    range.start = piece.end;
    if range.is_empty() {
        ranges.pop_front();
    }
    Some(piece)
}

#[cfg(test)]
mod tests {
    use copy_protocol::{Entry, Kind, Name};
    use files::legal_piece;

    use super::*;

    fn item(size: u64) -> Arc<Item> {
        let entry = Entry {
            name: Name::new(b"a".to_vec()).unwrap(),
            kind: Kind::File(size),
            mode: 0o644,
            modified_nanoseconds: 0,
            version: 0,
            is_sparse: false,
            digest: None,
        };
        Arc::new(Item::new(0, entry, size, b"a".to_vec()))
    }

    #[test]
    fn a_file_is_cut_into_pieces_that_cover_it() {
        let work = Work::default();
        let size = (5 << 20) + 77;
        work.add(item(size), false);
        let mut at = 0;
        while let Some(job) = work.take(&|_| 1 << 20) {
            let JobKind::Piece(range) = &job.kind else {
                unreachable!("{job:?}");
            };
            assert_eq!(range.start, at);
            assert!(legal_piece(size, range.start, range.end - range.start));
            at = range.end;
        }
        assert_eq!(at, size);
    }

    #[test]
    fn what_kills_every_connection_is_given_up() {
        let work = Work::default();
        work.add(item(5), true);
        let mut given_up = 0;
        while let Some(job) = work.take(&|_| 1 << 20) {
            given_up += u32::from(!work.give_back(job));
        }
        assert_eq!(given_up, 1);
    }

    #[test]
    fn nothing_more_of_a_file_that_failed_is_handed_out() {
        let work = Work::default();
        let failed = item(9 << 20);
        work.add(Arc::clone(&failed), false);
        assert!(work.take(&|_| 1 << 20).is_some());
        assert!(failed.end() && !failed.end());
        assert!(work.take(&|_| 1 << 20).is_none());
    }
}
