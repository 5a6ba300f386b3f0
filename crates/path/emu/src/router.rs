//! What happens to a packet between two links: a router that keeps to RFC 791, 792 and 1812, and
//! for IPv6 to RFC 8200 and 4443, in what a path shows of it.
//!
//! It counts the time to live down and tells the sender when that has run out (what traceroute
//! lives from), tells when a packet is too large for the next link, and answers echo requests to
//! its own address. It does not fragment.

mod icmp;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use link::{Packet, Router};
use netpath::{PathSpec, Way};
use units::Time;

use crate::aside;
use crate::ip_packet::IpPacket;

/// The routers of one way.
#[derive(Debug)]
pub(crate) struct Routers {
    /// From the first on the way to the last.
    routers: Vec<Facing>,
    /// ICMP messages of the routers that wait to be taken.
    answers: Vec<Answer>,
    /// The one behind the main link, where others' streams leave.
    behind_main: usize,
}

/// A router as seen from where packets come from.
#[derive(Debug)]
struct Facing {
    /// The addresses on the side where packets come in: answers are from them.
    address: Addresses,
    /// Those on the other side, which are its own too.
    behind: Addresses,
    /// Largest packet that the next link takes.
    mtu: u16,
    /// The link of the other way on which answers leave.
    back: usize,
}

/// A packet that a router sends, and the link of the other way on which it leaves.
#[derive(Debug)]
pub(crate) struct Answer {
    pub link: usize,
    pub packet: IpPacket,
}

/// The addresses of one end of a link, of both families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Addresses {
    v4: Ipv4Addr,
    v6: Ipv6Addr,
}

impl Addresses {
    fn have(&self, address: IpAddr) -> bool {
        [IpAddr::from(self.v4), IpAddr::from(self.v6)].contains(&address)
    }
}

/// The addresses at one end of link number `link`, counted from the near host and from 1.
///
/// Each link has networks of its own in the blocks that RFC 2544 and RFC 5180 set aside for tests.
fn address(link: usize, end: u8) -> Addresses {
    Addresses {
        v4: Ipv4Addr::new(198, 18, link as u8, end),
        v6: Ipv6Addr::new(0x2001, 2, 0, link as u16, 0, 0, 0, end.into()),
    }
}

const NEAR_END: u8 = 1;
const FAR_END: u8 = 2;

impl Routers {
    /// Those between the links of one way of `path`.
    pub(crate) fn of(path: &PathSpec, way: Way) -> Self {
        let (links, hops) = (path.links(way), path.hops());
        let facing = |at: usize| {
            let (address, behind) = match way {
                // Router k, counted from the near host and from 1, ends link k and begins link k +
                // 1.
                Way::Forward => (address(at, FAR_END), address(at + 1, NEAR_END)),
                Way::Reverse => (
                    address(hops - at + 1, NEAR_END),
                    address(hops - at, FAR_END),
                ),
            };
            Facing {
                address,
                behind,
                mtu: links[at].mtu.unwrap_or(path.hosts.mtu),
                back: hops - at,
            }
        };
        Routers {
            routers: (1..hops).map(facing).collect(),
            answers: Vec::new(),
            behind_main: path.main_link(way),
        }
    }

    /// What the routers have sent back since this was asked last.
    pub(crate) fn take_answers(&mut self) -> std::vec::Drain<'_, Answer> {
        self.answers.drain(..)
    }
}

impl Router<IpPacket> for Routers {
    fn pass(&mut self, router: usize, mut packet: IpPacket, _: Time) -> Option<IpPacket> {
        let facing = self.routers.get(router)?;
        let verdict = facing.verdict(&packet);
        match verdict {
            Verdict::Forward => {
                packet.count_down();
                return Some(packet);
            }
            Verdict::Drop => return None,
            // Messages quote what a wire would have carried.
            Verdict::Tell(_) | Verdict::Own => packet.finish(),
        }
        let reply = match verdict {
            Verdict::Forward | Verdict::Drop => None,
            Verdict::Tell(trouble) => icmp::tell(&packet, facing.address, trouble),
            Verdict::Own => icmp::answer(&packet),
        };
        let link = facing.back;
        self.answers
            .extend(reply.map(|packet| Answer { link, packet }));
        None
    }

    fn leaves(&self, router: usize, packet: &IpPacket) -> bool {
        router == self.behind_main && aside::entry_of(packet).is_some()
    }
}

enum Verdict {
    Forward,
    Drop,
    Tell(icmp::Trouble),
    /// It was sent to the router itself.
    Own,
}

impl Facing {
    fn verdict(&self, packet: &IpPacket) -> Verdict {
        let Some(header) = packet.header() else {
            return Verdict::Drop;
        };
        if self.address.have(header.destination) || self.behind.have(header.destination) {
            return match header.protocol {
                icmp::UDP => Verdict::Tell(icmp::Trouble::PortUnreachable),
                _ => Verdict::Own,
            };
        }
        if header.time_to_live <= 1 {
            return Verdict::Tell(icmp::Trouble::TimeExceeded);
        }
        match packet.size().get() > u64::from(self.mtu) {
            true => Verdict::Tell(icmp::Trouble::TooLarge { mtu: self.mtu }),
            false => Verdict::Forward,
        }
    }
}

#[cfg(test)]
mod tests;
