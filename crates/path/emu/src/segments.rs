//! Cuts a super-segment of the kernel into the packets that a network card would send.
//!
//! What changes from packet to packet is what the kernel's own segmentation changes
//! (`inet_gso_segment`, `tcp_gso_segment`, `__udp_gso_segment`): length and identification of the
//! IP header, sequence number, FIN and PSH of the last, CWR of the first, the length of UDP. The
//! payload is not copied: the packets share it.

use std::ops::Range;
use std::sync::Arc;

use crate::ip_packet::{
    IPV4_HEADER, IPV6_HEADER, IpPacket, Slice, TCP, UDP_CHECKSUM, Unfinished, ones_add, ones_sum,
};
use crate::offload::{Kind, Offload};

pub(crate) const FIN: u8 = 0x01;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const CWR: u8 = 0x80;
/// Where TCP's header has its flags.
pub(crate) const FLAGS: usize = 13;
pub(crate) const TCP_CHECKSUM: u16 = 16;
const UDP: u8 = 17;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;

/// A super-segment that is being cut; its packets come in order.
#[derive(Debug)]
pub(crate) struct Segments {
    buffer: Arc<Vec<u8>>,
    /// Where the IP header begins in the buffer, its payload, and its end.
    begin: usize,
    payload: usize,
    end: usize,
    /// Bytes before TCP's or UDP's header.
    ip: usize,
    size: usize,
    protocol: u8,
    number: usize,
}

impl Segments {
    /// Of the IP packet at `at` in `buffer`. `None` if it is not what `offload` says.
    pub(crate) fn of(buffer: Arc<Vec<u8>>, at: Range<usize>, offload: &Offload) -> Option<Self> {
        let ((kind, size), start) = (offload.segments?, offload.unfinished?.start);
        let (ip, packet) = (usize::from(start), buffer.get(at.clone())?);
        let minimum = match (packet.first()? >> 4, kind) {
            (4, Kind::TcpV4 | Kind::Udp) => IPV4_HEADER,
            (6, Kind::TcpV6 | Kind::Udp) => IPV6_HEADER,
            _ => return None,
        };
        let transport = packet.get(ip..)?;
        let (protocol, header) = match kind {
            Kind::Udp => (UDP, UDP_HEADER),
            _ => (TCP, usize::from(transport.get(12)? >> 4) * 4),
        };
        let is_whole = ip >= minimum
            && (kind == Kind::Udp || header >= TCP_HEADER)
            && transport.len() > header
            && size > 0;
        is_whole.then(|| Segments {
            begin: at.start,
            payload: at.start + ip + header,
            end: at.end,
            ip,
            size: size.into(),
            protocol,
            number: 0,
            buffer,
        })
    }

    /// The next packet, with a buffer of `spare` for its headers; `None` after the last.
    pub(crate) fn next(&mut self, spare: &mut Vec<Vec<u8>>) -> Option<IpPacket> {
        let from = self.payload + self.number * self.size;
        if from >= self.end {
            return None;
        }
        let to = (from + self.size).min(self.end);
        let mut head = spare.pop().unwrap_or_default();
        head.clear();
        head.extend_from_slice(&self.buffer[self.begin..self.payload]);
        if self.protocol == TCP {
            self.set_tcp(&mut head, to == self.end);
        }
        set_lengths(
            &mut head,
            self.ip,
            self.protocol,
            to - from,
            self.number as u16,
        );
        self.number += 1;
        let slice = Slice {
            buffer: Arc::clone(&self.buffer),
            from,
            to,
        };
        Some(IpPacket {
            head,
            payload: Some(slice),
            unfinished: Some(Unfinished {
                start: self.ip as u16,
                offset: checksum_offset(self.protocol),
            }),
        })
    }

    fn set_tcp(&self, head: &mut [u8], is_last: bool) {
        let tcp = &mut head[self.ip..];
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let sequence = sequence.wrapping_add((self.number * self.size) as u32);
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        if !is_last {
            tcp[FLAGS] &= !(FIN | PSH);
        }
        if self.number > 0 {
            tcp[FLAGS] &= !CWR;
        }
    }
}

fn checksum_offset(protocol: u8) -> u16 {
    if protocol == TCP {
        TCP_CHECKSUM
    } else {
        UDP_CHECKSUM
    }
}

/// Sets what depends on the length in headers of which the first `ip` bytes are of IP and that
/// carry `payload` bytes, and adds `number` to the identification.
pub(crate) fn set_lengths(head: &mut [u8], ip: usize, protocol: u8, payload: usize, number: u16) {
    let total = head.len() + payload;
    let transport = (total - ip) as u16;
    let addresses = if head[0] >> 4 == 4 {
        set_word(head, 2, total as u16);
        let identification = u16::from_be_bytes([head[4], head[5]]).wrapping_add(number);
        set_word(head, 4, identification);
        set_word(head, 10, 0);
        let sum = !ones_sum(&head[..ip]);
        set_word(head, 10, sum);
        12..20
    } else {
        set_word(head, 4, (total - IPV6_HEADER) as u16);
        8..40
    };
    if protocol == UDP {
        set_word(head, ip + 4, transport);
    }
    let sum = ones_sum(&head[addresses]);
    let sum = ones_add(ones_add(sum, protocol.into()), transport);
    set_word(head, ip + usize::from(checksum_offset(protocol)), sum);
}

fn set_word(head: &mut [u8], at: usize, word: u16) {
    head[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

#[cfg(test)]
pub(crate) mod tests;
