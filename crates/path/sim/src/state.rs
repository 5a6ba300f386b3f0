//! Where a stream stands while a run goes: what `TCP_INFO` is of a real one.

use units::{Bytes, Span};

use crate::Simulation;

/// One stream at one moment; counts run from the beginning of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamState {
    /// Payload that was acknowledged in order.
    pub acknowledged: Bytes,
    /// Payload that had reached the receiver in order.
    pub delivered: Bytes,
    /// Payload that had reached the receiver, in order or not, each byte once. A sender hears of it
    /// half a round trip later, and only with selective acknowledgements.
    pub arrived: Bytes,
    /// Payload that was sent, repeats included.
    pub sent: Bytes,
    /// Payload that was not sent yet; `None` when there is no end of it.
    pub unsent: Option<Bytes>,
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Congestion window, in segments.
    pub window: f64,
    /// Slow start threshold, in segments; `None` while it is still unset.
    pub threshold: Option<f64>,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub round_trip: Option<Span>,
    /// Its variation (RFC 6298).
    pub round_trip_variation: Option<Span>,
    /// The smallest round-trip time seen.
    pub round_trip_min: Option<Span>,
    /// Segments sent and not yet acknowledged in order.
    pub outstanding: u32,
    /// Segments that were sent again.
    pub retransmitted: u64,
    /// Segments of which an acknowledgement echoed a congestion mark; `None` without ECN.
    pub mark_echoed: Option<u64>,
    /// Segments that reached the receiver again.
    pub repeated: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Time with data outstanding.
    pub busy: Span,
    /// The part of it in which the stream could send no more because as much was outstanding as its
    /// window, that is [`crate::Scenario::window`], holds.
    pub window_limited: Span,
}

impl Simulation {
    /// Where stream `index`, counted from 0, stands now; `None` when there is no such stream.
    ///
    /// ```
    /// use sim::{Scenario, Simulation};
    /// use units::{Bytes, Span, Time};
    /// let mut scenario = Scenario::new(netpath::PathSpec::load("oc12-100ms").unwrap()).unwrap();
    /// scenario.window = Some(Bytes::from_kib(64));
    /// let mut simulation = Simulation::new(&scenario).unwrap();
    /// simulation.advance(Time::ZERO + Span::from_secs(10));
    /// let stream = simulation.stream(0).unwrap();
    /// // 65536 / 1448 is 45 whole segments, each round trip of 100.8 ms: 6.3 MB in 9.8 s.
    /// assert_eq!(stream.outstanding, 45);
    /// assert!((stream.delivered.as_f64() / 6.3e6 - 1.0).abs() < 0.02);
    /// // After slow start there is nothing else that holds it back.
    /// assert!(stream.window_limited.as_secs_f64() > 9.0);
    /// ```
    pub fn stream(&self, index: u32) -> Option<StreamState> {
        if index >= self.scenario.streams {
            return None;
        }
        let flow = self.flows.place(index as usize);
        let (sender, receiver) = (&self.flows.senders[flow], &self.flows.receivers[flow]);
        let (busy, window_limited) = sender.held_back(self.now());
        let (top, missing) = receiver.reached();
        let window = sender.window();
        let segment = self.scenario.segment();
        let payload = |segments| self.flows.cards[flow].payload(segments, segment);
        Some(StreamState {
            acknowledged: payload(sender.acknowledged()),
            delivered: payload(receiver.in_order()),
            // What is missing below another segment is full.
            arrived: payload(top) - segment.times(missing.into()),
            sent: payload(sender.sent()) + segment.times(sender.tally().retransmitted),
            unsent: sender
                .limit()
                .map(|limit| payload(limit) - payload(sender.sent())),
            segment,
            window: window.size,
            threshold: window.threshold.is_finite().then_some(window.threshold),
            round_trip: sender.round_trip.smoothed(),
            round_trip_variation: sender.round_trip.variation(),
            round_trip_min: sender.round_trip.smallest(),
            outstanding: sender.outstanding(),
            retransmitted: sender.tally().retransmitted,
            mark_echoed: (self.scenario.tcp.ecn || sender.always_speaks_ecn())
                .then(|| sender.tally().mark_echoed),
            repeated: receiver.repeated(),
            timeouts: sender.tally().timeouts,
            busy,
            window_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use netpath::PathSpec;
    use units::Time;

    use super::*;
    use crate::{Scenario, Work};

    fn scenario(path: &str) -> Scenario {
        Scenario::new(PathSpec::load(path).unwrap()).unwrap()
    }

    #[test]
    fn a_transfer_counts_every_byte_once() {
        let mut scenario = scenario("lan");
        scenario.work = Work::PerStream(Bytes::new(10_001));
        scenario.streams = 2;
        let mut simulation = Simulation::new(&scenario).unwrap();
        assert!(simulation.advance(simulation.end()));
        for index in 0..2 {
            let stream = simulation.stream(index).unwrap();
            assert_eq!(stream.delivered, Bytes::new(10_001));
            assert_eq!(stream.acknowledged, Bytes::new(10_001));
            assert_eq!(stream.unsent, Some(Bytes::ZERO));
            assert_eq!((stream.outstanding, stream.retransmitted), (0, 0));
            // The seventh segment has no eighth beside it: its acknowledgement waits 40 ms.
            assert!(stream.busy < Span::from_millis(45), "{:?}", stream.busy);
        }
        assert_eq!(simulation.stream(2), None);
    }

    #[test]
    fn what_waits_behind_a_hole_has_arrived() {
        let mut scenario = scenario("lossy-wifi");
        scenario.work = Work::PerStream(Bytes::new(5_000_001));
        let mut simulation = Simulation::new(&scenario).unwrap();
        let (mut before, mut waited) = (Bytes::ZERO, 0);
        while !simulation.advance(simulation.now() + Span::from_millis(5)) {
            let state = simulation.stream(0).unwrap();
            assert!(
                before <= state.arrived && state.delivered <= state.arrived,
                "{state:?}"
            );
            assert!(state.arrived <= state.sent && state.arrived <= Bytes::new(5_000_001));
            before = state.arrived;
            waited += u32::from(state.arrived > state.delivered);
        }
        assert!(waited > 10, "{waited}");
        let state = simulation.stream(0).unwrap();
        assert_eq!(
            (state.arrived, state.delivered),
            (Bytes::new(5_000_001), Bytes::new(5_000_001))
        );
    }

    #[test]
    fn a_stream_that_fills_the_link_is_not_held_back_by_its_window() {
        let mut scenario = scenario("oc3-80ms");
        scenario.window = Some(Bytes::from_mib(64));
        let mut simulation = Simulation::new(&scenario).unwrap();
        simulation.advance(Time::ZERO + Span::from_secs(10));
        let stream = simulation.stream(0).unwrap();
        assert_eq!(stream.window_limited, Span::ZERO);
        // It connects for one round trip and at most 10 ms, and is busy from then on.
        assert!(stream.busy >= Span::from_millis(9_900), "{:?}", stream.busy);
    }
}
