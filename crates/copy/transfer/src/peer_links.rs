//! The copies of a server that have one peer host are steered as one.
//!
//! Each of them would take streams from the others otherwise ([`steer::LinkSteer`]). They are those
//! of all users and processes of the peer, since all are served here. Each direction of the data is
//! a link of its own. A copy that is alone steers itself: its sender sees more of its own streams
//! than is told here.
//!
//! Shares are computed anew by any session that polls, from the reports of all. So a copy that dies
//! takes nothing away but its part.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copy_protocol::{CopyDirection, Opening};
use observe::StreamCount;
use steer::{LinkReport, LinkSteer, REPORT_PERIOD};
use units::Span;

/// How often a copy tells how it fares, and asks for its part.
const LOOK: Duration = Duration::from_millis(250);

/// The address of a peer, and which way the data goes.
type LinkKey = (IpAddr, CopyDirection);

/// The links to all peers.
#[derive(Debug, Default)]
pub(crate) struct PeerLinks(Mutex<Links>);

#[derive(Debug, Default)]
struct Links {
    next: u32,
    links: BTreeMap<LinkKey, PeerLink>,
}

/// The copies of one link.
#[derive(Debug)]
struct PeerLink {
    told: BTreeMap<u32, LinkReport>,
    /// While there are two and more, and a moment longer.
    steer: Option<LinkSteer>,
    parts: BTreeMap<u32, u16>,
    steered: Instant,
}

/// One copy of a link, until it is dropped.
#[derive(Debug)]
pub(crate) struct LinkMember {
    links: Arc<PeerLinks>,
    key: LinkKey,
    number: u32,
    /// What is known of it before it tells anything: streams that served the last time, and the
    /// round trip.
    first: (u16, Option<Span>),
    looked: Option<Instant>,
    part: Option<StreamCount>,
}

impl PeerLinks {
    /// A copy that takes part from its first look on; `None` where its number of streams is not
    /// sought, because it was asked for, follows from a gentle rate, or nothing is sent, or it has
    /// links of its own.
    ///
    /// * `rtt`: that of its handshake.
    pub(crate) fn member(
        self: &Arc<Self>,
        peer: IpAddr,
        opening: &Opening,
        rtt: Option<Span>,
    ) -> Option<LinkMember> {
        let is_sought = opening.streams.is_none() && opening.gentle_nanoseconds.is_none();
        if !is_sought || opening.dry_run || opening.pairs > 0 {
            return None;
        }
        let mut all = self.all();
        all.next = all.next.wrapping_add(1);
        Some(LinkMember {
            links: Arc::clone(self),
            key: (peer, opening.direction),
            number: all.next,
            first: (opening.remembered.unwrap_or(0), rtt),
            looked: None,
            part: None,
        })
    }

    fn all(&self) -> MutexGuard<'_, Links> {
        // Each change is complete, even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PeerLink {
    fn new(now: Instant) -> Self {
        PeerLink {
            told: BTreeMap::new(),
            steer: None,
            parts: BTreeMap::new(),
            steered: now,
        }
    }

    /// The part of a copy; `None` leaves it to itself. The last one has the streams of all for a
    /// period, and goes on from there.
    fn part(&mut self, number: u32, now: Instant) -> Option<StreamCount> {
        let told = &self.told;
        let length = Span::from(now.saturating_duration_since(self.steered));
        let has_changed = self.parts.keys().ne(told.keys());
        if told.len() < 2 && (self.steer.is_none() || !has_changed && length >= REPORT_PERIOD) {
            self.steer = None;
            self.parts.clear();
            return None;
        }
        if has_changed || length >= REPORT_PERIOD {
            let begin = || LinkSteer::of_reports(told, None, None);
            let steer = self.steer.get_or_insert_with(begin);
            self.parts = steer.on_reports(length, told).clone();
            self.steered = now;
        }
        StreamCount::new((*self.parts.get(&number)?).into()).ok()
    }
}

