//! The page of one simulated setting.

pub mod fluid;
mod over_time;

use crate::text::{self, simulated};
use draw::format::{self, RateUnit, or_absent};
use draw::page::{Block, Cell, Column, Fact, Page, Row, Table};
use record::simulate::{Figures, RttFigures, SimulatedRun, SimulatedStream};
use record::{Kind, Simulate};

/// More runs than this are left to the document.
const RUNS_SHOWN: usize = 12;
/// More streams than this are left to the document.
const STREAMS_SHOWN: usize = 128;
/// A browser folds away the table of more streams than this.
const STREAMS_OPEN: usize = 16;

pub fn page(body: &Simulate) -> Page {
    let mut blocks = vec![
        Block::About(body.path.description.clone()),
        Block::About(simulated::terms(&body.scenario)),
        Block::Facts(facts(body)),
        Block::wide(figures(body)),
    ];
    let runs = [Block::heading("Each seed"), Block::Table(runs(body))];
    match body.runs.len() {
        0 => {}
        1 => blocks.push(Block::wide(runs)),
        _ => blocks.extend(runs),
    }
    let believe = text::which_to_believe(Kind::Simulated);
    blocks.extend(believe.map(|sentence| Block::Sentences(vec![sentence.to_owned()])));
    if let Some(run) = body.runs.first() {
        blocks.push(Block::wide([streams(body, run)]));
    }
    Page::new("simulate", &body.path.name, blocks).subtitled(simulated::setting(&body.setting))
}

fn facts(body: &Simulate) -> Vec<Fact> {
    let figures = &body.figures;
    let sending = format::percent(figures.utilisation_ratio);
    let facts = [
        Some(Fact::new("goodput", simulated::goodput(&figures.aggregate))),
        completion(body),
        cross(figures),
        taken(figures),
        figures.jain.map(|jain| fairness(body, jain)),
        Some(dropped(figures)),
        Some(resent(figures)),
        figures.rtt.map(round_trip),
        Some(queue(figures)),
        Some(
            Fact::new("link", sending)
                .before("sending ")
                .after(" of the time"),
        ),
        Some(cost(
            body.cost.cpu_seconds,
            body.cost.cached_runs,
            body.runs.len(),
        )),
    ];
    facts.into_iter().flatten().collect()
}

fn completion(body: &Simulate) -> Option<Fact> {
    let figures = &body.figures.completion;
    let unfinished = figures.unfinished_runs?;
    let Some(seconds) = figures.completion_seconds else {
        let value = format!("{unfinished} of {} runs", body.runs.len());
        let after = " left data when the time was over";
        return Some(Fact::new("unfinished", value).after(after));
    };
    let spread = figures.completion_standard_deviation_seconds;
    let spread = spread.map(|s| format!(" \u{b1} {}", format::time(s)));
    Some(Fact::new("done in", format::time(seconds)).after(spread.unwrap_or_default()))
}

fn cross(figures: &Figures) -> Option<Fact> {
    let cross = &figures.cross;
    let goodput = simulated::spread(
        cross.goodput_bits_per_second,
        cross.standard_deviation_bits_per_second,
    );
    let share = or_absent(cross.share_ratio, format::percent);
    let fact = Fact::new("cross", goodput).after(format!(", {share} of all that was delivered"));
    (!cross.groups.is_empty()).then_some(fact)
}

/// What the streams took from the cross traffic, where that is known.
fn taken(figures: &Figures) -> Option<Fact> {
    let cross = &figures.cross;
    let (alone, share) = (cross.alone_bits_per_second?, cross.taken_ratio?);
    let alone = format::rate(alone);
    let after = format!(" of what the cross traffic gets alone, {alone}");
    Some(Fact::new("taken", simulated::taken_share(share)).after(after))
}

