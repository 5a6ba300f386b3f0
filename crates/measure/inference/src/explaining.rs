//! From what was observed to the paths that explain it.

use observe::{HostLimits, Observation};

use crate::evidence::Evidence;
use crate::posterior::Posterior;

/// Of a buffer that the kernel grows by itself, so much is offered as window, and holds payload.
const OFFERED: f64 = 0.625;
const HOLDS: f64 = 0.97;

impl Posterior {
    /// What explains observations; `None` where they tell nothing of the path.
    ///
    /// * `limits`: what the hosts say of their buffers.
    /// * `congestion`: what the sender uses where a setting names nothing.
    pub fn explaining<'a>(
        seen: impl IntoIterator<Item = &'a Observation>,
        limits: Option<HostLimits>,
        congestion: Option<&str>,
    ) -> Option<Posterior> {
        let seen = seen.into_iter();
        let evidence: Vec<Evidence> = seen
            .filter_map(|one| Evidence::of(one, congestion))
            .collect();
        let seed = evidence.len() as u64;
        Posterior::of(evidence, limits.map(auto_window), seed)
    }
}

/// The kernels' own buffers offer so much at the most, bytes.
fn auto_window(limits: HostLimits) -> f64 {
    let receive = OFFERED * limits.receive_auto_max.as_f64();
    receive.min(HOLDS * limits.send_auto_max.as_f64())
}
