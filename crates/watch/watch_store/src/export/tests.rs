use std::collections::BTreeMap;
use std::ops::ControlFlow;

use changes::{
    Cause, CauseKind, Event, EventKind, Failure, Metric, Moved, RoundTrips, Visit, VisitKind,
};
use serde_json::Value as Json;
use units::{Rate, Span};

use super::*;
use crate::{DatabaseName, Note, StoredVisit};

const START: u64 = 1_767_225_600;

fn visit(number: u64) -> StoredVisit {
    let at = UnixTime::from_seconds(START + number);
    let mut visit = Visit::new(at, VisitKind::Ping);
    let trips = (0..number % 23).map(|trip| Span::from_micros(1000 + trip * number));
    visit.round_trips = RoundTrips::new(trips.collect());
    visit.goodput = (!number.is_multiple_of(3)).then(|| Rate::from_bits_per_second(number * 1000));
    visit.failure = number.is_multiple_of(11).then(|| Failure {
        reason: "said \"no\", and went; é".to_owned(),
    });
    let rates = (0..number % 4).map(Rate::from_bits_per_second).collect();
    let pair = Pair {
        from: "a".parse().unwrap(),
        to: ["b", "c"][number as usize % 2].parse().unwrap(),
    };
    StoredVisit {
        id: VisitId::new(at, [number as u8; 10]),
        pair,
        task: "mesh".parse().unwrap(),
        visit,
        rates: (!number.is_multiple_of(7)).then_some(rates),
        document: None,
    }
}

fn event(id: u64) -> Event {
    let at = UnixTime::from_seconds(START + id * 60);
    Event {
        id,
        revision: 0,
        kind: EventKind::Step,
        first_visit: at,
        previous_visit: None,
        confirmed: at,
        recovered: None,
        end: None,
        shifts: vec![Moved {
            metric: Metric::Goodput,
            before: 2e9,
            after: 1e9,
            size: -0.5,
            size_low: Some(-0.6),
            size_high: None,
            strength: 9.25,
            recovered: None,
        }],
        causes: vec![Cause {
            kind: CauseKind::PathRate,
            score: 0.7,
            because: "it carries less".to_owned(),
            visits: Vec::new(),
        }],
        failures: BTreeMap::new(),
    }
}

struct Filled {
    _folder: tempfile::TempDir,
    name: DatabaseName,
    store: Store,
    visits: Vec<StoredVisit>,
}

/// Several pages of visits, of which the store has them in another order.
fn filled() -> Filled {
    let folder = tempfile::tempdir().unwrap();
    let name = DatabaseName::Sqlite(folder.path().join("watch.db"));
    let mut store = Store::open(&name).unwrap();
    let mut visits: Vec<StoredVisit> = (0..4 * PAGE as u64 + 17).map(visit).collect();
    store.insert(&visits).unwrap();
    visits.sort_by_key(|visit| (visit.pair.clone(), visit.visit.at));
    for id in 0..5 {
        let task = "mesh".parse().unwrap();
        store
            .insert_event(&visits[0].pair, &task, &event(id))
            .unwrap();
    }
    // Read as an export reads.
    let store = Store::open_to_read(&name).unwrap();
    Filled {
        _folder: folder,
        name,
        store,
        visits,
    }
}

fn export(store: &mut Store, what: (Table, Format), selection: &Selection) -> (u64, Vec<u8>) {
    let mut output = Vec::new();
    let go_on = &mut |_| ControlFlow::Continue(());
    let count = store.export(what, selection, &mut output, go_on).unwrap();
    (count, output)
}

fn lines(store: &mut Store, table: Table, selection: &Selection) -> Vec<Json> {
    let (count, output) = export(store, (table, Format::Ndjson), selection);
    let text = String::from_utf8(output).unwrap();
    let lines: Vec<Json> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(count, lines.len() as u64);
    lines
}

#[test]
fn every_visit_is_a_line_with_its_figures() {
    let mut filled = filled();
    let lines = lines(&mut filled.store, Table::Visits, &Selection::ALL);
    assert_eq!(lines.len(), filled.visits.len());
    for (line, stored) in lines.iter().zip(&filled.visits) {
        assert_eq!(line["visit"], stored.id.to_string());
        assert_eq!(line["to_host"], stored.pair.to.as_str());
        let goodput = stored.visit.goodput.map(|rate| rate.bits_per_second());
        assert_eq!(line["goodput_bits_per_second"].as_u64(), goodput);
        let trips = stored.visit.round_trips.as_ref();
        let high = trips.map(|t| t.sorted()[(t.sorted().len() * 95).div_ceil(100) - 1]);
        let high = high.map(|high| high.as_secs_f64());
        assert_eq!(line["rtt_p95_seconds"].as_f64(), high);
        let failure = stored
            .visit
            .failure
            .as_ref()
            .map(|failure| failure.reason.as_str());
        assert_eq!(line["failure"].as_str(), failure);
        assert_eq!(line["raw_values"], "kept");
    }
    assert_eq!(lines[0]["began"], "2026-01-01T00:00:00Z");
}

