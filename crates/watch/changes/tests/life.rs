//! What every event keeps over its life, whatever happens to a path: random histories of steps,
//! ramps, spikes, changes to and fro, seasons, gaps, refusals and routes, with the detector stored
//! and read in between. `PROPTEST_CASES` says how many.

use std::collections::BTreeMap;

use changes::{
    Detector, Event, EventKind, Failure, Metric, Moved, RoundTrips, Route, UnixTime, Visit,
};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Rate, Span};

const BEGIN: u64 = 1_767_571_200;
const STEP: u64 = 1800;
/// Visits before a history, so that what is usual is known.
const LEARNING: usize = 100;
/// Visits after which flapping is over, and more.
const CALM: usize = 110;

/// What happens for some visits, from the state that the path is in.
#[derive(Debug, Clone)]
enum Act {
    /// This share of the usual goodput, from now on.
    Goodput(f64, usize),
    /// Round trips longer by so many milliseconds, from now on.
    Delay(f64, usize),
    /// All as it was at the beginning.
    Restored(usize),
    /// To this share of the goodput, slowly.
    Ramp(f64, usize),
    /// One or two odd visits.
    Spike(f64, usize),
    /// To and fro, so many visits each.
    Flap(f64, usize, usize),
    /// No visit for so many steps.
    Gap(usize),
    /// Visits without a result.
    Refused(usize),
    /// Another route.
    Route(u64, usize),
    /// The detector is stored and read.
    Restart,
    /// The collector asks whether visits are missing.
    Check,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0.1..2.5_f64, 1..80_usize).prop_map(|(share, count)| Act::Goodput(share, count)),
        2 => (1.0..60.0_f64, 1..80_usize).prop_map(|(more, count)| Act::Delay(more, count)),
        5 => (1..80_usize).prop_map(Act::Restored),
        1 => (0.2..2.0_f64, 10..200_usize).prop_map(|(share, count)| Act::Ramp(share, count)),
        1 => (0.05..3.0_f64, 1..3_usize).prop_map(|(share, count)| Act::Spike(share, count)),
        1 => (0.2..0.8_f64, 2..9_usize, 2..8_usize)
            .prop_map(|(share, every, times)| Act::Flap(share, every, times)),
        1 => (1..40_usize).prop_map(Act::Gap),
        1 => (1..12_usize).prop_map(Act::Refused),
        1 => (2..5_u64, 1..30_usize).prop_map(|(hash, count)| Act::Route(hash, count)),
        1 => Just(Act::Restart),
        1 => Just(Act::Check),
    ]
}

#[derive(Debug, Clone)]
struct History {
    seed: u64,
    noise: f64,
    season: f64,
    acts: Vec<Act>,
}

fn history() -> impl Strategy<Value = History> {
    let season = prop_oneof![Just(0.0), 0.0..0.4_f64];
    let acts = prop::collection::vec(act(), 1..8);
    (any::<u64>(), 0.003..0.05_f64, season, acts).prop_map(|(seed, noise, season, acts)| History {
        seed,
        noise,
        season,
        acts,
    })
}

#[derive(Clone, Copy)]
struct State {
    goodput: f64,
    delay: f64,
    route: u64,
}

const AS_IT_WAS: State = State {
    goodput: 1.0,
    delay: 0.0,
    route: 1,
};

/// Plays a history, and holds each report against what was measured.
struct Play {
    random: Pcg64,
    noise: f64,
    season: f64,
    slot: u64,
    detector: Detector,
    visits: Vec<Visit>,
    events: BTreeMap<u64, Event>,
}

impl Play {
    fn of(history: &History) -> Play {
        let mut play = Play {
            random: Pcg64::seed_from_u64(history.seed),
            noise: history.noise,
            season: history.season,
            slot: 0,
            detector: Detector::new(),
            visits: Vec::new(),
            events: BTreeMap::new(),
        };
        let mut state = AS_IT_WAS;
        play.hold(&state, LEARNING);
        for act in &history.acts {
            play.act(act, &mut state);
        }
        play
    }

    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn now(&self) -> UnixTime {
        UnixTime::from_seconds(BEGIN + self.slot * STEP)
    }

    fn next(&mut self) -> Visit {
        let visit = Visit::new(self.now(), changes::VisitKind::Throughput);
        self.slot += 1;
        visit
    }

    fn hold(&mut self, state: &State, count: usize) {
        (0..count).for_each(|_| self.visit(state));
    }

