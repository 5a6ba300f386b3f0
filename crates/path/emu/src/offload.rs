//! The header that a TUN device with segmentation offload has before each packet:
//! `virtio_net_hdr` of `linux/virtio_net.h` (virtio 1.2, section 5.1.6), in the machine's order of
//! bytes.

use crate::ip_packet::Unfinished;

/// Bytes of the header.
pub(crate) const LENGTH: usize = 10;
/// The largest IP packet that is handed over: a super-segment.
pub(crate) const PACKET_MAX: usize = 65_535;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
const UNFINISHED: u8 = 1;
const NONE: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
/// `VIRTIO_NET_HDR_GSO_UDP_L4`.
const UDP: u8 = 5;
/// The first segment says that the window was cut (CWR), the others do not.
const ECN: u8 = 0x80;

/// What a super-segment consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    TcpV4,
    TcpV6,
    Udp,
}

/// What the kernel says of a packet, or is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Offload {
    pub unfinished: Option<Unfinished>,
    /// Of a super-segment: its kind, the payload of each packet but the last, which may be shorter.
    pub segments: Option<(Kind, u16)>,
    /// Bytes of all headers of a super-segment.
    pub headers: u16,
    /// Whether its first packet has CWR.
    pub cwr: bool,
}

impl Offload {
    /// `None` of a kind that was not asked for.
    pub(crate) fn parse(bytes: &[u8; LENGTH]) -> Option<Self> {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let kind = match bytes[1] & !ECN {
            NONE => None,
            TCP_V4 => Some(Kind::TcpV4),
            TCP_V6 => Some(Kind::TcpV6),
            UDP => Some(Kind::Udp),
            _ => return None,
        };
        let unfinished = Unfinished {
            start: word(6),
            offset: word(8),
        };
        Some(Offload {
            unfinished: (bytes[0] & UNFINISHED != 0).then_some(unfinished),
            segments: kind.map(|kind| (kind, word(4))),
            headers: word(2),
            cwr: bytes[1] & ECN != 0,
        })
    }

    pub(crate) fn bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let mut put = |at: usize, word: u16| bytes[at..at + 2].copy_from_slice(&word.to_ne_bytes());
        if let Some(Unfinished { start, offset }) = self.unfinished {
            put(6, start);
            put(8, offset);
        }
        if let Some((_, size)) = self.segments {
            put(2, self.headers);
            put(4, size);
        }
        bytes[0] = if self.unfinished.is_some() {
            UNFINISHED
        } else {
            0
        };
        let kind = self.segments.map_or(NONE, |(kind, _)| match kind {
            Kind::TcpV4 => TCP_V4,
            Kind::TcpV6 => TCP_V6,
            Kind::Udp => UDP,
        });
        bytes[1] = if self.cwr { kind | ECN } else { kind };
        bytes
    }
}
