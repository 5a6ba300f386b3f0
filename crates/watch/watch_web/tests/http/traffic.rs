//! Traffic across the border: its own page, below a pair, beside an event.

use std::sync::Arc;

use watch_store::{Crossing, DatabaseName, RouterHour, Store, StoredEvent, Traffic, Volume};

use super::common::{Mesh, START, Still, time};
use super::{get, month, serve};

const DAYS: u64 = 30;
const DAY: u64 = 86_400;

/// From a time on, others send four times as much.
fn minute(at: u64, rises_at: u64) -> [Traffic; 3] {
    let others = if at < rises_at { 15 } else { 60 };
    let own = |way, application: &str, megabytes: u64| Traffic {
        at: time(at),
        seconds: 60,
        router: "192.0.2.254".to_owned(),
        way,
        application: application.to_owned(),
        volume: Volume {
            bytes: megabytes * 1_000_000,
            packets: megabytes * 700,
            records: 3,
        },
    };
    [
        own(Crossing::In, "https", others),
        own(Crossing::In, "trunkline-iperf3", 600),
        own(Crossing::Out, "xrootd", 30),
    ]
}

#[test]
fn pages_without_flow_records_say_where_they_come_from() {
    let answer = get(&month(), "/traffic");
    assert_eq!(answer.status, 200);
    assert!(
        answer.body.contains("No flow records of this time"),
        "{}",
        answer.body
    );
    assert!(
        answer.body.contains("<code>[flows]</code>"),
        "{}",
        answer.body
    );
}

#[test]
fn traffic_is_shown_by_application_below_pairs_and_beside_events() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let mut store = Store::open(&database).unwrap();
    Mesh::new(1124, DAYS).fill(&mut store);
    let end = START + DAYS * DAY - 600;
    let ends = (time(START), time(end));
    let events = store.events(ends, 100).unwrap();
    // One that is open, and whose hours are not those of the last day.
    let is_open = |stored: &&StoredEvent| {
        let event = &stored.event;
        event.recovered.is_none() && event.first_visit.seconds() + DAY < end
    };
    let event = events.iter().find(is_open);
    let event = event.unwrap();
    // The first minute that begins with the first visit or behind it.
    let first = event.event.first_visit.seconds().next_multiple_of(60);
    let around = (first - 7200..first + 7200).step_by(60);
    let last_day = (end / 60 * 60 - DAY / 4..end).step_by(60);
    let traffic: Vec<Traffic> = around
        .flat_map(|at| minute(at, first))
        .chain(last_day.flat_map(|at| minute(at, end - 1800)))
        .collect();
    let hour = RouterHour {
        at: time(end),
        router: "192.0.2.254".to_owned(),
        datagrams: 100,
        received: 97,
        lost: 3,
        ..RouterHour::default()
    };
    store.insert_flows(&traffic, &[hour]).unwrap();
    drop(store);
    let server = serve(&database, None, Arc::new(Still::new(DAYS)));
    let page = get(&server, "/traffic?range=6%20hours");
    assert_eq!(page.status, 200, "{}", page.body);
    for words in [
        "https",
        "xrootd",
        "trunkline-iperf3",
        "4.00 Mbit/s",
        "192.0.2.254",
        "3.0 %",
    ] {
        assert!(page.body.contains(words), "no `{words}` in {}", page.body);
    }
    let pair = get(&server, "/pair/slac/cern?task=goodput&range=day");
    assert!(pair.body.contains("all traffic in"), "{}", pair.body);
    let (task, of) = (&event.task, &event.pair);
    let place = format!("/event/{task}/{}/{}/{}", of.from, of.to, event.event.id);
    let page = get(&server, &place);
    assert_eq!(page.status, 200, "{}", page.body);
    let words = "in 2 Mbit/s, then 8 Mbit/s; out 4 Mbit/s, then 4 Mbit/s";
    let shown = page.body.replace(".00 ", " ").replace(".0 ", " ");
    assert!(shown.contains("At the same time"), "{shown}");
    assert!(shown.contains(words), "{shown}");
}
