//! Streams of a conversation: the sender's end, what is on the way, and the receiver's end.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use units::Rate;
use wire::copying::{HEADER_LENGTH, PieceHeader};

use super::draw::Draw;
use super::talk::{Talk, Turn};
use crate::receiver::intake::Intake;
use crate::sender::stream::{Outflow, Outlet};
use crate::sender::wish::Wish;
use crate::sender::work;

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

impl Outlet for Tube {
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
    outflow: Outflow<Tube>,
    wish: Wish,
    /// How often it found nothing to do since something changed: once without repeating what others
    /// owe, once with that.
    waits: u8,
    intake: Option<Intake>,
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
        let Some(intake) = self.intake.as_ref().filter(|it| self.left() >= it.wanted()) else {
            return false;
        };
        let mut pipe = self.tube.0.borrow_mut();
        let at = pipe.start + draw.below(intake.wanted());
        pipe.bytes[at] ^= 1 << draw.below(8);
        intake.is_between_pieces()
    }

    /// Whether the receiver's end can take a portion.
    fn can_receive(&self, talk: &Talk<'_, '_, '_>) -> bool {
        let Some(intake) = &self.intake else {
            return false;
        };
        if self.left() < intake.wanted() {
            return false;
        }
        let pipe = self.tube.0.borrow();
        let header = pipe.bytes[pipe.start..].first_chunk::<HEADER_LENGTH>();
        match (intake.is_between_pieces(), header.map(PieceHeader::decode)) {
            // It would wait to be told of the file.
            (true, Some(Ok(header))) => talk.receiver.shared.shelf.is_answered(header.file),
            _ => true,
        }
    }

    /// Whether the receiver's end has to see that nothing more comes.
    fn is_missed(&self) -> bool {
        let Some(intake) = &self.intake else {
            return false;
        };
        let is_at_end = self.phase != Phase::Sending && self.left() == 0;
        let ends_well = is_at_end && intake.is_between_pieces();
        ends_well || self.is_broken() && self.left() < intake.wanted()
    }

    fn receive(&mut self) {
        let Some(intake) = &mut self.intake else {
            return;
        };
        let mut pipe = self.tube.0.borrow_mut();
        let end = pipe.start + intake.wanted();
        let taken = intake.take(&pipe.bytes[pipe.start..end]);
        pipe.start = end;
        if taken.is_err() {
            intake.break_off();
            self.intake = None;
            pipe.is_broken = true;
        }
    }

    /// The receiver's end sees that nothing more comes.
    fn miss(&mut self) {
        if let Some(mut intake) = self.intake.take()
            && self.is_broken()
        {
            intake.break_off();
        }
    }

    /// The receiver ends.
    pub fn receiver_goes(&mut self) {
        self.intake = None;
    }

    fn flush(&mut self) {
        // A stream that broke is noticed where its end is awaited.
        let _ = self.outflow.flush();
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
            let parts = stream.phase == Phase::Finished && stream.intake.is_none();
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
                        self.sender.work.over(self.streams[at].number);
                        self.wake_streams();
                    }
                    false => stream.phase = Phase::Parted,
                }
            }
            Turn::Settle(at) => {
                self.streams[at].phase = Phase::Gone;
                self.sender.work.over(self.streams[at].number);
                self.wake_streams();
            }
            _ => {}
        }
    }

    fn join(&mut self) {
        let number = self.streams.len() as u32;
        let tube = Tube::default();
        let wish = match self.world.options.compress {
            true => Wish::for_packing(),
            false => Wish::default(),
        };
        let outflow = Outflow::new(
            number,
            tube.clone(),
            Arc::clone(&self.sender.work),
            Arc::clone(&self.sender.source),
            self.near_sender.report.clone(),
            wish.clone(),
            self.world.options.compress,
        );
        let shared = Arc::clone(&self.receiver.shared);
        let report = self.near_receiver.report.clone();
        self.streams.push(Stream {
            number,
            tube,
            phase: Phase::Sending,
            outflow,
            wish,
            waits: 0,
            intake: Some(Intake::new(number, shared, report)),
        });
    }

    /// The sender's end of a stream sends a piece, or sees that there is none for it.
    fn send(&mut self, at: usize) {
        // A quarter of a second of it are 16, 32, 64 or 256 KiB.
        let wish = self.draw.pick(&[16_u64, 32, 64, 256]) << 10;
        let is_packed = self.world.options.compress && self.draw.chance(2);
        let is_gathered = self.draw.chance(4);
        let stream = &mut self.streams[at];
        stream.wish.set(Rate::from_bits_per_second(wish * 32));
        let may_repeat = stream.waits > 0;
        let work = Arc::clone(&self.sender.work);
        match work.try_take(stream.number, &stream.wish, may_repeat) {
            work::Turn::Piece(piece) => {
                self.draw.note(|| format!("    {piece:?}"));
                let is_packed = is_packed && (8192..=1 << 20).contains(&piece.length);
                // A stream that broke is noticed where its end is awaited.
                let _ = stream.outflow.send_as(piece, is_packed);
                if !is_gathered {
                    stream.flush();
                }
                self.near_sender.has_news = true;
                // It was read, so others may be able to do something.
                self.wake_streams();
            }
            work::Turn::Wait => {
                stream.flush();
                stream.waits += 1;
            }
            work::Turn::End => {
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
                self.sender.work.leave(stream.number);
                stream.waits = 0;
            }
        }
    }
}
