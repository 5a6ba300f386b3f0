//! The rate of each hop.

use draw::chart::palette::GREY;
use draw::chart::{BarRow, Chart, Entry, Mark, Panel};
use draw::format::{self, ABSENT, or_absent};
use draw::page::{Block, Column, Row, Standing, Table};
use record::Characteristics;
use record::characteristics::HopCapacity;

/// What the headings mean.
const LEGEND: &str = "From the shortest round trips of packets of 16 sizes (pathchar): what a hop \
    adds for each byte is the rate of its link. 95 %: interval. Switches below IP make the hop \
    behind them look slower.";

/// A section; nothing where it was not asked for.
pub fn section(body: &Characteristics) -> Vec<Block> {
    let hops = &body.hop_capacities;
    if hops.is_empty() {
        return Vec::new();
    }
    let narrowest = narrowest(hops);
    let mut blocks = vec![Block::heading("Capacity of hops, forward")];
    blocks.extend(narrowest.and_then(sentence).map(Block::lead));
    blocks.push(Block::Table(table(hops, narrowest)));
    blocks.push(Block::Sentences(hops.iter().filter_map(unknown).collect()));
    blocks.push(Block::note(LEGEND));
    let what = "The rate of the link to each hop, with its 95 % interval.";
    blocks.extend(chart(hops).map(|chart| Block::figure("hop-capacity", what, chart)));
    blocks
}

/// Of those that can be told.
fn narrowest(hops: &[HopCapacity]) -> Option<&HopCapacity> {
    let known = hops.iter().filter(|hop| hop.rate.is_some());
    known.min_by_key(|hop| hop.rate)
}

fn sentence(hop: &HopCapacity) -> Option<String> {
    Some(format!(
        "The narrowest link that can be told leads to hop {}: {} ({}).",
        hop.distance,
        format::rate(hop.rate?.bits_per_second()),
        interval(hop)?
    ))
}

fn interval(hop: &HopCapacity) -> Option<String> {
    let [low, high] = [hop.low?, hop.high?].map(|end| format::rate(end.bits_per_second()));
    Some(format!("{low} to {high}"))
}

fn table(hops: &[HopCapacity], narrowest: Option<&HopCapacity>) -> Table {
    let words = ["hop", "address"].map(Column::words).into_iter();
    let numbers = ["capacity", "95 %", "answered"].map(Column::number);
    let narrowest = narrowest.map(|hop| hop.distance);
    let row = |hop: &HopCapacity| {
        let is_narrowest = narrowest == Some(hop.distance);
        Row::new([
            hop.distance.to_string(),
            hop.address.clone().unwrap_or_else(|| ABSENT.to_owned()),
            or_absent(hop.rate, |rate| format::rate(rate.bits_per_second())),
            or_absent(interval(hop), |interval| interval),
            format!("{} of {}", hop.answers, hop.probes),
        ])
        .standing(Standing::chosen(is_narrowest))
    };
    Table::new(words.chain(numbers), hops.iter().map(row))
}

fn unknown(hop: &HopCapacity) -> Option<String> {
    let why = hop.unknown_because.as_ref()?;
    Some(format!("Hop {}: {why}.", hop.distance))
}

/// A bar for each hop whose rate is known; `None` where none is.
fn chart(hops: &[HopCapacity]) -> Option<Chart> {
    let rows: Vec<BarRow> = hops.iter().filter_map(bar).collect();
    let legend = vec![Entry::new(Mark::Area(GREY), "capacity, and its interval")];
    (!rows.is_empty()).then(|| Chart {
        legend,
        panels: vec![Panel::Bars(rows)],
    })
}

fn bar(hop: &HopCapacity) -> Option<BarRow> {
    let rate = hop.rate?.bits_per_second();
    let whisker = hop.low.zip(hop.high);
    Some(BarRow {
        name: format!("hop {}", hop.distance),
        bars: vec![(0.0, rate as f64, GREY)],
        whisker: whisker.map(|(low, high)| (low.as_f64(), high.as_f64())),
        mark: None,
        value: format::rate(rate),
    })
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    #[test]
    fn the_narrowest_hop_is_named_and_silence_has_its_reason() {
        let body = synthetic::characteristics().body;
        let blocks = format!("{:?}", section(&body));
        let lead = "The narrowest link that can be told leads to hop 2: 45.0 Mbit/s (40.5 Mbit/s \
                    to 49.5 Mbit/s).";
        assert!(blocks.contains(lead), "{blocks}");
        assert!(
            blocks.contains("Hop 3: round trips do not grow"),
            "{blocks}"
        );
        let without = Characteristics {
            hop_capacities: Vec::new(),
            ..body
        };
        assert!(section(&without).is_empty());
    }
}
