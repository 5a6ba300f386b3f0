//! The collector's end.

use std::net::SocketAddr;
use std::sync::Arc;

use copy_net::{AcceptLimits, AcceptedChannel, ChannelHandler, Listener, Rejection};
use serde::Deserialize;
use units::Span;
use wire::copy::{Key, KeyName, Rights};

use crate::frame::{self, FrameError};
use crate::{Answer, LINK_VERSION, Refused, Report, VISITS_MAX};

/// An agent reports every half minute; one that says nothing for so long is gone.
const SILENCE_MAX: Span = Span::from_secs(120);

/// What a collector does with the reports of agents.
pub trait Reports: Send + Sync {
    /// The key of the token of that name and what it allows.
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)>;

    /// Takes a report of the agent with the token `name`, on a thread of its connection.
    fn take(&self, name: &KeyName, peer: SocketAddr, report: Report) -> Answer;

    /// A connection was rejected, or broke.
    fn rejected(&self, peer: SocketAddr, reason: &str);
}

/// Serves agents until `is_stopped`, on this thread and one for each agent that is connected.
pub fn serve(listener: Listener, reports: Arc<dyn Reports>, is_stopped: &dyn Fn() -> bool) {
    let limits = AcceptLimits {
        conversations: 1024,
        ..AcceptLimits::default()
    };
    let handler: Arc<dyn ChannelHandler> = Arc::new(Agents(reports));
    listener.run(limits, handler, is_stopped);
}

struct Agents(Arc<dyn Reports>);

impl ChannelHandler for Agents {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        self.0.find(name)
    }

    fn serve(&self, accepted: AcceptedChannel) {
        let peer = accepted.peer;
        if let Err(error) = self.converse(accepted) {
            self.0.rejected(peer, &error.to_string());
        }
    }

    fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        self.0.rejected(peer, &reason.to_string());
    }
}

impl Agents {
    fn converse(&self, accepted: AcceptedChannel) -> Result<(), FrameError> {
        let AcceptedChannel {
            peer,
            admitted,
            mut channel,
        } = accepted;
        channel.set_timeout(Some(SILENCE_MAX))?;
        while let Some(body) = frame::receive_body(&mut channel)? {
            let report = match understood(&body) {
                Ok(report) => report,
                Err((refused, error)) => {
                    frame::send(&mut channel, &Answer::Refused(refused))?;
                    return Err(error.into());
                }
            };
            let answer = match fault(&report, admitted.rights) {
                Some(refused) => Answer::Refused(refused),
                None => self.0.take(&admitted.key_name, peer, report),
            };
            frame::send(&mut channel, &answer)?;
        }
        Ok(())
    }
}

/// What every version of a report begins with.
#[derive(Deserialize)]
struct Versioned {
    version: u16,
}

/// The report that these bytes are; or why they are none, in words for the agent.
fn understood(body: &[u8]) -> Result<Report, (Refused, serde_json::Error)> {
    const WORDS_MAX: usize = 300;
    serde_json::from_slice::<Report>(body).map_err(|error| {
        let version = serde_json::from_slice::<Versioned>(body);
        let refused = match version {
            Ok(other) if other.version != LINK_VERSION => other_version(other.version),
            _ => Refused {
                what: format!(
                    "the report cannot be read: {}",
                    error
                        .to_string()
                        .chars()
                        .take(WORDS_MAX)
                        .collect::<String>()
                ),
                hint: "use the same version of trunkline at both ends".to_owned(),
            },
        };
        (refused, error)
    })
}

fn other_version(version: u16) -> Refused {
    Refused {
        what: format!(
            "the agent speaks version {version} of the link, and this collector version \
             {LINK_VERSION}"
        ),
        hint: "use the same version of trunkline at both ends".to_owned(),
    }
}

/// Why a report cannot be taken, from any agent.
fn fault(report: &Report, rights: Rights) -> Option<Refused> {
    let refused = |what: String, hint: &str| {
        let hint = hint.to_owned();
        Some(Refused { what, hint })
    };
    if !rights.write {
        return refused(
            format!("the token allows `{rights}`, and results need `w`"),
            "make it one with `trunkline serve --tokens FILE --new-token HOST --write-only`",
        );
    }
    if report.version != LINK_VERSION {
        return Some(other_version(report.version));
    }
    if report.visits.len() > VISITS_MAX {
        return refused(
            format!(
                "the report has {} visits, more than {VISITS_MAX}",
                report.visits.len()
            ),
            "use the same version of trunkline at both ends",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_cannot_be_read_is_answered_by_version_first() {
        let (newer, _) = understood(b"{\"version\": 999, \"visits\": 7}").unwrap_err();
        assert!(newer.what.contains("version 999"), "{}", newer.what);
        let own = format!("{{\"version\": {LINK_VERSION}, \"software\": 1}}");
        let (wrong, _) = understood(own.as_bytes()).unwrap_err();
        assert!(wrong.what.contains("cannot be read"), "{}", wrong.what);
        let deep = "[".repeat(100_000);
        let (nonsense, _) = understood(deep.as_bytes()).unwrap_err();
        assert!(nonsense.what.len() < 400, "{}", nonsense.what);
    }
}