impl LinkMember {
    /// Tells how the copy fares, and takes its part. Returns the part where that is another one
    /// than before, none where the copy is to find its number itself.
    ///
    /// * `report`: none while the number of its streams is not sought.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        report: Option<LinkReport>,
    ) -> Option<Option<StreamCount>> {
        let is_early = |looked: Instant| now.saturating_duration_since(looked) < LOOK;
        if self.looked.is_some_and(is_early) {
            return None;
        }
        self.looked = Some(now);
        let part = match report {
            Some(report) => self.tell(now, report),
            None => {
                self.leave();
                None
            }
        };
        (part != self.part).then(|| {
            self.part = part;
            part
        })
    }

    fn tell(&self, now: Instant, mut report: LinkReport) -> Option<StreamCount> {
        let (remembered, rtt) = self.first;
        report.rtt = report.rtt.or(rtt);
        if report.streams == 0 {
            report.streams = remembered;
        }
        let mut all = self.links.all();
        let link = all.links.entry(self.key);
        let link = link.or_insert_with(|| PeerLink::new(now));
        link.told.insert(self.number, report);
        link.part(self.number, now)
    }

    fn leave(&self) {
        let mut all = self.links.all();
        if let Some(link) = all.links.get_mut(&self.key) {
            link.told.remove(&self.number);
            if link.told.is_empty() {
                all.links.remove(&self.key);
            }
        }
    }
}

impl Drop for LinkMember {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use observe::Limit;
    use proptest::prelude::*;
    use steer::online::{Interval, Online, OnlinePlan, Streams};
    use units::Bytes;

