//! What formulas and curves say about each number of streams.

use trunkline::AnyDocument;
use trunkline::record::predict::{Predicted, StreamsAt};
use trunkline::units::{Rate, Span};

use super::Columns;
use super::visits::word;

/// A number of streams on one curve; what the curve does not tell is `None`.
#[derive(Default)]
struct Row {
    result: usize,
    curve: String,
    streams: u32,
    goodput: Option<Rate>,
    others: Option<Rate>,
    lost_ratio: Option<f64>,
    rtt: Option<Span>,
    limit: Option<String>,
}

/// The equilibrium first, then the formulas that know less.
fn of_formulas(points: &[Predicted]) -> Vec<Row> {
    let equilibrium = points.iter().map(|point| Row {
        others: Some(point.equilibrium.others),
        lost_ratio: point.equilibrium.loss,
        rtt: Some(point.equilibrium.rtt),
        limit: word(&point.equilibrium.binds),
        ..at("equilibrium", point.streams, point.equilibrium.throughput)
    });
    let further = |curve, rate: fn(&Predicted) -> Option<Rate>| {
        let row = move |point: &Predicted| Some(at(curve, point.streams, rate(point)?));
        points.iter().filter_map(row)
    };
    let hacker = further("hacker", |point| point.hacker);
    let altman = further("altman", |point| point.altman);
    let window = further("window-cap", |point| point.window_cap);
    equilibrium
        .chain(hacker)
        .chain(altman)
        .chain(window)
        .collect()
}

fn at(curve: &str, streams: u32, goodput: Rate) -> Row {
    Row {
        curve: curve.to_owned(),
        streams,
        goodput: Some(goodput),
        ..Row::default()
    }
}

fn rows_of(document: &AnyDocument) -> Vec<Row> {
    let along = |curve: &str, points: &[StreamsAt]| -> Vec<Row> {
        let row = |point: &StreamsAt| at(curve, point.streams, point.throughput);
        points.iter().map(row).collect()
    };
    match document {
        AnyDocument::Predict(document) => of_formulas(&document.body.points),
        AnyDocument::Fit(document) => {
            let mut rows = along("measured", &document.body.samples);
            for model in &document.body.models {
                rows.extend(along(&word(&model.form).unwrap_or_default(), &model.curve));
            }
            rows
        }
        _ => Vec::new(),
    }
}

/// A row for each number of streams on each curve.
pub fn curves(documents: &[(usize, &AnyDocument)]) -> Columns {
    let of_one = |(result, document): &(usize, &AnyDocument)| {
        let result = *result;
        rows_of(document)
            .into_iter()
            .map(move |row| Row { result, ..row })
    };
    let rows: Vec<Row> = documents.iter().flat_map(of_one).collect();
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.result).ok());
    columns.text("curve", &rows, |row| Some(row.curve.clone()));
    columns.u32("streams", &rows, |row| Some(row.streams));
    columns.u64("goodput_bits_per_second", &rows, |row| {
        row.goodput.map(Rate::bits_per_second)
    });
    columns.u64("others_bits_per_second", &rows, |row| {
        row.others.map(Rate::bits_per_second)
    });
    columns.f64("lost_ratio", &rows, |row| row.lost_ratio);
    columns.f64("rtt_seconds", &rows, |row| row.rtt.map(Span::as_secs_f64));
    columns.text("limit", &rows, |row| row.limit.clone());
    columns
}
