//! The emulated path as a whole.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use link::{Chain, Counters};
use netpath::{CrossTraffic, Hosts, PathSpec, Way};
use nix::sys::eventfd::EventFd;
use units::Rate;

use crate::aside::{Asides, cross_address};
use crate::books::{NetworkBooks, WayBooks};
use crate::busy_wait::BusyWait;
use crate::carrier::Carrier;
use crate::clock::Clock;
use crate::coalesce::Group;
use crate::intake::Intake;
use crate::namespace::spawn_named;
use crate::router::Routers;
use crate::router_queue::{RouterQueue, event_counter};
use crate::tun::{self, Tun};
use crate::{EmuError, Namespace, congestion, sysctl};

/// The near host. RFC 2544 sets 198.18.0.0/15 aside for tests, so no real host is hidden.
pub const NEAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// The far host.
pub const FAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

/// The near host where hosts talk over IPv6. RFC 5180 sets 2001:2::/48 aside for tests.
pub const NEAR_ADDRESS_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1);
/// The far host there.
pub const FAR_ADDRESS_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 2);

/// The addresses under which the hosts of a path talk to each other: the near one's, the far one's.
pub fn addresses(hosts: &Hosts) -> [IpAddr; 2] {
    match hosts.ipv6 {
        true => [NEAR_ADDRESS_V6.into(), FAR_ADDRESS_V6.into()],
        false => [NEAR_ADDRESS.into(), FAR_ADDRESS.into()],
    }
}

/// More packets of load than this in a second keep a processor busy with nothing else.
const LOAD_PACKETS_MAX: f64 = 500_000.0;

/// A running emulation; dropping it takes everything down.
#[derive(Debug)]
pub struct Network {
    near: Namespace,
    far: Namespace,
    forward: Arc<Mutex<WayBooks>>,
    reverse: Arc<Mutex<WayBooks>>,
    /// Where the main link stands, from the near host.
    main_link: usize,
    stop: Arc<EventFd>,
    carriers: Vec<JoinHandle<io::Result<()>>>,
}

/// The books of both directions of the main link, which most paths have alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkCounters {
    /// From near to far.
    pub forward: Counters,
    /// From far to near.
    pub reverse: Counters,
}

impl Network {
    /// Brings up `path`; `seed` decides which packets are lost on the wire and when others send.
    ///
    /// # Errors
    /// When the user lacks a right, the kernel lacks a part, or a load is more than can be kept up;
    /// see [hint](errors::Hint::hint).
    pub fn up(path: &PathSpec, seed: u64) -> Result<Self, EmuError> {
        Network::build(path, seed, true)
    }

    /// Like [`up`](Network::up), of hosts without segmentation offload: their kernels cut segments
    /// and compute checksums themselves, and get each packet alone. For comparisons.
    ///
    /// # Errors
    /// As [`up`](Network::up).
    pub fn up_without_offload(path: &PathSpec, seed: u64) -> Result<Self, EmuError> {
        Network::build(path, seed, false)
    }

    fn build(path: &PathSpec, seed: u64, offload: bool) -> Result<Self, EmuError> {
        check_loads(path)?;
        let near = Namespace::create()?;
        let far = Namespace::create()?;
        check_congestion(path)?;
        let near_end = Arc::new(host(&near, NEAR_ADDRESS, &[], path, Way::Forward, offload)?);
        let streams = (0..path.cross.len()).filter(|at| !path.cross[*at].traffic.is_datagrams());
        let cross: Vec<Ipv4Addr> = streams.map(cross_address).collect();
        let far_end = Arc::new(host(
            &far,
            FAR_ADDRESS,
            &cross,
            path,
            Way::Reverse,
            offload,
        )?);
        let mut network = Network {
            near,
            far,
            forward: Arc::default(),
            reverse: Arc::default(),
            main_link: path.main_link(Way::Forward),
            stop: Arc::new(event_counter()?),
            carriers: Vec::new(),
        };
        network.carry(path, seed, &near_end, &far_end)?;
        Ok(network)
    }

    /// Starts the carriers of both ways.
    fn carry(
        &mut self,
        path: &PathSpec,
        seed: u64,
        near: &Arc<Tun>,
        far: &Arc<Tun>,
    ) -> Result<(), EmuError> {
        let clock = Clock::start();
        let (forward_inbox, reverse_inbox) =
            (Arc::new(RouterQueue::new()?), Arc::new(RouterQueue::new()?));
        let carrier = |way, seed| -> Carrier {
            let ((from, to), (inbox, outbox), books) = match way {
                Way::Forward => ((near, far), (&forward_inbox, &reverse_inbox), &self.forward),
                Way::Reverse => ((far, near), (&reverse_inbox, &forward_inbox), &self.reverse),
            };
            let chain = Chain::with_router(path, way, seed, Routers::of(path, way));
            let watch = BusyWait::new();
            let empty = books
                .lock()
                .map(|mut books| books.copy_from(&chain, watch.lateness()));
            empty.unwrap_or_default();
            Carrier {
                from: Arc::clone(from),
                to: Arc::clone(to),
                chain,
                asides: Asides::of(path, way),
                clock,
                books: Arc::clone(books),
                stop: Arc::clone(&self.stop),
                intake: Intake::default(),
                group: Group::default(),
                inbox: Arc::clone(inbox),
                outbox: Arc::clone(outbox),
                watch,
            }
        };
        let forward = carrier(Way::Forward, seed);
        // The two directions must not lose packets in step.
        let reverse = carrier(Way::Reverse, !seed);
        for (name, carrier) in [("forward", forward), ("reverse", reverse)] {
            let thread = spawn_named(name, move || carrier.run())?;
            self.carriers.push(thread);
        }
        Ok(())
    }

