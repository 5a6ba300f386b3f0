//! Datagrams of a test over UDP, and what their receiver counts.
//!
//! The client opens a stream with [`HELLO`], which the server answers with [`WELCOME`]. Each
//! datagram begins with the time at which it was sent and its number from 1, of 32 bits or of 64;
//! what follows is of no meaning. Source: `iperf_udp.c` of iperf 3.12 to 3.21.

mod receipts;

pub use receipts::{Jitter, Receipt, Receipts};

use units::{Bytes, Span};

/// What a client says first, in the byte order of its host: that of all hosts that matter.
pub const HELLO: [u8; 4] = 0x3637_3839_u32.to_le_bytes();
/// The same of clients before 3.12.
pub const HELLO_BEFORE_3_12: [u8; 4] = 123_456_789_u32.to_le_bytes();
/// What the server answers.
pub const WELCOME: [u8; 4] = 0x3938_3736_u32.to_le_bytes();
/// Bytes at the beginning of the longest header.
pub const HEADER_MAX: usize = 16;

/// Whether a datagram opens a stream.
///
/// ```
/// use measure_protocol::iperf3::datagram::is_hello;
/// assert!(is_hello(b"9876") && is_hello(&[0x15, 0xCD, 0x5B, 0x07]));
/// assert!(!is_hello(b"6789") && !is_hello(b"98765"));
/// ```
pub fn is_hello(datagram: &[u8]) -> bool {
    datagram == HELLO || datagram == HELLO_BEFORE_3_12
}

/// How wide the numbers of datagrams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counter {
    /// 32 bits, which wrap.
    #[default]
    Narrow,
    /// 64 bits: `--udp-counters-64bit`.
    Wide,
}

impl Counter {
    /// Bytes of a header.
    pub const fn header(self) -> usize {
        match self {
            Counter::Narrow => 12,
            Counter::Wide => 16,
        }
    }
}

/// The beginning of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramHeader {
    /// When it was sent, by a clock of the sender.
    pub sent: Span,
    /// Its number, from 1; of a narrow counter its lower 32 bits.
    pub number: u64,
}

impl DatagramHeader {
    /// Writes it over the beginning of `datagram`, the time in whole microseconds; one that is too
    /// short is left alone.
    pub fn write(&self, counter: Counter, datagram: &mut [u8]) {
        let micros = self.sent.as_nanos() / 1_000;
        let seconds = ((micros / 1_000_000) as u32).to_be_bytes();
        let micros = ((micros % 1_000_000) as u32).to_be_bytes();
        let (wide, narrow) = (
            self.number.to_be_bytes(),
            (self.number as u32).to_be_bytes(),
        );
        let number: &[u8] = match counter {
            Counter::Wide => &wide,
            Counter::Narrow => &narrow,
        };
        if let Some(place) = datagram.get_mut(..counter.header()) {
            place[..4].copy_from_slice(&seconds);
            place[4..8].copy_from_slice(&micros);
            place[8..].copy_from_slice(number);
        }
    }

    /// Reads the beginning of a datagram; `None` of one that is too short, as a [`HELLO`] that was
    /// repeated.
    ///
    /// ```
    /// use units::Span;
    /// use measure_protocol::iperf3::datagram::{Counter, DatagramHeader};
    /// let header = DatagramHeader { sent: Span::from_micros(7_000_009), number: 1 << 40 };
    /// let mut datagram = [0; 20];
    /// header.write(Counter::Wide, &mut datagram);
    /// assert_eq!(DatagramHeader::read(Counter::Wide, &datagram), Some(header));
    /// assert_eq!(DatagramHeader::read(Counter::Wide, &datagram[..15]), None);
    /// ```
    pub fn read(counter: Counter, datagram: &[u8]) -> Option<Self> {
        let header = datagram.get(..counter.header())?;
        let number = |bytes: &[u8]| {
            let digits = bytes.iter().map(|byte| u64::from(*byte));
            digits.fold(0, |number: u64, byte| number << 8 | byte)
        };
        let micros = number(&header[..4]) * 1_000_000 + number(&header[4..8]);
        Some(DatagramHeader {
            sent: Span::from_micros(micros),
            number: number(&header[8..]),
        })
    }
}

/// The datagram that a client repeats to a foreign server in place of a lost [`HELLO`]: any first
/// datagram opens a stream there, and where one has, this one counts as reordered at worst. A
/// shorter one would be read as whatever stands in the receiver's buffer.
pub fn repeated_hello() -> [u8; HEADER_MAX] {
    [0; HEADER_MAX]
}

/// Data of a test's datagrams as a plan has it: there is room for a header, and IPv4 has room for
/// it.
///
/// ```
/// use measure_protocol::iperf3::datagram::{Counter, size};
/// assert_eq!(size(Counter::Wide, 1).get(), 16);
/// assert_eq!(size(Counter::Narrow, 1 << 40).get(), 65_507);
/// ```
pub fn size(counter: Counter, asked: u64) -> Bytes {
    Bytes::new(asked.clamp(counter.header() as u64, DATAGRAM_MAX))
}

/// The most data of a datagram that IPv4 has room for.
const DATAGRAM_MAX: u64 = 65_507;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_openers_are_those_of_iperf3() {
        assert_eq!((&HELLO, &WELCOME), (b"9876", b"6789"));
    }

    #[test]
    fn a_narrow_header_is_iperf3s() {
        let header = DatagramHeader {
            sent: Span::from_micros(3_000_258),
            number: (7 << 32) + 5,
        };
        let mut datagram = [9; 13];
        header.write(Counter::Narrow, &mut datagram);
        assert_eq!(datagram, [0, 0, 0, 3, 0, 0, 1, 2, 0, 0, 0, 5, 9]);
        let read = DatagramHeader::read(Counter::Narrow, &datagram).unwrap();
        assert_eq!((read.sent, read.number), (header.sent, 5));
        let short = &mut [9; 11];
        header.write(Counter::Narrow, short);
        assert_eq!(short, &[9; 11]);
    }
}
