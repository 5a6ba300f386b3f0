//! How many connections ranges come over, while they come.

use observe::StreamCount;
use steer::online::{Interval, Online, OnlinePlan, Streams};
use units::{Bytes, Span, Time};

/// The shortest interval that is looked at.
const INTERVAL_MIN: Span = Span::from_millis(250);
/// A longer pause between two looks ends an interval: the caller did not want more meanwhile.
const PAUSE_MAX: Span = Span::from_millis(100);

/// Steers the connections of a session as those of a copy are steered.
///
/// Only intervals count in which requests waited for a connection all the time: in others more
/// connections could bring nothing. The far end sends, so this end has no loss and no round trip
/// under load to go by; the rate decides alone.
#[derive(Debug)]
pub(crate) struct Adaptation {
    online: Online,
    /// When the present interval began, and what had come by then.
    began: Option<(Time, u64)>,
    last: Time,
}

impl Adaptation {
    /// * `streams`: so many, without a search.
    /// * `remembered`: what copies from this host needed.
    /// * `streams_max`: the most that the far end takes.
    pub fn new(
        streams: Option<StreamCount>,
        remembered: Option<StreamCount>,
        streams_max: u16,
        rtt: Option<Span>,
    ) -> Self {
        let most = StreamCount::new(streams_max.into());
        let plan = OnlinePlan {
            streams,
            remembered,
            streams_max: most.unwrap_or(OnlinePlan::default().streams_max),
            // Without one the search would begin with a single connection.
            rtt: Some(rtt.unwrap_or(Span::ZERO)),
            ..OnlinePlan::default()
        };
        Adaptation {
            online: Online::new(plan),
            began: None,
            last: Time::ZERO,
        }
    }

    /// Connections as they should be now.
    pub fn connections(&self) -> usize {
        self.online.streams().get().into()
    }

    /// Requests wait for a connection now.
    ///
    /// * `count`: connections that ranges come over.
    /// * `delivered`: bytes that have come over them so far; fewer than the last time where one of
    ///   them was lost.
    pub fn on_demand(&mut self, count: usize, delivered: u64, now: Time) {
        let was_paused = now.since(self.last) > PAUSE_MAX;
        self.last = now;
        let began = self.began.filter(|_| !was_paused);
        let Some((since, before)) = began.filter(|(_, before)| *before <= delivered) else {
            self.began = Some((now, delivered));
            return;
        };
        let length = now.since(since);
        if length < INTERVAL_MIN {
            return;
        }
        self.began = Some((now, delivered));
        let streams = Streams {
            count: u16::try_from(count).unwrap_or(u16::MAX),
            arrived: Bytes::new(delivered - before),
            ..Streams::default()
        };
        // The number is read with `connections`, and windows are the far end's.
        let _ = self.online.on_interval(&Interval {
            length,
            streams,
            ..Interval::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(80);

    fn begun() -> Adaptation {
        Adaptation::new(None, None, 128, Some(RTT))
    }

    /// Reads for so long where `rate` says how many bytes come in a millisecond over so many
    /// connections.
    fn read(one: &mut Adaptation, rate: impl Fn(usize) -> u64, seconds: u64) {
        let (start, mut delivered) = (one.last, 0);
        for step in 1..=seconds * 200 {
            let count = one.connections();
            delivered += 5 * rate(count);
            one.on_demand(count, delivered, start + Span::from_millis(5 * step));
        }
    }

    #[test]
    fn connections_are_added_while_each_brings_more() {
        let mut reading = begun();
        assert_eq!(reading.connections(), 27);
        read(&mut reading, |count| 1_000 * count as u64, 20);
        assert!(reading.connections() > 60, "{}", reading.connections());
    }

    #[test]
    fn a_full_path_gets_no_more_of_them() {
        let mut reading = begun();
        read(&mut reading, |count| 1_000 * count.min(20) as u64, 20);
        let settled = reading.connections();
        assert!(settled <= 27, "{settled}");
        // After a rest fewer are tried, and kept where they bring as much.
        read(&mut reading, |count| 1_000 * count.min(20) as u64, 200);
        assert!(
            (19..27).contains(&reading.connections()),
            "{}",
            reading.connections()
        );
    }

    #[test]
    fn time_in_which_little_was_wanted_does_not_count() {
        let mut reading = begun();
        for second in 1..600 {
            let now = Time::ZERO + Span::from_secs(second);
            reading.on_demand(27, second * 1_000_000, now);
        }
        assert_eq!(reading.connections(), 27);
    }

    #[test]
    fn a_lost_connection_begins_another_interval() {
        let mut reading = begun();
        reading.on_demand(27, 10_000_000, Time::ZERO);
        reading.on_demand(26, 9_000_000, Time::ZERO + Span::from_millis(60));
        assert_eq!(
            reading.began,
            Some((Time::ZERO + Span::from_millis(60), 9_000_000))
        );
    }

    #[test]
    fn what_the_caller_or_the_far_end_says_holds() {
        let four = StreamCount::new(4).ok();
        let mut fixed = Adaptation::new(four, None, 128, Some(RTT));
        read(&mut fixed, |count| 1_000 * count as u64, 20);
        assert_eq!(fixed.connections(), 4);
        let mut bounded = Adaptation::new(None, None, 8, Some(RTT));
        read(&mut bounded, |count| 1_000 * count as u64, 20);
        assert_eq!(bounded.connections(), 8);
        let known = Adaptation::new(None, StreamCount::new(60).ok(), 128, Some(RTT));
        assert_eq!(known.connections(), 60);
    }
}
