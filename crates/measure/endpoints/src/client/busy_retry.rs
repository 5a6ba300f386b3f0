//! Asks a server again that is busy with another test.
//!
//! iperf3 serves one client at a time and turns the others away; so does our own server beyond its
//! bound. Ours says for how long.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use measure_protocol::{ClientControlError, Denial, iperf3::client::Waiting};
use observe::RunObserver;
use units::Span;

use super::ClientError;

/// What passes before each further try: short tests end soon, and all in all 7.5 s are a pause that
/// users do not take for a hang.
const WAITS: [Span; 4] = [
    Span::from_millis(500),
    Span::from_secs(1),
    Span::from_secs(2),
    Span::from_secs(4),
];
/// All waits together for tests whose ends are known: one of usual length, and its results.
const PATIENCE: Span = Span::from_secs(60);
/// How soon a cancellation is noticed.
const TICK: Span = Span::from_millis(100);

/// Whether a server is known to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// Nothing was heard of it yet.
    Unknown,
    /// It has served a run, or said that it is busy.
    Served,
}

/// Does it until the server has time for it, and tells `watch` of each pause.
///
/// # Errors
/// That the server is still busy after the last try, or whatever else went wrong.
pub(super) fn retry_while_busy<T>(
    watch: &mut dyn RunObserver,
    mut server: ServerState,
    mut attempt: impl FnMut(&mut dyn RunObserver) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let mut patience = PATIENCE;
    for wait in WAITS {
        match attempt(watch) {
            Err(error) if is_busy(&error, server) => {
                let Some(wait) = next_wait(&error, wait, patience) else {
                    return Err(error);
                };
                if let Some(why) = worth_telling(&error, server, wait) {
                    watch.on_wait(&why, wait);
                }
                tracing::info!(%error, %wait, "the server is busy");
                pause(watch, wait)?;
                patience = patience - wait;
            }
            other => return other,
        }
        server = ServerState::Served;
    }
    attempt(watch)
}

/// What the user hears of a pause. A server that has just served a run and does not listen for half
/// a second is about to: nothing is told then, and no refusal later.
fn worth_telling(error: &ClientError, server: ServerState, wait: Span) -> Option<String> {
    let address = match error {
        ClientError::Refused { address } | ClientError::Connect { address, .. } => address,
        other => return Some(other.to_string()),
    };
    let is_first = wait == WAITS[0] && server == ServerState::Served;
    (!is_first).then(|| format!("{address} listens no more, or not yet again after the last test"))
}

/// An iperf3 server that ends one test or begins another hangs up on the next client, or does not
/// even listen for a moment.
fn is_busy(error: &ClientError, server: ServerState) -> bool {
    match error {
        ClientError::Control { source, .. } => match source {
            ClientControlError::Denied(denial) => *denial != Denial::FilesOnly,
            ClientControlError::Closed { waiting, .. } => *waiting == Waiting::Greeting,
            _ => false,
        },
        ClientError::Refused { .. } => server == ServerState::Served,
        // It closed its listener while we stood in the queue.
        ClientError::Connect { source, .. } => {
            source.kind() == ErrorKind::ConnectionReset && server == ServerState::Served
        }
        _ => false,
    }
}

/// How long to wait before the next try; `None` where the server needs more than is left of our
/// patience.
fn next_wait(error: &ClientError, usual: Span, patience: Span) -> Option<Span> {
    match time_left(error) {
        Some(left) => (left <= patience).then_some(left.max(usual)),
        None => Some(usual),
    }
}

/// When a server that is busy will have a place, where it says so.
fn time_left(error: &ClientError) -> Option<Span> {
    match error {
        ClientError::Control {
            source: ClientControlError::Denied(Denial::Busy { ends_in }),
            ..
        } => *ends_in,
        _ => None,
    }
}

