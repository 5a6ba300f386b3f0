use super::*;

/// The whole month, as a newcomer sees it.
#[test]
fn troubles_are_found_with_their_causes() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("demo.db"));
    let now = UnixTime::from_seconds(1_795_543_200);
    let month = month(database, now, 1, &Cancel::new(), &mut |_, _| ()).unwrap();
    println!("{} events without a trouble", month.unexplained());
    for found in month.found() {
        println!("{found:?}");
    }
    for (found, trouble) in month.found().iter().zip(&month.troubles) {
        assert!(found.found * 2 >= found.paths, "{found:?}");
        let cause = trouble.cause().map_or("no data", |cause| cause.name());
        assert_eq!(found.cause.as_deref(), Some(cause), "{found:?}");
    }
}
