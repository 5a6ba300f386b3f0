//! Carries packets from one device through the links of one way to the other, one thread for each
//! way.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use link::{Chain, Element};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use units::{Span, Time};

use crate::aside::Asides;
use crate::books::WayBooks;
use crate::busy_wait::BusyWait;
use crate::clock::Clock;
use crate::coalesce::Group;
use crate::intake::{Intake, Taken};
use crate::ip_packet::IpPacket;
use crate::priority;
use crate::router::Routers;
use crate::router_queue::RouterQueue;
use crate::tun::Tun;

/// Packets read before the link is served again, and what the last read had beyond, so that a flood
/// does not hold up delivery.
const READ_BATCH: usize = 64;

/// One way at work.
pub(crate) struct Carrier {
    pub from: Arc<Tun>,
    pub to: Arc<Tun>,
    pub chain: Chain<IpPacket, Routers>,
    pub asides: Asides,
    pub clock: Clock,
    /// Where others read the books.
    pub books: Arc<Mutex<WayBooks>>,
    /// Readable when the carrier has to end.
    pub stop: Arc<EventFd>,
    pub intake: Intake,
    /// What is handed over next.
    pub group: Group,
    /// What routers send this way because of packets that go the other way.
    pub inbox: Arc<RouterQueue>,
    /// What routers send the other way because of packets that go this way.
    pub outbox: Arc<RouterQueue>,
    pub watch: BusyWait,
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
        priority::wake_promptly();
        loop {
            let taken = self.take_in()? + self.take_answers();
            self.let_asides_in();
            let given = self.deliver();
            self.hand_on_answers();
            if taken > 0 {
                self.watch.on_arrival(self.clock.now());
            }
            let goes_on = taken >= READ_BATCH || self.watches_on();
            if taken + given > 0 || !goes_on {
                self.publish();
            }
            if !goes_on && self.sleep()? == Wake::Stop {
                return Ok(());
            }
        }
    }

    /// Offers what the kernel has sent; returns how many packets that were.
    fn take_in(&mut self) -> io::Result<usize> {
        let mut taken = 0;
        while taken < READ_BATCH {
            let Some(read) = self.intake.read(&self.from)? else {
                break;
            };
            let now = self.clock.now();
            match read {
                Taken::Nothing => {}
                Taken::Packet(packet) => {
                    taken += 1;
                    self.offer(packet, now);
                }
                // The host has them at once; its own link sends them one by one, at its rate.
                Taken::Segments(mut segments) => {
                    while let Some(packet) = segments.next(&mut self.intake.small) {
                        taken += 1;
                        self.offer(packet, now);
                    }
                }
            }
        }
        Ok(taken)
    }

    fn offer(&mut self, packet: IpPacket, now: Time) {
        if let Some(packet) = self.asides.take(packet, now) {
            // The link keeps the books of what it drops.
            let _ = self.chain.offer(packet, now);
        }
    }

    /// Offers what routers have sent; returns how many packets that were.
    fn take_answers(&mut self) -> usize {
        let answers = self.inbox.take();
        let taken = answers.len();
        for answer in answers {
            let _ = self
                .chain
                .offer_at(answer.link, answer.packet, self.clock.now());
        }
        taken
    }

    /// Offers what others have sent to the main link by now.
    fn let_asides_in(&mut self) {
        while let Some(packet) = self.asides.pop(self.clock.now()) {
            let (main, now) = (self.asides.main_link(), self.clock.now());
            let _ = self.chain.offer_at(main, packet, now);
        }
    }

    /// When something is to be done next.
    fn next_due(&self) -> Option<Time> {
        let asides = self.asides.next_time();
        self.chain.next_wakeup().into_iter().chain(asides).min()
    }

    /// Hands over what has arrived by now; returns how many packets that were.
    fn deliver(&mut self) -> usize {
        let (mut given, mut now) = (0, self.clock.now());
        loop {
            let Some((due, packet)) = self.chain.poll_timed(now) else {
                self.hand_over();
                return given;
            };
            self.watch.on_delivery(now.since(due));
            given += 1;
            if let Some(packet) = self.group.join(packet, due) {
                self.hand_over();
                now = self.clock.now();
                // An empty group takes any packet.
                let _ = self.group.join(packet, due);
            }
        }
    }

    /// Hands over what has come together.
    fn hand_over(&mut self) {
        // A device that is going down refuses; so would a host that is switched off.
        let _ = self.group.hand_over(|parts| self.to.write(parts));
        for packet in self.group.take() {
            self.intake.give_back(packet);
        }
    }

    fn hand_on_answers(&mut self) {
        let answers = self.chain.router_mut().take_answers();
        if answers.len() > 0 {
            self.outbox.put(answers);
        }
    }

    fn publish(&self) {
        let mut shared = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        shared.copy_from(&self.chain, self.watch.lateness());
    }

    /// Whether it is worth watching what comes next, instead of sleeping until it does.
    fn watches_on(&mut self) -> bool {
        let due = self.next_due();
        let watches = self.watch.goes_on(due, self.clock.now());
        if watches {
            std::hint::spin_loop();
        }
        watches
    }

    /// Sleeps until a packet comes, one is due, or the end is called.
    fn sleep(&mut self) -> io::Result<Wake> {
        let began = self.clock.now();
        let until = self.watch.sleep_until(self.next_due(), began);
        let timeout = until.map(|until| self.until(until));
        let mut events = [
            PollFd::new(self.from.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.inbox.bell(), PollFlags::POLLIN),
        ];
        let woken = ppoll(&mut events, timeout, None);
        let stopped = events[1].any().unwrap_or(false);
        self.watch.on_wake(began, until, self.clock.now());
        match woken {
            Ok(_) if stopped => Ok(Wake::Stop),
            // A signal ended the wait; what is due is looked up again.
            Ok(_) | Err(Errno::EINTR) => Ok(Wake::Work),
            Err(error) => Err(error.into()),
        }
    }

    fn until(&self, due: Time) -> TimeSpec {
        let span: Span = due.since(self.clock.now());
        TimeSpec::from_duration(Duration::from(span))
    }
}
