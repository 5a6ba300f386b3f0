//! The page of one measurement.

use maud::{Markup, html};
use record::{Measure, Run, Stream};

use super::parts::{self, Tile};
use crate::chart::PlotError;
use crate::format;
use crate::text;

pub fn body(measure: &Measure) -> Result<Markup, PlotError> {
    let run = &measure.run;
    let mut tiles = parts::run_tiles(run);
    tiles.push(processor_tile(run));
    Ok(html! {
        p.setting { (text::setting(&run.setting)) (congestion(run)) }
        (parts::tiles(&tiles))
        section.why { (parts::sentences(&text::measure(measure))) }
        (parts::run_plots(run)?)
        (streams(run))
    })
}

fn congestion(run: &Run) -> String {
    let used = run.congestion_used.as_deref();
    used.map(|name| format!(", {name}")).unwrap_or_default()
}

fn processor_tile(run: &Run) -> Tile {
    let near = run.cpu.near.as_ref();
    let total = near.and_then(|near| Some(near.user_ratio? + near.kernel_ratio?));
    let kernel = near.and_then(|near| near.kernel_ratio);
    Tile {
        name: "Processor here",
        value: format::or_absent(total, format::percent),
        note: kernel
            .map(|share| format!("of one; kernel {}", format::percent(share)))
            .unwrap_or_default(),
    }
}

fn streams(run: &Run) -> Markup {
    html! {
        details open[run.streams.len() <= 16] {
            summary { "Streams (" (run.streams.len()) ")" }
            div.table {
                table {
                    thead { tr {
                        th.number { "stream" }
                        th.number { "goodput" }
                        th.number { "delivered" }
                        th.number { "segments resent" }
                        th.number { "TCP's RTT [ms]" }
                    } }
                    tbody { @for stream in &run.streams { (row(stream)) } }
                }
            }
        }
    }
}

fn row(stream: &Stream) -> Markup {
    let rtt = stream.tcp.last().and_then(|sample| sample.rtt);
    html! {
        tr {
            td.number { (stream.number) }
            td.number { (format::or_absent(stream.goodput_bits_per_second, format::rate)) }
            td.number { (format::size(stream.delivered_bytes)) }
            td.number { (format::or_absent(stream.retransmits, |n| n.to_string())) }
            td.number { (format::or_absent(rtt, format::milliseconds)) }
        }
    }
}