    fn visit(&mut self, state: &State) {
        let mut visit = self.next();
        let hour = visit.at.hour() / 24.0 * std::f64::consts::TAU;
        let usual = 90e6 * (self.season * hour.cos() + self.noise * self.normal()).exp();
        visit.goodput = Some(Rate::from_f64(usual * state.goodput));
        let trips: Vec<Span> = (0..20)
            .map(|_| 0.02 + 1e-3 * state.delay + 30e-6 * self.uniform())
            .map(Span::from_secs_f64)
            .collect();
        visit.round_trips = RoundTrips::new(trips);
        visit.route = Some(Route {
            hash: state.route,
            hops: Vec::new(),
        });
        self.push(visit);
    }

    fn push(&mut self, visit: Visit) {
        self.visits.push(visit.clone());
        for event in self.detector.push(&visit) {
            self.take(event);
        }
    }

    fn act(&mut self, act: &Act, state: &mut State) {
        match *act {
            Act::Goodput(share, count) => {
                state.goodput = share;
                self.hold(state, count);
            }
            Act::Delay(more, count) => {
                state.delay = more;
                self.hold(state, count);
            }
            Act::Restored(count) => {
                *state = AS_IT_WAS;
                self.hold(state, count);
            }
            Act::Ramp(share, count) => {
                let from = state.goodput;
                for step in 1..=count {
                    state.goodput = from * (share / from).powf(step as f64 / count as f64);
                    self.visit(state);
                }
            }
            Act::Spike(share, count) => self.hold(&times(state, share), count),
            Act::Flap(share, every, turns) => {
                for _ in 0..turns {
                    self.hold(&times(state, share), every);
                    self.hold(state, every);
                }
            }
            Act::Gap(count) => self.slot += count as u64,
            Act::Refused(count) => (0..count).for_each(|_| self.refused()),
            Act::Route(hash, count) => {
                state.route = hash;
                self.hold(state, count);
            }
            Act::Restart => {
                let text = serde_json::to_string(&self.detector).unwrap();
                self.detector = serde_json::from_str(&text).unwrap();
            }
            Act::Check => {
                let event = self.detector.check(self.now());
                event.into_iter().for_each(|event| self.take(event));
            }
        }
    }

    fn refused(&mut self) {
        let mut visit = self.next();
        let reason = "connection refused".to_owned();
        visit.failure = Some(Failure { reason });
        self.push(visit);
    }

    /// Holds a report against the one before and against what was measured.
    fn take(&mut self, event: Event) {
        match self.events.get(&event.id) {
            None => assert_eq!(event.revision, 0, "{}", short(&event)),
            Some(known) => {
                assert_eq!(event.revision, known.revision + 1, "{}", short(&event));
                assert_eq!(event.kind, known.kind, "another kind");
                assert_eq!(event.first_visit, known.first_visit, "another beginning");
                assert!(
                    known.is_open(),
                    "told again after its end: {}",
                    short(&event)
                );
            }
        }
        if let Some(recovered) = event.recovered {
            let is_later = recovered > event.first_visit || event.end.is_some();
            assert!(is_later, "ends before it begins: {}", short(&event));
        }
        let mut visits = self.visits.iter();
        let has = visits.any(|visit| visit.at == event.first_visit);
        assert!(has, "no visit began then: {}", short(&event));
        for moved in &event.shifts {
            self.is_measured(&event, moved);
        }
        self.events.insert(event.id, event);
        self.is_consistent();
    }

    /// Least and most that some visits show of a metric.
    fn ends(&self, metric: Metric, which: impl Fn(&Visit) -> bool) -> (f64, f64) {
        let visits = self.visits.iter().filter(|visit| which(visit));
        let values = visits.filter_map(|visit| metric.of(visit));
        values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    }

    /// Before, after and the ends of the interval lie within what the visits of either side show,
    /// and the size is that from before to after.
    fn is_measured(&self, event: &Event, moved: &Moved) {
        let (since, metric) = (event.first_visit, moved.metric);
        let first_day = |visit: &Visit| visit.at.day() == since.day() && visit.at >= since;
        let before = match event.kind {
            EventKind::Drift => self.ends(metric, first_day),
            _ => self.ends(metric, |visit| visit.at < since),
        };
        let after = self.ends(metric, |visit| visit.at >= since);
        let within = |value: f64, (low, high): (f64, f64)| {
            let slack = 1e-6 * value.abs() + 1e-12;
            assert!(
                (low - slack..=high + slack).contains(&value),
                "{value} of {moved:?} is not within {low} and {high}: {}",
                short(event)
            );
        };
        within(moved.before, before);
        within(moved.after, after);
        let size = |before: f64, after: f64| match metric {
            Metric::Goodput => after / before - 1.0,
            _ => after - before,
        };
        assert!(
            (size(moved.before, moved.after) - moved.size).abs() < 1e-6,
            "{moved:?}"
        );
        let widest = (size(before.1, after.0), size(before.0, after.1));
        for end in [moved.size_low, moved.size_high].into_iter().flatten() {
            within(end, widest);
        }
        let ends = moved.size_low.zip(moved.size_high);
        let has = |(low, high)| low <= moved.size && moved.size <= high;
        assert!(ends.is_none_or(has), "{moved:?}");
    }

