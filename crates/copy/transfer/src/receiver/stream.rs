//! One stream of the receiver: reads what its [`PieceDecoder`] takes.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use copy_net::Channel;

use super::piece_decoder::PieceDecoder;
use super::shared::Shared;
use crate::activity::{Stopwatch, Waiting};
use crate::session::Event;
use files::BLOCK;

/// Room behind a block, so that one read brings many small pieces.
const SLACK: usize = 64 << 10;

/// Receives pieces until the sender ends the stream.
pub(crate) struct ReceiveStream {
    number: u32,
    channel: Channel,
    shared: Arc<Shared>,
    report: SyncSender<Event>,
    decoder: PieceDecoder,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReceiveStream {
    pub(crate) fn new(
        number: u32,
        channel: Channel,
        shared: Arc<Shared>,
        report: SyncSender<Event>,
    ) -> Self {
        ReceiveStream {
            number,
            channel,
            decoder: PieceDecoder::new(number, Arc::clone(&shared), report.clone()),
            shared,
            report,
            buffer: vec![0; BLOCK + SLACK],
            start: 0,
            end: 0,
            // Restarted on the thread that does the work.
        }
    }

    /// Runs on a thread of its own until the stream ends.
    pub(crate) fn run(mut self) {
        self.decoder.stopwatch = Stopwatch::start();
        let end = self.receive_all();
        if end.is_err() {
            self.decoder.break_off();
        }
        let end = end.map_err(|error| error.to_string());
        // Other threads hold the connection too; the sender has to see at once that it is not read
        // any more.
        self.channel.handle().shut_down();
        self.tell(Event::StreamOver(self.number, end));
    }

    fn tell(&self, event: Event) {
        // After the end of the session no thread receives this.
        let _ = self.report.send(event);
    }

    fn receive_all(&mut self) -> io::Result<()> {
        while !self.decoder.is_between_pieces() || (!self.is_given_up() && self.has_more()?) {
            let length = self.decoder.wanted();
            self.fill(length)?;
            let portion = self.buffer.get(self.start..self.start + length);
            self.decoder.take(portion.unwrap_or_default())?;
            self.start += length;
        }
        Ok(())
    }

    fn is_given_up(&self) -> bool {
        self.shared.is_given_up.load(Ordering::Relaxed)
    }

    /// Only a read that finds nothing waits for the network.
    fn read(&mut self) -> io::Result<usize> {
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let (channel, spent) = (&mut self.channel, &self.shared.spent);
        let got = match channel.read_at_once(room) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let read = || channel.read(room);
                spent.during(&mut self.decoder.stopwatch, Waiting::Network, read)?
            }
            other => other?,
        };
        let counter = &self.shared.on_wire;
        counter.fetch_add(got as u64, Ordering::Relaxed);
        let (throttle, spent) = (&self.shared.throttle, &self.shared.spent);
        if let Some(turn) = throttle.turn(got) {
            let is_over = || self.shared.is_given_up.load(Ordering::Relaxed);
            let wait = || throttle.wait(turn, &is_over);
            spent.during(&mut self.decoder.stopwatch, Waiting::Rate, wait);
        }
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
}
