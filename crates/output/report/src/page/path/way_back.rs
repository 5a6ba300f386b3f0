//! Both ways side by side.

use draw::format::{self, ABSENT, or_absent};
use draw::page::{Block, Column, Row, Standing, Table};
use record::Characteristics;
use record::characteristics::{Hop, Trace, TraceProtocol, WayBack};

use crate::text;

/// What the headings mean.
const LEGEND: &str = "link: counted from here. there: the router behind the link, as packets to \
    the far end show it; back: the one before it, as packets from the far end show it. ms: \
    shortest round trip from where the packets start.";

/// A section; nothing where it was not asked for.
pub fn section(body: &Characteristics) -> Vec<Block> {
    let Some(back) = &body.way_back else {
        return Vec::new();
    };
    let udp = |trace: &&Trace| trace.protocol == TraceProtocol::Udp;
    let there = body.traces.iter().find(udp);
    vec![
        Block::heading("The way there and the way back"),
        Block::lead(sentence(there, back)),
        Block::Table(table(there, back)),
        Block::note(LEGEND),
    ]
}

fn sentence(there: Option<&Trace>, back: &WayBack) -> String {
    let hops = back.trace.hops.len() as u64;
    if !back.trace.reached {
        return format!(
            "The way back was seen for {} and then no further: a firewall at this host may drop \
             the server's UDP probes.",
            text::count(hops, "hop")
        );
    }
    let Some(there) = there.filter(|there| there.reached) else {
        let hops = text::count(hops, "hop");
        return format!("The way back has {hops}; the way there is not known.");
    };
    let count = text::count(there.hops.len() as u64, "hop");
    match (back.differs_from, back.same) {
        (Some(from), _) => {
            format!(
                "The way there has {count}, the way back {hops}; they differ from hop {from} on."
            )
        }
        (None, true) => {
            format!("Both ways have {count}, and the same links as far as addresses tell.")
        }
        (None, false) => format!(
            "Both ways have {count}; too few routers answer to tell whether they are the same."
        ),
    }
}

fn table(there: Option<&Trace>, back: &WayBack) -> Table {
    let words = ["link", "there", "ms", "back", "ms"];
    let columns = words.map(|name| match name {
        "ms" => Column::number(name),
        name => Column::words(name),
    });
    let there = there.map(|trace| &trace.hops[..]).unwrap_or_default();
    let back_hops = &back.trace.hops;
    let row = |link: usize| {
        let far = link.checked_sub(1).and_then(|at| there.get(at));
        let near = back_hops.len().checked_sub(link);
        let near = near.and_then(|at| back_hops.get(at));
        let differs = back
            .differs_from
            .is_some_and(|from| link >= usize::from(from));
        Row::new([
            link.to_string(),
            address(far),
            milliseconds(far),
            address(near),
            milliseconds(near),
        ])
        .standing(Standing::chosen(differs))
    };
    let links = there.len().max(back_hops.len());
    Table::new(columns, (1..=links).map(row))
}

fn address(hop: Option<&Hop>) -> String {
    let address = hop.and_then(|hop| hop.addresses.first());
    address.cloned().unwrap_or_else(|| ABSENT.to_owned())
}

fn milliseconds(hop: Option<&Hop>) -> String {
    or_absent(hop.and_then(|hop| hop.min_seconds), format::milliseconds)
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    #[test]
    fn ways_that_differ_are_told_with_their_lengths() {
        let body = synthetic::characteristics().body;
        let blocks = format!("{:?}", section(&body));
        let told = "The way there has 3 hops, the way back 4; they differ from hop 2 on.";
        assert!(blocks.contains(told), "{blocks}");
        let mut back = body.way_back.clone().unwrap();
        (back.differs_from, back.same) = (None, true);
        let same = sentence(body.traces.first(), &back);
        assert!(
            same.starts_with("Both ways have 3 hops, and the same"),
            "{same}"
        );
        back.trace.reached = false;
        assert!(sentence(body.traces.first(), &back).contains("no further"));
    }
}
