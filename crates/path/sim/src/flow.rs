//! Which flows there are, and what one is made of.

use netpath::Class;
use prefetch_index::prefetch_index;
use units::Bytes;

use crate::control::Common;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// Groups of flows share hosts: the streams that are looked at come first, then the cross traffic.
pub(crate) const STREAMS: u16 = 0;

/// What a flow is, apart from its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Card {
    pub group: u16,
    pub class: Class,
    /// Which of the flows that used this place.
    pub incarnation: u8,
    /// Payload of the last segment; all others are full.
    pub last_payload: u32,
    /// The last segment; `u32::MAX` when there is no end.
    pub last: u32,
}

impl Card {
    /// How many bytes the first `segments` carry, when full ones carry `full`.
    pub(crate) fn payload(&self, segments: u32, full: Bytes) -> Bytes {
        let all = full.times(u64::from(segments));
        match segments > self.last {
            true => all - full + Bytes::new(u64::from(self.last_payload)),
            false => all,
        }
    }
}

/// All flows of a run, by place.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    pub senders: Vec<Sender>,
    pub receivers: Vec<Receiver>,
    pub cards: Vec<Card>,
    /// Places of transfers that are over.
    free: Vec<u32>,
    /// Streams that ran from the beginning: their places are their numbers.
    pub begun: usize,
    /// Places of the streams that joined later.
    pub joined: Vec<u32>,
    /// What the streams of an ensemble have in common; `None` of any other variant. Cross traffic
    /// has no part in it.
    pub common: Option<Common>,
}

impl Flows {
    pub(crate) fn add(&mut self, sender: Sender, card: Card) -> u32 {
        self.senders.push(sender);
        self.receivers.push(Receiver::new());
        self.cards.push(card);
        self.cards.len() as u32 - 1
    }

    /// The place of a stream by its number.
    pub(crate) fn place(&self, stream: usize) -> usize {
        let joined = stream
            .checked_sub(self.begun)
            .and_then(|later| self.joined.get(later));
        joined.map_or(stream, |place| *place as usize)
    }

    /// The number of the stream at a place.
    pub(crate) fn number(&self, place: u32) -> usize {
        let later = self.joined.iter().position(|joined| *joined == place);
        later.map_or(place as usize, |later| self.begun + later)
    }

    /// Fetches the state of one end of a flow into the cache.
    #[inline]
    pub(crate) fn fetch(&self, flow: u32, receiver: bool) {
        let place = flow as usize;
        match receiver {
            true => prefetch_index(&self.receivers, place),
            false => prefetch_index(&self.senders, place),
        }
    }

    /// Like [`add`](Flows::add), but takes the place of a flow that is over where there is one.
    pub(crate) fn add_transfer(&mut self, sender: Sender, card: Card) -> u32 {
        let Some(flow) = self.free.pop() else {
            return self.add(sender, card);
        };
        let place = flow as usize;
        let incarnation = self.cards[place].incarnation;
        self.senders[place] = sender;
        self.receivers[place] = Receiver::new();
        self.cards[place] = Card {
            incarnation,
            ..card
        };
        flow
    }

    /// Whether every acknowledged segment had arrived, and every one that arrived had been sent.
    pub(crate) fn are_consistent(&self) -> bool {
        let ends = self.senders.iter().zip(&self.receivers);
        let in_order = |(sender, receiver): (&Sender, &Receiver)| {
            sender.acknowledged() <= receiver.in_order() && receiver.in_order() <= sender.sent()
        };
        ends.into_iter().all(in_order)
    }

    /// A flow is over: what is still on its way for it has no receiver.
    pub(crate) fn retire(&mut self, flow: u32) {
        let card = &mut self.cards[flow as usize];
        card.incarnation = card.incarnation.wrapping_add(1);
        self.senders[flow as usize].stop();
        self.receivers[flow as usize].delayed.clear();
        self.free.push(flow);
    }

    /// Before an event of a flow: lends it what its transfer has in common, if it is a stream.
    #[inline]
    pub(crate) fn lend(&mut self, flow: u32) {
        let place = flow as usize;
        if let Some(common) = &self.common
            && self.cards[place].group == STREAMS
        {
            self.senders[place].borrow(common, flow);
        }
    }

    /// After the event: takes it back.
    #[inline]
    pub(crate) fn settle(&mut self, flow: u32) {
        let place = flow as usize;
        if let Some(common) = &mut self.common
            && self.cards[place].group == STREAMS
        {
            self.senders[place].give_back(common);
        }
    }

    /// A stream is done and leaves its part to the others.
    pub(crate) fn leave(&mut self) {
        if let Some(common) = &mut self.common {
            common.ensemble.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use netpath::PathSpec;
    use units::{Span, Time};

    use super::*;
    use crate::timers::Timers;
    use crate::{Scenario, Variant, setup};

    #[test]
    fn cross_traffic_neither_borrows_from_an_ensemble_nor_gives_back() {
        let mut scenario = Scenario::new(PathSpec::load("lan").unwrap()).unwrap();
        scenario.streams = 2;
        scenario.variant = Variant::Ensemble;
        let mut flows = setup::flows(&scenario, &mut Timers::default());
        // As if the second belonged to cross traffic that is an ensemble as well.
        flows.cards[1].group = STREAMS + 1;
        flows.lend(0);
        flows.senders[0].on_connected(Span::from_millis(500), Time::ZERO);
        flows.settle(0);
        let before = format!("{:?}", flows.common);
        let patience = flows.senders[1].patience();
        assert_ne!(patience, flows.senders[0].patience());
        flows.lend(1);
        assert_eq!(flows.senders[1].patience(), patience);
        flows.senders[1].on_connected(Span::from_millis(1), Time::ZERO);
        flows.settle(1);
        assert_eq!(format!("{:?}", flows.common), before);
    }
}
