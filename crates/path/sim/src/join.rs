//! Streams that join a run that goes or leave it, and a run that goes on for longer than was
//! planned.
//!
//! A stream that joins is a new connection: it asks for it, has the initial window and its own slow
//! start, and its own start time within [`crate::TcpSettings::start_within`] from now on.
//! Everything else is as the scenario says of the others.
//!
//! A stream that leaves sends nothing new; what it has sent is still repaired, and acknowledged,
//! before it is done.
//!
//! Left out: others' share of a rate that was fixed at the beginning. The streams of NETBLT, which
//! have it, keep their part of the link when others join, and then ask for more than there is.

use units::{Bytes, Time};

use crate::scenario::{Scenario, ScenarioError, Work};
use crate::{Simulation, Variant, setup};

impl Simulation {
    /// Adds `count` streams that connect now. They come after the others: [`Simulation::stream`]
    /// has them under the next numbers, and [`crate::RunResult::streams`] at its end.
    ///
    /// # Errors
    /// When the streams carry a number of bytes, which was shared out at the beginning, and when
    /// the scenario could not be run with so many streams. Nothing has changed then.
    ///
    /// ```
    /// use sim::{Scenario, Simulation};
    /// use units::{Bytes, Span, Time};
    /// let mut scenario = Scenario::new(netpath::PathSpec::load("oc12-100ms").unwrap()).unwrap();
    /// scenario.window = Some(Bytes::from_kib(64));
    /// let mut simulation = Simulation::new(&scenario).unwrap();
    /// let at = |seconds| Time::ZERO + Span::from_secs(seconds);
    /// simulation.advance(at(5));
    /// simulation.join(3).unwrap();
    /// simulation.advance(at(10));
    /// let delivered = |index| simulation.stream(index).unwrap().delivered.as_f64();
    /// // 45 segments of 1448 bytes each round trip of 100 ms: 0.65 MB/s, from the first or the sixth second on.
    /// assert!((delivered(0) / 6.4e6 - 1.0).abs() < 0.02);
    /// assert!((delivered(3) / 3.1e6 - 1.0).abs() < 0.03);
    /// assert_eq!(simulation.stream(4), None);
    /// ```
    pub fn join(&mut self, count: u32) -> Result<(), ScenarioError> {
        self.join_as(count, self.scenario.variant, None)
    }

    /// Adds `count` streams as [`Simulation::join`] does, which find their rate as `variant` does;
    /// each ends after `bytes`, where that is said.
    ///
    /// # Errors
    /// As of [`Simulation::join`]; and streams of [`Variant::Ensemble`] share one window from the
    /// beginning, so that none of them joins others.
    pub fn join_as(
        &mut self,
        count: u32,
        variant: Variant,
        bytes: Option<Bytes>,
    ) -> Result<(), ScenarioError> {
        if variant != self.scenario.variant && variant == Variant::Ensemble {
            return Err(ScenarioError {
                problem: "streams of an ensemble cannot join others".to_owned(),
                hint: "let all streams be of the ensemble".to_owned(),
            });
        }
        self.change(|scenario| scenario.streams = scenario.streams.saturating_add(count))?;
        let theirs = Scenario {
            variant,
            work: bytes.map_or(Work::Endless, Work::PerStream),
            ..self.scenario.clone()
        };
        let now = self.now();
        let (flows, timers) = (&mut self.flows, &mut self.timers);
        setup::join(&theirs, count, now, flows, timers);
        self.measure.on_joined(count);
        self.unfinished += count;
        Ok(())
    }

    /// Lets stream `index`, counted from 0, send nothing new from now on. It stays under its
    /// number.
    ///
    /// # Errors
    /// When there is no such stream that sends, or it would be the last one: a run without streams
    /// is over.
    ///
    /// ```
    /// use sim::{Scenario, Simulation};
    /// use units::{Span, Time};
    /// let mut scenario = Scenario::new(netpath::PathSpec::load("slac-caltech").unwrap()).unwrap();
    /// scenario.streams = 2;
    /// let mut simulation = Simulation::new(&scenario).unwrap();
    /// let at = |seconds| Time::ZERO + Span::from_secs(seconds);
    /// simulation.advance(at(5));
    /// simulation.leave(1).unwrap();
    /// simulation.advance(at(10));
    /// let gone = simulation.stream(1).unwrap();
    /// assert_eq!((gone.outstanding, gone.delivered), (0, gone.acknowledged));
    /// assert!(simulation.leave(1).is_err());
    /// assert!(simulation.leave(0).is_err());
    /// ```
    pub fn leave(&mut self, index: u32) -> Result<(), ScenarioError> {
        self.change(|_| ())?;
        let place = self.flows.place(index as usize) as u32;
        let mut sending = (0..self.scenario.streams).filter(|one| self.sends(*one));
        let is_last = sending.nth(1).is_none();
        if is_last || !self.sends(index) {
            return Err(ScenarioError {
                problem: format!("stream {index} does not send, or is the last one that does"),
                hint: "let another one leave, or end the run".to_owned(),
            });
        }
        let sender = &mut self.flows.senders[place as usize];
        sender.end_with_sent();
        if sender.is_done() {
            self.on_completed(place);
        }
        Ok(())
    }

