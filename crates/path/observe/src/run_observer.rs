//! What follows a run, and may end it.

use units::{Bytes, Rate, Span, Time};

/// Follows a run, and may end it.
pub trait RunObserver: Send {
    /// Called every [`SamplePlan::INTERVAL`](crate::SamplePlan::INTERVAL) while the streams run.
    fn on_progress(&mut self, snapshot: &Snapshot) {
        let _ = snapshot;
    }

    /// Called as often while nothing has moved yet, where the target can tell that.
    ///
    /// * `elapsed`: since the run was begun.
    fn on_idle(&mut self, elapsed: Span) {
        let _ = elapsed;
    }

    /// Whether the user has had enough; asked at least every interval.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Whether what was seen so far is enough: the run then ends at once, and what it showed
    /// counts. Asked after each [`RunObserver::on_progress`], and after each
    /// [`RunObserver::on_idle`], where the run fails.
    fn has_enough(&self) -> bool {
        false
    }

    /// The target makes the run wait: `why` as a sentence for people without a full stop, such as
    /// "the server is busy with another test".
    fn on_wait(&mut self, why: &str, wait: Span) {
        let _ = (why, wait);
    }
}

/// Follows nothing.
impl RunObserver for () {}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// Time since the streams started.
    pub at: Time,
    /// The longest the streams will run; `None` when a byte count ends them.
    pub duration_max: Option<Span>,
    /// Bytes delivered so far, as far as this end can tell.
    pub bytes: Bytes,
    /// Rate over the last interval.
    pub rate: Rate,
    /// The latest smoothed round-trip time, averaged over the streams.
    pub rtt: Option<Span>,
    /// The latest answered probe beside the streams.
    pub probe_rtt: Option<Span>,
    /// Bytes sent again over the last interval, as a share of those sent.
    pub retransmitted_share: Option<f64>,
}
