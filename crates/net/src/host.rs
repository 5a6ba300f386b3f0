//! The bounds this host sets, as the calling thread's network namespace shows them.

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
    fn the_bound_on_open_files_is_raised_to_its_maximum() {
        raise_open_files();
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert_eq!(soft, hard);
    }
}
