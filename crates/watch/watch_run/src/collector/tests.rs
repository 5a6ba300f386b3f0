use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use changes::{FarHost, Visit, VisitKind};
use copy_protocol::KeyName;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tempfile::TempDir;
use units::Rate;
use watch_store::{Name, Pair, Refusal, VisitId};

use crate::link::{Answer, LINK_VERSION, PlanWish, Report};

use super::*;

const START: u64 = 1_767_225_600;
const PLAN: &str = r#"
    [hosts]
    a = { address = "a.example.org" }
    b = { address = "b.example.org" }
    [groups]
    all = { mesh = ["a", "b"] }
    [tasks]
    rate = { kind = "throughput", group = "all", every = "30min", duration = "20s" }
"#;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn time(seconds: u64) -> UnixTime {
    UnixTime::from_seconds(seconds)
}

struct Site {
    folder: TempDir,
    seen: Arc<Mutex<Vec<StoredEvent>>>,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let seen = Arc::default();
        Site { folder, seen }
    }

    fn open(&self) -> Collector {
        self.open_at(UnixTime::default())
    }

    fn open_at(&self, listening_since: UnixTime) -> Collector {
        self.open_with(PLAN, listening_since)
    }

    fn open_with(&self, plan_text: &str, listening_since: UnixTime) -> Collector {
        let (plan, _) = watch_plan::Plan::parse(plan_text, "plan.toml").unwrap();
        let options = CollectorOptions {
            database: DatabaseName::Sqlite(self.folder.path().join("watch.db")),
            plan: PlanText::new("plan.toml", plan_text),
            timetable: Timetable::new(&plan, 0).unwrap(),
            allowed: Allowed::of(&plan),
            keep_raw: Span::from_secs(90 * 86_400),
            listening_since,
        };
        let seen = Arc::clone(&self.seen);
        let keep = move |events: &[StoredEvent]| seen.lock().unwrap().extend_from_slice(events);
        Collector::open(options, Box::new(keep)).unwrap()
    }

    fn ids(&self) -> BTreeSet<(u64, u32)> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .map(|e| (e.event.id, e.event.revision))
            .collect()
    }
}

/// The visits of a path that carries a quarter less from visit 150 on.
fn visits(seed: u64, count: u64) -> Vec<StoredVisit> {
    let mut draw = Pcg64Mcg::seed_from_u64(seed);
    (0..count)
        .map(|number| {
            let at = time(START + number * 1800);
            let mut random = [0; 10];
            draw.fill_bytes(&mut random);
            let rate = if number < 150 { 94_000_000 } else { 70_000_000 };
            let mut visit = Visit::new(at, VisitKind::Throughput);
            visit.goodput = Some(Rate::from_bits_per_second(
                rate + draw.next_u64() % 1_000_000,
            ));
            StoredVisit {
                id: VisitId::new(at, random),
                pair: Pair {
                    from: name("a"),
                    to: name("b"),
                },
                task: name("rate"),
                visit,
                rates: None,
                document: None,
            }
        })
        .collect()
}

fn report(hosts: &[&str], now: u64, visits: Vec<StoredVisit>) -> Report {
    Report {
        version: LINK_VERSION,
        software: "trunkline test".to_owned(),
        hosts: hosts.iter().map(|host| name(host)).collect(),
        host: FarHost::default(),
        plan: Some(PlanDigest::of(PLAN)),
        plan_wish: None,
        now: time(now),
        waiting: visits.len() as u64,
        running: None,
        visits,
    }
}

fn take(collector: &Collector, token: &str, report: &Report, now: u64) -> Answer {
    let peer = "127.0.0.1:1".parse().unwrap();
    let token = KeyName::new(token).unwrap();
    collector.take(&token, peer, report, time(now))
}

#[test]
fn a_change_is_found_and_stored_once_however_often_visits_are_sent() {
    let site = Site::new();
    let collector = site.open();
    let all = visits(1, 200);
    for some in all.chunks(7) {
        collector.store(some).unwrap();
        let again = collector.store(some).unwrap();
        assert!(again.iter().all(|receipt| *receipt == Receipt::Known));
    }
    let first = site.ids().into_iter().next().unwrap();
    assert_eq!(first.1, 0);
    let mut store =
        Store::open(&DatabaseName::Sqlite(site.folder.path().join("watch.db"))).unwrap();
    let events = store.events(FOR_EVER, 10).unwrap();
    assert_eq!(events.len(), 1);
    let size = events[0].event.shifts[0].size;
    assert!((-0.27..-0.24).contains(&size), "{size}");
}

