//! One stream of the sender: takes pieces, reads them, writes them.
//!
//! A piece is read in blocks that stay in the processor's cache: each is hashed and written before
//! the next is read. Small pieces are gathered, so that a thousand small files cost few writes.

mod moved;

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Instant;
use std::{mem, ops};

use copy_net::Channel;
use copy_protocol::{Coding, HASH_LENGTH, HEADER_LENGTH, NO_HASH, PACKED_MAX, Range};

use super::compression::Compression;
use super::outgoing::OutgoingPiece;
use super::piece_size::PieceSize;
use super::send_queue::SendQueue;
use crate::activity::{Stopwatch, Waiting};
use crate::session::Event;
use files::Layout;
use files::source::{Reader, Source};
use files::{BLOCK, PIECE_MIN, PieceHasher};

/// Zstandard's fastest ordinary level.
const LEVEL: i32 = 1;
/// Shorter pieces save nothing by being compressed.
const PACK_MIN: u64 = 8 << 10;
/// Room for a header before and a seal behind them, and some.
const SLACK: usize = 4 << 10;

/// Bytes of offers that are gathered: those of 16 pieces.
const OFFERS: usize = 16 * (HEADER_LENGTH + HASH_LENGTH);

/// In place of the seal of a piece that could not be read: nothing has it.
const NO_SEAL: [u8; HASH_LENGTH] = [0; HASH_LENGTH];

/// Where the bytes of a stream go.
pub(crate) trait PieceSink {
    /// Takes all of all parts, one behind the other.
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()>;
}

impl PieceSink for Channel {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.write_parts(parts)
    }
}

/// Sends pieces until there is nothing more to do.
pub(crate) struct SendStream<O = Channel> {
    number: u32,
    channel: O,
    queue: Arc<SendQueue>,
    source: Arc<Source>,
    report: SyncSender<Event>,
    buffer: Vec<u8>,
    filled: usize,
    piece_size: PieceSize,
    compression: Compression,
    /// A piece as it is, where compression is tried.
    raw: Vec<u8>,
    /// Pieces in a row that were looked for in older versions in vain, and those passed over since.
    in_vain: u32,
    stopwatch: Stopwatch,
}

impl<O: PieceSink> SendStream<O> {
    pub(crate) fn new(
        number: u32,
        channel: O,
        queue: Arc<SendQueue>,
        source: Arc<Source>,
        report: SyncSender<Event>,
        piece_size: PieceSize,
        compress: bool,
    ) -> Self {
        SendStream {
            number,
            channel,
            queue,
            source,
            report,
            buffer: vec![0; BLOCK + SLACK],
            filled: 0,
            piece_size,
            compression: Compression::new(compress),
            raw: Vec::new(),
            in_vain: 0,
            // Restarted on the thread that does the work.
            stopwatch: Stopwatch::start(),
        }
    }

    fn tell(&self, event: Event) {
        // After the end of the session no thread receives this.
        let _ = self.report.send(event);
    }
}

impl SendStream {
    /// Runs on a thread of its own until its work is over or the stream breaks.
    pub(crate) fn run(mut self) {
        self.stopwatch = Stopwatch::start();
        let end = self.send_all().map_err(|error| error.to_string());
        self.tell(Event::StreamOver(self.number, end));
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
        let (channel, spent) = (&mut self.channel, &self.queue.spent);
        let read = || channel.read(&mut nothing);
        match spent.during(&mut self.stopwatch, Waiting::Network, read) {
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
            if let Some(piece) = self.queue.take_at_once(self.number, &self.piece_size) {
                return Ok(Some(piece));
            }
            self.flush()?;
        }
        Ok(self
            .queue
            .take(self.number, &self.piece_size, &mut self.stopwatch))
    }

    fn send(&mut self, piece: Range) -> io::Result<()> {
        let fits = (PACK_MIN..=u64::from(PACKED_MAX)).contains(&piece.length);
        let is_packed = fits && self.compression.is_worth_a_try();
        self.send_as(piece, is_packed)
    }
}

