//! Why there is no trace, in words for the user.

use std::io;
use std::net::IpAddr;

use observe::{Fault, ProbesError, TargetError};

/// Why probing ended early.
#[derive(Debug)]
pub(crate) enum TraceError {
    /// The user had enough.
    Cancelled,
    /// The host did not send.
    Host(io::Error),
    /// Neither probes nor the kernel tell.
    Unknown,
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        TraceError::Host(error)
    }
}

/// For the user.
pub(super) fn to_probes_error(far: IpAddr, to_probes_error: TraceError) -> ProbesError {
    match to_probes_error {
        TraceError::Cancelled => ProbesError::Failed(TargetError {
            fault: Fault::Cancelled,
            what: "the test was cancelled".to_owned(),
            hint: None,
            source: None,
        }),
        TraceError::Host(error) => refused(far, error),
        TraceError::Unknown => ProbesError::Unsupported {
            why: format!(
                "{far} answers no packets of any size, and this host has no belief of its own"
            ),
            hint: None,
        },
    }
}

/// A socket could not be had, or did not send.
pub(super) fn refused(far: IpAddr, error: io::Error) -> ProbesError {
    let (what, hint) = match error.raw_os_error() {
        Some(libc::ENETUNREACH | libc::EHOSTUNREACH) => (
            format!("this host has no way to {far}"),
            Some("check the address and `ip route get`".to_owned()),
        ),
        Some(libc::EPERM | libc::EACCES) => (
            format!("this host does not let probes to {far} out"),
            Some("see whether a local firewall drops them".to_owned()),
        ),
        Some(libc::EMFILE | libc::ENFILE) => (
            "no descriptor is left for a probing socket".to_owned(),
            Some("raise the limit on open files (`ulimit -n`)".to_owned()),
        ),
        _ => (format!("probes to {far} cannot be sent"), None),
    };
    ProbesError::Failed(TargetError {
        fault: Fault::Run,
        what,
        hint,
        source: Some(Box::new(error)),
    })
}

/// An ICMP socket could not be had.
pub(super) fn icmp_refused(far: IpAddr, error: io::Error) -> ProbesError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => ProbesError::Unsupported {
            why: "this user may not send ICMP echo requests".to_owned(),
            hint: Some(
                "trace with UDP or TCP, which need no rights; or root allows it to everybody with \
                 `sysctl net.ipv4.ping_group_range=\"0 2147483647\"`"
                    .to_owned(),
            ),
        },
        _ => refused(far, error),
    }
}
