//! NetFlow 5 and 9 (RFC 3954) and IPFIX (RFC 7011), one stream of a router at a time.

use std::collections::BTreeMap;

use netflow_parser::static_versions::v5::V5;
use netflow_parser::variable_versions::ipfix::lookup::IANAIPFixField as Iana;
use netflow_parser::variable_versions::ipfix::{FlowSetBody as IpfixBody, IPFix};
use netflow_parser::variable_versions::v9::{FlowSetBody as V9Body, V9};
use netflow_parser::{
    CacheMetrics, ConfigError, IpfixFieldPair, NetflowPacket, NetflowParser, PendingFlowsConfig,
    V9FieldPair,
};

use crate::fields::{Clock, Fields};
use crate::record::{Message, Record};

/// Templates of a stream, fields of one, and what is kept until a template comes.
const TEMPLATES_MAX: usize = 64;
const FIELDS_MAX: usize = 256;
const WAITING_TEMPLATES_MAX: usize = 16;
const WAITING_BYTES_MAX: usize = 512 << 10;
/// Samplers of a stream.
const SAMPLERS_MAX: usize = 256;
/// The lower bits of the header of version 5 say the interval, the others how.
const V5_INTERVAL: u16 = 0x3fff;
/// Bytes of the headers of version 9, of IPFIX, and of a set in them.
const V9_HEADER: usize = 20;
const IPFIX_HEADER: usize = 16;
const SET_HEADER: usize = 4;

/// Which stream a datagram belongs to: the version, and the number within its router. `None` where
/// it is of another protocol or cut within its header.
pub(crate) fn stream_of(datagram: &[u8]) -> Option<(u16, u32)> {
    let word = |at: usize| {
        let bytes = datagram.get(at..at + 4)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*bytes))
    };
    let version = (word(0)? >> 16) as u16;
    let id = match version {
        5 => word(20)? >> 16,
        9 => word(16)?,
        10 => word(12)?,
        _ => return None,
    };
    Some((version, id))
}

/// What a stream of a router has told so far.
#[derive(Debug)]
pub(crate) struct Reader {
    parser: NetflowParser,
    /// Rates of samplers by their names; `None` is of the router as a whole.
    samplers: BTreeMap<Option<u64>, u32>,
    /// When the router began, in milliseconds since 1970.
    began: Option<u64>,
}

impl Reader {
    /// Knows no template yet.
    ///
    /// # Errors
    /// When a bound is none, which those above are not.
    pub fn new() -> Result<Self, ConfigError> {
        let mut waiting = PendingFlowsConfig::new(WAITING_TEMPLATES_MAX);
        waiting.max_total_bytes = WAITING_BYTES_MAX;
        let parser = NetflowParser::builder()
            .with_allowed_versions(&[5, 9, 10])
            .with_cache_size(TEMPLATES_MAX)
            .with_max_field_count(FIELDS_MAX)
            .with_pending_flows(waiting)
            .build()?;
        Ok(Reader {
            parser,
            samplers: BTreeMap::new(),
            began: None,
        })
    }

    /// Reads a datagram; `None` where nothing of it can be read.
    pub fn read(&mut self, datagram: &[u8]) -> Option<Message> {
        let before = self.misses_and_replays();
        let parsed = self.parser.parse_bytes(datagram);
        let after = self.misses_and_replays();
        let (waiting, replayed) = (after.0 - before.0, after.1 - before.1);
        let mut packets = parsed.packets.into_iter();
        let mut message = match packets.next()? {
            NetflowPacket::V5(packet) => v5(&packet),
            NetflowPacket::V9(packet) => self.v9(&packet, datagram),
            NetflowPacket::IPFix(packet) => {
                // How many records wait, or came late, is not known.
                let is_counted = waiting == 0 && replayed == 0;
                self.ipfix(&packet, datagram, is_counted)
            }
            _ => return None,
        };
        message.waiting = waiting;
        message.is_whole &= parsed.error.is_none() && packets.next().is_none();
        Some(message)
    }

    /// Sets without a template, and those of them whose template came.
    fn misses_and_replays(&self) -> (u64, u64) {
        let all = [
            self.parser.v9_cache_info().metrics,
            self.parser.ipfix_cache_info().metrics,
        ];
        let sum = |of: fn(&CacheMetrics) -> u64| all.iter().map(of).sum::<u64>();
        (
            sum(|metrics| metrics.misses),
            sum(|metrics| metrics.pending_replayed),
        )
    }

