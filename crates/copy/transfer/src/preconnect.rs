//! Streams that are connected while the two ends still find out who they are and what is wanted:
//! two round trips that no data has to wait for.

use std::collections::VecDeque;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_net::{DialError, RawStream, StreamEndpoint};
use copy_protocol::{CopyDirection, Opening};
use sockets::StreamOptions;

use crate::opening::first_streams;
use crate::stream_options::{Part, options};

/// A connection older than this may have been given up by the other end, which waits ten seconds
/// for a greeting.
const AGE_MAX: Duration = Duration::from_secs(5);

/// How soon a first connection that is there, or a stop, is noticed.
const TICK: Duration = Duration::from_millis(5);

/// A connection that is being made, or was.
#[derive(Debug)]
pub(crate) enum PendingConnection {
    /// A thread makes it.
    Running(JoinHandle<Result<RawStream, DialError>>),
    /// It was waited for.
    Made(RawStream),
}

impl PendingConnection {
    /// Waits for it; `None` where it could not be made.
    pub(crate) fn join(self) -> Option<RawStream> {
        match self {
            PendingConnection::Running(thread) => thread.join().ok()?.ok(),
            PendingConnection::Made(connection) => Some(connection),
        }
    }
}

/// Connections without a purpose yet.
#[derive(Debug, Default)]
pub(crate) struct Preconnected {
    pending: VecDeque<PendingConnection>,
    since: Option<Instant>,
}

impl Preconnected {
    /// Begins to connect as many streams as the copy will begin with.
    pub(crate) fn begin(&mut self, endpoint: &StreamEndpoint, opening: &Opening) {
        // Streams over several pairs of addresses go elsewhere.
        let count = match opening.dry_run || opening.pairs > 0 || opening.asks_addresses {
            true => 0,
            false => first_streams(opening, endpoint.rtt),
        };
        let part = match opening.direction {
            CopyDirection::Put => Part::Sends,
            CopyDirection::Get => Part::Receives,
        };
        self.begin_with(endpoint, count, &options(opening, part), opening.plain);
    }

    /// Begins to connect so many streams.
    pub(crate) fn begin_with(
        &mut self,
        endpoint: &StreamEndpoint,
        count: u16,
        options: &StreamOptions,
        plain: bool,
    ) {
        self.since = Some(Instant::now());
        self.pending = (0..count)
            .map(|_| connect(endpoint.clone(), options.clone(), plain))
            .collect();
    }

    /// Waits for the first one, if there is any, until `is_stopped`. Over UDP that shows whether
    /// any will come.
    ///
    /// # Errors
    /// Why it could not be made.
    pub(crate) fn wait_for_first(
        &mut self,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), DialError> {
        let Some(PendingConnection::Running(thread)) = self.pending.pop_front() else {
            return Ok(());
        };
        while !thread.is_finished() {
            if is_stopped() {
                return Ok(());
            }
            thread::sleep(TICK);
        }
        // A thread that panicked has said so; the connection is made anew.
        if let Ok(made) = thread.join() {
            self.pending.push_front(PendingConnection::Made(made?));
        }
        Ok(())
    }

    /// One of them.
    pub(crate) fn take(&mut self) -> Option<PendingConnection> {
        if self.since.is_none_or(|since| since.elapsed() > AGE_MAX) {
            self.clear();
        }
        self.pending.pop_front()
    }

    /// They close.
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
    }
}

/// On a thread of its own, so that all of them connect at once.
fn connect(endpoint: StreamEndpoint, options: StreamOptions, plain: bool) -> PendingConnection {
    PendingConnection::Running(thread::spawn(move || endpoint.connect(&options, plain)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that takes for ever.
    fn pending(ago: Duration) -> Preconnected {
        let connection = thread::spawn(|| {
            loop {
                thread::park();
            }
        });
        Preconnected {
            pending: VecDeque::from([PendingConnection::Running(connection)]),
            since: Instant::now().checked_sub(ago),
        }
    }

    #[test]
    fn connections_that_are_too_old_are_not_used() {
        assert!(pending(Duration::ZERO).take().is_some());
        let mut old = pending(AGE_MAX + Duration::from_millis(1));
        assert!(old.take().is_none());
        assert!(old.pending.is_empty());
        assert!(Preconnected::default().take().is_none());
    }
}
