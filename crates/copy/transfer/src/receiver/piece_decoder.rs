//! Decodes the bytes of one stream: checks pieces and writes them to their files.
//!
//! It asks for one portion after the other, so it reads nothing itself and never waits but for the
//! entry of a file whose piece came before it.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use copy_protocol::{
    Coding, DataMap, HASH_LENGTH, HEADER_LENGTH, NO_HASH, PACKED_MAX, PieceHeader, Problem,
    Range as Part,
};

use super::incoming_files::{Content, IncomingFile, PieceResult};
use super::shared::Shared;
use crate::activity::{Stopwatch, Waiting};
use crate::session::Event;
use files::{BLOCK, PieceHasher, moved};

/// The pieces of one stream.
pub(crate) struct PieceDecoder {
    number: u32,
    shared: Arc<Shared>,
    report: SyncSender<Event>,
    state: State,
    /// What the thread that leads it does, reads of the stream included.
    pub stopwatch: Stopwatch,
}

/// Bytes of a piece, and whether they are data.
type Run = (Range<u32>, bool);

/// What comes next.
enum State {
    /// A header, or the end of the stream.
    Header,
    /// The map of a piece with holes, of which these bytes came.
    Map(Box<IncomingPiece>, Vec<u8>),
    /// Bytes of the first of these runs, as they are in the file.
    Raw(Box<IncomingPiece>, VecDeque<Run>),
    /// Compressed bytes of these runs, or a recipe, of which these came.
    Packed(Box<IncomingPiece>, Vec<Run>, Vec<u8>),
    /// So many bytes that do not fit their map: the piece is damaged.
    Stray(Box<IncomingPiece>, usize),
    Seal(Box<IncomingPiece>),
}

/// A piece on its way in.
struct IncomingPiece {
    header: PieceHeader,
    /// `None` when nothing of it is wanted.
    file: Option<Arc<IncomingFile>>,
    hasher: PieceHasher,
    /// Bytes of it that are no holes.
    data: u64,
    /// What an older version of the file has of it, where it is offered or moved, and the rest.
    older: Option<Vec<u8>>,
    problem: Option<Problem>,
}

impl PieceDecoder {
    pub(crate) fn new(number: u32, shared: Arc<Shared>, report: SyncSender<Event>) -> Self {
        PieceDecoder {
            number,
            shared,
            report,
            state: State::Header,
            // Restarted on the thread that does the work.
            stopwatch: Stopwatch::start(),
        }
    }

    /// Whether the stream may end here.
    pub(crate) fn is_between_pieces(&self) -> bool {
        matches!(self.state, State::Header)
    }

    /// Bytes of the next portion: at most [`BLOCK`].
    pub(crate) fn wanted(&self) -> usize {
        let left = match &self.state {
            State::Header => HEADER_LENGTH,
            State::Map(piece, map) => map_size(&piece.header) - map.len(),
            State::Raw(_, runs) => runs.front().map_or(0, |(bytes, _)| bytes.len()),
            State::Packed(piece, _, packed) => packed_size(&piece.header) - packed.len(),
            State::Stray(_, left) => *left,
            State::Seal(_) => HASH_LENGTH,
        };
        left.min(BLOCK)
    }

    /// Takes the portion that is wanted.
    ///
    /// # Errors
    /// When it is none; the stream is of no use after that.
    pub(crate) fn take(&mut self, portion: &[u8]) -> io::Result<()> {
        let state = mem::replace(&mut self.state, State::Header);
        self.state = match state {
            State::Header => self.begin(portion)?,
            State::Map(piece, mut map) => {
                map.extend_from_slice(portion);
                self.mapped(piece, map)
            }
            State::Raw(piece, runs) => self.raw(piece, runs, portion),
            State::Packed(piece, runs, mut packed) => {
                packed.extend_from_slice(portion);
                self.packed(piece, runs, packed)
            }
            State::Stray(piece, left) => stray(piece, left - portion.len()),
            State::Seal(piece) => {
                self.conclude(*piece, portion);
                State::Header
            }
        };
        Ok(())
    }

