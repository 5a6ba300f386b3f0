//! The fields of a record of NetFlow 9 or IPFIX, by their numbers (IANA, "IPFIX Information
//! Elements"; those of NetFlow 9 are the same).

use std::net::IpAddr;

use netflow_parser::FieldValue;
use netflow_parser::variable_versions::ipfix::lookup::{
    IANAIPFixField as Iana, IPFixField, ReverseInformationElement as Reverse,
};

use crate::record::Record;

/// Milliseconds from 1900 to 1970: times of micro- and nanoseconds are those of NTP (RFC 7011,
/// section 6.1.9).
const NTP_ERA: u64 = 2_208_988_800_000;

/// What the router says of its clock beside a record.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    /// When the datagram left, in milliseconds since 1970.
    pub export: u64,
    /// The same since the router began, where the datagram says it.
    pub uptime: Option<u32>,
    /// When the router began, in milliseconds since 1970, where it said it.
    pub began: Option<u64>,
}

/// When the first or the last packet came.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// Milliseconds since the router began.
    Uptime(u64),
    /// Milliseconds since 1970.
    Absolute(u64),
}

/// The fields that are used; a field that stands in front of another one is the better one.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
    protocol: u8,
    ports: (u16, u16),
    bytes: [Option<u64>; 3],
    packets: [Option<u64>; 3],
    reverse: (Option<u64>, Option<u64>),
    first: Option<Moment>,
    last: Option<Moment>,
    interval: Option<u64>,
    packet_interval: (Option<u64>, Option<u64>),
    population: (Option<u64>, Option<u64>),
    /// What names the sampler.
    pub sampler: Option<u64>,
    /// When the router began, in milliseconds since 1970.
    pub began: Option<u64>,
}

impl Fields {
    /// Takes a field of IPFIX.
    pub fn put(&mut self, field: &IPFixField, value: &FieldValue) {
        match field {
            IPFixField::IANA(field) => self.put_iana(*field, value),
            IPFixField::ReverseInformationElement(Reverse::ReverseOctetDeltaCount) => {
                self.reverse.0 = value.as_u64();
            }
            IPFixField::ReverseInformationElement(Reverse::ReversePacketDeltaCount) => {
                self.reverse.1 = value.as_u64();
            }
            IPFixField::ReverseInformationElement(Reverse::ReverseOctetTotalCount) => {
                self.reverse.0 = self.reverse.0.or(value.as_u64());
            }
            IPFixField::ReverseInformationElement(Reverse::ReversePacketTotalCount) => {
                self.reverse.1 = self.reverse.1.or(value.as_u64());
            }
            _ => {}
        }
    }

