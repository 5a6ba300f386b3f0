//! The page of one search.

use maud::{Markup, html};
use record::{Sample, Tune};

use super::parts::{self, Tile};
use crate::chart::{self, PlotError};
use crate::comparison;
use crate::format;
use crate::text;

pub fn body(tune: &Tune) -> Result<Markup, PlotError> {
    Ok(html! {
        p.lead { (text::recommendation(tune)) }
        (parts::tiles(&tiles(tune)))
        section.why { (parts::sentences(&text::tune(tune))) }
        (curve(tune)?)
        (table(tune))
        (parts::settings(tune))
        (chosen_plots(tune)?)
    })
}

pub fn tiles(tune: &Tune) -> Vec<Tile> {
    let Some(answer) = &tune.answer else {
        return Vec::new();
    };
    let chosen = &answer.recommended;
    let paced = chosen.pacing_bits_per_second;
    let paced = paced.map(|pace| format!(", paced at {}", format::rate(pace)));
    let mut tiles = vec![Tile {
        name: "Streams",
        value: chosen.streams.to_string(),
        note: format!(
            "window {}{}",
            format::window(chosen.window),
            paced.unwrap_or_default()
        ),
    }];
    let run = comparison::tuned_run(tune);
    tiles.extend(run.as_ref().map(parts::run_tiles).unwrap_or_default());
    tiles
}

pub fn curve(tune: &Tune) -> Result<Markup, PlotError> {
    let svg = chart::against_streams(tune)?;
    let caption = "Goodput with its 95 % interval, and what it adds to the round trip, against the number of streams.";
    Ok(parts::plot(&svg, caption))
}

pub fn table(tune: &Tune) -> Markup {
    let usual = tune
        .samples
        .first()
        .and_then(|first| first.run.setting.congestion.as_deref());
    let chosen = tune.answer.as_ref().map(|answer| answer.recommended.sample);
    html! {
        h2 { "What was tried" }
        div.table {
            table {
                thead { tr {
                    th.number { "streams" }
                    th { "window" }
                    (parts::run_headings())
                    th { "why tried" }
                } }
                tbody {
                    @for (index, sample) in tune.samples.iter().enumerate() {
                        (row(sample, Some(index) == chosen, usual))
                    }
                }
            }
        }
        (parts::legend(text::RUNS_LEGEND))
        (parts::sentences(&text::doubts(tune)))
    }
}

fn row(sample: &Sample, chosen: bool, usual: Option<&str>) -> Markup {
    html! {
        tr.chosen[chosen].doubted[sample.doubt.is_some()] {
            td.number { (sample.run.setting.streams) }
            td { (format::window_with(&sample.run.setting, usual)) }
            (parts::run_cells(&sample.run))
            td.text { (text::plain(&sample.why)) }
        }
    }
}

fn chosen_plots(tune: &Tune) -> Result<Markup, PlotError> {
    let Some(sample) = tune.recommended_sample() else {
        return Ok(Markup::default());
    };
    Ok(html! {
        h2 { "The recommended setting at work" }
        (parts::run_plots(&sample.run)?)
    })
}
