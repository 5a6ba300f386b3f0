//! The way from this server to a client that asked for it, and to no other host: one at a time for
//! each host, and no longer than [`LASTING`].

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use measure_protocol::trains::{Cause, TracedHop};
use observe::{Hop, RunObserver, Trace, TracePlan, TraceProtocol};
use probe_net::Tracer;
use units::Span;

use super::Shared;
use crate::control_connection::ControlConnection;

/// Two probes to each hop: a lost answer is made up for, and routers keep most of theirs.
const PLAN: TracePlan = TracePlan {
    protocol: TraceProtocol::Udp,
    rounds: 2,
    hops_max: 30,
    patience: Span::from_secs(1),
};
/// Clients wait for a minute.
const LASTING: Duration = Duration::from_secs(40);

/// The way to the host that `control` comes from, or why there is none, for the client.
pub(super) fn look(
    shared: &Shared<'_>,
    control: &ControlConnection,
    peer: SocketAddr,
) -> Result<Trace, (Cause, String)> {
    let host = peer.ip().to_canonical();
    let _looking = Looking::begin(shared, host)?;
    let watch = Bounded {
        shared,
        control,
        until: Instant::now() + LASTING,
    };
    let found = Tracer::to(peer.into(), None).trace(&PLAN, &watch);
    found.map_err(|error| (Cause::Host, format!("at the server, {error}")))
}

/// The only look for the way to a host, until dropped.
struct Looking<'b, 'a> {
    shared: &'b Shared<'a>,
    host: IpAddr,
}

impl<'b, 'a> Looking<'b, 'a> {
    fn begin(shared: &'b Shared<'a>, host: IpAddr) -> Result<Self, (Cause, String)> {
        match shared.traced().insert(host) {
            true => Ok(Looking { shared, host }),
            false => {
                let why = format!("the server is looking for the way to {host} already");
                Err((Cause::Host, why))
            }
        }
    }
}

impl Drop for Looking<'_, '_> {
    fn drop(&mut self) {
        self.shared.traced().remove(&self.host);
    }
}

/// Who answered most often at each hop, and the shortest round trip.
pub(super) fn told(trace: &Trace) -> Vec<TracedHop> {
    let hop = |hop: &Hop| TracedHop {
        from: hop.usual(),
        rtt_ns: hop.min().map(Span::as_nanos),
    };
    trace.hops.iter().map(hop).collect()
}

/// Ends with the server, the client or the time.
struct Bounded<'b, 'a> {
    shared: &'b Shared<'a>,
    control: &'b ControlConnection,
    until: Instant,
}

impl RunObserver for Bounded<'_, '_> {
    fn is_cancelled(&self) -> bool {
        self.shared.is_stopped() || self.control.is_closed() || Instant::now() > self.until
    }
}
