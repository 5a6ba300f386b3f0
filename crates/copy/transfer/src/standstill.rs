//! A session that stands still, and what each end waits for meanwhile.

use std::mem;

use copy_protocol::Activity;
use units::{Bytes, Span, Time};

use crate::stream_options::Part;

/// An end reports its activity at least twice a second; one that has not for so long is silent.
const SILENT: Span = Span::from_secs(2);

/// What a session has come to: it stands still while this stays the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Bytes on its streams.
    pub moved: Bytes,
    /// Bytes of files that are there.
    pub done: Bytes,
    /// Names that were told of, or have become those of files.
    pub names: u64,
}

/// News of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing has happened for so long.
    Stalled(Span),
    /// Something happens again, after so long.
    Moves(Span),
}

/// Watches a session.
#[derive(Debug)]
pub(crate) struct Standstill {
    after: Span,
    marks: Marks,
    since: Time,
    is_told: bool,
}

impl Standstill {
    /// * `after`: a session in which nothing happens for so long stands still.
    pub(crate) fn new(after: Span) -> Self {
        Standstill {
            after,
            marks: Marks::default(),
            since: Time::ZERO,
            is_told: false,
        }
    }

    /// Another session begins.
    pub(crate) fn begin(&mut self, now: Time) {
        (self.marks, self.since) = (Marks::default(), now);
    }

    /// What is new, once for each standstill and once for its end.
    pub(crate) fn look(&mut self, now: Time, marks: Marks) -> Option<Change> {
        if marks != self.marks {
            let ended = self.end(now);
            (self.marks, self.since) = (marks, now);
            return ended.map(Change::Moves);
        }
        let still = now.since(self.since);
        let is_news = still >= self.after && !self.is_told;
        self.is_told |= is_news;
        is_news.then_some(Change::Stalled(still))
    }

    /// Something happened. Returns how long it stood still, where that was told.
    pub(crate) fn end(&mut self, now: Time) -> Option<Span> {
        let still = now.since(self.since);
        mem::take(&mut self.is_told).then_some(still)
    }
}

/// What an end waits for, to stand behind "this side" or "the far end".
///
/// * `part`: what it does with the data.
pub(crate) fn waits_for(part: Part, activity: &Activity) -> &'static str {
    let it = activity;
    let sends = part == Part::Sends;
    let all = [
        (it.disk, if sends { READS } else { WRITES }),
        (it.network, if sends { FULL } else { EMPTY }),
        (it.idle, "has nothing that it may send"),
        (it.held, "waits for its turn under the bound on the rate"),
        (it.flush, "waits for its disk to flush files"),
        (it.queued, "waits for a processor"),
        (it.computed, "computes"),
    ];
    let most = all.into_iter().max_by_key(|(time, _)| *time);
    let most = most.filter(|(time, _)| *time > Span::ZERO);
    most.map_or("has no stream at work", |(_, what)| what)
}

const READS: &str = "waits for its disk to read files";
const WRITES: &str = "waits for its disk to write";
const FULL: &str = "waits for the connection to take more";
const EMPTY: &str = "waits for data";

/// The same of the other end, from its last report.
///
/// * `silence`: since that came.
pub(crate) fn other_waits_for(part: Part, last: Option<&Activity>, silence: Span) -> String {
    match last {
        Some(activity) if silence < SILENT => waits_for(part, activity).to_owned(),
        _ => format!("has not been heard for {}", silence.human()),
    }
}

/// So many of them.
pub(crate) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_standstill_and_its_end_are_told_once() {
        let mut still = Standstill::new(Span::from_secs(30));
        let moved = |bytes| Marks {
            moved: Bytes::new(bytes),
            ..Marks::default()
        };
        still.begin(at(100));
        assert_eq!(still.look(at(101), moved(5)), None);
        assert_eq!(still.look(at(130), moved(5)), None);
        assert_eq!(still.end(at(130)), None);
        let told = Some(Change::Stalled(Span::from_secs(30)));
        assert_eq!(still.look(at(131), moved(5)), told);
        assert_eq!(still.look(at(139), moved(5)), None);
        let over = Some(Change::Moves(Span::from_secs(39)));
        assert_eq!(still.look(at(140), moved(6)), over);
        assert_eq!(still.look(at(169), moved(6)), None);
        assert_eq!(still.look(at(170), moved(6)), told);
        assert_eq!(still.end(at(171)), Some(Span::from_secs(31)));
        assert_eq!(still.look(at(172), moved(7)), None);
    }

    #[test]
    fn an_end_waits_for_what_takes_most_of_its_time() {
        let activity = Activity {
            network: Span::from_millis(20),
            disk: Span::from_millis(900),
            ..Activity::default()
        };
        assert_eq!(waits_for(Part::Sends, &activity), READS);
        let second = Span::from_secs(1);
        let other = other_waits_for(Part::Receives, Some(&activity), second);
        assert_eq!(other, WRITES);
        let other = other_waits_for(Part::Receives, Some(&activity), Span::from_secs(12));
        assert_eq!(other, "has not been heard for 12.0 s");
        let nothing = waits_for(Part::Receives, &Activity::default());
        assert_eq!(nothing, "has no stream at work");
    }
}
