//! The two parts that send trains.

use observe::{Probes, RunObserver, Way};
use units::{Bytes, Span};

use super::{Characteristics, Part, ProbeSeries};
use crate::available::Known;
use crate::{Available, Capacity, available, capacity};

/// Full packets of Ethernet, where the path's MTU is not known.
const USUAL: Bytes = Bytes::new(1500);

/// The largest packet that passes.
pub(super) fn packet(found: &Characteristics) -> Bytes {
    found.mtu.map_or(USUAL, |mtu| mtu.bytes.min(USUAL))
}

/// The same without a bound to what trains are sent in, where a packet of that size was answered.
pub(super) fn largest(found: &Characteristics) -> Bytes {
    let confirmed = found.mtu.filter(|mtu| mtu.confirmed);
    confirmed.map_or_else(|| packet(found), |mtu| mtu.bytes)
}

/// The smallest round trip so far.
pub(super) fn rtt(found: &Characteristics) -> Option<Span> {
    found.round_trips.as_ref().and_then(ProbeSeries::min)
}

pub(super) fn capacity(
    probes: &mut dyn Probes,
    way: Way,
    packet: Bytes,
    watch: &mut dyn RunObserver,
) -> Part<Capacity> {
    let capacity = capacity::measure(probes, way, packet, watch)?;
    let bytes = capacity.cost.bytes;
    Ok((capacity, Some(bytes)))
}

pub(super) fn available(
    probes: &mut dyn Probes,
    way: Way,
    known: &Known,
    watch: &mut dyn RunObserver,
) -> Part<Available> {
    let available = available::measure(probes, way, known, watch)?;
    let bytes = available.cost.bytes;
    Ok((available, Some(bytes)))
}
