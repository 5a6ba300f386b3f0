//! What a year of half-hourly visits costs: `cargo bench -p trunkline-changes --bench year`.

use std::time::Instant;

use changes::{Detector, RoundTrips, Share, UnixTime, Visit, VisitKind};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Rate, Span};

const VISITS: u64 = 17_520;

fn main() {
    let mut random = Pcg64::seed_from_u64(1);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let visits: Vec<Visit> = (0..VISITS)
        .map(|number| {
            let at = UnixTime::from_seconds(1_767_571_200 + number * 1800);
            let mut visit = Visit::new(at, VisitKind::Throughput);
            visit.goodput = Some(Rate::from_f64(90e6 * (1.0 - 0.1 * uniform())));
            let trips = (0..20).map(|_| Span::from_secs_f64(0.02 + 1e-4 * uniform()));
            visit.round_trips = RoundTrips::new(trips.collect());
            visit.resent = Share::new(1e-3 * uniform());
            visit
        })
        .collect();
    for _ in 0..5 {
        let mut detector = Detector::new();
        let begin = Instant::now();
        let events: usize = visits.iter().map(|visit| detector.push(visit).len()).sum();
        let seconds = begin.elapsed().as_secs_f64();
        println!("{VISITS} visits in {seconds:.3} s, {events} reports");
    }
}