    /// The namespace of the sending side.
    pub fn near(&self) -> &Namespace {
        &self.near
    }

    /// The namespace of the receiving side.
    pub fn far(&self) -> &Namespace {
        &self.far
    }

    /// Gives sockets that do not choose for themselves this congestion control. False where only
    /// root may do that: such sockets then get the host's default.
    ///
    /// # Errors
    /// When the kernel does not know it.
    pub fn make_default_congestion(&self, name: &str) -> Result<bool, EmuError> {
        congestion::make_default(name, [&self.near, &self.far])
    }

    /// Whether packets are still carried both ways. A carrier ends early only when a device fails.
    pub fn is_carrying(&self) -> bool {
        !self.carriers.iter().any(JoinHandle::is_finished)
    }

    /// What went into the main link and what became of it, up to now, without others' load.
    pub fn counters(&self) -> NetworkCounters {
        let main = self.all_books().main;
        NetworkCounters {
            forward: main.forward.own,
            reverse: main.reverse.own,
        }
    }

    /// The books of all links, up to now.
    pub fn all_books(&self) -> NetworkBooks {
        let [forward, reverse] = Way::BOTH.map(|way| self.books(way).links);
        NetworkBooks::of(&forward, &reverse, self.main_link)
    }

    /// The books of every link of one way, up to now, and how late packets came out of it.
    pub fn books(&self, way: Way) -> WayBooks {
        let books = match way {
            Way::Forward => &self.forward,
            Way::Reverse => &self.reverse,
        };
        books.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Writing to an event counter that holds zero cannot fail.
        let _ = self.stop.write(1);
        for carrier in self.carriers.drain(..) {
            let _ = carrier.join();
        }
    }
}

/// Refuses a congestion control that this kernel does not have.
fn check_congestion(path: &PathSpec) -> Result<(), EmuError> {
    congestion::check_known(&path.hosts.congestion, "`hosts.congestion`")?;
    for (number, cross) in (1..).zip(&path.cross) {
        if let Some(name) = &cross.congestion {
            congestion::check_known(name, &format!("`cross.congestion` of entry {number}"))?;
        }
    }
    Ok(())
}

/// A host, whose way out is `way`, and under which addresses others' streams end there.
fn host(
    namespace: &Namespace,
    address: Ipv4Addr,
    others: &[Ipv4Addr],
    path: &PathSpec,
    way: Way,
    offload: bool,
) -> Result<Tun, EmuError> {
    let (buffers, address_v6) = match way {
        Way::Forward => (path.hosts.near(), NEAR_ADDRESS_V6),
        Way::Reverse => (path.hosts.far(), FAR_ADDRESS_V6),
    };
    namespace.run(|| {
        sysctl::apply(&path.hosts, buffers)?;
        let device = Tun::create(address, others, mtu(path, way), offload)?;
        if path.hosts.ipv6 {
            tun::add_ipv6(address_v6)?;
        }
        Ok(device)
    })?
}

/// The largest packet that a host sends: that of its own link.
fn mtu(path: &PathSpec, way: Way) -> u16 {
    let links = path.links(way);
    let own = links.first().and_then(|link| link.mtu);
    own.unwrap_or(path.hosts.mtu)
}

/// Refuses a load whose packets alone would keep the carrier busy.
fn check_loads(path: &PathSpec) -> Result<(), EmuError> {
    for way in Way::BOTH {
        let links = path.links(way).into_iter();
        let loads = links.filter_map(|link| link.load.as_ref());
        let mut packets: f64 = loads.map(netpath::Load::packets_per_second).sum();
        if way == Way::Forward {
            packets += cross_datagrams_per_second(path);
        }
        if packets > LOAD_PACKETS_MAX {
            return Err(EmuError::TooMuchLoad {
                packets: packets as u64,
                most: LOAD_PACKETS_MAX as u64,
            });
        }
    }
    Ok(())
}

fn cross_datagrams_per_second(path: &PathSpec) -> f64 {
    let datagrams = path.cross.iter().map(|cross| &cross.traffic);
    let datagrams = datagrams.filter(|traffic| traffic.is_datagrams());
    let rate: f64 = datagrams
        .filter_map(CrossTraffic::mean_load)
        .map(Rate::as_f64)
        .sum();
    rate / 8.0 / path.cross_datagram().as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_two_carriers_like_one_link_and_leaves_nothing() {
        if !testkit::can_emulate() {
            return;
        }
        let path = PathSpec::load("three-links").unwrap();
        let network = Network::up(&path, 1).unwrap();
        assert_eq!(network.carriers.len(), 2);
        let (stop, books) = (Arc::clone(&network.stop), Arc::clone(&network.reverse));
        assert_eq!(Arc::strong_count(&stop), 4);
        drop(network);
        // Carriers hold devices and these two; namespaces live as long as devices and their
        // handles.
        assert_eq!(
            (Arc::strong_count(&stop), Arc::strong_count(&books)),
            (1, 1)
        );
    }
}
