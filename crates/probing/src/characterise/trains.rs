//! The two parts that send trains.

use observe::{Probes, ProbesError, Watch, Way};
use units::{Bytes, Span};

use super::{Characteristics, Part, ProbeSeries};
use crate::{Available, Capacity};

/// Full packets of Ethernet, where the path's MTU is not known.
const USUAL: Bytes = Bytes::new(1500);

/// The largest packet that passes.
pub(super) fn packet(found: &Characteristics) -> Bytes {
    found.mtu.map_or(USUAL, |mtu| mtu.bytes.min(USUAL))
}

/// The smallest round trip so far.
pub(super) fn rtt(found: &Characteristics) -> Option<Span> {
    found.round_trips.as_ref().and_then(ProbeSeries::min)
}

pub(super) fn capacity(
    _probes: &mut dyn Probes,
    _way: Way,
    _packet: Bytes,
    _watch: &mut dyn Watch,
) -> Part<Capacity> {
    Err(missing())
}

pub(super) fn available(
    _probes: &mut dyn Probes,
    _capacity: &Capacity,
    _packet: Bytes,
    _rtt: Option<Span>,
    _watch: &mut dyn Watch,
) -> Part<Available> {
    Err(missing())
}

fn missing() -> ProbesError {
    ProbesError::Unsupported {
        why: "this version sends no trains".to_owned(),
        hint: None,
    }
}
