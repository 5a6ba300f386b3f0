//! A row for each setting that was measured or simulated, and for each stream of it.

use serde_json::Value;
use trunkline::AnyDocument;
use trunkline::record::simulate::{Cell, Figures, SimulatedRun, SimulatedSetting};
use trunkline::record::{Run, Setting, SweepCell, Target, Window};
use trunkline::units::{Bytes, Rate, Span};

use super::Columns;

/// What a visit showed; what its kind does not have is `None`.
#[derive(Default)]
struct Row {
    result: usize,
    visit: usize,
    target: Option<String>,
    label: Option<String>,
    cycle: Option<u32>,
    started: Option<String>,
    streams: Option<u32>,
    window_bytes: Option<u64>,
    direction: Option<String>,
    congestion: Option<String>,
    pacing_bits_per_second: Option<u64>,
    mss_bytes: Option<u32>,
    goodput_bits_per_second: Option<u64>,
    goodput_low_bits_per_second: Option<u64>,
    goodput_high_bits_per_second: Option<u64>,
    goodput_deviation_bits_per_second: Option<u64>,
    duration_seconds: Option<f64>,
    completion_seconds: Option<f64>,
    rtt_unloaded_seconds: Option<f64>,
    rtt_loaded_seconds: Option<f64>,
    retransmitted_ratio: Option<f64>,
    retransmits: Option<u64>,
    drops: Option<f64>,
    utilisation_ratio: Option<f64>,
    fairness: Option<f64>,
    limit: Option<String>,
    failed_because: Option<String>,
    run: Option<u64>,
}

/// A word of a document: `link`, `forward`.
pub(super) fn word(value: &impl serde::Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    }
}

fn window(window: Window) -> Option<u64> {
    window.fixed().map(Bytes::get)
}

impl Row {
    fn asked(setting: &Setting, target: &Target) -> Self {
        Row {
            target: Some(target.name.clone()),
            streams: Some(setting.streams.get().into()),
            window_bytes: window(setting.window),
            direction: word(&setting.direction),
            congestion: setting.congestion.clone(),
            pacing_bits_per_second: setting.pacing.map(Rate::bits_per_second),
            mss_bytes: setting.mss.map(u32::from),
            ..Row::default()
        }
    }

    fn measured(run: &Run, target: &Target) -> Self {
        Row {
            congestion: run
                .congestion_used
                .clone()
                .or(run.setting.congestion.clone()),
            goodput_bits_per_second: Some(run.goodput_bits_per_second),
            goodput_low_bits_per_second: run.interval.map(|one| one.low.bits_per_second()),
            goodput_high_bits_per_second: run.interval.map(|one| one.high.bits_per_second()),
            duration_seconds: Some(run.duration_seconds),
            rtt_unloaded_seconds: run.rtt.unloaded.as_ref().and_then(|one| one.mean_seconds),
            rtt_loaded_seconds: run.rtt_loaded_seconds(),
            retransmitted_ratio: run.retransmitted_ratio(),
            retransmits: run.retransmits,
            fairness: run.directions.first().and_then(|one| one.fairness),
            limit: run.limit().as_ref().and_then(word),
            ..Row::asked(&run.setting, target)
        }
    }

    fn visited(cell: &SweepCell, target: &Target) -> Self {
        let mut row = Row::asked(&cell.setting, target);
        row.cycle = Some(cell.cycle);
        row.started = Some(cell.started.clone());
        row.run = cell.run.and_then(|run| u64::try_from(run).ok());
        row.failed_because = cell.failed_because.clone();
        row.duration_seconds = Some(cell.duration_seconds);
        if let Some(figures) = &cell.figures {
            row.goodput_bits_per_second = Some(figures.goodput_bits_per_second);
            let interval = figures.interval;
            row.goodput_low_bits_per_second = interval.map(|one| one.low.bits_per_second());
            row.goodput_high_bits_per_second = interval.map(|one| one.high.bits_per_second());
            row.rtt_unloaded_seconds = figures.rtt_unloaded.as_ref().map(|one| one.mean);
            row.rtt_loaded_seconds = figures.rtt_loaded.as_ref().map(|one| one.mean);
            row.retransmitted_ratio = figures.retransmitted_ratio;
            row.limit = figures.limit.as_ref().and_then(word);
        }
        row
    }