    /// The stream broke: what it was bringing may have to be asked for again.
    pub(crate) fn break_off(&mut self) {
        let state = mem::replace(&mut self.state, State::Header);
        let (State::Map(piece, _)
        | State::Raw(piece, _)
        | State::Packed(piece, ..)
        | State::Stray(piece, _)
        | State::Seal(piece)) = state
        else {
            return;
        };
        if let Some(file) = &piece.file
            && file.abandon(&piece.header, self.number)
        {
            self.tell(Event::Damaged(range_of(&piece.header)));
        }
    }

    fn tell(&self, event: Event) {
        // After the end of the session no thread receives this.
        let _ = self.report.send(event);
    }

    fn begin(&mut self, portion: &[u8]) -> io::Result<State> {
        let bytes = portion.try_into().map_err(io::Error::other)?;
        let header = PieceHeader::decode(bytes).map_err(io::Error::other)?;
        let shared = Arc::clone(&self.shared);
        let find = || shared.files.find(header.file);
        let found = shared
            .spent
            .during(&mut self.stopwatch, Waiting::Work, find);
        let found = found.map_err(io::Error::other)?;
        if found.as_ref().is_some_and(|file| !file.fits(&header)) {
            return Err(io::Error::other(format!(
                "{} bytes at {} are no piece of file {}",
                header.length, header.offset, header.file
            )));
        }
        let size = found.as_ref().map_or(0, |file| file.size);
        let file = found.filter(|file| file.begin(&header, self.number));
        let length = header.length;
        let piece = Box::new(IncomingPiece {
            header,
            file,
            hasher: PieceHasher::new(size, header.offset, length.into()),
            data: 0,
            older: None,
            problem: None,
        });
        Ok(match header.coding {
            Coding::Raw => self.next_run(piece, VecDeque::from([(0..length, true)])),
            Coding::Hole => self.next_run(piece, VecDeque::from([(0..length, false)])),
            Coding::Zstd => self.packed(piece, vec![(0..length, true)], Vec::new()),
            Coding::Sparse | Coding::SparseZstd => self.mapped(piece, Vec::new()),
            Coding::Older => {
                self.check_older()?;
                self.offered(piece)
            }
            Coding::Moved => {
                self.check_older()?;
                self.packed(piece, Vec::new(), Vec::new())
            }
        })
    }

    fn check_older(&self) -> io::Result<()> {
        match self.shared.store.has_older() {
            true => Ok(()),
            false => Err(io::Error::other(
                "a piece was offered, and older versions are of no use in this copy",
            )),
        }
    }

    /// Where the older version has not the same bytes, the piece is damaged, and is sent.
    fn offered(&mut self, mut piece: Box<IncomingPiece>) -> State {
        let (file, offset) = (piece.header.file, piece.header.offset);
        let mut bytes = vec![0; piece.header.length as usize];
        let shared = Arc::clone(&self.shared);
        let read = || shared.store.read_older(file, offset, &mut bytes);
        let is_read = piece.file.is_some()
            && shared
                .spent
                .during(&mut self.stopwatch, Waiting::Disk, read);
        if is_read {
            piece.hasher.update(&bytes);
            piece.older = Some(bytes);
        }
        State::Seal(piece)
    }

    /// Puts a piece together by a recipe. Where that does not fit, the piece is hashed as nothing,
    /// and so is damaged.
    fn assembled(&mut self, mut piece: Box<IncomingPiece>, recipe: &[u8]) -> State {
        if piece.file.is_none() {
            return State::Seal(piece);
        }
        let (file, length) = (piece.header.file, piece.header.length);
        let shared = Arc::clone(&self.shared);
        let read = |place: u64, into: &mut [u8]| shared.store.read_older(file, place, into);
        let assemble = || moved::assemble(recipe, length, read);
        let assembled = shared
            .spent
            .during(&mut self.stopwatch, Waiting::Disk, assemble);
        if let Some((bytes, sent)) = assembled {
            piece.hasher.update(&bytes);
            piece.data = sent;
            piece.older = Some(bytes);
        }
        State::Seal(piece)
    }

