//! What all protocols have in common.

use std::net::IpAddr;

/// A flow, a part of one, or a sampled packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// The number of the protocol above IP.
    pub protocol: u8,
    /// Of source and destination; zero where the protocol has none.
    pub ports: (u16, u16),
    /// Of packets that were seen, before what sampling left out is added.
    pub bytes: u64,
    pub packets: u64,
    /// One packet of so many was seen, where the router says it.
    pub sampling: Option<u32>,
    /// Milliseconds from its first and its last packet until the datagram left.
    pub begun_ago: u64,
    pub ended_ago: u64,
}

/// What a datagram tells.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub records: Vec<Record>,
    /// The number that the router gave the datagram.
    pub sequence: u32,
    /// How far the number of the next one is ahead, as far as it is known: by the standard, and as
    /// some routers count.
    pub advances: [Option<u32>; 2],
    /// Sets of records without their template.
    pub waiting: u64,
    /// Whether all of it was read.
    pub is_whole: bool,
}