    /// No two open events say the contrary of each other.
    fn is_consistent(&self) {
        let open = self.events.values().filter(|event| event.is_open());
        let steps = open.filter(|event| matches!(event.kind, EventKind::Step | EventKind::Drift));
        let mut known: BTreeMap<Metric, bool> = BTreeMap::new();
        for moved in steps.filter_map(goes_on) {
            let (metric, is_up) = (moved.metric, moved.size > 0.0);
            let other = *known.entry(metric).or_insert(is_up);
            assert_eq!(other, is_up, "{metric:?} up and down:\n{}", self.list());
        }
    }

    fn open(&self) -> Vec<&Event> {
        let open = self.events.values().filter(|event| event.is_open());
        open.collect()
    }

    /// All events in short, with the numbers of their visits.
    fn list(&self) -> String {
        let events = self.events.values().map(short);
        events.collect::<Vec<_>>().join("\n")
    }
}

/// The most conspicuous shift that goes on.
fn goes_on(event: &Event) -> Option<&Moved> {
    event.shifts.iter().find(|moved| moved.recovered.is_none())
}

fn short(event: &Event) -> String {
    let slot = |at: UnixTime| (at.seconds() as f64 - BEGIN as f64) / STEP as f64;
    let shifts = event.shifts.iter();
    let shifts =
        shifts.map(|one| format!("{:?} {:.4e} to {:.4e}", one.metric, one.before, one.after));
    format!(
        "{}.{} {:?} {} to {:?} {:?}: {}",
        event.id,
        event.revision,
        event.kind,
        slot(event.first_visit),
        event.recovered.map(slot),
        event.end,
        shifts.collect::<Vec<_>>().join(", ")
    )
}

fn times(state: &State, share: f64) -> State {
    State {
        goodput: state.goodput * share,
        ..*state
    }
}

/// The history on a path whose noise and hours hide nothing, without what is no event: odd visits
/// widen what is usual, and a small or a slow change that was not seen makes the way back one.
fn clear(history: History) -> History {
    let is_event = |act: &Act| match act {
        Act::Spike(..) | Act::Ramp(..) => false,
        Act::Goodput(share, _) if (0.75..1.3).contains(share) => false,
        Act::Flap(_, every, _) | Act::Goodput(_, every) | Act::Delay(_, every) => *every > 2,
        _ => true,
    };
    History {
        season: 0.0,
        noise: history.noise.min(0.02),
        acts: history.acts.into_iter().filter(is_event).collect(),
        ..history
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200),
        ..ProptestConfig::default()
    })]

    /// Numbers, beginnings, ends and directions, at every report.
    #[test]
    fn an_event_keeps_what_it_says(history in history()) {
        Play::of(&history);
    }

    /// Two days after all is as it was, nothing is open.
    #[test]
    fn nothing_stays_open_once_all_is_as_it_was(history in history()) {
        let mut play = Play::of(&clear(history));
        play.hold(&AS_IT_WAS, CALM);
        prop_assert!(play.open().is_empty(), "{}", play.list());
    }

    /// After any history, a fall by half is told with its third visit and ends with its return.
    #[test]
    fn the_detector_is_as_sharp_after_any_history(history in history()) {
        let mut play = Play::of(&clear(history));
        play.hold(&AS_IT_WAS, CALM);
        let begin = play.now();
        play.hold(&times(&AS_IT_WAS, 0.5), 3);
        // A visit or two that were odd by chance may stand before it.
        let near = UnixTime::from_seconds(begin.seconds() - 3 * STEP)..=begin;
        let mut open = play.open().into_iter();
        prop_assert!(open.any(|event| near.contains(&event.first_visit)), "{}", play.list());
        play.hold(&times(&AS_IT_WAS, 0.5), 20);
        let end = play.now();
        play.hold(&AS_IT_WAS, 3);
        let mut events = play.events.values();
        let last = events.rfind(|event| near.contains(&event.first_visit));
        let recovered = last.and_then(|event| event.recovered);
        prop_assert_eq!(recovered, Some(end), "{}", play.list());
    }
}