    fn simulated(setting: &SimulatedSetting, figures: &Figures, path: &str) -> Self {
        Row {
            target: Some(format!("sim:{path}")),
            streams: Some(setting.streams),
            window_bytes: window(setting.window),
            congestion: Some(setting.variant.clone()),
            goodput_bits_per_second: Some(figures.aggregate.goodput_bits_per_second),
            goodput_deviation_bits_per_second: figures.aggregate.standard_deviation_bits_per_second,
            completion_seconds: figures.completion.completion_seconds,
            rtt_loaded_seconds: figures.rtt.as_ref().map(|rtt| rtt.mean_seconds),
            drops: Some(figures.drops),
            utilisation_ratio: Some(figures.utilisation_ratio),
            fairness: figures.jain,
            ..Row::default()
        }
    }
}

fn rows_of(document: &AnyDocument) -> Vec<Row> {
    match document {
        AnyDocument::Measure(document) => {
            vec![Row::measured(&document.body.run, &document.body.target)]
        }
        AnyDocument::Tune(document) => {
            let target = &document.body.target;
            let labelled = document.body.samples.iter().map(|sample| Row {
                label: word(&sample.purpose),
                ..Row::measured(&sample.run, target)
            });
            labelled.collect()
        }
        AnyDocument::Demo(document) => {
            let body = &document.body;
            let labelled = body.runs.iter().map(|one| Row {
                label: Some(one.label.clone()),
                ..Row::measured(&one.run, &body.target)
            });
            let tuned = body.tuned.iter().map(|run| Row {
                label: Some("tuned".to_owned()),
                ..Row::measured(run, &body.target)
            });
            labelled.chain(tuned).collect()
        }
        AnyDocument::Sweep(document) => {
            let target = &document.body.target;
            let cells = document.body.cells.iter();
            cells.map(|cell| Row::visited(cell, target)).collect()
        }
        AnyDocument::Simulate(document) => {
            let body = &document.body;
            vec![Row::simulated(
                &body.setting,
                &body.figures,
                &body.path.name,
            )]
        }
        AnyDocument::Campaign(document) => {
            let body = &document.body;
            let row = |cell: &Cell| Row::simulated(&cell.setting, &cell.figures, &body.path.name);
            body.cells.iter().map(row).collect()
        }
        _ => Vec::new(),
    }
}

/// A row for each visit: a measured run, a visit of a sweep, a setting of a simulation.
pub fn visits(documents: &[(usize, &AnyDocument)]) -> Columns {
    let of_one = |(result, document): &(usize, &AnyDocument)| {
        let result = *result;
        let rows = rows_of(document).into_iter().enumerate();
        rows.map(move |(visit, row)| Row {
            result,
            visit,
            ..row
        })
    };
    let rows: Vec<Row> = documents.iter().flat_map(of_one).collect();
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.result).ok());
    columns.u32("visit", &rows, |row| u32::try_from(row.visit).ok());
    columns.text("target", &rows, |row| row.target.clone());
    columns.text("label", &rows, |row| row.label.clone());
    columns.u32("cycle", &rows, |row| row.cycle);
    columns.text("started", &rows, |row| row.started.clone());
    columns.u32("streams", &rows, |row| row.streams);
    columns.u64("window_bytes", &rows, |row| row.window_bytes);
    columns.text("direction", &rows, |row| row.direction.clone());
    columns.text("congestion", &rows, |row| row.congestion.clone());
    columns.u64("pacing_bits_per_second", &rows, |row| {
        row.pacing_bits_per_second
    });
    columns.u32("mss_bytes", &rows, |row| row.mss_bytes);
    columns.u64("goodput_bits_per_second", &rows, |row| {
        row.goodput_bits_per_second
    });
    columns.u64("goodput_low_bits_per_second", &rows, |row| {
        row.goodput_low_bits_per_second
    });
    columns.u64("goodput_high_bits_per_second", &rows, |row| {
        row.goodput_high_bits_per_second
    });
    columns.u64("goodput_deviation_bits_per_second", &rows, |row| {
        row.goodput_deviation_bits_per_second
    });
    columns.f64("duration_seconds", &rows, |row| row.duration_seconds);
    columns.f64("completion_seconds", &rows, |row| row.completion_seconds);
    columns.f64("rtt_unloaded_seconds", &rows, |row| {
        row.rtt_unloaded_seconds
    });
    columns.f64("rtt_loaded_seconds", &rows, |row| row.rtt_loaded_seconds);
    columns.f64("retransmitted_ratio", &rows, |row| row.retransmitted_ratio);
    columns.u64("retransmits", &rows, |row| row.retransmits);
    columns.f64("drops_packets", &rows, |row| row.drops);
    columns.f64("utilisation_ratio", &rows, |row| row.utilisation_ratio);
    columns.f64("fairness", &rows, |row| row.fairness);
    columns.text("limit", &rows, |row| row.limit.clone());
    columns.text("failed_because", &rows, |row| row.failed_because.clone());
    columns.u64("run", &rows, |row| row.run);
    columns
}

