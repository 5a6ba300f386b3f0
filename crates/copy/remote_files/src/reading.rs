//! Ranges of files, in pieces over all connections.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copy_protocol::Name;
use copy_protocol::remote::{Ask, Failure, FailureKind, FileIdentity};
use units::Span;

use crate::RemoteError;
use crate::caller::Caller;
use crate::slot::{ReadBytes, Signal, Slot, Stage, TICK};
use crate::window::PIECE;

/// The least time after which a piece that has not come is asked for on another connection, too.
const AGAIN_MIN: Duration = Duration::from_millis(300);
/// The same in round trips.
const AGAIN_ROUND_TRIPS: u64 = 5;
/// More requests than any session has connections for.
const DEMAND_MAX: usize = 256;
/// Pieces of one range for which connections are made before the file was seen.
const UNSEEN_MAX: usize = 8;
/// How soon a new connection is noticed while there is more to ask.
const NEW_CONNECTION: Duration = Duration::from_millis(5);
/// Files have no bytes beyond this, `off_t`.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// Which bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRange {
    /// The file.
    pub path: Name,
    /// The first byte.
    pub start: u64,
    /// The byte behind the last; the end of the file without. What lies beyond the end of the file
    /// does not come.
    pub end: Option<u64>,
    /// Another version of the file is an error.
    pub expected: Option<FileIdentity>,
}

/// One range, and what of it has come.
struct Reading<'a> {
    range: &'a ReadRange,
    has_begun: bool,
    /// Bytes before this one are asked for.
    asked: u64,
    /// Pieces that have not come.
    open: usize,
    identity: Option<FileIdentity>,
    mode: u32,
    bytes: Vec<u8>,
    failed: Option<RemoteError>,
}

/// What of a range is to be asked for now.
enum Next {
    Piece {
        offset: u64,
        length: u32,
    },
    /// The first answer shows how long the file is.
    Later,
    Nothing,
}

/// A piece that is on its way.
struct Piece {
    reading: usize,
    offset: u64,
    length: u32,
    /// One, or a second where the first is slow.
    slots: Vec<Arc<Slot>>,
    since: Instant,
}

/// What was asked for, and what is to be asked for.
struct Work<'a> {
    readings: Vec<Reading<'a>>,
    /// Ranges of which more is to be asked for; the first comes first.
    queue: VecDeque<usize>,
    /// Pieces whose connection was lost.
    again: Vec<Piece>,
    pieces: Vec<Piece>,
    /// Ranges that are not done.
    left: usize,
}

/// Reads all `ranges`. Each has a result of its own; they come in the order of the ranges.
///
/// # Errors
/// When it was cancelled, or the far end was gone for too long.
pub(crate) fn read_all(
    caller: &mut Caller<'_>,
    ranges: &[ReadRange],
) -> Result<Vec<Result<ReadBytes, RemoteError>>, RemoteError> {
    let mut work = Work::new(ranges);
    let done = work.run(caller);
    let left = work.pieces.iter().flat_map(|piece| &piece.slots);
    left.for_each(|slot| slot.abandon());
    done.map(|()| work.readings.into_iter().map(Reading::conclude).collect())
}

impl<'a> Work<'a> {
    fn new(ranges: &'a [ReadRange]) -> Self {
        let readings: Vec<Reading<'a>> = ranges.iter().map(Reading::new).collect();
        let queue: VecDeque<usize> = readings
            .iter()
            .enumerate()
            .filter(|(_, reading)| reading.failed.is_none())
            .map(|(index, _)| index)
            .collect();
        Work {
            left: queue.len(),
            readings,
            queue,
            again: Vec::new(),
            pieces: Vec::new(),
        }
    }

    fn run(&mut self, caller: &mut Caller<'_>) -> Result<(), RemoteError> {
        let signal = Arc::new(Signal::default());
        let mut seen = 0;
        while self.left > 0 {
            caller.connect()?;
            self.ask(caller, &signal);
            self.ask_twice(caller, &signal);
            let is_more = !self.queue.is_empty() || !self.again.is_empty();
            seen = signal.wait(seen, if is_more { NEW_CONNECTION } else { TICK });
            self.collect(caller);
            caller.go_on()?;
        }
        Ok(())
    }

