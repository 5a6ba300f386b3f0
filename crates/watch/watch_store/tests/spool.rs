//! The spool of an agent: killed at random moments, and on a full disk.

mod common;

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{Draw, START, time};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use watch_store::{DatabaseName, Receipt, Spool, SpoolError, Store, StoredVisit, VisitId};

const PLACE: &str = "WATCH_STORE_TEST_PLACE";
const SEED: &str = "WATCH_STORE_TEST_SEED";

/// One visit that depends on the seed and number alone.
fn visit(seed: u64, number: u64) -> StoredVisit {
    Draw::new(seed << 32 | number).visit(30)
}

/// Not a test by itself: the agent that the next test kills. It pushes visits, says which are safe,
/// and sends batches to the store in between.
#[test]
fn agent_for_the_next_test() {
    let (Ok(place), Ok(seed)) = (env::var(PLACE), env::var(SEED)) else {
        return;
    };
    let seed: u64 = seed.parse().unwrap();
    let place = Path::new(&place);
    let mut spool = Spool::open(&place.join("spool.sqlite")).unwrap();
    let mut store = Store::open(&DatabaseName::Sqlite(place.join("store.sqlite"))).unwrap();
    let mut output = std::io::stderr();
    for number in 0.. {
        let visits: Vec<_> = (0..1 + number % 3)
            .map(|n| visit(seed, number * 10 + n))
            .collect();
        spool.push(&visits).unwrap();
        for visit in &visits {
            writeln!(output, "pushed {}", visit.id).unwrap();
        }
        if number % 3 == 2 {
            send(&mut spool, &mut store, 4);
        }
    }
}

fn send(spool: &mut Spool, store: &mut Store, limit: u32) -> usize {
    let batch = spool.batch(limit).unwrap();
    let receipts = store.insert(&batch).unwrap();
    assert!(
        receipts
            .iter()
            .all(|receipt| !matches!(receipt, Receipt::Refused(_)))
    );
    let ids: Vec<VisitId> = batch.iter().map(|visit| visit.id).collect();
    spool.acknowledge(&ids).unwrap();
    ids.len()
}

#[test]
fn an_agent_killed_at_random_moments_loses_and_doubles_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mut pushed: BTreeSet<VisitId> = BTreeSet::new();
    let mut wait = Draw::new(u64::from(std::process::id()));
    for seed in 0..12 {
        let millis = 20 + wait.below(150);
        let lines = run_and_kill(place.path(), seed, millis);
        // The last line may be cut off.
        let ids = lines.iter().filter_map(|line| line.strip_prefix("pushed "));
        pushed.extend(ids.filter_map(|id| id.parse::<VisitId>().ok()));
    }
    assert!(
        pushed.len() > 12,
        "only {} visits were pushed",
        pushed.len()
    );
    let mut spool = Spool::open(&place.path().join("spool.sqlite")).unwrap();
    let file = place.path().join("store.sqlite");
    let mut store = Store::open(&DatabaseName::Sqlite(file.clone())).unwrap();
    while send(&mut spool, &mut store, 50) > 0 {}
    assert_eq!(spool.waiting().unwrap(), 0);
    for id in &pushed {
        let found = store.load(*id).unwrap();
        assert!(
            found.is_some(),
            "{id} was pushed and is lost; waits from {}",
            std::process::id()
        );
    }
    let connection = rusqlite::Connection::open(file).unwrap();
    let count = "SELECT count(*), count(DISTINCT id) FROM visits";
    let (rows, ids): (i64, i64) = connection
        .query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(rows, ids);
    // A visit may be stored whose line was not read any more, at most one push for each kill.
    assert!(
        (rows as usize) < pushed.len() + 12 * 4,
        "{rows} rows, {} pushed",
        pushed.len()
    );
}

