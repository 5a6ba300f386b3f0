//! How round trips are probed, on the idle path and during a run.

use measure_protocol::EchoToken;
use observe::{ProbeMethod, ProbeSeries, RunObserver};
use units::Span;

use probe_net::round_trips::{LatestTrip, LoadedProbes, ProbeSocket, is_answered, series};
use sockets::{FarEnd, random};

/// The kind of probe that a server answers, if any.
#[derive(Debug)]
pub(super) struct Probing {
    peer: FarEnd,
    token: Option<EchoToken>,
    method: Option<ProbeMethod>,
}

impl Probing {
    /// Echo datagrams where the server answers them, with the token of its test. They may be
    /// filtered on the way, so that is tried, and the far kernel's ICMP has to do otherwise.
    pub(super) fn find(peer: FarEnd, token: Option<EchoToken>) -> Self {
        let mut probing = Probing {
            peer,
            token,
            method: None,
        };
        let methods = [ProbeMethod::UdpEcho, ProbeMethod::IcmpEcho];
        probing.method = methods
            .into_iter()
            .find(|method| probing.is_answered(*method));
        probing
    }

    fn is_answered(&self, method: ProbeMethod) -> bool {
        match (method, self.open(method)) {
            (_, None) => false,
            (ProbeMethod::UdpEcho, Some(socket)) => is_answered(&socket),
            (ProbeMethod::IcmpEcho | ProbeMethod::TcpConnect, Some(_)) => true,
        }
    }

    fn open(&self, method: ProbeMethod) -> Option<ProbeSocket> {
        match method {
            ProbeMethod::UdpEcho => ProbeSocket::udp(&self.peer, self.token?).ok(),
            ProbeMethod::IcmpEcho => {
                ProbeSocket::icmp(&self.peer, EchoToken(random::number().ok()?)).ok()
            }
            // A foreign server would take each for a client, while the test itself runs there.
            ProbeMethod::TcpConnect => None,
        }
    }

    /// A socket for one series: late answers to another never count in it.
    fn socket(&self) -> Option<ProbeSocket> {
        self.open(self.method?)
    }

    /// Probes the idle path for that long.
    pub(super) fn idle(&self, length: Span, watch: &dyn RunObserver) -> Option<ProbeSeries> {
        let socket = self.socket().filter(|_| length > Span::ZERO)?;
        let unread = LatestTrip::default();
        let is_over = |elapsed| elapsed >= length || watch.is_cancelled();
        Some(series(&socket, &unread, is_over))
    }

    /// Probes during the run.
    pub(super) fn loaded(&self) -> std::io::Result<Option<LoadedProbes>> {
        self.socket().map(LoadedProbes::start).transpose()
    }
}