#[test]
fn raw_values_are_rows_of_their_own() {
    let mut filled = filled();
    let expected = |of: fn(&StoredVisit) -> Vec<f64>| -> Vec<f64> {
        filled.visits.iter().flat_map(of).collect()
    };
    let trips = expected(|stored| {
        let trips = stored.visit.round_trips.as_ref();
        trips
            .map_or(&[][..], |t| t.sorted())
            .iter()
            .map(|t| t.as_secs_f64())
            .collect()
    });
    let rates = expected(|stored| {
        let rates = stored.rates.iter().flatten();
        rates.map(|rate| rate.bits_per_second() as f64).collect()
    });
    let found = |lines: Vec<Json>, key: &str| -> Vec<f64> {
        lines
            .iter()
            .map(|line| line[key].as_f64().unwrap())
            .collect()
    };
    let lines_of = lines(&mut filled.store, Table::RoundTrips, &Selection::ALL);
    assert_eq!(found(lines_of, "round_trip_seconds"), trips);
    let lines_of = lines(&mut filled.store, Table::Rates, &Selection::ALL);
    assert_eq!(lines_of.last().unwrap()["offset_seconds"], 0.2);
    assert_eq!(found(lines_of, "rate_bits_per_second"), rates);
}

#[test]
fn an_event_has_its_worst_shift_and_first_cause() {
    let mut filled = filled();
    let lines = lines(&mut filled.store, Table::Events, &Selection::ALL);
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[4]["event"], 4);
    assert_eq!(lines[4]["size"], -0.5);
    assert_eq!(lines[4]["size_high"], Json::Null);
    assert_eq!(lines[4]["cause"], "rate of the path");
    assert_eq!(lines[4]["first_visit"], "2026-01-01T00:04:00Z");
}

#[test]
fn an_incident_has_its_worst_event_and_what_was_written_to_it() {
    let mut filled = filled();
    let mut own = Store::open(&filled.name).unwrap();
    let mesh = "mesh".parse().unwrap();
    let event = own.event(&filled.visits[0].pair, &mesh, 2).unwrap();
    let key = event.unwrap().key();
    for (at, kind, words) in [
        (900, crate::NoteKind::Remark, "fibre"),
        (960, crate::NoteKind::Acknowledged, ""),
    ] {
        let note = Note {
            event: key.clone(),
            at: UnixTime::from_seconds(START + at),
            kind,
            author: "Ada".to_owned(),
            words: words.to_owned(),
        };
        own.insert_note(&note).unwrap();
    }
    let found = lines(&mut filled.store, Table::Incidents, &Selection::ALL);
    assert_eq!(found.len(), 1);
    let one = &found[0];
    assert_eq!((&one["events"], &one["pairs"]), (&5.into(), &1.into()));
    assert_eq!(one["severity"], "critical");
    assert_eq!(
        (&one["size"], &one["recovered"]),
        (&Json::from(-0.5), &Json::Null)
    );
    assert_eq!(one["acknowledged"], "2026-01-01T00:16:00Z");
    assert_eq!(one["notes"], "Ada, note: fibre\nAda, acknowledged");
    let events = lines(&mut filled.store, Table::Events, &Selection::ALL);
    assert!(
        events
            .iter()
            .all(|event| event["incident"] == one["incident"])
    );
    let none = Selection {
        from_host: Some("c".parse().unwrap()),
        ..Selection::ALL
    };
    assert!(lines(&mut filled.store, Table::Incidents, &none).is_empty());
}

#[test]
fn a_selection_leaves_out_the_rest() {
    let mut filled = filled();
    let to = UnixTime::from_seconds(START + 1101);
    let mut selection = Selection {
        to_host: Some("c".parse().unwrap()),
        to,
        ..Selection::ALL
    };
    selection.from = UnixTime::from_seconds(START + 100);
    // The odd numbers from 101 to 1099.
    assert_eq!(
        lines(&mut filled.store, Table::Visits, &selection).len(),
        500
    );
    selection.task = Some("other".parse().unwrap());
    assert!(lines(&mut filled.store, Table::Visits, &selection).is_empty());
}

#[test]
fn separated_values_quote_what_has_to_be() {
    let mut filled = filled();
    let (count, csv) = export(
        &mut filled.store,
        (Table::Visits, Format::Csv),
        &Selection::ALL,
    );
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.starts_with("visit,from_host,to_host,task,began,kind,goodput_bits_per_second,"));
    let quoted = "\"said \"\"no\"\", and went; é\"";
    let failed = filled
        .visits
        .iter()
        .filter(|visit| visit.visit.failure.is_some());
    assert_eq!(csv.matches(quoted).count(), failed.count());
    let fields = csv
        .replace(quoted, "")
        .lines()
        .map(|l| l.split(',').count())
        .max();
    assert_eq!(fields, Some(tables::columns(Table::Visits).len()));
    assert_eq!(csv.replace(quoted, "").lines().count() as u64, count + 1);
}

