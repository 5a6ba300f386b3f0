//! What predictions and fits are told with: the same tables and sentences for terminal and page.

use record::fit::{Coefficient, FitModel, FitSpread};
use record::{Fit, Predict, PredictedPoint};

use crate::format::{self, RateUnit};
use crate::text;

/// So many numbers of streams fit side by side, beside that of the knee.
const BUFFERS_SHOWN: usize = 3;

/// A table as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The headings.
    pub names: Vec<String>,
    /// How many columns at the front are words; the others are numbers.
    pub words: usize,
    /// The rows, each with whether it stands out.
    pub rows: Vec<(bool, Vec<String>)>,
}

/// Several streams by each formula, the knee's row marked when it is there.
pub fn points(body: &Predict) -> Rows {
    let unit = unit(body);
    let names = [
        "streams", unit.name, "Hacker", "Altman", "windows", "loss", "RTT ms", "limit",
    ];
    let rate = |bits: Option<u64>| format::or_absent(bits, |bits| unit.number(bits as f64));
    let row = |point: &PredictedPoint| {
        let cells = vec![
            point.at.streams.to_string(),
            unit.number(point.at.goodput_bits_per_second as f64),
            rate(point.hacker_bits_per_second),
            rate(point.altman_bits_per_second),
            rate(point.window_cap_bits_per_second),
            format::or_absent(point.lost_ratio, format::percent),
            format::milliseconds(point.rtt_seconds),
            text::plain(&point.limit),
        ];
        (point.at.streams == body.knee.at.streams, cells)
    };
    Rows {
        names: names.map(str::to_owned).to_vec(),
        words: 0,
        rows: body.points.iter().map(row).collect(),
    }
}

/// What the headings of [`points`] mean.
pub fn points_legend(body: &Predict) -> String {
    format!(
        "Rates in {}. The first is the equilibrium of streams, loss and queue, which the recommendation rests on; Hacker: \
         so many independent reno streams, up to the link's rate; Altman: reno streams that lose only what their own \
         queue drops, so without the path's loss; windows: all windows once a round trip, whatever the link. loss: loss \
         events per packet.",
        unit(body).name
    )
}

/// The unit that the highest throughput reads well in.
pub fn unit(body: &Predict) -> RateUnit {
    let rates = body
        .points
        .iter()
        .map(|point| point.at.goodput_bits_per_second);
    RateUnit::fitting(rates.max().unwrap_or(0) as f64)
}

/// One stream by each formula.
pub fn one_stream(body: &Predict) -> Rows {
    let cells = |stream: &record::predict::PredictedStream| {
        let rate = format::or_absent(stream.rate_bits_per_second, format::rate);
        (
            stream.model == "equilibrium",
            vec![text::plain(&stream.model), rate],
        )
    };
    Rows {
        names: ["formula", "one stream"].map(str::to_owned).to_vec(),
        words: 1,
        rows: body.one_stream.iter().map(cells).collect(),
    }
}

/// What each rule for the buffers gives one of so many streams.
pub fn buffers(body: &Predict) -> Rows {
    let streams = buffer_streams(body);
    let mut names = vec!["rule".to_owned()];
    names.extend(streams.iter().map(|n| format!("of {n}")));
    names.push("is".to_owned());
    let row = |buffer: &record::predict::PredictedBuffer| {
        let size = |n: &u32| {
            let of = buffer.per_stream.iter().find(|of| of.streams == *n);
            format::or_absent(of, |of| format::size(of.bytes))
        };
        let mut cells = vec![text::plain(&buffer.rule)];
        cells.extend(streams.iter().map(size));
        cells.push(text::plain(&buffer.formula));
        (false, cells)
    };
    Rows {
        names,
        words: 1,
        rows: body.buffers.iter().map(row).collect(),
    }
}

/// Every second or fourth number of streams from the first on, so that they fit, and the knee.
fn buffer_streams(body: &Predict) -> Vec<u32> {
    let all = body.buffers.iter().flat_map(|buffer| &buffer.per_stream);
    let mut streams: Vec<u32> = all.map(|of| of.streams).collect();
    streams.sort_unstable();
    streams.dedup();
    let step = streams.len().div_ceil(BUFFERS_SHOWN).max(1);
    let mut shown: Vec<u32> = streams.into_iter().step_by(step).collect();
    shown.push(body.knee.at.streams);
    shown.sort_unstable();
    shown.dedup();
    shown
}

