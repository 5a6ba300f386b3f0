//! sFlow version 5 (sflow.org, 2004): sampled packets.
//!
//! Read here, since the crates for it read a hundred kinds of counters and records and give up a
//! datagram for one of them that they cannot read. Of a sample only what is needed is looked at:
//! the rate of sampling, and the header of the packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};

use crate::record::{Message, Record};

const VERSION: u32 = 5;
/// Kinds of samples and of what is in them, of the enterprise 0.
const FLOW_SAMPLE: u32 = 1;
const EXPANDED_FLOW_SAMPLE: u32 = 3;
const RAW_HEADER: u32 = 1;
const SAMPLED_IPV4: u32 = 3;
const SAMPLED_IPV6: u32 = 4;
/// Protocols of a raw header.
const ETHERNET: u32 = 1;
const IPV4: u32 = 11;
const IPV6: u32 = 12;
/// Bytes of the header of Ethernet, and of each tag in it.
const ETHERNET_HEADER: u64 = 14;
const TAG: u64 = 4;

/// Reads a datagram: the number of the sub-agent, and what it tells. `None` where it is no sFlow.
pub(crate) fn read(datagram: &[u8]) -> Option<(u32, Message)> {
    let mut words = Words(datagram);
    if words.word()? != VERSION {
        return None;
    }
    words.address()?;
    let sub_agent = words.word()?;
    let mut message = Message {
        sequence: words.word()?,
        advances: [Some(1), None],
        is_whole: true,
        ..Message::default()
    };
    let _uptime = words.word()?;
    for _ in 0..words.word()? {
        let Some((kind, body)) = words.block() else {
            message.is_whole = false;
            break;
        };
        if !matches!(kind, FLOW_SAMPLE | EXPANDED_FLOW_SAMPLE) {
            continue;
        }
        match sample(Words(body), kind == EXPANDED_FLOW_SAMPLE) {
            Some(record) => message.records.extend(record),
            None => message.is_whole = false,
        }
    }
    Some((sub_agent, message))
}

/// The packet of a sample; the inner `None` where it is no IP, the outer where it is cut.
fn sample(mut words: Words<'_>, is_expanded: bool) -> Option<Option<Record>> {
    // Number and source; in the long form the source has two words.
    words.skip(if is_expanded { 3 } else { 2 })?;
    let sampling = words.word()?;
    // Pool, drops, and both interfaces; in the long form these have two words each.
    words.skip(if is_expanded { 6 } else { 4 })?;
    let mut packet = None;
    for _ in 0..words.word()? {
        let (kind, body) = words.block()?;
        let body = Words(body);
        let read = match kind {
            RAW_HEADER => raw_header(body)?,
            SAMPLED_IPV4 => Some(sampled_ip(body, Words::v4)?),
            SAMPLED_IPV6 => Some(sampled_ip(body, Words::v6)?),
            _ => None,
        };
        packet = packet.or(read);
    }
    Some(packet.map(|packet| Record {
        sampling: Some(sampling).filter(|sampling| *sampling > 0),
        ..packet
    }))
}

fn raw_header(mut words: Words<'_>) -> Option<Option<Record>> {
    let protocol = words.word()?;
    let frame = u64::from(words.word()?);
    let stripped = u64::from(words.word()?);
    let length = usize::try_from(words.word()?).ok()?;
    let header = words.bytes(length)?;
    let packet = match protocol {
        ETHERNET => LaxSlicedPacket::from_ethernet(header).ok(),
        IPV4 | IPV6 => LaxSlicedPacket::from_ip(header).ok(),
        _ => None,
    };
    let Some(packet) = packet else {
        return Some(None);
    };
    let below = match protocol {
        ETHERNET => ETHERNET_HEADER + TAG * packet.link_exts.len() as u64,
        _ => 0,
    };
    Some(ip(&packet, frame.saturating_sub(stripped + below)))
}

/// What a packet is. Its own length counts; a host that hands over large packets writes none, and
/// then `rest` does.
fn ip(packet: &LaxSlicedPacket<'_>, rest: u64) -> Option<Record> {
    let net = packet.net.as_ref()?;
    let (source, destination, length): (IpAddr, IpAddr, u64) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr(), header.destination_addr());
            (from.into(), to.into(), header.total_len().into())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr(), header.destination_addr());
            let length = match header.payload_length() {
                0 => 0,
                payload => u64::from(payload) + 40,
            };
            (from.into(), to.into(), length)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let ports = match &packet.transport {
        Some(TransportSlice::Tcp(tcp)) => (tcp.source_port(), tcp.destination_port()),
        Some(TransportSlice::Udp(udp)) => (udp.source_port(), udp.destination_port()),
        _ => (0, 0),
    };
    let length = if length > 0 { length } else { rest };
    let protocol = net.ip_payload_ref()?.ip_number.0;
    Some(seen((source, destination), (protocol, ports), length))
}

/// A packet of which the router has looked at the header itself.
fn sampled_ip<'a>(
    mut words: Words<'a>,
    address: fn(&mut Words<'a>) -> Option<IpAddr>,
) -> Option<Record> {
    let length = words.word()?;
    let protocol = u8::try_from(words.word()?).ok()?;
    let ends = (address(&mut words)?, address(&mut words)?);
    let mut port = || u16::try_from(words.word()?).ok();
    let ports = (port()?, port()?);
    Some(seen(ends, (protocol, ports), length.into()))
}

/// One packet, now.
fn seen(
    (source, destination): (IpAddr, IpAddr),
    (protocol, ports): (u8, (u16, u16)),
    bytes: u64,
) -> Record {
    Record {
        source,
        destination,
        protocol,
        ports,
        bytes,
        packets: 1,
        sampling: None,
        begun_ago: 0,
        ended_ago: 0,
    }
}

/// What is left to read, in words of four bytes.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.get(count * 4..)?;
        Some(())
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The kind of what follows, its length, and so many bytes.
    fn block(&mut self) -> Option<(u32, &'a [u8])> {
        let kind = self.word()?;
        let length = usize::try_from(self.word()?).ok()?;
        Some((kind, self.bytes(length)?))
    }

    fn v4(&mut self) -> Option<IpAddr> {
        Some(Ipv4Addr::from(self.word()?).into())
    }

    fn v6(&mut self) -> Option<IpAddr> {
        let (address, rest) = self.0.split_first_chunk::<16>()?;
        self.0 = rest;
        Some(Ipv6Addr::from(*address).into())
    }

    /// An address behind its kind.
    fn address(&mut self) -> Option<IpAddr> {
        match self.word()? {
            1 => self.v4(),
            2 => self.v6(),
            _ => None,
        }
    }
}
