//! The version of the internet protocol of an address in a plan.

use std::net::{IpAddr, Ipv4Addr};

use units::Family;

/// The version of an address that is a number, with a port or without; a name has none.
///
/// ```
/// use units::Family;
/// use watch_plan::ip_version;
/// assert_eq!(ip_version("[2001:db8::1]:5202"), Some(Family::V6));
/// assert_eq!(ip_version("192.0.2.1:5202"), Some(Family::V4));
/// assert_eq!(ip_version("dtn.example.org"), None);
/// ```
pub fn ip_version(address: &str) -> Option<Family> {
    let in_brackets = address
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    let number = in_brackets.map_or(address, |(number, _)| number);
    let number: IpAddr = number.parse().ok().or_else(|| {
        let (number, _) = number.rsplit_once(':')?;
        number.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
    })?;
    Some(Family::of(&number))
}
