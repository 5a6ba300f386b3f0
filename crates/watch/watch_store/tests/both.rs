//! The same cases against SQLite and PostgreSQL.

mod common;

use std::thread;

use changes::{Detector, Event, EventKind, Failure, RoundTrips, Route, Visit, VisitKind};
use common::server::Server;
use common::{Draw, START, name, pair, time};
use units::{Rate, Span};
use watch_store::{
    DatabaseName, EventKey, Format, Kept, Level, Note, NoteKind, PairHistory, Receipt, Refusal,
    SavedDetector, SavedState, Selection, Series, Store, StoreError, Table,
};

/// Takes an empty database.
type Case = fn(&DatabaseName);

const CASES: [(&str, Case); 14] = [
    (
        "stored_visits_come_back_whole",
        stored_visits_come_back_whole,
    ),
    ("sent_twice_is_stored_once", sent_twice_is_stored_once),
    (
        "a_number_too_large_is_refused_alone",
        a_number_too_large_is_refused_alone,
    ),
    (
        "a_visit_too_long_is_refused_alone",
        a_visit_too_long_is_refused_alone,
    ),
    ("the_highest_revision_stays", the_highest_revision_stays),
    (
        "open_events_are_found_whenever_they_began",
        open_events_are_found_whenever_they_began,
    ),
    (
        "notes_come_back_in_their_order",
        notes_come_back_in_their_order,
    ),
    ("many_open_and_write_at_once", many_open_and_write_at_once),
    (
        "roll_ups_miss_no_visit_of_writers",
        roll_ups_miss_no_visit_of_writers,
    ),
    (
        "old_raw_values_go_and_figures_stay",
        old_raw_values_go_and_figures_stay,
    ),
    (
        "points_stay_below_their_bound",
        points_stay_below_their_bound,
    ),
    ("the_grid_shows_the_latest", the_grid_shows_the_latest),
    ("pages_get_what_they_ask_for", pages_get_what_they_ask_for),
    ("one_collector_has_it", one_collector_has_it),
];

#[test]
fn sqlite() {
    for (case, run) in CASES {
        eprintln!("case {case}");
        let folder = tempfile::tempdir().unwrap();
        run(&DatabaseName::Sqlite(folder.path().join("watch.sqlite")));
    }
}

#[test]
fn postgresql() {
    let Some(server) = Server::start() else {
        return;
    };
    for (case, run) in CASES {
        eprintln!("case {case}");
        run(&server.database(case));
    }
    survives_a_crash_of_the_server(&server);
    a_newer_schema_is_refused(&server);
    a_server_is_read_without_making_tables(&server);
}

fn stored_visits_come_back_whole(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(1);
    let visits: Vec<_> = (0..300).map(|_| draw.visit(40)).collect();
    for receipt in store.insert(&visits).unwrap() {
        assert_eq!(receipt, Receipt::Stored);
    }
    for visit in &visits {
        let loaded = store.load(visit.id).unwrap().unwrap();
        assert_eq!((&loaded.stored, loaded.kept), (visit, Kept::Whole));
    }
    documents_come_page_by_page(&mut store, &visits);
    assert_eq!(store.load(draw.id(time(START))).unwrap(), None);
}

/// All of them, each once, in the order of time; visits of one second are many.
fn documents_come_page_by_page(store: &mut Store, visits: &[watch_store::StoredVisit]) {
    let with = visits.iter().filter(|visit| visit.document.is_some());
    let mut expected: Vec<_> = with
        .map(|visit| (visit.visit.at, visit.id, visit.document.clone()))
        .collect();
    expected.sort();
    assert!(expected.len() > 20);
    let mut found = Vec::new();
    loop {
        let after = found.last().map(|(at, id, _)| (*at, *id));
        let page = store.documents(after, 7).unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().map(|one| (one.at, one.id, one.json)));
    }
    assert_eq!(found, expected);
}