    /// Where the map and what comes behind it do not fit, the piece is hashed as nothing, and so is
    /// damaged.
    fn mapped(&mut self, piece: Box<IncomingPiece>, map: Vec<u8>) -> State {
        let header = &piece.header;
        if map.len() < map_size(header) {
            return State::Map(piece, map);
        }
        let came = packed_size(header);
        let is_packed = header.coding == Coding::SparseZstd;
        let map = DataMap::decode(header.length, &map).ok();
        match map.filter(|map| is_packed || map.data_length() as usize == came) {
            None => stray(piece, came),
            Some(map) if is_packed => self.packed(piece, map.runs().collect(), Vec::new()),
            Some(map) => self.next_run(piece, map.runs().collect()),
        }
    }

    fn raw(
        &mut self,
        mut piece: Box<IncomingPiece>,
        mut runs: VecDeque<Run>,
        portion: &[u8],
    ) -> State {
        if let Some((bytes, _)) = runs.front_mut() {
            piece.write(
                &self.shared,
                self.number,
                bytes.start,
                portion,
                &mut self.stopwatch,
            );
            bytes.start += portion.len() as u32;
        }
        self.next_run(piece, runs)
    }

    /// Makes the holes before the next bytes that are data.
    fn next_run(&mut self, mut piece: Box<IncomingPiece>, mut runs: VecDeque<Run>) -> State {
        while let Some((bytes, is_data)) = runs.front() {
            if *is_data && !bytes.is_empty() {
                return State::Raw(piece, runs);
            }
            if !is_data {
                piece.hole(
                    &self.shared,
                    self.number,
                    bytes.clone(),
                    &mut self.stopwatch,
                );
            }
            runs.pop_front();
        }
        State::Seal(piece)
    }

    /// What cannot be decompressed is hashed as nothing, and so is damaged.
    fn packed(&mut self, mut piece: Box<IncomingPiece>, runs: Vec<Run>, packed: Vec<u8>) -> State {
        if packed.len() < packed_size(&piece.header) {
            return State::Packed(piece, runs, packed);
        }
        if piece.header.coding == Coding::Moved {
            return self.assembled(piece, &packed);
        }
        let data = runs.iter().filter(|(_, is_data)| *is_data);
        let length = data.map(|(bytes, _)| bytes.len()).sum::<usize>();
        let unpacked = zstd::bulk::decompress(&packed, length.min(PACKED_MAX as usize));
        let Some(unpacked) = unpacked.ok().filter(|bytes| bytes.len() == length) else {
            return State::Seal(piece);
        };
        let mut rest = unpacked.as_slice();
        for (bytes, is_data) in runs {
            if !is_data {
                piece.hole(&self.shared, self.number, bytes, &mut self.stopwatch);
            } else if let Some((data, behind)) = rest.split_at_checked(bytes.len()) {
                piece.write(
                    &self.shared,
                    self.number,
                    bytes.start,
                    data,
                    &mut self.stopwatch,
                );
                rest = behind;
            }
        }
        State::Seal(piece)
    }

    /// Writes a piece that an older version has, all of it or some.
    fn keep(
        &mut self,
        file: &IncomingFile,
        header: &PieceHeader,
        bytes: &[u8],
    ) -> Result<(), Problem> {
        let (shared, at) = (Arc::clone(&self.shared), header.offset);
        let write = || file.write(&shared.store, at, self.number, at, Content::Data(bytes));
        let written = shared
            .spent
            .during(&mut self.stopwatch, Waiting::Disk, write);
        written.map(drop).map_err(|problem| Problem {
            file: Some(header.file),
            ..problem
        })
    }

