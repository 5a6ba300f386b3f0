//! The collector's end.

use std::net::SocketAddr;
use std::sync::Arc;

use copy_net::{AcceptLimits, AcceptedChannel, ChannelHandler, Listener, Rejection};
use copy_protocol::{Key, KeyName, Rights};
use serde::Deserialize;
use serde_json::value::RawValue;
use units::{Span, printable};
use watch_store::{Receipt, Refusal, StoredVisit};

use crate::link::frame::{self, FrameError};
use crate::link::{Answer, LINK_VERSION, Refused, Report, VISITS_MAX};

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
        let agent = &admitted.key_name;
        while let Some(body) = frame::receive_body(&mut channel)? {
            let report = match understood(&body) {
                Ok(report) => report,
                Err((refused, error)) => {
                    frame::send(&mut channel, &Answer::Refused(refused))?;
                    return Err(error.into());
                }
            };
            tracing::debug!(%peer, %agent, visits = report.visits.len(), "an agent reports");
            let answer = match fault(&report, admitted.rights) {
                Some(refused) => Answer::Refused(refused),
                None => readable(report, |report| {
                    self.0.take(&admitted.key_name, peer, report)
                }),
            };
            if let Answer::Refused(refused) = &answer {
                tracing::warn!(%peer, %agent, ?refused, "a report is refused");
            }
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

/// A report whose visits have not been looked at.
type Unread = Report<Box<RawValue>>;

/// Most characters of why something cannot be read: they may repeat what it says.
const WORDS_MAX: usize = 300;

/// The report that these bytes are; or why they are none, in words for the agent.
fn understood(body: &[u8]) -> Result<Unread, (Refused, serde_json::Error)> {
    serde_json::from_slice::<Unread>(body).map_err(|error| {
        let version = serde_json::from_slice::<Versioned>(body);
        let refused = match version {
            Ok(other) if other.version != LINK_VERSION => other_version(other.version),
            _ => Refused {
                what: format!("the report cannot be read: {}", words(&error)),
                hint: "use the same version of trunkline at both ends".to_owned(),
            },
        };
        (refused, error)
    })
}

fn words(error: &serde_json::Error) -> String {
    printable(&error.to_string(), WORDS_MAX)
}

/// Has `take` answer for the visits that can be read, and answers for the others itself.
fn readable(report: Unread, take: impl FnOnce(Report) -> Answer) -> Answer {
    let (mut visits, mut unreadable) = (Vec::new(), Vec::new());
    for visit in &report.visits {
        unreadable.push(match serde_json::from_str::<StoredVisit>(visit.get()) {
            Ok(visit) => {
                visits.push(visit);
                None
            }
            Err(error) => Some(Receipt::Refused(Refusal::Unreadable(words(&error)))),
        });
    }
    let mut answer = take(report.with(visits));
    if let Answer::Taken(reply) = &mut answer {
        let mut taken = std::mem::take(&mut reply.receipts).into_iter();
        let receipts = unreadable.into_iter();
        reply.receipts = receipts
            .filter_map(|one| one.or_else(|| taken.next()))
            .collect();
    }
    answer
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
fn fault(report: &Unread, rights: Rights) -> Option<Refused> {
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
    fn a_visit_that_cannot_be_read_is_refused_alone() {
        let id = |number: u8| format!("{number:032x}");
        let visit = |number: u8, at: i64| {
            let (id, pair) = (id(number), r#"{"from":"a","to":"b"}"#);
            let visit = format!(r#"{{"at_unix_seconds":{at},"kind":"ping"}}"#);
            format!(r#"{{"id":"{id}","pair":{pair},"task":"t","visit":{visit}}}"#)
        };
        let visits = [visit(1, 5), visit(2, -5), "7".to_owned(), visit(3, 6)].join(",");
        let head = format!(r#""version":{LINK_VERSION},"software":"s","hosts":["a"],"host":{{}}"#);
        let rest = r#""plan":"p","now_unix_seconds":9,"waiting":4"#;
        let report = format!(r#"{{{head},{rest},"visits":[{visits}]}}"#);
        let answer = readable(understood(report.as_bytes()).unwrap(), |report| {
            let found: Vec<String> = report.visits.iter().map(|one| one.id.to_string()).collect();
            assert_eq!(found, [id(1), id(3)]);
            Answer::Taken(crate::link::Reply {
                now: report.now,
                plan: report.plan.unwrap(),
                plan_text: None,
                receipts: vec![Receipt::Stored, Receipt::Known],
                far_hosts: std::collections::BTreeMap::new(),
            })
        });
        let Answer::Taken(reply) = answer else {
            panic!("refused");
        };
        let [Receipt::Stored, negative, number, Receipt::Known] = &reply.receipts[..] else {
            panic!("{:?}", reply.receipts);
        };
        for receipt in [negative, number] {
            let is_unreadable = matches!(receipt, Receipt::Refused(Refusal::Unreadable(_)));
            assert!(is_unreadable, "{receipt:?}");
        }
    }

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