fn sent_twice_is_stored_once(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(2);
    let first = draw.visit(3);
    let mut forged = draw.visit(3);
    forged.id = first.id;
    let other = draw.visit(3);
    let sent = [first.clone(), first.clone(), forged.clone(), other.clone()];
    let receipts = store.insert(&sent).unwrap();
    let conflict = Receipt::Refused(Refusal::Conflict(first.id));
    let expected = [
        Receipt::Stored,
        Receipt::Known,
        conflict.clone(),
        Receipt::Stored,
    ];
    assert_eq!(receipts, expected);
    let again = store.insert(&[other, forged, first.clone()]).unwrap();
    assert_eq!(again, [Receipt::Known, conflict, Receipt::Known]);
    assert_eq!(store.load(first.id).unwrap().unwrap().stored, first);
    // The smallest difference counts.
    let mut moved = first.clone();
    moved.document = Some("{}".to_owned());
    assert!(matches!(
        store.insert(&[moved]).unwrap()[0],
        Receipt::Refused(_)
    ));
}

fn a_number_too_large_is_refused_alone(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(3);
    let good = draw.visit(3);
    let mut fast = draw.visit(3);
    fast.visit.goodput = Some(Rate::from_bits_per_second(u64::MAX));
    let mut late = draw.visit(3);
    late.visit.at = time(u64::MAX);
    let receipts = store.insert(&[fast.clone(), good.clone(), late]).unwrap();
    assert!(
        matches!(receipts[0], Receipt::Refused(Refusal::Large { .. })),
        "{receipts:?}"
    );
    assert_eq!(receipts[1], Receipt::Stored);
    assert!(
        matches!(receipts[2], Receipt::Refused(Refusal::Large { .. })),
        "{receipts:?}"
    );
    assert_eq!(store.load(fast.id).unwrap(), None);
    store.roll_up(100).unwrap();
}

fn a_visit_too_long_is_refused_alone(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(4);
    let mut long = [draw.visit(3), draw.visit(3), draw.visit(3), draw.visit(3)];
    long[0].rates = Some(vec![Rate::from_bits_per_second(1); 100_001]);
    long[1].document = Some("x".repeat((8 << 20) + 1));
    long[2].visit.round_trips = RoundTrips::new(vec![Span::from_millis(1); 10_001]);
    let hops = vec!["10.0.0.1".to_owned(); 256];
    long[3].visit.route = Some(Route { hash: 1, hops });
    let mut edge = draw.visit(3);
    edge.rates = Some(vec![Rate::from_bits_per_second(1); 100_000]);
    let all = [&long[..], &[edge]].concat();
    let receipts = store.insert(&all).unwrap();
    for receipt in &receipts[..4] {
        assert!(
            matches!(receipt, Receipt::Refused(Refusal::Large { .. })),
            "{receipt:?}"
        );
    }
    assert_eq!(receipts[4], Receipt::Stored);
}

fn event(id: u64, revision: u32, first: u64) -> Event {
    Event {
        id,
        revision,
        kind: EventKind::Step,
        first_visit: time(first),
        previous_visit: None,
        confirmed: time(first + u64::from(revision)),
        recovered: None,
        end: None,
        shifts: Vec::new(),
        causes: Vec::new(),
        failures: [("refused".to_owned(), 2)].into(),
    }
}

fn the_highest_revision_stays(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let (a, mesh) = (pair("a", "b"), name("mesh"));
    for revision in [1, 3, 0, 2, 3] {
        store
            .insert_event(&a, &mesh, &event(7, revision, START))
            .unwrap();
    }
    store
        .insert_event(&pair("b", "a"), &mesh, &event(u64::MAX, 0, START + 9))
        .unwrap();
    let range = (time(0), time(u64::MAX));
    let found = store.events(range, 10).unwrap();
    let ids: Vec<_> = found
        .iter()
        .map(|found| (found.event.id, found.event.revision))
        .collect();
    assert_eq!(ids, [(u64::MAX, 0), (7, 3)]);
    assert_eq!(found[1].event, event(7, 3, START));
    assert_eq!(
        store.events((time(START), time(START + 9)), 10).unwrap(),
        found[1..]
    );
    assert_eq!(store.events(range, 1).unwrap(), found[..1]);
}

