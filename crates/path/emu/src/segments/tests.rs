use super::*;
use link::Packet;

/// SplitMix64.
pub(crate) struct Draw(pub u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % bound
    }
}

/// What a host sends.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub v6: bool,
    pub udp: bool,
    pub class: u8,
    pub identification: u16,
    pub sequence: u32,
    pub flags: u8,
    pub options: Vec<u8>,
    pub payload: Vec<u8>,
    pub size: u16,
}

impl Sent {
    pub(crate) fn draw(draw: &mut Draw) -> Self {
        // Mostly small, for time.
        let most = if draw.below(32) == 0 { 1460 } else { 40 };
        let size = 1 + draw.below(most) as u16;
        let packets = 2 + draw.below(12);
        let length = 1 + u64::from(size) * (packets - 1) + draw.below(size.into());
        let word = draw.below(u64::MAX);
        Sent {
            v6: draw.below(2) == 0,
            udp: draw.below(4) == 0,
            class: draw.below(256) as u8,
            identification: draw.below(1 << 16) as u16,
            sequence: draw.below(1 << 32) as u32,
            // ACK, and any of FIN, PSH, ECE and CWR.
            flags: 0x10 | draw.below(256) as u8 & 0b1100_1001,
            options: vec![draw.below(256) as u8; 4 * draw.below(11) as usize],
            payload: (0..length).map(|at| (word >> (at % 57)) as u8).collect(),
            size,
        }
    }

    fn transport(&self) -> usize {
        if self.udp { 8 } else { 20 + self.options.len() }
    }

    pub(crate) fn ip(&self) -> usize {
        if self.v6 { 40 } else { 20 }
    }

    /// The packet, field by field (RFC 791, 8200, 9293, 768), checksums and all.
    pub(crate) fn build(&self) -> Vec<u8> {
        let length = (self.transport() + self.payload.len()) as u16;
        let protocol = if self.udp { 17 } else { 6 };
        let mut packet = Vec::new();
        if self.v6 {
            packet.extend([0x60 | self.class >> 4, self.class << 4, 1, 2]);
            packet.extend(length.to_be_bytes());
            packet.extend([protocol, 64]);
            packet.extend((0..32).map(|at| at * 7));
        } else {
            packet.extend([0x45, self.class]);
            packet.extend((length + 20).to_be_bytes());
            packet.extend(self.identification.to_be_bytes());
            packet.extend([0x40, 0, 64, protocol, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2]);
            let sum = !ones_sum(&packet);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        packet.extend([0x12, 0x34, 0x14, 0x51]);
        if self.udp {
            packet.extend(length.to_be_bytes());
            packet.extend([0, 0]);
        } else {
            packet.extend(self.sequence.to_be_bytes());
            packet.extend([9, 8, 7, 6, (self.transport() as u8) << 2, self.flags, 1, 0]);
            packet.extend([0, 0, 0, 0]);
            packet.extend(&self.options);
        }
        packet.extend(&self.payload);
        let addresses = if self.v6 { 8..40 } else { 12..20 };
        let mut covered = packet[addresses].to_vec();
        covered.extend([0, protocol]);
        covered.extend(length.to_be_bytes());
        covered.extend(&packet[self.ip()..]);
        let sum = match !ones_sum(&covered) {
            0 if self.udp => u16::MAX,
            sum => sum,
        };
        let at = self.ip() + if self.udp { 6 } else { 16 };
        packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// The packets that a host without offload sends in its place.
    pub(crate) fn alone(&self) -> Vec<Vec<u8>> {
        let parts = self.payload.chunks(self.size.into());
        let last = parts.len() - 1;
        let part = |(number, payload): (usize, &[u8])| {
            let mut flags = self.flags;
            flags &= if number < last { !(FIN | PSH) } else { 0xff };
            flags &= if number > 0 { !CWR } else { 0xff };
            let sequence = (number * usize::from(self.size)) as u32;
            let packet = Sent {
                identification: self.identification.wrapping_add(number as u16),
                sequence: self.sequence.wrapping_add(sequence),
                flags,
                payload: payload.to_vec(),
                ..self.clone()
            };
            packet.build()
        };
        parts.enumerate().map(part).collect()
    }

    pub(crate) fn offload(&self) -> Offload {
        let kind = match (self.udp, self.v6) {
            (true, _) => Kind::Udp,
            (false, true) => Kind::TcpV6,
            (false, false) => Kind::TcpV4,
        };
        Offload {
            unfinished: Some(Unfinished {
                start: self.ip() as u16,
                offset: if self.udp { 6 } else { 16 },
            }),
            segments: Some((kind, self.size)),
            headers: (self.ip() + self.transport()) as u16,
            cwr: !self.udp && self.flags & CWR != 0,
        }
    }

    pub(crate) fn cut(&self) -> Vec<IpPacket> {
        cut(&self.build(), &self.offload())
    }
}

pub(crate) fn cut(packet: &[u8], offload: &Offload) -> Vec<IpPacket> {
    let buffer = Arc::new(packet.to_vec());
    let mut segments = Segments::of(buffer, 0..packet.len(), offload).unwrap();
    std::iter::from_fn(|| segments.next(&mut Vec::new())).collect()
}

pub(crate) fn finished(mut packet: IpPacket) -> Vec<u8> {
    let size = packet.size().get();
    packet.finish();
    assert_eq!(packet.head.len() as u64, size);
    packet.head
}

#[test]
fn super_segments_are_cut_into_what_a_host_without_offload_sends() {
    let mut draw = Draw(1128);
    for number in 0..100_000 {
        let sent = Sent::draw(&mut draw);
        let packets: Vec<Vec<u8>> = sent.cut().into_iter().map(finished).collect();
        assert!(packets == sent.alone(), "{number} of seed 1128: {sent:?}");
    }
}

#[test]
fn the_header_of_the_device_is_read_as_it_was_written() {
    let mut draw = Draw(1129);
    for _ in 0..1000 {
        let offload = Sent::draw(&mut draw).offload();
        assert_eq!(Offload::parse(&offload.bytes()), Some(offload));
    }
    assert_eq!(Offload::parse(&[0; 10]), Some(Offload::default()));
    // Fragments of UDP (UFO), which were not asked for.
    assert_eq!(Offload::parse(&[1, 3, 0, 0, 0, 0, 0, 0, 0, 0]), None);
}

#[test]
fn what_is_not_what_its_header_says_is_not_cut() {
    let mut draw = Draw(1130);
    for _ in 0..20_000 {
        let sent = Sent::draw(&mut draw);
        let (mut packet, mut offload) = (sent.build(), sent.offload());
        match draw.below(5) {
            0 => packet.truncate(draw.below(61) as usize),
            1 => offload.unfinished.as_mut().unwrap().start = draw.below(1 << 16) as u16,
            2 => offload.segments.as_mut().unwrap().1 = draw.below(3) as u16,
            3 => packet[draw.below(60) as usize % sent.ip()] ^= 0x30,
            _ => packet[sent.ip() + 8..].fill(draw.below(256) as u8),
        }
        let end = packet.len();
        let Some(mut segments) = Segments::of(Arc::new(packet), 0..end, &offload) else {
            continue;
        };
        while let Some(packet) = segments.next(&mut Vec::new()) {
            assert!(packet.payload.is_some());
        }
    }
}
