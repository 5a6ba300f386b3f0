//! The bounds this host sets and the congestion controls it has, as the calling thread's network
//! namespace shows them.

use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use observe::HostLimits;
use units::Bytes;

/// The bounds on socket buffers; `None` where they cannot be read.
pub fn limits() -> Option<HostLimits> {
    Some(HostLimits {
        send_fixed_max: last("/proc/sys/net/core/wmem_max")?,
        receive_fixed_max: last("/proc/sys/net/core/rmem_max")?,
        send_auto_max: last("/proc/sys/net/ipv4/tcp_wmem")?,
        receive_auto_max: last("/proc/sys/net/ipv4/tcp_rmem")?,
    })
}

/// The last number of a line: of three it is the maximum, of one it is the only one.
fn last(path: &str) -> Option<Bytes> {
    let text = fs::read_to_string(path).ok()?;
    text.split_whitespace().last()?.parse().ok().map(Bytes::new)
}

/// The congestion controls that this process may ask for, the default first.
///
/// The administrator of the network namespace may use all that the kernel has loaded
/// (`tcp_available_congestion_control`), others what is allowed to them
/// (`tcp_allowed_congestion_control`). Empty where the kernel tells neither. A control that the
/// kernel has as a module and has not loaded is missing here and may still be had by asking.
pub fn congestion_controls() -> Vec<String> {
    let others = match may_administer() {
        true => congestion_listed("available"),
        false => congestion_listed("allowed"),
    };
    distinct([congestion_listed(""), others].concat())
}

/// The names in `/proc/sys/net/ipv4/tcp_congestion_control`, or in the list `which` beside it.
pub fn congestion_listed(which: &str) -> Vec<String> {
    let infix = match which {
        "" => String::new(),
        which => format!("{which}_"),
    };
    let path = format!("/proc/sys/net/ipv4/tcp_{infix}congestion_control");
    let names = fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// Each name once, where it comes first.
fn distinct(names: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// Whether this process has `CAP_NET_ADMIN`, bit 12 of its effective capabilities: capabilities(7).
fn may_administer() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> 12 & 1 == 1)
}

/// Raises the bound on open files of this process as far as it may itself.
///
/// 128 streams in both directions with both ends in one process are above the customary 1024. Meant
/// to be called once by a program, before it serves or tests; where it fails, streams fail later
/// with a message that names the bound.
pub fn raise_open_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Lowering nothing, a refusal leaves things as they were.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_bounds() {
        let limits = limits().unwrap();
        assert!(limits.send_auto_max >= Bytes::from_kib(16));
        assert!(limits.receive_fixed_max >= Bytes::from_kib(16));
    }

    #[test]
    fn the_default_congestion_control_comes_first_and_each_once() {
        let controls = congestion_controls();
        assert_eq!(controls.first(), congestion_listed("").first());
        assert!(controls.contains(&"reno".to_owned()), "{controls:?}");
        let names = ["cubic", "reno", "cubic"].map(str::to_owned);
        assert_eq!(distinct(names.to_vec()), ["cubic", "reno"]);
    }

    #[test]
    fn the_bound_on_open_files_is_raised_to_its_maximum() {
        raise_open_files();
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert_eq!(soft, hard);
    }
}
