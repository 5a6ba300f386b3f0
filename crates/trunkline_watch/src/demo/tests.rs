use super::*;

/// The whole month, as a newcomer sees it.
#[test]
fn troubles_are_found_with_their_causes() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("demo.db"));
    let now = UnixTime::from_seconds(1_795_543_200);
    let demo = Demo::until(database, now, 1, &Cancel::new()).unwrap();
    let month = demo.make(&mut |_, _| ()).unwrap();
    // Each hour a visit of all pairs, but those that kek did not make.
    let down = &month.troubles[4];
    let silent = 5 * (down.ends.since(down.begins).as_secs_f64() / 3600.0).round() as usize;
    assert!(
        month.visits.abs_diff(30 * 24 * 30 - silent) <= 5,
        "{} visits",
        month.visits
    );
    let unexplained = month.unexplained();
    println!("{} incidents without a trouble", unexplained.len());
    assert!(
        unexplained.iter().all(|one| !one.is_open()),
        "{unexplained:?}"
    );
    for found in month.found() {
        println!("{found:?}");
    }
    for (found, trouble) in month.found().iter().zip(&month.troubles) {
        assert!(found.found * 2 >= found.paths, "{found:?}");
        let cause = trouble.cause().map_or("no data", |cause| cause.name());
        assert_eq!(found.cause.as_deref(), Some(cause), "{found:?}");
        let hours = |span: Span| span.as_secs_f64() / 3600.0;
        assert!(
            found.since.is_some_and(|since| hours(since) <= 2.0),
            "{found:?}"
        );
        assert_eq!(found.ended.is_some(), found.ends.is_some(), "{found:?}");
        if let Some((told, measured)) = found.told.zip(found.measured) {
            assert!(
                ((1.0 + told) / (1.0 + measured)).ln().abs() <= 0.1,
                "{found:?}"
            );
        }
    }
}