    /// Takes a field by its number, which NetFlow 9 has, too.
    pub fn put_iana(&mut self, field: Iana, value: &FieldValue) {
        let whole = value.as_u64();
        let port = || value.as_u16().unwrap_or(0);
        let address = || IpAddr::try_from(value).ok();
        let ntp = |at: u64| Moment::Absolute(at.saturating_sub(NTP_ERA));
        match field {
            Iana::OctetDeltaCount => self.bytes[0] = whole,
            Iana::OctetTotalCount => self.bytes[1] = whole,
            Iana::PostOctetDeltaCount => self.bytes[2] = whole,
            Iana::PacketDeltaCount => self.packets[0] = whole,
            Iana::PacketTotalCount => self.packets[1] = whole,
            Iana::PostPacketDeltaCount => self.packets[2] = whole,
            Iana::ProtocolIdentifier => self.protocol = value.as_u8().unwrap_or(0),
            Iana::SourceTransportPort => self.ports.0 = port(),
            Iana::DestinationTransportPort => self.ports.1 = port(),
            Iana::SourceIpv4address | Iana::SourceIpv6address => {
                self.source = address().or(self.source);
            }
            Iana::DestinationIpv4address | Iana::DestinationIpv6address => {
                self.destination = address().or(self.destination);
            }
            Iana::SamplingInterval | Iana::SamplerRandomInterval => self.interval = whole,
            Iana::SamplerId | Iana::SelectorId => self.sampler = whole,
            Iana::SamplingPacketInterval => self.packet_interval.0 = whole,
            Iana::SamplingPacketSpace => self.packet_interval.1 = whole,
            Iana::SamplingSize => self.population.0 = whole,
            Iana::SamplingPopulation => self.population.1 = whole,
            Iana::SystemInitTimeMilliseconds => self.began = whole,
            Iana::FlowStartSysUpTime => self.first = whole.map(Moment::Uptime),
            Iana::FlowEndSysUpTime => self.last = whole.map(Moment::Uptime),
            Iana::FlowStartSeconds | Iana::FlowStartMilliseconds => {
                self.first = whole.map(Moment::Absolute);
            }
            Iana::FlowEndSeconds | Iana::FlowEndMilliseconds => {
                self.last = whole.map(Moment::Absolute);
            }
            Iana::FlowStartMicroseconds | Iana::FlowStartNanoseconds => {
                self.first = whole.map(ntp);
            }
            Iana::FlowEndMicroseconds | Iana::FlowEndNanoseconds => self.last = whole.map(ntp),
            _ => {}
        }
    }

    /// One packet of so many is seen; `None` where no field says it.
    pub fn sampling(&self) -> Option<u32> {
        let (sampled, left_out) = self.packet_interval;
        let (of, population) = self.population;
        let ratio = |all: u64, part: Option<u64>| all.checked_div(part.unwrap_or(1));
        let found = match (left_out, population) {
            (Some(left_out), _) => ratio(left_out.saturating_add(sampled.unwrap_or(1)), sampled),
            (None, Some(population)) => ratio(population, of),
            (None, None) => self.interval,
        };
        found.and_then(|rate| u32::try_from(rate).ok().filter(|rate| *rate > 0))
    }

    /// The flow, and where the record has both ways the other one. Nothing where there are no
    /// addresses or no bytes.
    pub fn records(&self, clock: Clock) -> impl Iterator<Item = Record> {
        let first_of = |counts: [Option<u64>; 3]| counts.into_iter().flatten().next();
        let ended_ago = self.last.map_or(0, |last| clock.ago(last));
        let record = |(source, destination), ports, bytes, packets| Record {
            source,
            destination,
            protocol: self.protocol,
            ports,
            bytes,
            packets,
            sampling: self.sampling(),
            begun_ago: self.first.map_or(ended_ago, |first| clock.ago(first)),
            ended_ago,
        };
        let ends = self.source.zip(self.destination);
        let forward = ends.zip(first_of(self.bytes)).map(|(ends, bytes)| {
            let packets = first_of(self.packets).unwrap_or(0);
            record(ends, self.ports, bytes, packets)
        });
        let (bytes, packets) = self.reverse;
        let back = ends.zip(bytes.filter(|bytes| *bytes > 0));
        let back = back.map(|((source, destination), bytes)| {
            let ports = (self.ports.1, self.ports.0);
            record((destination, source), ports, bytes, packets.unwrap_or(0))
        });
        forward.into_iter().chain(back)
    }
}

impl Clock {
    /// Milliseconds from a moment until the datagram left; zero where that cannot be told.
    fn ago(self, moment: Moment) -> u64 {
        match moment {
            Moment::Absolute(at) => self.export.saturating_sub(at),
            Moment::Uptime(at) => match (self.uptime, self.began) {
                // 32 bits are full after 50 days.
                (Some(now), _) => {
                    let ago = now.wrapping_sub(at as u32).cast_signed();
                    u64::try_from(ago).unwrap_or(0)
                }
                (None, Some(began)) => self.export.saturating_sub(began.saturating_add(at)),
                (None, None) => 0,
            },
        }
    }
}
