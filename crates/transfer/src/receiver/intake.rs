//! What the receiver makes of the bytes of one stream: checks pieces and writes them where they belong.
//!
//! It asks for one portion after the other, so it reads nothing itself and never waits but for the entry of a file whose piece
//! came before it.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use wire::copying::{Coding, HASH_LENGTH, HEADER_LENGTH, PACKED_MAX, PieceHeader, Problem, Range};

use super::Shared;
use super::shelf::{Growing, Placed};
use crate::activity::Spent;
use crate::session::Happening;
use crate::tree::{BLOCK, PieceHasher};

/// The pieces of one stream.
pub(crate) struct Intake {
    number: u32,
    shared: Arc<Shared>,
    report: SyncSender<Happening>,
    state: State,
}

/// What comes next.
enum State {
    /// A header, or the end of the stream.
    Header,
    /// Bytes of a piece, as they are in the file from here on.
    Raw(Box<Incoming>, u64),
    /// Bytes of a compressed piece, of which these came.
    Packed(Box<Incoming>, Vec<u8>),
    Seal(Box<Incoming>),
}

/// A piece on its way in.
struct Incoming {
    header: PieceHeader,
    /// `None` when nothing of it is wanted.
    file: Option<Arc<Growing>>,
    hasher: PieceHasher,
    problem: Option<Problem>,
}

impl Intake {
    pub(crate) fn new(number: u32, shared: Arc<Shared>, report: SyncSender<Happening>) -> Self {
        Intake {
            number,
            shared,
            report,
            state: State::Header,
        }
    }

    /// Whether the stream may end here.
    pub(crate) fn is_between_pieces(&self) -> bool {
        matches!(self.state, State::Header)
    }

    /// Bytes of the next portion: at most [`BLOCK`].
    pub(crate) fn wanted(&self) -> usize {
        match &self.state {
            State::Header => HEADER_LENGTH,
            State::Raw(incoming, at) => {
                let left = end_of(&incoming.header) - at;
                usize::try_from(left).unwrap_or(BLOCK).min(BLOCK)
            }
            State::Packed(incoming, packed) => {
                let left = incoming.header.wire_length as usize - packed.len();
                left.min(BLOCK)
            }
            State::Seal(_) => HASH_LENGTH,
        }
    }

    /// Takes the portion that is wanted.
    ///
    /// # Errors
    /// When it is none; the stream is of no use after that.
    pub(crate) fn take(&mut self, portion: &[u8]) -> io::Result<()> {
        let state = mem::replace(&mut self.state, State::Header);
        self.state = match state {
            State::Header => self.begin(portion)?,
            State::Raw(mut incoming, at) => {
                incoming.write(&self.shared, self.number, at, portion);
                raw(incoming, at + portion.len() as u64)
            }
            State::Packed(incoming, mut packed) => {
                packed.extend_from_slice(portion);
                self.packed(incoming, packed)
            }
            State::Seal(incoming) => {
                self.conclude(*incoming, portion);
                State::Header
            }
        };
        Ok(())
    }

    /// The stream broke: what it was bringing may have to be asked for again.
    pub(crate) fn break_off(&mut self) {
        let state = mem::replace(&mut self.state, State::Header);
        let (State::Raw(incoming, _) | State::Packed(incoming, _) | State::Seal(incoming)) = state
        else {
            return;
        };
        if let Some(file) = &incoming.file
            && file.abandon(&incoming.header, self.number)
        {
            self.tell(Happening::Damaged(range_of(&incoming.header)));
        }
    }

    fn tell(&self, happening: Happening) {
        // Nobody listens any more when the conversation is over.
        let _ = self.report.send(happening);
    }

