//! What pages ask for.

use super::events::event;
use super::over_time::throughput;
use super::*;

pub fn the_grid_shows_the_latest(database: &DatabaseName) {
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

pub fn pages_get_what_they_ask_for(database: &DatabaseName) {
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