fn fairness(body: &Simulate, jain: f64) -> Fact {
    let streams = body.runs.iter().flat_map(|run| &run.streams);
    let goodputs = streams.map(|stream| stream.goodput.bits_per_second());
    let ends = goodputs.clone().min().zip(goodputs.max());
    let ends = ends.filter(|_| body.setting.streams > 1);
    let range = ends.map(|(low, high)| {
        let (low, high) = (format::rate(low), format::rate(high));
        format!("; streams got {low} to {high}")
    });
    let after = format!(" (Jain){}", range.unwrap_or_default());
    Fact::new("fairness", format!("{jain:.3}")).after(after)
}

fn dropped(figures: &Figures) -> Fact {
    let causes = &figures.drops_by_cause;
    let named = [
        (causes.queue_full, "queue full"),
        (causes.early, "early"),
        (causes.sojourn, "waited too long"),
        (causes.policed, "policed"),
        (causes.wire_loss, "lost on the wire"),
        (figures.marks, "marked instead"),
    ];
    let known = named.into_iter().filter(|(count, _)| *count > 0.0);
    let parts = known.map(|(count, name)| format!("{} {name}", counted(count)));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => Fact::new("dropped", "no packet"),
        false => Fact::new("dropped", several(figures.drops, "packet"))
            .after(format!(": {}", parts.join(", "))),
    }
}

fn resent(figures: &Figures) -> Fact {
    let timeouts = several(figures.timeouts, "timeout");
    Fact::new("resent", several(figures.retransmitted, "segment")).after(format!("; {timeouts}"))
}

/// A mean count of something: `1 segment`, `1.5 segments`.
fn several(mean: f64, name: &str) -> String {
    match mean == 1.0 {
        true => format!("1 {name}"),
        false => format!("{} {name}s", counted(mean)),
    }
}

/// A mean count: whole where it is, else with a decimal.
fn counted(mean: f64) -> String {
    match mean.fract() == 0.0 || mean >= 100.0 {
        true => format!("{mean:.0}"),
        false => format!("{mean:.1}"),
    }
}

fn round_trip(rtt: RttFigures) -> Fact {
    let ms = format::milliseconds;
    let after = format!(
        " mean; half below {}, 95 % below {}, 99 % below {}; {} to {} ms",
        ms(rtt.median_seconds),
        ms(rtt.p95_seconds),
        ms(rtt.p99_seconds),
        ms(rtt.min_seconds),
        ms(rtt.max_seconds)
    );
    Fact::new("round trip", format!("{} ms", ms(rtt.mean_seconds))).after(after)
}

fn queue(figures: &Figures) -> Fact {
    let mean = format::three_digits(figures.queue.mean_packets);
    let peak = format::size(figures.queue.peak_bytes);
    let after = format!(" on average, {peak} at the most");
    Fact::new("queue", format!("{mean} packets")).after(after)
}

/// Processor time, and how many of `runs` were kept from before.
pub fn cost(cpu_seconds: f64, cached: u64, runs: usize) -> Fact {
    let kept = match cached {
        0 => String::new(),
        _ => format!("; {cached} of {runs} runs were kept from before"),
    };
    Fact::new("cost", format::time(cpu_seconds)).after(format!(" of processor time{kept}"))
}

/// What the first recorded run did over time.
fn figures(body: &Simulate) -> Vec<Block> {
    let Some(run) = over_time::recorded(body) else {
        return Vec::new();
    };
    let of = format!("seed {}", run.seed);
    let goodput = format!(
        "What the streams and the cross traffic got over time ({of}); the line is the goodput over \
            the time that counts. A loss holds acknowledgements back until it is repaired; then \
            they come at once, so that a step can lie above the link's rate."
    );
    let windows = format!(
        "Congestion window of each stream, and the packets that waited in the forward link's queue \
            ({of})."
    );
    vec![
        Block::figure("goodput", goodput, over_time::goodput(body, run)),
        Block::figure(
            "windows-and-queue",
            windows,
            over_time::windows_and_queue(run),
        ),
    ]
}

/// One column of the table of runs.
type RunColumn = (Column, fn(&SimulatedRun, RateUnit) -> String);

