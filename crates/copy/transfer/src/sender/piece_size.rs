//! Length of a stream's next piece.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use copy_protocol::{PACKED_MAX, PIECE_MAX};
use units::{Rate, Span};

use files::PIECE_MIN;

/// Bytes of a stream's next piece. Acknowledged bytes set it, not written ones: a stream's first
/// writes only fill buffers.
#[derive(Debug, Clone)]
pub(crate) struct PieceSize {
    bytes: Arc<AtomicU64>,
    rests: Arc<AtomicBool>,
    /// The longest piece that this stream may have.
    most: u64,
}

impl PieceSize {
    /// A piece takes its stream about a quarter of a second: short enough to be spread evenly and
    /// to be repeated, long enough to cost little.
    const TIME: Span = Span::from_millis(250);
    /// Before anything is known of it.
    const FIRST: u64 = 256 << 10;
    /// The same within a host and on a LAN, where a copy may be over before its rate is known: each
    /// piece is confirmed by itself, which wakes five threads of both ends. It takes a stream of
    /// 34 Mbit/s a quarter of a second.
    const FIRST_NEAR: u64 = 1 << 20;
    const NEAR: Span = Span::from_millis(1);

    /// No piece shall be too long to be compressed.
    pub(crate) fn for_compression() -> Self {
        PieceSize {
            most: PACKED_MAX.into(),
            ..PieceSize::default()
        }
    }

    /// For a stream of this round trip whose rate nothing is known to bound.
    pub(crate) fn for_round_trip(self, rtt: Option<Span>) -> Self {
        if rtt.is_some_and(|rtt| rtt < PieceSize::NEAR) {
            self.bytes.store(PieceSize::FIRST_NEAR, Ordering::Relaxed);
        }
        self
    }

    /// For a stream that carries so much.
    pub(crate) fn set(&self, rate: Rate) {
        let bytes = rate.bytes_in(PieceSize::TIME).get();
        let bytes = bytes.clamp(PIECE_MIN, u64::from(PIECE_MAX));
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Near the end a slow stream takes nothing more: others are sooner there with it.
    pub(crate) fn set_resting(&self, rests: bool) {
        self.rests.store(rests, Ordering::Relaxed);
    }

    /// Bytes of the next piece; `None` while it shall take none.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let rests = self.rests.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        (!rests).then(|| bytes.min(self.most))
    }
}

impl Default for PieceSize {
    fn default() -> Self {
        PieceSize {
            bytes: Arc::new(AtomicU64::new(PieceSize::FIRST)),
            rests: Arc::default(),
            most: PIECE_MAX.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_begin_with_longer_pieces_within_a_host_until_their_rate_is_known() {
        let micros = |rtt| PieceSize::default().for_round_trip(Some(Span::from_micros(rtt)));
        assert_eq!(micros(40).bytes(), Some(1 << 20));
        assert_eq!(micros(1_000).bytes(), Some(256 << 10));
        let unknown = PieceSize::default().for_round_trip(None);
        assert_eq!(unknown.bytes(), Some(256 << 10));
        let known = micros(40);
        known.set(Rate::from_bits_per_second(8 << 20));
        assert_eq!(known.bytes(), Some(256 << 10));
        let packed = PieceSize::for_compression().for_round_trip(Some(Span::ZERO));
        assert!(packed.bytes() <= Some(PACKED_MAX.into()));
    }
}