fn pause(watch: &mut dyn RunObserver, wait: Span) -> Result<(), ClientError> {
    let mut left = wait;
    while left > Span::ZERO {
        if watch.is_cancelled() {
            return Err(ClientError::Cancelled);
        }
        thread::sleep(Duration::from(TICK.min(left)));
        left = left - TICK;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Waiter {
        told: Vec<(String, Span)>,
        cancels: bool,
    }

    impl RunObserver for Waiter {
        fn on_wait(&mut self, why: &str, wait: Span) {
            self.told.push((why.to_owned(), wait));
        }

        fn is_cancelled(&self) -> bool {
            self.cancels && !self.told.is_empty()
        }
    }

    fn busy() -> ClientError {
        busy_for(None)
    }

    fn busy_for(ends_in: Option<Span>) -> ClientError {
        ClientError::Control {
            address: "dtn:5201".parse().unwrap(),
            source: ClientControlError::Denied(Denial::Busy { ends_in }),
        }
    }

    #[test]
    fn a_known_end_is_waited_for_within_our_patience() {
        let wait = |ends_in: Option<u64>, patience| {
            let error = busy_for(ends_in.map(Span::from_secs));
            next_wait(&error, WAITS[3], Span::from_secs(patience))
        };
        assert_eq!(wait(None, 0), Some(WAITS[3]));
        assert_eq!(wait(Some(1), 60), Some(WAITS[3]));
        assert_eq!(wait(Some(60), 60), Some(Span::from_secs(60)));
        assert_eq!(wait(Some(61), 60), None);
        // What earlier waits took is gone.
        assert_eq!(wait(Some(30), 29), None);
    }

    #[test]
    fn the_second_answer_counts() {
        let mut watch = Waiter::default();
        let mut answers = [Ok(7), Err(busy())].into_iter().rev();
        let outcome = retry_while_busy(&mut watch, ServerState::Unknown, |_| {
            answers.next().unwrap()
        });
        assert_eq!(outcome.unwrap(), 7);
        let why = "dtn:5201: the server is busy with another test".to_owned();
        assert_eq!(watch.told, [(why, Span::from_millis(500))]);
    }

    #[test]
    fn a_cancelled_pause_is_the_last() {
        let mut watch = Waiter {
            cancels: true,
            ..Waiter::default()
        };
        let outcome: Result<(), _> =
            retry_while_busy(&mut watch, ServerState::Unknown, |_| Err(busy()));
        assert!(matches!(outcome, Err(ClientError::Cancelled)));
        assert_eq!(watch.told.len(), 1);
    }

    #[test]
    fn other_errors_are_not_waited_for() {
        let mut watch = Waiter::default();
        let outcome: Result<(), _> = retry_while_busy(&mut watch, ServerState::Unknown, |_| {
            Err(ClientError::Cancelled)
        });
        assert!(outcome.is_err() && watch.told.is_empty());
    }

    #[test]
    fn a_server_that_was_there_may_be_refusing_for_a_moment() {
        let refused = || ClientError::Refused {
            address: "dtn:5201".parse().unwrap(),
        };
        let reset = || ClientError::Connect {
            address: "dtn:5201".parse().unwrap(),
            source: ErrorKind::ConnectionReset.into(),
        };
        let kinds: [&dyn Fn() -> ClientError; 2] = [&refused, &reset];
        for error in kinds {
            let mut watch = Waiter::default();
            let mut answers = [Ok(7), Err(error())].into_iter().rev();
            let outcome =
                retry_while_busy(&mut watch, ServerState::Served, |_| answers.next().unwrap());
            assert_eq!((outcome.unwrap(), watch.told.len()), (7, 0));
            let mut answers = [Ok(7), Err(error()), Err(error())].into_iter().rev();
            let outcome =
                retry_while_busy(&mut watch, ServerState::Served, |_| answers.next().unwrap());
            assert_eq!(outcome.unwrap(), 7);
            let why = "dtn:5201 listens no more, or not yet again after the last test".to_owned();
            assert_eq!(watch.told, [(why, Span::from_secs(1))]);
            let mut watch = Waiter::default();
            let outcome: Result<(), _> =
                retry_while_busy(&mut watch, ServerState::Unknown, |_| Err(error()));
            assert!(outcome.is_err() && watch.told.is_empty());
        }
    }

    #[test]
    fn the_pauses_are_seven_and_a_half_seconds_in_all() {
        let all = WAITS.into_iter().fold(Span::ZERO, |sum, wait| sum + wait);
        assert_eq!(all, Span::from_millis(7_500));
    }
}
