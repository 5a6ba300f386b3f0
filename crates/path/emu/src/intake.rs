//! Reads what a host's kernel sends, and keeps the buffers that it takes.

use std::io;
use std::sync::Arc;

use crate::ip_packet::IpPacket;
use crate::offload::{LENGTH, Offload, PACKET_MAX};
use crate::segments::Segments;
use crate::tun::Tun;

/// Super-segments from this size on are left where they were read. Smaller ones are copied, so that
/// what is on the way takes at most about four times its size of memory.
const SHARED_FROM: usize = 16_384;

/// The most buffers of each kind that are kept. What routers send comes out of a way without having
/// been read there, so that its buffers would become more and more.
const LARGE_MAX: usize = 1_024;
const SMALL_MAX: usize = 65_536;

/// What was read.
#[derive(Debug)]
pub(crate) enum Taken {
    Packet(IpPacket),
    Segments(Segments),
    /// Not a packet that a path between two hosts carries.
    Nothing,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// Of whole reads.
    large: Vec<Vec<u8>>,
    /// Of headers and single packets.
    pub small: Vec<Vec<u8>>,
}

impl Intake {
    /// Reads one packet or super-segment; `None` when there is none now.
    pub(crate) fn read(&mut self, from: &Tun) -> io::Result<Option<Taken>> {
        let large = self.large.pop();
        let mut buffer = large.unwrap_or_else(|| vec![0; LENGTH + PACKET_MAX]);
        let Some(size) = from.read(&mut buffer)? else {
            self.large.push(buffer);
            return Ok(None);
        };
        Ok(Some(self.take(buffer, size)))
    }

    fn take(&mut self, buffer: Vec<u8>, size: usize) -> Taken {
        let read = &buffer[..size.min(buffer.len())];
        let offload = read.first_chunk().and_then(Offload::parse);
        let packet = read
            .get(LENGTH..)
            .filter(|packet| !is_for_neighbours(packet));
        let (Some(offload), Some(packet)) = (offload, packet) else {
            self.large.push(buffer);
            return Taken::Nothing;
        };
        let taken = match (offload.segments.is_some(), size < SHARED_FROM) {
            (true, false) => {
                let segments = Segments::of(Arc::new(buffer), LENGTH..size, &offload);
                return segments.map_or(Taken::Nothing, Taken::Segments);
            }
            (true, true) => {
                let copy = Arc::new(packet.to_vec());
                let segments = Segments::of(copy, 0..packet.len(), &offload);
                segments.map_or(Taken::Nothing, Taken::Segments)
            }
            (false, _) => {
                let mut head = self.small.pop().unwrap_or_default();
                head.clear();
                head.extend_from_slice(packet);
                let unfinished = offload.unfinished;
                Taken::Packet(IpPacket {
                    unfinished,
                    ..IpPacket::from(head)
                })
            }
        };
        self.large.push(buffer);
        taken
    }

    /// Takes back what a packet was in.
    pub(crate) fn give_back(&mut self, packet: IpPacket) {
        if self.small.len() < SMALL_MAX {
            self.small.push(packet.head);
        }
        let whole = packet
            .payload
            .and_then(|slice| Arc::into_inner(slice.buffer));
        let is_large = |buffer: &Vec<u8>| buffer.len() == LENGTH + PACKET_MAX;
        if self.large.len() < LARGE_MAX {
            self.large.extend(whole.filter(is_large));
        }
    }
}

/// Whether it is a multicast packet of IPv6, by which a host's kernel speaks to neighbours about
/// itself; a path between two hosts has none.
fn is_for_neighbours(packet: &[u8]) -> bool {
    packet.first().is_some_and(|byte| byte >> 4 == 6) && packet.get(24) == Some(&0xff)
}
