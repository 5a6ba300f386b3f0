//! Writes datagrams of all protocols, from their specifications.

/// Numbers, each with its width in bytes.
pub fn bytes(parts: &[(u64, usize)]) -> Vec<u8> {
    let part = |(number, width): &(u64, usize)| number.to_be_bytes()[8 - width..].to_vec();
    parts.iter().flat_map(part).collect()
}

pub fn address(text: &str) -> (u64, usize) {
    let address: std::net::Ipv4Addr = text.parse().unwrap();
    (u32::from(address).into(), 4)
}

/// A flow of version 5 and of the templates below: addresses, ports, protocol, bytes, packets,
/// uptime at its first and last packet.
#[derive(Clone, Copy)]
pub struct Flow {
    pub ends: (&'static str, &'static str),
    pub ports: (u16, u16),
    pub bytes: u64,
    pub packets: u64,
    pub times: (u64, u64),
}

/// Milliseconds since the router began, in every header.
pub const UPTIME: u64 = 10_000_000;

pub fn v5(sequence: u64, sampling: u64, flows: &[Flow]) -> Vec<u8> {
    let count = flows.len() as u64;
    let head = [
        (5, 2),
        (count, 2),
        (UPTIME, 4),
        (1_800_000_000, 4),
        (0, 4),
        (sequence, 4),
        (0, 2),
        (0x4000 | sampling, 2),
    ];
    let mut datagram = bytes(&head);
    for flow in flows {
        datagram.extend(bytes(&[
            address(flow.ends.0),
            address(flow.ends.1),
            (0, 8),
            (flow.packets, 4),
            (flow.bytes, 4),
            (flow.times.0, 4),
            (flow.times.1, 4),
            (flow.ports.0.into(), 2),
            (flow.ports.1.into(), 2),
            (0, 2),
            (6, 1),
            (0, 1),
            (0, 8),
        ]));
    }
    datagram
}

/// Fields of NetFlow 9 by number and width: addresses, ports, protocol, bytes, packets, times.
pub const V9_FIELDS: [(u64, u64); 9] = [
    (8, 4),
    (12, 4),
    (7, 2),
    (11, 2),
    (4, 1),
    (1, 8),
    (2, 4),
    (22, 4),
    (21, 4),
];

/// The same with times since 1970, as IPFIX has them.
pub const IPFIX_FIELDS: [(u64, u64); 9] = [
    (8, 4),
    (12, 4),
    (7, 2),
    (11, 2),
    (4, 1),
    (1, 8),
    (2, 4),
    (152, 8),
    (153, 8),
];

/// The values of such fields.
pub fn record(flow: &Flow, time: usize) -> Vec<u8> {
    bytes(&[
        address(flow.ends.0),
        address(flow.ends.1),
        (flow.ports.0.into(), 2),
        (flow.ports.1.into(), 2),
        (6, 1),
        (flow.bytes, 8),
        (flow.packets, 4),
        (flow.times.0, time),
        (flow.times.1, time),
    ])
}

pub fn set(id: u64, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = 4 + body.len() + padding;
    let mut set = bytes(&[(id, 2), (length as u64, 2)]);
    set.extend(body);
    set.extend(vec![0; padding]);
    set
}

pub fn template(kind: u64, id: u64, fields: &[(u64, u64)]) -> Vec<u8> {
    let mut body = bytes(&[(id, 2), (fields.len() as u64, 2)]);
    for (field, length) in fields {
        body.extend(bytes(&[(*field, 2), (*length, 2)]));
    }
    set(kind, &body)
}

/// `count`: of records, with templates.
pub fn v9(sequence: u64, source: u64, count: u64, sets: &[Vec<u8>]) -> Vec<u8> {
    let head = [
        (9, 2),
        (count, 2),
        (UPTIME, 4),
        (1_800_000_000, 4),
        (sequence, 4),
        (source, 4),
    ];
    [bytes(&head), sets.concat()].concat()
}

pub fn ipfix(sequence: u64, domain: u64, sets: &[Vec<u8>]) -> Vec<u8> {
    let sets = sets.concat();
    let length = 16 + sets.len() as u64;
    let head = [
        (10, 2),
        (length, 2),
        (1_800_000_000, 4),
        (sequence, 4),
        (domain, 4),
    ];
    [bytes(&head), sets].concat()
}

/// A datagram of sFlow with samples, each with its kind.
pub fn sflow(sequence: u64, samples: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut datagram = bytes(&[
        (5, 4),
        (1, 4),
        address("192.0.2.254"),
        (0, 4),
        (sequence, 4),
    ]);
    datagram.extend(bytes(&[(77, 4), (samples.len() as u64, 4)]));
    for (kind, body) in samples {
        datagram.extend(block(*kind, body));
    }
    datagram
}

fn block(kind: u64, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = (body.len() + padding) as u64;
    let mut block = bytes(&[(kind, 4), (length, 4)]);
    block.extend(body);
    block.extend(vec![0; padding]);
    block
}

/// A sample of the short form, or of the long one, with records of their kinds.
pub fn flow_sample(is_expanded: bool, rate: u64, records: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let count = records.len() as u64;
    let mut body = match is_expanded {
        false => bytes(&[(1, 4), (3, 4), (rate, 4), (9000, 4), (0, 4), (1, 4), (2, 4)]),
        true => bytes(&[
            (1, 4),
            (0, 4),
            (3, 4),
            (rate, 4),
            (9000, 4),
            (0, 4),
            (0, 4),
            (1, 4),
            (0, 4),
            (2, 4),
        ]),
    };
    body.extend(bytes(&[(count, 4)]));
    for (kind, record) in records {
        body.extend(block(*kind, record));
    }
    body
}

/// The first bytes of a frame of so many.
pub fn raw_header(protocol: u64, frame: u64, header: &[u8]) -> Vec<u8> {
    let mut body = bytes(&[(protocol, 4), (frame, 4), (4, 4), (header.len() as u64, 4)]);
    body.extend(header);
    body
}
