//! What opens a copy, near or between two hosts, and what both of them need.

use std::time::Instant;

use copy_protocol::{FarHost, ProblemKind};

use crate::CopyError;
use crate::copy_stats::CopyStats;
use crate::session::SessionEnd;

/// What opens a copy as often as it takes.
pub(super) trait Opener {
    /// Opens it once, and runs it to the end of that session.
    fn attempt(&mut self, stats: &mut CopyStats<'_>) -> SessionEnd;
    /// Whether the other end was there.
    fn presence(&mut self) -> &mut Presence;
    /// Which end was lost or not reached in the last attempt.
    fn peer(&self) -> String;
    /// What to look at when it was never there.
    fn how_to_reach(&self) -> String;
}

/// Whether the far end was there.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// When a session last made progress, the first connection was made, or the far end had no
    /// place; `None` if it was never there. One that answers and goes away each time counts as
    /// lost.
    pub seen: Option<Instant>,
}

impl Presence {
    /// A session begins.
    pub fn begin(&mut self) {
        self.seen.get_or_insert_with(Instant::now);
    }
}

/// How users call a far end.
pub(crate) fn name_of(host: &FarHost) -> String {
    match host {
        FarHost::Server { address, .. } => address.to_string(),
        FarHost::Ssh { destination, .. } => destination.clone(),
    }
}

/// The number of a new copy.
pub(crate) fn new_number() -> Result<[u8; 16], CopyError> {
    let identity = copy_net::new_secret().map_err(|error| CopyError::Problem {
        kind: ProblemKind::Request,
        what: format!("this host gives no random numbers: {error}"),
        hint: None,
        so_far: None,
    })?;
    // The number is no secret: it is a hash of one.
    let hash = blake3::derive_key("trunkline copy 1 number", identity.text().as_bytes());
    let mut copy = [0; 16];
    copy.copy_from_slice(&hash[..16]);
    Ok(copy)
}

/// Whether a name stands for others.
pub(crate) fn has_wildcard(paths: &[Vec<u8>]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'{');
    paths.iter().any(|path| path.iter().any(is_special))
}
