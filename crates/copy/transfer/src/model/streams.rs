//! Streams of a conversation: the sender's end, what is on the way, and the receiver's end.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use copy_protocol::{HEADER_LENGTH, PieceHeader};
use units::Rate;

use super::draw::Draw;
use super::talk::{Talk, Turn};
use crate::receiver::piece_decoder::PieceDecoder;
use crate::sender::piece_size::PieceSize;
use crate::sender::send_queue;
use crate::sender::stream::{PieceSink, SendStream};

/// Bytes that may be on the way before the sender has to wait.
const PIPE_MAX: usize = 150_000;
/// Streams of one conversation, but for one that is always there.
const STREAMS_MAX: usize = 8;

/// Bytes on the way.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    bytes: Vec<u8>,
    start: usize,
    is_broken: bool,
}

#[derive(Debug, Clone, Default)]
struct Tube(Rc<RefCell<Pipe>>);

impl PieceSink for Tube {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let mut pipe = self.0.borrow_mut();
        if pipe.is_broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        parts
            .iter()
            .for_each(|part| pipe.bytes.extend_from_slice(part));
        Ok(())
    }
}

/// Where the sender's end of a stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Sending,
    /// It has said that nothing more comes.
    Finished,
    /// All that it carried has arrived, and may still be confirmed.
    Parted,
    Gone,
}

pub(super) struct Stream {
    number: u32,
    tube: Tube,
    phase: Phase,
    stream: SendStream<Tube>,
    piece_size: PieceSize,
    /// How often it found nothing to do since something changed: once without repeating what others
    /// owe, once with that.
    waits: u8,
    decoder: Option<PieceDecoder>,
}

impl Stream {
    fn left(&self) -> usize {
        let pipe = self.tube.0.borrow();
        pipe.bytes.len() - pipe.start
    }

    pub fn is_broken(&self) -> bool {
        self.tube.0.borrow().is_broken
    }

    fn is_alive(&self) -> bool {
        self.phase == Phase::Sending && !self.is_broken()
    }

    /// Some of what is on the way still arrives, and nothing behind it.
    pub fn break_off(&self, draw: &mut Draw) {
        let mut pipe = self.tube.0.borrow_mut();
        if !pipe.is_broken {
            pipe.is_broken = true;
            let arrives = draw.below(pipe.bytes.len() - pipe.start + 1);
            let end = pipe.start + arrives;
            pipe.bytes.truncate(end);
        }
    }

    /// Flips a bit of what arrives next. Returns whether it is one of a header.
    pub fn damage(&self, draw: &mut Draw) -> bool {
        let Some(decoder) = self
            .decoder
            .as_ref()
            .filter(|it| self.left() >= it.wanted())
        else {
            return false;
        };
        let mut pipe = self.tube.0.borrow_mut();
        let at = pipe.start + draw.below(decoder.wanted());
        pipe.bytes[at] ^= 1 << draw.below(8);
        decoder.is_between_pieces()
    }

    /// Whether the receiver's end can take a portion.
    fn can_receive(&self, talk: &Talk<'_, '_, '_>) -> bool {
        let Some(decoder) = &self.decoder else {
            return false;
        };
        if self.left() < decoder.wanted() {
            return false;
        }
        let pipe = self.tube.0.borrow();
        let header = pipe.bytes[pipe.start..].first_chunk::<HEADER_LENGTH>();
        match (decoder.is_between_pieces(), header.map(PieceHeader::decode)) {
            // It would wait to be told of the file.
            (true, Some(Ok(header))) => talk.receiver.shared.files.is_answered(header.file),
            _ => true,
        }
    }

    /// Whether the receiver's end has to see that nothing more comes.
    fn is_missed(&self) -> bool {
        let Some(decoder) = &self.decoder else {
            return false;
        };
        let is_at_end = self.phase != Phase::Sending && self.left() == 0;
        let ends_well = is_at_end && decoder.is_between_pieces();
        ends_well || self.is_broken() && self.left() < decoder.wanted()
    }

    fn receive(&mut self) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        let mut pipe = self.tube.0.borrow_mut();
        let end = pipe.start + decoder.wanted();
        let taken = decoder.take(&pipe.bytes[pipe.start..end]);
        pipe.start = end;
        if taken.is_err() {
            decoder.break_off();
            self.decoder = None;
            pipe.is_broken = true;
        }
    }

    /// The receiver's end sees that nothing more comes.
    fn miss(&mut self) {
        if let Some(mut decoder) = self.decoder.take()
            && self.is_broken()
        {
            decoder.break_off();
        }
    }

    /// The receiver ends.
    pub fn receiver_goes(&mut self) {
        self.decoder = None;
    }

    fn flush(&mut self) {
        // A stream that broke is noticed where its end is awaited.
        let _ = self.stream.flush();
    }
}

