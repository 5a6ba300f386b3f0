//! Three classes of service, strictly one before the other or with shares of the rate.

use netpath::{Class, QueueLimit};
use units::Bytes;

use super::drop_tail::DropTail;
use crate::{Admission, Packet};

/// A drop-tail queue for each class, and who goes next.
#[derive(Debug)]
pub(crate) struct Classes<P> {
    /// In the order of [`Class::ALL`].
    queues: [DropTail<P>; 3],
    scheduler: Scheduler,
}

#[derive(Debug)]
enum Scheduler {
    Strict,
    Weighted(RoundRobin),
}

impl<P: Packet> Classes<P> {
    /// The best class that waits goes first.
    pub(crate) fn strict(limit: QueueLimit) -> Self {
        Classes::new(limit, Scheduler::Strict)
    }

    /// Each class gets its share; best effort what the other two leave.
    pub(crate) fn weighted(limit: QueueLimit, scavenger: f64, priority: f64) -> Self {
        let shares = [scavenger, 1.0 - scavenger - priority, priority];
        Classes::new(limit, Scheduler::Weighted(RoundRobin::new(shares)))
    }

    fn new(limit: QueueLimit, scheduler: Scheduler) -> Self {
        Classes {
            queues: Class::ALL.map(|_| DropTail::new(limit)),
            scheduler,
        }
    }

    pub(crate) fn packets(&self) -> usize {
        self.queues.iter().map(DropTail::packets).sum()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.queues.iter().map(DropTail::bytes).sum()
    }

    pub(crate) fn offer(&mut self, packet: P) -> Admission {
        self.queues[packet.class() as usize].offer(packet)
    }

    pub(crate) fn poll(&mut self) -> Option<P> {
        let Classes { queues, scheduler } = self;
        match scheduler {
            Scheduler::Strict => queues.iter_mut().rev().find_map(DropTail::poll),
            Scheduler::Weighted(turns) => {
                let heads = queues
                    .each_ref()
                    .map(|queue| queue.head().map(Packet::size));
                queues[turns.next(heads)?].poll()
            }
        }
    }
}

/// Deficit round robin (Shreedhar & Varghese 1995): a class in its turn may send as many bytes as
/// its quantum and what was left of the last turn.
#[derive(Debug)]
struct RoundRobin {
    quanta: [u64; 3],
    deficits: [u64; 3],
    /// Whose turn it is.
    turn: usize,
    /// Whether it has had its quantum.
    granted: bool,
}

/// What the class with the smallest share may send in a turn. One packet of Ethernet, so that most
/// turns send something; longer turns would let a class wait longer.
const QUANTUM_MIN: f64 = 1500.0;

impl RoundRobin {
    fn new(shares: [f64; 3]) -> Self {
        let least = shares.into_iter().fold(1.0, f64::min);
        RoundRobin {
            quanta: shares.map(|share| (share / least * QUANTUM_MIN).round() as u64),
            deficits: [0; 3],
            turn: 0,
            granted: false,
        }
    }

    /// The class that sends its head next, by the sizes of the heads; `None` when nothing waits.
    fn next(&mut self, heads: [Option<Bytes>; 3]) -> Option<usize> {
        if heads.iter().all(Option::is_none) {
            return None;
        }
        loop {
            let turn = self.turn;
            match heads[turn] {
                // Who has nothing to send saves nothing up.
                None => self.deficits[turn] = 0,
                Some(size) => {
                    if !self.granted {
                        self.deficits[turn] += self.quanta[turn];
                        self.granted = true;
                    }
                    if let Some(left) = self.deficits[turn].checked_sub(size.get()) {
                        self.deficits[turn] = left;
                        return Some(turn);
                    }
                }
            }
            self.turn = (turn + 1) % self.quanta.len();
            self.granted = false;
        }
    }
}

#[cfg(test)]
mod tests;