fn runs(body: &Simulate) -> Table {
    let top = body
        .runs
        .iter()
        .map(|run| run.goodput_bits_per_second)
        .max();
    let unit = RateUnit::fitting(top.unwrap_or(0) as f64);
    let columns = run_columns(body, unit);
    let row = |run: &SimulatedRun| Row::new(columns.iter().map(|(_, text)| text(run, unit)));
    let rows: Vec<Row> = body.runs.iter().map(row).collect();
    let count = rows.len();
    let width = columns.len();
    let columns = columns.into_iter().map(|(column, _)| column);
    Table::new(columns, rows).shortened(RUNS_SHOWN, |shown| {
        let mut cells = vec![Cell::default(); width];
        cells[0] = format!("{} more", count - shown).into();
        cells
    })
}

fn run_columns(body: &Simulate, unit: RateUnit) -> Vec<RunColumn> {
    let number = Column::number;
    let all: [Option<RunColumn>; 10] = [
        Some((number("seed"), |run, _| run.seed.to_string())),
        Some((number(unit.name), |run, unit| {
            unit.number(run.goodput_bits_per_second as f64)
        })),
        (!body.path.cross.is_empty()).then_some((number("cross"), |run, unit| {
            unit.number(run.cross_goodput_bits_per_second as f64)
        })),
        Some((number("dropped"), |run, _| run.drops.to_string())),
        Some((number("resent"), |run, _| run.retransmitted.to_string())),
        Some((number("timeouts"), |run, _| run.timeouts.to_string())),
        Some((number("Jain"), |run, _| jain(run.jain))),
        Some((number("RTT ms"), |run, _| {
            or_absent(run.rtt, |rtt| format::milliseconds(rtt.mean_seconds))
        })),
        Some((number("mean queue [packets]").wide(), |run, _| {
            format::three_digits(run.queue.mean_packets)
        })),
        has_end(body).then_some((number("done s"), |run, _| {
            or_absent(run.completion_seconds, format::three_digits)
        })),
    ];
    all.into_iter().flatten().collect()
}

/// Jain's index.
pub fn jain(index: Option<f64>) -> String {
    or_absent(index, |index| format!("{index:.3}"))
}

fn has_end(body: &Simulate) -> bool {
    body.figures.completion.unfinished_runs.is_some()
}

/// The streams of one run.
fn streams(body: &Simulate, run: &SimulatedRun) -> Block {
    let headings = [
        "stream",
        "goodput",
        "acknowledged",
        "resent",
        "timeouts",
        "done in",
    ];
    let count = headings.len() - usize::from(!has_end(body));
    let row = |(number, stream): (usize, &SimulatedStream)| {
        let cells = [
            number.to_string(),
            format::rate(stream.goodput.bits_per_second()),
            format::size(stream.acknowledged.get()),
            stream.retransmitted.to_string(),
            stream.timeouts.to_string(),
            or_absent(stream.completed, |time| format::time(time.as_secs_f64())),
        ];
        Row::new(cells.into_iter().take(count))
    };
    let rows = (1..).zip(&run.streams).take(STREAMS_SHOWN).map(row);
    let table = Table::new(headings.map(Column::number).into_iter().take(count), rows);
    let mut blocks = vec![Block::Table(table)];
    if let Some(others @ 1..) = run.streams.len().checked_sub(STREAMS_SHOWN) {
        blocks.push(Block::note(format!("The document has the other {others}.")));
    }
    let title = format!("Streams of seed {}", run.seed);
    Block::details(&title, run.streams.len(), STREAMS_OPEN, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn what_the_streams_took_is_said_where_it_is_known() {
        let fact = taken(&synthetic::simulate(8).body.figures).unwrap();
        let text = " of what the cross traffic gets alone, 15.3 Mbit/s";
        assert_eq!(fact.after, text);
        assert_eq!(taken(&synthetic::transfer(false).body.figures), None);
    }

    #[test]
    fn unfinished_runs_are_said() {
        let fact = completion(&synthetic::transfer(true).body).unwrap();
        assert_eq!(fact.name, "unfinished");
        assert!(fact.phrase().contains("1 of 3 runs left data"));
        let fact = completion(&synthetic::transfer(false).body).unwrap();
        assert_eq!(fact.name, "done in");
    }
}
