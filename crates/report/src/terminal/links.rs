//! The books of the links of an emulated path.

use record::{Count, DuplexCounters, Emulation, LinkCounters, LoadCounters};

use super::Paint;
use super::table::{align, empty};
use crate::format;

/// The books of all links, in packets.
pub fn links(emulation: &Emulation, paint: Paint) -> String {
    let mut table = empty(paint);
    table.set_header(LINK_COLUMNS);
    for row in link_rows(emulation) {
        table.add_row(row);
    }
    align(&mut table, 1..LINK_COLUMNS.len());
    table.trim_fmt()
}

/// The columns of a table of links.
pub const LINK_COLUMNS: [&str; 8] = [
    "packets",
    "offered",
    "delivered",
    "dropped",
    "marked",
    "wire loss",
    "in flight",
    "queue peak",
];

/// A row for each link and each load, in the order in which packets to the far host and back pass them.
pub fn link_rows(emulation: &Emulation) -> Vec<[String; 8]> {
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
    let dropped_by_queue =
        load.dropped_queue_full.packets + load.dropped_early.packets + load.dropped_sojourn.packets;
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

/// One link's cells, in the order of [`LINK_COLUMNS`].
fn link_cells(name: &str, counters: &LinkCounters) -> [String; 8] {
    let packets = |count: Count| count.packets.to_string();
    // Whether full, early or late: which one follows from the kind of queue.
    let dropped_by_queue = counters.dropped_queue_full.packets
        + counters.dropped_early.packets
        + counters.dropped_sojourn.packets;
    [
        name.to_owned(),
        packets(counters.offered),
        packets(counters.delivered),
        dropped_by_queue.to_string(),
        packets(counters.marked),
        packets(counters.dropped_wire_loss),
        packets(counters.in_flight),
        format::size(counters.queue_peak_bytes),
    ]
}
