//! Several that write at once, and one that has claimed the database.

use super::*;

/// Threads open the empty database at once and store the same visits in other orders.
pub fn many_open_and_write_at_once(database: &DatabaseName) {
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

pub fn one_collector_has_it(name: &DatabaseName) {
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

pub fn survives_a_crash_of_the_server(server: &Server) {
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
