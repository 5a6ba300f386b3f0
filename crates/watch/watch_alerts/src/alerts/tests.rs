mod random;

use std::collections::BTreeMap;
use std::slice::from_ref;

use changes::{Cause, CauseKind, End, Event, EventKind, Metric, Moved, UnixTime};
use units::Span;
use watch_store::{Pair, StoredEvent};

use super::{Alerts, MEMORY, SILENCES_MAX, Situation};
use crate::{Alerting, Message, Notification, SendError, Severity, Silence, State};

const START: UnixTime = UnixTime::from_seconds(1_795_543_200);
const HOLD: Span = Span::from_secs(600);

fn minutes(minutes: u64) -> UnixTime {
    START + Span::from_secs(60 * minutes)
}

fn pair(from: &str, to: &str) -> Pair {
    Pair {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
    }
}

/// All ordered pairs of these hosts.
fn mesh(hosts: &[&str]) -> Vec<Pair> {
    let pairs = hosts
        .iter()
        .flat_map(|from| hosts.iter().map(move |to| (from, to)));
    pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| pair(from, to))
        .collect()
}

fn event(id: u64, kind: EventKind, first: UnixTime) -> Event {
    Event {
        id,
        revision: 0,
        kind,
        first_visit: first,
        previous_visit: None,
        confirmed: first + Span::from_secs(3600),
        recovered: None,
        end: None,
        shifts: Vec::new(),
        causes: Vec::new(),
        failures: BTreeMap::new(),
    }
}

/// Goodput that lost a share of 94 Mbit/s.
fn slower(id: u64, first: UnixTime, share: f64) -> Event {
    let mut event = event(id, EventKind::Step, first);
    event.shifts.push(Moved {
        metric: Metric::Goodput,
        before: 94e6,
        after: (94e6 * (1.0 - share)).round(),
        size: -share,
        size_low: None,
        size_high: None,
        strength: 9.0,
        recovered: None,
    });
    event
}

fn caused(mut event: Event, kind: CauseKind) -> Event {
    event.causes.push(Cause {
        kind,
        score: 0.9,
        because: "3 of 3 visits took a route that none of the 40 before took".to_owned(),
        visits: vec![event.first_visit],
    });
    event
}

fn no_data(id: u64, first: UnixTime) -> Event {
    let mut event = event(id, EventKind::NoData, first);
    event.failures.insert("connection refused".to_owned(), 3);
    event
}

fn stored(pair: Pair, event: Event) -> StoredEvent {
    StoredEvent {
        pair,
        task: "goodput".parse().unwrap(),
        event,
    }
}

/// The same event, over.
fn over(mut one: StoredEvent, at: UnixTime) -> StoredEvent {
    one.event.revision += 1;
    one.event.recovered = Some(at);
    one
}

/// A watch with alerts.
struct Watch {
    alerting: Alerting,
    pairs: Vec<Pair>,
    alerts: Alerts,
    told: Vec<Notification>,
    /// What its webhook got.
    sent: Vec<String>,
}

impl Watch {
    fn new(pairs: Vec<Pair>) -> Self {
        Watch::with("", pairs)
    }