    use super::*;
    use crate::opening::tests::opening_of;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 8));
    const RTT: Span = Span::from_millis(165);
    /// What the path carries each second, and one stream of it.
    const CAPACITY: f64 = 5_600_000.0;
    const EACH: f64 = 470_000.0;

    /// A copy that does what it is told, and steers itself where nothing is.
    struct Sending {
        member: LinkMember,
        online: Online,
        done: f64,
        number: u16,
    }

    impl Sending {
        fn new(links: &Arc<PeerLinks>, peer: IpAddr) -> Self {
            let opening = opening_of(CopyDirection::Put, &["x"]);
            let plan = OnlinePlan {
                rtt: Some(RTT),
                ..OnlinePlan::default()
            };
            let online = Online::new(plan);
            Sending {
                member: links.member(peer, &opening, Some(RTT)).unwrap(),
                number: online.streams().get(),
                online,
                done: 0.0,
            }
        }

        fn report(&self) -> LinkReport {
            LinkReport {
                copy: 0,
                weight: 1,
                done: Bytes::new(self.done as u64),
                streams: self.number,
                rtt: Some(RTT),
                retransmitted_share: Some(0.01),
                limited_by: Some(Limit::Network),
            }
        }

        /// Carries `bytes` in `length`, by which it is steered where it is alone.
        fn carry(&mut self, bytes: f64, length: Span, now: Instant) {
            self.done += bytes;
            let interval = Interval {
                length,
                streams: Streams {
                    count: self.number,
                    arrived: Bytes::new(bytes as u64),
                    rtt: Some(RTT),
                    rtt_min: Some(RTT),
                    ..Streams::default()
                },
                ..Interval::default()
            };
            self.online.on_interval(&interval);
            if let Some(part) = self.member.look(now, Some(self.report())) {
                self.online.fix(part);
            }
            self.number = self.online.streams().get();
        }
    }

    fn all(copies: &[Sending]) -> u16 {
        copies.iter().map(|copy| copy.number).sum()
    }

    /// Copies share the path by their streams, for so many seconds after `now`.
    fn run(copies: &mut [Sending], now: &mut Instant, seconds: u64) {
        let step = Duration::from_millis(250);
        for _ in 0..4 * seconds {
            *now += step;
            let streams: f64 = copies.iter().map(|copy| f64::from(copy.number)).sum();
            let each = EACH.min(CAPACITY / streams) * 0.25;
            for copy in copies.iter_mut() {
                copy.carry(each * f64::from(copy.number), step.into(), *now);
            }
        }
    }

    #[test]
    fn four_copies_of_one_peer_have_the_streams_of_one() {
        let (links, mut now) = (Arc::<PeerLinks>::default(), Instant::now());
        let mut copies: Vec<Sending> = (0..4).map(|_| Sending::new(&links, PEER)).collect();
        run(&mut copies, &mut now, 1);
        assert_eq!(all(&copies), 39, "what one begins with");
        run(&mut copies, &mut now, 600);
        assert!((10..=60).contains(&all(&copies)), "{}", all(&copies));
        let most = copies.iter().map(|copy| copy.number).max().unwrap();
        let least = copies.iter().map(|copy| copy.number).min().unwrap();
        assert!(most - least <= 1, "{least} to {most}");
    }

    #[test]
    fn the_last_copy_goes_on_from_the_streams_of_all() {
        let (links, mut now) = (Arc::<PeerLinks>::default(), Instant::now());
        let mut copies: Vec<Sending> = (0..3).map(|_| Sending::new(&links, PEER)).collect();
        run(&mut copies, &mut now, 30);
        let before = all(&copies);
        copies.truncate(1);
        run(&mut copies, &mut now, 4);
        assert_eq!(copies[0].member.part, None);
        assert!(
            copies[0].number >= before / 2,
            "{} of {before}",
            all(&copies)
        );
        drop(copies);
        assert!(links.all().links.is_empty());
    }

    #[test]
    fn peers_and_directions_are_links_of_their_own() {
        let (links, mut now) = (Arc::<PeerLinks>::default(), Instant::now());
        let mut copies = vec![Sending::new(&links, PEER), Sending::new(&links, OTHER)];
        let get = opening_of(CopyDirection::Get, &["x"]);
        let mut back = links.member(PEER, &get, Some(RTT)).unwrap();
        run(&mut copies, &mut now, 2);
        let report = copies[0].report();
        assert_eq!(back.look(now, Some(report)), None);
        assert!(copies.iter().all(|copy| copy.member.part.is_none()));
    }

    #[test]
    fn copies_whose_number_is_not_sought_take_no_part() {
        let links = Arc::<PeerLinks>::default();
        let usual = opening_of(CopyDirection::Put, &["x"]);
        let member = |change: &dyn Fn(&mut Opening)| {
            let mut opening = usual.clone();
            change(&mut opening);
            links.member(PEER, &opening, None)
        };
        assert!(member(&|_| ()).is_some());
        assert!(member(&|opening| opening.streams = Some(3)).is_none());
        assert!(member(&|opening| opening.gentle_nanoseconds = Some(1)).is_none());
        assert!(member(&|opening| opening.dry_run = true).is_none());
        let now = Instant::now();
        let mut copies: Vec<Sending> = (0..2).map(|_| Sending::new(&links, PEER)).collect();
        run(&mut copies, &mut now.clone(), 2);
        let later = now + Duration::from_secs(10);
        // The near end of one fixes its number.
        assert_eq!(copies[0].member.look(later, None), Some(None));
        assert_eq!(links.all().links[&(PEER, CopyDirection::Put)].told.len(), 1);
    }

    /// What a peer may tell.
    fn any_report() -> impl Strategy<Value = LinkReport> {
        let numbers = (any::<u64>(), any::<u16>(), any::<u64>(), any::<u16>());
        (numbers, any::<Option<u64>>(), any::<Option<f64>>()).prop_map(|(numbers, rtt, share)| {
            let (copy, weight, done, streams) = numbers;
            LinkReport {
                copy,
                weight,
                done: Bytes::new(done),
                streams,
                rtt: rtt.map(Span::from_nanos),
                retransmitted_share: share,
                limited_by: None,
            }
        })
    }

    proptest! {
        /// Copies come and die at any moment, and tell anything.
        #[test]
        fn parts_stay_within_bounds_whatever_copies_tell(
            steps in proptest::collection::vec((0_usize..8, 0_u64..2_000, any_report()), 0..300),
        ) {
            let (links, mut now) = (Arc::<PeerLinks>::default(), Instant::now());
            let opening = opening_of(CopyDirection::Put, &["x"]);
            let mut copies: Vec<LinkMember> = Vec::new();
            for (what, milliseconds, report) in steps {
                match what {
                    0..=1 => copies.extend(links.member(PEER, &opening, None)),
                    2 if !copies.is_empty() => {
                        copies.swap_remove(milliseconds as usize % copies.len());
                    }
                    _ => {
                        // The first turn tells of those that came, the second has all parts.
                        for wait in [milliseconds.max(250), 250] {
                            now += Duration::from_millis(wait);
                            for copy in &mut copies {
                                copy.look(now, Some(report));
                            }
                        }
                        let parts = copies.iter().filter_map(|copy| copy.part);
                        let all: usize = parts.map(|part| usize::from(part.get())).sum();
                        prop_assert!(all <= copies.len().max(128), "{all}");
                    }
                }
            }
            drop(copies);
            prop_assert!(links.all().links.is_empty());
        }
    }
}