    /// Whether there is such a stream, and it has not left.
    fn sends(&self, index: u32) -> bool {
        let sender = || self.flows.senders.get(self.flows.place(index as usize));
        index < self.scenario.streams && sender().is_some_and(|sender| sender.limit().is_none())
    }

    /// Lets the run last until `end`, which may lie before or after the end it had.
    ///
    /// # Errors
    /// When the scenario could not last so long, or `end` has passed. Nothing has changed then.
    pub fn last_until(&mut self, end: Time) -> Result<(), ScenarioError> {
        let duration = end.since(Time::ZERO);
        if end <= self.now() {
            return Err(ScenarioError {
                problem: format!(
                    "a run that has come to {} cannot end at {duration}",
                    self.now().since(Time::ZERO)
                ),
                hint: "let it last longer".to_owned(),
            });
        }
        self.change(|scenario| scenario.duration = duration)?;
        self.end = end;
        Ok(())
    }

    /// Changes the scenario of a run without a byte count, if what comes out can be run.
    fn change(&mut self, what: impl FnOnce(&mut Scenario)) -> Result<(), ScenarioError> {
        if self.scenario.work != Work::Endless {
            return Err(ScenarioError {
                problem:
                    "a run that carries a number of bytes takes no more streams and no more time"
                        .to_owned(),
                hint: "let the streams carry data without end".to_owned(),
            });
        }
        let mut changed = self.scenario.clone();
        what(&mut changed);
        changed.check()?;
        self.scenario = changed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use netpath::PathSpec;
    use units::Span;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn scenario(path: &str, streams: u32) -> Scenario {
        Scenario {
            streams,
            duration: Span::from_secs(6),
            ..Scenario::new(PathSpec::load(path).unwrap()).unwrap()
        }
    }

    /// Everything that a run shows in which streams join twice, the second time after its first
    /// end.
    fn everything(scenario: &Scenario) -> (String, Vec<crate::Event>) {
        let mut simulation = Simulation::new(scenario).unwrap();
        simulation.advance(at(1_500));
        simulation.join(2).unwrap();
        assert!(simulation.advance(simulation.end()));
        simulation.last_until(at(9_000)).unwrap();
        simulation.join(5).unwrap();
        assert!(!simulation.advance(at(8_000)));
        assert!(simulation.advance(at(9_000)));
        let events = simulation.take_events();
        (format!("{:?}", simulation.finish()), events)
    }

    #[test]
    fn a_run_that_grows_shows_the_same_twice() {
        // A debug build checks at every event that no packet vanished, and `finish` does in any.
        for path in ["slac-caltech", "lossy-wifi", "dadc-dumbbell-cross5"] {
            let logged = Scenario {
                log: true,
                ..scenario(path, 2)
            };
            assert_eq!(everything(&logged), everything(&logged), "{path}");
            let other = Scenario {
                seed: 2,
                ..logged.clone()
            };
            assert_ne!(everything(&logged), everything(&other), "{path}");
        }
    }

    #[test]
    fn every_variant_takes_streams_that_join() {
        for variant in Variant::ALL {
            let scenario = Scenario {
                variant,
                ..scenario("slac-caltech", 1)
            };
            let mut simulation = Simulation::new(&scenario).unwrap();
            simulation.advance(at(2_000));
            simulation.join(3).unwrap();
            simulation.advance(simulation.end());
            for index in 0..4 {
                let state = simulation.stream(index).unwrap();
                assert!(state.delivered > Bytes::ZERO, "{variant}: {index}");
            }
            assert_eq!(simulation.finish().streams.len(), 4);
        }
    }

    #[test]
    fn who_leaves_sends_nothing_new_and_leaves_the_path_to_the_others() {
        // Cross traffic has places between those of the streams that were there and those that
        // join.
        for path in ["slac-caltech", "dadc-dumbbell-cross5"] {
            let mut simulation = Simulation::new(&scenario(path, 2)).unwrap();
            simulation.advance(at(2_000));
            simulation.join(2).unwrap();
            simulation.advance(at(3_000));
            // One that sends, and one that was never connected.
            simulation.join(1).unwrap();
            simulation.leave(0).unwrap();
            simulation.leave(2).unwrap();
            simulation.leave(4).unwrap();
            let sent: Vec<Bytes> = (0..5)
                .map(|n| simulation.stream(n).unwrap().unsent.unwrap_or_default())
                .collect();
            assert_eq!(sent, [Bytes::ZERO; 5], "{path}");
            simulation.advance(at(5_900));
            for gone in [0, 2, 4] {
                let state = simulation.stream(gone).unwrap();
                assert_eq!((state.outstanding, state.unsent), (0, Some(Bytes::ZERO)));
                assert_eq!(state.delivered, state.acknowledged);
                assert!(simulation.leave(gone).is_err());
            }
            simulation.leave(1).unwrap();
            let last = simulation.leave(3).unwrap_err();
            assert_eq!(
                last.problem,
                "stream 3 does not send, or is the last one that does"
            );
            simulation.advance(simulation.end());
            let shown = simulation.finish();
            let completed: Vec<bool> = shown
                .streams
                .iter()
                .map(|one| one.completed.is_some())
                .collect();
            assert_eq!(completed, [true, true, true, false, true], "{path}");
        }
    }

    #[test]
    fn streams_of_another_kind_join_and_end_after_their_bytes() {
        let mut simulation = Simulation::new(&scenario("slac-caltech", 1)).unwrap();
        simulation.advance(at(1_000));
        let bytes = Bytes::new(100_001);
        simulation.join_as(1, Variant::Bbr, Some(bytes)).unwrap();
        simulation
            .join_as(1, Variant::LedbatPlusPlus, None)
            .unwrap();
        assert!(simulation.join_as(1, Variant::Ensemble, None).is_err());
        simulation.advance(simulation.end());
        assert_eq!(simulation.stream(1).unwrap().delivered, bytes);
        let shown = simulation.finish();
        let completed = [1, 2].map(|index: usize| shown.streams[index].completed.is_some());
        assert_eq!(completed, [true, false]);
    }

    #[test]
    fn who_joins_connects_and_starts_slowly() {
        // The first leaves the queue empty.
        let small = Scenario {
            window: Some(Bytes::from_kib(64)),
            ..scenario("oc12-100ms", 1)
        };
        let mut simulation = Simulation::new(&small).unwrap();
        simulation.advance(at(2_000));
        simulation.join(1).unwrap();
        // Connected after a round trip of 100 ms and at most 10 ms; the first data has not come
        // back.
        simulation.advance(at(2_120));
        let state = simulation.stream(1).unwrap();
        assert_eq!((state.window, state.outstanding), (10.0, 10));
        assert_eq!(state.delivered, Bytes::ZERO);
        // One round trip later the window has doubled.
        simulation.advance(at(2_220));
        assert_eq!(simulation.stream(1).unwrap().window, 20.0);
    }

    #[test]
    fn a_run_without_joins_is_what_it_was() {
        let scenario = scenario("slac-caltech", 3);
        let mut simulation = Simulation::new(&scenario).unwrap();
        simulation.last_until(at(3_000)).unwrap();
        simulation.join(0).unwrap();
        simulation.advance(at(3_000));
        simulation.last_until(at(6_000)).unwrap();
        simulation.advance(at(6_000));
        let shown = simulation.finish();
        assert_eq!(shown, crate::run(&scenario).unwrap());
    }

    #[test]
    fn streams_that_join_are_counted_from_the_warm_up_like_the_others() {
        for (warmup, joined) in [(1, 2_000), (3, 2_000)] {
            let mut scenario = scenario("oc12-100ms", 1);
            scenario.window = Some(Bytes::from_kib(64));
            scenario.warmup = Span::from_secs(warmup);
            scenario.series_interval = Some(Span::from_secs(1));
            let mut simulation = Simulation::new(&scenario).unwrap();
            simulation.advance(at(joined));
            simulation.join(1).unwrap();
            simulation.advance(simulation.end());
            let shown = simulation.finish();
            // 0.65 MB/s less slow start: 4 s of the five after a warm-up of 1 s, all of those after
            // one of 3 s.
            let share = shown.streams[1].goodput.as_f64() / shown.streams[0].goodput.as_f64();
            let expected = if warmup == 1 { 0.75 } else { 1.0 };
            assert!((share - expected).abs() < 0.05, "{warmup}: {share}");
            let counts: Vec<usize> = shown.series.iter().map(|s| s.windows.len()).collect();
            assert_eq!(counts, [1, 1, 1, 2, 2, 2, 2]);
        }
    }

    #[test]
    fn what_cannot_grow_is_refused_and_goes_on_as_before() {
        let mut simulation = Simulation::new(&scenario("lan", 1)).unwrap();
        simulation.advance(at(100));
        let many = simulation.join(u32::MAX).unwrap_err();
        assert_eq!(many.problem, "4294967295 streams are more than 100000");
        let past = simulation.last_until(at(100)).unwrap_err();
        assert_eq!(
            past.problem,
            "a run that has come to 100ms cannot end at 100ms"
        );
        assert_eq!(simulation.end(), at(6_000));
        assert_eq!(simulation.stream(1), None);
        let mut striped = scenario("lan", 1);
        striped.work = Work::Striped(Bytes::from_mib(1));
        let mut simulation = Simulation::new(&striped).unwrap();
        assert!(simulation.join(1).is_err());
        assert!(simulation.last_until(at(9_000)).is_err());
    }
}
