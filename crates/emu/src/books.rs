//! The books of a running emulation.

use link::{Chain, Counters};

use crate::ip_packet::IpPacket;
use crate::lateness::Lateness;
use crate::router::Routers;

/// The books of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkBooks {
    /// Of the packets of the two hosts.
    pub own: Counters,
    /// Of others' load.
    pub load: Counters,
}

/// The books of one way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WayBooks {
    /// Its links, in the order in which packets pass them.
    pub links: Vec<LinkBooks>,
    /// How late packets were handed over at its end.
    pub lateness: Lateness,
}

impl WayBooks {
    pub(crate) fn copy_from(&mut self, chain: &Chain<IpPacket, Routers>, lateness: &Lateness) {
        self.links.clear();
        let books = |(own, load): (&Counters, &Counters)| LinkBooks {
            own: *own,
            load: *load,
        };
        self.links.extend(chain.counters().map(books));
        self.lateness.clone_from(lateness);
    }
}