fn open_events_are_found_whenever_they_began(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let (of, mesh) = (pair("a", "b"), name("mesh"));
    let mut over = event(1, 1, START);
    over.recovered = Some(time(START + 60));
    for one in [
        event(1, 0, START),
        over,
        event(2, 0, 60),
        event(3, 0, START),
    ] {
        store.insert_event(&of, &mesh, &one).unwrap();
    }
    // An event that comes again is open again.
    let mut again = event(3, 1, START);
    again.recovered = Some(time(START + 60));
    store.insert_event(&of, &mesh, &again).unwrap();
    store.insert_event(&of, &mesh, &event(3, 2, START)).unwrap();
    let open = store.open_events(10).unwrap();
    let ids: Vec<_> = open.iter().map(|stored| stored.event.id).collect();
    assert_eq!(ids, [3, 2]);
    assert_eq!(store.open_events(1).unwrap(), open[..1]);
}

fn notes_come_back_in_their_order(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let note = |id, at, kind, words: &str| Note {
        event: EventKey {
            pair: pair("a", "b"),
            task: name("mesh"),
            id,
        },
        at: time(START + at),
        kind,
        author: "Ada, noc".to_owned(),
        words: words.to_owned(),
    };
    let all = [
        note(u64::MAX, 5, NoteKind::Acknowledged, ""),
        note(7, 5, NoteKind::Remark, "<b>\"two\"\nlines</b>"),
        note(u64::MAX, 9, NoteKind::Released, "somewhere else"),
    ];
    for one in &all {
        store.insert_note(one).unwrap();
    }
    let found = store.notes(time(0)).unwrap();
    assert_eq!(found, all);
    assert_eq!(store.notes(time(START + 6)).unwrap(), all[2..]);
    let of_first: Vec<&Note> = found
        .iter()
        .filter(|one| one.event.id == u64::MAX)
        .collect();
    assert_eq!(watch_store::acknowledgement(&of_first[..1]), Some(&all[0]));
    assert_eq!(watch_store::acknowledgement(&of_first), None);
}

/// Threads open the empty database at once and store the same visits in other orders.
fn many_open_and_write_at_once(database: &DatabaseName) {
    let mut draw = Draw::new(5);
    let visits: Vec<_> = (0..120).map(|_| draw.visit(5)).collect();
    let stored: usize = thread::scope(|scope| {
        let write = |turn: usize| {
            let mut own = visits.clone();
            own.rotate_left(turn * 17);
            move || {
                let mut store = Store::open(database).unwrap();
                let batches = own.chunks(20);
                let receipts = batches.flat_map(|batch| store.insert(batch).unwrap());
                let receipts: Vec<Receipt> = receipts.collect();
                assert!(!receipts.iter().any(|r| matches!(r, Receipt::Refused(_))));
                receipts
                    .iter()
                    .filter(|receipt| **receipt == Receipt::Stored)
                    .count()
            }
        };
        let writers: Vec<_> = (0..4).map(|turn| scope.spawn(write(turn))).collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .sum()
    });
    assert_eq!(stored, visits.len());
}

/// One thread rolls up while three store visits of the same few days.
fn roll_ups_miss_no_visit_of_writers(database: &DatabaseName) {
    const WRITERS: u64 = 3;
    const VISITS: u64 = 400;
    drop(Store::open(database).unwrap());
    let roll_up = |store: &mut Store| while store.roll_up(10).unwrap() > 0 {};
    thread::scope(|scope| {
        let write = |writer: u64| {
            let mut store = Store::open(database).unwrap();
            let mut draw = Draw::new(40 + writer);
            for number in 0..VISITS {
                let at = START + number % 3 * 86_400 + number * 60;
                let visit = throughput(&mut draw, at, 5);
                assert_eq!(store.insert(&[visit]).unwrap(), [Receipt::Stored]);
            }
        };
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| scope.spawn(move || write(n)))
            .collect();
        let mut store = Store::open(database).unwrap();
        while writers.iter().any(|writer| !writer.is_finished()) {
            roll_up(&mut store);
        }
    });
    let mut store = Store::open(database).unwrap();
    roll_up(&mut store);
    for points in [100, 5] {
        let range = (time(START), time(START + 10 * 86_400));
        let found = store.history(&pair("a", "b"), &name("mesh"), range, points);
        let PairHistory::RollUps(level, roll_ups) = found.unwrap() else {
            panic!("{points} points are roll-ups");
        };
        let visits: u64 = roll_ups.iter().map(|roll_up| roll_up.visits).sum();
        assert_eq!(visits, WRITERS * VISITS, "{level:?}");
    }
}

