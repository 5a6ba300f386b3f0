use super::*;
use crate::segments::tests::{Draw, Sent, cut, finished};
use link::{Chain, Element, Packet};
use netpath::{PathSpec, Way};

/// What the receiving kernel makes of a group: the packets in it.
fn given(group: &mut Group) -> Vec<Vec<u8>> {
    let bytes = group.hand_over(|parts| parts.iter().flat_map(|part| part.to_vec()).collect());
    let bytes: Vec<u8> = bytes.unwrap_or_default();
    group.take();
    let Some((header, packet)) = bytes.split_first_chunk() else {
        return Vec::new();
    };
    let offload = Offload::parse(header).unwrap();
    match offload.segments {
        Some(_) => cut(packet, &offload).into_iter().map(finished).collect(),
        None => vec![finished(IpPacket {
            unfinished: offload.unfinished,
            ..IpPacket::from(packet.to_vec())
        })],
    }
}

/// Groups of `packets`, each by the packets in it.
fn groups(packets: impl IntoIterator<Item = (Time, IpPacket)>) -> Vec<Vec<Vec<u8>>> {
    let (mut group, mut all) = (Group::default(), Vec::new());
    for (at, packet) in packets {
        if let Some(packet) = group.join(packet, at) {
            all.push(given(&mut group));
            assert!(group.join(packet, at).is_none());
        }
    }
    all.push(given(&mut group));
    all
}

fn at_once(packets: Vec<IpPacket>) -> Vec<(Time, IpPacket)> {
    packets
        .into_iter()
        .map(|packet| (Time::ZERO, packet))
        .collect()
}

#[test]
fn what_is_handed_over_together_is_what_came_packet_by_packet() {
    let mut draw = Draw(1131);
    let (mut packets, mut together) = (0, 0);
    for number in 0..20_000 {
        let mut sent = Sent::draw(&mut draw);
        let mut cuts = sent.cut();
        // What follows in the same stream, and sometimes does not quite.
        sent.sequence = sent.sequence.wrapping_add(sent.payload.len() as u32);
        sent.identification = sent.identification.wrapping_add(cuts.len() as u16);
        sent.flags ^= draw.below(8) as u8 & 1;
        cuts.extend(sent.cut());
        for _ in 0..draw.below(3) {
            let at = draw.below(cuts.len() as u64) as usize;
            match draw.below(5) {
                0 => drop(cuts.remove(at)),
                1 => cuts[at].mark_congestion(),
                2 => cuts[at].corrupt(draw.below(u64::MAX)),
                3 => cuts[at].count_down(),
                _ => cuts.swap(at, 0),
            }
        }
        let expected: Vec<Vec<u8>> = cuts.iter().map(copy).map(finished).collect();
        let groups = groups(at_once(cuts));
        (packets, together) = (packets + expected.len(), together + groups.len());
        assert!(
            groups.concat() == expected,
            "{number} of seed 1131: {sent:?}"
        );
    }
    // Three in four are TCP, and are put together.
    assert!(
        packets > 2 * together,
        "{packets} packets in {together} groups"
    );
}

fn copy(packet: &IpPacket) -> IpPacket {
    IpPacket {
        head: packet.head.clone(),
        payload: packet.payload.clone(),
        unfinished: packet.unfinished,
    }
}

/// Eight packets of one stream; the last has PSH.
fn stream() -> Sent {
    let mut sent = Sent::draw(&mut Draw(7));
    sent.udp = false;
    sent.flags = 0x10 | PSH;
    sent.class = 0b10;
    sent.size = 1448;
    sent.payload = vec![0xa5; 8 * 1448];
    sent
}

fn lengths(packets: Vec<(Time, IpPacket)>) -> Vec<usize> {
    groups(packets).iter().map(Vec::len).collect()
}

