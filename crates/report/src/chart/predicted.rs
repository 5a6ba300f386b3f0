//! Curves of formulas against the number of streams.

use campaign::study::figure::{Line, Origin, Panel, Scale};
use record::fit::{FitModel, FitSample};
use record::{Fit, Predict, PredictedPoint};

use super::PlotError;
use super::lines::lines;

const MBIT: f64 = 1e6;
/// Forms that a plot stays readable with.
const FORMS_SHOWN: usize = 3;

/// Throughput by each formula.
///
/// # Errors
/// When the drawing library fails.
pub fn throughput(body: &Predict) -> Result<String, PlotError> {
    let link = Some(body.link.payload_bits_per_second);
    let top = body.link.payload_bits_per_second;
    let curve = |label: &str, origin, of: &dyn Fn(&PredictedPoint) -> Option<u64>| {
        let place = |point: &PredictedPoint| {
            // The sum of all windows soon leaves the sheet.
            let bits = of(point)?.min(top);
            Some((f64::from(point.at.streams), bits as f64 / MBIT))
        };
        Line::formula(
            label,
            origin,
            body.points.iter().filter_map(place).collect(),
        )
    };
    let all = vec![
        curve("equilibrium", Origin::Runs, &|point| {
            Some(point.at.goodput_bits_per_second)
        }),
        curve("Hacker", Origin::FormulaOf(1), &|point| {
            point.hacker_bits_per_second
        }),
        curve("Altman", Origin::FormulaOf(2), &|point| {
            point.altman_bits_per_second
        }),
        curve("windows", Origin::FormulaOf(3), &|point| {
            point.window_cap_bits_per_second
        }),
        curve("link", Origin::Formula, &|_| link),
    ];
    panel("throughput [Mbit/s]", shown(all))
}

/// Round trip by the equilibrium.
///
/// # Errors
/// When the drawing library fails.
pub fn round_trip(body: &Predict) -> Result<String, PlotError> {
    let place = |seconds: f64, point: &PredictedPoint| (f64::from(point.at.streams), seconds * 1e3);
    let loaded = body
        .points
        .iter()
        .map(|point| place(point.rtt_seconds, point));
    let full = body.link.rtt_seconds + body.link.queue_seconds;
    let full = body.points.iter().map(|point| place(full, point));
    let all = vec![
        Line::formula("loaded", Origin::Runs, loaded.collect()),
        Line::formula("queue full", Origin::Formula, full.collect()),
    ];
    panel("round trip [ms]", shown(all))
}

/// Measured points and the curves through them.
///
/// # Errors
/// When the drawing library fails.
pub fn curves(body: &Fit) -> Result<String, PlotError> {
    let place = |sample: &FitSample| {
        let mbit = sample.goodput_bits_per_second as f64 / MBIT;
        (f64::from(sample.streams), mbit)
    };
    let mut measured: Vec<(f64, f64)> = body.samples.iter().map(place).collect();
    measured.sort_by(|one, other| one.0.total_cmp(&other.0));
    let fitting = body.models.iter().filter(|model| model.problem.is_none());
    let curve = |(index, model): (usize, &FitModel)| {
        let places = model.curve.iter().map(place).collect();
        Line::formula(model.form.clone(), Origin::FormulaOf(index + 1), places)
    };
    let mut all = vec![Line::formula("measured", Origin::Runs, measured)];
    all.extend(fitting.take(FORMS_SHOWN).enumerate().map(curve));
    panel("throughput [Mbit/s]", shown(all))
}

/// What has points to draw.
fn shown(lines: Vec<Line>) -> Vec<Line> {
    lines
        .into_iter()
        .filter(|line| !line.points.is_empty())
        .collect()
}

fn panel(y: &'static str, all: Vec<Line>) -> Result<String, PlotError> {
    lines(&Panel {
        name: "predicted",
        caption: String::new(),
        x: Scale::doublings("streams"),
        y: Scale::even(y),
        lines: all,
    })
}
