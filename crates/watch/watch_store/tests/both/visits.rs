//! Visits as they are stored.

use super::*;

pub fn stored_visits_come_back_whole(database: &DatabaseName) {
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

pub fn sent_twice_is_stored_once(database: &DatabaseName) {
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

/// A collector that did not read the order of the probes has stored it.
pub fn a_visit_that_was_stored_without_its_order_is_known(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(14);
    let has_order = |visit: &watch_store::StoredVisit| visit.visit.sequence.is_some();
    let sent = std::iter::repeat_with(|| draw.visit(3)).find(has_order);
    let sent = sent.unwrap();
    let mut read = sent.clone();
    (read.visit.sequence, read.visit.losses) = (None, None);
    read.visit.slowest_link = None;
    assert_eq!(store.insert(&[read]).unwrap(), [Receipt::Stored]);
    let mut other = sent.clone();
    other.visit.goodput = Some(Rate::from_bits_per_second(7));
    let conflict = Receipt::Refused(Refusal::Conflict(sent.id));
    let receipts = store.insert(&[sent, other]).unwrap();
    assert_eq!(receipts, [Receipt::Known, conflict]);
}

pub fn a_number_too_large_is_refused_alone(database: &DatabaseName) {
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

pub fn a_visit_too_long_is_refused_alone(database: &DatabaseName) {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(4);
    let mut long = [0; 5].map(|_| draw.visit(3));
    long[0].rates = Some(vec![Rate::from_bits_per_second(1); 100_001]);
    long[1].document = Some("x".repeat((8 << 20) + 1));
    long[2].visit.round_trips = RoundTrips::new(vec![Span::from_millis(1); 10_001]);
    let hops = vec!["10.0.0.1".to_owned(); 256];
    long[3].visit.route = Some(Route { hash: 1, hops });
    long[4].visit.losses = LossPattern::of([true; 20_002]);
    let mut edge = draw.visit(3);
    edge.rates = Some(vec![Rate::from_bits_per_second(1); 100_000]);
    let all = [&long[..], &[edge]].concat();
    let receipts = store.insert(&all).unwrap();
    for receipt in &receipts[..5] {
        assert!(
            matches!(receipt, Receipt::Refused(Refusal::Large { .. })),
            "{receipt:?}"
        );
    }
    assert_eq!(receipts[5], Receipt::Stored);
}
