//! Roll-ups, and what goes with time.

use super::*;

/// One thread rolls up while three store visits of the same few days.
pub fn roll_ups_miss_no_visit_of_writers(database: &DatabaseName) {
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

pub fn old_raw_values_go_and_figures_stay(database: &DatabaseName) {
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

pub fn throughput(draw: &mut Draw, at: u64, mbit: u64) -> watch_store::StoredVisit {
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

/// Its last visits come when its last hour has a roll-up.
pub fn the_last_hour_of_a_month_is_counted(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(13);
    let last_hour = START + 30 * 86_400 + 23 * 3600;
    let minutes: [&[u64]; 3] = [&[5], &[15, 55], &[65]];
    for together in minutes {
        let mut visit = |minute: &u64| throughput(&mut draw, last_hour + *minute * 60, 5);
        let visits: Vec<_> = together.iter().map(&mut visit).collect();
        store.insert(&visits).unwrap();
        while store.roll_up(10).unwrap() > 0 {}
    }
    let months = store.months(&name("mesh"), time(0), time(u64::MAX));
    let months = months.unwrap();
    let visits: Vec<u64> = months.iter().map(|month| month.figures.visits).collect();
    assert_eq!(visits, [3, 1]);
}

pub fn points_stay_below_their_bound(database: &DatabaseName) {
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
