//! What the threads of an end did, and what binds by that.

use units::{Bytes, Span};

/// What an end's threads spent their time on during one interval, summed over the threads that carry data.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Activity {
    /// Length of the interval.
    pub length: Span,
    /// Threads that carried data.
    pub streams: u16,
    /// Bytes of files that were read or written.
    pub bytes: Bytes,
    /// In reading or writing files.
    pub disk: Span,
    /// In sending or receiving, waits included.
    pub network: Span,
    /// In waiting for work: pieces, or the rate limit.
    pub idle: Span,
    /// Processor time of the whole process.
    pub processor: Span,
    /// Processors of the host; zero where that is not known.
    pub processors: u16,
    /// Processor time that the host spent, on whatever, summed over its processors.
    pub host_busy: Span,
}

/// What binds a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// The path, with its streams as they are.
    Network,
    /// Reading at the sender.
    SenderDisk,
    /// Writing at the receiver.
    ReceiverDisk,
    /// The sender's processors.
    SenderProcessor,
    /// The receiver's processors.
    ReceiverProcessor,
    /// The rate that the user set.
    RateLimit,
}

/// Threads that spend more than this share of their time on files wait for the disk more than for anything else.
const DISK_SHARE: f64 = 0.5;
/// Of the host's processor time: what is left goes to waking up ...
const HOST_FULL: f64 = 0.9;
/// ... and this much of it is the copy's own. On a host that others keep busy a copy gets its turn.
const OWN_SHARE: f64 = 0.2;
/// Threads without work for more than this share of their time are too many already.
const IDLE_SHARE: f64 = 0.5;

impl Activity {
    /// The share of the threads' time that `part` was.
    fn share(&self, part: Span) -> f64 {
        let whole = self.length.as_secs_f64() * f64::from(self.streams);
        match whole > 0.0 {
            true => part.as_secs_f64() / whole,
            false => 0.0,
        }
    }

    /// Share of the threads' time in reading or writing files.
    pub fn disk_share(&self) -> f64 {
        self.share(self.disk)
    }

    /// Share of the threads' time without work.
    pub fn idle_share(&self) -> f64 {
        self.share(self.idle)
    }

    /// The copy's share of the host's processor time, and that of everything; `None` where the number of processors is not
    /// known.
    pub fn processor_shares(&self) -> Option<(f64, f64)> {
        let whole = self.length.as_secs_f64() * f64::from(self.processors);
        (whole > 0.0).then(|| {
            (
                self.processor.as_secs_f64() / whole,
                self.host_busy.as_secs_f64() / whole,
            )
        })
    }

    /// Whether the host's processors have no time left, and the copy is what takes it.
    ///
    /// ```
    /// use tune::online::Activity;
    /// use units::Span;
    /// let busy = |own, all| Activity {
    ///     length: Span::from_secs(1),
    ///     streams: 1,
    ///     processors: 2,
    ///     processor: Span::from_millis(own),
    ///     host_busy: Span::from_millis(all),
    ///     ..Activity::default()
    /// };
    /// assert!(busy(900, 1_950).processors_bind());
    /// // Others compile: the copy uses 5 % of two processors.
    /// assert!(!busy(100, 1_950).processors_bind());
    /// // One thread of two processors' worth: another one would find time.
    /// assert!(!busy(900, 1_000).processors_bind());
    /// ```
    pub fn processors_bind(&self) -> bool {
        self.processor_shares()
            .is_some_and(|(own, all)| own >= OWN_SHARE && all >= HOST_FULL)
    }

    /// Whether its threads mostly wait for files.
    pub fn disk_binds(&self) -> bool {
        self.disk_share() >= DISK_SHARE
    }

    /// Whether its threads mostly wait for work.
    pub fn is_idle(&self) -> bool {
        self.idle_share() >= IDLE_SHARE
    }
}

/// What binds by what the two ends did, each as far as it is known; `None` where the sender's threads had nothing to send.
///
/// A receiver that waits for its disk makes the sender wait for the network, so the receiver is asked first.
pub(super) fn bound(sender: Option<&Activity>, receiver: Option<&Activity>) -> Option<Bound> {
    let ends = [
        (receiver, Bound::ReceiverDisk, Bound::ReceiverProcessor),
        (sender, Bound::SenderDisk, Bound::SenderProcessor),
    ];
    let disk = |(end, disk, _): &(Option<&Activity>, Bound, Bound)| {
        end.is_some_and(Activity::disk_binds).then_some(*disk)
    };
    if let Some(found) = ends.iter().find_map(disk) {
        return Some(found);
    }
    if let Some(found) = busiest(sender, receiver) {
        return Some(found);
    }
    let idle = sender.is_some_and(Activity::is_idle);
    (!idle).then_some(Bound::Network)
}

/// The end whose processors bind; where both do, as on one host, the one whose process uses more.
fn busiest(sender: Option<&Activity>, receiver: Option<&Activity>) -> Option<Bound> {
    let binding = |end: Option<&Activity>| {
        let end = end.filter(|end| end.processors_bind())?;
        end.processor_shares().map(|(own, _)| own)
    };
    match (binding(sender), binding(receiver)) {
        (Some(sends), Some(receives)) if receives > sends => Some(Bound::ReceiverProcessor),
        (Some(_), _) => Some(Bound::SenderProcessor),
        (None, Some(_)) => Some(Bound::ReceiverProcessor),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(disk: u64, idle: u64, own: u64, all: u64) -> Activity {
        Activity {
            length: Span::from_secs(1),
            streams: 4,
            disk: Span::from_millis(disk),
            idle: Span::from_millis(idle),
            processor: Span::from_millis(own),
            host_busy: Span::from_millis(all),
            processors: 2,
            ..Activity::default()
        }
    }

    #[test]
    fn what_binds_is_found_at_the_end_where_it_is() {
        let calm = end(200, 100, 300, 500);
        let cases = [
            (calm, calm, Some(Bound::Network)),
            (end(2_500, 0, 300, 500), calm, Some(Bound::SenderDisk)),
            (calm, end(2_500, 0, 300, 500), Some(Bound::ReceiverDisk)),
            (end(0, 0, 1_500, 1_900), calm, Some(Bound::SenderProcessor)),
            (
                end(0, 0, 800, 1_900),
                end(0, 0, 1_000, 1_900),
                Some(Bound::ReceiverProcessor),
            ),
            (end(0, 3_000, 300, 500), calm, None),
        ];
        for (sender, receiver, expected) in cases {
            assert_eq!(bound(Some(&sender), Some(&receiver)), expected);
        }
        assert_eq!(bound(None, None), Some(Bound::Network));
    }
}
