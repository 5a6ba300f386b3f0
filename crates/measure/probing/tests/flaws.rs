//! Hosts that do not stamp or send as they should: what is told has to be right, doubted, or
//! nothing.

mod simulated;

use observe::{Probes, Stamped, Way};
use probing::CapacityMethod;
use probing::available::{self, Available, Known};
use probing::capacity::{self, Capacity};
use simulated::distorted::{Distorted, Flaw};
use simulated::{FULL, Simulated};
use units::{Bytes, Rate, Span};

const SEEDS: u64 = 8;
const MTU: Bytes = Bytes::new(1500);

fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

fn path(rate: u64, share: f64, flaw: Flaw, seed: u64) -> Distorted {
    Distorted::new(Simulated::new(&[(mbps(rate), share, FULL)], seed), flaw)
}

fn capacity_of(probes: &mut dyn Probes) -> Option<Capacity> {
    capacity::measure(probes, Way::Forward, MTU, &mut ()).ok()
}

/// With a capacity that is known otherwise.
fn available_of(probes: &mut dyn Probes, capacity: Rate) -> Available {
    let known = Known {
        mtu: MTU,
        capacity,
        rtt: Span::from_millis(10),
    };
    available::measure(probes, Way::Forward, &known, &mut ()).unwrap()
}

const US: fn(u64) -> Span = Span::from_micros;

/// From what hardly shows to what hides everything.
fn flaws() -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for span in [10, 50, 200, 1_000, 5_000, 50_000].map(US) {
        flaws.extend([Flaw::Ticks(span), Flaw::Late(span), Flaw::Coalesced(span)]);
    }
    flaws.extend([Flaw::Away(40, US(200)), Flaw::Away(40, US(20_000))]);
    flaws.extend([
        Flaw::Fast(200.0),
        Flaw::Fast(-200.0),
        Flaw::Loses(50),
        Flaw::Loses(7),
    ]);
    flaws
}

#[test]
fn no_capacity_is_wrong_with_confidence() {
    for rate in [10, 100, 600] {
        for share in [0.0, 0.3, 0.7] {
            for flaw in flaws() {
                for seed in 0..SEEDS {
                    let Some(found) = capacity_of(&mut path(rate, share, flaw, seed)) else {
                        continue;
                    };
                    let error = found.rate.as_f64() / mbps(rate).as_f64() - 1.0;
                    let honest = error.abs() < 0.05 || found.doubt.is_some();
                    assert!(honest, "{rate} {share} {flaw:?} seed {seed}: {error}");
                }
            }
        }
    }
}

/// Of eight runs with each flaw most ranges hold the truth, or there is none; what misses it misses
/// it by less than the flaw could hide.
#[test]
fn no_available_bandwidth_is_far_off_with_confidence() {
    for rate in [10, 100, 600] {
        for share in [0.0, 0.3, 0.7] {
            for flaw in flaws() {
                let mut missed = Vec::new();
                for seed in 0..SEEDS {
                    let found = available_of(&mut path(rate, share, flaw, seed), mbps(rate));
                    let Ok(range) = found.range else { continue };
                    let truth = mbps(rate).as_f64() * (1.0 - share);
                    let below = range.low.as_f64() - truth;
                    let above = truth - range.high.as_f64();
                    let off = below.max(above) / mbps(rate).as_f64();
                    assert!(off < 0.06, "{rate} {share} {flaw:?} seed {seed}: {off}");
                    if off > 0.03 {
                        missed.push(seed);
                    }
                }
                assert!(
                    missed.len() <= 3,
                    "{rate} {share} {flaw:?}: seeds {missed:?}"
                );
            }
        }
    }
}

#[test]
fn where_the_receiver_takes_batches_nothing_is_measurable() {
    for seed in 0..SEEDS {
        let hold = Flaw::Coalesced(Span::from_millis(50));
        assert!(capacity_of(&mut path(100, 0.3, hold, seed)).is_none());
        let found = available_of(&mut path(100, 0.3, hold, seed), mbps(100));
        let why = found.range.unwrap_err();
        assert!(why.contains("batches"), "seed {seed}: {why}");
    }
}

#[test]
fn a_sender_that_is_always_away_is_named() {
    let away = Flaw::Away(40, Span::from_millis(20));
    let why = available_of(&mut path(600, 0.0, away, 1), mbps(600)).range;
    let why = why.unwrap_err();
    assert!(why.contains("the sender was held up"), "{why}");
}

#[test]
fn a_lossy_wire_is_not_taken_for_a_full_one() {
    // One in seven lost at any rate: no rate is free of it.
    let why = available_of(&mut path(100, 0.0, Flaw::Loses(7), 1), mbps(100)).range;
    let why = why.unwrap_err();
    assert!(why.contains("lost packets"), "{why}");
}

#[test]
fn a_capacity_that_is_believed_too_low_is_found_out() {
    let mut path = Simulated::new(&[(mbps(100), 0.0, FULL)], 1);
    let why = available_of(&mut path, mbps(60)).range.unwrap_err();
    assert!(why.contains("the capacity is more"), "{why}");
}

#[test]
fn stamps_of_a_program_ask_for_bulks_earlier() {
    let method = |stamped| {
        let exact = Simulated::new(&[(mbps(100), 0.0, FULL)], 1);
        let mut path = Distorted::new(exact, Flaw::Ticks(Span::from_nanos(1)));
        path.stamped = stamped;
        capacity_of(&mut path).unwrap().method
    };
    // A pair is 120 us apart: enough for a kernel, and little for a program.
    assert_eq!(method(Stamped::ByKernel), CapacityMethod::Pairs);
    assert_eq!(method(Stamped::ByProgram), CapacityMethod::Bulks);
}