/// A collector that ends without a word at any moment, and starts again, finds the same events as
/// one that never ended.
#[test]
fn a_collector_that_is_killed_finds_the_same_events() {
    let whole = Site::new();
    let collector = whole.open();
    let all = visits(2, 260);
    collector.store(&all).unwrap();
    for seed in 0..6 {
        let mut draw = Pcg64Mcg::seed_from_u64(seed);
        let site = Site::new();
        let mut collector = site.open();
        let mut sent = 0;
        while sent < all.len() {
            let end = all.len().min(sent + 1 + (draw.next_u64() % 60) as usize);
            collector.store(&all[sent..end]).unwrap();
            sent = end;
            if draw.next_u64() % 2 == 0 {
                collector.save().unwrap();
            }
            // Without a word: what was not saved is read again.
            drop(collector);
            collector = site.open();
        }
        drop(collector);
        assert_eq!(site.ids(), whole.ids(), "seed {seed}");
    }
}

#[test]
fn a_collector_that_is_killed_tells_no_old_event_again() {
    let site = Site::new();
    let collector = site.open();
    for visit in &visits(2, 170) {
        collector.store(std::slice::from_ref(visit)).unwrap();
    }
    drop(collector);
    assert!(!site.ids().is_empty());
    site.seen.lock().unwrap().clear();
    drop(site.open());
    assert_eq!(site.ids(), BTreeSet::new());
}

/// Routes that another task sees explain a change, with its visits; and a collector that is killed
/// after every visit says the same as one that never ended.
#[test]
fn another_task_of_the_pair_gives_the_cause() {
    let mut all = visits(3, 160);
    let mut paths = visits(4, 160);
    paths.retain(|visit| visit.visit.at.seconds() % (6 * 3600) == 0);
    for path in &mut paths {
        let hash = u64::from(path.visit.at > all[149].visit.at);
        path.task = name("way");
        path.visit.kind = VisitKind::Path;
        path.visit.goodput = None;
        path.visit.route = Some(changes::Route {
            hash,
            hops: Vec::new(),
        });
        path.visit.at = time(path.visit.at.seconds() + 60);
        path.id = VisitId::new(path.visit.at, [7; 10]);
    }
    all.extend(paths);
    all.sort_by_key(|visit| visit.visit.at);
    let run = |is_killed: bool| {
        let site = Site::new();
        let mut collector = site.open();
        for (number, visit) in all.iter().enumerate() {
            if is_killed && number > 150 {
                drop(collector);
                collector = site.open();
            }
            collector.store(std::slice::from_ref(visit)).unwrap();
        }
        let name = DatabaseName::Sqlite(site.folder.path().join("watch.db"));
        Store::open(&name).unwrap().events(FOR_EVER, 10).unwrap()
    };
    let events = run(false);
    assert_eq!(events.len(), 1, "{events:?}");
    let cause = events[0].event.first_cause().unwrap();
    assert_eq!(cause.kind, changes::CauseKind::Route, "{events:?}");
    assert!(!cause.visits.is_empty());
    assert!(cause.visits.iter().all(|at| at.seconds() % 21_600 == 60));
    assert_eq!(run(true), events);
}

#[test]
fn an_agent_sends_only_what_its_token_stands_for() {
    let site = Site::new();
    let collector = site.open();
    let mut forged = visits(3, 2);
    forged[1].pair = Pair {
        from: name("b"),
        to: name("a"),
    };
    let now = START + 7200;
    let Answer::Taken(reply) = take(&collector, "a", &report(&["a"], now, forged), now) else {
        panic!("refused");
    };
    assert_eq!(reply.receipts[0], Receipt::Stored);
    let Receipt::Refused(Refusal::Foreign { from, token }) = &reply.receipts[1] else {
        panic!("{:?}", reply.receipts[1]);
    };
    assert_eq!((from.as_str(), token.as_str()), ("b", "a"));
    for (token, host) in [("a", "b"), ("stranger", "a"), ("stranger", "stranger")] {
        let answer = take(&collector, token, &report(&[host], now, Vec::new()), now);
        let Answer::Refused(refused) = answer else {
            panic!("{token} was taken for {host}");
        };
        assert!(refused.what.contains(host), "{}", refused.what);
    }
    assert_eq!(collector.agents().len(), 1);
}