fn old_raw_values_go_and_figures_stay(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(6);
    let visits: Vec<_> = (0..200).map(|_| draw.visit(10)).collect();
    store.insert(&visits).unwrap();
    let before = time(START + 5 * 86_400);
    let mut steps = 0;
    while store.drop_raw(before, 7).unwrap() > 0 {
        steps += 1;
    }
    assert!(steps > 10, "{steps} steps");
    for visit in &visits {
        let loaded = store.load(visit.id).unwrap().unwrap();
        if visit.visit.at >= before {
            assert_eq!(&loaded.stored, visit);
            continue;
        }
        assert_eq!(
            (&loaded.stored.rates, &loaded.stored.document),
            (&None, &None)
        );
        let trips = |visit: &Visit| visit.round_trips.as_ref().map(|t| (t.min(), t.median()));
        assert_eq!(trips(&loaded.stored.visit), trips(&visit.visit));
        assert_eq!(loaded.stored.visit.goodput, visit.visit.goodput);
    }
    // Sent again after its raw values are gone, it is still known.
    let again = store.insert(&visits).unwrap();
    assert!(again.iter().all(|receipt| *receipt == Receipt::Known));
}

fn throughput(draw: &mut Draw, at: u64, mbit: u64) -> watch_store::StoredVisit {
    let mut visit = Visit::new(time(at), VisitKind::Throughput);
    visit.goodput = Some(Rate::from_bits_per_second(mbit * 1_000_000));
    visit.loaded = Some(Span::from_millis(mbit));
    watch_store::StoredVisit {
        id: draw.id(time(at)),
        pair: pair("a", "b"),
        task: name("mesh"),
        visit,
        rates: None,
        document: None,
    }
}

fn points_stay_below_their_bound(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(7);
    // 60 days, two a hour.
    let visit = |half: u64| throughput(&mut draw, START + half * 1800, 1 + half % 48);
    let visits: Vec<_> = (0..60 * 48).map(visit).collect();
    store.insert(&visits).unwrap();
    while store.roll_up(10).unwrap() > 0 {}
    let range = (time(START), time(START + 60 * 86_400));
    let mut ask = |points| store.history(&pair("a", "b"), &name("mesh"), range, points);
    for (points, expected, count) in [
        (2880, None, 2880),
        (2879, Some(Level::Hour), 1440),
        (1439, Some(Level::Day), 60),
        // 60 days from the first of January end on the first of March.
        (59, Some(Level::Month), 3),
    ] {
        let (level, found) = match ask(points).unwrap() {
            PairHistory::Visits(visits) => (None, visits.len()),
            PairHistory::RollUps(level, roll_ups) => (Some(level), roll_ups.len()),
        };
        assert_eq!((level, found), (expected, count));
    }
    assert!(matches!(
        ask(1),
        Err(StoreError::FewPoints {
            needed: 3,
            bound: 1
        })
    ));
    let PairHistory::RollUps(_, days) = ask(60).unwrap() else {
        panic!("60 points are days");
    };
    // 1 to 48 Mbit/s each day: the median is between 24 and 25.
    let goodput = days[3].goodput.unwrap();
    assert_eq!(goodput.median, Rate::from_bits_per_second(24_500_000));
    assert_eq!((goodput.count, days[3].visits), (48, 48));
    let months = store
        .months(&name("mesh"), time(START), time(START + 70 * 86_400))
        .unwrap();
    let visits: Vec<u64> = months.iter().map(|month| month.figures.visits).collect();
    assert_eq!(visits[..2], [31 * 48, 28 * 48]);
}