    /// Requests that are on their way or could be, counted up to [`DEMAND_MAX`].
    fn demand(&self) -> usize {
        let mut demand = self.pieces.len() + self.again.len();
        for index in &self.queue {
            if demand >= DEMAND_MAX {
                break;
            }
            demand += self.readings[*index].pieces_left();
        }
        demand
    }

    /// Asks for as much as the connections take.
    fn ask(&mut self, caller: &Caller<'_>, signal: &Arc<Signal>) {
        if !self.queue.is_empty() || !self.again.is_empty() {
            caller.pool.want(self.demand());
        }
        while let Some(mut piece) = self.again.pop() {
            let slot = self.slot(&piece, signal);
            if !caller.pool.ask(&slot) {
                return self.again.push(piece);
            }
            piece.slots = vec![slot];
            piece.since = Instant::now();
            self.pieces.push(piece);
        }
        while let Some(&index) = self.queue.front() {
            let Next::Piece { offset, length } = self.readings[index].next() else {
                self.queue.pop_front();
                continue;
            };
            let mut piece = Piece {
                reading: index,
                offset,
                length,
                slots: Vec::new(),
                since: Instant::now(),
            };
            let slot = self.slot(&piece, signal);
            if !caller.pool.ask(&slot) {
                return;
            }
            piece.slots.push(slot);
            self.pieces.push(piece);
            self.readings[index].on_asked(length);
        }
    }

    /// A piece of a slow connection, where another one has nothing to do.
    fn ask_twice(&mut self, caller: &Caller<'_>, signal: &Arc<Signal>) {
        if !self.queue.is_empty() || !self.again.is_empty() || !caller.pool.has_idle() {
            return;
        }
        let round_trips = caller
            .pool
            .rtt()
            .unwrap_or(Span::ZERO)
            .times(AGAIN_ROUND_TRIPS);
        let patience = AGAIN_MIN.max(round_trips.into());
        let is_slow = |piece: &&Piece| piece.slots.len() == 1 && piece.since.elapsed() >= patience;
        let Some(at) = self.pieces.iter().position(|piece| is_slow(&piece)) else {
            return;
        };
        let slot = self.slot(&self.pieces[at], signal);
        if caller.pool.ask(&slot) {
            self.pieces[at].slots.push(slot);
        }
    }

    fn slot(&self, piece: &Piece, signal: &Arc<Signal>) -> Arc<Slot> {
        let reading = &self.readings[piece.reading];
        let ask = Ask::Read {
            path: reading.range.path.clone(),
            offset: piece.offset,
            length: piece.length,
            expected: reading.identity,
        };
        Slot::new(ask, signal)
    }

    /// Takes what has come.
    fn collect(&mut self, caller: &mut Caller<'_>) {
        let mut at = 0;
        while at < self.pieces.len() {
            let piece = &mut self.pieces[at];
            let reading = &mut self.readings[piece.reading];
            for slot in &piece.slots {
                caller.on_heard(slot.heard());
            }
            match piece.outcome() {
                Outcome::Waiting if reading.failed.is_none() => {
                    at += 1;
                    continue;
                }
                Outcome::Lost if reading.failed.is_none() => {
                    let lost = self.pieces.swap_remove(at);
                    self.again.push(lost);
                    continue;
                }
                Outcome::Waiting | Outcome::Lost => {}
                Outcome::Came(read) => reading.take(piece.offset, &read),
                Outcome::Failed(error) => reading.fail(error),
            }
            let over = self.pieces.swap_remove(at);
            over.slots.iter().for_each(|slot| slot.abandon());
            self.on_over(over.reading);
        }
    }

    /// A piece has come, or is not wanted any more.
    fn on_over(&mut self, index: usize) {
        let reading = &mut self.readings[index];
        reading.open -= 1;
        match reading.next() {
            Next::Piece { .. } if !self.queue.contains(&index) => self.queue.push_front(index),
            Next::Nothing if reading.open == 0 => self.left -= 1,
            _ => {}
        }
    }
}

/// What has become of a piece.
enum Outcome {
    Waiting,
    Came(ReadBytes),
    Failed(RemoteError),
    Lost,
}

