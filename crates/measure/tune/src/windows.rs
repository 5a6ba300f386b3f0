//! The largest windows that hosts grant.

use observe::HostLimits;
use units::Bytes;

/// The largest window that both ends grant; the far end is taken to be like this one.
pub(crate) fn granted_max(limits: Option<HostLimits>) -> Option<Bytes> {
    limits.map(|limits| limits.send_fixed_max.min(limits.receive_fixed_max))
}
