//! Raw values of a visit as compact bytes.
//!
//! Round trips are sorted: the first in nanoseconds, then the differences. Rates are divided by
//! their greatest common divisor, then differences. Both are variable-length integers (postcard).
//! Nothing is rounded.

use changes::RoundTrips;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// Most bytes of an unpacked document.
const DOCUMENT_MAX: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Packed {
    trips: Vec<u64>,
    rates: Option<PackedRates>,
}

#[derive(Serialize, Deserialize)]
struct PackedRates {
    unit: u64,
    steps: Vec<i64>,
}

/// The raw values of a visit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Raw {
    pub trips: Option<RoundTrips>,
    pub rates: Option<Vec<Rate>>,
}

/// The bytes; `None` where there are no values.
pub(crate) fn pack(trips: Option<&RoundTrips>, rates: Option<&[Rate]>) -> Option<Vec<u8>> {
    if trips.is_none() && rates.is_none() {
        return None;
    }
    let sorted = trips.map_or(&[][..], RoundTrips::sorted);
    let mut before = 0;
    let steps = sorted.iter().map(|trip| {
        let nanos = trip.as_nanos();
        let step = nanos.wrapping_sub(before);
        before = nanos;
        step
    });
    let packed = Packed {
        trips: steps.collect(),
        rates: rates.map(pack_rates),
    };
    postcard::to_stdvec(&packed).ok()
}

fn pack_rates(rates: &[Rate]) -> PackedRates {
    let values = rates.iter().map(|rate| rate.bits_per_second());
    let unit = values.clone().fold(0, common).max(1);
    let mut before: u64 = 0;
    let steps = values.map(|value| {
        let value = value / unit;
        let step = value.wrapping_sub(before).cast_signed();
        before = value;
        step
    });
    PackedRates {
        unit,
        steps: steps.collect(),
    }
}

/// Greatest common divisor; zero counts as a multiple of everything.
fn common(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => common(b, a % b),
    }
}

/// The values again; `None` where the bytes are not what [`pack`] gave.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Raw> {
    let packed: Packed = postcard::from_bytes(bytes).ok()?;
    let mut sum: u64 = 0;
    let trips = packed.trips.into_iter().map(|step| {
        sum = sum.wrapping_add(step);
        Span::from_nanos(sum)
    });
    Some(Raw {
        trips: RoundTrips::new(trips.collect()),
        rates: packed.rates.map(unpack_rates),
    })
}

fn unpack_rates(packed: PackedRates) -> Vec<Rate> {
    let mut sum: u64 = 0;
    let rates = packed.steps.into_iter().map(|step| {
        sum = sum.wrapping_add(step.cast_unsigned());
        Rate::from_bits_per_second(sum.wrapping_mul(packed.unit))
    });
    rates.collect()
}

/// A document, compressed (RFC 8878).
pub(crate) fn pack_document(document: &str) -> std::io::Result<Vec<u8>> {
    zstd::encode_all(document.as_bytes(), 3)
}

/// The document again; `None` where it is damaged or larger than 256 MiB.
pub(crate) fn unpack_document(bytes: &[u8]) -> Option<String> {
    use std::io::Read;
    let mut text = String::new();
    let decoder = zstd::Decoder::new(bytes).ok()?;
    let read = decoder
        .take(DOCUMENT_MAX + 1)
        .read_to_string(&mut text)
        .ok()?;
    (read as u64 <= DOCUMENT_MAX).then_some(text)
}

#[cfg(test)]
mod tests;
