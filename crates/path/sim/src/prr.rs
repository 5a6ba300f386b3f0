//! How a window shrinks during fast recovery as Linux has it: in proportion to what arrives.
//!
//! Source: RFC 9937 (successor of RFC 6937), as `tcp_cwnd_reduction` of Linux has it.

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of RFC 6937: 20 segments are on the way, one is lost, the window is to
    /// halve. Seventeen acknowledgements come after the third that tells of the loss.
    #[test]
    fn one_loss_sends_a_segment_for_every_other_that_arrives() {
        let (mut prr, mut pipe, mut sent) = (Prr::new(20.0, 10.0), 18_u32, Vec::new());
        for _ in 0..17 {
            pipe -= 1;
            let window = prr.on_ack(1, pipe, false) as u32;
            sent.push(window - pipe);
            for _ in pipe..window {
                prr.on_sent();
            }
            pipe = window;
        }
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0]);
        // Of 17 that arrived 9 have left, half of them rounded up, and the flight is what it was to
        // come to.
        assert_eq!((sent.iter().sum::<u32>(), pipe), (9, 10));
    }

    #[test]
    fn a_flight_below_the_target_grows_as_in_slow_start_when_nothing_more_is_lost() {
        // Of 20 segments 15 are lost at once: 5 are on the way, and the target is 10.
        let mut careful = Prr::new(20.0, 10.0);
        assert_eq!(careful.on_ack(1, 4, false), 5.0);
        careful.on_sent();
        // One arrives in order and tells of no further loss: two leave.
        assert_eq!(careful.on_ack(1, 4, true), 6.0);
        (0..2).for_each(|_| careful.on_sent());
        // Another loss is told: only as many leave as have arrived.
        assert_eq!(careful.on_ack(1, 5, false), 6.0);
    }

    #[test]
    fn the_first_repair_leaves_at_once_and_the_target_is_never_passed() {
        let mut prr = Prr::new(100.0, 70.0);
        assert_eq!(prr.on_ack(0, 97, false), 98.0);
        prr.on_sent();
        assert_eq!(prr.on_ack(40, 69, true), 70.0);
    }
}
