//! What travels: data, acknowledgements, connection requests, datagrams.

use netpath::Class;
use units::{Bytes, Time};

/// A run of segments, from `start` up to below `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Block {
    pub start: u32,
    pub end: u32,
}

/// The most blocks that fit beside timestamps in a TCP header (RFC 2018 section 3).
pub(crate) const SACK_BLOCKS: usize = 3;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment of data.
    Data,
    /// An acknowledgement.
    Ack,
    /// Asks for a connection.
    Syn,
    /// Grants it.
    SynAck,
    /// Data without acknowledgements.
    Datagram,
    /// A probe.
    Echo,
    /// Its answer.
    EchoReply,
}

/// A packet. Segments are counted, not bytes: all but a stream's last are of full size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    /// When it was sent; an acknowledgement echoes the segment's (RFC 7323).
    pub sent: Time,
    /// The flow's place; of a datagram, its source's.
    pub flow: u32,
    /// The segment, or the one that the receiver expects next.
    pub number: u32,
    pub kind: Kind,
    /// The group of hosts that it belongs to.
    pub group: u16,
    /// Which of the flows that used this place.
    pub incarnation: u8,
    pub flags: Flags,
    pub class: Class,
    /// How many of `blocks` are used.
    pub block_count: u8,
    /// Size on the wire.
    pub size: u32,
    /// What has arrived beyond `number`, the latest first.
    pub blocks: [Block; SACK_BLOCKS],
}

/// Marks on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// The path may mark instead of dropping (ECT, RFC 3168).
    pub(crate) const ECN_CAPABLE: Flags = Flags(1);
    /// A queue has marked it (CE).
    pub(crate) const CONGESTION: Flags = Flags(2);
    /// The receiver has seen a mark (ECE).
    pub(crate) const ECHO: Flags = Flags(4);
    /// The sender has reduced its window (CWR).
    pub(crate) const REDUCED: Flags = Flags(8);
    /// Sent before.
    pub(crate) const AGAIN: Flags = Flags(16);
    /// Others' load on one link, which no host has sent.
    pub(crate) const LOAD: Flags = Flags(32);

    #[inline]
    pub(crate) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    #[inline]
    pub(crate) fn with(self, flag: Flags, on: bool) -> Flags {
        match on {
            true => Flags(self.0 | flag.0),
            false => self,
        }
    }
}

impl Packet {
    /// Nothing yet, sent at `now`.
    #[inline]
    pub(crate) fn empty(now: Time) -> Self {
        Packet {
            sent: now,
            flow: 0,
            number: 0,
            kind: Kind::Data,
            group: 0,
            incarnation: 0,
            flags: Flags::default(),
            class: Class::BestEffort,
            block_count: 0,
            size: 0,
            blocks: Default::default(),
        }
    }

    /// The blocks that are used.
    pub(crate) fn sacked(&self) -> &[Block] {
        &self.blocks[..usize::from(self.block_count)]
    }

    /// Whether it goes from sender to receiver.
    pub(crate) fn is_forward(&self) -> bool {
        matches!(
            self.kind,
            Kind::Data | Kind::Syn | Kind::Datagram | Kind::Echo
        )
    }
}

impl link::Packet for Packet {
    #[inline]
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        self.flags.has(Flags::ECN_CAPABLE)
    }

    fn mark_congestion(&mut self) {
        self.flags = self.flags.with(Flags::CONGESTION, true);
    }

    #[inline]
    fn class(&self) -> Class {
        self.class
    }

    #[inline]
    fn is_load(&self) -> bool {
        self.flags.has(Flags::LOAD)
    }
}
