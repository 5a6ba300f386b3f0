//! The sender's thread.

use std::io;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use measure_protocol::iperf3::datagram::DatagramHeader;
use sockets::Clock;
use sockets::datagrams::{DatagramSender, Handed};
use units::{Rate, Span, Time};

use super::pace::Pace;
use super::{Moved, Shared, TICK, Task};
use crate::stream::noise;

/// How soon a kernel that has no room, or a network that complains, is tried again.
const AGAIN: Duration = Duration::from_micros(500);
/// How soon a full queue is tried again by a sender without a rate.
const QUEUE_AGAIN: Duration = Duration::from_micros(50);

/// A sender that is to run.
pub(super) struct Sending {
    socket: DatagramSender,
    task: Task,
    rate: Option<Rate>,
    size: usize,
    /// The datagrams of one row.
    row: Vec<u8>,
    moved: Moved,
}

impl Sending {
    pub fn new(socket: UdpSocket, task: Task, rate: Option<Rate>) -> io::Result<Self> {
        let socket = DatagramSender::new(socket)?;
        let size = usize::try_from(task.size.get()).unwrap_or(usize::MAX);
        let row = noise(size.saturating_mul(socket.row_max(size)));
        Ok(Sending {
            socket,
            task,
            rate,
            size,
            row,
            moved: Moved {
                sent: true,
                ..Moved::default()
            },
        })
    }

    pub fn run(mut self, shared: &Shared) -> Moved {
        // Sleeps as short as they are asked for; a kernel that refuses wakes later.
        let _ = nix::sys::prctl::set_timerslack(1);
        let clock = Clock::start();
        let (size, together) = (self.task.size, self.task.form.burst);
        let mut pace = self
            .rate
            .map(|rate| Pace::new(rate, size, together, Time::ZERO));
        while !shared.is_stopped() {
            let now = clock.now();
            self.omit_when_due(now);
            let Some(pace) = &mut pace else {
                self.send(self.socket.row_max(self.size), clock, shared);
                continue;
            };
            match pace.ready(now) {
                0 => thread::sleep(Duration::from(pace.wait(now)).min(TICK)),
                ready => pace.spend(self.send_rows(ready, clock, shared)),
            }
        }
        self.moved.not_sent += pace.map_or(0, |pace| pace.missed());
        self.moved.duration = clock.now().since(Time::ZERO);
        self.moved.lasted = self.moved.duration;
        self.moved
    }

    /// What it has sent so far.
    #[cfg(test)]
    pub(super) fn moved(&self) -> &Moved {
        &self.moved
    }

    fn omit_when_due(&mut self, now: Time) {
        let omit = self.task.omit;
        let is_over = now.since(Time::ZERO) >= omit;
        if omit > Span::ZERO && is_over && self.moved.omitted.is_none() {
            self.moved.duration = now.since(Time::ZERO);
            self.moved.lasted = self.moved.duration;
            self.moved.omit();
        }
    }

    /// Hands over all that are ready, row by row; how many have left, or never will.
    fn send_rows(&mut self, ready: u64, clock: Clock, shared: &Shared) -> u64 {
        let mut left = 0;
        while left < ready && !shared.is_stopped() {
            let count = (ready - left).min(self.socket.row_max(self.size) as u64);
            match self.send(count as usize, clock, shared) {
                0 => break,
                sent => left += sent,
            }
        }
        left
    }

    /// Hands over a row; how many datagrams have left, or never will.
    pub(super) fn send(&mut self, count: usize, clock: Clock, shared: &Shared) -> u64 {
        // What was handed over before this row may have taken its time.
        let now = clock.now();
        let (size, counter) = (self.size, self.task.form.counter);
        let length = count.saturating_mul(size).min(self.row.len());
        let row = self.row.get_mut(..length).unwrap_or_default();
        for (number, datagram) in (self.moved.highest + 1..).zip(row.chunks_mut(size)) {
            let header = DatagramHeader {
                sent: now.since(Time::ZERO),
                number,
            };
            header.write(counter, datagram);
        }
        match self.socket.send(row, size) {
            Ok(handed) => self.account(handed, count as u64, shared),
            // It counts as not sent, once it is not made up for.
            Err(error) => {
                tracing::warn!(%error, size, "datagrams cannot be sent");
                self.moved.forbidden = error.raw_os_error();
                thread::sleep(TICK);
                0
            }
        }
    }

    /// What became of datagrams that were handed over. Those that a full queue refused are neither
    /// sent nor lost: the next ones have their numbers.
    pub(super) fn account(&mut self, handed: Handed, count: u64, shared: &Shared) -> u64 {
        match handed {
            Handed::Sent => {
                let bytes = self.task.size.times(count);
                self.moved.highest += count;
                self.moved.arrived += count;
                self.moved.bytes += bytes;
                shared.count(bytes.get());
                count
            }
            Handed::Refused if self.rate.is_some() => {
                self.moved.not_sent += count;
                count
            }
            // As fast as it goes is as fast as the queue has room.
            Handed::Refused => {
                thread::sleep(QUEUE_AGAIN);
                0
            }
            Handed::Not => {
                thread::sleep(AGAIN);
                0
            }
        }
    }
}
