//! One stream of the sender: takes pieces, reads them, writes them.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use wire::copying::{Coding, FileId, HEADER_LENGTH, PieceHeader, Problem, Range};

use super::work::Work;
use crate::inner::net::Channel;
use crate::inner::source::trouble;
use crate::session::Happening;

/// Bytes that are read, hashed and written at a time: they stay in the second-level cache.
const CHUNK: usize = 256 << 10;

/// Sends pieces until there is nothing more to do.
pub(crate) struct Outflow {
    number: u32,
    channel: Channel,
    work: Arc<Work>,
    report: Sender<Happening>,
    buffer: Vec<u8>,
    filled: usize,
    open: Option<(FileId, File)>,
}

impl Outflow {
    pub(crate) fn new(
        number: u32,
        channel: Channel,
        work: Arc<Work>,
        report: Sender<Happening>,
    ) -> Self {
        Outflow {
            number,
            channel,
            work,
            report,
            buffer: vec![0; CHUNK + 2 * HEADER_LENGTH + 64],
            filled: 0,
            open: None,
        }
    }

    /// Runs on a thread of its own until its work is over or the stream breaks.
    pub(crate) fn run(mut self) {
        let end = self.send_all().map_err(|error| error.to_string());
        // Nobody listens any more when the conversation is over.
        let _ = self.report.send(Happening::StreamOver(self.number, end));
    }

    fn send_all(&mut self) -> io::Result<()> {
        let wish = 1 << 20;
        while let Some(piece) = self.next(wish)? {
            self.send(piece)?;
        }
        self.flush()?;
        self.channel.finish()
    }

    /// Small pieces are gathered for as long as there are more at once.
    fn next(&mut self, wish: u64) -> io::Result<Option<Range>> {
        if self.filled > 0 {
            if let Some(piece) = self.work.take_at_once(self.number, wish) {
                return Ok(Some(piece));
            }
            self.flush()?;
        }
        Ok(self.work.take(self.number, wish))
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = self.buffer.get(..self.filled).unwrap_or_default();
        self.channel.write_all(bytes)?;
        self.work
            .on_wire
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.filled = 0;
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.filled + bytes.len() > self.buffer.len() {
            self.flush()?;
        }
        if let Some(room) = self.buffer.get_mut(self.filled..self.filled + bytes.len()) {
            room.copy_from_slice(bytes);
            self.filled += bytes.len();
        }
        Ok(())
    }

    fn send(&mut self, piece: Range) -> io::Result<()> {
        let length = u32::try_from(piece.length).map_err(io::Error::other)?;
        let header = PieceHeader {
            file: piece.file,
            offset: piece.start,
            length,
            wire_length: length,
            coding: Coding::Raw,
        };
        self.push(&header.encode())?;
        let hash = self.send_bytes(&piece)?;
        self.push(&hash)?;
        if self.work.read(&piece) {
            // Nobody listens any more when the conversation is over.
            let _ = self.report.send(Happening::FileRead(piece.file));
        }
        Ok(())
    }

    fn send_bytes(&mut self, piece: &Range) -> io::Result<[u8; 32]> {
        use blake3::hazmat::HasherExt;
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(0);
        let mut at = piece.start;
        let end = piece.start + piece.length;
        let mut is_spoiled = self.open(piece.file).is_err();
        while at < end {
            if self.filled + 1024 > self.buffer.len() {
                self.flush()?;
            }
            let room = (self.buffer.len() - self.filled).min(CHUNK) as u64;
            let chunk = (end - at).min(room) as usize;
            let Some(room) = self.buffer.get_mut(self.filled..self.filled + chunk) else {
                return Err(io::Error::other("no room"));
            };
            if !is_spoiled {
                let read = match &self.open {
                    Some((_, file)) => file.read_exact_at(room, at),
                    None => Err(io::ErrorKind::NotFound.into()),
                };
                if let Err(error) = read {
                    is_spoiled = true;
                    fail(&self.report, &self.work, piece.file, &error);
                }
            }
            hasher.update(room);
            self.filled += chunk;
            at += chunk as u64;
        }
        Ok(match is_spoiled {
            true => [0; 32],
            false => *hasher.finalize().as_bytes(),
        })
    }

    fn open(&mut self, id: FileId) -> io::Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open == id) {
            return Ok(());
        }
        self.open = None;
        let Some(origin) = self.work.origin(id) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        match File::open(&origin.path) {
            Ok(file) => {
                self.open = Some((id, file));
                Ok(())
            }
            Err(error) => {
                fail(&self.report, &self.work, id, &error);
                Err(error)
            }
        }
    }
}

fn fail(report: &Sender<Happening>, work: &Work, id: FileId, error: &io::Error) {
    let Some(origin) = work.origin(id) else {
        return;
    };
    let problem = Problem {
        file: Some(id),
        ..trouble(&origin.path, error)
    };
    let _ = report.send(Happening::Failed(problem));
}
