//! Datagrams of a test over UDP, and what their receiver counts.
//!
//! The client opens a stream with [`HELLO`], which the server answers with [`WELCOME`]. Each
//! datagram begins with the time at which it was sent and its number from 1; what follows is of no
//! meaning. Source: `iperf_udp.c` of iperf 3.12 to 3.18.

use units::{Bytes, Span};

/// What a client says first, in the byte order of its host: that of all hosts that matter.
pub const HELLO: [u8; 4] = 0x3637_3839_u32.to_le_bytes();
/// What the server answers.
pub const WELCOME: [u8; 4] = 0x3938_3736_u32.to_le_bytes();
/// Bytes at the beginning of each datagram.
pub const HEADER_LENGTH: usize = 12;

/// The beginning of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramHeader {
    /// When it was sent, by a clock of the sender.
    pub sent: Span,
    /// Its number, from 1.
    pub number: u32,
}

impl DatagramHeader {
    /// Its bytes; the time in whole microseconds.
    pub fn encode(&self) -> [u8; HEADER_LENGTH] {
        let micros = self.sent.as_nanos() / 1_000;
        let mut bytes = [0; HEADER_LENGTH];
        bytes[..4].copy_from_slice(&((micros / 1_000_000) as u32).to_be_bytes());
        bytes[4..8].copy_from_slice(&((micros % 1_000_000) as u32).to_be_bytes());
        bytes[8..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Reads the beginning of a datagram; `None` of one that is too short, as a [`HELLO`] that was
    /// repeated.
    ///
    /// ```
    /// use units::Span;
    /// use measure_protocol::iperf3::datagram::DatagramHeader;
    /// let header = DatagramHeader { sent: Span::from_micros(7_000_009), number: 258 };
    /// assert_eq!(DatagramHeader::decode(&header.encode()), Some(header));
    /// assert_eq!(DatagramHeader::decode(&[0; 11]), None);
    /// ```
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let bytes = datagram.first_chunk::<HEADER_LENGTH>()?;
        let number = |at: usize| {
            let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            u32::from_be_bytes(four)
        };
        let micros = u64::from(number(0)) * 1_000_000 + u64::from(number(4));
        Some(DatagramHeader {
            sent: Span::from_micros(micros),
            number: number(8),
        })
    }
}

/// What a receiver counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Receipts {
    /// The highest number that arrived: so many were sent by then.
    pub highest: u32,
    /// Datagrams that arrived.
    pub arrived: u32,
    /// Of those, behind one that was sent later.
    pub reordered: u32,
    /// Their data.
    pub bytes: Bytes,
    /// In seconds; RFC 3550, section 6.4.1.
    jitter: f64,
    /// Arrival less departure of the last one, in seconds.
    passage: Option<f64>,
}

impl Receipts {
    /// A datagram of `size` has arrived, at a time of the receiver's clock.
    pub fn take(&mut self, header: DatagramHeader, size: Bytes, at: Span) {
        self.arrived = self.arrived.saturating_add(1);
        self.bytes += size;
        match header.number > self.highest {
            true => self.highest = header.number,
            false => self.reordered = self.reordered.saturating_add(1),
        }
        let passage = at.as_secs_f64() - header.sent.as_secs_f64();
        if let Some(before) = self.passage {
            self.jitter += ((passage - before).abs() - self.jitter) / 16.0;
        }
        self.passage = Some(passage);
    }

    /// Those that did not arrive, up to the last that did. Copies count as arrived.
    pub fn lost(&self) -> u32 {
        self.highest.saturating_sub(self.arrived)
    }

    /// How much the delay varied from one to the next.
    pub fn jitter(&self) -> Span {
        Span::from_secs_f64(self.jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(receipts: &mut Receipts, number: u32, sent: u64, at: u64) {
        let header = DatagramHeader {
            sent: Span::from_micros(sent),
            number,
        };
        receipts.take(header, Bytes::new(1_400), Span::from_micros(at));
    }

    #[test]
    fn losses_are_gaps_and_what_comes_late_fills_them() {
        let mut seen = Receipts::default();
        for number in [1, 2, 5, 4, 7] {
            take(&mut seen, number, 0, 0);
        }
        assert_eq!((seen.highest, seen.arrived), (7, 5));
        assert_eq!((seen.lost(), seen.reordered), (2, 1));
        assert_eq!(seen.bytes.get(), 7_000);
        take(&mut seen, u32::MAX, 0, 0);
        take(&mut seen, 1, 0, 0);
        assert_eq!(seen.lost(), u32::MAX - 7);
    }

    #[test]
    fn jitter_is_that_of_the_standard_whatever_the_clocks_show() {
        let mut seen = Receipts::default();
        take(&mut seen, 1, 5_000_000, 100);
        assert_eq!(seen.jitter(), Span::ZERO);
        take(&mut seen, 2, 5_001_000, 1_100);
        assert_eq!(seen.jitter(), Span::ZERO);
        // 1.6 ms later than the one before: a sixteenth of that.
        take(&mut seen, 3, 5_002_000, 3_700);
        assert_eq!(seen.jitter().as_nanos() / 1_000, 100);
    }

    #[test]
    fn the_openers_are_those_of_iperf3() {
        assert_eq!((&HELLO, &WELCOME), (b"9876", b"6789"));
    }
}
