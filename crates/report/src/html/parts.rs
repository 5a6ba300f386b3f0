//! Pieces that several pages share.

use maud::{Markup, PreEscaped, html};
use record::{DirectionFigures, Run, StreamDirection, Tune};

use crate::chart::{self, PlotError};
use crate::format::{self, ABSENT};
use crate::text;

/// One headline number.
pub struct Tile {
    pub name: &'static str,
    pub value: String,
    pub note: String,
}

pub fn tiles(tiles: &[Tile]) -> Markup {
    html! {
        div.tiles {
            @for tile in tiles {
                div.tile {
                    span.name { (tile.name) }
                    span.value { (tile.value) }
                    span.note { (tile.note) }
                }
            }
        }
    }
}

/// Goodput, round trip and retransmissions of one run.
pub fn run_tiles(run: &Run) -> Vec<Tile> {
    vec![goodput_tile(run), round_trip_tile(run), resent_tile(run)]
}

fn goodput_tile(run: &Run) -> Tile {
    let interval = run.interval.map(|interval| {
        let unit = format::RateUnit::fitting(run.goodput_bits_per_second as f64);
        let half = unit.margin(run.goodput_bits_per_second as f64, &interval);
        format!("\u{b1} {half} {} (95 %)", unit.name)
    });
    Tile {
        name: "Goodput",
        value: format::rate(run.goodput_bits_per_second),
        note: interval.unwrap_or_else(|| not_settled(run)),
    }
}

fn not_settled(run: &Run) -> String {
    let takes = run.steady.takes_seconds;
    let takes = takes.map(|seconds| format!(": takes about {}", format::lasting(seconds)));
    format!("not settled{}", takes.unwrap_or_default())
}

fn round_trip_tile(run: &Run) -> Tile {
    let added = run
        .rtt
        .added_seconds
        .map(|added| format!("{} ms", format::added_milliseconds(added)));
    let idle = idle_seconds(run).map(|idle| format!("on {} idle", format::milliseconds(idle)));
    let notes: Vec<String> = [added, idle].into_iter().flatten().collect();
    Tile {
        name: "Round trip, loaded",
        value: format::or_absent(run.rtt_loaded_seconds(), |s| {
            format!("{} ms", format::milliseconds(s))
        }),
        note: notes.join(" "),
    }
}

/// The idle round trip that the added delay counts from.
fn idle_seconds(run: &Run) -> Option<f64> {
    let probed = run
        .rtt
        .unloaded
        .as_ref()
        .and_then(|series| series.mean_seconds);
    probed.or_else(|| Some(run.rtt_loaded_seconds()? - run.rtt.added_seconds?))
}

fn resent_tile(run: &Run) -> Tile {
    let segments = text::segments_again(run);
    Tile {
        name: "Resent",
        value: format::or_absent(run.retransmitted_ratio(), format::percent),
        note: segments.unwrap_or_default(),
    }
}

pub fn sentences(sentences: &[String]) -> Markup {
    html! { @for sentence in sentences { p { (sentence) } } }
}

/// A plot with what it shows written below it.
pub fn plot(svg: &str, caption: &str) -> Markup {
    html! {
        figure {
            div.plot role="img" aria-label=(caption) { (PreEscaped(svg)) }
            figcaption { (caption) }
        }
    }
}

/// Throughput over time of each direction, and round trips over time.
pub fn run_plots(run: &Run) -> Result<Markup, PlotError> {
    let throughputs: Result<Vec<_>, _> = run
        .directions
        .iter()
        .map(|direction| throughput(run, direction))
        .collect();
    let round_trips = chart::round_trips(run)?;
    Ok(html! {
        @for drawn in throughputs? { (drawn) }
        @if let Some(svg) = round_trips {
            (plot(&svg, "Round-trip times before the streams started and beside them."))
        }
    })
}

fn throughput(run: &Run, direction: &DirectionFigures) -> Result<Markup, PlotError> {
    let svg = chart::throughput(run, direction)?;
    Ok(svg
        .map(|svg| plot(&svg, &throughput_caption(run, direction)))
        .unwrap_or_default())
}

fn throughput_caption(run: &Run, direction: &DirectionFigures) -> String {
    let way = match (run.directions.len(), direction.direction) {
        (0 | 1, _) => "",
        (_, StreamDirection::Sending) => " Sending.",
        (_, StreamDirection::Receiving) => " Receiving.",
    };
    let ours = run
        .streams
        .iter()
        .filter(|stream| stream.direction == direction.direction);
    let ranked = if ours.count() > chart::throughput::BANDS_MAX {
        " Streams of like rank share an area; rank 1 moved the most."
    } else {
        ""
    };
    format!("Throughput over time, stacked by stream.{way}{ranked} The line is the goodput.")
}

/// Commands for other tools, and the kernel settings in their way.
pub fn settings(tune: &Tune) -> Markup {
    let Some(answer) = &tune.answer else {
        return Markup::default();
    };
    html! {
        @if !answer.settings.is_empty() {
            h2 { "Settings to paste" }
            dl.settings {
                @for setting in &answer.settings {
                    dt { (setting.tool) }
                    dd {
                        pre { (setting.command) }
                        @if let Some(note) = &setting.note { p.note { (text::sentence(note)) } }
                    }
                }
            }
        }
        @if !answer.sysctl.is_empty() {
            h3 { "Host limits in the way" }
            dl.settings {
                @for line in &answer.sysctl {
                    dt { (line.key) }
                    dd {
                        p.note { (text::sentence(&text::sysctl(line, tune.target.kind))) }
                        pre { "sysctl -w " (line.key) "=\"" (line.value) "\"" }
                    }
                }
            }
        }
    }
}

/// The cells that every table of runs ends with: goodput, round trip, retransmissions, limit.
pub fn run_cells(run: &Run) -> Markup {
    let added = format::or_absent(run.rtt.added_seconds, format::added_milliseconds);
    html! {
        td.number { (format::rate_with_margin(run.goodput_bits_per_second, run.interval.as_ref())) }
        td.number { (format::or_absent(run.rtt_loaded_seconds(), format::milliseconds)) }
        td.number { (added) }
        td.number { (format::or_absent(run.retransmitted_ratio(), format::percent)) }
        td { (run.limit.map_or(ABSENT, |limit| limit.name())) }
    }
}

/// What the headings of a table mean, below it.
pub fn legend(text: &str) -> Markup {
    html! { p.note { (text) } }
}

/// The headings over [`run_cells`].
pub fn run_headings() -> Markup {
    html! {
        th.number { "goodput" }
        th.number { "RTT loaded [ms]" }
        th.number { "added [ms]" }
        th.number { "resent" }
        th { "limit" }
    }
}