fn the_grid_shows_the_latest(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(8);
    let mut failed = throughput(&mut draw, START + 7200, 1);
    failed.visit.goodput = None;
    failed.visit.failure = Some(Failure {
        reason: "refused".to_owned(),
    });
    let late = throughput(&mut draw, START + 40, 80);
    let mesh = name("mesh");
    assert_eq!(store.grid(&mesh).unwrap(), []);
    store
        .insert(&[throughput(&mut draw, START + 3600, 40)])
        .unwrap();
    // One that is older and comes later changes nothing of the latest.
    store.insert(&[late]).unwrap();
    while store.roll_up(10).unwrap() > 0 {}
    let cells = store.grid(&mesh).unwrap();
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0].at, time(START + 3600));
    // The 95th percentile of 40 and 80 is 78: 40 + 0.95 x 40.
    assert_eq!(cells[0].shown, Some(Rate::from_bits_per_second(78_000_000)));
    assert_eq!(cells[0].share_of_shown(), Some(40.0 / 78.0));
    assert_eq!(store.without_data(&mesh, time(START)).unwrap(), []);
    assert_eq!(
        store.without_data(&mesh, time(START + 3601)).unwrap().len(),
        1
    );
    store.insert(&[failed]).unwrap();
    let cells = store.without_data(&mesh, time(START)).unwrap();
    assert_eq!(cells[0].failure.as_ref().unwrap().reason, "refused");
    let hosts = store.hosts().unwrap();
    assert_eq!((hosts.len(), hosts[0].latest), (1, time(START + 7200)));
}

fn one_collector_has_it(name: &DatabaseName) {
    let mut first = Store::open(name).unwrap();
    first.claim().unwrap();
    let mut second = Store::open(name).unwrap();
    let error = second.claim().unwrap_err();
    assert!(is_taken(&error), "{error}");
    // Who has not claimed it reads and writes.
    let visit = Draw::new(12).visit(1);
    assert_eq!(second.insert(&[visit]).unwrap(), [Receipt::Stored]);
    drop(first);
    second.claim().unwrap();
}

/// By this process, which the error names.
fn is_taken(error: &StoreError) -> bool {
    let by_this = format!("process {} on ", std::process::id());
    matches!(error, StoreError::Taken { by, .. } if by.starts_with(&by_this))
}

fn survives_a_crash_of_the_server(server: &Server) {
    let mut store = Store::open(&server.database("crash")).unwrap();
    store.claim().unwrap();
    let mut draw = Draw::new(9);
    let (first, second) = (draw.visit(3), draw.visit(3));
    store.insert(std::slice::from_ref(&first)).unwrap();
    server.down();
    let error = store.insert(std::slice::from_ref(&second)).unwrap_err();
    assert!(error.may_pass(), "{error}");
    assert!(
        store
            .insert(std::slice::from_ref(&second))
            .unwrap_err()
            .may_pass()
    );
    server.up();
    // Another collector is faster: this one waits for its end, however often it tries.
    let mut other = Store::open(&server.url("crash")).unwrap();
    other.claim().unwrap();
    for _ in 0..2 {
        assert!(is_taken(
            &store.insert(std::slice::from_ref(&first)).unwrap_err()
        ));
    }
    drop(other);
    let inserted = || store.insert(&[first.clone(), second.clone()]);
    let receipts = patiently(inserted).unwrap();
    assert_eq!(receipts, [Receipt::Known, Receipt::Stored]);
    // The new connection has what the old one had.
    let mut other = Store::open(&server.url("crash")).unwrap();
    assert!(is_taken(&other.claim().unwrap_err()));
}

/// Until a server has noticed that a connection has ended.
fn patiently<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        match work() {
            Err(StoreError::Taken { .. }) if std::time::Instant::now() < end => {
                thread::sleep(std::time::Duration::from_millis(20));
            }
            done => return done,
        }
    }
}

fn a_newer_schema_is_refused(server: &Server) {
    let name = server.database("newer");
    drop(Store::open(&name).unwrap());
    server.sql("newer", "INSERT INTO trunkline_watch.version VALUES (99)");
    let error = Store::open(&name).err().unwrap();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
}

