//! The page of curves through measured points.

use record::Fit;
use record::fit::{Choice, Coefficient, FitModel, Spread, StreamsAt};

use super::predict::against_streams;
use crate::text;
use draw::chart::{Chart, Line, Origin};
use draw::format::{self, or_absent};
use draw::page::{Block, Column, Fact, Page, Row, Standing, Table};

const MBIT: f64 = 1e6;
/// Forms that a chart stays readable with.
const FORMS_SHOWN: usize = 3;

pub fn page(body: &Fit) -> Page {
    let caption = "Measured points, and the curves through them, the best first.";
    let mut blocks = vec![
        Block::figure("curves", caption, curves(body)),
        Block::Table(models(body)),
        Block::lead(optimum(body)),
        Block::Why(remarks(body)),
    ];
    let coefficients: Vec<Fact> = fitting(body).map(coefficients).collect();
    if !coefficients.is_empty() {
        blocks.push(Block::heading(
            "Coefficients with their standard errors, goodput in Mbit/s",
        ));
        blocks.push(Block::Facts(coefficients));
    }
    blocks.push(Block::Sentences(problems(body)));
    blocks.extend(choices(body));
    Page::new("fit", &body.file, blocks)
}

fn fitting(body: &Fit) -> impl Iterator<Item = &FitModel> {
    body.models.iter().filter(|model| model.problem.is_none())
}

/// The forms of the curve with how well they predict.
fn models(body: &Fit) -> Table {
    let names = ["left out", "failed", "peak", "spread", "knee", "spread"];
    let columns = [Column::words("form")]
        .into_iter()
        .chain(names.map(Column::number));
    let row = |(place, model): (usize, &FitModel)| {
        let row = Row::new([
            model.form.name().to_owned(),
            or_absent(model.left_out_ratio, format::percent),
            or_absent(model.left_out_failed, |failed| failed.to_string()),
            or_absent(model.peak, |peak| format::three_digits(peak.value)),
            or_absent(model.peak, spread),
            or_absent(model.knee, |knee| format::three_digits(knee.value)),
            or_absent(model.knee, spread),
        ]);
        row.standing(Standing::chosen(place == 0 && body.recommended.is_some()))
    };
    let models = body.models.iter().enumerate();
    Table::new(
        columns,
        models.filter(|(_, model)| model.problem.is_none()).map(row),
    )
}

fn spread(spread: Spread) -> String {
    let (low, high) = (spread.low, spread.high);
    format!(
        "{}..{}",
        format::three_digits(low),
        format::three_digits(high)
    )
}

/// What the best form comes down to.
fn optimum(body: &Fit) -> String {
    let Some(best) = &body.recommended else {
        return "No form of the curve fits these points.".to_owned();
    };
    let (low, high) = (best.knee.low, best.knee.high);
    let most = body
        .samples
        .iter()
        .map(|sample| sample.streams)
        .max()
        .unwrap_or(0);
    let peak = body.models.first().and_then(|model| model.peak);
    let peak = peak.filter(|peak| peak.value <= f64::from(most));
    let peak = peak.map(|peak| format!(" Its peak is at {}.", format::three_digits(peak.value)));
    let was_left_out = body
        .models
        .first()
        .is_some_and(|model| model.left_out_ratio.is_some());
    let left_out = match was_left_out {
        true => format!(
            "; {} to {} as samples are left out",
            format::three_digits(low),
            format::three_digits(high)
        ),
        false => "; there are too few points to leave one out".to_owned(),
    };
    format!(
        "Use {}, the fewest that reach {} of the highest by the {} curve{left_out}.{}",
        text::streams(best.streams),
        format::percent(body.knee_ratio),
        best.form.name(),
        peak.unwrap_or_default()
    )
}

/// What to know about the numbers.
fn remarks(body: &Fit) -> Vec<String> {
    let count = body.samples.len();
    vec![format!(
        "{count} points. Each number of streams was left out in turn: left out is the error of \
            predicting it, failed how often the others gave no curve, and the spread how far a \
            value moves; it is no confidence interval. No curve says anything beyond {}.",
        text::streams(
            body.samples
                .iter()
                .map(|sample| sample.streams)
                .max()
                .unwrap_or(0)
        ),
    )]
}

/// What the rules of the literature would have chosen, beside what is recommended.
fn choices(body: &Fit) -> Vec<Block> {
    let last = body.choices.len().saturating_sub(1);
    let row = |(place, choice): (usize, &Choice)| {
        let through = choice.through_streams.iter().map(u32::to_string);
        let row = Row::new([
            choice.rule.clone(),
            or_absent(choice.streams, |streams| streams.to_string()),
            or_absent(choice.goodput, |goodput| goodput.human()),
            through.collect::<Vec<String>>().join(", "),
        ]);
        row.standing(Standing::chosen(place == last && choice.streams.is_some()))
    };
    let problem = |choice: &Choice| {
        let problem = choice.problem.as_ref()?;
        Some(text::sentence(&format!("{}: {problem}", choice.rule)))
    };
    let columns = [
        Column::words("rule"),
        Column::number("streams"),
        Column::number("it promises"),
        Column::text("through points of"),
    ];
    match body.choices.is_empty() {
        true => Vec::new(),
        false => vec![
            Block::heading("What other rules choose from these points"),
            Block::Table(Table::new(
                columns,
                body.choices.iter().enumerate().map(row),
            )),
            Block::Sentences(body.choices.iter().filter_map(problem).collect()),
        ],
    }
}

/// The forms that do not fit, each with its reason.
fn problems(body: &Fit) -> Vec<String> {
    let problem = |model: &FitModel| {
        let problem = model.problem.as_ref()?;
        Some(text::sentence(&format!("{}: {problem}", model.form.name())))
    };
    body.models.iter().filter_map(problem).collect()
}

/// Formula, values and error of one form.
fn coefficients(model: &FitModel) -> Fact {
    let values: Vec<String> = model.coefficients.iter().map(coefficient).collect();
    let error = or_absent(model.mean_absolute_error, |error| error.human());
    let values = values.join(", ");
    Fact::plain(
        model.form.name(),
        format!("{}; {values}; mean error {error}", model.formula),
    )
}

fn coefficient(coefficient: &Coefficient) -> String {
    let error = coefficient.standard_error;
    let error = error.map(|error| format!(" \u{b1} {}", scientific(error, 1)));
    format!(
        "{} = {}{}",
        coefficient.name,
        scientific(coefficient.value, 4),
        error.unwrap_or_default()
    )
}

/// Coefficients span many powers of ten; those near one read better without.
fn scientific(value: f64, decimals: usize) -> String {
    match value.abs() {
        near if (0.1..1e3).contains(&near) => format!("{value:.decimals$}"),
        _ => format!("{value:.decimals$e}"),
    }
}

/// Measured points and the curves through them.
fn curves(body: &Fit) -> Chart {
    let place = |sample: &StreamsAt| {
        let mbit = sample.throughput.as_f64() / MBIT;
        (f64::from(sample.streams), mbit)
    };
    let mut measured: Vec<(f64, f64)> = body.samples.iter().map(place).collect();
    measured.sort_by(|one, other| one.0.total_cmp(&other.0));
    let curve = |(index, model): (usize, &FitModel)| {
        let places = model.curve.iter().map(place).collect();
        Line::new(model.form.name(), Origin::FormulaOf(index + 1), places)
    };
    let mut lines = vec![Line::new("measured", Origin::Runs, measured)];
    lines.extend(fitting(body).take(FORMS_SHOWN).enumerate().map(curve));
    against_streams("throughput [Mbit/s]", lines)
}
