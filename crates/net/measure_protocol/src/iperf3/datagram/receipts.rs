//! What a receiver counts: losses, order, copies, jitter.

use units::{Bytes, Span};

use super::Counter;

/// Of so many of the latest numbers it is known which have arrived: more than any queue holds.
const WINDOW: u64 = 1 << 16;
const WORDS: usize = (WINDOW / 64) as usize;
/// A number so far ahead is of no test: at 100 Gbit/s full packets take minutes to get there.
const AHEAD_MAX: u64 = 1 << 31;

/// What a datagram was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// The next, or one behind a gap.
    InOrder {
        /// Numbers before it that have not come.
        gap: u64,
    },
    /// Behind one that was sent later (RFC 4737, section 3.3).
    Reordered,
    /// It had come before.
    Duplicate,
    /// Its number is none of this test.
    Strange,
}

/// What a receiver counts of one stream.
///
/// ```
/// use measure_protocol::iperf3::datagram::{Counter, Receipt, Receipts};
/// use units::Bytes;
/// let mut seen = Receipts::new(Counter::Narrow);
/// let came = [1, 2, 5, 4, 4].map(|number| seen.take(number, Bytes::new(1_000)));
/// assert_eq!(came[2..], [Receipt::InOrder { gap: 2 }, Receipt::Reordered, Receipt::Duplicate]);
/// assert_eq!((seen.highest(), seen.lost(), seen.reordered, seen.duplicates), (5, 1, 1, 1));
/// ```
#[derive(Debug, Clone)]
pub struct Receipts {
    counter: Counter,
    highest: u64,
    /// Numbers that have arrived.
    pub arrived: u64,
    /// Of those, behind one that was sent later.
    pub reordered: u64,
    /// Datagrams whose number had arrived before; not among the others.
    pub duplicates: u64,
    /// Data of all that came, copies included.
    pub bytes: Bytes,
    /// A bit of each of the latest numbers.
    seen: Box<[u64; WORDS]>,
}

impl Receipts {
    /// Nothing has come yet.
    pub fn new(counter: Counter) -> Self {
        Receipts {
            counter,
            highest: 0,
            arrived: 0,
            reordered: 0,
            duplicates: 0,
            bytes: Bytes::ZERO,
            seen: Box::new([0; WORDS]),
        }
    }

    /// The highest number that arrived: so many were sent by then.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Those that did not arrive, up to the last that did.
    pub fn lost(&self) -> u64 {
        self.highest.saturating_sub(self.arrived)
    }

    /// A datagram of `size` with `number`, as its header has it, has arrived.
    pub fn take(&mut self, number: u64, size: Bytes) -> Receipt {
        let receipt = match self.whole(number) {
            Some(number) => self.sort(number),
            None => Receipt::Strange,
        };
        match receipt {
            Receipt::Strange => return receipt,
            Receipt::InOrder { .. } => self.arrived += 1,
            Receipt::Reordered => {
                self.arrived += 1;
                self.reordered += 1;
            }
            Receipt::Duplicate => self.duplicates += 1,
        }
        self.bytes += size;
        receipt
    }

    /// The number in full: of a narrow counter the one that is nearest to the highest so far.
    fn whole(&self, number: u64) -> Option<u64> {
        let whole = match self.counter {
            Counter::Wide => Some(number),
            Counter::Narrow => {
                let ahead = (number as u32).wrapping_sub(self.highest as u32) as i32;
                self.highest.checked_add_signed(ahead.into())
            }
        };
        whole.filter(|whole| *whole > 0 && *whole <= self.highest.saturating_add(AHEAD_MAX))
    }

    fn sort(&mut self, number: u64) -> Receipt {
        if number > self.highest {
            let gap = number - self.highest - 1;
            self.forget(number);
            self.mark(number);
            self.highest = number;
            return Receipt::InOrder { gap };
        }
        if self.highest - number >= WINDOW {
            // Too old to tell a copy from one that comes late.
            return Receipt::Reordered;
        }
        match self.mark(number) {
            true => Receipt::Duplicate,
            false => Receipt::Reordered,
        }
    }

    /// The places of the numbers up to `number` are free for them.
    fn forget(&mut self, number: u64) {
        if number - self.highest >= WINDOW {
            self.seen.fill(0);
            return;
        }
        for next in self.highest + 1..=number {
            let (word, bit) = place(next);
            self.seen[word] &= !bit;
        }
    }

    /// Whether it was marked before.
    fn mark(&mut self, number: u64) -> bool {
        let (word, bit) = place(number);
        let before = self.seen[word] & bit != 0;
        self.seen[word] |= bit;
        before
    }
}

fn place(number: u64) -> (usize, u64) {
    let at = number % WINDOW;
    ((at / 64) as usize, 1 << (at % 64))
}

/// How much the delay varies from one datagram to the next, in the order of arrival: RFC 3550,
/// section 6.4.1, `J += (|D| - J) / 16`.
///
/// ```
/// use measure_protocol::iperf3::datagram::Jitter;
/// use units::Span;
/// let mut jitter = Jitter::default();
/// let [first, second] = [(0, 500), (1_000, 1_660)];
/// for (sent, arrived) in [first, second] {
///     jitter.take(Span::from_micros(sent), arrived * 1_000);
/// }
/// // The second took 160 us longer: a sixteenth of that.
/// assert_eq!(jitter.value(), Span::from_micros(10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Jitter {
    /// In nanoseconds.
    value: f64,
    /// Arrival less departure of the last one, in nanoseconds.
    passage: Option<i128>,
}

impl Jitter {
    /// A datagram that was sent at a time of the sender's clock has arrived at one of the
    /// receiver's, in nanoseconds.
    pub fn take(&mut self, sent: Span, arrived_nanos: i128) {
        let passage = arrived_nanos - i128::from(sent.as_nanos());
        if let Some(before) = self.passage {
            let difference = (passage - before).unsigned_abs() as f64;
            self.value += (difference - self.value) / 16.0;
        }
        self.passage = Some(passage);
    }

    /// The jitter so far.
    pub fn value(&self) -> Span {
        Span::from_secs_f64(self.value / 1e9)
    }
}

#[cfg(test)]
mod tests;
