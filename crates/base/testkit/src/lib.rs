//! What tests share: skips that are seen and fail where everything must run, the version of the
//! internet protocol of a test, and random changes of files.
//!
//! A test that lacks a peer or a right asks here first and returns when the answer is no:
//!
//! ```no_run
//! if !testkit::has_program("iperf3") {
//!     return;
//! }
//! ```
//! The skip is written to standard error and, when `TRUNKLINE_SKIPS` names a file, to that file,
//! which `make test` shows at the end. With `CI=true` a skip fails the test.

mod family;
mod mutator;

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

pub use family::{is_ipv6, loopback, turn};
pub use mutator::{Mutator, read_changed};

/// Whether `name` can be run; says that the test is skipped when it cannot.
///
/// # Panics
/// With `CI=true` when it cannot: there everything has to run.
pub fn has_program(name: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    if !found {
        skip(&format!("`{name}` is not installed"));
    }
    found
}

/// Whether paths can be emulated from a test, which needs root and TUN devices; says that the test
/// is skipped when they cannot.
///
/// # Panics
/// With `CI=true` when they cannot.
pub fn can_emulate() -> bool {
    let missing = match (is_administrator(), Path::new("/dev/net/tun").exists()) {
        (true, true) => return true,
        (false, _) => "emulating a path from a test needs root",
        (_, false) => "this kernel has no /dev/net/tun",
    };
    skip(missing);
    false
}

/// Whether this process has `CAP_SYS_ADMIN`, bit 21 of its effective capabilities: capabilities(7).
fn is_administrator() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> 21 & 1 == 1)
}

/// Notes that the calling test, or the rest of it, is skipped.
///
/// # Panics
/// With `CI=true`.
pub fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("skipped: {test}: {reason}");
    assert!(
        env::var_os("CI").is_none(),
        "{line}, and CI must run everything"
    );
    eprintln!("{line}");
    if let Some(file) = env::var_os("TRUNKLINE_SKIPS") {
        let log = OpenOptions::new().create(true).append(true).open(file);
        // A log that cannot be written must not hide that the test was skipped.
        let mut log = log.expect("TRUNKLINE_SKIPS names a file that can be written");
        writeln!(log, "{line}").expect("the skip log takes a line");
    }
}
