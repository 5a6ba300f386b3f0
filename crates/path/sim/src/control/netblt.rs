//! A sender that keeps a rate, after NETBLT (RFC 998).
//!
//! What is taken from there: both ends agree on a rate beforehand, data goes in blocks, what is
//! missing is repaired selectively without slowing down (section 7), and the rate is adjusted
//! between blocks (section 6). What is not: its packets and handshake; a block is repaired while
//! the next ones are sent, as with several outstanding buffers (section 5), and acknowledgements
//! are TCP's.

use units::{Bytes, Rate, Time};

use super::{Acked, Facts, Window};

/// Segments in a block.
const BLOCK: u32 = 128;
/// A block that arrived at less than this share of the rate slows the sender down.
const SLOW: f64 = 7.0 / 8.0;
/// What any other block adds to the rate.
const RECOVERY: f64 = 17.0 / 16.0;
/// The lowest rate is the agreed one divided by this.
const LOWEST_SHARE: f64 = 64.0;

/// Sends at the agreed rate, whatever the window.
///
/// The rule after each block: with `seen` the rate at which its segments were delivered, below 7/8
/// of the rate kept until now the rate becomes `seen` (never less than 1/64 of the agreed one);
/// otherwise it grows by 1/16, up to the agreed one. So a loss of less than an eighth changes
/// nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Netblt {
    segment: Bytes,
    agreed: Rate,
    rate: Rate,
    /// When the block at hand began to arrive; `None` before anything did.
    since: Option<Time>,
    arrived: u32,
}

impl Netblt {
    pub(crate) fn new(facts: &Facts) -> Self {
        Netblt {
            segment: facts.segment,
            agreed: facts.share,
            rate: facts.share,
            since: None,
            arrived: 0,
        }
    }

    pub(crate) fn pacing(&self) -> Rate {
        self.rate
    }

    /// No window: the receiver's alone limits what is outstanding.
    pub(crate) fn open(window: &mut Window) {
        window.size = f64::from(u32::MAX);
        window.threshold = 0.0;
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        Self::open(window);
        let Some(since) = self.since else {
            self.since = Some(acked.now);
            return;
        };
        self.arrived += acked.delivered;
        if self.arrived >= BLOCK && acked.now > since {
            let bytes = self.segment.times(u64::from(self.arrived));
            self.on_block(Rate::of(bytes, acked.now.since(since)));
            (self.since, self.arrived) = (Some(acked.now), 0);
        }
    }

    fn on_block(&mut self, seen: Rate) {
        let (agreed, rate) = (self.agreed.as_f64(), self.rate.as_f64());
        let next = match seen.as_f64() < SLOW * rate {
            true => seen.as_f64().max(agreed / LOWEST_SHARE),
            false => (rate * RECOVERY).min(agreed),
        };
        self.rate = Rate::from_f64(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    /// 12 Mbit/s: a segment of 1500 bytes each millisecond.
    fn netblt() -> Netblt {
        Netblt::new(&Facts::of(Rate::from_bits_per_second(12_000_000)))
    }

    /// A block whose segments arrive with this gap, in microseconds; tells the rate in kbit/s.
    fn after_block(netblt: &mut Netblt, start: Time, gap: u64) -> (Time, u64) {
        let mut window = Window::new(10);
        let mut now = start;
        for _ in 0..BLOCK {
            now += Span::from_micros(gap);
            let acked = Acked {
                now,
                ..Acked::of(1)
            };
            netblt.on_ack(&mut window, &acked);
        }
        (now, netblt.pacing().bits_per_second() / 1000)
    }

    #[test]
    fn the_rate_follows_what_the_receiver_saw() {
        let mut netblt = netblt();
        let start = Time::from_nanos(1);
        netblt.on_ack(
            &mut Window::new(10),
            &Acked {
                now: start,
                ..Acked::of(1)
            },
        );
        // A tenth less than the rate: nothing changes.
        let (now, rate) = after_block(&mut netblt, start, 1_100);
        assert_eq!(rate, 12_000);
        // Half of it, then as fast as it is sent: 1/16 more each block.
        let (now, rate) = after_block(&mut netblt, now, 2_000);
        assert_eq!(rate, 6_000);
        let (_, rate) = after_block(&mut netblt, now, 2_000);
        assert_eq!(rate, 6_375);
    }

    #[test]
    fn the_rate_has_bounds() {
        let mut netblt = netblt();
        netblt.on_block(Rate::from_bits_per_second(1));
        assert_eq!(netblt.pacing().bits_per_second(), 187_500);
        for _ in 0..100 {
            netblt.on_block(netblt.pacing());
        }
        assert_eq!(netblt.pacing().bits_per_second(), 12_000_000);
    }
}