#[test]
fn reading_makes_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a ?#%.sqlite");
    let name = DatabaseName::Sqlite(path.clone());
    let error = Store::open_to_read(&name).err().unwrap();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    assert!(!path.exists());

    let mut store = Store::open(&name).unwrap();
    let visits = [Draw::new(1).visit(1)];
    store.insert(&visits).unwrap();
    // Beside one that writes, and after it, from a folder that may not be written.
    let range = (time(0), time(u64::MAX));
    let found = |name| {
        Store::open_to_read(name)
            .unwrap()
            .all_visits(range, 10)
            .unwrap()
    };
    assert_eq!(found(&name).len(), 1);
    let mut reader = Store::open_to_read(&name).unwrap();
    assert!(reader.insert(&visits).is_err());
    drop((store, reader));
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(found(&name).len(), 1);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);

    let connection = rusqlite::Connection::open(&path).unwrap();
    for (version, is_older) in [(1, true), (99, false)] {
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
        let error = Store::open_to_read(&name).err().unwrap();
        assert_eq!(
            matches!(error, StoreError::Older { .. }),
            is_older,
            "{error}"
        );
        assert_eq!(
            matches!(error, StoreError::Newer { .. }),
            !is_older,
            "{error}"
        );
    }
}

fn a_server_is_read_without_making_tables(server: &Server) {
    let name = server.database("empty");
    let error = Store::open_to_read(&name).err().unwrap();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    let mut store = Store::open(&name).unwrap();
    let visits = [Draw::new(1).visit(1)];
    store.insert(&visits).unwrap();
    let mut reader = Store::open_to_read(&name).unwrap();
    let range = (time(0), time(u64::MAX));
    assert_eq!(reader.all_visits(range, 10).unwrap().len(), 1);
    assert!(reader.insert(&visits).is_err());
    assert_eq!(exported(&name), exported(&name));
    assert!(exported(&name).contains(&visits[0].id.to_string()));
}

fn exported(name: &DatabaseName) -> String {
    let mut output = Vec::new();
    for table in Table::ALL {
        let mut store = Store::open_to_read(name).unwrap();
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let what = (table, Format::Csv);
        store
            .export(what, &Selection::ALL, &mut output, go_on)
            .unwrap();
    }
    String::from_utf8(output).unwrap()
}

#[test]
fn a_file_that_is_newer_foreign_or_damaged_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.sqlite");
    let name = DatabaseName::Sqlite(path.clone());
    drop(Store::open(&name).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let bytes = std::fs::read(&path).unwrap();
    let error = Store::open(&name).err().unwrap();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);

    let other = folder.path().join("other.sqlite");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE theirs (a)").unwrap();
    drop(connection);
    let error = Store::open(&DatabaseName::Sqlite(other)).err().unwrap();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");

    let text = folder.path().join("text");
    std::fs::write(&text, "no database at all, but a text of some length").unwrap();
    let error = Store::open(&DatabaseName::Sqlite(text.clone()))
        .err()
        .unwrap();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(
        std::fs::read_to_string(&text)
            .unwrap()
            .starts_with("no database")
    );
}