    fn v9(&mut self, packet: &V9, datagram: &[u8]) -> Message {
        let header = &packet.header;
        let clock = Clock {
            export: u64::from(header.unix_secs) * 1000,
            uptime: Some(header.sys_up_time),
            began: None,
        };
        let mut records = Vec::new();
        for set in &packet.flowsets {
            match &set.body {
                V9Body::OptionsData(options) => {
                    let options = options.fields.iter();
                    options.for_each(|one| self.note(&v9_fields(&one.options_fields)));
                }
                V9Body::Data(data) => {
                    let all = data.fields.iter().map(|fields| v9_fields(fields));
                    all.for_each(|fields| self.push(&mut records, &fields, clock));
                }
                V9Body::Template(_)
                | V9Body::OptionsTemplate(_)
                | V9Body::NoTemplate(_)
                | V9Body::Empty => {}
            }
        }
        Message {
            sequence: header.sequence_number,
            // By RFC 3954 datagrams are counted; some programs count records.
            advances: [Some(1), u32::try_from(records.len()).ok()],
            records,
            waiting: 0,
            is_whole: has_whole_sets(datagram, V9_HEADER),
        }
    }

    fn ipfix(&mut self, packet: &IPFix, datagram: &[u8], is_counted: bool) -> Message {
        let header = &packet.header;
        let mut records = Vec::new();
        let mut count = 0_u32;
        for set in &packet.flowsets {
            let clock = Clock {
                export: u64::from(header.export_time) * 1000,
                uptime: None,
                began: self.began,
            };
            let (is_of_router, sets) = match &set.body {
                IpfixBody::Data(data) => (false, ipfix_fields(&data.fields)),
                IpfixBody::OptionsData(data) => (true, ipfix_fields(&data.fields)),
                // Sets in the form of NetFlow 9 are no IPFIX.
                _ => continue,
            };
            count = count.saturating_add(u32::try_from(sets.len()).unwrap_or(u32::MAX));
            for fields in sets {
                match is_of_router {
                    true => self.note(&fields),
                    false => self.push(&mut records, &fields, clock),
                }
            }
        }
        Message {
            records,
            sequence: header.sequence_number,
            advances: [is_counted.then_some(count), None],
            waiting: 0,
            is_whole: has_whole_sets(datagram, IPFIX_HEADER),
        }
    }

    /// Takes what the router says of itself.
    fn note(&mut self, fields: &Fields) {
        self.began = fields.began.or(self.began);
        let Some(rate) = fields.sampling() else {
            return;
        };
        let known = self.samplers.contains_key(&fields.sampler);
        if known || self.samplers.len() < SAMPLERS_MAX {
            self.samplers.insert(fields.sampler, rate);
        }
    }

    /// Adds the flows of a record, with the rate of their sampler.
    fn push(&self, records: &mut Vec<Record>, fields: &Fields, clock: Clock) {
        let own = self.samplers.get(&fields.sampler);
        // A router with one sampler does not name it in every record.
        let only = match self.samplers.len() {
            1 => self.samplers.values().next(),
            _ => self.samplers.get(&None),
        };
        let sampling = own.or(only).copied();
        let clock = Clock {
            began: fields.began.or(clock.began),
            ..clock
        };
        let read = fields.records(clock).map(|record| Record {
            sampling: record.sampling.or(sampling),
            ..record
        });
        records.extend(read);
    }
}

fn v5(packet: &V5) -> Message {
    let header = &packet.header;
    let ago = |uptime: u32| {
        let ago = header.sys_up_time.wrapping_sub(uptime).cast_signed();
        u64::try_from(ago).unwrap_or(0)
    };
    let sampling = u32::from(header.sampling_interval & V5_INTERVAL);
    let records = packet.flowsets.iter().map(|flow| Record {
        source: flow.src_addr.into(),
        destination: flow.dst_addr.into(),
        protocol: flow.protocol_number,
        ports: (flow.src_port, flow.dst_port),
        bytes: flow.d_octets.into(),
        packets: flow.d_pkts.into(),
        sampling: Some(sampling).filter(|sampling| *sampling > 0),
        begun_ago: ago(flow.first),
        ended_ago: ago(flow.last),
    });
    Message {
        records: records.collect(),
        sequence: header.flow_sequence,
        advances: [Some(u32::from(header.count)), None],
        waiting: 0,
        is_whole: true,
    }
}

fn v9_fields(pairs: &[V9FieldPair]) -> Fields {
    let mut fields = Fields::default();
    for (field, value) in pairs {
        fields.put_iana(Iana::from(u16::from(*field)), value);
    }
    fields
}

fn ipfix_fields(records: &[Vec<IpfixFieldPair>]) -> Vec<Fields> {
    let fields = |pairs: &Vec<IpfixFieldPair>| {
        let mut fields = Fields::default();
        for (field, value) in pairs {
            fields.put(field, value);
        }
        fields
    };
    records.iter().map(fields).collect()
}

/// Whether the sets behind a header end where the datagram does. The parser leaves out what does
/// not.
fn has_whole_sets(datagram: &[u8], header: usize) -> bool {
    let mut rest = datagram.get(header..).unwrap_or_default();
    while rest.len() >= SET_HEADER {
        let length = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        match rest.get(length..) {
            Some(behind) if length >= SET_HEADER => rest = behind,
            _ => return false,
        }
    }
    rest.is_empty()
}
