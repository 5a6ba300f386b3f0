//! Pieces that an older version has not at their place: from when on it is looked through for them,
//! and when they are asked for.
//!
//! The chunks of an older version are told once pieces of more bytes than the list has came back.
//! Pieces that come back then wait until it is cut around their place, so that the sender has the
//! chunks by the time that it sends them. It is cut no further than that: what is read for it is
//! read by then, or will be soon, for the pieces that are offered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use copy_protocol::{FileId, Range};

use super::cutter::{Cutter, Request};
use files::moved::Cuts;

/// How far behind its place in the newer version a piece is looked for.
const AHEAD: u64 = 256 << 20;
/// Most pieces that wait: more than a sender offers before it hears of the first of them. One that
/// offers without end gets its answers at once.
const WAITING_MAX: usize = 1 << 14;

/// The older versions of files that are on their way.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// `None` where nothing is cut.
    cutter: Option<Cutter>,
    files: BTreeMap<FileId, Older>,
    /// Pieces that wait.
    waiting: usize,
}

#[derive(Debug)]
struct Older {
    bytes: u64,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Pieces of so many bytes came back.
    Compared(u64),
    /// It was cut as far as `end`, and is to be as far as `asked`; these pieces wait, by their
    /// place.
    Cutting {
        end: u64,
        asked: u64,
        waiting: BTreeMap<u64, Range>,
        is_over: Arc<AtomicBool>,
    },
    /// The sender knows what there is to know.
    Cut,
}

impl Moved {
    pub(super) fn new(cutter: Option<Cutter>) -> Self {
        Moved {
            cutter,
            ..Moved::default()
        }
    }

    /// The sender is told of an older version of so many bytes.
    pub(super) fn told(&mut self, file: FileId, bytes: u64) {
        let phase = Phase::Compared(0);
        self.files.insert(file, Older { bytes, phase });
    }

    /// An older version has other bytes at the place of a piece. Returns what is to be asked for
    /// now.
    pub(super) fn refused(&mut self, piece: Range) -> Option<Range> {
        let (Some(cutter), Some(older)) = (&self.cutter, self.files.get_mut(&piece.file)) else {
            return Some(piece);
        };
        if let Phase::Compared(refused) = &mut older.phase {
            *refused = refused.saturating_add(piece.length);
            let list = Cuts::of(older.bytes).map(|cuts| cuts.list_length(older.bytes));
            if list.is_none_or(|list| *refused < list) {
                return Some(piece);
            }
            older.phase = Phase::Cutting {
                end: 0,
                asked: 0,
                waiting: BTreeMap::new(),
                is_over: Arc::default(),
            };
        }
        let Phase::Cutting {
            end,
            asked,
            waiting,
            is_over,
        } = &mut older.phase
        else {
            return Some(piece);
        };
        let needed = needed(piece);
        if needed <= *end || self.waiting >= WAITING_MAX {
            return Some(piece);
        }
        // The same piece may be offered twice.
        let is_new = waiting.insert(piece.start, piece).is_none();
        self.waiting += usize::from(is_new);
        let until = if needed < older.bytes {
            needed
        } else {
            u64::MAX
        };
        if until > *asked {
            *asked = until;
            cutter.take(Request {
                file: piece.file,
                bytes: older.bytes,
                until,
                is_over: Arc::clone(is_over),
            });
        }
        None
    }

    /// An older version was cut up to `end`, or as far as it can be. Returns the pieces that waited
    /// for that; `None` where it is of no use any more.
    pub(super) fn on_cut(&mut self, file: FileId, end: Option<u64>) -> Option<Vec<Range>> {
        let older = self.files.get_mut(&file)?;
        let Phase::Cutting {
            end: so_far,
            waiting,
            ..
        } = &mut older.phase
        else {
            return None;
        };
        let released = match end {
            Some(end) => {
                *so_far = end;
                let first = waiting.iter().find(|(_, piece)| needed(**piece) > end);
                let first = first.map(|(start, _)| *start);
                let later = first.map(|first| waiting.split_off(&first));
                std::mem::replace(waiting, later.unwrap_or_default())
            }
            None => std::mem::take(waiting),
        };
        if end.is_none() {
            older.phase = Phase::Cut;
        }
        self.waiting -= released.len();
        Some(released.into_values().collect())
    }

    /// Whether pieces wait.
    pub(super) fn is_busy(&self) -> bool {
        self.waiting > 0
    }

