//! Where the sender's streams stand, as it sees them or tells of them.

use copy_protocol::{Activity, EndShares, Message, Sending};
use observe::Limit;
use units::{Rate, Span};

use super::{CopyStats, Ends, SenderStatus};

impl CopyStats<'_> {
    /// What the sender's streams show, of which each byte stands for `unpacked` bytes of files.
    pub(crate) fn on_streams(
        &mut self,
        streams: u16,
        seen: &steer::online::Streams,
        unpacked: f64,
    ) {
        self.sending.streams = streams;
        let delivered = self.delivered.rate(self.now(), seen.arrived);
        self.sending.rate = Rate::from_f64(delivered.as_f64() * unpacked);
        self.sending.rtt = seen.rtt.or(self.sending.rtt);
        self.sending.retransmitted_share = seen.retransmitted_share();
        self.sending.mark_echoed_share = seen.mark_echoed_share();
        self.sending.ecn = seen.ecn.or(self.sending.ecn);
    }

    /// What the threads of both ends did.
    pub(crate) fn on_activity(&mut self, sender: Option<&Activity>, receiver: Option<&Activity>) {
        let shares = |end: Option<&Activity>| end.and_then(EndShares::of);
        self.ends = Ends {
            sender: shares(sender),
            receiver: shares(receiver),
        };
    }

    /// What limits the copy now, and what has so far.
    pub(crate) fn on_limited(
        &mut self,
        binds: Option<Limit>,
        limited: Option<copy_protocol::Limited>,
    ) {
        self.sending.binds = binds;
        let now = self.now();
        if let Some(limited) = limited {
            self.timeline.on_limited(now, limited);
        }
    }

    /// The sender at the other end says where its streams stand.
    pub(crate) fn on_sending(
        &mut self,
        sending: &Sending,
        limited: Option<Box<copy_protocol::Limited>>,
    ) {
        self.sending = SenderStatus::from(sending);
        if let Some(limited) = limited {
            self.timeline.on_limited(self.now(), *limited);
        }
    }

    /// The same, to be told to the other end.
    pub(crate) fn sending(&self) -> Message {
        let limited = self.timeline.told().cloned().map(Box::new);
        Message::Sending(Sending::from(&self.sending), limited)
    }
}

impl From<&Sending> for SenderStatus {
    fn from(told: &Sending) -> Self {
        SenderStatus {
            streams: told.streams,
            rate: Rate::from_bits_per_second(told.rate),
            rtt: told.rtt.map(Span::from_nanos),
            retransmitted_share: told.retransmitted_share,
            mark_echoed_share: told.mark_echoed_share,
            ecn: told.ecn,
            binds: told.binds.as_deref().and_then(Limit::named),
        }
    }
}

impl From<&SenderStatus> for Sending {
    fn from(status: &SenderStatus) -> Self {
        Sending {
            streams: status.streams,
            rate: status.rate.bits_per_second(),
            rtt: status.rtt.map(Span::as_nanos),
            retransmitted_share: status.retransmitted_share,
            mark_echoed_share: status.mark_echoed_share,
            ecn: status.ecn,
            binds: status.binds.map(|limit| limit.name().to_owned()),
        }
    }
}