#[test]
fn rows_fill_their_columns() {
    let mut filled = filled();
    let stored = filled
        .visits
        .iter()
        .find(|visit| visit.rates.iter().any(|r| !r.is_empty()));
    let loaded = filled.store.load(stored.unwrap().id).unwrap().unwrap();
    for table in [Table::Visits, Table::RoundTrips, Table::Rates] {
        let row = tables::of_visit(table, &loaded).remove(0);
        assert_eq!(row.len(), tables::columns(table).len(), "{table}");
        assert_kinds(table, &row);
    }
    let pair = filled.visits[0].pair.clone();
    let event = StoredEvent {
        pair,
        task: "mesh".parse().unwrap(),
        event: event(1),
    };
    assert_kinds(Table::Events, &tables::of_event(&event, Some("mesh/a/b/0")));
}

fn assert_kinds(table: Table, row: &[Cell]) {
    use tables::Kind;
    for (column, cell) in tables::columns(table).iter().zip(row) {
        let kind = match cell {
            Cell::Nothing => continue,
            Cell::Text(_) => Kind::Text,
            Cell::Whole(_) => Kind::Whole,
            Cell::Real(_) => Kind::Real,
            Cell::Time(_) => Kind::Time,
        };
        assert_eq!(column.kind, kind, "{table}: {}", column.name);
    }
}

#[test]
fn an_export_is_broken_off_when_asked() {
    let mut filled = filled();
    let mut pages = 0;
    let stop = &mut |_| {
        pages += 1;
        if pages > 1 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let what = (Table::Visits, Format::Ndjson);
    let error = filled
        .store
        .export(what, &Selection::ALL, io::sink(), stop)
        .unwrap_err();
    assert!(matches!(error, StoreError::BrokenOff), "{error:?}");
    assert_eq!(pages, 2);
}

#[test]
fn an_output_without_room_is_an_error() {
    let mut filled = filled();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let what = (Table::Visits, Format::Csv);
    let error = filled
        .store
        .export(what, &Selection::ALL, full, go_on)
        .unwrap_err();
    let StoreError::Export(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn figures_stay_when_raw_values_go() {
    let folder = tempfile::tempdir().unwrap();
    let name = DatabaseName::Sqlite(folder.path().join("watch.db"));
    let mut store = Store::open(&name).unwrap();
    store.insert(&[visit(22)]).unwrap();
    let before = lines(&mut store, Table::Visits, &Selection::ALL);
    assert_eq!(
        store
            .drop_raw(UnixTime::from_seconds(START + 100), 10)
            .unwrap(),
        1
    );
    let mut after = lines(&mut store, Table::Visits, &Selection::ALL);
    assert_eq!(after[0]["raw_values"], "expired");
    after[0]["raw_values"] = "kept".into();
    assert_eq!(before, after);
    assert!(lines(&mut store, Table::RoundTrips, &Selection::ALL).is_empty());
    assert!(lines(&mut store, Table::Rates, &Selection::ALL).is_empty());
}

#[cfg(feature = "parquet")]
#[test]
fn columns_hold_the_same_values_as_lines() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let mut filled = filled();
    for table in Table::ALL {
        let lines = lines(&mut filled.store, table, &Selection::ALL);
        let (_, file) = export(&mut filled.store, (table, Format::Parquet), &Selection::ALL);
        let mut on_disk = tempfile::tempfile().unwrap();
        on_disk.write_all(&file).unwrap();
        let reader = SerializedFileReader::new(on_disk).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), lines.len());
        for (row, line) in rows.iter().zip(&lines) {
            for (column, found) in tables::columns(table).iter().zip(row.get_column_iter()) {
                assert_eq!(column.name, found.0);
                let expected = match (column.kind, &line[column.name]) {
                    (tables::Kind::Time, Json::String(time)) => {
                        let time: jiff::Timestamp = time.parse().unwrap();
                        Json::from(time.as_millisecond())
                    }
                    (_, other) => other.clone(),
                };
                assert_eq!(json(found.1), expected, "{table} {}", column.name);
            }
        }
    }
}

#[cfg(feature = "parquet")]
fn json(field: &::parquet::record::Field) -> Json {
    use ::parquet::record::Field;
    match field {
        Field::Null => Json::Null,
        Field::Str(text) => Json::from(text.as_str()),
        Field::Double(real) => Json::from(*real),
        Field::Long(whole) | Field::TimestampMillis(whole) => Json::from(*whole),
        other => panic!("{other:?}"),
    }
}
