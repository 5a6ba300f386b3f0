//! Two hosts whose devices are joined without a path between them.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::JoinHandle;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;

use crate::namespace::spawn_named;
use crate::network::{FAR_ADDRESS, NEAR_ADDRESS};
use crate::offload::{LENGTH, PACKET_MAX};
use crate::router_queue::event_counter;
use crate::tun::Tun;
use crate::{EmuError, Namespace, priority};

/// Reads before the end is looked for.
const READ_BATCH: usize = 64;

/// Hosts between which bytes are only copied: what the devices and the kernel carry at the most on
/// this machine, for comparison with a [`Network`](crate::Network). Dropping it takes it down.
#[derive(Debug)]
pub struct Wire {
    near: Namespace,
    far: Namespace,
    stop: Arc<EventFd>,
    carriers: Vec<JoinHandle<io::Result<()>>>,
}

impl Wire {
    /// Joins two hosts.
    ///
    /// * `mtu`: of both devices, in bytes.
    /// * `offload`: whether the kernel hands over super-segments.
    ///
    /// # Errors
    /// When the user lacks a right or the kernel lacks a part.
    pub fn up(mtu: u16, offload: bool) -> Result<Self, EmuError> {
        let (near, far) = (Namespace::create()?, Namespace::create()?);
        let device = |namespace: &Namespace, address| -> Result<Arc<Tun>, EmuError> {
            let device = namespace.run(|| Tun::create(address, &[], mtu, offload))?;
            Ok(Arc::new(device?))
        };
        let ends = [device(&near, NEAR_ADDRESS)?, device(&far, FAR_ADDRESS)?];
        let mut wire = Wire {
            near,
            far,
            stop: Arc::new(event_counter()?),
            carriers: Vec::new(),
        };
        for (name, from, to) in [("forward", 0, 1), ("reverse", 1, 0)] {
            let (from, to) = (Arc::clone(&ends[from]), Arc::clone(&ends[to]));
            let stop = Arc::clone(&wire.stop);
            let carrier = spawn_named(name, move || carry(&from, &to, &stop))?;
            wire.carriers.push(carrier);
        }
        Ok(wire)
    }

    /// The namespace of the sending side.
    pub fn near(&self) -> &Namespace {
        &self.near
    }

    /// The namespace of the receiving side.
    pub fn far(&self) -> &Namespace {
        &self.far
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // Writing to an event counter that holds zero cannot fail.
        let _ = self.stop.write(1);
        for carrier in self.carriers.drain(..) {
            let _ = carrier.join();
        }
    }
}

fn carry(from: &Tun, to: &Tun, stop: &EventFd) -> io::Result<()> {
    priority::wake_promptly();
    let mut buffer = vec![0; LENGTH + PACKET_MAX];
    loop {
        for _ in 0..READ_BATCH {
            let Some(size) = from.read(&mut buffer)? else {
                break;
            };
            // A device that is going down refuses.
            let _ = to.write(&[io::IoSlice::new(&buffer[..size])]);
        }
        let mut events = [
            PollFd::new(from.as_fd(), PollFlags::POLLIN),
            PollFd::new(stop.as_fd(), PollFlags::POLLIN),
        ];
        poll(&mut events, PollTimeout::NONE)?;
        if events[1].any().unwrap_or(false) {
            return Ok(());
        }
    }
}
