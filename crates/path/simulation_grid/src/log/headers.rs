//! The headers that a simulated packet would have.
//!
//! The simulator counts segments and headers of one size; here they become bytes and options.
//! Selective acknowledgements and the options of connection requests may make a packet up to 28
//! bytes longer than the simulator has it. Timestamps are no-operations, because the simulator's
//! have no clock of a host.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use etherparse::err::ValueTooBigError;
use etherparse::{
    IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, TcpOptionWriteError,
    TcpOptions, UdpHeader,
};
use netpath::Class;
use sim::{Event, PacketKind, Scenario};
use thiserror::Error;

/// Headers without options: 20 bytes of IPv4 and 20 of TCP.
const BARE: u64 = 40;
/// As many flows differ by the sender's port; more of them by the receiver's.
const PORTS: u32 = 60_000;
const SENDER_PORT: u32 = 1_024;
/// That of iperf3, and above it one for each incarnation of a flow.
const RECEIVER_PORT: u32 = 5_201;
/// RFC 862; probes only measure time, as that service does.
const ECHO_PORT: u16 = 7;
/// 65535 x 2^14 bytes: what receivers announce never holds a sender back, as in the simulator.
const WINDOW_SCALE: u8 = 14;
/// What checksums are computed over.
static PAYLOAD: [u8; 65_536] = [0; 65_536];

