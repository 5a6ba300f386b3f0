//! Streams that are connected while the two ends still find out who they are and what is wanted:
//! two round trips that no data has to wait for.

use std::collections::VecDeque;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_net::{DialError, Reach, Reached};
use sockets::StreamOptions;
use wire::copying::Opening;

use crate::converse::options;
use crate::opening::first_streams;

/// A connection older than this may have been given up by the other end, which waits ten seconds
/// for a greeting.
const AGE_MAX: Duration = Duration::from_secs(5);

/// A connection that is being made.
pub(crate) type Begun = JoinHandle<Result<Reached, DialError>>;

/// Connections without a purpose yet.
#[derive(Debug, Default)]
pub(crate) struct Early {
    begun: VecDeque<Begun>,
    since: Option<Instant>,
}

impl Early {
    /// Begins to connect as many streams as the copy will begin with.
    pub(crate) fn begin(&mut self, reach: &Reach, opening: &Opening) {
        let count = match opening.dry_run {
            true => 0,
            false => first_streams(opening, reach.rtt),
        };
        let options = options(opening);
        self.since = Some(Instant::now());
        self.begun = (0..count)
            .map(|_| connect(reach.clone(), options.clone(), opening.plain))
            .collect();
    }

    /// One of them.
    pub(crate) fn take(&mut self) -> Option<Begun> {
        if self.since.is_none_or(|since| since.elapsed() > AGE_MAX) {
            self.clear();
        }
        self.begun.pop_front()
    }

    /// They close.
    pub(crate) fn clear(&mut self) {
        self.begun.clear();
    }
}

/// On a thread of its own, so that all of them connect at once.
fn connect(reach: Reach, options: StreamOptions, plain: bool) -> Begun {
    thread::spawn(move || reach.connect(&options, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that takes for ever.
    fn begun(ago: Duration) -> Early {
        let connection = thread::spawn(|| {
            loop {
                thread::park();
            }
        });
        Early {
            begun: VecDeque::from([connection]),
            since: Instant::now().checked_sub(ago),
        }
    }

    #[test]
    fn connections_that_are_too_old_are_not_used() {
        assert!(begun(Duration::ZERO).take().is_some());
        let mut old = begun(AGE_MAX + Duration::from_millis(1));
        assert!(old.take().is_none());
        assert!(old.begun.is_empty());
        assert!(Early::default().take().is_none());
    }
}