impl Piece {
    fn outcome(&mut self) -> Outcome {
        let mut failed = None;
        let mut index = 0;
        while let Some(slot) = self.slots.get(index) {
            match slot.stage() {
                Stage::Done => {
                    if let Some(read) = slot.take_data() {
                        return Outcome::Came(read);
                    }
                    failed = Some(RemoteError::Protocol("a range has no answer".to_owned()));
                    index += 1;
                }
                Stage::Failed(error) => {
                    failed = Some(error);
                    index += 1;
                }
                Stage::Lost(_) => {
                    self.slots.remove(index);
                }
                Stage::Waiting => index += 1,
            }
        }
        match failed {
            Some(error) => Outcome::Failed(error),
            None if self.slots.is_empty() => Outcome::Lost,
            None => Outcome::Waiting,
        }
    }
}

impl<'a> Reading<'a> {
    fn new(range: &'a ReadRange) -> Self {
        Reading {
            range,
            has_begun: false,
            asked: range.start,
            open: 0,
            identity: range.expected,
            mode: 0,
            bytes: Vec::new(),
            failed: wrong(range).err(),
        }
    }

    /// Where it ends, as far as that is known.
    fn end(&self) -> u64 {
        let wanted = self.range.end.unwrap_or(u64::MAX);
        let size = self.identity.map_or(u64::MAX, |identity| identity.size);
        wanted.min(size).min(OFFSET_MAX)
    }

    /// What is to be asked for. The first piece is asked for also where nothing can come, so that
    /// the file is seen.
    fn next(&self) -> Next {
        let left = self.end().saturating_sub(self.asked);
        let is_open_ended = self.identity.is_none() && self.range.end.is_none();
        match self.failed {
            Some(_) => Next::Nothing,
            None if self.has_begun && is_open_ended => Next::Later,
            None if self.has_begun && left == 0 => Next::Nothing,
            None => Next::Piece {
                offset: self.asked,
                length: u32::try_from(left).unwrap_or(u32::MAX).min(PIECE),
            },
        }
    }

    /// Of a file whose size is not known, a few at most: the range may go far beyond its end.
    fn pieces_left(&self) -> usize {
        let most = match (self.range.end, self.identity) {
            (None, None) => 1,
            (Some(_), None) => UNSEEN_MAX,
            (_, Some(_)) => DEMAND_MAX,
        };
        let left = self.end().saturating_sub(self.asked);
        let pieces = usize::try_from(left.div_ceil(PIECE.into()));
        pieces.unwrap_or(usize::MAX).min(most)
    }

    fn on_asked(&mut self, length: u32) {
        self.has_begun = true;
        self.asked += u64::from(length);
        self.open += 1;
    }

    fn take(&mut self, offset: u64, read: &ReadBytes) {
        match self.identity {
            Some(known) if known != read.identity => return self.fail(changed(&self.range.path)),
            _ => self.identity = Some(read.identity),
        }
        self.mode = read.mode;
        let bytes = &read.bytes;
        let at = usize::try_from(offset - self.range.start).unwrap_or(usize::MAX);
        let Some(end) = at.checked_add(bytes.len()) else {
            return self.fail(RemoteError::Protocol("a range is too long".to_owned()));
        };
        // A piece behind the end of the file has none.
        if bytes.is_empty() {
            return;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(bytes);
    }

    fn fail(&mut self, error: RemoteError) {
        self.failed.get_or_insert(error);
    }

    fn conclude(self) -> Result<ReadBytes, RemoteError> {
        let nothing = || RemoteError::Protocol("a range has no answer".to_owned());
        match self.failed {
            Some(error) => Err(error),
            None => Ok(ReadBytes {
                bytes: self.bytes,
                identity: self.identity.ok_or_else(nothing)?,
                mode: self.mode,
            }),
        }
    }
}

/// Refuses a range that no file can have.
fn wrong(range: &ReadRange) -> Result<(), RemoteError> {
    let (start, path) = (range.start, &range.path);
    let what = match range.end {
        Some(end) if end < start => {
            format!("cannot read `{path}` from byte {start} to {end}: that ends before it begins")
        }
        _ if start > OFFSET_MAX => {
            format!("cannot read `{path}` from byte {start}: no file has more than {OFFSET_MAX}")
        }
        _ => return Ok(()),
    };
    Err(RemoteError::Failed(Failure::new(
        FailureKind::Request,
        what,
    )))
}

fn changed(path: &Name) -> RemoteError {
    let what = format!("`{path}` was written to or replaced meanwhile");
    let failure = Failure::new(FailureKind::Changed, what).with_hint("open it again");
    RemoteError::Failed(failure)
}