    fn with(text: &str, pairs: Vec<Pair>) -> Self {
        let receivers = "[[webhook]]\nurl = \"http://localhost/\"\n";
        let alerting = Alerting::parse(&format!("{text}\n{receivers}"), "alerts.toml");
        Watch {
            alerting: alerting.unwrap_or_else(|error| panic!("{error}")),
            pairs,
            alerts: Alerts::default(),
            told: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn situation(&self, now: UnixTime) -> Situation<'_> {
        Situation {
            alerting: &self.alerting,
            pairs: &self.pairs,
            now,
        }
    }

    fn restart(&mut self) {
        let json = serde_json::to_string(&self.alerts).unwrap();
        let again: Alerts = serde_json::from_str(&json).unwrap();
        assert!(again == self.alerts, "a stored state is another one");
        self.alerts = again;
    }

    /// Takes events and gives what is told then.
    fn step(&mut self, now: UnixTime, events: &[StoredEvent]) -> Vec<Notification> {
        let mut alerts = std::mem::take(&mut self.alerts);
        for event in events {
            alerts.insert(event, &self.situation(now));
        }
        let told = alerts.advance(&self.situation(now));
        self.alerts = alerts;
        self.told.extend(told.clone());
        told
    }

    /// Sends what is due; each attempt succeeds if `works` says so.
    fn send(&mut self, now: UnixTime, mut works: impl FnMut() -> bool) {
        for delivery in self.alerts.due(&self.situation(now)) {
            let Message::Notification(notification) = &delivery.message else {
                panic!("a webhook got {delivery:?}");
            };
            let result = match works() {
                true => {
                    self.sent.push(notification.id.clone());
                    Ok(())
                }
                false => Err(SendError::Message("down".to_owned())),
            };
            self.alerts.delivered(&delivery, &result, now);
        }
    }
}

#[test]
fn a_change_is_told_once_after_the_hold_time_with_cause_and_link() {
    let text = "base_url = \"https://watch.example.org/\"";
    let mut watch = Watch::with(text, mesh(&["slac", "cern"]));
    let one = stored(
        pair("slac", "cern"),
        caused(slower(4, START, 0.5), CauseKind::Route),
    );
    assert_eq!(watch.step(minutes(0), from_ref(&one)), []);
    let next = watch.alerts.next_due(&watch.situation(minutes(0)));
    assert_eq!(next, Some(minutes(10)));
    assert_eq!(watch.step(minutes(9), from_ref(&one)), []);
    let told = watch.step(minutes(10), &[]);
    let [told] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(
        told.headline,
        "Goodput from slac to cern fell by 50 %, 94.0 Mbit/s -> 47.0 Mbit/s, \
         since 2026-11-24 18:00 UTC"
    );
    assert_eq!(told.severity, Severity::Critical);
    assert_eq!(told.cause.as_ref().unwrap().name, "route");
    assert!(
        told.cause
            .as_ref()
            .unwrap()
            .because
            .starts_with("3 of 3 visits")
    );
    let link = "https://watch.example.org/incident/goodput/slac/cern/4";
    assert_eq!(told.link.as_deref(), Some(link));
    for later in 11..30 {
        assert_eq!(watch.step(minutes(later), from_ref(&one)), []);
    }
}

#[test]
fn an_end_is_told_once_after_it_has_lasted() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let one = stored(pair("a", "b"), slower(0, START, 0.3));
    watch.step(minutes(0), from_ref(&one));
    watch.restart();
    assert_eq!(watch.step(minutes(10), &[]).len(), 1);
    watch.restart();
    let end = over(one.clone(), minutes(12));
    assert_eq!(watch.step(minutes(15), from_ref(&end)), []);
    assert_eq!(watch.step(minutes(24), from_ref(&end)), []);
    let told = watch.step(minutes(25), from_ref(&end));
    assert_eq!((told.len(), told[0].state), (1, State::Over));
    assert_eq!(told[0].incident, watch.told[0].incident);
    assert!(
        told[0]
            .headline
            .starts_with("Over since 2026-11-24 18:12 UTC: goodput from a to b fell"),
        "{}",
        told[0].headline
    );
    assert_eq!(watch.step(minutes(60), &[end, one]), []);
    assert_eq!(watch.alerts.open(), Vec::<&Notification>::new());
}

#[test]
fn a_change_that_is_over_within_the_hold_time_is_not_told() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let one = stored(pair("a", "b"), slower(0, START, 0.3));
    watch.step(minutes(0), from_ref(&one));
    watch.step(minutes(9), &[over(one, minutes(8))]);
    assert_eq!(watch.step(minutes(60), &[]), []);
}

#[test]
fn revisions_do_not_delay() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let mut one = stored(pair("a", "b"), slower(0, START, 0.3));
    for minute in 0..10 {
        assert_eq!(watch.step(minutes(minute), from_ref(&one)), []);
        one.event.revision += 1;
    }
    assert_eq!(watch.step(minutes(10), from_ref(&one)).len(), 1);
}

#[test]
fn flapping_is_one_alert() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let mut one = stored(pair("a", "b"), slower(0, START, 0.3));
    watch.step(minutes(0), from_ref(&one));
    watch.step(minutes(10), &[]);
    // To and fro, closer than the hold time, with a revision each time.
    for turn in 0..20_u64 {
        one.event.revision += 1;
        one.event.recovered = (turn % 2 == 0).then(|| minutes(11 + 5 * turn));
        watch.step(minutes(11 + 5 * turn), from_ref(&one));
    }
    assert_eq!(watch.told.len(), 1);
    // It settles, and one end is told.
    watch.step(minutes(200), &[over(one, minutes(190))]);
    watch.step(minutes(300), &[]);
    assert_eq!(watch.told.len(), 2);
}

