//! High performance throughput, a lecture of about 2001.

mod acceptable;
mod classes;
mod lan;
mod load;
mod others;
mod sites;
mod stacks;
mod upgrades;

use crate::part::SetUpError;
use crate::study::{Left, Study};

pub(crate) fn study() -> Result<Study, SetUpError> {
    Ok(Study {
        name: "lecture",
        title: "High performance throughput",
        source: "Cottrell, SLAC, lecture 5 of the school at Nathiagali, about 2001",
        parts: vec![
            sites::part()?,
            stacks::part()?,
            load::part()?,
            lan::part()?,
            others::part()?,
            classes::part()?,
            upgrades::part()?,
            acceptable::part()?,
            acceptable::times_part(),
        ],
        left: &[Left {
            id: "F2",
            what: "method: a dozen sites over nine months",
            why: "a list, without values; the figures of seven sites follow its method",
        }],
    })
}
