use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

#[test]
fn random_values_come_back_exactly() {
    for seed in 0..500 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut draw = |bits: u32| random.next_u64() >> (64 - bits);
        let (bits, count) = (1 + (seed % 64) as u32, draw(6));
        let trips = RoundTrips::new((0..count).map(|_| Span::from_nanos(draw(bits))).collect());
        let rates = (seed % 3 > 0).then(|| (0..count).map(|_| draw(bits)).collect::<Vec<_>>());
        let rates: Option<Vec<Rate>> =
            rates.map(|rates| rates.into_iter().map(Rate::from_bits_per_second).collect());
        let expected = Raw { trips, rates };
        let packed = pack(expected.trips.as_ref(), expected.rates.as_deref());
        let found = packed.map_or_else(Raw::default, |bytes| unpack(&bytes).unwrap());
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn twenty_round_trips_take_less_room_than_whole_microseconds() {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    // 82.5 ms, with an exponential queue of 200 us on average.
    let mut trip = || {
        let share = (random.next_u64() >> 11) as f64 / 2f64.powi(53);
        Span::from_nanos(82_500_000 + (-(1.0 - share).ln() * 200_000.0) as u64)
    };
    let trips = RoundTrips::new((0..20).map(|_| trip()).collect());
    let packed = pack(trips.as_ref(), None).unwrap();
    assert!(packed.len() < 80, "{} bytes", packed.len());
}

#[test]
fn damaged_bytes_are_refused_or_give_other_values_and_never_panic() {
    for seed in 0..2000 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut bytes = vec![0; 40];
        random.fill_bytes(&mut bytes);
        unpack(&bytes);
        unpack_document(&bytes);
    }
    let document = pack_document("{\"a\":1}").unwrap();
    assert_eq!(unpack_document(&document).as_deref(), Some("{\"a\":1}"));
    assert_eq!(unpack_document(&document[..document.len() - 2]), None);
}
