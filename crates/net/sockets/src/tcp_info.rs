//! `TCP_INFO`, read by offset so that older and newer kernels both serve.
//!
//! The kernel says how many bytes it filled in; fields behind that are absent. Offsets are those of
//! `struct tcp_info` in Linux's `include/uapi/linux/tcp.h`, which only ever grows at its end.

use std::io;
use std::net::TcpStream;

use observe::TcpSample;
use socket2::SockRef;
use units::{Bytes, Rate, Span, Time};

use crate::options::get_bytes;

/// Room for kernels to come: 6.18 fills 280 bytes.
pub(crate) const BUFFER: usize = 512;

const SSTHRESH_UNSET: u32 = 0x7FFF_FFFF;
const MIN_RTT_UNSET: u32 = u32::MAX;

/// `tcpi_state` of a connection that is set up, and of one that is being closed.
const SET_UP: [u8; 6] = [1, 4, 5, 8, 9, 11];
/// Bits of `tcpi_options`: `TCPI_OPT_WSCALE` and `TCPI_OPT_ECN`.
const OPTION_SCALING: u8 = 4;
const OPTION_ECN: u8 = 8;

/// Reads the state of a connection; of multipath TCP that of its first subflow alone, and
/// [`multipath::sample`](crate::multipath::sample) that of all.
///
/// # Errors
/// When the socket is no longer a TCP connection.
pub fn read(socket: &TcpStream, at: Time) -> io::Result<TcpSample> {
    let mut buffer = [0u8; BUFFER];
    let socket = SockRef::from(socket);
    let length = get_bytes(&socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut buffer)?;
    Ok(parse(buffer.get(..length).unwrap_or_default(), at))
}

/// A structure as the kernel fills it, of whatever length.
pub(crate) fn parse(info: &[u8], at: Time) -> TcpSample {
    let word = |offset| word(info, offset);
    let long = |offset| long(info, offset);
    let micros = |micros: u64| Span::from_micros(micros);
    let ecn = agreed(info, OPTION_ECN);
    TcpSample {
        at,
        rtt: word(68)
            .filter(|rtt| *rtt > 0)
            .map(|rtt| micros(rtt.into())),
        rtt_min: word(148)
            .filter(|rtt| *rtt != MIN_RTT_UNSET && *rtt > 0)
            .map(|rtt| micros(rtt.into())),
        cwnd_segments: word(80),
        ssthresh_segments: word(76).filter(|segments| *segments < SSTHRESH_UNSET),
        mss: word(16).map(|mss| Bytes::new(mss.into())),
        unacked_segments: word(24),
        peer_window: word(228).map(|window| Bytes::new(window.into())),
        bytes_acked: long(120).map(Bytes::new),
        bytes_arrived: arrived(word(192).zip(word(16)), long(120), long(200).zip(long(208))),
        bytes_received: long(128).map(Bytes::new),
        bytes_sent: long(200).map(Bytes::new),
        bytes_retransmitted: long(208).map(Bytes::new),
        retransmits: word(100),
        not_sent: word(144).map(|bytes| Bytes::new(bytes.into())),
        delivery_rate: long(160).map(|bytes| Rate::of(Bytes::new(bytes), Span::from_secs(1))),
        busy: long(168).map(micros),
        receive_window_limited: long(176).map(micros),
        send_buffer_limited: long(184).map(micros),
        reorderings: word(220),
        duplicates_reported: word(216),
        mark_echoed: word(196).filter(|_| ecn == Some(true)),
        ecn,
        window_scaling: agreed(info, OPTION_SCALING).filter(|scales| !scales),
    }
}

/// Whether both ends agreed on an option (`tcpi_options`); `None` of a connection that is not set
/// up (`tcpi_state`).
fn agreed(info: &[u8], option: u8) -> Option<bool> {
    let (state, options) = (info.first()?, info.get(5)?);
    SET_UP.contains(state).then_some(options & option != 0)
}

