//! How much of what was sent went out again, for those who look on.

use observe::TcpSample;
use units::Bytes;

/// What the kernel sent, repetitions included, and how much of it was repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    all: Bytes,
    again: Bytes,
}

impl Sent {
    pub(super) fn of(sample: &TcpSample) -> Option<Self> {
        Some(Sent {
            all: sample.bytes_sent?,
            again: sample.bytes_retransmitted?,
        })
    }

    /// All of them; `None` where one is missing, or all.
    pub(super) fn sum(each: impl Iterator<Item = Option<Sent>>) -> Option<Sent> {
        each.reduce(|sum, one| Some(sum?.plus(one?)))?
    }

    fn plus(self, other: Sent) -> Self {
        Sent {
            all: self.all + other.all,
            again: self.again + other.again,
        }
    }

    /// The repeated share of what was sent since then; `None` when that was nothing.
    pub(super) fn repeated_since(self, before: Sent) -> Option<f64> {
        let sent = self.all - before.all;
        (sent > Bytes::ZERO).then(|| (self.again - before.again).as_f64() / sent.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(all: u64, again: u64) -> Sent {
        let sample = TcpSample {
            bytes_sent: Some(Bytes::new(all)),
            bytes_retransmitted: Some(Bytes::new(again)),
            ..TcpSample::default()
        };
        Sent::of(&sample).unwrap()
    }

    #[test]
    fn the_share_is_that_of_the_interval() {
        let before = sent(1_000, 500);
        assert_eq!(sent(3_000, 600).repeated_since(before), Some(0.05));
        assert_eq!(before.repeated_since(before), None);
        let both = before.plus(sent(1_000, 0));
        assert_eq!(both.repeated_since(sent(0, 0)), Some(0.25));
    }
}
