//! Any bytes as datagrams of round-trip probes, and as what routers quote of ours in ICMP messages:
//! refused, or read as what they say.

use measure_protocol::EchoToken;
use measure_protocol::echo::{ECHO_LENGTH, Echo, EchoKind};
use probe_net::fuzzing::{quoted_echo, read_icmp_answer};

use crate::words::Words;

const TOKEN: EchoToken = EchoToken(0x0123_4567_89AB_CDEF);

/// The check of this target.
pub fn check(bytes: &[u8]) {
    if let Ok(echo) = Echo::decode(bytes) {
        assert_eq!(echo.encode(), *bytes);
        let reply = Echo::decode(&echo.reply().encode()).expect("one of ours");
        assert_eq!((reply.kind, reply.token), (EchoKind::Reply, echo.token));
    }
    if let Ok(request) = Echo::decode_padded(bytes) {
        assert!(bytes.len() >= ECHO_LENGTH && request.kind == EchoKind::Request);
        assert!(request.reply().encode().len() <= bytes.len(), "amplified");
    }
    if let Some(sequence) = Echo::quoted(TOKEN, bytes) {
        let ours = Echo::request(TOKEN, sequence, 0).encode();
        assert_eq!(ours[8..24], bytes[8..24]);
    }
    icmp(bytes);
}

/// The first byte decides how the rest came; no number is later than the latest that was sent,
/// unless it is quoted whole.
fn icmp(bytes: &[u8]) {
    let mut words = Words::new(bytes);
    let choice = words.byte();
    let latest = u64::from(words.byte()) << (choice >> 2 & 31);
    let is_v6 = choice & 1 == 1;
    let identifier = (choice & 2 == 2).then_some(TOKEN.0 as u16);
    let packet = words.rest();
    if let Some(number) = quoted_echo(is_v6, TOKEN, identifier, packet, latest) {
        let is_whole = packet.get(16..24) == Some(&number.to_be_bytes());
        assert!(is_whole || number <= latest, "{number} of {latest}");
    }
    if let Some(number) = read_icmp_answer(is_v6, TOKEN, packet) {
        let token = TOKEN.0.to_be_bytes();
        let whole = [token, number.to_be_bytes()].concat();
        assert!(packet.windows(16).any(|part| part == whole));
    }
}
