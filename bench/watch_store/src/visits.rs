//! The visits of a mesh, drawn from a seed.

use changes::{FarHost, ProbeCount, RoundTrips, Route, Share, UnixTime, Visit, VisitKind};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Rate, Span};
use watch_store::{Name, Pair, StoredVisit, VisitId};

/// Hosts of the mesh.
const HOSTS: u64 = 30;
/// Seconds between two visits to a pair.
pub const EVERY: u64 = 1800;
/// Midnight of 2026-01-01 UTC.
pub const START: u64 = 1_767_225_600;

/// Draws the visits of a 30 x 30 mesh.
pub struct Mesh(Pcg64Mcg);

impl Mesh {
    pub fn new(seed: u64) -> Self {
        Mesh(Pcg64Mcg::seed_from_u64(seed))
    }

    /// One visit to each of the 870 pairs, spread over half an hour.
    pub fn round(&mut self, number: u64) -> Vec<StoredVisit> {
        let pairs = (0..HOSTS * HOSTS).map(|n| (n / HOSTS, n % HOSTS));
        let pairs: Vec<_> = pairs.filter(|(from, to)| from != to).collect();
        let count = pairs.len() as u64;
        let at = |place: u64| START + number * EVERY + place * EVERY / count;
        let visits = (0..).zip(pairs);
        visits
            .map(|(place, (from, to))| self.visit(from, to, at(place)))
            .collect()
    }

    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / 2f64.powi(53)
    }

    /// 20 round trips and 10 s of goodput ten times a second. The rate is some number of segments
    /// of 1448 bytes in each tenth of a second, as TCP_INFO counts them.
    fn visit(&mut self, from: u64, to: u64, at: u64) -> StoredVisit {
        let at = UnixTime::from_seconds(at);
        let mut random = [0; 10];
        self.0.fill_bytes(&mut random);
        let base = 1e6 * (1 + (from * 7 + to * 3) % 90) as f64;
        let trip = |share: f64| Span::from_nanos((base - (1.0 - share).ln() * 2e5) as u64);
        let trips = (0..20).map(|_| trip(self.share())).collect();
        let segments = 2000.0 + 200.0 * ((from + to) % 30) as f64;
        let rates = (0..100).map(|_| segments * (0.9 + 0.2 * self.share()));
        let rates: Vec<Rate> = rates
            .map(|segments| Rate::from_bits_per_second(segments as u64 * 1448 * 80))
            .collect();
        let mean = rates.iter().map(|rate| rate.bits_per_second()).sum::<u64>() / 100;
        let mut visit = Visit::new(at, VisitKind::Throughput);
        visit.goodput = Some(Rate::from_bits_per_second(mean));
        visit.resent = Share::new(self.share() * 1e-4);
        visit.round_trips = RoundTrips::new(trips);
        visit.loaded = Some(trip(self.share()));
        visit.probes = Some(ProbeCount {
            sent: 20,
            lost: u32::from(self.share() < 0.02),
            duplicated: 0,
            reordered: 0,
        });
        // One route in a hundred visits is another one.
        let route = u64::from(self.share() < 0.01);
        visit.route = Some(Route {
            hash: from << 20 | to << 10 | route,
            hops: (0..12)
                .map(|hop| format!("192.0.{}.{}", from + route, to + hop))
                .collect(),
        });
        visit.far_host = Some(FarHost {
            kernel: Some("6.1.0-30-amd64".to_owned()),
            limits: None,
        });
        StoredVisit {
            id: VisitId::new(at, random),
            pair: pair(from, to),
            task: task(),
            visit,
            rates: Some(rates),
            document: None,
        }
    }
}

fn name(text: &str) -> Name {
    text.parse().expect("a name of the benchmark is one")
}

pub fn host(number: u64) -> String {
    format!("host{number}.example.org")
}

pub fn pair(from: u64, to: u64) -> Pair {
    Pair {
        from: name(&host(from)),
        to: name(&host(to)),
    }
}

pub fn task() -> Name {
    name("mesh")
}
