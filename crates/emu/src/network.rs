//! The emulated path as a whole.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use link::{Counters, Link};
use nix::sys::eventfd::{EfdFlags, EventFd};
use path::{BufferMaxima, LinkSpec, PathSpec};

use crate::carrier::Carrier;
use crate::clock::Clock;
use crate::namespace::spawn_named;
use crate::tun::Tun;
use crate::{EmuError, Namespace, congestion, sysctl};

/// The near host. RFC 2544 sets 198.18.0.0/15 aside for tests, so no real host is hidden.
pub const NEAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// The far host.
pub const FAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

/// A running emulation; dropping it takes everything down.
#[derive(Debug)]
pub struct Network {
    near: Namespace,
    far: Namespace,
    forward: Arc<Mutex<Counters>>,
    reverse: Arc<Mutex<Counters>>,
    stop: Arc<EventFd>,
    carriers: Vec<JoinHandle<io::Result<()>>>,
}

/// The books of both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkCounters {
    /// From near to far.
    pub forward: Counters,
    /// From far to near.
    pub reverse: Counters,
}

impl Network {
    /// Brings up `path`; `seed` decides which packets are lost on the wire.
    ///
    /// # Errors
    /// When the user lacks a right or the kernel lacks a part; see [`EmuError::hint`].
    pub fn up(path: &PathSpec, seed: u64) -> Result<Self, EmuError> {
        if let Some(path::Extra { field, value }) = path.extra() {
            return Err(EmuError::NotOneLink { field, value });
        }
        let near = Namespace::create()?;
        let far = Namespace::create()?;
        let near_end = Arc::new(host(&near, NEAR_ADDRESS, path, path.hosts.near())?);
        let far_end = Arc::new(host(&far, FAR_ADDRESS, path, path.hosts.far())?);
        congestion::check_known(&path.hosts.congestion)?;
        for name in path
            .cross
            .iter()
            .filter_map(|cross| cross.congestion.as_ref())
        {
            congestion::check_known(name)?;
        }
        let mut network = Network {
            near,
            far,
            forward: Arc::default(),
            reverse: Arc::default(),
            stop: Arc::new(stop_signal()?),
            carriers: Vec::new(),
        };
        let clock = Clock::start();
        let carrier =
            |from: &Arc<Tun>, to: &Arc<Tun>, spec: &LinkSpec, seed, counters: &Arc<_>| Carrier {
                from: from.clone(),
                to: to.clone(),
                link: Link::new(spec, seed),
                clock,
                counters: Arc::clone(counters),
                stop: network.stop.clone(),
                mtu: usize::from(path.hosts.mtu),
                spare: Vec::new(),
            };
        let forward = carrier(&near_end, &far_end, &path.forward, seed, &network.forward);
        // The two directions must not lose packets in step.
        let reverse = carrier(&far_end, &near_end, &path.reverse, !seed, &network.reverse);
        network.carry("forward", forward)?;
        network.carry("reverse", reverse)?;
        Ok(network)
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

    /// What went into the links and what became of it, up to now.
    pub fn counters(&self) -> NetworkCounters {
        let read =
            |counters: &Mutex<Counters>| *counters.lock().unwrap_or_else(PoisonError::into_inner);
        NetworkCounters {
            forward: read(&self.forward),
            reverse: read(&self.reverse),
        }
    }

    fn carry(&mut self, name: &str, carrier: Carrier) -> Result<(), EmuError> {
        self.carriers
            .push(spawn_named(name, move || carrier.run())?);
        Ok(())
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

fn host(
    namespace: &Namespace,
    address: Ipv4Addr,
    path: &PathSpec,
    buffers: BufferMaxima,
) -> Result<Tun, EmuError> {
    namespace.run(|| {
        sysctl::apply(buffers)?;
        Tun::create(address, path.hosts.mtu)
    })?
}

fn stop_signal() -> Result<EventFd, EmuError> {
    EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).map_err(|error| {
        EmuError::Resource {
            what: "an event counter",
            source: error.into(),
        }
    })
}
