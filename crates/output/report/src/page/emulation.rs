//! The page of programs run across an emulated path: the books of its links, in packets.

use draw::format;
use draw::page::{Block, Column, Page, Row, Table};
use record::{Count, DuplexCounters, Emulation, LinkCounters, LoadCounters};

pub fn page(emulation: &Emulation) -> Page {
    let columns = COLUMNS.map(|heading| match heading {
        "packets" => Column::words(heading),
        heading => Column::number(heading),
    });
    let table = Table::new(columns, rows(emulation).into_iter().map(Row::new));
    Page::new("emulate", &emulation.path, vec![Block::Table(table)])
        .subtitled(&emulation.path_description)
}

/// The columns of a table of links.
const COLUMNS: [&str; 8] = [
    "packets",
    "offered",
    "delivered",
    "dropped",
    "marked",
    "wire loss",
    "in flight",
    "queue peak",
];

/// A row for each link and each load, in the order in which packets to the far host and back pass
/// them.
fn rows(emulation: &Emulation) -> Vec<[String; 8]> {
    let (before, beyond) = (&emulation.before, &emulation.beyond);
    let outer = |place, links: &[DuplexCounters], forward: bool| -> Vec<(String, LinkCounters)> {
        let way = |link: &DuplexCounters| if forward { link.forward } else { link.reverse };
        let links = (1..).zip(links);
        links
            .map(|(number, link)| (format!("{place} {number}"), way(link)))
            .collect()
    };
    let mut rows = outer("before", before, true);
    rows.push(("forward".to_owned(), emulation.forward));
    rows.extend(outer("beyond", beyond, true));
    rows.extend(outer("beyond", beyond, false).into_iter().rev());
    rows.push(("reverse".to_owned(), emulation.reverse));
    rows.extend(outer("before", before, false).into_iter().rev());
    let cells = |(name, counters): &(String, LinkCounters)| {
        let load = counters.load.as_ref().map(load_cells);
        std::iter::once(link_cells(name, counters)).chain(load)
    };
    rows.iter().flat_map(cells).collect()
}

/// The cells of others' load on the link above.
fn load_cells(load: &LoadCounters) -> [String; 8] {
    let packets = |count: Count| count.packets.to_string();
    let dropped_by_queue = load.dropped_queue_full.packets
        + load.dropped_early.packets
        + load.dropped_sojourn.packets
        + load.dropped_policed.packets;
    [
        "  load".to_owned(),
        packets(load.offered),
        packets(load.delivered),
        dropped_by_queue.to_string(),
        String::new(),
        packets(load.dropped_wire_loss),
        packets(load.in_flight),
        String::new(),
    ]
}

/// One link's cells, in the order of [`COLUMNS`].
fn link_cells(name: &str, counters: &LinkCounters) -> [String; 8] {
    let packets = |count: Count| count.packets.to_string();
    // Whether full, early, late or policed: which one follows from the path file.
    let dropped = counters.dropped_queue_full.packets
        + counters.dropped_early.packets
        + counters.dropped_sojourn.packets
        + counters.dropped_policed.packets;
    [
        name.to_owned(),
        packets(counters.offered),
        packets(counters.delivered),
        dropped.to_string(),
        packets(counters.marked),
        packets(counters.dropped_wire_loss),
        packets(counters.in_flight),
        format::size(counters.queue_peak_bytes),
    ]
}
