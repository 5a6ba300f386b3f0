use observe::{Direction, Setting, StreamCount, Window};
use sweep::{Done, SweepPlan as Plan, Visit};
use tempfile::TempDir;

use super::*;
use crate::{Filter, schema};
use record::sweep::{StreamFigures, SweepCell};
use record::synthetic::{self, Case};

fn empty() -> (TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(&folder.path().join("archive.sqlite")).unwrap();
    (folder, archive)
}

fn plan() -> Plan {
    let setting = |n| Setting::new(StreamCount::new(n).unwrap(), Window::Auto);
    let back = Setting {
        direction: Direction::Reverse,
        ..setting(2)
    };
    Plan {
        settings: vec![setting(1), setting(2), back],
        cycles: 2,
        durations: vec![Span::from_secs(10)],
        unloaded: Span::from_secs(1),
        seed: 3,
        via: units::Via::default(),
        user: None,
    }
}

fn measure(number: u32) -> Document<Measure> {
    let mut document = synthetic::measure(&Case::streams(2, u64::from(number)));
    document.origin.created = format!("2026-03-14T15:{number:02}:00Z");
    document
}

fn figures(number: u32) -> CellFigures {
    CellFigures {
        goodput_bits_per_second: u64::from(number) * 1_000_000,
        interval: None,
        duration_seconds: 10.0,
        rtt_unloaded: None,
        rtt_loaded: None,
        retransmitted_ratio: Some(0.1 + 0.2),
        cpu_user_ratio: None,
        cpu_kernel_ratio: None,
        cpu_far_user_ratio: None,
        cpu_far_kernel_ratio: None,
        limit: None,
        losses_together_ratio: None,
        losses_together_by_chance_ratio: None,
        streams: vec![StreamFigures {
            number: 1,
            goodput_bits_per_second: Some(7),
            retransmits: None,
        }],
    }
}

fn begin(archive: &mut Archive) -> i64 {
    let document = measure(0);
    let (origin, target) = (&document.origin, &document.body.target);
    archive
        .begin_sweep(origin, "emu:/paths/mine.toml", target, &plan())
        .unwrap()
}

fn finished<'a>(visit: &Visit, result: VisitResult<'a>) -> FinishedVisit<'a> {
    FinishedVisit {
        number: visit.number,
        key: visit.key(),
        started: "2026-03-14T15:00:00Z",
        took: Span::from_millis(11_250),
        result,
    }
}

fn keep(archive: &mut Archive, sweep: i64, visit: &Visit) -> Result<Option<i64>, ArchiveError> {
    let figures = figures(visit.number);
    let measured = VisitResult::Measured(Box::new(measure(visit.number)), &figures);
    archive.keep_visit(sweep, &finished(visit, measured))
}

fn fail(archive: &mut Archive, sweep: i64, visit: &Visit) {
    let failed = finished(visit, VisitResult::Failed("no answer"));
    assert_eq!(archive.keep_visit(sweep, &failed).unwrap(), None);
}

fn cells(archive: &Archive, id: i64) -> Vec<SweepCell> {
    match archive.load(id).unwrap() {
        AnyDocument::Sweep(document) => document.body.cells,
        other => panic!("{:?}", other.schema()),
    }
}

#[test]
fn a_sweep_is_put_together_from_its_visits() {
    let (_folder, mut archive) = empty();
    let before = archive.keep(&measure(50).into()).unwrap();
    let id = begin(&mut archive);
    let order = plan().order();
    let run = keep(&mut archive, id, &order[0]).unwrap().unwrap();
    fail(&mut archive, id, &order[1]);
    assert!(before < id && id < run, "one sequence of numbers");
    let AnyDocument::Sweep(document) = archive.load(id).unwrap() else {
        panic!("not a sweep");
    };
    let body = &document.body;
    assert_eq!(document.origin, measure(0).origin);
    assert_eq!(body.plan, plan());
    assert_eq!(body.cells.len(), 2);
    assert_eq!(body.cells[0].run, Some(run));
    assert_eq!(body.cells[0].figures, Some(figures(1)));
    let wanted = order[0].setting.clone();
    assert_eq!(body.cells[0].setting, wanted);
    assert_eq!(body.cells[1].failed_because.as_deref(), Some("no answer"));
    let why = body.cut_because.as_deref().unwrap();
    assert!(why.ends_with("2 of 6 visits"), "{why}");
    assert_eq!(
        archive.load(run).unwrap(),
        measure(1).into(),
        "the whole measurement"
    );
}

