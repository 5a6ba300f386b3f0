//! Seeded visits for tests.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Rate, Span};

use crate::{Detector, Event, RoundTrips, Route, Share, UnixTime, Visit, VisitKind};

/// A Monday.
const BEGIN: u64 = 1_767_571_200;

pub(crate) struct Noise(Pcg64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Noise(Pcg64::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

pub(crate) fn at(number: u64) -> UnixTime {
    UnixTime::from_seconds(BEGIN + number * 1800)
}

/// A visit with a goodput only.
pub(crate) fn goodput(number: u64, bits: f64) -> Visit {
    let mut visit = Visit::new(at(number), VisitKind::Throughput);
    visit.goodput = Some(Rate::from_f64(bits));
    visit
}

/// A visit of a quiet path: 90 Mbit/s within 1 %, 20 ms within some microseconds, no loss.
pub(crate) fn quiet(number: u64, noise: &mut Noise) -> Visit {
    let mut visit = goodput(number, 90e6 * (0.01 * noise.normal()).exp());
    let trips = (0..20).map(|_| Span::from_secs_f64(0.020 + 20e-6 * noise.uniform()));
    visit.round_trips = RoundTrips::new(trips.collect());
    visit.loaded = Some(Span::from_secs_f64(0.030 + 1e-3 * noise.uniform()));
    visit.resent = Share::new(1e-4 * noise.uniform());
    visit.route = Some(Route {
        hash: 1,
        hops: Vec::new(),
    });
    visit
}

/// Longer by so many milliseconds.
pub(crate) fn delayed(mut visit: Visit, millis: u64) -> Visit {
    let more = Span::from_millis(millis);
    let trips = visit.round_trips.take();
    let trips = trips.map(|trips| trips.sorted().iter().map(|rtt| *rtt + more).collect());
    visit.round_trips = trips.and_then(RoundTrips::new);
    visit.loaded = visit.loaded.map(|loaded| loaded + more);
    visit
}

/// With this share of its goodput.
pub(crate) fn slowed(mut visit: Visit, share: f64) -> Visit {
    visit.goodput = visit
        .goodput
        .map(|rate| Rate::from_f64(rate.as_f64() * share));
    visit
}

/// All events of these visits.
pub(crate) fn events(visits: impl IntoIterator<Item = Visit>) -> Vec<Event> {
    let mut detector = Detector::new();
    visits
        .into_iter()
        .flat_map(|visit| detector.push(&visit))
        .collect()
}

/// `quiet` visits of which those from `changed` on are changed.
pub(crate) fn changed_from(
    changed: u64,
    count: u64,
    seed: u64,
    change: impl Fn(Visit) -> Visit,
) -> Vec<Visit> {
    let mut noise = Noise::new(seed);
    let visits = (0..count).map(|number| {
        let visit = quiet(number, &mut noise);
        match number >= changed {
            true => change(visit),
            false => visit,
        }
    });
    visits.collect()
}
