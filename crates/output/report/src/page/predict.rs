//! The page of a prediction.

mod fluid;

use crate::text;
use draw::chart::{Chart, Curves, Line, Origin, Scale};
use draw::format::{self, RateUnit, or_absent};
use draw::page::{Block, Column, Fact, Page, Row, Standing, Table};
use record::Predict;
use record::predict::{BufferAdvice, OneStream, Predicted, Transfer, TransferTime};
use units::Rate;

/// So many numbers of streams fit side by side, beside that of the knee.
const BUFFERS_SHOWN: usize = 3;
const MBIT: f64 = 1e6;

pub fn page(body: &Predict) -> Page {
    let mut blocks = vec![
        Block::About(body.path.description.clone()),
        Block::Table(points(body)),
        Block::note(points_legend(body)),
        Block::lead(recommendation(body)),
        Block::wide([Block::Facts(facts(body))]),
        Block::Why(assumptions(body)),
        Block::figure(
            "throughput",
            "Throughput against the number of streams by each formula.",
            throughput(body),
        ),
        Block::figure(
            "round-trip",
            "Round trip with the queue that the streams build, by the equilibrium.",
            round_trip(body),
        ),
        Block::Table(one_stream(body)),
        Block::heading("Buffers per stream"),
        Block::Table(buffers(body)),
    ];
    blocks.extend(body.fluid.iter().flat_map(fluid::blocks));
    blocks.extend(body.transfer.iter().flat_map(transfer));
    blocks.extend(losses(body));
    Page::new("predict", &body.path.name, blocks)
}

fn facts(body: &Predict) -> Vec<Fact> {
    let (link, knee) = (&body.link, &body.knee);
    let share = format::percent(knee.share_ratio);
    let payload = format::rate(link.payload_bits_per_second);
    let queue = format::milliseconds(link.queue_seconds);
    vec![
        Fact::new("streams", knee.at.streams.to_string())
            .after(format!("for {share} of the highest")),
        Fact::new("throughput", knee.at.throughput.human())
            .after(format!("of {payload} on the link")),
        Fact::new(
            "round trip",
            format!("{} ms", format::milliseconds(link.rtt_seconds)),
        )
        .after(format!("a full queue adds {queue} ms")),
    ]
}

/// Several streams by each formula, the knee's row marked when it is there.
fn points(body: &Predict) -> Table {
    let unit = unit(body);
    let names = [
        "streams", unit.name, "Hacker", "Altman", "windows", "loss", "RTT ms", "limit",
    ];
    let rate = |rate: Option<Rate>| or_absent(rate, |rate| unit.number(rate.as_f64()));
    let row = |point: &Predicted| {
        let row = Row::new([
            point.streams.to_string(),
            unit.number(point.equilibrium.throughput.as_f64()),
            rate(point.hacker),
            rate(point.altman),
            rate(point.window_cap),
            or_absent(point.equilibrium.loss, format::percent),
            format::milliseconds(point.equilibrium.rtt.as_secs_f64()),
            point.equilibrium.binds.name().to_owned(),
        ]);
        row.standing(Standing::chosen(point.streams == body.knee.at.streams))
    };
    Table::new(names.map(Column::number), body.points.iter().map(row))
}

/// What the headings of [`points`] mean.
fn points_legend(body: &Predict) -> String {
    format!(
        "Rates in {}. The first is the equilibrium of streams, loss and queue, which the \
            recommendation rests on; Hacker: so many independent reno streams, up to the link's \
            rate; Altman: reno streams that lose only what their own queue drops, so without the \
            path's loss; windows: all windows once a round trip, whatever the link. loss: loss \
            events per packet.",
        unit(body).name
    )
}

/// The unit that the highest throughput reads well in.
fn unit(body: &Predict) -> RateUnit {
    let rates = body.points.iter().map(|point| point.equilibrium.throughput);
    RateUnit::fitting(rates.max().unwrap_or(Rate::ZERO).as_f64())
}

/// One stream by each formula.
fn one_stream(body: &Predict) -> Table {
    let row = |stream: &OneStream| {
        let rate = or_absent(stream.rate, Rate::human);
        let row = Row::new([stream.model.clone(), rate]);
        row.standing(Standing::chosen(stream.model == "equilibrium"))
    };
    let columns = [Column::words("formula"), Column::number("one stream")];
    Table::new(columns, body.one_stream.iter().map(row))
}

/// How long data take by each formula.
fn transfer(transfer: &Transfer) -> [Block; 3] {
    let row = |time: &TransferTime| {
        Row::new([
            time.model.clone(),
            time.streams.to_string(),
            or_absent(time.loss, format::percent),
            time.rate.human(),
            format::percent(time.share),
            format::lasting(time.seconds),
        ])
    };
    let numbers = ["streams", "loss", "rate", "of the link", "time"].map(Column::number);
    let columns = [Column::words("formula")].into_iter().chain(numbers);
    [
        Block::heading(format!("Time for {}", transfer.bytes.human())),
        Block::Table(Table::new(columns, transfer.times.iter().map(row))),
        Block::note(
            "Rates are at most what the link carries. loss: what a formula was given, of the \
                equilibrium what it finds. Slow start and disks are left out.",
        ),
    ]
}

