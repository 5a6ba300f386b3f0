//! One stream of the sender: takes pieces, reads them, writes them.
//!
//! A piece is read in blocks that stay in the processor's cache: each is hashed and written before the next is read. Small
//! pieces are gathered, so that a thousand small files cost few writes.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use net::copying::Channel;
use units::{Rate, Span};
use wire::copying::{
    Coding, HASH_LENGTH, HEADER_LENGTH, PACKED_MAX, PIECE_MAX, PieceHeader, Range,
};

use super::packing::Packing;
use super::work::Work;
use crate::activity::{Waiting, Watch};
use crate::session::Happening;
use crate::source::{Reader, Source};
use crate::tree::{BLOCK, PIECE_MIN, PieceHasher};

/// Zstandard's fastest ordinary level.
const LEVEL: i32 = 1;
/// Shorter pieces save nothing by being compressed.
const PACK_MIN: u64 = 8 << 10;
/// Room for a header before and a seal behind them, and some.
const SLACK: usize = 4 << 10;

/// How long the next piece of a stream should be. Whoever sees what arrives sets it; what a stream writes at first only
/// fills buffers.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    bytes: Arc<AtomicU64>,
    rests: Arc<AtomicBool>,
    /// The longest piece that this stream may have.
    most: u64,
}

impl Wish {
    /// A piece takes its stream about a quarter of a second: short enough to be spread evenly and to be repeated, long enough to cost
    /// little.
    const TIME: Span = Span::from_millis(250);
    /// Before anything is known of it.
    const FIRST: u64 = 256 << 10;

    /// No piece shall be too long to be compressed.
    pub(crate) fn for_packing() -> Self {
        Wish {
            most: PACKED_MAX.into(),
            ..Wish::default()
        }
    }

    /// For a stream that carries so much.
    pub(crate) fn set(&self, rate: Rate) {
        let bytes = rate.bytes_in(Wish::TIME).get();
        let bytes = bytes.clamp(PIECE_MIN, u64::from(PIECE_MAX));
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Near the end a slow stream takes nothing more: others are sooner there with it.
    pub(crate) fn set_resting(&self, rests: bool) {
        self.rests.store(rests, Ordering::Relaxed);
    }

    /// Bytes of the next piece; `None` while it shall take none.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let rests = self.rests.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        (!rests).then(|| bytes.min(self.most))
    }
}

impl Default for Wish {
    fn default() -> Self {
        Wish {
            bytes: Arc::new(AtomicU64::new(Wish::FIRST)),
            rests: Arc::default(),
            most: PIECE_MAX.into(),
        }
    }
}

/// Sends pieces until there is nothing more to do.
pub(crate) struct Outflow {
    number: u32,
    channel: Channel,
    work: Arc<Work>,
    source: Arc<Source>,
    report: SyncSender<Happening>,
    buffer: Vec<u8>,
    filled: usize,
    wish: Wish,
    packing: Packing,
    /// A piece as it is and compressed, where that is tried.
    raw: Vec<u8>,
    packed: Vec<u8>,
    watch: Watch,
}

impl Outflow {
    pub(crate) fn new(
        number: u32,
        channel: Channel,
        work: Arc<Work>,
        source: Arc<Source>,
        report: SyncSender<Happening>,
        wish: Wish,
        compress: bool,
    ) -> Self {
        Outflow {
            number,
            channel,
            work,
            source,
            report,
            buffer: vec![0; BLOCK + SLACK],
            filled: 0,
            wish,
            packing: Packing::new(compress),
            raw: Vec::new(),
            packed: Vec::new(),
            // Another one begins on the thread that does the work.
            watch: Watch::start(),
        }
    }

    /// Runs on a thread of its own until its work is over or the stream breaks.
    pub(crate) fn run(mut self) {
        self.watch = Watch::start();
        let end = self.send_all().map_err(|error| error.to_string());
        self.tell(Happening::StreamOver(self.number, end));
    }

