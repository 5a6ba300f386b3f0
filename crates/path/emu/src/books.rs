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

/// The books of both directions between two neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DuplexBooks {
    /// From near to far.
    pub forward: LinkBooks,
    /// From far to near.
    pub reverse: LinkBooks,
}

/// The books of all links, as the path file has them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkBooks {
    /// Of the main link.
    pub main: DuplexBooks,
    /// Between the near host and the main link, in order.
    pub before: Vec<DuplexBooks>,
    /// Between the main link and the far host, in order.
    pub beyond: Vec<DuplexBooks>,
}

impl NetworkBooks {
    /// From the books of the two ways, each in the order of its packets; `main` counts from the
    /// near host.
    pub(crate) fn of(forward: &[LinkBooks], reverse: &[LinkBooks], main: usize) -> Self {
        let both = forward.iter().zip(reverse.iter().rev());
        let mut links: Vec<DuplexBooks> = both
            .map(|(forward, reverse)| DuplexBooks {
                forward: *forward,
                reverse: *reverse,
            })
            .collect();
        let beyond = links.split_off(links.len().min(main + 1));
        NetworkBooks {
            main: links.pop().unwrap_or_default(),
            before: links,
            beyond,
        }
    }
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