#[test]
fn wrong_clocks_lose_nothing() {
    let site = Site::new();
    let collector = site.open();
    let visits = visits(4, 3);
    // Its clock is an hour ahead: it keeps all.
    let answer = take(
        &collector,
        "a",
        &report(&["a"], START + 3600, visits.clone()),
        START,
    );
    assert!(matches!(answer, Answer::Refused(refused) if refused.what.contains("3600 s ahead")));
    // Its clock is right again, and the third visit is dated an hour after now.
    let answer = take(
        &collector,
        "a",
        &report(&["a"], START, visits.clone()),
        START,
    );
    let Answer::Taken(reply) = answer else {
        panic!("refused");
    };
    assert_eq!(reply.receipts[0], Receipt::Stored);
    assert!(matches!(
        reply.receipts[2],
        Receipt::Refused(Refusal::Future { ahead, .. }) if ahead == Span::from_secs(3600)
    ));
    // A clock that is behind is only told.
    take(
        &collector,
        "a",
        &report(&["a"], START, Vec::new()),
        START + 50,
    );
    assert_eq!(collector.agents()[0].clock_ahead_seconds, -50);
}

#[test]
fn a_path_that_falls_silent_is_an_event_once() {
    let site = Site::new();
    let collector = site.open();
    collector.store(&visits(5, 60)).unwrap();
    let end = START + 59 * 1800;
    collector.tend(time(end + 3600)).unwrap();
    assert!(site.ids().is_empty());
    for hours in [3, 4, 5] {
        collector.tend(time(end + hours * 3600)).unwrap();
    }
    assert_eq!(site.ids().len(), 1);
}

/// The last visit is at 05:30; the next that the plan has, at 12:00.
#[test]
fn quiet_hours_and_tasks_that_left_the_plan_are_no_silence() {
    let last = START + 59 * 1800;
    let quiet = PLAN.replace(
        "\"20s\" }",
        "\"20s\", budget = { quiet = [\"05:45-12:00\"] } }",
    );
    let gone = PLAN.replace("    rate =", "    other =");
    for (plan, at, events) in [
        (&quiet, last + 6 * 3600, 0),
        (&quiet, last + 7 * 3600, 0),
        (&quiet, last + 9 * 3600, 1),
        (&gone, last + 90 * 3600, 0),
    ] {
        let site = Site::new();
        let collector = site.open_with(plan, UnixTime::default());
        collector.store(&visits(5, 60)).unwrap();
        collector.tend(time(at)).unwrap();
        assert_eq!(site.ids().len(), events, "{} h: {plan}", (at - last) / 3600);
    }
}

/// While a collector is down, agents keep their results: its pause is no silence of paths.
#[test]
fn a_start_waits_for_what_agents_have() {
    let site = Site::new();
    site.open().store(&visits(8, 60)).unwrap();
    let restarted = START + 59 * 1800 + 8 * 3600;
    let collector = site.open_at(time(restarted));
    collector.tend(time(restarted + 1)).unwrap();
    collector.tend(time(restarted + 120)).unwrap();
    assert!(site.ids().is_empty());
    collector.tend(time(restarted + 180)).unwrap();
    assert_eq!(site.ids().len(), 1);
}

/// A database that refuses events for a time, as a full disk may, costs none.
#[test]
fn no_change_is_missed_while_the_database_fails() {
    let whole = Site::new();
    let all = visits(6, 200);
    whole.open().store(&all).unwrap();
    let site = Site::new();
    let collector = site.open();
    let database = rusqlite::Connection::open(site.folder.path().join("watch.db")).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON events BEGIN \
         SELECT RAISE(ABORT, 'no room'); END";
    let mut failed = 0;
    for some in all.chunks(5) {
        database.execute_batch(refuse).unwrap();
        failed += u32::from(collector.store(some).is_err());
        database.execute_batch("DROP TRIGGER refuse").unwrap();
        collector.store(some).unwrap();
    }
    assert!(failed > 0, "no event was refused");
    assert_eq!(site.ids(), whole.ids());
}

#[test]
fn what_an_agent_says_of_itself_is_bounded() {
    let site = Site::new();
    let collector = site.open();
    let mut long = report(&["a"], START, Vec::new());
    long.software = "6\n".repeat(1_000_000);
    take(&collector, "a", &long, START);
    assert_eq!(collector.agents()[0].software, "6\u{fffd}".repeat(30));
}

