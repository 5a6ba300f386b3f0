//! The sender's thread.

use std::io;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use measure_protocol::iperf3::datagram::DatagramHeader;
use sockets::Clock;
use sockets::datagrams::{DatagramSender, Handed};
use units::{Bytes, Rate, Span, Time};

use super::pace::Pace;
use super::{Moved, Shared, TICK, Task};
use crate::stream::noise;

/// How soon a kernel that has no room, or a network that complains, is tried again.
const AGAIN: Duration = Duration::from_micros(500);

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
                self.send(self.socket.row_max(self.size), now, shared);
                continue;
            };
            match pace.ready(now) {
                0 => thread::sleep(Duration::from(pace.wait(now)).min(TICK)),
                ready => pace.spend(self.send_rows(ready, now, shared)),
            }
        }
        self.moved.duration = clock.now().since(Time::ZERO);
        self.moved
    }

    fn omit_when_due(&mut self, now: Time) {
        let omit = self.task.omit;
        let is_over = now.since(Time::ZERO) >= omit;
        if omit > Span::ZERO && is_over && self.moved.omitted.is_none() {
            self.moved.duration = now.since(Time::ZERO);
            self.moved.omit();
        }
    }

    /// Hands over all that are ready, row by row; how many have left, or are gone.
    fn send_rows(&mut self, ready: u64, now: Time, shared: &Shared) -> u64 {
        let mut left = 0;
        while left < ready && !shared.is_stopped() {
            let count = (ready - left).min(self.socket.row_max(self.size) as u64);
            match self.send(count as usize, now, shared) {
                0 => break,
                sent => left += sent,
            }
        }
        left
    }

    /// Hands over a row; how many datagrams have left, or are gone.
    fn send(&mut self, count: usize, now: Time, shared: &Shared) -> u64 {
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
        let handed = self.socket.send(row, size);
        let count = count as u64;
        let bytes = length as u64;
        match handed {
            Ok(Handed::Sent) => {}
            Ok(Handed::Dropped) => self.moved.dropped += count,
            Ok(Handed::Not) => {
                thread::sleep(AGAIN);
                return 0;
            }
            // The far end sees that nothing comes, and the figures say so.
            Err(error) => {
                tracing::warn!(%error, size, "datagrams cannot be sent");
                thread::sleep(TICK);
                return 0;
            }
        }
        self.moved.highest += count;
        self.moved.arrived += count;
        self.moved.bytes += Bytes::new(bytes);
        shared.count(bytes);
        count
    }
}