#[test]
fn a_measured_visit_is_there_once_and_a_failure_makes_room() {
    let (_folder, mut archive) = empty();
    let id = begin(&mut archive);
    let order = plan().order();
    fail(&mut archive, id, &order[0]);
    keep(&mut archive, id, &order[0]).unwrap();
    let documents = |archive: &Archive| archive.runs_of_sweep(id).unwrap().len();
    assert_eq!((cells(&archive, id).len(), documents(&archive)), (1, 1));
    let error = keep(&mut archive, id, &order[0]).unwrap_err();
    assert!(
        matches!(error, ArchiveError::VisitTaken { number: 1, .. }),
        "{error}"
    );
    assert_eq!((cells(&archive, id).len(), documents(&archive)), (1, 1));
}

#[test]
fn only_a_sweep_without_visits_is_removed() {
    let (_folder, mut archive) = empty();
    let (without, with) = (begin(&mut archive), begin(&mut archive));
    fail(&mut archive, with, &plan().order()[0]);
    for id in [without, with] {
        archive.discard_empty_sweep(id).unwrap();
    }
    let sweeps = archive.sweeps(&Filter::default()).unwrap();
    assert_eq!(
        sweeps.iter().map(|one| one.id).collect::<Vec<i64>>(),
        [with]
    );
    assert!(begin(&mut archive) > with, "its number is not used again");
}

#[test]
fn a_sweep_goes_on_where_it_stopped() {
    let (folder, mut archive) = empty();
    let id = begin(&mut archive);
    let order = plan().order();
    keep(&mut archive, id, &order[0]).unwrap();
    fail(&mut archive, id, &order[1]);
    archive.mark_sweep(id, Some("cancelled")).unwrap();
    drop(archive);
    let archive = Archive::open(&folder.path().join("archive.sqlite")).unwrap();
    let kept = archive.sweep(id).unwrap();
    assert_eq!(
        (kept.plan.clone(), kept.asked.as_str()),
        (plan(), "emu:/paths/mine.toml")
    );
    assert_eq!(kept.plan.remaining(&kept.ledger), order[1..]);
    let mut ledger = Ledger::default();
    let took = Span::from_millis(11_250);
    ledger.enter(order[0].key(), Done::Measured(took));
    ledger.enter(order[1].key(), Done::Failed);
    assert_eq!(kept.ledger, ledger, "with the time that each took");
}