/// What a prediction comes down to.
pub fn recommendation(body: &Predict) -> String {
    let (knee, highest) = (&body.knee, &body.highest);
    format!(
        "Use {}: {} predicted, {} of the {} that {} reach.",
        streams(knee.at.streams),
        format::rate(knee.at.goodput_bits_per_second),
        format::percent(share(
            knee.at.goodput_bits_per_second,
            highest.goodput_bits_per_second
        )),
        format::rate(highest.goodput_bits_per_second),
        streams(highest.streams),
    )
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn streams(count: u32) -> String {
    match count {
        1 => "1 stream".to_owned(),
        count => format!("{count} streams"),
    }
}

/// What the formulas were given.
pub fn assumptions(body: &Predict) -> Vec<String> {
    let link = &body.link;
    let mut sentences = vec![format!(
        "Nothing was sent: this is what formulas say about {} streams that keep at most {} outstanding each, \
         {} of payload on the link, {} ms round trip, a queue of {} ms and {} of loss events.",
        text::plain(&body.congestion),
        format::size(body.window_bytes),
        format::rate(link.payload_bits_per_second),
        format::milliseconds(link.rtt_seconds),
        format::milliseconds(link.queue_seconds),
        format::percent(link.lost_ratio),
    )];
    sentences.push(
        "Believe a measurement on the live path over `emu:`, that over `sim:`, and that over these formulas: they take \
         every stream for settled and the losses for evenly spread."
            .to_owned(),
    );
    if link.other_streams > 0 || link.background_bits_per_second > 0 {
        sentences.push(format!(
            "Others: {} that react, and {} that do not.",
            streams(link.other_streams),
            format::rate(link.background_bits_per_second)
        ));
    }
    sentences
}

/// The forms of the curve with how well they predict.
pub fn models(body: &Fit) -> Rows {
    let names = [
        "form", "left out", "failed", "peak", "spread", "knee", "spread",
    ];
    let row = |(place, model): (usize, &FitModel)| {
        let cells = vec![
            text::plain(&model.form),
            format::or_absent(model.left_out_ratio, format::percent),
            format::or_absent(model.left_out_failed, |failed| failed.to_string()),
            format::or_absent(model.peak, |peak| format::three_digits(peak.streams)),
            format::or_absent(model.peak, spread),
            format::or_absent(model.knee, |knee| format::three_digits(knee.streams)),
            format::or_absent(model.knee, spread),
        ];
        (place == 0 && body.recommended.is_some(), cells)
    };
    let fitting = body
        .models
        .iter()
        .enumerate()
        .filter(|(_, model)| model.problem.is_none());
    Rows {
        names: names.map(str::to_owned).to_vec(),
        words: 1,
        rows: fitting.map(row).collect(),
    }
}

fn spread(spread: FitSpread) -> String {
    format!(
        "{}..{}",
        format::three_digits(spread.low_streams),
        format::three_digits(spread.high_streams)
    )
}

/// What the best form comes down to.
pub fn optimum(body: &Fit) -> String {
    let Some(best) = &body.recommended else {
        return "No form of the curve fits these points.".to_owned();
    };
    let (low, high) = (best.spread.low_streams, best.spread.high_streams);
    let most = body
        .samples
        .iter()
        .map(|sample| sample.streams)
        .max()
        .unwrap_or(0);
    let peak = body.models.first().and_then(|model| model.peak);
    let peak = peak.filter(|peak| peak.streams <= f64::from(most));
    let peak = peak.map(|peak| format!(" Its peak is at {}.", format::three_digits(peak.streams)));
    format!(
        "Use {}, the fewest that reach {} of the highest by the {} curve; {} to {} as samples are left out.{}",
        streams(best.streams),
        format::percent(body.knee_ratio),
        text::plain(&best.form),
        format::three_digits(low),
        format::three_digits(high),
        peak.unwrap_or_default()
    )
}

/// What to know about the numbers.
pub fn remarks(body: &Fit) -> Vec<String> {
    let count = body.samples.len();
    vec![format!(
        "{count} points. Each number of streams was left out in turn: left out is the error of predicting it, \
         failed how often the others gave no curve, and the spread how far a value moves; it is no confidence \
         interval. No curve says anything beyond {}.",
        streams(
            body.samples
                .iter()
                .map(|sample| sample.streams)
                .max()
                .unwrap_or(0)
        ),
    )]
}

/// The forms that do not fit, each with its reason.
pub fn problems(body: &Fit) -> Vec<String> {
    let problem = |model: &FitModel| {
        let problem = model.problem.as_ref()?;
        Some(text::sentence(&format!(
            "{}: {}",
            text::plain(&model.form),
            text::plain(problem)
        )))
    };
    body.models.iter().filter_map(problem).collect()
}

/// Each form that fits with its coefficients: `(name, formula and values)`.
pub fn coefficients(body: &Fit) -> Vec<(String, String)> {
    let fitting = body.models.iter().filter(|model| model.problem.is_none());
    let row = |model: &FitModel| {
        let values: Vec<String> = model.coefficients.iter().map(coefficient).collect();
        let error = format::or_absent(model.mean_absolute_error_bits_per_second, format::rate);
        let text = format!(
            "{}; {}; mean error {error}",
            text::plain(&model.formula),
            values.join(", ")
        );
        (text::plain(&model.form), text)
    };
    fitting.map(row).collect()
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
