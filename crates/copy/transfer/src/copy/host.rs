//! A host of a third-party copy, as its controller reaches it.

use std::ops::RangeInclusive;

use copy_net::{Conversation, DialError, Dialer, SshFarEnd};
use copy_protocol::third_party::{Receiving, Report};
use copy_protocol::{FarHost, HandshakeError, KEY_LENGTH, Problem, Purpose, Token};
use units::Address;

use super::connect::{Starting, bad_token, start_through_ssh, why_not};
use super::opener::name_of;
use crate::copy_stats::CopyStats;
use crate::session::SessionEnd;

/// What an end says that does not know what it is asked for.
const OLDER: &str = "trunkline there may be older than third-party copies: install the same \
                     version at all three hosts";

/// The source or the destination.
pub(super) struct Host<'a> {
    host: &'a FarHost,
    ports: Option<RangeInclusive<u16>>,
    /// What ssh started there.
    started: Option<SshFarEnd>,
}

impl<'a> Host<'a> {
    /// * `ports`: which may be listened on where ssh starts the host's end.
    pub(super) fn new(host: &'a FarHost, ports: Option<RangeInclusive<u16>>) -> Self {
        Host {
            host,
            ports,
            started: None,
        }
    }

    /// How users call it.
    pub(super) fn name(&self) -> String {
        name_of(self.host)
    }

    /// Opens a conversation with it.
    pub(super) fn talk(
        &mut self,
        purpose: Purpose,
        stats: &mut CopyStats<'_>,
    ) -> Result<Conversation<Report>, SessionEnd> {
        let control = stats.control();
        let is_stopped = &|| control.is_stopped();
        if let FarHost::Server {
            address,
            credentials,
        } = self.host
        {
            let token = credentials.0.parse().map_err(|error| bad_token(&error))?;
            let places = std::slice::from_ref(address);
            return self.dial(places, &token, purpose, is_stopped);
        }
        if let Some(started) = &self.started {
            // One that is gone is started again.
            let (places, token) = (&started.places, &started.token);
            if let Ok(conversation) = self.dial(places, token, purpose, is_stopped) {
                return Ok(conversation);
            }
            self.started = None;
        }
        let starting = Starting {
            ports: self.ports.clone(),
            ..Starting::default()
        };
        let started = start_through_ssh(self.host, starting, stats)?;
        let conversation = self.dial(&started.places, &started.token, purpose, is_stopped);
        self.started = Some(started);
        conversation
    }

    /// Where it listens, and with which certificate, where that is known.
    pub(super) fn receiving(&self) -> (Vec<Receiving>, Option<[u8; KEY_LENGTH]>) {
        let of = |address: &Address| Receiving {
            host: address.host.clone(),
            port: address.port,
        };
        match (self.host, &self.started) {
            (FarHost::Server { address, .. }, _) => (vec![of(address)], None),
            (FarHost::Ssh { .. }, Some(started)) => {
                let places = started.places.iter().map(of).collect();
                (places, started.answer.fingerprint)
            }
            (FarHost::Ssh { .. }, None) => (Vec::new(), None),
        }
    }

    fn dial(
        &self,
        places: &[Address],
        token: &Token,
        purpose: Purpose,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Conversation<Report>, SessionEnd> {
        let dialed = Dialer::default().controller(places, token, purpose, is_stopped);
        let (conversation, _) = dialed.map_err(|error| self.named(why_not(&error), &error))?;
        Ok(conversation)
    }

    /// The same with the name of the host, since there are two.
    fn named(&self, end: SessionEnd, error: &DialError) -> SessionEnd {
        let name = self.name();
        match end {
            SessionEnd::Problem(problem) => SessionEnd::Problem(Problem {
                what: format!("{name}: {}", problem.what),
                hint: problem
                    .hint
                    .or_else(|| is_older(error).then(|| OLDER.to_owned())),
                ..problem
            }),
            SessionEnd::Lost(why) if !why.contains(&name) => {
                SessionEnd::Lost(format!("{name}: {why}"))
            }
            other => other,
        }
    }
}

/// Whether the host does not know the purpose of the connection.
fn is_older(error: &DialError) -> bool {
    matches!(
        error,
        DialError::Handshake {
            source: HandshakeError::Refused(_) | HandshakeError::Stranger,
            ..
        }
    )
}