#[test]
fn a_change_that_comes_again_after_its_end_was_told_is_told_again() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let one = stored(pair("a", "b"), slower(0, START, 0.3));
    watch.step(minutes(0), from_ref(&one));
    watch.step(minutes(10), &[]);
    let end = over(one.clone(), minutes(12));
    watch.step(minutes(15), from_ref(&end));
    watch.step(minutes(25), &[]);
    let mut again = end;
    again.event.revision += 1;
    again.event.kind = EventKind::Flapping;
    again.event.recovered = None;
    watch.step(minutes(90), from_ref(&again));
    watch.step(minutes(100), &[again]);
    let states: Vec<State> = watch.told.iter().map(|told| told.state).collect();
    assert_eq!(states, [State::Began, State::Over, State::Began]);
    assert_ne!(watch.told[0].id, watch.told[2].id);
}

#[test]
fn one_route_change_of_ten_pairs_is_one_alert_with_ten_pairs() {
    let hosts = ["a", "b", "c", "d", "e", "f"];
    let mut watch = Watch::new(mesh(&hosts));
    let events: Vec<StoredEvent> = (0..10)
        .map(|number| {
            let pair = watch.pairs[number * 3].clone();
            let event = slower(number as u64, minutes(3 * number as u64), 0.2);
            stored(pair, caused(event, CauseKind::Route))
        })
        .collect();
    watch.step(minutes(60), &events);
    let told = watch.step(minutes(70), &[]);
    assert_eq!(
        (told.len(), told[0].pairs, told[0].changes.len()),
        (1, 10, 10)
    );
    assert!(
        told[0].headline.ends_with("; 10 pairs are affected"),
        "{}",
        told[0].headline
    );
}

#[test]
fn outages_that_a_later_one_joins_are_told_together() {
    let mut watch = Watch::new(mesh(&["a", "b", "c", "d"]));
    // No common host; the third shares one with each.
    let first = stored(pair("a", "b"), no_data(0, START));
    let second = stored(pair("c", "d"), no_data(0, START));
    let third = stored(pair("b", "c"), no_data(0, START));
    watch.step(minutes(1), &[first, second, third]);
    let told = watch.step(minutes(11), &[]);
    assert_eq!((told.len(), told[0].pairs), (1, 3));
    // What is slower in three pairs has no host in common.
    let mut watch = Watch::new(mesh(&["a", "b", "c", "d"]));
    let slow = |from, to| stored(pair(from, to), slower(0, START, 0.2));
    watch.step(
        minutes(1),
        &[slow("a", "b"), slow("c", "d"), slow("b", "c")],
    );
    assert_eq!(watch.step(minutes(11), &[]).len(), 2);
}

#[test]
fn changes_without_a_common_host_or_cause_are_told_apart() {
    let mut watch = Watch::new(mesh(&["a", "b", "c", "d"]));
    let route = caused(slower(0, START, 0.2), CauseKind::Route);
    let loss = caused(slower(0, START, 0.2), CauseKind::Loss);
    let events = [stored(pair("a", "b"), route), stored(pair("c", "d"), loss)];
    watch.step(minutes(1), &events);
    assert_eq!(watch.step(minutes(11), &[]).len(), 2);
    // Nor is a change of the next day part of the first.
    let later = stored(pair("a", "b"), slower(1, minutes(1500), 0.2));
    watch.step(minutes(1500), &[later]);
    assert_eq!(watch.step(minutes(1510), &[]).len(), 1);
}

#[test]
fn a_silent_host_is_one_alert() {
    let mut watch = Watch::new(mesh(&["a", "b", "c", "d"]));
    let of_a = |pair: &&Pair| pair.from.as_str() == "a" || pair.to.as_str() == "a";
    let pairs: Vec<Pair> = watch.pairs.iter().filter(of_a).cloned().collect();
    let events: Vec<StoredEvent> = pairs
        .into_iter()
        .map(|pair| stored(pair, no_data(3, START)))
        .collect();
    watch.step(minutes(1), &events);
    let told = watch.step(minutes(11), &[]);
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0].headline,
        "Host a sends nothing and is not reached, since 2026-11-24 18:00 UTC; \
         6 pairs are affected"
    );
    assert_eq!(
        told[0].cause.as_ref().unwrap().because,
        "connection refused"
    );
    // One pair that has data again is no end.
    watch.step(minutes(20), &[over(events[0].clone(), minutes(20))]);
    assert_eq!(watch.step(minutes(60), &[]), []);
    let rest: Vec<StoredEvent> = events[1..]
        .iter()
        .map(|one| over(one.clone(), minutes(61)))
        .collect();
    watch.step(minutes(62), &rest);
    assert_eq!(watch.step(minutes(72), &[]).len(), 1);
}

