//! What made-up visits show.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use changes::{ProbeCount, RoundTrips, Route, Share, Visit};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Rate, Span};
use watch_agent::{Shown, Visitor};
use watch_plan::{Due, Kind, Plan};

/// Long enough that all visits of one second are there together.
const LASTS: Duration = Duration::from_millis(20);
/// Bytes of the document of `trunkline path --quick`, on a path of 8 hops.
const DOCUMENT: usize = 12_000;

/// Draws what visits show.
pub struct MadeUp(Mutex<Pcg64Mcg>);

impl MadeUp {
    pub fn new(seed: u64) -> Self {
        MadeUp(Mutex::new(Pcg64Mcg::seed_from_u64(seed)))
    }
}

impl Visitor for MadeUp {
    fn visit(&self, _: &Plan, due: &Due, begun: Visit, _: &AtomicBool) -> Shown {
        thread::sleep(LASTS);
        let mut draw = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shown = Shown {
            visit: begun,
            rates: None,
            document: None,
        };
        small_packets(&mut shown.visit, &mut draw);
        match due.kind {
            Kind::Throughput => streams(&mut shown, &mut draw),
            Kind::Path => shown.document = Some(document(&mut draw)),
            _ => {}
        }
        shown
    }
}

fn share(draw: &mut Pcg64Mcg) -> f64 {
    (draw.next_u64() >> 11) as f64 / 2f64.powi(53)
}

/// Twenty raw round trips, and the way.
fn small_packets(visit: &mut Visit, draw: &mut Pcg64Mcg) {
    let trip = |share: f64| Span::from_nanos((3e7 - (1.0 - share).ln() * 4e5) as u64);
    visit.round_trips = RoundTrips::new((0..20).map(|_| trip(share(draw))).collect());
    visit.probes = Some(ProbeCount {
        sent: 40,
        lost: u32::from(share(draw) < 0.02),
        duplicated: 0,
        reordered: 0,
    });
    visit.route = Some(Route {
        hash: 7,
        hops: (0..8).map(|hop| format!("192.0.2.{hop}")).collect(),
    });
    visit.stolen = Share::new(share(draw) * 1e-3);
}

/// Ten rates a second for 25 s.
fn streams(shown: &mut Shown, draw: &mut Pcg64Mcg) {
    let segments = (0..250).map(|_| 6000.0 * (0.95 + 0.1 * share(draw)));
    let rates: Vec<Rate> = segments
        .map(|segments| Rate::from_bits_per_second(segments as u64 * 1448 * 80))
        .collect();
    let sum: u64 = rates.iter().map(|rate| rate.bits_per_second()).sum();
    shown.visit.goodput = Some(Rate::from_bits_per_second(sum / rates.len() as u64));
    shown.visit.resent = Share::new(share(draw) * 1e-4);
    shown.rates = Some(rates);
}

/// Numbers of a document, which compress like those of one.
fn document(draw: &mut Pcg64Mcg) -> String {
    let mut text = String::from("{\"kind\":\"made-up\",\"rtt_seconds\":[0");
    while text.len() < DOCUMENT {
        text += &format!(",{:.9}", 0.03 + 0.001 * share(draw));
    }
    text + "]}"
}
