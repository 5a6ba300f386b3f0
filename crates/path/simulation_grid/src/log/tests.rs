use super::super::tests::scenario;
use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use netpath::PathSpec;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::{Block, PcapNgReader};
use sim::Work;
use units::Bytes;

use super::*;

fn short() -> Scenario {
    Scenario {
        duration: Span::from_secs(2),
        ..scenario()
    }
}

#[test]
fn lines_are_in_order_of_time_and_say_what_was_sent_and_received() {
    let mut text = Vec::new();
    log(&short(), LogForm::Text, &AtomicBool::new(false), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let times: Vec<f64> = text
        .lines()
        .map(|line| line.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(times.is_sorted() && times.len() > 100, "{}", times.len());
    assert!(
        text.contains(" sent ") && text.contains(" received "),
        "{text:.300}"
    );
}

#[test]
fn a_log_that_was_stopped_says_where() {
    let error = log(
        &short(),
        LogForm::Text,
        &AtomicBool::new(true),
        &mut Vec::new(),
    )
    .unwrap_err();
    assert!(matches!(error, LogError::Cancelled { at: Span::ZERO }));
}

fn capture(scenario: &Scenario) -> Vec<u8> {
    let mut file = Vec::new();
    log(
        scenario,
        LogForm::Capture,
        &AtomicBool::new(false),
        &mut file,
    )
    .unwrap();
    file
}

fn packets(file: &[u8]) -> Vec<EnhancedPacketBlock<'static>> {
    let mut reader = PcapNgReader::new(file).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap().into_owned() {
            packets.push(packet);
        }
    }
    packets
}

/// The headers, with the payload that the capture leaves out.
fn whole(packet: &EnhancedPacketBlock<'_>) -> Vec<u8> {
    let mut bytes = packet.data.to_vec();
    bytes.resize(packet.original_len as usize, 0);
    bytes
}

fn ip_and_tcp(bytes: &[u8]) -> (etherparse::Ipv4Header, etherparse::TcpHeader) {
    let packet = SlicedPacket::from_ip(bytes).unwrap();
    match (packet.net, packet.transport) {
        (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) => {
            let (ip, header) = (ip.header().to_header(), tcp.to_header());
            let sum = header.calc_checksum_ipv4(&ip, tcp.payload()).unwrap();
            assert_eq!(header.checksum, sum);
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            (ip, header)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_capture_has_every_segment_sent_and_every_one_sent_again() {
    let scenario = short();
    let result = sim::run(&scenario).unwrap();
    let (mut seen, mut again, mut last) = (std::collections::BTreeSet::new(), 0, 0);
    for packet in packets(&capture(&scenario)) {
        let bytes = whole(&packet);
        let (ip, tcp) = ip_and_tcp(&bytes);
        let at = packet.timestamp.as_nanos();
        assert!(at >= last && packet.data.len() <= 120, "{packet:?}");
        last = at;
        if ip.source == [10, 1, 0, 1] && !tcp.syn {
            assert_eq!(packet.original_len, 1500);
            assert_eq!((tcp.sequence_number - 1) % 1448, 0);
            again += u64::from(!seen.insert(tcp.sequence_number));
        }
    }
    assert_eq!(again, result.streams[0].retransmitted);
    assert!(again > 0 && seen.len() > 100, "{again} of {}", seen.len());
}

#[test]
fn acknowledgements_end_with_the_last_byte_and_tell_what_is_missing() {
    let scenario = Scenario {
        work: Work::PerStream(Bytes::new(1_000_001)),
        ..scenario()
    };
    let (mut acknowledged, mut blocks) = (0, 0);
    for packet in packets(&capture(&scenario)) {
        let (ip, tcp) = ip_and_tcp(&whole(&packet));
        if ip.source == [10, 2, 0, 1] {
            acknowledged = tcp.acknowledgment_number.max(acknowledged);
            for option in tcp.options_iterator() {
                if let TcpOptionElement::SelectiveAcknowledgement((start, end), _) = option.unwrap()
                {
                    assert!(tcp.acknowledgment_number < start && start < end);
                    blocks += 1;
                }
            }
        }
    }
    // The connection request takes the number before the first byte.
    assert_eq!(acknowledged, 1_000_002);
    assert!(blocks > 0);
}

#[test]
fn classes_marks_and_datagrams_are_in_the_headers() {
    let path = "[forward]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\n\
                queue = { kind = \"red\", min = \"5packets\", max = \"15packets\", limit = \
                \"50packets\", ecn = true }\n[[cross]]\nkind = \"on-off\"\nsources = 2\nrate = \
                \"2Mbit/s\"\non = \"100ms\"\noff = \"100ms\"\n";
    let mut scenario = short();
    scenario.path = PathSpec::from_toml("red", path).unwrap();
    scenario.tcp.ecn = true;
    scenario.class = netpath::Class::Priority;
    let (mut datagrams, mut echoes, mut reduced) = (0, 0, 0);
    for packet in packets(&capture(&scenario)) {
        let bytes = whole(&packet);
        if bytes[9] == 17 {
            assert_eq!(bytes[12..16], [10, 1, 0, 2]);
            datagrams += 1;
            continue;
        }
        let (ip, tcp) = ip_and_tcp(&bytes);
        assert_eq!(ip.dscp, etherparse::IpDscp::EF);
        echoes += u32::from(tcp.ece && !tcp.syn);
        reduced += u32::from(tcp.cwr && !tcp.syn);
    }
    assert!(
        datagrams > 0 && echoes > 0 && reduced > 0,
        "{datagrams} {echoes} {reduced}"
    );
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let other = Scenario { seed: 2, ..short() };
    assert!(capture(&short()) == capture(&short()));
    assert!(capture(&short()) != capture(&other));
}