#[test]
fn an_absent_server_is_named_without_its_password() {
    let name: DatabaseName = "postgres://me:secret@%2Fnowhere/watch".parse().unwrap();
    let error = Store::open(&name).err().unwrap();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

fn pages_get_what_they_ask_for(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(8);
    let mut visits: Vec<_> = (0..200).map(|_| draw.visit(3)).collect();
    store.insert(&visits).unwrap();
    visits.sort_by_key(|stored| (stored.visit.at, stored.id));
    assert_eq!(store.tasks().unwrap(), [name("mesh"), name("other")]);
    let of = visits[0].pair.clone();
    assert_eq!(store.tasks_of(&of).unwrap(), [name("mesh"), name("other")]);
    assert_eq!(store.tasks_of(&pair("no", "where")).unwrap(), []);

    let day = (time(START + 86_400), time(START + 2 * 86_400));
    let within = |at| (day.0..day.1).contains(&at);
    let bare = |stored: &watch_store::StoredVisit| watch_store::StoredVisit {
        document: None,
        ..stored.clone()
    };
    let wanted = visits.iter().filter(|stored| within(stored.visit.at));
    let wanted: Vec<_> = wanted.map(bare).collect();
    let read = |found: Vec<watch_store::LoadedVisit>| -> Vec<watch_store::StoredVisit> {
        assert!(found.iter().all(|loaded| loaded.kept == Kept::Whole));
        found.into_iter().map(|loaded| loaded.stored).collect()
    };
    assert!(wanted.len() > 20);
    assert_eq!(read(store.all_visits(day, 1000).unwrap()), wanted);
    assert_eq!(read(store.all_visits(day, 7).unwrap()), wanted[..7]);
    let own = |stored: &&watch_store::StoredVisit| stored.pair == of && stored.task == name("mesh");
    let own: Vec<_> = wanted.iter().filter(own).cloned().collect();
    assert_eq!(
        read(store.visits(&of, &name("mesh"), day, 1000).unwrap()),
        own
    );
    let first: Vec<_> = own.iter().take(1).cloned().collect();
    assert_eq!(
        read(store.visits(&of, &name("mesh"), day, 1).unwrap()),
        first
    );
    assert_eq!(store.visits(&of, &name("nothing"), day, 9).unwrap(), []);

    let event = |id, at: u64| event(id, 0, START + at);
    for (id, at) in [(1, 10), (2, 30), (u64::MAX, 20)] {
        store
            .insert_event(&of, &name("mesh"), &event(id, at))
            .unwrap();
    }
    let other = pair("no", "where");
    store
        .insert_event(&other, &name("mesh"), &event(1, 15))
        .unwrap();
    let all = (time(0), time(START + 86_400));
    let ids = |found: Vec<watch_store::StoredEvent>| -> Vec<u64> {
        found.iter().map(|stored| stored.event.id).collect()
    };
    assert_eq!(
        ids(store.events_of(&of, all, 10).unwrap()),
        [2, u64::MAX, 1]
    );
    assert_eq!(ids(store.events_of(&of, all, 1).unwrap()), [2]);
    let found = store.event(&of, &name("mesh"), u64::MAX).unwrap().unwrap();
    assert_eq!(
        (found.pair, found.event.first_visit),
        (of.clone(), time(START + 20))
    );
    assert_eq!(store.event(&of, &name("mesh"), 3).unwrap(), None);
}

#[test]
fn a_damaged_detector_is_told_from_one_that_was_never_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.sqlite");
    let mut store = Store::open(&DatabaseName::Sqlite(path.clone())).unwrap();
    let series = Series {
        pair: pair("slac", "cern"),
        task: name("goodput"),
    };
    assert_eq!(store.saved_detector(&series).unwrap(), SavedState::Absent);
    let saved = SavedDetector {
        through: time(7),
        detector: Detector::new(),
    };
    store.save_detector(&series, &saved).unwrap();
    let found = store.saved_detector(&series).unwrap();
    assert_eq!(found, SavedState::Saved(Box::new(saved)));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let damage = "UPDATE detectors SET zstd = x'28b52ffd00'";
    assert_eq!(connection.execute(damage, []).unwrap(), 1);
    assert_eq!(store.saved_detector(&series).unwrap(), SavedState::Unusable);
}

/// As the version before had it.
#[test]
fn a_database_without_delays_gets_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.db");
    let name = DatabaseName::Sqlite(path.clone());
    drop(Store::open(&name).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "ALTER TABLE visits DROP COLUMN jitter; ALTER TABLE visits DROP COLUMN one_way; \
             PRAGMA user_version = 3",
        )
        .unwrap();
    drop(connection);
    let mut store = Store::open(&name).unwrap();
    let mut draw = Draw::new(7);
    let with_delays = |visit: &watch_store::StoredVisit| visit.visit.one_way.is_some();
    let visit = std::iter::repeat_with(|| draw.visit(1)).find(with_delays);
    let visit = visit.unwrap();
    store.insert(std::slice::from_ref(&visit)).unwrap();
    let loaded = store.load(visit.id).unwrap().unwrap();
    assert_eq!(loaded.stored, visit);
}
