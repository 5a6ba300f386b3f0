//! One stream of the receiver: reads pieces, checks them, writes them where they belong.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use net::copying::Channel;
use wire::copying::{
    Coding, DataMap, HASH_LENGTH, HEADER_LENGTH, NO_HASH, PACKED_MAX, PieceHeader, Problem,
    Range as Part,
};

use super::Shared;
use super::shelf::{Content, Growing, Placed};
use crate::activity::Spent;
use crate::session::Happening;
use crate::tree::{BLOCK, PieceHasher};

/// Room behind a block, so that one read brings many small pieces.
const SLACK: usize = 64 << 10;

/// Bytes of a piece, and whether they are data.
type Run = (Range<u32>, bool);

/// Receives pieces until the sender ends the stream.
pub(crate) struct Inflow {
    number: u32,
    channel: Channel,
    shared: Arc<Shared>,
    report: SyncSender<Happening>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// A piece on its way in.
struct Incoming<'a> {
    header: &'a PieceHeader,
    /// `None` when nothing of it is wanted.
    file: Option<Arc<Growing>>,
    hasher: PieceHasher,
    /// Bytes of it that are no holes.
    data: u64,
    problem: Option<Problem>,
}

impl Inflow {
    pub(crate) fn new(
        number: u32,
        channel: Channel,
        shared: Arc<Shared>,
        report: SyncSender<Happening>,
    ) -> Self {
        Inflow {
            number,
            channel,
            shared,
            report,
            buffer: vec![0; BLOCK + SLACK],
            start: 0,
            end: 0,
        }
    }

    /// Runs on a thread of its own until the stream ends.
    pub(crate) fn run(mut self) {
        let end = self.receive_all().map_err(|error| error.to_string());
        // Others hold the connection too; the sender has to see at once that nobody reads it any more.
        self.channel.handle().shut_down();
        self.tell(Happening::StreamOver(self.number, end));
    }

    fn tell(&self, happening: Happening) {
        // Nobody listens any more when the conversation is over.
        let _ = self.report.send(happening);
    }

