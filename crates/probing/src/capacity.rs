//! Capacity: the rate of the narrowest link, from how far it pulls packets apart.

use observe::Way;
use units::Rate;

use crate::Cost;

/// The rate of the narrowest link of one direction, at the IP layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Which direction.
    pub way: Way,
    /// The estimate.
    pub rate: Rate,
    /// What it comes from.
    pub method: CapacityMethod,
    /// Why it may not be trusted: a sentence without a full stop; `None` where it passed its own test.
    pub doubt: Option<String>,
    /// The estimate of each train that was sent, in order.
    pub estimates: Vec<Rate>,
    /// What it cost.
    pub cost: Cost,
}

/// What a capacity was estimated from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CapacityMethod {
    /// The pair of packets with the smallest sum of delays (CapProbe).
    Pairs,
    /// Bulks of more packets, where pairs would be closer together than clocks can tell (PBProbe).
    Bulks,
}