    fn begin(&self, portion: &[u8]) -> io::Result<State> {
        let bytes = portion.try_into().map_err(io::Error::other)?;
        let header = PieceHeader::decode(bytes).map_err(io::Error::other)?;
        let found = self.shared.shelf.find(header.file);
        let found = found.map_err(io::Error::other)?;
        if found.as_ref().is_some_and(|file| !file.fits(&header)) {
            return Err(io::Error::other(format!(
                "{} bytes at {} are no piece of file {}",
                header.length, header.offset, header.file
            )));
        }
        let size = found.as_ref().map_or(0, |file| file.size);
        let file = found.filter(|file| file.begin(&header, self.number));
        let incoming = Box::new(Incoming {
            header,
            file,
            hasher: PieceHasher::new(size, header.offset, header.length.into()),
            problem: None,
        });
        Ok(match header.coding {
            Coding::Raw => raw(incoming, header.offset),
            Coding::Zstd => {
                let room = header.wire_length as usize;
                self.packed(incoming, Vec::with_capacity(room))
            }
        })
    }

    /// What cannot be decompressed is hashed as nothing, and so is damaged.
    fn packed(&self, mut incoming: Box<Incoming>, packed: Vec<u8>) -> State {
        if packed.len() < incoming.header.wire_length as usize {
            return State::Packed(incoming, packed);
        }
        let most = (incoming.header.length.min(PACKED_MAX)) as usize;
        let bytes = zstd::bulk::decompress(&packed, most).unwrap_or_default();
        let offset = incoming.header.offset;
        incoming.write(&self.shared, self.number, offset, &bytes);
        State::Seal(incoming)
    }

    fn conclude(&self, incoming: Incoming, seal: &[u8]) {
        let header = &incoming.header;
        let range = range_of(header);
        let Some(file) = incoming.file else {
            // Confirmed all the same: whoever sent it may stop thinking of it.
            return self.tell(Happening::Unneeded(range));
        };
        if let Some(problem) = incoming.problem {
            file.abandon(header, self.number);
            return self.tell(Happening::Failed(problem));
        }
        let hash = incoming.hasher.finish();
        let is_sealed =
            |hash: &[u8; HASH_LENGTH]| blake3::Hash::from_bytes(header.seal(hash)) == *seal;
        let Some(hash) = hash.filter(is_sealed) else {
            file.abandon(header, self.number);
            return self.tell(Happening::Damaged(range));
        };
        match file.place(&self.shared.store, header, self.number, hash) {
            Ok(Placed::Counts { digest }) => {
                self.tell(Happening::Arrived(range));
                if let Some(digest) = digest {
                    self.shared.publisher.take(header.file, digest);
                    self.tell(Happening::Finished(header.file));
                }
            }
            Ok(Placed::Superfluous) => (),
            Ok(Placed::Lost) => self.tell(Happening::Damaged(range)),
            Err(problem) => self.tell(Happening::Failed(Problem {
                file: Some(header.file),
                ..problem
            })),
        }
    }
}

fn raw(incoming: Box<Incoming>, at: u64) -> State {
    match at < end_of(&incoming.header) {
        true => State::Raw(incoming, at),
        false => State::Seal(incoming),
    }
}

fn end_of(header: &PieceHeader) -> u64 {
    header.offset + u64::from(header.length)
}

fn range_of(header: &PieceHeader) -> Range {
    Range {
        file: header.file,
        start: header.offset,
        length: u64::from(header.length),
    }
}

impl Incoming {
    fn write(&mut self, shared: &Shared, stream: u32, at: u64, bytes: &[u8]) {
        let Some(file) = &self.file else {
            return;
        };
        self.hasher.update(bytes);
        if self.problem.is_some() {
            return;
        }
        let since = Instant::now();
        let piece = self.header.offset;
        match file.write(&shared.store, piece, stream, at, bytes) {
            Ok(_) => {
                let counter = &shared.spent.bytes;
                counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
            Err(problem) => {
                self.problem = Some(Problem {
                    file: Some(self.header.file),
                    ..problem
                });
            }
        }
        Spent::note(&shared.spent.disk, since);
    }
}
