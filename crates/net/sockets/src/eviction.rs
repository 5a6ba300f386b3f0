//! Eviction of the oldest unidentified connection of the busiest address.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Position of the oldest connection of the address with the most; `addresses` in order of arrival.
///
/// A host that opens connections without end thus evicts only its own.
pub fn oldest_of_largest(addresses: impl Iterator<Item = IpAddr> + Clone) -> Option<usize> {
    let mut crowds: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for address in addresses.clone() {
        *crowds.entry(address).or_default() += 1;
    }
    let (largest, _) = crowds.into_iter().max_by_key(|(_, count)| *count)?;
    let mut addresses = addresses;
    addresses.position(|address| address == largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_who_came_alone_stays() {
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        let waiting = [7, 9, 9, 8, 9].map(address);
        assert_eq!(oldest_of_largest(waiting.into_iter()), Some(1));
        assert_eq!(oldest_of_largest(std::iter::empty()), None);
    }
}
