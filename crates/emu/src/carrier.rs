//! Carries packets from one device through a link to the other, one thread per direction.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use link::{Counters, Element, Link};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use units::{Span, Time};

use crate::clock::Clock;
use crate::ip_packet::IpPacket;
use crate::tun::Tun;

/// Packets read before the link is served again, so that a flood does not hold up delivery.
const READ_BATCH: usize = 64;

/// A sleeping thread may wake this much late on a virtual machine whose processor went idle, so
/// the last stretch before a packet is due is watched instead of slept through ...
const WATCHED: Span = Span::from_micros(60);
/// ... but only where packets are far enough apart that the watching stays a fraction of the time.
const WATCH_FROM: Span = Span::from_micros(240);

/// One direction at work.
pub(crate) struct Carrier {
    pub from: Arc<Tun>,
    pub to: Arc<Tun>,
    pub link: Link<IpPacket>,
    pub clock: Clock,
    /// Where others read the books.
    pub counters: Arc<Mutex<Counters>>,
    /// Readable when the carrier has to end.
    pub stop: Arc<EventFd>,
    pub mtu: usize,
    /// Buffers that carried a packet before.
    pub spare: Vec<Vec<u8>>,
}

/// A carrier that waits for a processor delays every packet, so it goes before ordinary programs.
const NICE: libc::c_int = -15;

/// Asks the kernel to wake this thread promptly: by default it may add 50 us to each wakeup, and
/// lets busy programs go first. What this user may not ask for costs accuracy, not correctness.
fn wake_promptly() {
    let _ = nix::sys::prctl::set_timerslack(1);
    // SAFETY: the call takes three integers; 0 is the calling thread.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
}

/// What a wait ended with.
#[derive(PartialEq)]
enum Wake {
    Work,
    Stop,
}

impl Carrier {
    /// Carries packets until told to stop.
    pub(crate) fn run(mut self) -> io::Result<()> {
        wake_promptly();
        loop {
            let more = self.take_in()? == READ_BATCH;
            self.deliver();
            self.publish();
            if !more && self.wait()? == Wake::Stop {
                return Ok(());
            }
        }
    }

    /// Offers what the kernel has sent; returns how many packets that were.
    fn take_in(&mut self) -> io::Result<usize> {
        for taken in 0..READ_BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.resize(self.mtu, 0);
            let Some(size) = self.from.read(&mut buffer)? else {
                self.spare.push(buffer);
                return Ok(taken);
            };
            buffer.truncate(size);
            // The link keeps the books of what it drops.
            let _ = self.link.offer(IpPacket(buffer), self.clock.now());
        }
        Ok(READ_BATCH)
    }

    /// Hands over what has arrived by now.
    fn deliver(&mut self) {
        while let Some(IpPacket(bytes)) = self.link.poll(self.clock.now()) {
            // A device that is going down refuses; so would a host that is switched off.
            let _ = self.to.write(&bytes);
            self.spare.push(bytes);
        }
    }

    fn publish(&self) {
        let mut shared = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        *shared = *self.link.counters();
    }

    /// Sleeps until a packet comes, one is due, or the end is called.
    fn wait(&self) -> io::Result<Wake> {
        let mut events = [
            PollFd::new(self.from.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
        ];
        let due = self.link.next_wakeup();
        let watched = due.filter(|due| due.since(self.clock.now()) > WATCH_FROM);
        let sleep_until = watched.map(|due| due - WATCHED).or(due);
        let timeout = sleep_until.map(|until| self.until(until));
        let woken = match ppoll(&mut events, timeout, None) {
            Ok(events) => events,
            // Somebody looked at the process; what is due is looked up again.
            Err(Errno::EINTR) => return Ok(Wake::Work),
            Err(error) => return Err(error.into()),
        };
        if let (0, Some(due)) = (woken, watched) {
            self.watch_until(due);
        }
        let stopped = events[1].any().unwrap_or(false);
        Ok(if stopped { Wake::Stop } else { Wake::Work })
    }

    /// Watches the clock until `due` instead of sleeping.
    fn watch_until(&self, due: Time) {
        while self.clock.now() < due {
            std::hint::spin_loop();
        }
    }

    fn until(&self, due: Time) -> TimeSpec {
        let span: Span = due.since(self.clock.now());
        TimeSpec::from_duration(Duration::from(span))
    }
}
