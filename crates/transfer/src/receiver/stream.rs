//! One stream of the receiver: reads pieces, checks them, writes them where they belong.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use net::copying::Channel;
use wire::copying::{Coding, HASH_LENGTH, HEADER_LENGTH, PACKED_MAX, PieceHeader, Problem, Range};

use super::Shared;
use super::shelf::{Growing, Placed};
use crate::activity::{Waiting, Watch};
use crate::session::Happening;
use crate::tree::{BLOCK, PieceHasher};

/// Room behind a block, so that one read brings many small pieces.
const SLACK: usize = 64 << 10;

/// Receives pieces until the sender ends the stream.
pub(crate) struct Inflow {
    number: u32,
    channel: Channel,
    shared: Arc<Shared>,
    report: SyncSender<Happening>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    watch: Watch,
}

/// A piece on its way in.
struct Incoming<'a> {
    header: &'a PieceHeader,
    /// `None` when nothing of it is wanted.
    file: Option<Arc<Growing>>,
    hasher: PieceHasher,
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
            // Another one begins on the thread that does the work.
            watch: Watch::start(),
        }
    }

    /// Runs on a thread of its own until the stream ends.
    pub(crate) fn run(mut self) {
        self.watch = Watch::start();
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
        while self.has_more()? {
            let bytes: [u8; HEADER_LENGTH] = self.take()?;
            let header = PieceHeader::decode(&bytes).map_err(io::Error::other)?;
            self.piece(&header)?;
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<usize> {
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let (channel, spent) = (&mut self.channel, &self.shared.spent);
        let read = || channel.read(room);
        let got = spent.during(&mut self.watch, Waiting::Network, read)?;
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
            problem: None,
        };
        let received = match header.coding {
            Coding::Raw => self.raw(&mut incoming),
            Coding::Zstd => self.compressed(&mut incoming),
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

    fn raw(&mut self, incoming: &mut Incoming<'_>) -> io::Result<()> {
        let end = incoming.header.offset + u64::from(incoming.header.length);
        let mut at = incoming.header.offset;
        while at < end {
            let length = usize::try_from(end - at).unwrap_or(BLOCK).min(BLOCK);
            self.fill(length)?;
            let chunk = self.buffer.get(self.start..self.start + length);
            let chunk = chunk.unwrap_or_default();
            incoming.write(&self.shared, self.number, at, chunk, &mut self.watch);
            self.start += length;
            at += length as u64;
        }
        Ok(())
    }

    /// What cannot be decompressed is hashed as nothing, and so is damaged.
    fn compressed(&mut self, incoming: &mut Incoming<'_>) -> io::Result<()> {
        let mut left = incoming.header.wire_length as usize;
        let mut packed = Vec::with_capacity(left);
        while left > 0 {
            let length = left.min(BLOCK);
            self.fill(length)?;
            let chunk = self.buffer.get(self.start..self.start + length);
            packed.extend_from_slice(chunk.unwrap_or_default());
            self.start += length;
            left -= length;
        }
        let most = (incoming.header.length.min(PACKED_MAX)) as usize;
        let bytes = zstd::bulk::decompress(&packed, most).unwrap_or_default();
        let offset = incoming.header.offset;
        incoming.write(&self.shared, self.number, offset, &bytes, &mut self.watch);
        Ok(())
    }

    fn conclude(&mut self, incoming: Incoming<'_>, seal: &[u8; HASH_LENGTH]) {
        let header = incoming.header;
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
        let hash = hash.filter(|hash| blake3::Hash::from_bytes(header.seal(hash)) == *seal);
        let Some(hash) = hash else {
            file.abandon(header, self.number);
            return self.tell(Happening::Damaged(range));
        };
        let shared = Arc::clone(&self.shared);
        let place = || file.place(&shared.store, header, self.number, hash);
        let placed = shared.spent.during(&mut self.watch, Waiting::Disk, place);
        match placed {
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

fn range_of(header: &PieceHeader) -> Range {
    Range {
        file: header.file,
        start: header.offset,
        length: u64::from(header.length),
    }
}

impl Incoming<'_> {
    fn write(&mut self, shared: &Shared, stream: u32, at: u64, bytes: &[u8], watch: &mut Watch) {
        let Some(file) = &self.file else {
            return;
        };
        self.hasher.update(bytes);
        if self.problem.is_some() {
            return;
        }
        let piece = self.header.offset;
        let write = || file.write(&shared.store, piece, stream, at, bytes);
        match shared.spent.during(watch, Waiting::Disk, write) {
            Ok(_) => shared.spent.count(bytes.len() as u64),
            Err(problem) => {
                self.problem = Some(Problem {
                    file: Some(self.header.file),
                    ..problem
                });
            }
        }
    }
}