    fn tell(&self, happening: Happening) {
        // Nobody listens any more when the conversation is over.
        let _ = self.report.send(happening);
    }

    fn send_all(&mut self) -> io::Result<()> {
        while let Some(piece) = self.next()? {
            self.send(piece)?;
        }
        self.flush()?;
        self.channel.finish()?;
        self.arrive()
    }

    /// Waits until the receiver has taken all of it and closes its side as well.
    fn arrive(&mut self) -> io::Result<()> {
        let mut nothing = [0; 16];
        let (channel, spent) = (&mut self.channel, &self.work.spent);
        let read = || channel.read(&mut nothing);
        match spent.during(&mut self.watch, Waiting::Network, read) {
            Ok(0) => Ok(()),
            Ok(_) => Err(io::Error::other("the receiver wrote to a stream")),
            // It closes without saying so in TLS.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Small pieces are gathered for as long as there are more at once.
    fn next(&mut self) -> io::Result<Option<Range>> {
        if self.filled > 0 {
            if let Some(piece) = self.work.take_at_once(self.number, &self.wish) {
                return Ok(Some(piece));
            }
            self.flush()?;
        }
        Ok(self.work.take(self.number, &self.wish, &mut self.watch))
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = self.buffer.get(..self.filled).unwrap_or_default();
        let (channel, spent) = (&mut self.channel, &self.work.spent);
        let write = || channel.write_all(bytes);
        spent.during(&mut self.watch, Waiting::Network, write)?;
        let length = bytes.len() as u64;
        self.work.on_wire.fetch_add(length, Ordering::Relaxed);
        self.filled = 0;
        Ok(())
    }

    /// Room for so many bytes behind what is gathered.
    fn room(&mut self, length: usize) -> io::Result<&mut [u8]> {
        if self.filled + length > self.buffer.len() {
            self.flush()?;
        }
        let from = self.filled;
        self.filled += length;
        Ok(self.buffer.get_mut(from..from + length).unwrap_or_default())
    }

    fn send(&mut self, piece: Range) -> io::Result<()> {
        let fits = (PACK_MIN..=u64::from(PACKED_MAX)).contains(&piece.length);
        if fits && self.packing.is_worth_a_try() {
            self.flush()?;
            return self.send_packed(&piece);
        }
        let since = Instant::now();
        // Its seal is still in the buffer after that.
        self.send_raw(piece)?;
        if piece.length >= PIECE_MIN {
            // Waits for the path and for the rate limit included.
            self.packing.on_written(piece.length, since.elapsed());
        }
        self.note_read(piece);
        Ok(())
    }

    /// To be noted before the seal is sent: the receiver may confirm the piece at once.
    fn note_read(&self, piece: Range) {
        if self.work.read(piece) {
            self.tell(match self.source.finished(piece.file) {
                Ok(()) => Happening::FileRead(piece.file),
                Err(problem) => Happening::Failed(problem),
            });
        }
    }

    /// Compressed, where it gets shorter by that.
    fn send_packed(&mut self, piece: &Range) -> io::Result<()> {
        let length = usize::try_from(piece.length).map_err(io::Error::other)?;
        self.raw.resize(length, 0);
        let hash = self.read_whole(piece);
        self.note_read(*piece);
        let since = Instant::now();
        self.packed = zstd::bulk::compress(&self.raw, LEVEL)?;
        self.packing
            .on_packed(length, self.packed.len(), since.elapsed());
        let (coding, bytes) = match self.packed.len() < length {
            true => (Coding::Zstd, &self.packed),
            false => (Coding::Raw, &self.raw),
        };
        let header = PieceHeader {
            file: piece.file,
            offset: piece.start,
            length: u32::try_from(length).map_err(io::Error::other)?,
            wire_length: u32::try_from(bytes.len()).map_err(io::Error::other)?,
            coding,
        };
        let seal = hash.map_or([0; HASH_LENGTH], |hash| header.seal(&hash));
        let begun = Instant::now();
        let mut left = bytes.len();
        while left > 0 {
            left -= self.work.pace(left.min(BLOCK), &mut self.watch);
        }
        let (channel, spent) = (&mut self.channel, &self.work.spent);
        let write = || channel.write_parts(&[&header.encode(), bytes, &seal]);
        spent.during(&mut self.watch, Waiting::Network, write)?;
        let written = (bytes.len() + HEADER_LENGTH + HASH_LENGTH) as u64;
        self.work.on_wire.fetch_add(written, Ordering::Relaxed);
        self.packing.on_written(written, begun.elapsed());
        Ok(())
    }

    fn read_whole(&mut self, piece: &Range) -> Option<[u8; HASH_LENGTH]> {
        let (source, raw) = (&self.source, &mut self.raw);
        let read = || {
            let reader = source.reader(piece.file)?;
            reader.read(piece.start, raw)?;
            Ok(reader.size())
        };
        let spent = &self.work.spent;
        let read = spent.during(&mut self.watch, Waiting::Disk, read);
        match read {
            Ok(size) => {
                let mut hasher = PieceHasher::new(size, piece.start, piece.length);
                hasher.update(&self.raw);
                self.work.spent.count(piece.length);
                hasher.finish()
            }
            Err(problem) => {
                self.tell(Happening::Failed(problem));
                None
            }
        }
    }

    fn send_raw(&mut self, piece: Range) -> io::Result<()> {
        let length = u32::try_from(piece.length).map_err(io::Error::other)?;
        let header = PieceHeader {
            file: piece.file,
            offset: piece.start,
            length,
            wire_length: length,
            coding: Coding::Raw,
        };
        self.room(HEADER_LENGTH)?.copy_from_slice(&header.encode());
        let seal = match self.send_bytes(&piece)? {
            Some(hash) => header.seal(&hash),
            None => [0; HASH_LENGTH],
        };
        self.room(HASH_LENGTH)?.copy_from_slice(&seal);
        Ok(())
    }

    /// Returns the piece's hash; `None` where it could not be read, so that the receiver must not take it.
    fn send_bytes(&mut self, piece: &Range) -> io::Result<Option<[u8; HASH_LENGTH]>> {
        let (source, spent) = (&self.source, &self.work.spent);
        let open = || source.reader(piece.file);
        let mut reader = match spent.during(&mut self.watch, Waiting::Disk, open) {
            Ok(reader) => Some(reader),
            Err(problem) => {
                self.tell(Happening::Failed(problem));
                None
            }
        };
        let size = reader.as_ref().map_or(0, |reader| reader.size());
        let mut hasher = PieceHasher::new(size, piece.start, piece.length);
        let end = piece.start + piece.length;
        let mut at = piece.start;
        while at < end {
            let most = usize::try_from(end - at).unwrap_or(BLOCK).min(BLOCK);
            let chunk = self.work.pace(most, &mut self.watch);
            if !self.read(reader.as_deref(), at, chunk, &mut hasher)? {
                reader = None;
            }
            at += chunk as u64;
        }
        Ok(reader.and_then(|_| hasher.finish()))
    }

    /// Whether the bytes are those of the file.
    fn read(
        &mut self,
        reader: Option<&Reader>,
        at: u64,
        length: usize,
        hasher: &mut PieceHasher,
    ) -> io::Result<bool> {
        self.room(length)?;
        let room = self.filled - length..self.filled;
        let room = self.buffer.get_mut(room).unwrap_or_default();
        let Some(reader) = reader else {
            room.fill(0);
            return Ok(false);
        };
        let spent = &self.work.spent;
        let read = || reader.read(at, room);
        match spent.during(&mut self.watch, Waiting::Disk, read) {
            Ok(()) => {
                hasher.update(room);
                spent.count(length as u64);
                Ok(true)
            }
            Err(problem) => {
                self.tell(Happening::Failed(problem));
                Ok(false)
            }
        }
    }
}