    /// The file is whole or failed.
    pub(super) fn forget(&mut self, file: FileId) {
        let older = self.files.remove(&file);
        if let Some(Phase::Cutting {
            is_over, waiting, ..
        }) = older.map(|older| older.phase)
        {
            is_over.store(true, Ordering::Relaxed);
            self.waiting -= waiting.len();
        }
    }

    /// Cuts nothing more. Returns the thread.
    pub(super) fn close(&mut self) -> Option<JoinHandle<()>> {
        self.cutter.as_mut().and_then(Cutter::close)
    }
}

/// How far an older version is to be cut for a piece.
fn needed(piece: Range) -> u64 {
    let end = piece.start.saturating_add(piece.length);
    end.saturating_add(AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn piece(start: u64) -> Range {
        Range {
            file: 3,
            start,
            length: 128 << 10,
        }
    }

    fn moved(bytes: u64) -> Moved {
        let mut moved = Moved::new(Some(Cutter::queue().0));
        moved.told(3, bytes);
        moved
    }

    #[test]
    fn an_older_version_is_cut_as_far_as_pieces_need_it() {
        let (cutter, requests) = Cutter::queue();
        let mut moved = Moved::new(Some(cutter));
        moved.told(3, 600 * MIB);
        // The list has 422 kB.
        for at in 0..3 {
            assert!(moved.refused(piece(at * MIB)).is_some(), "{at}");
        }
        for at in [10, 7, 500, 599] {
            assert_eq!(moved.refused(piece(at * MIB)), None, "{at}");
        }
        let until: Vec<u64> = requests.try_iter().map(|it| it.until).collect();
        assert_eq!(until, [needed(piece(10 * MIB)), u64::MAX]);
    }

    #[test]
    fn pieces_wait_until_the_sender_knows_what_is_around_their_place() {
        let mut moved = moved(1 << 30);
        // The list of 1 GiB has 720 kB: five pieces have less.
        for at in 0..5 {
            let piece = piece(at * MIB);
            assert_eq!(moved.refused(piece), Some(piece), "{at}");
            assert!(!moved.is_busy());
        }
        for start in [700 * MIB, 5 * MIB, 5 * MIB] {
            assert_eq!(moved.refused(piece(start)), None);
        }
        assert_eq!(moved.on_cut(3, Some(260 * MIB)), Some(Vec::new()));
        let released = moved.on_cut(3, Some(264 * MIB));
        assert_eq!(released, Some(vec![piece(5 * MIB)]));
        let near = piece(20 * MIB);
        assert_eq!(moved.refused(near), None);
        assert_eq!(moved.on_cut(3, Some(300 * MIB)), Some(vec![near]));
        assert_eq!(moved.refused(near), Some(near));
        assert!(moved.is_busy(), "one waits");
        assert_eq!(moved.on_cut(3, None), Some(vec![piece(700 * MIB)]));
        assert!(!moved.is_busy());
        assert_eq!(moved.refused(piece(900 * MIB)), Some(piece(900 * MIB)));
        assert_eq!(moved.on_cut(3, Some(MIB)), None);
    }

    /// Of a file of which it made up the length, a sender can offer pieces without end.
    #[test]
    fn no_more_pieces_wait_than_an_honest_sender_offers() {
        let mut moved = moved(8 * MIB);
        for at in 0..WAITING_MAX as u64 {
            assert_eq!(moved.refused(piece(at * MIB)), None, "{at}");
        }
        let next = piece(WAITING_MAX as u64 * MIB);
        assert_eq!(moved.refused(next), Some(next));
        let released = moved.on_cut(3, None).unwrap();
        assert_eq!((released.len(), moved.is_busy()), (WAITING_MAX, false));
    }

    #[test]
    fn a_file_that_is_done_with_waits_for_nothing() {
        let mut moved = moved(8 * MIB);
        assert_eq!(moved.refused(piece(MIB)), None);
        assert!(moved.is_busy());
        moved.forget(3);
        assert!(!moved.is_busy());
        assert_eq!(moved.on_cut(3, Some(MIB)), None);
        assert_eq!(moved.refused(piece(MIB)), Some(piece(MIB)), "never told");
    }

    #[test]
    fn what_cannot_be_cut_is_asked_for_at_once() {
        let piece = piece(0);
        assert_eq!(moved(1 << 40).refused(piece), Some(piece));
        let mut none = Moved::default();
        none.told(3, MIB);
        assert_eq!(none.refused(piece), Some(piece));
    }
}
