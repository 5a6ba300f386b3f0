//! Snapshot of the running streams for observers.

use observe::{Amount, Snapshot};
use units::{Bytes, Rate, Span, Time};

use super::retransmits::Sent;
use super::test::Test;

/// The snapshot before, from which rates and shares are taken.
#[derive(Debug)]
pub(super) struct Show {
    last: Snapshot,
    sent: Option<Sent>,
}

impl Show {
    pub(super) fn new(amount: Amount) -> Self {
        let last = Snapshot {
            at: Time::ZERO,
            duration_max: match amount {
                Amount::Time(length) => Some(length),
                Amount::Bytes(_) => None,
            },
            bytes: Bytes::ZERO,
            rate: Rate::ZERO,
            rtt: None,
            probe_rtt: None,
            retransmitted_share: None,
        };
        Show { last, sent: None }
    }

    /// Bytes delivered by the last snapshot.
    pub(super) fn bytes(&self) -> Bytes {
        self.last.bytes
    }

    /// Where all streams stand now that they were read.
    pub(super) fn snapshot(
        &mut self,
        now: Time,
        tests: &[Test],
        probe_rtt: Option<Span>,
    ) -> Snapshot {
        let flows = || tests.iter().map(|test| &test.flow);
        let bytes: Bytes = flows().map(|flow| flow.delivered()).sum();
        let sent = Sent::sum(flows().map(|flow| flow.sent_so_far()));
        let before = std::mem::replace(&mut self.sent, sent);
        let rtts: Vec<f64> = flows()
            .flat_map(|flow| flow.rtts())
            .map(Span::as_secs_f64)
            .collect();
        self.last = Snapshot {
            at: now,
            duration_max: self.last.duration_max,
            bytes,
            rate: Rate::of(bytes - self.last.bytes, now.since(self.last.at)),
            rtt: stats::mean(&rtts).map(Span::from_secs_f64),
            probe_rtt,
            retransmitted_share: sent.and_then(|sent| sent.repeated_since(before?)),
        };
        self.last
    }
}
