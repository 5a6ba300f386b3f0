//! One stream as its sender sees it from outside: how fast it is, and how much of it may wait in
//! the kernel.

use std::net::IpAddr;

use copy_net::StreamHandle;
use sockets::{OptionError, StreamOptions};
use units::{Bytes, Rate, Span};

use super::piece_size::PieceSize;
use super::stall::Stall;

/// Weight of the newest interval in the rate of a stream.
const SMOOTH: f64 = 0.3;

/// See [`StreamControl::bound_unsent`].
const UNSENT_TIME: Span = Span::from_millis(100);
const UNSENT_MIN: Bytes = Bytes::from_kib(32);
const UNSENT_MAX: Bytes = Bytes::from_mib(1);

/// Addresses of both ends of a stream, as far as the kernel told them.
pub(crate) type Ends = [Option<IpAddr>; 2];

/// One stream.
pub(crate) struct StreamControl {
    pub handle: StreamHandle,
    pub ends: Ends,
    pub stall: Stall,
    pub piece_size: PieceSize,
    acked: Bytes,
    unsent_max: Bytes,
    /// Bits per second, smoothed.
    pub rate: f64,
    pub is_leaving: bool,
    pacing: Option<Rate>,
}

impl StreamControl {
    /// One that has just come.
    pub(crate) fn new(handle: StreamHandle, piece_size: PieceSize) -> Self {
        let ends = [handle.local(), handle.peer()];
        StreamControl {
            ends: ends.map(|end| end.ok().map(|address| address.ip())),
            handle,
            stall: Stall::default(),
            piece_size,
            acked: Bytes::ZERO,
            unsent_max: Bytes::ZERO,
            rate: 0.0,
            is_leaving: false,
            pacing: None,
        }
    }

    /// The kernel sends at most so fast from now on.
    pub(crate) fn pace(&mut self, rate: Option<Rate>) -> Result<(), OptionError> {
        if rate != self.pacing {
            self.pacing = rate;
            self.handle.set_pacing(rate)?;
        }
        Ok(())
    }

    /// So much of it has arrived by now.
    pub(crate) fn on_acked(&mut self, acked: Bytes, over: Span) {
        let rate = Rate::of(acked - self.acked.min(acked), over);
        self.rate = SMOOTH * rate.as_f64() + (1.0 - SMOOTH) * self.rate;
        if acked > self.acked {
            self.acked = acked;
            let rate = Rate::from_f64(self.rate);
            self.piece_size.set(rate);
            self.bound_unsent(rate);
        }
    }

    /// Data that waits in the kernel delays the end, when other streams have nothing left to do:
    /// a tenth of a second is enough to bridge the time until its thread is woken.
    fn bound_unsent(&mut self, rate: Rate) {
        let wanted = rate.bytes_in(UNSENT_TIME).clamp(UNSENT_MIN, UNSENT_MAX);
        let is_near = |old: Bytes| wanted < old.times(2) && old < wanted.times(2);
        if !is_near(self.unsent_max) {
            self.unsent_max = wanted;
            let options = StreamOptions {
                unsent_max: Some(wanted),
                ..StreamOptions::default()
            };
            // A kernel without the option lets more wait, and the end takes longer.
            let _ = self.handle.set(&options);
        }
    }
}
