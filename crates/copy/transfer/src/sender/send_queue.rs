//! The queue that the sender's streams share: what is to be sent, and at what rate.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copy_protocol::{Chunk, FileId, Range};
use steer::Bucket;
use units::{Bytes, Rate, Span, Time};

use super::piece_size::PieceSize;
use crate::activity::{self, Stopwatch, TimeSpent, Waiting};
use crate::ledger::{Acked, Ledger};
use files::moved::{Cuts, KnownChunks};

/// Least time for which a stream is idle before it repeats a piece of another stream.
const GRACE_MIN: Duration = Duration::from_millis(500);
/// The same in a gentle copy: its streams are slow on purpose, and repeats take rate from other
/// traffic.
const GRACE_GENTLE: Duration = Duration::from_secs(5);
/// Longest sleep of a stream that waits for the rate limit: the limit may be lifted meanwhile.
const NAP_MAX: Duration = Duration::from_millis(100);

/// The pieces to send, and the rate limit.
#[derive(Debug)]
pub(crate) struct SendQueue {
    state: Mutex<State>,
    changed: Condvar,
    began: Instant,
    grace_min: Duration,
    /// See [`SendQueue::set_rtt`].
    grace: AtomicU64,
    /// See [`SendQueue::set_rate`].
    rate: AtomicU64,
    /// What the streams spend their time on.
    pub spent: TimeSpent,
    /// Bytes of files that the receiver confirmed, without holes.
    pub arrived: AtomicU64,
    /// Bytes of holes that it confirmed.
    pub holes: AtomicU64,
    /// Bytes that it took from older versions of files.
    pub unchanged: AtomicU64,
    /// It has told of older versions.
    has_older: AtomicBool,
    /// How often it told chunks of them: what waits for these is not confirmed meanwhile.
    pub told: AtomicU64,
    /// Nanoseconds that streams waited for holes to be confirmed, since
    /// [`SendQueue::waited_for_holes`] asked last.
    waited: AtomicU64,
    /// Bytes written to streams.
    pub on_wire: AtomicU64,
    /// Bytes of files that two streams sent.
    pub repeated: AtomicU64,
}

/// What a stream does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Sends this.
    Piece(Range),
    /// Ends.
    End,
    /// Waits: there is nothing to send now.
    Wait,
}

#[derive(Debug)]
struct State {
    ledger: Ledger,
    /// What the receiver told of older versions.
    chunks: KnownChunks,
    bucket: Bucket,
    leaving: BTreeSet<u32>,
    is_over: bool,
}

