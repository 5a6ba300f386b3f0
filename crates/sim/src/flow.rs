//! Which flows there are, and what one is made of.

use path::Class;

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
    /// Size on the wire of the last segment; all others are full.
    pub last_size: u32,
    /// The last segment; `u32::MAX` when there is no end.
    pub last: u32,
}

/// All flows of a run, by place.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    pub senders: Vec<Sender>,
    pub receivers: Vec<Receiver>,
    pub cards: Vec<Card>,
}

impl Flows {
    pub(crate) fn add(&mut self, sender: Sender, card: Card) -> u32 {
        self.senders.push(sender);
        self.receivers.push(Receiver::new());
        self.cards.push(card);
        self.cards.len() as u32 - 1
    }
}
