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

use wire::copying::{
    Coding, DataMap, HASH_LENGTH, HEADER_LENGTH, NO_HASH, PACKED_MAX, PieceHeader, Problem,
    Range as Part,
};

use super::Shared;
use super::shelf::{Content, Growing, Placed};
use crate::activity::{Waiting, Watch};
use crate::session::Happening;
use crate::tree::{BLOCK, PieceHasher};

/// The pieces of one stream.
pub(crate) struct Intake {
    number: u32,
    shared: Arc<Shared>,
    report: SyncSender<Happening>,
    state: State,
    /// What the thread that leads it does, reads of the stream included.
    pub watch: Watch,
}

/// Bytes of a piece, and whether they are data.
type Run = (Range<u32>, bool);

/// What comes next.
enum State {
    /// A header, or the end of the stream.
    Header,
    /// The map of a piece with holes, of which these bytes came.
    Map(Box<Incoming>, Vec<u8>),
    /// Bytes of the first of these runs, as they are in the file.
    Raw(Box<Incoming>, VecDeque<Run>),
    /// Compressed bytes of these runs, of which these came.
    Packed(Box<Incoming>, Vec<Run>, Vec<u8>),
    /// So many bytes that do not fit their map: the piece is damaged.
    Stray(Box<Incoming>, usize),
    Seal(Box<Incoming>),
}

/// A piece on its way in.
struct Incoming {
    header: PieceHeader,
    /// `None` when nothing of it is wanted.
    file: Option<Arc<Growing>>,
    hasher: PieceHasher,
    /// Bytes of it that are no holes.
    data: u64,
    problem: Option<Problem>,
}

