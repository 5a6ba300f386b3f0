//! Which version of the internet protocol a test crosses its path with.

use std::env;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::thread;

/// The variable that decides for all tests: `4` or `6`. Without it they take turns.
const FAMILY: &str = "TRUNKLINE_FAMILY";

/// The loopback address of the calling test. Tests take turns by their names: a suite crosses its
/// path over both versions in the time of one, and a test has the same one in each run. To be
/// called on the test's own thread.
///
/// # Panics
/// As [`is_ipv6`].
pub fn loopback() -> IpAddr {
    match is_ipv6(turn()) {
        true => Ipv6Addr::LOCALHOST.into(),
        false => Ipv4Addr::LOCALHOST.into(),
    }
}

/// The number of the calling test, by its name.
pub fn turn() -> u64 {
    let thread = thread::current();
    let bytes = thread.name().unwrap_or_default().bytes();
    bytes.fold(0, |sum, byte| sum + u64::from(byte))
}

/// Whether a case is over IPv6: every second one, unless `TRUNKLINE_FAMILY` says `4` or `6` of all.
///
/// # Panics
/// When the variable says something else, and with `CI=true` where this host has no IPv6.
pub fn is_ipv6(case: u64) -> bool {
    let asked = env::var_os(FAMILY);
    let is_known = asked.as_ref().is_none_or(|one| one == "4" || one == "6");
    assert!(is_known, "{FAMILY} is {asked:?}, neither 4 nor 6");
    let is_wanted = asked.map_or(case % 2 == 1, |one| one == "6");
    if is_wanted && TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        super::skip("this host has no IPv6: IPv4 alone is tried");
        return false;
    }
    is_wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_take_turns_and_a_test_keeps_its_own() {
        if env::var_os(FAMILY).is_none() {
            let has_ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
            assert!(!is_ipv6(0) && is_ipv6(1) == has_ipv6);
        }
        assert_eq!(loopback(), loopback());
    }
}