    fn conclude(&mut self, piece: IncomingPiece, seal: &[u8]) {
        let header = &piece.header;
        let range = range_of(header);
        let Some(file) = piece.file else {
            // What is there was confirmed when it came. The seal of this one is not looked at, so
            // that its place may be wrong.
            return self.tell(Event::Unneeded(carried(header).into()));
        };
        if let Some(problem) = piece.problem {
            file.abandon(header, self.number);
            return self.tell(Event::Failed(problem));
        }
        let hash = piece.hasher.finish();
        let is_sealed = |hash: &[u8; HASH_LENGTH]| {
            let told = match header.coding {
                Coding::Hole => &NO_HASH,
                _ => hash,
            };
            blake3::Hash::from_bytes(header.seal(told)) == *seal
        };
        let Some(hash) = hash.filter(is_sealed) else {
            file.abandon(header, self.number);
            return self.tell(match header.coding {
                Coding::Older => Event::Refused(range),
                _ => Event::Damaged(range),
            });
        };
        let shared = Arc::clone(&self.shared);
        let is_kept = piece.older.is_some();
        if let Some(bytes) = piece.older
            && let Err(problem) = self.keep(&file, header, &bytes)
        {
            file.abandon(header, self.number);
            return self.tell(Event::Failed(problem));
        }
        let place = || file.place(&shared.store, header, self.number, hash);
        match shared
            .spent
            .during(&mut self.stopwatch, Waiting::Disk, place)
        {
            Ok(PieceResult::Counts { digest }) => {
                self.tell(match is_kept {
                    true => Event::Kept(range, piece.data),
                    false => Event::Arrived(range, piece.data),
                });
                if let Some(digest) = digest {
                    self.shared.publisher.take(header.file, digest);
                    self.tell(Event::Finished(header.file));
                }
            }
            Ok(PieceResult::Superfluous) => (),
            Ok(PieceResult::Lost) => self.tell(Event::Damaged(range)),
            Err(problem) => self.tell(Event::Failed(Problem {
                file: Some(header.file),
                ..problem
            })),
        }
    }
}

/// Bytes of a piece that came over its stream, before compression.
fn carried(header: &PieceHeader) -> u32 {
    match header.coding {
        Coding::Hole | Coding::Older => 0,
        Coding::Moved => header.wire_length,
        _ => header.length,
    }
}

fn stray(piece: Box<IncomingPiece>, left: usize) -> State {
    match left {
        0 => State::Seal(piece),
        _ => State::Stray(piece, left),
    }
}

fn map_size(header: &PieceHeader) -> usize {
    match header.coding.has_map() {
        true => DataMap::size(header.length) as usize,
        false => 0,
    }
}

/// Bytes on the stream behind the map.
fn packed_size(header: &PieceHeader) -> usize {
    (header.wire_length as usize).saturating_sub(map_size(header))
}

fn range_of(header: &PieceHeader) -> Part {
    Part {
        file: header.file,
        start: header.offset,
        length: u64::from(header.length),
    }
}

impl IncomingPiece {
    /// * `at`: where in the piece.
    fn write(
        &mut self,
        shared: &Shared,
        stream: u32,
        at: u32,
        bytes: &[u8],
        stopwatch: &mut Stopwatch,
    ) {
        if self.file.is_none() {
            return;
        }
        self.hasher.update(bytes);
        self.data += bytes.len() as u64;
        self.put(shared, stream, at, Content::Data(bytes), stopwatch);
        shared.spent.count(bytes.len() as u64);
    }

    /// These bytes of the piece are a hole.
    fn hole(&mut self, shared: &Shared, stream: u32, bytes: Range<u32>, stopwatch: &mut Stopwatch) {
        if self.file.is_none() {
            return;
        }
        let length = u64::from(bytes.end - bytes.start);
        self.hasher.zeros(length);
        self.put(
            shared,
            stream,
            bytes.start,
            Content::Hole(length),
            stopwatch,
        );
    }

    fn put(
        &mut self,
        shared: &Shared,
        stream: u32,
        at: u32,
        content: Content<'_>,
        stopwatch: &mut Stopwatch,
    ) {
        let Some(file) = self.file.as_ref().filter(|_| self.problem.is_none()) else {
            return;
        };
        let piece = self.header.offset;
        let write = || file.write(&shared.store, piece, stream, piece + u64::from(at), content);
        if let Err(problem) = shared.spent.during(stopwatch, Waiting::Disk, write) {
            self.problem = Some(Problem {
                file: Some(self.header.file),
                ..problem
            });
        }
    }
}

#[cfg(test)]
mod tests;
