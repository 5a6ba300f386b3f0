//! The page of one simulated setting.

use maud::{Markup, html};
use record::Simulate;
use record::simulate::{RttFigures, SimulatedRun, SimulatedStream};

use super::parts::{self, Tile};
use crate::chart::{PlotError, simulated as plot};
use crate::format;
use crate::text::{self, simulated};

pub fn body(body: &Simulate) -> Result<Markup, PlotError> {
    Ok(html! {
        p.setting { (text::plain(&body.path.description)) "; " (simulated::terms(&body.scenario)) }
        p.lead { (text::sentence(&simulated::simulate(body))) }
        (parts::tiles(&tiles(body)))
        (plots(body)?)
        (runs(body))
        (streams(body))
    })
}

fn tiles(body: &Simulate) -> Vec<Tile> {
    let figures = &body.figures;
    let completion = &figures.completion;
    let completed =
        completion
            .unfinished_runs
            .map(|unfinished| match completion.completion_seconds {
                Some(seconds) => Tile {
                    name: "Done in",
                    value: format::time(seconds),
                    note: "until the last stream had finished".to_owned(),
                },
                None => Tile {
                    name: "Unfinished",
                    value: format!("{unfinished} of {} runs", body.runs.len()),
                    note: "left data when the time was over".to_owned(),
                },
            });
    let cross = (!figures.cross.groups.is_empty()).then(|| Tile {
        name: "Cross traffic",
        value: format::rate(figures.cross.goodput_bits_per_second),
        note: format::or_absent(figures.cross.share_ratio, |share| {
            format!("{} of all that was delivered", format::percent(share))
        }),
    });
    let taken = simulated::taken(figures).map(|text| Tile {
        name: "Taken from cross traffic",
        value: format::or_absent(figures.cross.taken_ratio, simulated::taken_share),
        note: text,
    });
    let goodput = Tile {
        name: "Goodput",
        value: format::rate(figures.aggregate.goodput_bits_per_second),
        note: deviation(figures.aggregate.standard_deviation_bits_per_second),
    };
    let tiles = [
        completed,
        Some(goodput),
        cross,
        taken,
        Some(dropped(body)),
        Some(fairness(body)),
        figures.rtt.map(round_trip),
    ];
    tiles.into_iter().flatten().collect()
}

fn deviation(deviation: Option<u64>) -> String {
    let text =
        deviation.map(|deviation| format!("\u{b1} {} over the seeds", format::rate(deviation)));
    text.unwrap_or_else(|| "one seed".to_owned())
}

fn dropped(body: &Simulate) -> Tile {
    let causes = &body.figures.drops_by_cause;
    Tile {
        name: "Packets dropped",
        value: format!("{:.0}", body.figures.drops),
        note: format!(
            "{:.0} by the queue, {:.0} on the wire",
            causes.queue_full + causes.early + causes.sojourn,
            causes.wire_loss
        ),
    }
}

fn round_trip(rtt: RttFigures) -> Tile {
    let ms = format::milliseconds;
    Tile {
        name: "Round trip, mean",
        value: format!("{} ms", ms(rtt.mean_seconds)),
        note: format!(
            "half below {}, 95 % below {}, 99 % below {}; {} to {} ms",
            ms(rtt.median_seconds),
            ms(rtt.p95_seconds),
            ms(rtt.p99_seconds),
            ms(rtt.min_seconds),
            ms(rtt.max_seconds)
        ),
    }
}

fn fairness(body: &Simulate) -> Tile {
    Tile {
        name: "Fairness",
        value: format::or_absent(body.figures.jain, |jain| format!("{jain:.3}")),
        note: "Jain's index over the streams".to_owned(),
    }
}

fn plots(body: &Simulate) -> Result<Markup, PlotError> {
    let (windows, goodput) = (chart::windows_and_queue(body)?, chart::goodput(body)?);
    let seed = body
        .runs
        .iter()
        .find(|run| run.series.len() > 1)
        .map(|run| run.seed);
    let of = format::or_absent(seed, |seed| format!("seed {seed}"));
    Ok(html! {
        @if let Some(svg) = goodput {
            (parts::plot(&svg, &format!("What the streams and the cross traffic got over time ({of}); the line is the goodput over the time that counts. A loss holds acknowledgements back until it is repaired; then they come at once, so that a step can lie above the link's rate.")))
        }
        @if let Some(svg) = windows {
            (parts::plot(&svg, &format!("Congestion window of each stream, and the packets that waited in the forward link's queue ({of}).")))
        }
    })
}

fn runs(body: &Simulate) -> Markup {
    let has_end = body.figures.completion.unfinished_runs.is_some();
    html! {
        h2 { "Each seed" }
        div.table {
            table {
                thead { tr {
                    th.number { "seed" }
                    th.number { "goodput" }
                    th.number { "cross traffic" }
                    th.number { "dropped" }
                    th.number { "resent" }
                    th.number { "timeouts" }
                    th.number { "Jain" }
                    th.number { "mean RTT [ms]" }
                    th.number { "queue, mean [packets]" }
                    @if has_end { th.number { "done in" } }
                } }
                tbody { @for run in &body.runs { (run_row(run, has_end)) } }
            }
        }
    }
}

fn run_row(run: &SimulatedRun, has_end: bool) -> Markup {
    html! {
        tr {
            td.number { (run.seed) }
            td.number { (format::rate(run.goodput_bits_per_second)) }
            td.number { (format::rate(run.cross_goodput_bits_per_second)) }
            td.number { (run.drops) }
            td.number { (run.retransmitted) }
            td.number { (run.timeouts) }
            td.number { (format::or_absent(run.jain, |jain| format!("{jain:.3}"))) }
            td.number { (format::or_absent(run.rtt, |rtt| format::milliseconds(rtt.mean_seconds))) }
            td.number { (format::three_digits(run.queue.mean_packets)) }
            @if has_end { td.number { (format::or_absent(run.completion_seconds, format::time)) } }
        }
    }
}

/// The streams of the first run; of a thousand, nobody reads the table.
const STREAMS_SHOWN: usize = 128;

fn streams(body: &Simulate) -> Markup {
    let Some(run) = body.runs.first() else {
        return Markup::default();
    };
    let has_end = body.figures.completion.unfinished_runs.is_some();
    html! {
        details open[run.streams.len() <= 16] {
            summary { "Streams of seed " (run.seed) " (" (run.streams.len()) ")" }
            div.table {
                table {
                    thead { tr {
                        th.number { "stream" }
                        th.number { "goodput" }
                        th.number { "acknowledged" }
                        th.number { "resent" }
                        th.number { "timeouts" }
                        @if has_end { th.number { "done in" } }
                    } }
                    tbody {
                        @for (index, stream) in run.streams.iter().take(STREAMS_SHOWN).enumerate() {
                            (stream_row(index + 1, stream, has_end))
                        }
                    }
                }
            }
            @if run.streams.len() > STREAMS_SHOWN {
                p.note { "The document has the other " (run.streams.len() - STREAMS_SHOWN) "." }
            }
        }
    }
}

fn stream_row(number: usize, stream: &SimulatedStream, has_end: bool) -> Markup {
    html! {
        tr {
            td.number { (number) }
            td.number { (format::rate(stream.goodput_bits_per_second)) }
            td.number { (format::size(stream.acknowledged_bytes)) }
            td.number { (stream.retransmitted) }
            td.number { (stream.timeouts) }
            @if has_end { td.number { (format::or_absent(stream.completion_seconds, format::time)) } }
        }
    }
}