/// A packet whose headers cannot be written.
#[derive(Debug, Error)]
pub(super) enum HeaderError {
    /// It is too long.
    #[error(transparent)]
    Length(#[from] ValueTooBigError<usize>),
    /// Its options are.
    #[error(transparent)]
    Options(#[from] TcpOptionWriteError),
}

/// Makes headers from events.
#[derive(Debug)]
pub(super) struct Headers {
    /// Payload of a full segment.
    segment: u32,
    /// Size of a full segment on the wire.
    full: u64,
    /// Options of every segment.
    options: usize,
    ecn: bool,
    connections: BTreeMap<(u16, u32, u8), Connection>,
}

/// What bytes a connection's segments are.
#[derive(Debug, Clone, Copy, Default)]
struct Connection {
    /// The first sequence number of both sides; places of flows come back after 256 transfers.
    initial: u32,
    /// Whether data was sent.
    begun: bool,
    /// The last segment and its payload, if it is shorter than others.
    short: Option<(u32, u32)>,
}

impl Headers {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let (full, header) = (
            u64::from(scenario.path.hosts.mtu),
            scenario.tcp.header.get(),
        );
        Headers {
            segment: (full - header) as u32,
            full,
            options: header.saturating_sub(BARE) as usize,
            ecn: scenario.tcp.ecn,
            connections: BTreeMap::new(),
        }
    }

    /// The headers of a packet, and how long it is with its payload.
    pub(super) fn of(&mut self, event: &Event) -> Result<(Vec<u8>, u32), HeaderError> {
        match event.kind {
            PacketKind::Datagram | PacketKind::Probe | PacketKind::ProbeAnswer => datagram(event),
            _ => self.segment(event),
        }
    }

    fn segment(&mut self, event: &Event) -> Result<(Vec<u8>, u32), HeaderError> {
        let connection = self.connection(event);
        let header = event.size.get().min(self.full - u64::from(self.segment));
        let payload = match event.kind {
            PacketKind::Data => (event.size.get() - header) as usize,
            _ => 0,
        };
        let mut tcp = self.tcp(event, connection)?;
        let ip = ip(event, IpNumber::TCP, tcp.header_len() + payload)?;
        tcp.checksum =
            tcp.calc_checksum_ipv4_raw(ip.source, ip.destination, &PAYLOAD[..payload])?;
        let length = u32::from(ip.total_len);
        Ok(([&ip.to_bytes()[..], &tcp.to_bytes()].concat(), length))
    }

    fn tcp(&self, event: &Event, connection: Connection) -> Result<TcpHeader, HeaderError> {
        let (kind, (source, destination)) = (event.kind, ports(event));
        let first = connection.initial.wrapping_add(1);
        let byte = |number| connection.byte(number, self.segment).wrapping_add(first);
        let (opens, grants) = (kind == PacketKind::Request, kind == PacketKind::Grant);
        let (sequence, acknowledged) = match kind {
            PacketKind::Request => (connection.initial, 0),
            PacketKind::Grant => (connection.initial, first),
            PacketKind::Acknowledgement => (first, byte(event.number)),
            _ => (byte(event.number), first),
        };
        Ok(TcpHeader {
            acknowledgment_number: acknowledged,
            syn: opens || grants,
            ack: !opens,
            ece: event.echoes_mark || self.ecn && (opens || grants),
            cwr: event.reduced || self.ecn && opens,
            options: match opens || grants {
                true => self.opening_options()?,
                false => self.options(event, &byte)?,
            },
            ..TcpHeader::new(source, destination, sequence, u16::MAX)
        })
    }

    /// The connection of a segment, which tells about it.
    fn connection(&mut self, event: &Event) -> Connection {
        let place = (event.group, event.flow, event.incarnation);
        let connection = self.connections.entry(place).or_default();
        if event.kind == PacketKind::Request && connection.begun {
            *connection = Connection {
                initial: connection.initial.wrapping_add(1),
                ..Connection::default()
            };
        }
        if event.kind == PacketKind::Data {
            connection.begun = true;
            let missing = (self.full - event.size.get()) as u32;
            if missing > 0 {
                connection.short = Some((event.number, self.segment - missing));
            }
        }
        *connection
    }

    fn opening_options(&self) -> Result<TcpOptions, TcpOptionWriteError> {
        TcpOptions::try_from_elements(&[
            TcpOptionElement::MaximumSegmentSize((self.full - BARE) as u16),
            TcpOptionElement::Noop,
            TcpOptionElement::WindowScale(WINDOW_SCALE),
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::SelectiveAcknowledgementPermitted,
        ])
    }

    fn options(
        &self,
        event: &Event,
        byte: &dyn Fn(u32) -> u32,
    ) -> Result<TcpOptions, TcpOptionWriteError> {
        let blocks = event
            .sacked
            .map(|run| run.map(|(start, end)| (byte(start), byte(end))));
        let mut options = Vec::new();
        let mut used = 0;
        if let [Some(latest), second, third] = blocks {
            options = vec![TcpOptionElement::Noop, TcpOptionElement::Noop];
            options.push(TcpOptionElement::SelectiveAcknowledgement(
                latest,
                [second, third, None],
            ));
            used = 4 + 8 * blocks.iter().flatten().count();
        }
        options.extend((used..self.options).map(|_| TcpOptionElement::Noop));
        TcpOptions::try_from_elements(&options)
    }
}

impl Connection {
    /// The bytes before segment `number`.
    fn byte(self, number: u32, segment: u32) -> u32 {
        match self.short {
            Some((last, payload)) if number > last => {
                last.wrapping_mul(segment).wrapping_add(payload)
            }
            _ => number.wrapping_mul(segment),
        }
    }
}

fn datagram(event: &Event) -> Result<(Vec<u8>, u32), HeaderError> {
    let payload = (event.size.get() as usize).saturating_sub(Ipv4Header::MIN_LEN + UdpHeader::LEN);
    let ip = ip(event, IpNumber::UDP, UdpHeader::LEN + payload)?;
    let (source, destination) = ports(event);
    let udp = UdpHeader::with_ipv4_checksum(source, destination, &ip, &PAYLOAD[..payload])?;
    let length = u32::from(ip.total_len);
    Ok(([&ip.to_bytes()[..], &udp.to_bytes()].concat(), length))
}

fn ip(
    event: &Event,
    protocol: IpNumber,
    payload: usize,
) -> Result<Ipv4Header, ValueTooBigError<usize>> {
    let group = u32::from(event.group);
    let host = |first: Ipv4Addr| Ipv4Addr::from(u32::from(first) + group).octets();
    let sender = host(Ipv4Addr::new(10, 1, 0, 1));
    let receiver = host(Ipv4Addr::new(10, 2, 0, 1));
    let (source, destination) = match is_forward(event.kind) {
        true => (sender, receiver),
        false => (receiver, sender),
    };
    let mut ip = Ipv4Header {
        dscp: dscp(event.class),
        ecn: ecn(event),
        dont_fragment: true,
        time_to_live: 64,
        protocol,
        source,
        destination,
        ..Ipv4Header::default()
    };
    ip.set_payload_len(payload)?;
    ip.header_checksum = ip.calc_header_checksum();
    Ok(ip)
}

fn dscp(class: Class) -> IpDscp {
    match class {
        Class::Scavenger => IpDscp::LOWER_EFFORT,
        Class::BestEffort => IpDscp::CS0,
        Class::Priority => IpDscp::EF,
    }
}

fn ecn(event: &Event) -> IpEcn {
    match (event.marked, event.ecn_capable) {
        (true, _) => IpEcn::CongestionExperienced,
        (false, true) => IpEcn::Ect0,
        (false, false) => IpEcn::NotEct,
    }
}

/// The ports of a packet, its source's first.
fn ports(event: &Event) -> (u16, u16) {
    let sender = (SENDER_PORT + event.flow % PORTS) as u16;
    let receiver = match event.kind {
        PacketKind::Probe | PacketKind::ProbeAnswer => ECHO_PORT,
        _ => (RECEIVER_PORT + event.flow / PORTS * 256 + u32::from(event.incarnation)) as u16,
    };
    match is_forward(event.kind) {
        true => (sender, receiver),
        false => (receiver, sender),
    }
}

/// Whether it goes from a sender to a receiver.
pub(super) fn is_forward(kind: PacketKind) -> bool {
    match kind {
        PacketKind::Data | PacketKind::Request | PacketKind::Datagram | PacketKind::Probe => true,
        PacketKind::Acknowledgement | PacketKind::Grant | PacketKind::ProbeAnswer => false,
    }
}
