//! Events, notes and detectors.

use super::*;

pub fn event(id: u64, revision: u32, first: u64) -> Event {
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

pub fn the_highest_revision_stays(database: &DatabaseName) {
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

pub fn open_events_are_found_whenever_they_began(database: &DatabaseName) {
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

pub fn notes_come_back_in_their_order(database: &DatabaseName) {
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
