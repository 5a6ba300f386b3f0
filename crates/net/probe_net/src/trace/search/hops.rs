//! What is known of each hop so far.

use observe::{Hop, HopAnswer, HopProbe, Trace, TraceProtocol};
use units::Span;

/// All hops that were asked.
#[derive(Debug, Default)]
pub(super) struct Hops {
    seen: Vec<Seen>,
    /// The least distance at which the far end answered.
    arrived: Option<u8>,
    /// The least distance at which a router let nothing through.
    barred: Option<u8>,
    /// The longest that the far end took when it was asked from any distance.
    far_rtt: Option<Span>,
}

#[derive(Debug, Default)]
struct Seen {
    probes: Vec<HopProbe>,
    longest: Option<Span>,
    alone: bool,
}

impl Hops {
    /// A probe leaves that counts as unanswered until it is.
    pub(super) fn expect(&mut self, hops: u8, round: Option<u16>) {
        if let Some(round) = round {
            self.slot(hops, round);
        }
    }

    fn slot(&mut self, hops: u8, round: u16) -> (&mut HopProbe, &mut Option<Span>) {
        let (index, round) = (usize::from(hops.max(1)) - 1, usize::from(round));
        if self.seen.len() <= index {
            self.seen.resize_with(index + 1, Seen::default);
        }
        let seen = &mut self.seen[index];
        if seen.probes.len() <= round {
            seen.probes.resize(round + 1, None);
        }
        (&mut seen.probes[round], &mut seen.longest)
    }

    fn put(&mut self, hops: u8, round: Option<u16>, answer: HopAnswer) {
        if let Some(round) = round {
            let (probe, longest) = self.slot(hops, round);
            *probe = Some(answer);
            *longest = (*longest).max(Some(answer.rtt));
        }
    }

    /// A router let a probe die.
    pub(super) fn passing(&mut self, hops: u8, round: Option<u16>, answer: HopAnswer) {
        self.put(hops, round, answer);
    }

    /// The far end got a probe.
    pub(super) fn arrived(&mut self, hops: u8, round: Option<u16>, answer: HopAnswer) {
        self.put(hops, round, answer);
        self.arrived = Some(self.arrived.map_or(hops, |least| least.min(hops)));
        self.far_answered(answer.rtt);
    }

    /// A router let a probe go no further, whatever its hop limit.
    pub(super) fn barred(&mut self, hops: u8, round: Option<u16>, answer: HopAnswer) {
        self.put(hops, round, answer);
        if round.is_some() {
            self.barred = Some(self.barred.map_or(hops, |least| least.min(hops)));
        }
    }

    /// The far end is there, at whatever distance.
    pub(super) fn far_answered(&mut self, rtt: Span) {
        self.far_rtt = self.far_rtt.max(Some(rtt));
    }

    pub(super) fn far_is_there(&self) -> bool {
        self.far_rtt.is_some()
    }

    /// The distance behind which nothing is to be found.
    pub(super) fn end(&self) -> Option<u8> {
        // What one router bars now and then is no end where the far end answers.
        self.arrived
            .or(self.barred.filter(|_| !self.far_is_there()))
    }

    /// The furthest distance that was asked.
    pub(super) fn tried(&self) -> u8 {
        u8::try_from(self.seen.len()).unwrap_or(u8::MAX)
    }

    fn numbered(&self) -> impl DoubleEndedIterator<Item = (u8, &Seen)> {
        let tried = self.tried();
        let last = self.end().map_or(tried, |end| end.min(tried));
        (1..=last).zip(&self.seen).collect::<Vec<_>>().into_iter()
    }

    pub(super) fn has_answered(&self, hops: u8) -> bool {
        self.numbered()
            .any(|(number, seen)| number == hops && seen.longest.is_some())
    }

    /// The longest round trip to somewhere behind this distance.
    pub(super) fn longest_behind(&self, hops: u8) -> Option<Span> {
        let behind = self.numbered().filter(|(number, _)| *number > hops);
        behind
            .filter_map(|(_, seen)| seen.longest)
            .max()
            .max(self.far_rtt)
    }

    /// How many of the furthest have not answered, but for those that may still do.
    pub(super) fn silent_at_end(&self, waiting: impl Fn(u8) -> bool) -> usize {
        let silent = self
            .numbered()
            .rev()
            .take_while(|(_, seen)| seen.longest.is_none());
        silent.filter(|(hops, _)| !waiting(*hops)).count()
    }

    /// The furthest that answered.
    pub(super) fn last_answered(&self) -> u8 {
        let answered = self
            .numbered()
            .rev()
            .find(|(_, seen)| seen.longest.is_some());
        answered.map_or(0, |(hops, _)| hops)
    }

    /// Those that have not answered, as far as it makes sense to ask again.
    pub(super) fn unanswered(&self) -> Vec<u8> {
        let silent = self.numbered().filter(|(_, seen)| seen.longest.is_none());
        silent.map(|(hops, _)| hops).collect()
    }

    /// From now on this hop is probed while nothing else is on the way.
    pub(super) fn probe_alone(&mut self, hops: u8) {
        if let Some(seen) = self.seen.get_mut(usize::from(hops.max(1)) - 1) {
            seen.alone = true;
        }
    }

    pub(super) fn is_alone(&self, hops: u8) -> bool {
        self.numbered()
            .any(|(number, seen)| number == hops && seen.alone && seen.longest.is_some())
    }

    pub(super) fn trace(self, protocol: TraceProtocol) -> Trace {
        let hop = |(distance, seen): (u8, &Seen)| Hop {
            distance,
            probes: seen.probes.clone(),
        };
        Trace {
            protocol,
            // All flows here keep what routers look at.
            one_flow: true,
            hops: self.numbered().map(hop).collect(),
            reached: self.arrived.is_some(),
        }
    }
}