    fn receive_all(&mut self) -> io::Result<()> {
        while !self.shared.is_given_up.load(Ordering::Relaxed) && self.has_more()? {
            let bytes: [u8; HEADER_LENGTH] = self.take()?;
            let header = PieceHeader::decode(&bytes).map_err(io::Error::other)?;
            self.piece(&header)?;
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<usize> {
        let since = Instant::now();
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let got = self.channel.read(room)?;
        Spent::note(&self.shared.spent.network, since);
        let counter = &self.shared.on_wire;
        counter.fetch_add(got as u64, Ordering::Relaxed);
        self.end += got;
        Ok(got)
    }

    /// Whether another piece begins; a stream that ends within one broke.
    fn has_more(&mut self) -> io::Result<bool> {
        if self.start < self.end {
            return Ok(true);
        }
        (self.start, self.end) = (0, 0);
        Ok(self.read()? > 0)
    }

    /// Waits until so many bytes are in the buffer.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        if self.start + length > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end - self.start < length {
            if self.read()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        self.fill(N)?;
        let mut bytes = [0; N];
        let from = self.buffer.get(self.start..self.start + N);
        bytes.copy_from_slice(from.unwrap_or(&[0; N]));
        self.start += N;
        Ok(bytes)
    }

    fn piece(&mut self, header: &PieceHeader) -> io::Result<()> {
        let found = self.shared.shelf.find(header.file);
        let found = found.map_err(io::Error::other)?;
        if found.as_ref().is_some_and(|file| !file.fits(header)) {
            return Err(io::Error::other(format!(
                "{} bytes at {} are no piece of file {}",
                header.length, header.offset, header.file
            )));
        }
        let size = found.as_ref().map_or(0, |file| file.size);
        let file = found.filter(|file| file.begin(header, self.number));
        let mut incoming = Incoming {
            header,
            file,
            hasher: PieceHasher::new(size, header.offset, header.length.into()),
            data: 0,
            problem: None,
        };
        let length = header.length;
        let received = match header.coding {
            Coding::Raw => self.raw(&mut incoming, 0..length),
            Coding::Zstd => self.compressed(&mut incoming, &[(0..length, true)]),
            Coding::Hole => {
                incoming.hole(&self.shared, self.number, 0..length);
                Ok(())
            }
            Coding::Sparse | Coding::SparseZstd => self.sparse(&mut incoming),
        };
        let seal = received.and_then(|()| self.take::<HASH_LENGTH>());
        match seal {
            Ok(seal) => {
                self.conclude(incoming, &seal);
                Ok(())
            }
            Err(error) => {
                if let Some(file) = &incoming.file
                    && file.abandon(header, self.number)
                {
                    self.tell(Happening::Damaged(range_of(header)));
                }
                Err(error)
            }
        }
    }

    /// These bytes of the piece come as they are.
    fn raw(&mut self, incoming: &mut Incoming<'_>, bytes: Range<u32>) -> io::Result<()> {
        let mut at = bytes.start;
        while at < bytes.end {
            let length = bytes.end - at;
            let length = length.min(BLOCK as u32);
            self.fill(length as usize)?;
            let chunk = self.buffer.get(self.start..self.start + length as usize);
            incoming.write(&self.shared, self.number, at, chunk.unwrap_or_default());
            self.start += length as usize;
            at += length;
        }
        Ok(())
    }

    /// A map, and what it says is data. Where the two do not fit, the piece is hashed as nothing, and so is damaged.
    fn sparse(&mut self, incoming: &mut Incoming<'_>) -> io::Result<()> {
        let header = incoming.header;
        let size = DataMap::size(header.length);
        let bytes = self.gather(size as usize)?;
        let is_packed = header.coding == Coding::SparseZstd;
        let came = header.wire_length.saturating_sub(size);
        let map = DataMap::decode(header.length, &bytes).ok();
        let Some(map) = map.filter(|map| is_packed || map.data_length() == came) else {
            return self.gather(came as usize).map(drop);
        };
        let runs: Vec<Run> = map.runs().collect();
        if is_packed {
            return self.compressed(incoming, &runs);
        }
        for (bytes, is_data) in runs {
            match is_data {
                true => self.raw(incoming, bytes)?,
                false => incoming.hole(&self.shared, self.number, bytes),
            }
        }
        Ok(())
    }

    /// So many bytes of the stream at once.
    fn gather(&mut self, mut left: usize) -> io::Result<Vec<u8>> {
        let mut gathered = Vec::with_capacity(left);
        while left > 0 {
            let length = left.min(BLOCK);
            self.fill(length)?;
            let chunk = self.buffer.get(self.start..self.start + length);
            gathered.extend_from_slice(chunk.unwrap_or_default());
            self.start += length;
            left -= length;
        }
        Ok(gathered)
    }

    /// What cannot be decompressed is hashed as nothing, and so is damaged.
    fn compressed(&mut self, incoming: &mut Incoming<'_>, runs: &[Run]) -> io::Result<()> {
        let header = incoming.header;
        let map = match header.coding.has_map() {
            true => DataMap::size(header.length),
            false => 0,
        };
        let packed = self.gather(header.wire_length.saturating_sub(map) as usize)?;
        let data = runs.iter().filter(|(_, is_data)| *is_data);
        let length = data.map(|(bytes, _)| bytes.len()).sum::<usize>();
        let unpacked = zstd::bulk::decompress(&packed, length.min(PACKED_MAX as usize));
        let Some(unpacked) = unpacked.ok().filter(|bytes| bytes.len() == length) else {
            return Ok(());
        };
        let mut rest = unpacked.as_slice();
        for (bytes, is_data) in runs {
            if !is_data {
                incoming.hole(&self.shared, self.number, bytes.clone());
            } else if let Some((data, behind)) = rest.split_at_checked(bytes.len()) {
                incoming.write(&self.shared, self.number, bytes.start, data);
                rest = behind;
            }
        }
        Ok(())
    }

    fn conclude(&self, incoming: Incoming<'_>, seal: &[u8; HASH_LENGTH]) {
        let header = incoming.header;
        let range = range_of(header);
        let Some(file) = incoming.file else {
            // Confirmed all the same: whoever sent it may stop thinking of it.
            let data = match header.coding {
                Coding::Hole => 0,
                _ => header.length,
            };
            return self.tell(Happening::Unneeded(range, data.into()));
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
        match file.place(&self.shared.store, header, self.number, hash) {
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

fn range_of(header: &PieceHeader) -> Part {
    Part {
        file: header.file,
        start: header.offset,
        length: u64::from(header.length),
    }
}

impl Incoming<'_> {
    /// * `at`: where in the piece.
    fn write(&mut self, shared: &Shared, stream: u32, at: u32, bytes: &[u8]) {
        if self.file.is_none() {
            return;
        }
        self.hasher.update(bytes);
        self.data += bytes.len() as u64;
        self.put(shared, stream, at, Content::Data(bytes));
        let counter = &shared.spent.bytes;
        counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    /// These bytes of the piece are a hole.
    fn hole(&mut self, shared: &Shared, stream: u32, bytes: Range<u32>) {
        if self.file.is_none() {
            return;
        }
        let length = u64::from(bytes.end - bytes.start);
        self.hasher.zeros(length);
        self.put(shared, stream, bytes.start, Content::Hole(length));
    }

    fn put(&mut self, shared: &Shared, stream: u32, at: u32, content: Content<'_>) {
        let Some(file) = self.file.as_ref().filter(|_| self.problem.is_none()) else {
            return;
        };
        let since = Instant::now();
        let piece = self.header.offset;
        let written = file.write(&shared.store, piece, stream, piece + u64::from(at), content);
        if let Err(problem) = written {
            self.problem = Some(Problem {
                file: Some(self.header.file),
                ..problem
            });
        }
        Spent::note(&shared.spent.disk, since);
    }
}