impl SendQueue {
    /// * `is_gentle`: the streams give way to others.
    pub(crate) fn new(rate_max: Option<Rate>, is_gentle: bool) -> Self {
        let grace_min = match is_gentle {
            true => GRACE_GENTLE,
            false => GRACE_MIN,
        };
        let state = State {
            ledger: Ledger::default(),
            chunks: KnownChunks::default(),
            bucket: Bucket::new(rate_max, Time::ZERO),
            leaving: BTreeSet::new(),
            is_over: false,
        };
        SendQueue {
            state: Mutex::new(state),
            changed: Condvar::new(),
            began: Instant::now(),
            grace_min,
            grace: AtomicU64::new(grace_min.as_nanos() as u64),
            rate: AtomicU64::new(0),
            spent: TimeSpent::default(),
            arrived: AtomicU64::new(0),
            holes: AtomicU64::new(0),
            unchanged: AtomicU64::new(0),
            has_older: AtomicBool::new(false),
            told: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            on_wire: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it held the lock left the ledger as it was between two
        // operations.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }

    /// Parts of files (file, size, parts) are to be sent. Returns the bytes of each.
    pub(crate) fn add<'a>(
        &self,
        wanted: impl IntoIterator<Item = (FileId, u64, &'a [(u64, u64)])>,
    ) -> Vec<(FileId, u64)> {
        let mut state = self.state();
        let ledger = &mut state.ledger;
        let added = wanted
            .into_iter()
            .map(|(file, size, parts)| (file, ledger.add(file, size, parts)))
            .collect();
        self.changed.notify_all();
        added
    }

    /// More of a file is to be sent than was known at first. Returns the bytes of it.
    pub(crate) fn add_more(&self, file: FileId, size: u64, parts: &[(u64, u64)]) -> u64 {
        let bytes = self.state().ledger.add_more(file, size, parts);
        self.changed.notify_all();
        bytes
    }

    /// Whether all that is wanted of a file was read.
    pub(crate) fn is_read(&self, file: FileId) -> bool {
        self.state().ledger.is_read(file)
    }

    /// All files were added.
    pub(crate) fn all_added(&self) {
        self.state().ledger.all_added();
        self.changed.notify_all();
    }

    /// An idle stream waits three round trips, in which its last pieces are confirmed, before it
    /// helps another.
    pub(crate) fn set_rtt(&self, rtt: Span) {
        let grace = self.grace_min.max(Duration::from(rtt.times(3)));
        let nanos = u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX);
        self.grace.store(nanos, Ordering::Relaxed);
    }

    /// What all streams together carry now. At the highest of these rates an idle stream waits
    /// twice as long as what is on its way takes: that others' pieces take long over a slow path
    /// does not mean that they hang.
    pub(crate) fn set_rate(&self, rate: Rate) {
        self.rate
            .fetch_max(rate.bits_per_second(), Ordering::Relaxed);
    }

    /// How long a stream is idle before it repeats one of the `left` bytes.
    fn grace(&self, left: u64) -> Duration {
        let least = Duration::from_nanos(self.grace.load(Ordering::Relaxed));
        match self.rate.load(Ordering::Relaxed) {
            0 => least,
            rate => {
                let takes = Rate::from_bits_per_second(rate).time_to_send(Bytes::new(left));
                least.max(takes.times(2).into())
            }
        }
    }

    /// The next piece for a stream, once there is one; `None` when the stream is to end.
    pub(crate) fn take(
        &self,
        stream: u32,
        piece_size: &PieceSize,
        stopwatch: &mut Stopwatch,
    ) -> Option<Range> {
        let wait = || self.wait_for_piece(stream, piece_size);
        self.spent.during(stopwatch, Waiting::Work, wait)
    }

    fn wait_for_piece(&self, stream: u32, piece_size: &PieceSize) -> Option<Range> {
        let begun = Instant::now();
        let mut since = begun;
        let mut state = self.state();
        let waits_for_holes = state.ledger.waiting() > 0 && !state.ledger.has_work();
        let mut on_its_way = state.ledger.left();
        let piece = loop {
            if state.ledger.left() > on_its_way {
                on_its_way = state.ledger.left();
                since = Instant::now();
            }
            let left = self.grace(on_its_way).saturating_sub(since.elapsed());
            match self.turn(&mut state, stream, piece_size, left.is_zero()) {
                Turn::Piece(piece) => break Some(piece),
                Turn::End => break None,
                Turn::Wait => {}
            }
            let nap = if left.is_zero() {
                NAP_MAX
            } else {
                left.min(NAP_MAX)
            };
            let woken = self.changed.wait_timeout(state, nap);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(state);
        if waits_for_holes {
            let nanos = activity::nanoseconds(begun.elapsed());
            self.waited.fetch_add(nanos, Ordering::Relaxed);
        }
        piece
    }

    /// How long streams waited, all together, for holes to be confirmed since this was asked last.
    pub(crate) fn waited_for_holes(&self) -> Span {
        Span::from_nanos(self.waited.swap(0, Ordering::Relaxed))
    }

    /// What a stream does next.
    ///
    /// * `may_repeat`: it was idle for long enough to repeat a piece of another stream.
    fn turn(
        &self,
        state: &mut State,
        stream: u32,
        piece_size: &PieceSize,
        may_repeat: bool,
    ) -> Turn {
        if state.is_over || state.leaving.remove(&stream) {
            return Turn::End;
        }
        if (state.ledger.has_work() || may_repeat)
            && let Some(bytes) = piece_size.bytes()
            && let Some(piece) = self.take_from(state, stream, bytes)
        {
            return Turn::Piece(piece);
        }
        Turn::Wait
    }

    /// The same for a stream that has no thread to wait on.
    #[cfg(test)]
    pub(crate) fn try_take(&self, stream: u32, piece_size: &PieceSize, may_repeat: bool) -> Turn {
        self.turn(&mut self.state(), stream, piece_size, may_repeat)
    }

    /// The next piece for a stream if there is one at once.
    pub(crate) fn take_at_once(&self, stream: u32, piece_size: &PieceSize) -> Option<Range> {
        let mut state = self.state();
        let may = !state.is_over && !state.leaving.contains(&stream) && state.ledger.has_work();
        let bytes = piece_size.bytes().filter(|_| may)?;
        self.take_from(&mut state, stream, bytes)
    }

    fn take_from(&self, state: &mut State, stream: u32, piece_size: u64) -> Option<Range> {
        let taken = state.ledger.take(stream, piece_size)?;
        // Of one that was offered little is sent, and it may wait at the receiver for long.
        if taken.is_copy && !state.ledger.is_offered(taken.piece) {
            self.repeated
                .fetch_add(taken.piece.length, Ordering::Relaxed);
        }
        Some(taken.piece)
    }

    /// How many bytes, `most` or fewer, may be sent in one go, and the turn to wait for where they
    /// may not leave at once.
    pub(crate) fn ask(&self, most: usize) -> (usize, Option<steer::Turn>) {
        let now = self.now();
        let mut state = self.state();
        if state.bucket.rate().is_none() {
            return (most, None);
        }
        let portion = state.bucket.portion(Bytes::new(most as u64));
        let turn = state.bucket.queue(portion, now);
        let has_to_wait = state.bucket.wait(turn, now) > Span::ZERO;
        let portion = usize::try_from(portion.get()).unwrap_or(most);
        (portion.min(most), has_to_wait.then_some(turn))
    }

    /// Waits until what was asked for may leave.
    pub(crate) fn wait_for_turn(&self, turn: steer::Turn, stopwatch: &mut Stopwatch) {
        let wait = || self.until_let_out(turn);
        self.spent.during(stopwatch, Waiting::Rate, wait);
    }

    fn until_let_out(&self, turn: steer::Turn) {
        loop {
            let mut state = self.state();
            let wait = Duration::from(state.bucket.wait(turn, self.now()));
            if wait.is_zero() || state.is_over {
                return;
            }
            drop(state);
            std::thread::sleep(wait.min(NAP_MAX));
        }
    }

    /// The bound on the rate of all streams together from now on.
    pub(crate) fn set_rate_max(&self, rate: Option<Rate>) {
        let now = self.now();
        let mut state = self.state();
        if state.bucket.rate() != rate {
            state.bucket.set_rate(rate, now);
        }
    }

    /// A piece was read, of which `data` bytes are no holes. Returns whether that was the last of
    /// its file.
    pub(crate) fn read(&self, piece: Range, data: u64) -> bool {
        self.state().ledger.read(piece, data)
    }

    /// A piece lies in a hole that ends at `end`.
    pub(crate) fn is_hole(&self, piece: Range, end: u64) {
        self.state().ledger.is_hole(piece, end);
    }

    /// The receiver has older versions of these files, of so many bytes.
    pub(crate) fn older(&self, files: &[(FileId, u64)]) {
        let mut state = self.state();
        for (file, bytes) in files {
            state.ledger.older(*file, *bytes);
        }
        self.has_older.store(true, Ordering::Release);
    }

    /// Whether the hash of a piece is to be sent before its bytes. It counts as sent then.
    pub(crate) fn offer(&self, piece: Range) -> bool {
        if !self.has_older.load(Ordering::Acquire) {
            return false;
        }
        let mut state = self.state();
        let may_offer = state.ledger.may_offer(piece);
        if may_offer {
            state.ledger.is_offer(piece);
        }
        may_offer
    }

    /// The receiver's older version of a file has these chunks from `start` on.
    pub(crate) fn chunks(&self, file: FileId, start: u64, chunks: &[Chunk]) {
        let mut state = self.state();
        if let Some(older) = state.ledger.older_bytes(file) {
            state.chunks.insert(file, older, start, chunks);
            self.told.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Where a piece is to be cut, to be put together of an older version; `None` where it is not.
    pub(crate) fn cuts(&self, piece: Range) -> Option<Cuts> {
        if !self.has_older.load(Ordering::Acquire) {
            return None;
        }
        let state = self.state();
        let cuts = state.chunks.cuts(piece.file)?;
        state.ledger.may_move(piece).then_some(cuts)
    }

    /// Where the older version of a file has a chunk.
    pub(crate) fn place(&self, file: FileId, chunk: &Chunk) -> Option<u64> {
        self.state().chunks.place(file, chunk)
    }

    /// A piece is sent as what an older version has at other places, and what not.
    pub(crate) fn is_moved(&self, piece: Range) {
        self.state().ledger.is_moved(piece);
    }

    /// A piece came back of which the older version was to have all or some bytes: they are to be
    /// sent. `false` where they were.
    pub(crate) fn refused(&self, piece: Range) -> bool {
        let is_offered = self.state().ledger.is_offered(piece);
        if is_offered {
            self.damaged(piece);
        }
        is_offered
    }

    /// Pieces that arrived. Returns the bytes that were not confirmed before; `None` when one was
    /// never sent.
    pub(crate) fn acked(&self, pieces: &[Range]) -> Option<u64> {
        let mut state = self.state();
        let had_work = state.ledger.has_work();
        let has_older = self.has_older.load(Ordering::Acquire);
        let mut bytes = 0;
        for piece in pieces {
            let is_offered = has_older && state.ledger.is_offered(*piece);
            match state.ledger.acked(*piece) {
                Acked::Counted { data, is_last } => {
                    bytes += piece.length;
                    self.arrived.fetch_add(data, Ordering::Relaxed);
                    let rest = match is_offered {
                        true => &self.unchanged,
                        false => &self.holes,
                    };
                    rest.fetch_add(piece.length.saturating_sub(data), Ordering::Relaxed);
                    if is_last {
                        state.chunks.forget(piece.file);
                    }
                }
                Acked::Late => (),
                Acked::NeverSent => return None,
            }
        }
        if !had_work && state.ledger.has_work() {
            self.changed.notify_all();
        }
        Some(bytes)
    }

    /// A piece has to be sent again; how often that happened to it.
    pub(crate) fn damaged(&self, piece: Range) -> u32 {
        let times = self.state().ledger.damaged(piece);
        self.changed.notify_all();
        times
    }

    /// A stream ended; its pieces go to others. Returns their bytes.
    pub(crate) fn over(&self, stream: u32) -> u64 {
        let mut state = self.state();
        state.leaving.remove(&stream);
        let bytes = state.ledger.over(stream);
        self.changed.notify_all();
        bytes
    }

    /// Nothing of a file is needed any more.
    pub(crate) fn forget(&self, file: FileId) {
        let mut state = self.state();
        state.ledger.forget(file);
        state.chunks.forget(file);
    }

    /// Ends a stream after its present piece.
    pub(crate) fn leave(&self, stream: u32) {
        self.state().leaving.insert(stream);
        self.changed.notify_all();
    }

    /// Pieces that were sent, or are being sent, and are not confirmed.
    pub(crate) fn unconfirmed(&self) -> usize {
        self.state().ledger.unconfirmed()
    }

    /// Bytes that are not confirmed yet.
    pub(crate) fn left(&self) -> u64 {
        self.state().ledger.left()
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_stream_waits_as_long_as_slow_ones_may_take() {
        let queue = SendQueue::new(None, false);
        assert_eq!(queue.grace(1_000_000), GRACE_MIN, "no rate is known");
        queue.set_rate("1Mbit/s".parse().unwrap());
        queue.set_rate(Rate::ZERO);
        assert_eq!(queue.grace(0), GRACE_MIN);
        assert_eq!(queue.grace(250_000), Duration::from_secs(4));
        queue.set_rtt(Span::from_secs(1));
        assert_eq!(queue.grace(250), Duration::from_secs(3));
    }

    #[test]
    fn a_piece_that_is_offered_twice_is_no_data_sent_twice() {
        let (queue, size) = (SendQueue::new(None, false), PieceSize::default());
        queue.older(&[(0, 1 << 20)]);
        queue.add([(0, 1 << 20, &[(0, 1 << 20)][..])]);
        queue.all_added();
        while let Turn::Piece(piece) = queue.try_take(1, &size, false) {
            assert!(queue.offer(piece));
            queue.read(piece, 0);
        }
        let copied = queue.try_take(2, &size, true);
        assert!(matches!(copied, Turn::Piece(_)), "{copied:?}");
        assert_eq!(queue.repeated.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn chunks_count_where_something_of_their_file_is_needed() {
        let queue = SendQueue::new(None, false);
        let chunk = Chunk {
            length: 5,
            hash: [7; 8],
        };
        let told = || {
            queue.chunks(0, 9, &[chunk]);
            (queue.told.load(Ordering::Relaxed), queue.place(0, &chunk))
        };
        assert_eq!(told(), (0, None));
        queue.older(&[(0, 1 << 20)]);
        assert_eq!(told(), (1, Some(9)));
    }
}