/// Late visits of another plan are taken, and a host cannot invent series without end.
#[test]
fn series_beyond_the_plan_are_bounded_and_have_names_of_a_plan() {
    let site = Site::new();
    let collector = site.open();
    let now = START + 700 * 1800;
    let all = visits(9, 700);
    let send = |collector: &Collector, visits: &[StoredVisit]| match take(
        collector,
        "a",
        &report(&["a"], now, visits.to_vec()),
        now,
    ) {
        Answer::Taken(reply) => reply.receipts,
        Answer::Refused(refused) => panic!("{}", refused.what),
    };
    let of_task = |number: usize| StoredVisit {
        task: name(&format!("old-{number}")),
        ..all[number].clone()
    };
    let begun: Vec<StoredVisit> = (0..600).map(of_task).collect();
    // Those of the collector's plan come between, and are no part of the count.
    for number in (0..600).step_by(50) {
        let receipts = send(&collector, &begun[number..number + 50]);
        let stored = receipts.iter().filter(|one| **one == Receipt::Stored);
        assert_eq!(stored.count(), if number < UNPLANNED_MAX { 50 } else { 0 });
        let planned = [all[600 + number / 50].clone()];
        assert_eq!(send(&collector, &planned), [Receipt::Stored]);
    }
    let refused = send(&collector, &begun[599..]);
    let Receipt::Refused(why @ Refusal::Unplanned { .. }) = &refused[0] else {
        panic!("{refused:?}");
    };
    let words = "no `old-599` from a to b, and 500 of that kind";
    assert!(why.to_string().contains(words), "{why}");
    // What the database has goes on after a start, and so does the count.
    drop(collector);
    let collector = site.open();
    let again = StoredVisit {
        task: name("old-1"),
        ..all[650].clone()
    };
    assert_eq!(send(&collector, &[again]), [Receipt::Stored]);
    assert_eq!(send(&collector, &begun[599..]), [Receipt::Stored]);
    for (to, task) in [
        ("<script>alert(1)</script>", "rate"),
        ("b", "a\u{202e}b"),
        ("a", "rate"),
    ] {
        let (from, to) = (name("a"), name(to));
        let forged = StoredVisit {
            pair: Pair { from, to },
            task: name(task),
            ..all[660].clone()
        };
        let receipts = send(&collector, &[forged]);
        let Receipt::Refused(why @ Refusal::Unnamed { .. }) = &receipts[0] else {
            panic!("{task}: {receipts:?}");
        };
        assert!(!why.to_string().contains('\u{202e}'), "{why}");
    }
}

#[test]
fn visits_of_years_ago_are_refused() {
    let site = Site::new();
    let collector = site.open();
    let mut old = visits(10, 2);
    let now = START + VISIT_AGE_MAX.as_secs_f64() as u64 + 1800;
    old.push(StoredVisit {
        id: VisitId::new(time(7), [1; 10]),
        visit: Visit::new(time(7), VisitKind::Ping),
        ..old[0].clone()
    });
    let answer = take(&collector, "a", &report(&["a"], now, old), now);
    let Answer::Taken(reply) = answer else {
        panic!("refused");
    };
    for place in [0, 2] {
        let refused = &reply.receipts[place];
        assert!(
            matches!(refused, Receipt::Refused(Refusal::Past { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(reply.receipts[1], Receipt::Stored);
}

/// An agent that wishes the plan gets it until it has looked at it; what it says of it is known.
#[test]
fn a_plan_is_given_once_and_a_refusal_is_known() {
    let site = Site::new();
    let collector = site.open();
    let given = |report: &Report| match take(&collector, "a", report, 1_000) {
        Answer::Taken(reply) => reply.plan_text,
        Answer::Refused(refused) => panic!("{refused:?}"),
    };
    let own = report(&["a"], 1_000, Vec::new());
    let wishing = |plan: Option<PlanDigest>, wish: PlanWish| Report {
        plan,
        plan_wish: Some(wish),
        ..own.clone()
    };
    let other = || Some(PlanDigest::of("another"));
    assert_eq!(given(&own), None);
    assert_eq!(
        given(&Report {
            plan: other(),
            ..own.clone()
        }),
        None
    );
    assert_eq!(given(&wishing(own.plan.clone(), PlanWish::default())), None);
    for plan in [None, other()] {
        let text = given(&wishing(plan, PlanWish::default())).unwrap();
        assert_eq!(text.digest(), PlanDigest::of(PLAN));
    }
    let refused = PlanWish {
        seen: Some(PlanDigest::of(PLAN)),
        refused: Some("line 3 \u{1b}[2J".to_owned()),
    };
    assert_eq!(given(&wishing(other(), refused)), None);
    let state = &collector.agents()[0];
    assert!(state.plan_differs);
    assert_eq!(state.plan, other());
    assert_eq!(state.plan_refused.as_deref(), Some("line 3 \u{fffd}[2J"));
}