#[test]
fn groups_end_at_gaps_and_marks_and_other_headers() {
    for v6 in [false, true] {
        let sent = Sent { v6, ..stream() };
        let cut = |change: &dyn Fn(&mut Vec<IpPacket>)| {
            let mut packets = sent.cut();
            change(&mut packets);
            lengths(at_once(packets))
        };
        assert_eq!(cut(&|_| {}), [8]);
        assert_eq!(cut(&|packets| drop(packets.remove(3))), [3, 4]);
        assert_eq!(cut(&|packets| packets[3].mark_congestion()), [3, 1, 4]);
        assert_eq!(cut(&|packets| packets[3].count_down()), [3, 1, 4]);
        assert_eq!(cut(&|packets| packets.swap(3, 4)), [3, 1, 1, 3]);
        // FIN, PSH, SYN, RST and URG of a packet, CWR and ECE.
        let ends = [(FIN, [4, 4].as_slice()), (PSH, &[4, 4]), (CWR, &[3, 5])];
        let alone = [
            (SYN, [3, 1, 4].as_slice()),
            (RST, &[3, 1, 4]),
            (URG, &[3, 1, 4]),
        ];
        for (flag, expected) in ends
            .iter()
            .chain(&alone)
            .chain(&[(0x40, [3, 1, 4].as_slice())])
        {
            let flagged = cut(&|packets| packets[3].head[sent.ip() + FLAGS] |= flag);
            assert_eq!(flagged, *expected, "{flag:#x}");
        }
        // Acknowledgement, window, an option.
        for at in [11, 15, 20]
            .iter()
            .filter(|at| **at < 20 + sent.options.len())
        {
            let other = cut(&|packets| packets[3].head[sent.ip() + at] ^= 1);
            assert_eq!(other, [3, 1, 4], "{at}");
        }
    }
}

#[test]
fn groups_are_of_packets_that_come_within_64_us() {
    let apart = |micros: u64| {
        let time = |number| Time::ZERO + Span::from_micros(micros * number);
        lengths((0..).map(time).zip(stream().cut()).collect())
    };
    assert_eq!(apart(1), [8]);
    assert_eq!(apart(12), [6, 2]);
    assert_eq!(apart(65), [1; 8]);
}

#[test]
fn super_segments_of_one_stream_come_together_up_to_64_kb() {
    let mut sent = stream();
    sent.flags = 0x10;
    let mut packets = Vec::new();
    for _ in 0..12 {
        packets.extend(sent.cut());
        sent.sequence = sent.sequence.wrapping_add(8 * 1448);
        sent.identification = sent.identification.wrapping_add(8);
    }
    assert_eq!(lengths(at_once(packets)), [45, 45, 6]);
}

const PATHS: [&str; 4] = [
    "queue = { kind = \"drop-tail\", limit = \"7packets\" }",
    "queue = { kind = \"drop-tail\", limit = \"40packets\" }\n\
     loss = { kind = \"random\", rate = 0.05 }\ncorruption = 0.05",
    "queue = { kind = \"red\", limit = \"60packets\", min = \"5packets\", max = \"30packets\", \
     ecn = true }",
    "queue = { kind = \"codel\", limit = \"60packets\", ecn = true }",
];

#[test]
fn a_path_decides_of_each_packet_as_if_it_had_come_alone() {
    for text in PATHS {
        let text = format!("[forward]\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\n{text}\n");
        let path = PathSpec::from_toml("test", &text).unwrap();
        let mut cut_here: Chain<IpPacket> = Chain::new(&path, Way::Forward, 5);
        let mut alone: Chain<IpPacket> = Chain::new(&path, Way::Forward, 5);
        let (mut draw, mut now) = (Draw(1132), Time::ZERO);
        let mut out: Vec<(Time, IpPacket)> = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..5_000 {
            now += Span::from_nanos(draw.below(2_000_000));
            while let Some(given) = cut_here.poll_timed(now) {
                out.push(given);
            }
            while let Some((at, packet)) = alone.poll_timed(now) {
                expected.push((at, packet.head));
            }
            let sent = Sent::draw(&mut draw);
            for (one, other) in sent.cut().into_iter().zip(sent.alone()) {
                let other = alone.offer(IpPacket::from(other), now);
                assert_eq!(cut_here.offer(one, now), other);
            }
        }
        let times = |(at, packet): &(Time, IpPacket)| (*at, finished(copy(packet)));
        assert!(out.iter().map(times).eq(expected.iter().cloned()), "{text}");
        let (one, other) = (cut_here.counters().next(), alone.counters().next());
        assert_eq!(one, other);
        let counters = one.unwrap().0;
        assert!(
            counters.offered.packets > expected.len() as u64,
            "{counters:?}"
        );
        let packets: Vec<Vec<u8>> = expected.into_iter().map(|(_, packet)| packet).collect();
        assert!(groups(out).concat() == packets, "{text}");
    }
}
