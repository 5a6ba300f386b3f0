//! Round trips of an otherwise silent path, by the best means that is answered.

use std::cell::RefCell;

use measure_protocol::EchoToken;
use observe::{ProbeMethod, ProbeSeries, RunObserver};
use probe_net::round_trips::{LatestTrip, ProbeSocket, is_answered, series};
use sockets::FarEnd;
use sockets::random;
use units::Span;

use super::session::ProbingSession;

/// The server hears so often that a session without trains is still needed.
const ALIVE_INTERVAL: Span = Span::from_secs(30);

/// From the one that only a server of ours answers to the one that costs the far end most.
const METHODS: [ProbeMethod; 3] = [
    ProbeMethod::UdpEcho,
    ProbeMethod::IcmpEcho,
    ProbeMethod::TcpConnect,
];

/// The first means that `host` answers; `token` is that of a session, where there is one.
pub(super) fn find(host: &FarEnd, token: Option<EchoToken>) -> Option<ProbeMethod> {
    let answered = |method: &ProbeMethod| {
        open(host, *method, token).is_some_and(|socket| is_answered(&socket))
    };
    METHODS.into_iter().find(answered)
}

/// A socket for one series: late answers to another never count in it.
pub(super) fn open(
    host: &FarEnd,
    method: ProbeMethod,
    token: Option<EchoToken>,
) -> Option<ProbeSocket> {
    match method {
        ProbeMethod::UdpEcho => ProbeSocket::udp(host, token?).ok(),
        ProbeMethod::IcmpEcho => ProbeSocket::icmp(host, EchoToken(random::number().ok()?)).ok(),
        ProbeMethod::TcpConnect => Some(ProbeSocket::tcp(host)),
    }
}

/// Probes for that long, and keeps the session meanwhile.
pub(super) fn measure(
    socket: &ProbeSocket,
    lasting: Span,
    session: Option<&mut ProbingSession>,
    watch: &dyn RunObserver,
) -> ProbeSeries {
    let kept = RefCell::new((session, ALIVE_INTERVAL));
    series(socket, &LatestTrip::default(), |elapsed| {
        let (session, due) = &mut *kept.borrow_mut();
        if elapsed >= *due {
            *due = elapsed + ALIVE_INTERVAL;
            session.iter_mut().for_each(|session| session.stay_alive());
        }
        elapsed >= lasting || watch.is_cancelled()
    })
}
