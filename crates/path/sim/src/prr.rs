//! How a window shrinks during fast recovery as Linux has it: in proportion to what arrives.
//!
//! Source: RFC 6937 with the slow start reduction bound of its successor (draft-ietf-tcpm-prr-rfc6937bis),
//! as `tcp_cwnd_reduction` of Linux has both.

/// Proportional rate reduction of one recovery, in segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prr {
    /// The window before the loss, and the one to come down to.
    before: f64,
    target: f64,
    /// Segments that arrived and that left since recovery began.
    delivered: u32,
    out: u32,
}

impl Prr {
    /// A recovery begins that brings the window from `before` to `target`.
    pub(crate) fn new(before: f64, target: f64) -> Self {
        Prr {
            before,
            target,
            delivered: 0,
            out: 0,
        }
    }

    /// The window to come down to.
    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    /// A segment leaves.
    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
    }

    /// The window after an acknowledgement of `delivered` segments, with `pipe` on the way. `safe`
    /// says that it acknowledges in order and tells of no further loss: then the window may grow
    /// back to its target as in slow start, otherwise by what arrived.
    pub(crate) fn on_ack(&mut self, delivered: u32, pipe: u32, safe: bool) -> f64 {
        self.delivered += delivered;
        let (pipe, out) = (f64::from(pipe), f64::from(self.out));
        let room = self.target.floor() - pipe;
        let send = if room < 0.0 {
            (self.target.floor() * f64::from(self.delivered) / self.before.floor().max(1.0)).ceil()
                - out
        } else {
            let owed = (f64::from(self.delivered) - out).max(f64::from(delivered));
            (owed + f64::from(u8::from(safe))).min(room)
        };
        let first = if self.out == 0 { 1.0 } else { 0.0 };
        pipe + send.max(first)
    }
}