/// Segments times their payload. Segments that a pause of the program or a rate cut short make that
/// too much, and data not yet sent cannot have arrived: what was sent once is the upper bound, what
/// was acknowledged the lower one.
///
/// * `delivered`: segments and the payload of a whole one.
/// * `sent`: bytes, and those of them that were sent again.
fn arrived(
    delivered: Option<(u32, u32)>,
    acked: Option<u64>,
    sent: Option<(u64, u64)>,
) -> Option<Bytes> {
    let (segments, mss) = delivered?;
    let bytes = u64::from(segments) * u64::from(mss);
    let least = acked.unwrap_or(0);
    let most = sent.map_or(u64::MAX, |(all, again)| all.saturating_sub(again));
    Some(Bytes::new(bytes.clamp(least, most.max(least))))
}

pub(crate) fn word(info: &[u8], offset: usize) -> Option<u32> {
    let bytes = info.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

pub(crate) fn long(info: &[u8], offset: usize) -> Option<u64> {
    let bytes = info.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_live_connection_shows_what_was_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[7; 10_000]).unwrap();
        let mut got = vec![0; 10_000];
        receiver.read_exact(&mut got).unwrap();
        let at = Time::ZERO + Span::from_millis(5);
        let sent = read(&sender, at).unwrap();
        assert_eq!(sent.at, at);
        assert_eq!(sent.bytes_sent, Some(Bytes::new(10_000)));
        assert!(sent.mss.unwrap() > Bytes::new(500));
        assert!(sent.rtt_min.is_some() && sent.cwnd_segments > Some(0));
        // As hosts are set up.
        assert_eq!(sent.window_scaling, None);
        let received = read(&receiver, at).unwrap();
        assert_eq!(received.bytes_received, Some(Bytes::new(10_000)));
    }

    #[test]
    fn short_segments_do_not_count_as_whole_ones() {
        let arrived = |segments, acked, sent| {
            super::arrived(Some((segments, 1_000)), Some(acked), Some(sent)).map(Bytes::get)
        };
        assert_eq!(arrived(50, 40_000, (60_000, 5_000)), Some(50_000));
        // 50 segments of 400 bytes each, of which two were sent twice.
        assert_eq!(arrived(50, 19_000, (20_800, 800)), Some(20_000));
        // SYN and FIN count as a byte each.
        assert_eq!(arrived(3, 2_002, (2_000, 0)), Some(2_002));
        assert_eq!(super::arrived(None, Some(1), None), None);
    }

    #[test]
    fn fields_behind_the_returned_length_are_absent() {
        // Kernel 3.10 fills 104 bytes: round trip and retransmits, but no byte counters.
        let sample = parse(&[1; 104], Time::ZERO);
        assert_eq!(sample.retransmits, Some(0x0101_0101));
        assert_eq!(sample.bytes_acked, None);
        assert_eq!(sample.peer_window, None);
        assert_eq!(parse(&[], Time::ZERO), TcpSample::default());
    }

    #[test]
    fn values_that_mean_unset_are_absent() {
        let mut info = [0u8; 232];
        info[76..80].copy_from_slice(&SSTHRESH_UNSET.to_ne_bytes());
        info[148..152].copy_from_slice(&MIN_RTT_UNSET.to_ne_bytes());
        let sample = parse(&info, Time::ZERO);
        assert_eq!(sample.ssthresh_segments, None);
        assert_eq!(sample.rtt_min, None);
        assert_eq!(sample.rtt, None);
    }

    #[test]
    fn echoes_of_marks_are_those_of_connections_with_ecn() {
        let mut info = [0u8; 232];
        info[196..200].copy_from_slice(&17u32.to_ne_bytes());
        let told = |info: &[u8]| {
            let sample = parse(info, Time::ZERO);
            (sample.ecn, sample.mark_echoed)
        };
        assert_eq!(told(&info), (None, None));
        info[0] = SET_UP[0];
        assert_eq!(told(&info), (Some(false), None));
        info[5] = OPTION_ECN;
        assert_eq!(told(&info), (Some(true), Some(17)));
        assert_eq!(told(&info[..192]), (Some(true), None));
    }

    #[test]
    fn the_delivery_rate_is_given_in_bytes_per_second() {
        let mut info = [0u8; 232];
        info[160..168].copy_from_slice(&1_250_000u64.to_ne_bytes());
        let rate = parse(&info, Time::ZERO).delivery_rate.unwrap();
        assert_eq!(rate.to_string(), "10Mbit/s");
    }
}