/// The loss that one stream bears: a row for each rate, a column for each round trip.
fn losses(body: &Predict) -> Vec<Block> {
    let all = &body.acceptable_losses;
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let cells = |rate: Rate| all.iter().filter(move |loss| loss.rate == rate);
    let rtts = cells(first.rate).map(|loss| {
        let millis = format::milliseconds(loss.rtt.as_secs_f64());
        Column::number(format!("{millis} ms"))
    });
    let mut rates: Vec<Rate> = all.iter().map(|loss| loss.rate).collect();
    rates.dedup();
    let row = |rate: Rate| {
        let losses = cells(rate).map(|loss| or_absent(loss.loss, |loss| format!("{loss:.1e}")));
        Row::new([rate.human()].into_iter().chain(losses))
    };
    let columns = [Column::words("one stream")].into_iter().chain(rtts);
    vec![
        Block::heading("Loss that one stream bears"),
        Block::Table(Table::new(columns, rates.into_iter().map(row))),
        Block::note(
            "Loss events for each packet at which one reno stream still reaches the rate, by round \
                trip, after Mathis et al.",
        ),
    ]
}

/// What each rule for the buffers gives one of so many streams.
fn buffers(body: &Predict) -> Table {
    let streams = buffer_streams(body);
    let mut columns = vec![Column::words("rule")];
    columns.extend(streams.iter().map(|n| Column::number(format!("of {n}"))));
    columns.push(Column::number("is"));
    let row = |buffer: &BufferAdvice| {
        let size = |n: &u32| {
            let of = buffer.per_stream.iter().find(|of| of.streams == *n);
            or_absent(of, |of| of.bytes.human())
        };
        let mut cells = vec![buffer.rule.name().to_owned()];
        cells.extend(streams.iter().map(size));
        cells.push(buffer.formula.clone());
        Row::new(cells)
    };
    Table::new(columns, body.buffers.iter().map(row))
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
fn recommendation(body: &Predict) -> String {
    let (knee, highest) = (&body.knee, &body.highest);
    format!(
        "Use {}: {} predicted, {} of the {} that {} reach.",
        text::streams(knee.at.streams),
        knee.at.throughput.human(),
        format::percent(share(knee.at.throughput, highest.throughput)),
        highest.throughput.human(),
        text::streams(highest.streams),
    )
}

fn share(part: Rate, whole: Rate) -> f64 {
    part.as_f64() / whole.as_f64().max(1.0)
}

/// What the formulas were given.
fn assumptions(body: &Predict) -> Vec<String> {
    let link = &body.link;
    let mut sentences = vec![format!(
        "Nothing was sent: this is what formulas say about {} streams that keep at most {} \
            outstanding each, {} of payload on the link, {} ms round trip, a queue of {} ms and {} \
            of loss events.",
        body.congestion,
        format::size(body.window_bytes),
        format::rate(link.payload_bits_per_second),
        format::milliseconds(link.rtt_seconds),
        format::milliseconds(link.queue_seconds),
        format::percent(link.lost_ratio),
    )];
    sentences.push(
        "Believe a measurement on the live path over `emu:`, that over `sim:`, and that over these \
            formulas: they take every stream for settled and the losses for evenly spread."
            .to_owned(),
    );
    if body.path.forward.variation.is_some() {
        sentences.push(format!(
            "The rate of the link varies, and the formulas take its mean, {} of whole packets.",
            body.path.forward.rate.human()
        ));
    }
    if link.other_streams > 0 || link.background_bits_per_second > 0 {
        sentences.push(format!(
            "Others: {} that react, and {} that do not.",
            text::streams(link.other_streams),
            format::rate(link.background_bits_per_second)
        ));
    }
    sentences
}

/// Throughput by each formula.
fn throughput(body: &Predict) -> Chart {
    let top = Rate::from_bits_per_second(body.link.payload_bits_per_second);
    let curve = |label: &str, origin, of: &dyn Fn(&Predicted) -> Option<Rate>| {
        let place = |point: &Predicted| {
            // The sum of all windows soon leaves the sheet.
            let rate = of(point)?.min(top);
            Some((f64::from(point.streams), rate.as_f64() / MBIT))
        };
        Line::new(
            label,
            origin,
            body.points.iter().filter_map(place).collect(),
        )
    };
    let lines = vec![
        curve("equilibrium", Origin::Runs, &|point| {
            Some(point.equilibrium.throughput)
        }),
        curve("Hacker", Origin::FormulaOf(1), &|point| point.hacker),
        curve("Altman", Origin::FormulaOf(2), &|point| point.altman),
        curve("windows", Origin::FormulaOf(3), &|point| point.window_cap),
        curve("link", Origin::Formula, &|_| Some(top)),
    ];
    against_streams("throughput [Mbit/s]", lines)
}

/// Round trip by the equilibrium.
fn round_trip(body: &Predict) -> Chart {
    let full = body.link.rtt_seconds + body.link.queue_seconds;
    let curve = |label, origin, of: &dyn Fn(&Predicted) -> f64| {
        let place = |point: &Predicted| (f64::from(point.streams), of(point) * 1e3);
        Line::new(label, origin, body.points.iter().map(place).collect())
    };
    let lines = vec![
        curve("loaded", Origin::Runs, &|point| {
            point.equilibrium.rtt.as_secs_f64()
        }),
        curve("queue full", Origin::Formula, &|_| full),
    ];
    against_streams("round trip [ms]", lines)
}

/// The lines that have points, over the number of streams.
pub fn against_streams(y: &'static str, lines: Vec<Line>) -> Chart {
    let (x, y) = (Scale::doublings("streams"), Scale::even(y));
    Curves { x, y, lines }.shown().chart()
}
