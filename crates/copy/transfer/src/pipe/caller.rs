//! How the near end of a pipe reaches the far one: a server, or what ssh starts.

use std::cell::Cell;
use std::io::{self, ErrorKind};

use copy_net::{DialError, DialedPipe, Dialer, SshFarEnd, StreamEndpoint};
use copy_protocol::pipe::PipePlace;
use copy_protocol::{FarHost, HandshakeError, Problem, SPOKEN, Token};
use observe::Transport;
use units::Address;

use super::lanes::{Steering, stream_options};
use super::spec::PipeSpec;
use crate::copy::{Starting, bad_token, start_through_ssh, why_not};
use crate::copy_stats::CopyStats;
use crate::preconnect::Preconnected;
use crate::session::SessionEnd;
use files::{problem, with_hint};

/// The oldest version of the copy protocol whose ends know pipes.
const PIPE_OLDEST: u16 = 6;
/// What to do where the far end does not know pipes.
const OLDER: &str = "trunkline there may be older than pipes: install the same version there";

/// Connects, repeatedly.
pub(super) struct Caller<'a> {
    spec: &'a PipeSpec,
    started: Option<SshFarEnd>,
    /// Nothing listened there at the last try.
    is_refused: Cell<bool>,
}

impl<'a> Caller<'a> {
    pub fn new(spec: &'a PipeSpec) -> Self {
        Caller {
            spec,
            started: None,
            is_refused: Cell::new(false),
        }
    }

    /// Whether a far end that ssh started has ended: it does not come back. A cut that ended ssh
    /// leaves it there for a while.
    pub fn has_ended(&mut self) -> bool {
        self.is_refused.get() && self.started.as_mut().is_some_and(SshFarEnd::has_ended)
    }

    /// What to look at when it was never there.
    pub fn how_to_reach(&self) -> &'static str {
        match (&self.spec.host, &self.started) {
            (FarHost::Server { .. }, _) => {
                "is `trunkline serve --root` running there, and its port open?"
            }
            (_, None) => "does `ssh` to that host work from here?",
            (_, Some(_)) => {
                "ssh works, but data needs a port there: let one through the firewall and name it \
                 with `--port-range`"
            }
        }
    }

    /// Connects once.
    pub fn dial(
        &mut self,
        stats: &mut CopyStats<'_>,
    ) -> Result<(DialedPipe, Preconnected), SessionEnd> {
        let control = stats.control();
        let is_stopped = || control.is_stopped();
        if let FarHost::Server {
            address,
            credentials,
        } = &self.spec.host
        {
            let token = credentials.0.parse().map_err(|error| bad_token(&error))?;
            return self.dial_at(std::slice::from_ref(address), &token, &is_stopped);
        }
        if self.started.is_none() {
            let starting = Starting {
                ports: self.spec.ports.clone(),
                oldest: SPOKEN.oldest.max(PIPE_OLDEST),
                runs_programs: matches!(self.spec.place, PipePlace::Program(_)),
                ..Starting::default()
            };
            self.started = Some(start_through_ssh(&self.spec.host, starting, stats)?);
        }
        let started = self.started.as_ref();
        let started = started.ok_or_else(|| SessionEnd::Lost("no far end".to_owned()))?;
        self.dial_at(&started.places, &started.token, &is_stopped)
    }

    fn dial_at(
        &self,
        places: &[Address],
        token: &Token,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(DialedPipe, Preconnected), SessionEnd> {
        let dialer = Dialer {
            transport: self.spec.transport,
            ..Dialer::default()
        };
        let mut preconnected = Preconnected::default();
        // The sender begins with as many, whichever end it is.
        let begin = &mut |endpoint: &StreamEndpoint| {
            let steering = Steering {
                streams: self.spec.streams,
                rate_max: self.spec.rate_max,
                rtt: endpoint.rtt,
            };
            let count = steering.online().streams().get();
            preconnected.begin_with(endpoint, count, &stream_options(), false);
        };
        let dialed = dialer.pipe(places, token, begin, is_stopped);
        let checked = dialed.and_then(|dialed| {
            if dialer.transport == Transport::Udp {
                preconnected.wait_for_first(is_stopped)?;
            }
            Ok(dialed)
        });
        self.is_refused.set(checked.as_ref().is_err_and(is_refused));
        match checked {
            Ok(dialed) => Ok((dialed, preconnected)),
            Err(error) => Err(with_older(why_not(&error), &error)),
        }
    }
}

/// Whether nothing listens at any address.
fn is_refused(error: &DialError) -> bool {
    match error {
        DialError::Unreachable { tried, .. } => {
            let is_refusal = |error: &io::Error| error.kind() == ErrorKind::ConnectionRefused;
            tried.iter().all(|(_, error)| is_refusal(error))
        }
        _ => false,
    }
}

/// An end that does not know what it is asked for may be older.
fn with_older(end: SessionEnd, error: &DialError) -> SessionEnd {
    let is_older = matches!(
        error,
        DialError::Handshake {
            source: HandshakeError::Refused(_) | HandshakeError::Stranger,
            ..
        }
    );
    match end {
        SessionEnd::Problem(Problem {
            kind,
            what,
            hint: None,
            ..
        }) if is_older => SessionEnd::Problem(with_hint(problem(kind, what), OLDER)),
        other => other,
    }
}
