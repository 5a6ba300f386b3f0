//! Small packets to a live host, or over an emulated path: round trips, trains, hops.

use std::net::SocketAddr;

use observe::{
    Fault, PathMtu, ProbeSeries, Probes, ProbesError, TargetError, Trace, TracePlan, Train, Watch,
    Way,
};
use units::Span;

use crate::Address;
use crate::client::{ClientError, connect};
use crate::probe::{LatestTrip, ProbeSocket, is_answered, series};
use crate::random;

/// Probes of the path to one server. Sockets are made by the calling thread or by threads that it starts.
#[derive(Debug)]
pub struct PathProbes {
    peer: SocketAddr,
}

impl PathProbes {
    /// Looks for the server at `address`.
    ///
    /// # Errors
    /// When nobody is there.
    pub fn connect(address: &Address) -> Result<Self, ProbesError> {
        let (_control, peer) = connect::control(address).map_err(TargetError::from)?;
        Ok(PathProbes { peer })
    }

    /// The address that the name of the server has, with the port that it serves on.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
}

impl Probes for PathProbes {
    fn round_trips(
        &mut self,
        lasting: Span,
        watch: &mut dyn Watch,
    ) -> Result<ProbeSeries, ProbesError> {
        let token = random::token().map_err(local)?;
        let socket = ProbeSocket::icmp(self.peer, token).ok();
        let Some(socket) = socket.filter(is_answered) else {
            return Err(unsupported("nobody answers probes there"));
        };
        let seen = series(&socket, &LatestTrip::default(), |elapsed| {
            elapsed >= lasting || watch.is_cancelled()
        });
        match watch.is_cancelled() {
            true => Err(TargetError::from(ClientError::Cancelled).into()),
            false => Ok(seen),
        }
    }

    fn train(
        &mut self,
        _way: Way,
        _train: &Train,
        _watch: &mut dyn Watch,
    ) -> Result<observe::Passages, ProbesError> {
        Err(unsupported("trains are not sent yet"))
    }

    fn pause(&mut self, span: Span) {
        std::thread::sleep(span.into());
    }

    fn trace(&mut self, _plan: &TracePlan, _watch: &mut dyn Watch) -> Result<Trace, ProbesError> {
        Err(unsupported("hops are not looked for yet"))
    }

    fn path_mtu(&mut self, _watch: &mut dyn Watch) -> Result<PathMtu, ProbesError> {
        Err(unsupported("the path MTU is not looked for yet"))
    }
}

fn unsupported(why: &str) -> ProbesError {
    ProbesError::Unsupported {
        why: why.to_owned(),
        hint: None,
    }
}

fn local(source: std::io::Error) -> TargetError {
    TargetError {
        fault: Fault::Run,
        what: "a socket or thread of this host failed".to_owned(),
        hint: None,
        source: Some(Box::new(source)),
    }
}