/// What the agent said before it was killed, `millis` after its first line.
fn run_and_kill(place: &Path, seed: u64, millis: u64) -> Vec<String> {
    let mut agent = Command::new(env::current_exe().unwrap())
        .args(["--exact", "agent_for_the_next_test", "--nocapture"])
        .env(PLACE, place)
        .env(SEED, seed.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(agent.stderr.take().unwrap()).lines();
    let mut said: Vec<String> = Vec::new();
    said.extend(lines.next().map(Result::unwrap));
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(millis));
        agent.kill().unwrap();
        agent.wait().unwrap()
    });
    said.extend(lines.map_while(Result::ok));
    let status = killer.join().unwrap();
    assert_eq!(status.code(), None, "the agent ended by itself: {said:?}");
    said
}

#[test]
fn a_full_disk_refuses_new_results_and_lets_old_ones_go() {
    let place = tempfile::tempdir().unwrap();
    let options = Some("size=3m");
    let flags = MsFlags::empty();
    if mount(Some("tmpfs"), place.path(), Some("tmpfs"), flags, options).is_err() {
        testkit::skip("mounting a small file system needs root");
        return;
    }
    let result = std::panic::catch_unwind(|| fill_and_empty(place.path()));
    umount2(place.path(), MntFlags::MNT_DETACH).unwrap();
    result.unwrap();
}

fn fill_and_empty(place: &Path) {
    let path = place.join("spool.sqlite");
    let mut spool = Spool::open(&path).unwrap();
    let mut pushed = Vec::new();
    let error = loop {
        let next = visit(77, pushed.len() as u64);
        match spool.push(std::slice::from_ref(&next)) {
            Ok(()) => pushed.push(next),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SpoolError::Full { .. }), "{error}");
    assert!(pushed.len() > 100, "{} fit", pushed.len());
    // A process that was just forked holds the reserve open.
    let held = std::fs::File::open(place.join("spool.sqlite.reserve")).unwrap();
    // Another program takes what is left.
    let mut other = std::fs::File::create(place.join("other")).unwrap();
    while other.write_all(&[1; 512]).is_ok() {}
    drop(spool);
    let mut spool = Spool::open(&path).unwrap();
    assert!(spool.batch(u32::MAX).unwrap() == pushed);
    let ids: Vec<VisitId> = pushed.iter().map(|visit| visit.id).collect();
    for some in ids.chunks(20) {
        spool.acknowledge(some).unwrap();
    }
    assert_eq!(spool.waiting().unwrap(), 0);
    drop(held);
    // The other program still has what was left; the file has room.
    spool.push(&pushed[..20]).unwrap();
    assert!(spool.batch(100).unwrap() == pushed[..20]);
}

#[test]
fn pushed_twice_waits_once_in_the_order_of_pushing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("spool.sqlite");
    let visits: Vec<_> = (0..10).map(|number| visit(5, number)).collect();
    let mut spool = Spool::open(&path).unwrap();
    let mut second = Spool::open(&path).unwrap();
    spool.push(&visits[..6]).unwrap();
    second.push(&visits[3..]).unwrap();
    assert!(spool.batch(100).unwrap() == visits);
    assert_eq!(spool.batch(3).unwrap(), visits[..3]);
    spool
        .acknowledge(&[visits[0].id, visits[2].id, Draw::new(1).id(time(START))])
        .unwrap();
    assert_eq!(
        second.batch(2).unwrap(),
        [visits[1].clone(), visits[3].clone()]
    );
    assert_eq!(second.waiting().unwrap(), 8);
}

#[test]
fn a_spool_that_is_newer_foreign_or_damaged_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("spool.sqlite");
    drop(Spool::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let error = Spool::open(&path).unwrap_err();
    assert!(
        matches!(error, SpoolError::Newer { found: 99, .. }),
        "{error}"
    );
    connection.pragma_update(None, "application_id", 5).unwrap();
    assert!(matches!(
        Spool::open(&path),
        Err(SpoolError::Foreign { .. })
    ));
    std::fs::write(
        place.path().join("text"),
        "a text that is no database of anybody",
    )
    .unwrap();
    let error = Spool::open(&place.path().join("text")).unwrap_err();
    assert!(matches!(error, SpoolError::Damaged { .. }), "{error}");
}