impl Talk<'_, '_, '_> {
    fn alive(&self) -> usize {
        self.streams
            .iter()
            .filter(|stream| stream.is_alive())
            .count()
    }

    pub fn may_join(&self) -> bool {
        let alive = self.alive();
        let is_allowed = self.streams.len() < STREAMS_MAX || alive == 0;
        let is_whole = self.near_receiver.is_active() && !self.near_sender.mouth.is_cut.get();
        alive < self.target && is_allowed && is_whole
    }

    pub fn stream_turns(&self, turns: &mut Vec<Turn>) {
        let sends = self.near_sender.is_active();
        let receives = self.near_receiver.is_active();
        for (at, stream) in self.streams.iter().enumerate() {
            let broke =
                stream.is_broken() && matches!(stream.phase, Phase::Sending | Phase::Finished);
            let parts = stream.phase == Phase::Finished && stream.decoder.is_none();
            let has_room = stream.left() < PIPE_MAX && stream.waits < 2;
            let all = [
                (receives && stream.can_receive(self), Turn::Receive(at)),
                (receives && stream.is_missed(), Turn::ReceiverMisses(at)),
                (sends && stream.is_alive() && has_room, Turn::Send(at)),
                (sends && (broke || parts), Turn::SenderMisses(at)),
                (sends && stream.phase == Phase::Parted, Turn::Settle(at)),
            ];
            turns.extend(all.iter().filter(|one| one.0).map(|one| one.1));
        }
    }

    pub fn take_on_stream(&mut self, turn: Turn) {
        match turn {
            Turn::Join => self.join(),
            Turn::Send(at) => self.send(at),
            Turn::Receive(at) => {
                self.near_receiver.has_news = true;
                self.streams[at].receive();
            }
            Turn::ReceiverMisses(at) => self.streams[at].miss(),
            Turn::SenderMisses(at) => {
                let stream = &mut self.streams[at];
                match stream.is_broken() {
                    true => {
                        stream.phase = Phase::Gone;
                        self.sender.queue.over(self.streams[at].number);
                        self.wake_streams();
                    }
                    false => stream.phase = Phase::Parted,
                }
            }
            Turn::Settle(at) => {
                self.streams[at].phase = Phase::Gone;
                self.sender.queue.over(self.streams[at].number);
                self.wake_streams();
            }
            _ => {}
        }
    }

    fn join(&mut self) {
        let number = self.streams.len() as u32;
        let tube = Tube::default();
        let piece_size = match self.world.options.compress {
            true => PieceSize::for_compression(),
            false => PieceSize::default(),
        };
        let stream = SendStream::new(
            number,
            tube.clone(),
            Arc::clone(&self.sender.queue),
            Arc::clone(&self.sender.source),
            self.near_sender.report.clone(),
            piece_size.clone(),
            self.world.options.compress,
        );
        let shared = Arc::clone(&self.receiver.shared);
        let report = self.near_receiver.report.clone();
        self.streams.push(Stream {
            number,
            tube,
            phase: Phase::Sending,
            stream,
            piece_size,
            waits: 0,
            decoder: Some(PieceDecoder::new(number, shared, report)),
        });
    }

    /// The sender's end of a stream sends a piece, or sees that there is none for it.
    fn send(&mut self, at: usize) {
        // A quarter of a second of it are 16, 32, 64 or 256 KiB.
        let piece_size = self.draw.pick(&[16_u64, 32, 64, 256]) << 10;
        let is_packed = self.world.options.compress && self.draw.chance(2);
        let is_gathered = self.draw.chance(4);
        let stream = &mut self.streams[at];
        stream
            .piece_size
            .set(Rate::from_bits_per_second(piece_size * 32));
        let may_repeat = stream.waits > 0;
        let queue = Arc::clone(&self.sender.queue);
        match queue.try_take(stream.number, &stream.piece_size, may_repeat) {
            send_queue::Turn::Piece(piece) => {
                self.draw.note(|| format!("    {piece:?}"));
                let is_packed = is_packed && (8192..=1 << 20).contains(&piece.length);
                // A stream that broke is noticed where its end is awaited.
                let _ = stream.stream.send_as(piece, is_packed);
                if !is_gathered {
                    stream.flush();
                }
                self.near_sender.has_news = true;
                // It was read, so others may be able to do something.
                self.wake_streams();
            }
            send_queue::Turn::Wait => {
                stream.flush();
                stream.waits += 1;
            }
            send_queue::Turn::End => {
                stream.flush();
                stream.phase = Phase::Finished;
            }
        }
    }

    /// Something changed, so that there may be work for all.
    pub fn wake_streams(&mut self) {
        self.streams.iter_mut().for_each(|stream| stream.waits = 0);
    }

    /// The connections of all of them are lost.
    pub fn break_streams(&mut self) {
        for stream in &self.streams {
            stream.break_off(self.draw);
        }
    }

    /// A stream is to end after what it sends.
    pub fn let_one_leave(&mut self) {
        if !self.streams.is_empty() {
            let at = self.draw.below(self.streams.len());
            let stream = &mut self.streams[at];
            if stream.is_alive() {
                self.sender.queue.leave(stream.number);
                stream.waits = 0;
            }
        }
    }
}