impl Intake {
    pub(crate) fn new(number: u32, shared: Arc<Shared>, report: SyncSender<Happening>) -> Self {
        Intake {
            number,
            shared,
            report,
            state: State::Header,
            // Restarted on the thread that does the work.
            watch: Watch::start(),
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
            State::Map(incoming, map) => map_size(&incoming.header) - map.len(),
            State::Raw(_, runs) => runs.front().map_or(0, |(bytes, _)| bytes.len()),
            State::Packed(incoming, _, packed) => packed_size(&incoming.header) - packed.len(),
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
            State::Map(incoming, mut map) => {
                map.extend_from_slice(portion);
                self.mapped(incoming, map)
            }
            State::Raw(incoming, runs) => self.raw(incoming, runs, portion),
            State::Packed(incoming, runs, mut packed) => {
                packed.extend_from_slice(portion);
                self.packed(incoming, runs, packed)
            }
            State::Stray(incoming, left) => stray(incoming, left - portion.len()),
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
        let (State::Map(incoming, _)
        | State::Raw(incoming, _)
        | State::Packed(incoming, ..)
        | State::Stray(incoming, _)
        | State::Seal(incoming)) = state
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
        // After the end of the session no thread receives this.
        let _ = self.report.send(happening);
    }

    fn begin(&mut self, portion: &[u8]) -> io::Result<State> {
        let bytes = portion.try_into().map_err(io::Error::other)?;
        let header = PieceHeader::decode(bytes).map_err(io::Error::other)?;
        let shared = Arc::clone(&self.shared);
        let find = || shared.shelf.find(header.file);
        let found = shared.spent.during(&mut self.watch, Waiting::Work, find);
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
        let incoming = Box::new(Incoming {
            header,
            file,
            hasher: PieceHasher::new(size, header.offset, length.into()),
            data: 0,
            problem: None,
        });
        Ok(match header.coding {
            Coding::Raw => self.next_run(incoming, VecDeque::from([(0..length, true)])),
            Coding::Hole => self.next_run(incoming, VecDeque::from([(0..length, false)])),
            Coding::Zstd => self.packed(incoming, vec![(0..length, true)], Vec::new()),
            Coding::Sparse | Coding::SparseZstd => self.mapped(incoming, Vec::new()),
        })
    }

    /// Where the map and what comes behind it do not fit, the piece is hashed as nothing, and so is
    /// damaged.
    fn mapped(&mut self, incoming: Box<Incoming>, map: Vec<u8>) -> State {
        let header = &incoming.header;
        if map.len() < map_size(header) {
            return State::Map(incoming, map);
        }
        let came = packed_size(header);
        let is_packed = header.coding == Coding::SparseZstd;
        let map = DataMap::decode(header.length, &map).ok();
        match map.filter(|map| is_packed || map.data_length() as usize == came) {
            None => stray(incoming, came),
            Some(map) if is_packed => self.packed(incoming, map.runs().collect(), Vec::new()),
            Some(map) => self.next_run(incoming, map.runs().collect()),
        }
    }

    fn raw(
        &mut self,
        mut incoming: Box<Incoming>,
        mut runs: VecDeque<Run>,
        portion: &[u8],
    ) -> State {
        if let Some((bytes, _)) = runs.front_mut() {
            incoming.write(
                &self.shared,
                self.number,
                bytes.start,
                portion,
                &mut self.watch,
            );
            bytes.start += portion.len() as u32;
        }
        self.next_run(incoming, runs)
    }

    /// Makes the holes before the next bytes that are data.
    fn next_run(&mut self, mut incoming: Box<Incoming>, mut runs: VecDeque<Run>) -> State {
        while let Some((bytes, is_data)) = runs.front() {
            if *is_data && !bytes.is_empty() {
                return State::Raw(incoming, runs);
            }
            if !is_data {
                incoming.hole(&self.shared, self.number, bytes.clone(), &mut self.watch);
            }
            runs.pop_front();
        }
        State::Seal(incoming)
    }

    /// What cannot be decompressed is hashed as nothing, and so is damaged.
    fn packed(&mut self, mut incoming: Box<Incoming>, runs: Vec<Run>, packed: Vec<u8>) -> State {
        if packed.len() < packed_size(&incoming.header) {
            return State::Packed(incoming, runs, packed);
        }
        let data = runs.iter().filter(|(_, is_data)| *is_data);
        let length = data.map(|(bytes, _)| bytes.len()).sum::<usize>();
        let unpacked = zstd::bulk::decompress(&packed, length.min(PACKED_MAX as usize));
        let Some(unpacked) = unpacked.ok().filter(|bytes| bytes.len() == length) else {
            return State::Seal(incoming);
        };
        let mut rest = unpacked.as_slice();
        for (bytes, is_data) in runs {
            if !is_data {
                incoming.hole(&self.shared, self.number, bytes, &mut self.watch);
            } else if let Some((data, behind)) = rest.split_at_checked(bytes.len()) {
                incoming.write(
                    &self.shared,
                    self.number,
                    bytes.start,
                    data,
                    &mut self.watch,
                );
                rest = behind;
            }
        }
        State::Seal(incoming)
    }

    fn conclude(&mut self, incoming: Incoming, seal: &[u8]) {
        let header = &incoming.header;
        let range = range_of(header);
        let Some(file) = incoming.file else {
            // What is there was confirmed when it came. The seal of this one is not looked at, so
            // that its place may be wrong.
            let data = match header.coding {
                Coding::Hole => 0,
                _ => header.length,
            };
            return self.tell(Happening::Unneeded(data.into()));
        };
        if let Some(problem) = incoming.problem {
            file.abandon(header, self.number);
            return self.tell(Happening::Failed(problem));
        }
        let hash = incoming.hasher.finish();
        let is_sealed = |hash: &[u8; HASH_LENGTH]| {
            let told = match header.coding {
                Coding::Hole => &NO_HASH,
                _ => hash,
            };
            blake3::Hash::from_bytes(header.seal(told)) == *seal
        };
        let Some(hash) = hash.filter(is_sealed) else {
            file.abandon(header, self.number);
            return self.tell(Happening::Damaged(range));
        };
        let shared = Arc::clone(&self.shared);
        let place = || file.place(&shared.store, header, self.number, hash);
        match shared.spent.during(&mut self.watch, Waiting::Disk, place) {
            Ok(Placed::Counts { digest }) => {
                self.tell(Happening::Arrived(range, incoming.data));
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

fn stray(incoming: Box<Incoming>, left: usize) -> State {
    match left {
        0 => State::Seal(incoming),
        _ => State::Stray(incoming, left),
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

impl Incoming {
    /// * `at`: where in the piece.
    fn write(&mut self, shared: &Shared, stream: u32, at: u32, bytes: &[u8], watch: &mut Watch) {
        if self.file.is_none() {
            return;
        }
        self.hasher.update(bytes);
        self.data += bytes.len() as u64;
        self.put(shared, stream, at, Content::Data(bytes), watch);
        shared.spent.count(bytes.len() as u64);
    }

    /// These bytes of the piece are a hole.
    fn hole(&mut self, shared: &Shared, stream: u32, bytes: Range<u32>, watch: &mut Watch) {
        if self.file.is_none() {
            return;
        }
        let length = u64::from(bytes.end - bytes.start);
        self.hasher.zeros(length);
        self.put(shared, stream, bytes.start, Content::Hole(length), watch);
    }

    fn put(
        &mut self,
        shared: &Shared,
        stream: u32,
        at: u32,
        content: Content<'_>,
        watch: &mut Watch,
    ) {
        let Some(file) = self.file.as_ref().filter(|_| self.problem.is_none()) else {
            return;
        };
        let piece = self.header.offset;
        let write = || file.write(&shared.store, piece, stream, piece + u64::from(at), content);
        if let Err(problem) = shared.spent.during(watch, Waiting::Disk, write) {
            self.problem = Some(Problem {
                file: Some(self.header.file),
                ..problem
            });
        }
    }
}
