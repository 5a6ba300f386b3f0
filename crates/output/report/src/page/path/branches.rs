//! Ways of equal cost.

use draw::format::{self, ABSENT, or_absent};
use draw::page::{Block, Column, Row, Standing, Table};
use record::Characteristics;
use record::characteristics::{Branch, Branches};

use crate::text;

/// A section; nothing where it was not asked for.
pub fn section(body: &Characteristics) -> Vec<Block> {
    let Some(found) = &body.branches else {
        return Vec::new();
    };
    let mut blocks = vec![Block::heading("Branches of equal cost, forward")];
    blocks.push(Block::lead(lead(found)));
    if found.branches.len() > 1 {
        blocks.push(Block::Table(table(found)));
    }
    blocks.push(Block::Sentences(hops(found)));
    blocks
}

fn lead(found: &Branches) -> String {
    let (all, flows) = (found.branches.len() as u64, u64::from(found.flows));
    let losing = found.branches.iter().filter(|branch| branch.loses());
    let losing = losing.count() as u64;
    let flows = text::count(flows, "flow");
    let counted = found.branches.iter().any(|branch| branch.sent > 0);
    match (all, losing) {
        (0, _) => format!("{flows} met no hop."),
        (1, 0) => format!("{flows} took one way."),
        (1, _) => format!("{flows} took one way, and it loses packets."),
        (_, 0) if counted => format!("{flows} took {all} branches; none loses packets."),
        (_, 0) => format!(
            "{flows} took {all} branches; what they lose is not known, as the far end answers few."
        ),
        _ if all == losing => format!("{flows} took {all} branches, and all lose packets."),
        _ => format!("{losing} of {all} branches lose packets."),
    }
}

/// The routers at which a branch is another than the first, or all of the first.
fn table(found: &Branches) -> Table {
    let differs = |at: usize| {
        let mut names = found.branches.iter().map(|branch| branch.hops.get(at));
        let first = names.next();
        names.any(|name| Some(name) != first)
    };
    let by = |branch: &Branch| {
        let hops = branch.hops.iter().enumerate();
        let own: Vec<&str> = hops
            .filter(|(at, _)| differs(*at))
            .map(|(_, name)| name.as_str())
            .collect();
        match own.is_empty() {
            true => ABSENT.to_owned(),
            false => format::shortened(&own.join(" "), 40),
        }
    };
    let row = |branch: &Branch| {
        let sent = (branch.sent > 0).then_some(f64::from(branch.sent));
        Row::new([
            by(branch),
            branch.ports.len().to_string(),
            or_absent(branch.median_seconds, format::milliseconds),
            or_absent(sent, |sent| format::percent(f64::from(branch.lost) / sent)),
        ])
        .standing(Standing::chosen(branch.loses()))
    };
    let columns = [
        Column::words("by way of"),
        Column::number("flows"),
        Column::number("median [ms]"),
        Column::number("lost"),
    ];
    Table::new(columns, found.branches.iter().map(row))
}

/// Hops with more than one address.
fn hops(found: &Branches) -> Vec<String> {
    let several = found.hops.iter().filter(|hop| hop.addresses.len() > 1);
    let told = several.map(|hop| {
        let (distance, count) = (hop.distance, hop.addresses.len());
        match hop.within_a_flow {
            false => format!("Hop {distance} has {count} addresses, by flow."),
            true => format!(
                "Hop {distance} has {count} addresses, also within one flow: packets are shared \
                 one by one there, or the route changed."
            ),
        }
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    #[test]
    fn branches_that_lose_are_counted_and_hops_with_several_addresses_named() {
        let mut body = synthetic::characteristics().body;
        let blocks = format!("{:?}", section(&body));
        assert!(blocks.contains("1 of 2 branches lose packets."), "{blocks}");
        assert!(
            blocks.contains("Hop 2 has 2 addresses, by flow."),
            "{blocks}"
        );
        body.branches = None;
        assert!(section(&body).is_empty());
    }
}