#[test]
fn a_task_that_notices_an_outage_late_is_no_second_alert() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    watch.step(minutes(20), &[stored(pair("a", "b"), no_data(0, START))]);
    assert_eq!(watch.step(minutes(30), &[]).len(), 1);
    // Visited each six hours, silent after a day.
    let mut late = stored(pair("a", "b"), no_data(7, minutes(400)));
    late.task = "tune".parse().unwrap();
    late.event.previous_visit = Some(minutes(40));
    watch.step(minutes(1440), from_ref(&late));
    assert_eq!(watch.step(minutes(2000), &[]), []);
    // Another host that falls silent in the meantime is another alert.
    watch.step(
        minutes(2000),
        &[stored(pair("b", "c"), no_data(0, minutes(1990)))],
    );
    assert_eq!(watch.step(minutes(2010), &[]).len(), 1);
}

#[test]
fn the_end_has_the_events_that_came_after_the_beginning() {
    let mut watch = Watch::new(mesh(&["a", "b", "c"]));
    let first = stored(pair("a", "b"), slower(0, START, 0.3));
    let second = stored(pair("a", "c"), slower(0, minutes(30), 0.3));
    watch.step(minutes(0), from_ref(&first));
    assert_eq!(watch.step(minutes(10), &[])[0].pairs, 1);
    assert_eq!(watch.step(minutes(90), from_ref(&second)), []);
    let ends = [over(first, minutes(100)), over(second, minutes(110))];
    watch.step(minutes(120), &ends);
    let told = watch.step(minutes(130), &[]);
    assert_eq!((told[0].pairs, told[0].changes.len()), (2, 2));
    assert_eq!(told[0].recovered, Some(minutes(110)));
}

#[test]
fn improvements_and_small_changes_are_not_alerts() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let better = slower(0, START, -0.5);
    let small = slower(1, START, 0.05);
    let route = event(2, EventKind::Route, START);
    let events = [better, small, route].map(|event| stored(pair("a", "b"), event));
    watch.step(minutes(0), &events);
    assert_eq!(watch.step(minutes(60), &[]), []);
    // Where all is asked for, small changes are told; improvements never.
    let mut all = Watch::with("[defaults]\nseverity = \"info\"", mesh(&["a", "b"]));
    all.step(minutes(0), &events);
    let told = all.step(minutes(60), &[]);
    assert_eq!((told.len(), told[0].changes.len()), (1, 2));
}

#[test]
fn a_silence_delays_until_its_end_and_loses_nothing() {
    let silence = "[[silence]]\nhost = \"b\"\nuntil = \"2026-11-24T20:00:00Z\"\nreason = \"works\"";
    let mut watch = Watch::with(silence, mesh(&["a", "b", "c"]));
    let silenced = stored(pair("a", "b"), slower(0, START, 0.5));
    let other = stored(
        pair("a", "c"),
        caused(slower(0, START, 0.3), CauseKind::Route),
    );
    watch.step(minutes(0), &[silenced]);
    assert_eq!(watch.step(minutes(119), &[]), []);
    let next = watch.alerts.next_due(&watch.situation(minutes(119)));
    assert_eq!(next, Some(minutes(120)));
    assert_eq!(watch.step(minutes(120), &[]).len(), 1);
    // What is not silenced is told at once, without what is.
    let mut watch = Watch::with(silence, mesh(&["a", "b", "c"]));
    let silenced = stored(pair("a", "b"), slower(0, START, 0.5));
    let too = stored(pair("b", "c"), slower(0, START, 0.4));
    watch.step(minutes(0), &[silenced, other, too]);
    let told = watch.step(minutes(10), &[]);
    assert_eq!((told.len(), told[0].pairs), (1, 1));
    assert_eq!(told[0].severity, Severity::Warning);
    // A further event does not drag along what is silenced.
    let further = stored(pair("c", "a"), slower(0, START, 0.3));
    assert_eq!(watch.step(minutes(20), &[further]), []);
    let told = watch.step(minutes(120), &[]);
    assert_eq!((told.len(), told[0].pairs), (1, 2));
    assert_eq!(told[0].severity, Severity::Critical);
    assert_eq!(told[0].changes[0].pair, pair("a", "b"));
}

