//! Opening a database: what is refused, what stays.

use super::*;

pub fn a_newer_schema_is_refused(server: &Server) {
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

pub fn a_server_is_read_without_making_tables(server: &Server) {
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

/// What makes the tables of version 4 of those of version 7.
fn without_pings() -> Vec<String> {
    let flows = ["flows", "flow_hours", "flow_routers"];
    let flows = flows.map(|table| format!("DROP TABLE {table};"));
    let columns = [
        (
            "visits",
            "rtt_mean ipdv lost_followed lost_again losses slope slope_low slope_high no_slope",
        ),
        (
            "roll_ups",
            "probed lossless unanswered duplicated reordered lost_followed lost_again rtt_mean \
             ipdv unpredictable slope",
        ),
    ];
    let of = |(table, names): (&str, &'static str)| {
        let drop = format!("ALTER TABLE {table} DROP COLUMN");
        let names = names.split_whitespace();
        names.map(move |name| format!("{drop} {name};"))
    };
    columns.into_iter().flat_map(of).chain(flows).collect()
}

#[test]
fn months_of_an_older_database_are_summed_up_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.db");
    let make_older = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(&without_pings().concat()).unwrap();
        connection.pragma_update(None, "user_version", 4).unwrap();
    };
    months_are_summed_up_anew(&DatabaseName::Sqlite(path.clone()), make_older);
}

pub fn months_of_an_older_server_are_summed_up_anew(server: &Server) {
    let make_older = || {
        let drops = without_pings().concat();
        let all =
            format!("SET search_path = trunkline_watch; {drops} UPDATE version SET number = 4");
        server.sql("older", &all);
    };
    months_are_summed_up_anew(&server.database("older"), make_older);
}

fn all_months(store: &mut Store) -> Vec<watch_store::Month> {
    let tasks = store.tasks().unwrap().into_iter();
    let of = |task| store.months(&task, time(0), time(u64::MAX)).unwrap();
    tasks.flat_map(of).collect()
}

/// The months that are there get what their visits have, and the visits stay without an order.
fn months_are_summed_up_anew(name: &DatabaseName, make_older: impl FnOnce()) {
    let mut store = Store::open(name).unwrap();
    let mut draw = Draw::new(11);
    let visits: Vec<_> = (0..400).map(|_| draw.visit(90)).collect();
    store.insert(&visits).unwrap();
    while store.roll_up(100).unwrap() > 0 {}
    let before = all_months(&mut store);
    drop(store);
    make_older();
    let mut store = Store::open(name).unwrap();
    // An older collector that still has the database finds no work that it does not know.
    assert_eq!(store.roll_up(100).unwrap(), 0);
    let now = all_months(&mut store);
    assert!(now.iter().all(|month| month.figures.pings.is_none()));
    store.claim().unwrap();
    while store.roll_up(100).unwrap() > 0 {}
    let after = all_months(&mut store);
    assert_eq!(after.len(), before.len());
    for (before, after) in before.iter().zip(&after) {
        let [old, new] = [before, after].map(|month| month.figures.pings.unwrap());
        assert_eq!(
            (new.visits, new.sent, new.lost),
            (old.visits, old.sent, old.lost)
        );
        assert_eq!((new.mean, new.variation, new.lost_again), (None, None, 0));
        assert_eq!(new.slowest_link, None);
        assert_eq!(new.min, old.min);
    }
    drop(store);
    let mut store = Store::open(name).unwrap();
    store.claim().unwrap();
    assert_eq!(store.roll_up(100).unwrap(), 0, "once is enough");
}

/// As version 6 had it, which stored flows, and no slopes.
#[test]
fn a_database_without_slopes_gets_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.db");
    let name = DatabaseName::Sqlite(path.clone());
    drop(Store::open(&name).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "ALTER TABLE visits DROP COLUMN losses; ALTER TABLE visits DROP COLUMN slope; \
             ALTER TABLE visits DROP COLUMN slope_low; ALTER TABLE visits DROP COLUMN slope_high; \
             ALTER TABLE visits DROP COLUMN no_slope; ALTER TABLE roll_ups DROP COLUMN slope; \
             PRAGMA user_version = 6",
        )
        .unwrap();
    drop(connection);
    let mut store = Store::open(&name).unwrap();
    let mut draw = Draw::new(8);
    let with_slope = |visit: &watch_store::StoredVisit| visit.visit.slowest_link.is_some();
    let visit = std::iter::repeat_with(|| draw.visit(1)).find(with_slope);
    let visit = visit.unwrap();
    store.insert(std::slice::from_ref(&visit)).unwrap();
    let loaded = store.load(visit.id).unwrap().unwrap();
    assert_eq!(loaded.stored, visit);
}

/// As version 3 had it.
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
    connection.execute_batch(&without_pings().concat()).unwrap();
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
