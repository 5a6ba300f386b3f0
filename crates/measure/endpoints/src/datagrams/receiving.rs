//! The receiver's thread.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use measure_protocol::iperf3::datagram::{
    DatagramHeader, Jitter, Receipt, Receipts, WELCOME, is_hello,
};
use observe::LeastDelays;
use sockets::Clock;
use sockets::datagrams::{DatagramReceiver, Row};
use units::{Bytes, Span, Time};

use super::{Moved, Shared, Task};

/// How often the answer to a greeting is repeated to a sender of which nothing comes.
const WELCOME_AGAIN: Duration = Duration::from_millis(500);
/// And how many times.
const WELCOMES_MAX: u32 = 20;

/// A receiver that is to run.
pub(super) struct Receiving {
    socket: DatagramReceiver,
    task: Task,
    /// Answers to greetings that may still be sent.
    welcomes: u32,
    seen: Seen,
}

/// What has come.
struct Seen {
    receipts: Receipts,
    jitter: Jitter,
    delays: LeastDelays,
    moved: Moved,
    /// Datagrams, or rows of them, that this host had no room for, of which no gap was found yet.
    dropped: u64,
    /// The most datagrams of one row.
    row_max: u64,
}

impl Receiving {
    pub fn new(socket: UdpSocket, task: Task, welcomes: bool) -> io::Result<Self> {
        Ok(Receiving {
            socket: DatagramReceiver::new(socket)?,
            task,
            welcomes: if welcomes { WELCOMES_MAX } else { 0 },
            seen: Seen {
                receipts: Receipts::new(task.form.counter),
                jitter: Jitter::default(),
                delays: LeastDelays::default(),
                moved: Moved::default(),
                dropped: 0,
                row_max: 1,
            },
        })
    }

    pub fn run(mut self, shared: &Shared) -> Moved {
        let (start, mut began) = (Clock::start(), None);
        let mut welcomed = Instant::now();
        while !shared.is_stopped() {
            self.omit_when_due(start.now());
            let row = match self.socket.receive() {
                Ok(row) => row,
                Err(error) => {
                    tracing::warn!(%error, "datagrams cannot be received");
                    break;
                }
            };
            if let Some(row) = row {
                let greeted = self.seen.take(&row, self.task, &mut began, shared);
                if greeted && self.welcomes > 0 {
                    self.welcome();
                }
            }
            if began.is_none() && self.welcomes > 0 && welcomed.elapsed() >= WELCOME_AGAIN {
                welcomed = Instant::now();
                self.welcome();
            }
        }
        let dropped = self.socket.dropped_last();
        self.seen.moved.lasted = start.now().since(Time::ZERO);
        self.seen.over(dropped)
    }

    /// The first answer may have been lost.
    fn welcome(&mut self) {
        self.welcomes -= 1;
        let _ = self.socket.answer(&WELCOME);
    }

    fn omit_when_due(&mut self, now: Time) {
        let omit = self.task.omit;
        let is_over = now.since(Time::ZERO) >= omit;
        if omit > Span::ZERO && is_over && self.seen.moved.omitted.is_none() {
            self.seen.moved.lasted = now.since(Time::ZERO);
            self.seen.omit();
        }
    }
}

impl Seen {
    /// Counts the datagrams of a row; whether one was a greeting.
    fn take(
        &mut self,
        row: &Row<'_>,
        task: Task,
        began: &mut Option<Clock>,
        shared: &Shared,
    ) -> bool {
        self.dropped = self.dropped.saturating_add(row.dropped);
        let mut has_greeted = false;
        self.row_max = self.row_max.max(row.datagrams().count() as u64);
        for datagram in row.datagrams() {
            let Some(header) = DatagramHeader::read(task.form.counter, datagram) else {
                has_greeted |= is_hello(datagram);
                continue;
            };
            let size = datagram.len() as u64;
            let receipt = self.receipts.take(header.number, Bytes::new(size));
            if receipt == Receipt::Strange {
                continue;
            }
            let at = began.get_or_insert_with(Clock::start).now();
            let at = at.since(Time::ZERO);
            self.moved.count(size, at);
            shared.count(size);
            if receipt != Receipt::Duplicate {
                let arrived = row.stamp.unwrap_or_else(|| at.as_nanos().into());
                self.jitter.take(header.sent, arrived);
                let passage = arrived - i128::from(header.sent.as_nanos());
                self.delays.take(at, passage);
            }
            if let Receipt::InOrder { gap } = receipt {
                self.explain(gap);
            }
        }
        has_greeted
    }

    /// A gap behind what this host had no room for is its doing, as far as that goes: one drop may
    /// be of a whole row.
    fn explain(&mut self, gap: u64) {
        let rows = std::mem::take(&mut self.dropped);
        let most = rows.saturating_mul(self.row_max);
        self.moved.dropped = self.moved.dropped.saturating_add(gap.min(most));
    }

    fn counted(&mut self) {
        let seen = &self.receipts;
        self.moved.highest = seen.highest();
        self.moved.lost = seen.lost();
        self.moved.arrived = seen.arrived;
        self.moved.reordered = seen.reordered;
        self.moved.duplicates = seen.duplicates;
        self.moved.bytes = seen.bytes;
        self.moved.jitter = self.jitter.value();
        self.moved.delay_growth = self.delays.growth();
    }

    fn omit(&mut self) {
        self.counted();
        self.moved.omit();
        self.jitter = Jitter::default();
        self.delays = LeastDelays::default();
    }

    /// * `dropped`: by this host behind the last that came, where only the sender knows the gap.
    fn over(mut self, dropped: u64) -> Moved {
        self.counted();
        let last = dropped.saturating_mul(self.row_max);
        self.moved.dropped = self.moved.dropped.saturating_add(last);
        self.moved
    }
}