#[test]
fn a_finished_sweep_was_not_cut() {
    let (_folder, mut archive) = empty();
    let id = begin(&mut archive);
    for visit in plan().order() {
        keep(&mut archive, id, &visit).unwrap();
    }
    archive.mark_sweep(id, None).unwrap();
    let AnyDocument::Sweep(document) = archive.load(id).unwrap() else {
        panic!("not a sweep");
    };
    assert_eq!(document.body.cut_because, None);
    let numbers: Vec<u32> = document.body.cells.iter().map(|cell| cell.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_list_has_one_entry_for_a_sweep_and_none_for_its_visits() {
    let (_folder, mut archive) = empty();
    let id = begin(&mut archive);
    let order = plan().order();
    keep(&mut archive, id, &order[0]).unwrap();
    fail(&mut archive, id, &order[1]);
    let lone = archive.keep(&measure(9).into()).unwrap();
    let ids = |filter: &Filter| {
        let listed = archive.listed(filter).unwrap();
        listed.iter().map(Listed::id).collect::<Vec<i64>>()
    };
    assert_eq!(ids(&Filter::default()), [id, lone]);
    let last = Filter {
        last: Some(1),
        ..Filter::default()
    };
    assert_eq!(ids(&last), [lone]);
    let nowhere = Filter {
        target: Some("nowhere".to_owned()),
        ..Filter::default()
    };
    assert!(ids(&nowhere).is_empty());
    let sweeps = archive.sweeps(&Filter::default()).unwrap();
    assert_eq!((sweeps[0].measured, sweeps[0].failed), (1, 1));
    assert_eq!(sweeps[0].visits(), 6);
    assert!(sweeps[0].is_unfinished());
    let error = archive.runs_of_sweep(lone).unwrap_err();
    assert!(matches!(error, ArchiveError::NoSweep { .. }), "{error}");
}

#[test]
fn a_saved_sweep_is_taken_over_once_with_its_figures() {
    let (_folder, mut archive) = empty();
    let id = begin(&mut archive);
    let order = plan().order();
    keep(&mut archive, id, &order[0]).unwrap();
    fail(&mut archive, id, &order[1]);
    let saved = archive.load(id).unwrap();
    let (_elsewhere, mut other) = empty();
    let there = other.keep(&saved).unwrap();
    assert_eq!(other.keep(&saved).unwrap(), there);
    let without_runs = |archive: &Archive, id| {
        let mut cells = cells(archive, id);
        cells.iter_mut().for_each(|cell| cell.run = None);
        cells
    };
    assert_eq!(cells(&other, there), without_runs(&archive, id));
    let AnyDocument::Sweep(mut wrong) = saved else {
        panic!("not a sweep");
    };
    wrong.body.cells[0].setting.streams = StreamCount::new(77).unwrap();
    wrong.origin.created = "2026-03-15T00:00:00Z".to_owned();
    let error = other.keep(&(*wrong).into()).unwrap_err();
    assert!(matches!(error, ArchiveError::NotItsPlan { .. }), "{error}");
    assert_eq!(other.sweeps(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn one_process_at_a_time_makes_the_visits_of_a_sweep() {
    let (folder, mut archive) = empty();
    let id = begin(&mut archive);
    let other = Archive::open(&folder.path().join("archive.sqlite")).unwrap();
    let claim = archive.claim_sweep(id).unwrap();
    let error = other.claim_sweep(id).unwrap_err();
    assert!(matches!(error, ArchiveError::SweepTaken { .. }), "{error}");
    assert!(other.claim_sweep(id + 1).is_ok(), "another sweep is free");
    drop(claim);
    drop(other.claim_sweep(id).unwrap());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.len() <= 3, "the database and its log: {left:?}");
}

/// Stores a document in a file whose tables have the first version's columns. Returns its number.
fn put_into_first_version(path: &std::path::Path, document: &AnyDocument) -> i64 {
    let (_folder, archive) = empty();
    let essence = Essence::of(document).unwrap();
    let packed = packed::pack(&document.to_json());
    let number = whole_document(&archive.connection, &essence, &packed).unwrap();
    let old = Connection::open(path).unwrap();
    let columns: String = old
        .query_row(
            "SELECT group_concat(name) FROM pragma_table_info('documents')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let newest = archive.connection.path().unwrap();
    old.execute("ATTACH ?1 AS newest", [newest]).unwrap();
    let copy = format!("INSERT INTO documents ({columns}) SELECT {columns} FROM newest.documents");
    assert_eq!(old.execute(&copy, []).unwrap(), 1);
    number
}

/// A file as the first version of the tables had it, with a document in it.
#[test]
fn an_archive_of_the_first_version_gets_its_tables_for_sweeps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    schema::make_version(&path, 1);
    let document = AnyDocument::from(measure(5));
    let old = put_into_first_version(&path, &document);
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.load(old).unwrap(), document);
    let id = begin(&mut archive);
    assert_eq!(id, old + 1);
    keep(&mut archive, id, &plan().order()[0]).unwrap();
    assert_eq!(archive.listed(&Filter::default()).unwrap().len(), 2);
    let version: i64 = archive
        .connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 4);
}
