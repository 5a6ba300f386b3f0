//! Links in a row, with routers between them and others' load on them.

mod stage;

use std::collections::VecDeque;
use std::fmt;

use netpath::{PathSpec, Way};
use units::{Span, Time};

use crate::cross::CrossDatagrams;
use crate::{Admission, Counters, Element, Packet};
use stage::Stage;

/// What happens to a packet between two links.
pub trait Router<P> {
    /// A packet reaches router number `router`, the first being 0, at `now`; `None` when it goes no
    /// further.
    fn pass(&mut self, router: usize, packet: P, now: Time) -> Option<P>;

    /// Whether a packet that reaches router number `router` leaves the row there: it comes out of
    /// the chain like one that has passed all links.
    fn leaves(&self, _router: usize, _packet: &P) -> bool {
        false
    }
}

/// Routers that take nothing and change nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wires;

impl<P> Router<P> for Wires {
    fn pass(&mut self, _: usize, packet: P, _: Time) -> Option<P> {
        Some(packet)
    }
}

/// The longest time between two polls of a link with load. It bounds the packets per poll.
const LOAD_WAKEUP: Span = Span::from_millis(2);
/// Packets on the way above which routers are looked after in batches.
const FEW: u64 = 16;
/// How late a batch may be. What leaves the last link is in time all the same.
const BATCH: Span = Span::from_micros(200);

/// The links of one way of a path, and what is between them.
///
/// A packet enters each link at the very moment at which it left the one before, however late the
/// driver looks, so that a row of links is as exact as one. Others' load on a link, and on the main
/// link cross traffic that is on and off, takes part in its queue and is gone behind it.
///
/// ```
/// use link::{Chain, Element, Packet};
/// use netpath::{PathSpec, Way};
/// use units::{Bytes, Time};
///
/// struct Ip(u64);
/// impl Packet for Ip {
///     fn size(&self) -> Bytes { Bytes::new(self.0) }
/// }
///
/// let mut path = PathSpec::load("three-links").unwrap();
/// path.forward.load = None;
/// let mut chain = Chain::new(&path, Way::Forward, 1);
/// let _ = chain.offer(Ip(1500), Time::ZERO);
/// // 12 us at 1 Gbit/s and 0.5 ms; 120 us and 8 ms; 19.293 us at 622 Mbit/s and 3 ms.
/// assert!(chain.poll(Time::from_nanos(11_651_292)).is_none());
/// assert!(chain.poll(Time::from_nanos(11_651_293)).is_some());
/// ```
pub struct Chain<P, R = Wires> {
    stages: Vec<Stage<P>>,
    /// From the end of each stage to the end of the last, by propagation alone.
    ahead: Vec<Span>,
    router: R,
    /// Those that have left the row between its links.
    out: VecDeque<(Time, P)>,
    has_load: bool,
    advanced: Time,
}

impl<P: Packet> Chain<P> {
    /// One way of `path`, idle, with nothing between the links; `seed` decides what is lost and
    /// when others send.
    pub fn new(path: &PathSpec, way: Way, seed: u64) -> Self {
        Chain::with_router(path, way, seed, Wires)
    }
}

impl<P: Packet, R: Router<P>> Chain<P, R> {
    /// One way of `path`, idle, with `router` between its links.
    pub fn with_router(path: &PathSpec, way: Way, seed: u64, router: R) -> Self {
        let (links, main) = (path.links(way), path.main_link(way));
        let stages = links.iter().enumerate();
        let stages = stages.map(|(at, link)| {
            let is_shared = at == main && way == Way::Forward;
            let cross = is_shared.then(|| CrossDatagrams::of(path, seed)).flatten();
            Stage::new(link, cross, seed_of(seed, at, main))
        });
        let stages: Vec<Stage<P>> = stages.collect();
        let mut ahead: Vec<Span> = Vec::new();
        let mut sum = Span::ZERO;
        for link in links.iter().rev() {
            ahead.push(sum);
            sum += link.delay;
        }
        ahead.reverse();
        Chain {
            has_load: stages.iter().any(Stage::has_others),
            stages,
            ahead,
            router,
            out: VecDeque::new(),
            advanced: Time::ZERO,
        }
    }

    /// Hands over a packet that enters link number `at` at `now`: one that a router sends. Link 0
    /// is where [`offer`](Element::offer) enters.
    pub fn offer_at(&mut self, at: usize, packet: P, now: Time) -> Option<Admission> {
        if at > 0 {
            self.advance(now);
        }
        let stage = self.stages.get_mut(at)?;
        Some(stage.offer(packet, now))
    }

    /// Like [`poll`](Element::poll), with the time at which the packet came out, which is `now` or
    /// before.
    pub fn poll_timed(&mut self, now: Time) -> Option<(Time, P)> {
        self.advance(now);
        if let Some(out) = self.out.pop_front() {
            return Some(out);
        }
        self.stages.last_mut()?.poll(now)
    }

    /// What is between the links.
    pub fn router_mut(&mut self) -> &mut R {
        &mut self.router
    }

    /// The accounts of each link, in order: of packets that were offered, and of others' load.
    pub fn counters(&self) -> impl Iterator<Item = (&Counters, &Counters)> {
        self.stages.iter().map(Stage::counters)
    }

    /// Takes everything on until `now`. Link by link, because what happens in one depends only on
    /// those before.
    fn advance(&mut self, now: Time) {
        self.advanced = now;
        for at in 1..self.stages.len() {
            let (before, after) = self.stages.split_at_mut(at);
            let (Some(from), Some(to)) = (before.last_mut(), after.first_mut()) else {
                return;
            };
            while let Some((arrival, packet)) = from.poll(now) {
                if self.router.leaves(at - 1, &packet) {
                    self.out.push_back((arrival, packet));
                } else if let Some(packet) = self.router.pass(at - 1, packet, arrival) {
                    // The link keeps the accounts of what it drops.
                    let _ = to.offer(packet, arrival);
                }
            }
        }
    }

    /// How long packets of which many are on the way may lie unnoticed at a router.
    fn patience(&self) -> Span {
        let inside = self.stages.iter().map(Stage::inside).sum::<u64>();
        match inside <= FEW {
            true => Span::ZERO,
            false => BATCH,
        }
    }
}

/// The main link keeps the seed, so that other links around it do not change what it loses.
fn seed_of(seed: u64, at: usize, main: usize) -> u64 {
    match at == main {
        true => seed,
        // The fraction of the square root of 3, and as odd a multiple of it as the place says.
        false => seed ^ 0xBB67_AE85_84CA_A73B_u64.wrapping_mul(2 * at as u64 + 1),
    }
}

impl<P: Packet, R: Router<P>> Element<P> for Chain<P, R> {
    fn offer(&mut self, packet: P, now: Time) -> Admission {
        match self.stages.first_mut() {
            Some(stage) => stage.offer(packet, now),
            // A path has its main link at least.
            None => Admission::Accepted,
        }
    }

    fn poll(&mut self, now: Time) -> Option<P> {
        self.poll_timed(now).map(|(_, packet)| packet)
    }

    fn next_wakeup(&self) -> Option<Time> {
        let patience = self.patience();
        let stages = self.stages.iter().zip(&self.ahead);
        let wakeup =
            |(stage, ahead): (&Stage<P>, &Span)| Some(stage.next_wakeup()? + patience.min(*ahead));
        let packets = stages.filter_map(wakeup).min();
        let load = self.has_load.then(|| self.advanced + LOAD_WAKEUP);
        packets.into_iter().chain(load).min()
    }
}

impl<P: fmt::Debug, R> fmt::Debug for Chain<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("stages", &self.stages)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