/// What one stream came to.
#[derive(Default)]
struct StreamRow {
    result: usize,
    visit: usize,
    seed: Option<u64>,
    stream: u32,
    direction: Option<String>,
    delivered_bytes: Option<u64>,
    goodput_bits_per_second: Option<u64>,
    retransmits: Option<u64>,
    timeouts: Option<u64>,
    completion_seconds: Option<f64>,
    thread_cpu_seconds: Option<f64>,
}

fn of_run(run: &Run) -> Vec<StreamRow> {
    let row = |stream: &trunkline::record::Stream| StreamRow {
        stream: stream.number.into(),
        direction: word(&stream.direction),
        delivered_bytes: Some(stream.delivered_bytes),
        goodput_bits_per_second: stream.goodput_bits_per_second,
        retransmits: stream.retransmits,
        thread_cpu_seconds: stream.thread_cpu_seconds,
        ..StreamRow::default()
    };
    run.streams.iter().map(row).collect()
}

fn of_cell(cell: &SweepCell) -> Vec<StreamRow> {
    let streams = cell.figures.iter().flat_map(|figures| &figures.streams);
    let rows = streams.map(|stream| StreamRow {
        stream: stream.number.into(),
        goodput_bits_per_second: stream.goodput_bits_per_second,
        retransmits: stream.retransmits,
        ..StreamRow::default()
    });
    rows.collect()
}

fn of_simulated(runs: &[SimulatedRun]) -> Vec<StreamRow> {
    let of_one = |run: &SimulatedRun| {
        let seed = run.seed;
        let rows = run.streams.clone().into_iter().zip(1..);
        rows.map(move |(stream, number)| StreamRow {
            seed: Some(seed),
            stream: number,
            delivered_bytes: Some(stream.acknowledged.get()),
            goodput_bits_per_second: Some(stream.goodput.bits_per_second()),
            retransmits: Some(stream.retransmitted),
            timeouts: Some(stream.timeouts),
            completion_seconds: stream.completed.map(Span::as_secs_f64),
            ..StreamRow::default()
        })
    };
    runs.iter().flat_map(of_one).collect()
}

/// The streams of each visit of a document, in the order of [`rows_of`].
fn streams_of(document: &AnyDocument) -> Vec<Vec<StreamRow>> {
    match document {
        AnyDocument::Sweep(document) => document.body.cells.iter().map(of_cell).collect(),
        AnyDocument::Simulate(document) => vec![of_simulated(&document.body.runs)],
        AnyDocument::Campaign(document) => {
            let cells = document.body.cells.iter();
            cells.map(|cell| of_simulated(&cell.runs)).collect()
        }
        other => super::runs::of(other).into_iter().map(of_run).collect(),
    }
}

/// A row for each stream of each visit.
pub fn streams(documents: &[(usize, &AnyDocument)]) -> Columns {
    let mut rows: Vec<StreamRow> = Vec::new();
    for (result, document) in documents {
        for (visit, streams) in streams_of(document).into_iter().enumerate() {
            rows.extend(streams.into_iter().map(|row| StreamRow {
                result: *result,
                visit,
                ..row
            }));
        }
    }
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.result).ok());
    columns.u32("visit", &rows, |row| u32::try_from(row.visit).ok());
    columns.u64("seed", &rows, |row| row.seed);
    columns.u32("stream", &rows, |row| Some(row.stream));
    columns.text("direction", &rows, |row| row.direction.clone());
    columns.u64("delivered_bytes", &rows, |row| row.delivered_bytes);
    columns.u64("goodput_bits_per_second", &rows, |row| {
        row.goodput_bits_per_second
    });
    columns.u64("retransmits", &rows, |row| row.retransmits);
    columns.u64("timeouts", &rows, |row| row.timeouts);
    columns.f64("completion_seconds", &rows, |row| row.completion_seconds);
    columns.f64("thread_cpu_seconds", &rows, |row| row.thread_cpu_seconds);
    columns
}
