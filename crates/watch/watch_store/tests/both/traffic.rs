//! Traffic across the border: sums, steps, what is kept, export.

use std::ops::ControlFlow;

use watch_store::{Border, Crossing, RouterHour, Traffic, Volume};

use super::*;

const HOUR: u64 = 3600;

fn minute(minute: u64, way: Crossing, application: &str, bytes: u64) -> Traffic {
    Traffic {
        at: time(START + minute * 60),
        seconds: 60,
        router: "192.0.2.254".to_owned(),
        way,
        application: application.to_owned(),
        volume: Volume {
            bytes,
            packets: bytes / 1000,
            records: 1,
        },
    }
}

fn hour(at: u64, received: u64, lost: i64) -> RouterHour {
    RouterHour {
        at: time(START + at * HOUR + 7),
        router: "192.0.2.254".to_owned(),
        covered: HOUR,
        datagrams: 10,
        received,
        lost,
        ..RouterHour::default()
    }
}

/// Three hours: each minute as many kilobytes of https in as its number, and xrootd out.
fn filled(name: &DatabaseName) -> Store {
    let mut store = Store::open(name).unwrap();
    let all: Vec<Traffic> = (0..180)
        .flat_map(|at| {
            [
                minute(at, Crossing::In, "https", at * 1000),
                minute(at, Crossing::Out, "xrootd", 1_000_000),
            ]
        })
        .collect();
    let hours: Vec<RouterHour> = (0..3).map(|at| hour(at, 97, 3)).collect();
    store.insert_flows(&all, &hours).unwrap();
    store
}

fn read(store: &mut Store, (from, to): (u64, u64), step: u64) -> Border {
    let ends = (time(START + from), time(START + to));
    store.border(ends, step).unwrap()
}

fn exported(store: &mut Store) -> Vec<String> {
    let mut output = Vec::new();
    let what = (Table::Flows, Format::Csv);
    let mut go_on = |_| ControlFlow::Continue(());
    store
        .export(what, &Selection::ALL, &mut output, &mut go_on)
        .unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(str::to_owned).collect()
}

pub fn traffic_adds_up_in_every_step(name: &DatabaseName) {
    let mut store = filled(name);
    let all: u64 = (0..180).map(|at| at * 1000).sum();
    for step in [60, 300, 900, HOUR, 2 * HOUR] {
        let border = read(&mut store, (0, 3 * HOUR), step);
        let https = border.volume(Crossing::In, |name| name == "https");
        assert_eq!((https.bytes, https.records), (all, 180), "{step}");
        assert_eq!(border.seconds(), 3 * HOUR, "{step}");
        assert_eq!(border.covered.len() as u64, (3 * HOUR).div_ceil(step));
        assert_eq!(border.applications(), ["xrootd", "https"]);
        // 1 MB a minute.
        let rates = border.rates(Crossing::Out, |_| true);
        assert!(
            rates
                .iter()
                .all(|(_, rate)| (*rate - 8e6 / 60.0).abs() < 1.0)
        );
        assert_eq!(border.routers.len(), 1);
        assert_eq!(border.routers[0].lost_share(), Some(0.03));
    }
    // What comes later to an interval is added; an hour has no more than its seconds.
    let more = [minute(5, Crossing::In, "https", 7)];
    store.insert_flows(&more, &[hour(0, 0, -3)]).unwrap();
    let border = read(&mut store, (300, 360), 60);
    assert_eq!(border.volume(Crossing::In, |_| true).bytes, 5007);
    let border = read(&mut store, (0, 3 * HOUR), HOUR);
    assert_eq!(border.volume(Crossing::In, |_| true).bytes, all + 7);
    assert_eq!(border.covered[&time(START)], HOUR);
    assert_eq!(border.routers[0].lost, 6);
    assert_eq!(read(&mut store, (4 * HOUR, 5 * HOUR), 60).seconds(), 0);
}

pub fn hours_of_traffic_stay_when_minutes_go(name: &DatabaseName) {
    let mut store = filled(name);
    let before = exported(&mut store);
    assert_eq!(before.len(), 1 + 360);
    assert!(before[0].starts_with("began,interval_seconds,router,way,application,bytes"));
    // Half an hour too old is no whole hour.
    let old = |minutes: u64| time(START + minutes * 60);
    assert_eq!(store.drop_raw(old(59), 1000).unwrap(), 0);
    assert_eq!(store.drop_raw(old(90), 100).unwrap(), 100);
    while store.drop_raw(old(90), 100).unwrap() > 0 {}
    let after = exported(&mut store);
    // An hour of each application in place of its minutes, then the same minutes.
    assert_eq!(after.len(), 1 + 2 + 240);
    assert!(
        after[1].contains(",3600,192.0.2.254,in,https,1770000,"),
        "{}",
        after[1]
    );
    assert_eq!(after[3..], before[121..]);
    // A range that needs the first hour is read in hours.
    let border = read(&mut store, (0, 3 * HOUR), 60);
    assert_eq!((border.step, border.seconds()), (HOUR, 3 * HOUR));
    assert_eq!(read(&mut store, (HOUR, 3 * HOUR), 60).step, 60);
}

pub fn absurd_traffic_is_bounded(name: &DatabaseName) {
    let mut store = Store::open(name).unwrap();
    let absurd = [minute(0, Crossing::In, "https", u64::MAX)];
    for _ in 0..20 {
        store.insert_flows(&absurd, &[]).unwrap();
    }
    for step in [60, 86_400] {
        let border = read(&mut store, (0, HOUR), step);
        assert!(border.volume(Crossing::In, |_| true).bytes >= 60 << 38);
    }
}
