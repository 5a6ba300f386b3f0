//! Random visits, and a PostgreSQL server of the test's own.

#![allow(dead_code, reason = "each test uses a part")]

pub mod server;

use changes::{
    Delay, Failure, FarHost, LossPattern, NoSlope, OneWay, ProbeCount, ProbeSequence, RoundTrips,
    Route, Share, SizeSlope, SlowestLink, UnixTime, Unknown, Visit, VisitKind, WayDelay,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Rate, Span};
use watch_store::{Name, Pair, StoredVisit, VisitId};

/// Midnight of 2026-01-01 UTC.
pub const START: u64 = 1_767_225_600;

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn pair(from: &str, to: &str) -> Pair {
    Pair {
        from: name(from),
        to: name(to),
    }
}

pub fn time(seconds: u64) -> UnixTime {
    UnixTime::from_seconds(seconds)
}

/// Draws visits.
pub struct Draw(pub Pcg64Mcg);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn often(&mut self) -> bool {
        self.below(3) > 0
    }

    pub fn id(&mut self, at: UnixTime) -> VisitId {
        let mut random = [0; 10];
        self.0.fill_bytes(&mut random);
        VisitId::new(at, random)
    }

    /// Any visit of four hosts and two tasks within `days` from the start.
    pub fn visit(&mut self, days: u64) -> StoredVisit {
        let hosts = [
            "amsterdam",
            "berlin",
            "cern \"x\" 東",
            "d'oh; DROP TABLE visits",
        ];
        let at = time(START + self.below(days * 86_400));
        let mut host = || hosts[self.below(4) as usize];
        let pair = pair(host(), host());
        StoredVisit {
            id: self.id(at),
            pair,
            task: name(["mesh", "other"][self.below(2) as usize]),
            visit: self.figures(at),
            rates: (self.below(4) == 0).then(|| (0..100).map(|_| self.rate()).collect()),
            document: (self.below(5) == 0).then(|| format!("{{\"n\":{}}}", self.below(9999))),
        }
    }

    fn rate(&mut self) -> Rate {
        Rate::from_bits_per_second(self.below(10_000_000_000))
    }

    fn share(&mut self) -> Option<Share> {
        Share::new(self.below(1_000_000_001) as f64 / 1e9)
    }

    fn figures(&mut self, at: UnixTime) -> Visit {
        let kind = VisitKind::ALL[self.below(5) as usize];
        let mut visit = Visit::new(at, kind);
        if self.below(10) == 0 {
            let reason = ["connection refused", "no route'"][self.below(2) as usize];
            visit.failure = Some(Failure {
                reason: reason.to_owned(),
            });
            return visit;
        }
        visit.goodput = self.often().then(|| self.rate());
        visit.resent = if self.often() { self.share() } else { None };
        visit.stolen = if self.often() { self.share() } else { None };
        let count = self.below(21);
        let trips = (0..count).map(|_| self.span());
        visit.round_trips = RoundTrips::new(trips.collect());
        visit.loaded = self.often().then(|| self.span());
        let sent = self.below(21) as u32;
        visit.probes = self.often().then(|| ProbeCount {
            sent,
            lost: self.below(u64::from(sent) + 1) as u32,
            duplicated: self.below(3) as u32,
            reordered: self.below(3) as u32,
        });
        visit.sequence = self.often().then(|| {
            let probes = (0..self.below(21)).map(|_| self.often().then(|| self.span()));
            ProbeSequence::of(&probes.collect::<Vec<_>>())
        });
        visit.losses = match self.often() {
            true => LossPattern::of((0..self.below(21)).map(|_| self.often())),
            false => None,
        };
        visit.slowest_link = self.often().then(|| self.slowest_link());
        visit.jitter = self.often().then(|| self.span());
        visit.one_way = self.often().then(|| OneWay {
            forward: self.way(),
            reverse: self.way(),
            clock_error: self.often().then(|| self.span()),
        });
        visit.route = self.often().then(|| self.route());
        visit.limit = self.often().then_some(observe::Limit::Loss);
        visit.far_host = self.often().then(|| FarHost {
            kernel: Some(format!("6.{}", self.below(3))),
            limits: None,
        });
        visit
    }

    fn span(&mut self) -> Span {
        Span::from_nanos(self.below(300_000_000))
    }

    fn way(&mut self) -> WayDelay {
        let sent = self.below(40) as u32;
        WayDelay {
            sent,
            lost: self.below(u64::from(sent) + 1) as u32,
            variation: self.often().then(|| self.span()),
            delay: match self.often() {
                true => Delay::Seconds(self.span()),
                false => Delay::Unknown(Unknown::FarClock),
            },
        }
    }

    fn slowest_link(&mut self) -> SlowestLink {
        match self.often() {
            true => SlowestLink::Slope(SizeSlope {
                rate: self.rate(),
                low: self.rate(),
                high: self.rate(),
            }),
            false => SlowestLink::Unknown(NoSlope::NotGrowing),
        }
    }

    fn route(&mut self) -> Route {
        let number = self.below(5);
        Route {
            hash: u64::MAX - number,
            hops: (0..number * 60)
                .map(|hop| format!("192.0.2.{hop}"))
                .collect(),
        }
    }
}