impl<O: PieceSink> SendStream<O> {
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let bytes = self.buffer.get(..self.filled).unwrap_or_default();
        let (channel, spent) = (&mut self.channel, &self.queue.spent);
        let write = || channel.put(&[bytes]);
        spent.during(&mut self.stopwatch, Waiting::Network, write)?;
        let length = bytes.len() as u64;
        self.queue.on_wire.fetch_add(length, Ordering::Relaxed);
        self.filled = 0;
        Ok(())
    }

    /// Room in the buffer for `most` bytes, at most [`BLOCK`], or for as many of them as the rate
    /// limit lets out at a time. What was gathered before leaves before this waits: otherwise a
    /// whole buffer, let out over a second, would leave at once.
    fn room(&mut self, most: usize) -> io::Result<ops::Range<usize>> {
        let (length, turn) = self.queue.ask(most);
        if turn.is_some() || self.filled + length > self.buffer.len() {
            self.flush()?;
        }
        if let Some(turn) = turn {
            self.queue.wait_for_turn(turn, &mut self.stopwatch);
        }
        let from = self.filled;
        self.filled += length;
        Ok(from..self.filled)
    }

    /// Gathers bytes that are no file's, or that were read already.
    fn gather(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.room(bytes.len().min(BLOCK))?;
            let (now, later) = bytes.split_at(room.len());
            self.buffer
                .get_mut(room)
                .unwrap_or_default()
                .copy_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Reads a piece and writes it, behind what is gathered.
    pub(crate) fn send_as(&mut self, piece: Range, is_packed: bool) -> io::Result<()> {
        let out = self.look_at(piece)?;
        if let Layout::Hole { end } = out.layout {
            return self.send_hole(&out, end);
        }
        let may_fit = matches!(out.layout, Layout::Data) && out.length <= PACKED_MAX;
        if may_fit && self.queue.offer(piece) {
            return self.send_offer(&out);
        }
        if may_fit && self.send_moved(&out)? {
            return Ok(());
        }
        if is_packed {
            self.flush()?;
            return self.send_packed(&out);
        }
        let since = Instant::now();
        // Its seal is still in the buffer after that.
        self.send_raw(&out)?;
        if out.data() >= PIECE_MIN {
            // Waits for the path and for the rate limit included.
            self.compression.on_written(out.data(), since.elapsed());
        }
        self.note_read(&out, out.data());
        Ok(())
    }

    /// Where the file cannot be read the piece is sent all the same, without a seal, so that the
    /// stream goes on.
    fn look_at(&mut self, piece: Range) -> io::Result<OutgoingPiece> {
        let length = u32::try_from(piece.length).map_err(io::Error::other)?;
        let (source, spent) = (&self.source, &self.queue.spent);
        let open = || source.reader(piece.file);
        let reader = spent.during(&mut self.stopwatch, Waiting::Disk, open);
        let reader = reader.map_err(|problem| self.tell(Event::Failed(problem)));
        let reader = reader.ok();
        let layout = match &reader {
            Some(reader) => reader.layout(piece.start, length),
            None => Layout::Data,
        };
        Ok(OutgoingPiece {
            piece,
            length,
            reader,
            layout,
        })
    }

    /// To be noted before the seal is sent: the receiver may confirm the piece at once.
    ///
    /// * `sent`: bytes of the file on the stream, before compression.
    fn note_read(&self, out: &OutgoingPiece, sent: u64) {
        let piece = out.piece;
        if self.queue.read(piece, sent) {
            self.tell(match self.source.finished(piece.file) {
                Ok(()) => Event::FileRead(piece.file),
                Err(problem) => Event::Failed(problem),
            });
        }
    }

    /// Nothing but its place and length.
    fn send_hole(&mut self, out: &OutgoingPiece, end: u64) -> io::Result<()> {
        self.queue.is_hole(out.piece, end);
        let header = out.header(Coding::Hole, 0);
        let is_right = out
            .reader
            .as_deref()
            .is_some_and(|reader| self.is_unchanged(reader));
        let seal = if is_right {
            header.seal(&NO_HASH)
        } else {
            NO_SEAL
        };
        self.gather(&header.encode())?;
        self.gather(&seal)?;
        self.note_read(out, 0);
        Ok(())
    }

    /// Its hash and none of its bytes, where the receiver may have them in an older version.
    fn send_offer(&mut self, out: &OutgoingPiece) -> io::Result<()> {
        self.raw.resize(out.data() as usize, 0);
        let hash = self.read_whole(out);
        let header = out.header(Coding::Older, 0);
        let seal = hash.map_or(NO_SEAL, |hash| header.seal(&hash));
        self.gather(&header.encode())?;
        self.gather(&seal)?;
        self.note_read(out, 0);
        // The receiver reads as much as this end has: few wait for others to go with them.
        match self.filled >= OFFERS {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Compressed, where it gets shorter by that.
    fn send_packed(&mut self, out: &OutgoingPiece) -> io::Result<()> {
        self.raw.resize(out.data() as usize, 0);
        let hash = self.read_whole(out);
        self.note_read(out, out.data());
        let since = Instant::now();
        let packed = zstd::bulk::compress(&self.raw, LEVEL)?;
        let length = self.raw.len();
        self.compression
            .on_packed(length, packed.len(), since.elapsed());
        let is_shorter = packed.len() < length;
        // Its room goes back once it is gathered.
        let raw = mem::take(&mut self.raw);
        let bytes = if is_shorter { &packed } else { &raw };
        let header = out.header(out.coding(is_shorter), bytes.len());
        let seal = hash.map_or(NO_SEAL, |hash| header.seal(&hash));
        let begun = Instant::now();
        self.gather(&header.encode())?;
        self.gather(out.map())?;
        self.gather(bytes)?;
        self.gather(&seal)?;
        self.flush()?;
        let written = out.map().len() + bytes.len() + HEADER_LENGTH + HASH_LENGTH;
        self.compression.on_written(written as u64, begun.elapsed());
        self.raw = raw;
        Ok(())
    }

    /// What of the piece is data, one behind the other. Returns the hash of the piece.
    fn read_whole(&mut self, out: &OutgoingPiece) -> Option<[u8; HASH_LENGTH]> {
        let reader = out.reader.as_ref()?;
        let mut hasher = out.hasher();
        let mut room = self.raw.as_mut_slice();
        let spent = &self.queue.spent;
        let mut read = Ok(());
        for (bytes, is_data) in out.runs() {
            let length = bytes.end - bytes.start;
            if !is_data {
                hasher.zeros(length);
                continue;
            }
            let (run, rest) = room.split_at_mut_checked(length as usize)?;
            room = rest;
            let fill = || reader.read(bytes.start, run);
            let filled = |()| spent.during(&mut self.stopwatch, Waiting::Disk, fill);
            read = read.and_then(filled);
            hasher.update(run);
        }
        spent.count(out.data());
        match read.and_then(|()| reader.check()) {
            Ok(_) => hasher.finish(),
            Err(problem) => {
                self.tell(Event::Failed(problem));
                None
            }
        }
    }

    fn send_raw(&mut self, out: &OutgoingPiece) -> io::Result<()> {
        let header = out.header(out.coding(false), out.data() as usize);
        self.gather(&header.encode())?;
        self.gather(out.map())?;
        let hash = self.send_bytes(out)?;
        let seal = hash.map_or(NO_SEAL, |hash| header.seal(&hash));
        self.gather(&seal)
    }

    /// Returns the piece's hash; `None` where it could not be read, so that the receiver must not
    /// take it.
    fn send_bytes(&mut self, out: &OutgoingPiece) -> io::Result<Option<[u8; HASH_LENGTH]>> {
        let mut reader = out.reader.as_deref();
        let mut hasher = out.hasher();
        for (bytes, is_data) in out.runs() {
            if !is_data {
                hasher.zeros(bytes.end - bytes.start);
                continue;
            }
            let mut at = bytes.start;
            while at < bytes.end {
                let most = usize::try_from(bytes.end - at).unwrap_or(BLOCK).min(BLOCK);
                let room = self.room(most)?;
                let length = room.len() as u64;
                if !self.read(reader, at, room, &mut hasher) {
                    reader = None;
                }
                at += length;
            }
        }
        let hash = reader.filter(|reader| self.is_unchanged(reader));
        Ok(hash.and_then(|_| hasher.finish()))
    }

    /// Whether a piece that was just read is one of the version that was told. A piece may be read
    /// long after its file was read to its end, because its stream broke: no later look at the file
    /// would show that it changed meanwhile.
    fn is_unchanged(&self, reader: &Reader) -> bool {
        let checked = reader.check();
        let is_unchanged = checked.is_ok();
        checked
            .err()
            .into_iter()
            .for_each(|problem| self.tell(Event::Failed(problem)));
        is_unchanged
    }

    /// Whether the bytes are those of the file.
    fn read(
        &mut self,
        reader: Option<&Reader>,
        at: u64,
        room: ops::Range<usize>,
        hasher: &mut PieceHasher,
    ) -> bool {
        let room = self.buffer.get_mut(room).unwrap_or_default();
        let Some(reader) = reader else {
            room.fill(0);
            return false;
        };
        let spent = &self.queue.spent;
        let read = || reader.read(at, room);
        match spent.during(&mut self.stopwatch, Waiting::Disk, read) {
            Ok(()) => {
                hasher.update(room);
                spent.count(room.len() as u64);
                true
            }
            Err(problem) => {
                self.tell(Event::Failed(problem));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
