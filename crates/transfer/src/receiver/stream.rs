//! One stream of the receiver: reads pieces, checks them, writes them where they belong.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use wire::copying::{HASH_LENGTH, HEADER_LENGTH, PieceHeader, Problem, Range};

use crate::inner::net::Channel;
use crate::inner::store::Store;
use crate::session::Happening;

/// Bytes that are read, hashed and written at a time: they stay in the second-level cache.
const CHUNK: usize = 256 << 10;
/// Room behind a chunk, so that one read brings many small pieces.
const SLACK: usize = 64 << 10;

/// Receives pieces until the sender ends the stream.
pub(crate) struct Inflow {
    number: u32,
    channel: Channel,
    store: Arc<Store>,
    report: Sender<Happening>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inflow {
    pub(crate) fn new(
        number: u32,
        channel: Channel,
        store: Arc<Store>,
        report: Sender<Happening>,
    ) -> Self {
        Inflow {
            number,
            channel,
            store,
            report,
            buffer: vec![0; CHUNK + SLACK],
            start: 0,
            end: 0,
        }
    }

    /// Runs on a thread of its own until the stream ends.
    pub(crate) fn run(mut self) {
        let end = self.receive_all().map_err(|error| error.to_string());
        self.tell(Happening::StreamOver(self.number, end));
    }

    fn tell(&self, happening: Happening) {
        // Nobody listens any more when the conversation is over.
        let _ = self.report.send(happening);
    }

    fn receive_all(&mut self) -> io::Result<()> {
        while self.has_more()? {
            let header = self.header()?;
            self.piece(&header)?;
        }
        Ok(())
    }

    /// Whether another piece begins; a stream that ends within one broke.
    fn has_more(&mut self) -> io::Result<bool> {
        if self.start < self.end {
            return Ok(true);
        }
        (self.start, self.end) = (0, 0);
        self.end = self.channel.read(&mut self.buffer)?;
        Ok(self.end > 0)
    }

    /// Waits until so many bytes are in the buffer.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        if self.start + length > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end - self.start < length {
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.channel.read(room)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                got => self.end += got,
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

    fn header(&mut self) -> io::Result<PieceHeader> {
        let bytes: [u8; HEADER_LENGTH] = self.take()?;
        PieceHeader::decode(&bytes).map_err(io::Error::other)
    }

    fn piece(&mut self, header: &PieceHeader) -> io::Result<()> {
        let mut hasher = blake3::Hasher::new();
        let mut at = header.offset;
        let end = header.offset + u64::from(header.length);
        let mut trouble = None;
        while at < end {
            let length = (end - at).min(CHUNK as u64) as usize;
            self.fill(length)?;
            let chunk = self.buffer.get(self.start..self.start + length);
            let chunk = chunk.unwrap_or_default();
            hasher.update(chunk);
            if trouble.is_none() {
                trouble = self.store.write(header.file, at, chunk).err();
            }
            self.start += length;
            at += length as u64;
        }
        let hash: [u8; HASH_LENGTH] = self.take()?;
        let is_right = hasher.finalize() == blake3::Hash::from_bytes(hash);
        self.conclude(header, is_right, trouble);
        Ok(())
    }

    fn conclude(&self, header: &PieceHeader, is_right: bool, trouble: Option<Problem>) {
        let range = Range {
            file: header.file,
            start: header.offset,
            length: u64::from(header.length),
        };
        if let Some(problem) = trouble {
            self.tell(Happening::Failed(Problem {
                file: Some(header.file),
                ..problem
            }));
        } else if !is_right {
            self.tell(Happening::Damaged(range));
        } else {
            match self.store.arrived(range.file, range.length) {
                Ok(is_published) => {
                    self.tell(Happening::Arrived(range));
                    if is_published {
                        self.tell(Happening::Published(range.file));
                    }
                }
                Err(problem) => self.tell(Happening::Failed(Problem {
                    file: Some(header.file),
                    ..problem
                })),
            }
        }
    }
}
