use changes::{RoundTrips, Visit, VisitKind};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use units::{Rate, Span};

use super::*;
use crate::DatabaseName;

fn visit(number: u64) -> StoredVisit {
    let at = UnixTime::from_seconds(1_767_225_600 + number);
    let mut visit = Visit::new(at, VisitKind::Ping);
    let trips = (0..number % 5).map(|trip| Span::from_micros(1000 + trip * number));
    visit.round_trips = RoundTrips::new(trips.collect());
    visit.goodput = (!number.is_multiple_of(3)).then(|| Rate::from_bits_per_second(number * 1000));
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

/// A list of a row as text.
fn list(field: &Field) -> String {
    format!("{field}").replace(' ', "")
}

#[test]
fn what_is_read_back_is_what_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let name = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let mut store = Store::open(&name).unwrap();
    // More than a page and more than a row group.
    let visits: Vec<StoredVisit> = (0..GROUP as u64 + 4000).map(visit).collect();
    store.insert(&visits).unwrap();
    let path = folder.path().join("visits.parquet");
    let range = (UnixTime::from_seconds(0), UnixTime::from_seconds(u64::MAX));
    let file = std::fs::File::create(&path).unwrap();
    assert_eq!(
        store.export(None, range, file).unwrap(),
        visits.len() as u64
    );
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    assert!(reader.num_row_groups() > 1);
    let mut expected: Vec<&StoredVisit> = visits.iter().collect();
    expected.sort_by_key(|visit| (&visit.pair, visit.visit.at));
    let mut rows = 0;
    for (row, stored) in reader.get_row_iter(None).unwrap().zip(&expected) {
        let row = row.unwrap();
        let fields: std::collections::BTreeMap<String, Field> = row
            .get_column_iter()
            .map(|(name, field)| (name.clone(), field.clone()))
            .collect();
        assert_eq!(fields["id"], Field::Str(stored.id.to_string()));
        assert_eq!(fields["to_host"], Field::Str(stored.pair.to.to_string()));
        let goodput = stored
            .visit
            .goodput
            .map(|goodput| goodput.bits_per_second() as i64);
        assert_eq!(
            fields["goodput_bits_per_second"],
            goodput.map_or(Field::Null, Field::Long)
        );
        let rates = stored.rates.as_ref().map(|rates| {
            let rates: Vec<String> = rates
                .iter()
                .map(|r| r.bits_per_second().to_string())
                .collect();
            format!("[{}]", rates.join(","))
        });
        assert_eq!(
            list(&fields["rates_bits_per_second"]),
            rates.unwrap_or("null".to_owned())
        );
        let trips = stored
            .visit
            .round_trips
            .as_ref()
            .map_or(0, |trips| trips.sorted().len());
        let found = list(&fields["round_trips_seconds"]);
        let found = if found == "null" {
            0
        } else {
            found.split(',').count()
        };
        assert_eq!(found, trips);
        rows += 1;
    }
    assert_eq!(rows, visits.len());
    let one = Pair {
        from: "a".parse().unwrap(),
        to: "c".parse().unwrap(),
    };
    let to = UnixTime::from_seconds(1_767_225_600 + 11);
    let written = store.export(Some(&one), (UnixTime::from_seconds(0), to), std::io::sink());
    assert_eq!(written.unwrap(), 5);
}
