//! The sum of all windows between two overflows of a queue.

/// How well a link is used while its queue fills and overflows.
///
/// All windows together grow until pipe and queue are full, then one stream loses and gives up a
/// part of its share. Growth is by a constant each round trip, a round trip lasts as long as the
/// queue makes it, and the link carries a window each round trip until it is full.
///
/// Source: the picture of Altman, Barman, Tuffin and Vojnovic (see [`crate::altman_utilisation`]),
/// with a queue; for one Reno stream and no queue it has the same 75 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SawTooth {
    /// Share of the link that is used.
    pub used: f64,
    /// Mean queueing delay, in round trips of the empty path.
    pub queued: f64,
}

impl SawTooth {
    /// * `peak`: what pipe and queue hold, in bandwidth-delay products; at least 1.
    /// * `given_up`: share of all windows that goes at an overflow, 0 to below 1.
    pub fn new(peak: f64, given_up: f64) -> Self {
        let trough = peak * (1.0 - given_up);
        if given_up <= 0.0 {
            return SawTooth {
                used: 1.0,
                queued: peak - 1.0,
            };
        }
        // Below a full pipe a round trip takes 1, above it the window w: time for each step of w.
        let empty = (1.0 - trough).max(0.0);
        let sent_empty = (1.0 - trough.min(1.0).powi(2)) / 2.0;
        let from = trough.max(1.0);
        let sent_queued = (peak.powi(2) - from.powi(2)) / 2.0;
        let waited = (peak.powi(3) - from.powi(3)) / 3.0 - sent_queued;
        let time = empty + sent_queued;
        SawTooth {
            used: (sent_empty + sent_queued) / time,
            queued: waited / time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_queue_a_reno_stream_uses_three_quarters() {
        let one = SawTooth::new(1.0, 0.5);
        assert!((one.used - 0.75).abs() < 1e-12);
        assert_eq!(one.queued, 0.0);
    }

    #[test]
    fn a_queue_of_a_bandwidth_delay_product_is_enough_for_one() {
        let one = SawTooth::new(2.0, 0.5);
        assert_eq!(one.used, 1.0);
        // Time goes with w from 1 to 2: the mean of w - 1 is (7/3 - 3/2) / (3/2).
        assert!((one.queued - 5.0 / 9.0).abs() < 1e-12, "{}", one.queued);
    }

    #[test]
    fn many_streams_keep_the_queue_full() {
        let many = SawTooth::new(1.2, 0.5 / 1000.0);
        assert!(many.used > 0.999_999 && (many.queued - 0.2).abs() < 1e-3);
        assert_eq!(SawTooth::new(1.5, 0.0).queued, 0.5);
    }
}
