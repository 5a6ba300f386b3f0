//! Random orders, repeats and restarts: one notification for one cause, each end at most once,
//! nothing lost.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

const HOSTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const CAUSES: u64 = 12;
/// Causes are further apart than visits are, so that each is one incident.
const APART: u64 = 400;
/// Events of a cause begin within this many minutes, and become known within the hold time.
const SPREAD: u64 = 60;

struct Draws(Pcg64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// One thing that happens to some pairs at once, and perhaps ends.
struct Trouble {
    /// Everything that the detectors say of it, each with the minute of its coming.
    said: Vec<(u64, StoredEvent)>,
    ends: bool,
    /// Whether it is bad enough, for long enough, to be told.
    is_told: bool,
}

fn trouble(number: u64, draws: &mut Draws) -> Trouble {
    let begins = number * APART;
    let (host, route) = (HOSTS[draws.below(6) as usize], draws.is(2));
    let pairs: Vec<Pair> = mesh(&HOSTS)
        .into_iter()
        .filter(|pair| route || pair.from.as_str() == host || pair.to.as_str() == host)
        .collect();
    let count = 1 + draws.below(pairs.len() as u64) as usize;
    let skip = draws.below(pairs.len() as u64) as usize;
    let share = [0.02, 0.3, 0.6, -0.4][draws.below(4) as usize];
    let ends = draws.is(2);
    // Some are over before they would be told.
    let is_short = ends && draws.is(4);
    let known = begins + SPREAD + 5;
    let over_at = if is_short { known + 7 } else { known + 100 };
    let mut said = Vec::new();
    for pair in pairs.iter().cycle().skip(skip).take(count) {
        let first = minutes(begins + draws.below(SPREAD));
        let mut one = slower(number, first, share);
        one = match route {
            true => caused(one, CauseKind::Route),
            false => one,
        };
        one.previous_visit = Some(minutes(begins.saturating_sub(1)));
        let began = stored(pair.clone(), one);
        said.push((known + draws.below(5), began.clone()));
        let mut last = began;
        // Revisions that change nothing, and flapping that is closer than the hold time.
        for turn in 0..draws.below(4) {
            if is_short {
                break;
            }
            last.event.revision += 1;
            let away = draws.is(2);
            last.event.recovered = away.then(|| minutes(known + 20 + 3 * turn));
            said.push((known + 20 + 3 * turn, last.clone()));
        }
        let last_turns = last.event.recovered.is_some();
        if last_turns {
            last.event.revision += 1;
            last.event.recovered = None;
            // Before the end would be told.
            said.push((known + 27, last.clone()));
        }
        if ends {
            said.push((over_at, over(last, minutes(over_at))));
        }
    }
    Trouble {
        said,
        ends,
        is_told: share >= 0.15 && !is_short,
    }
}

/// What is said, out of order by some minutes, some of it twice.
fn shuffled(troubles: &[Trouble], draws: &mut Draws) -> Vec<(u64, StoredEvent)> {
    let mut said = Vec::new();
    for (minute, stored) in troubles.iter().flat_map(|one| &one.said) {
        said.push((minute + draws.below(3), stored.clone()));
        while draws.is(3) {
            said.push((minute + draws.below(2000), stored.clone()));
        }
    }
    // Of the same minute, in any order.
    let mut said: Vec<_> = said
        .into_iter()
        .map(|one| (one.0, draws.below(1 << 40), one.1))
        .collect();
    said.sort_by_key(|one| (one.0, one.1));
    said.into_iter()
        .map(|(minute, _, stored)| (minute, stored))
        .collect()
}

#[test]
fn one_notification_for_one_cause_whatever_the_order() {
    let (mut told, mut ended) = (0, 0);
    for seed in 0..60 {
        println!("seed {seed}");
        let mut draws = Draws(Pcg64::seed_from_u64(seed));
        let troubles: Vec<Trouble> = (0..CAUSES).map(|n| trouble(n, &mut draws)).collect();
        let said = shuffled(&troubles, &mut draws);
        let mut watch = Watch::new(mesh(&HOSTS));
        let mut said = said.into_iter().peekable();
        for minute in 0..CAUSES * APART + 2500 {
            let mut events = Vec::new();
            while let Some((_, event)) = said.next_if(|one| one.0 <= minute) {
                events.push(event);
            }
            // Steps at random minutes, and always when events come.
            if !events.is_empty() || draws.is(2) {
                watch.step(minutes(minute), &events);
                watch.send(minutes(minute), || !draws.is(3));
            }
            if draws.is(50) {
                watch.restart();
            }
        }
        assert!(said.next().is_none());
        let mut ids: Vec<String> = watch.told.iter().map(|told| told.id.clone()).collect();
        ids.sort_unstable();
        watch.sent.sort_unstable();
        assert_eq!(watch.sent, ids, "each is sent once");
        for (number, one) in troubles.iter().enumerate() {
            let of = |state: State| {
                let notifications = watch.told.iter().filter(move |told| told.state == state);
                let is_of = |told: &&Notification| {
                    let began = told.since.since(START).as_secs_f64() / 60.0;
                    (began / APART as f64) as usize == number
                };
                notifications.filter(is_of).count()
            };
            assert_eq!(of(State::Began), usize::from(one.is_told), "cause {number}");
            let ends = usize::from(one.is_told && one.ends);
            assert_eq!(of(State::Over), ends, "end of cause {number}");
            told += of(State::Began);
            ended += ends;
        }
    }
    assert!(
        told > 150 && ended > 50,
        "{told} told, {ended} ended: too few to test anything"
    );
}

#[test]
fn any_sequence_of_events_alternates_between_beginning_and_end() {
    for seed in 0..60 {
        println!("seed {seed}");
        let mut draws = Draws(Pcg64::seed_from_u64(1000 + seed));
        // Half of the runs have silences, which end before the last look.
        let silences = "[[silence]]\nhost = \"b\"\nuntil = \"2026-11-25T06:00:00Z\"\n\
                        reason = \"works\"\n[[silence]]\nmetric = \"goodput\"\n\
                        until = \"2026-11-25T12:00:00Z\"\nreason = \"works\"";
        let text = if draws.is(2) { silences } else { "" };
        let mut watch = Watch::with(text, mesh(&HOSTS));
        let mut latest: BTreeMap<u64, StoredEvent> = BTreeMap::new();
        for minute in 0..1500 {
            let mut events = Vec::new();
            if draws.is(8) {
                // Any event of any pair, new or revised, repeated or old.
                let number = draws.below(40);
                let known = latest.entry(number).or_insert_with(|| {
                    let pair = mesh(&HOSTS)[(number % 30) as usize].clone();
                    match number % 3 {
                        0 => stored(pair, no_data(number, minutes(minute))),
                        _ => stored(pair, slower(number, minutes(minute), 0.4)),
                    }
                });
                if !draws.is(3) {
                    known.event.revision += 1;
                    known.event.recovered = draws.is(2).then(|| minutes(minute));
                }
                events.push(known.clone());
            }
            watch.step(minutes(minute), &events);
            if draws.is(50) {
                watch.restart();
            }
        }
        // Whatever happened, an open event that is bad was told and is open.
        watch.step(minutes(1600), &[]);
        let open: Vec<&Notification> = watch.alerts.open();
        for one in latest.values().filter(|one| one.event.recovered.is_none()) {
            let is_told = watch.alerts.incidents.values().any(|incident| {
                !incident.is_over()
                    && incident.members.iter().any(|member| member.is(one))
                    && incident.stage != crate::incident::Stage::Waiting
            });
            assert!(is_told, "{one:?} is lost; open: {open:?}");
        }
        let mut ids: Vec<&str> = watch.told.iter().map(|told| told.id.as_str()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "a notification was told twice");
        for told in watch.told.iter().filter(|told| told.state == State::Over) {
            let began = |other: &&Notification| {
                other.incident == told.incident && other.state == State::Began
            };
            assert_eq!(watch.told.iter().filter(began).count(), 1);
        }
    }
}
