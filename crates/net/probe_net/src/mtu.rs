//! Path MTU: the largest packet that passes, found with packets that must not be fragmented.
//!
//! Routers should say what fits (RFC 1191, RFC 8201), but some drop in silence, so what counts here
//! is that a packet of the size is answered (packetization-layer discovery, RFC 8899). The answer
//! itself is small over UDP; over ICMP the far end sends the same size back, which may be cut into
//! pieces on IPv4. A trunkline server answers all probes; a foreign one is asked by ICMP where this
//! user may, and otherwise by datagrams to an unused port. Without answers, the result is the
//! kernel's own value, marked as not confirmed.

mod search;

use std::io;
use std::time::Duration;

use observe::{PathMtu, RunObserver};
use units::Bytes;

use crate::probe_flow::{Said, SizedProbeFlow};
use crate::trace::TraceError;
use search::{Outcome, Search, Step};
use sockets::Clock;

/// How soon a cancellation is noticed.
const TICK: Duration = Duration::from_millis(100);

/// Looks for the path MTU of a flow.
///
/// # Errors
/// When the host does not send, nothing can be told, or `watch` cancels.
pub(crate) fn find(
    flow: &mut dyn SizedProbeFlow,
    watch: &dyn RunObserver,
) -> Result<PathMtu, TraceError> {
    let clock = Clock::start();
    let mut search = Search::new(flow.floor(), flow.is_rate_limited());
    loop {
        if watch.is_cancelled() {
            return Err(TraceError::Cancelled);
        }
        match search.next(clock.now()) {
            Step::Over(outcome) => return told(outcome, &search, flow),
            Step::Wait(until) => flow.wait(clock.until(until).min(TICK)),
            Step::Send { number, size } => {
                let at = clock.now();
                match flow.send_sized(number, size) {
                    Ok(()) => search.on_sent(at),
                    Err(error) if is_too_long(&error) => search.on_refused(),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        while let Some(answer) = flow.receive() {
            match answer.said {
                Said::Arrived(_) => search.on_arrived(answer.probe, clock.now() - answer.age),
                Said::TooBig(mtu) => search.on_too_big(mtu),
                Said::Passing(_) | Said::Barred(_) => {}
            }
        }
    }
}

/// Whether the interface takes no packet of that size.
pub(crate) fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EMSGSIZE)
}

fn told(
    outcome: Outcome,
    search: &Search,
    flow: &dyn SizedProbeFlow,
) -> Result<PathMtu, TraceError> {
    let (size, confirmed) = match outcome {
        Outcome::Passes(size) => (Some(u32::from(size)), true),
        Outcome::Unanswered => (flow.believed(), false),
    };
    let size = size.ok_or(TraceError::Unknown)?;
    Ok(PathMtu {
        bytes: Bytes::new(size.into()),
        confirmed,
        vanishing: flow
            .believed()
            .and_then(|believed| search.vanishing(believed))
            .map(|sends| Bytes::new(sends.into())),
    })
}