#[test]
fn a_silence_of_events_leaves_the_others_and_can_be_ended() {
    let mut watch = Watch::new(mesh(&["a", "b", "c"]));
    let silenced = stored(pair("a", "b"), slower(0, START, 0.5));
    let other = stored(pair("a", "c"), slower(0, START, 0.3));
    let silence = Silence {
        host: None,
        pair: None,
        task: None,
        metric: None,
        events: vec![silenced.key()],
        until: minutes(600),
        reason: "known".to_owned(),
    };
    watch.alerting.silences.push(silence.clone());
    watch.step(minutes(0), &[silenced, other]);
    let told = watch.step(minutes(10), &[]);
    assert_eq!((told.len(), told[0].changes.len()), (1, 1));
    assert_eq!(told[0].changes[0].pair, pair("a", "c"));
    assert!(watch.alerts.silence(silence.clone(), minutes(20)));
    assert!(watch.alerts.end_silence(&silence));
    assert!(!watch.alerts.end_silence(&silence));
    watch.alerting.silences.clear();
    assert_eq!(watch.step(minutes(30), &[]).len(), 1);
}

#[test]
fn an_end_says_what_kind_of_end_it_is() {
    for (end, words) in [
        (
            Some(End::Withdrawn),
            "Withdrawn, later visits explain it: goodput",
        ),
        (
            Some(End::Usual),
            "The usual state since 2026-11-24 18:12 UTC, after four weeks:",
        ),
        (None, "Over since 2026-11-24 18:12 UTC: goodput"),
    ] {
        let mut watch = Watch::new(mesh(&["a", "b"]));
        let one = stored(pair("a", "b"), slower(0, START, 0.3));
        watch.step(minutes(0), from_ref(&one));
        watch.step(minutes(10), &[]);
        let mut last = over(one, minutes(12));
        last.event.end = end;
        watch.step(minutes(15), from_ref(&last));
        let told = watch.step(minutes(25), &[]);
        assert!(told[0].headline.starts_with(words), "{}", told[0].headline);
    }
}

#[test]
fn silences_are_bounded() {
    let mut alerts = Alerts::default();
    let silence = |until| Silence {
        host: None,
        pair: None,
        task: None,
        metric: None,
        events: Vec::new(),
        until,
        reason: "works".to_owned(),
    };
    for _ in 0..SILENCES_MAX {
        assert!(alerts.silence(silence(minutes(60)), minutes(0)));
    }
    assert!(!alerts.silence(silence(minutes(60)), minutes(59)));
    // Those that are over make room.
    assert!(alerts.silence(silence(minutes(90)), minutes(61)));
}

#[test]
fn a_silence_of_a_metric_leaves_the_others() {
    let silence =
        "[[silence]]\nmetric = \"goodput\"\nuntil = \"2026-12-01T00:00:00Z\"\nreason = \"works\"";
    let mut watch = Watch::with(silence, mesh(&["a", "b"]));
    watch.step(minutes(0), &[stored(pair("a", "b"), slower(0, START, 0.5))]);
    assert_eq!(watch.step(minutes(10), &[]), []);
    watch.step(minutes(20), &[stored(pair("b", "a"), no_data(0, START))]);
    assert_eq!(watch.step(minutes(30), &[]).len(), 1);
}

#[test]
fn what_lasts_a_month_is_forgotten_and_not_told_again() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let one = stored(pair("a", "b"), slower(0, START, 0.5));
    watch.step(minutes(0), from_ref(&one));
    watch.step(minutes(10), &[]);
    let later = START + MEMORY + Span::from_secs(86_400);
    watch.step(later, &[]);
    watch.step(later + HOLD + HOLD, &[]);
    assert!(watch.alerts.incidents.is_empty());
    watch.step(later + HOLD.times(2), from_ref(&one));
    watch.step(later + HOLD.times(4), &[]);
    watch.step(later + HOLD.times(5), &[over(one, later)]);
    watch.step(later + HOLD.times(9), &[]);
    assert_eq!(watch.told.len(), 1);
}

#[test]
fn a_clock_that_was_ahead_delays_nothing_for_long() {
    let mut watch = Watch::new(mesh(&["a", "b"]));
    let one = stored(pair("a", "b"), slower(0, START, 0.5));
    // A day ahead when the event came, right from the next step on.
    watch.step(minutes(1440), &[one]);
    assert_eq!(watch.step(minutes(0), &[]), []);
    assert_eq!(watch.step(minutes(10), &[]).len(), 1);
}
