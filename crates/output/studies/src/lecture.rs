//! High performance throughput, a lecture of about 2001.

mod acceptable;
mod classes;
mod lan;
mod load;
mod others;
mod sites;
mod stacks;

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
            acceptable::part()?,
            acceptable::times_part(),
        ],
        left: &[
            Left {
                id: "F2",
                what: "method: a dozen sites over nine months",
                why: "a list, without values; `sites` here follows its method",
            },
            Left {
                id: "F16",
                what: "sites of BaBar after their links were made faster, 1 to 16 times in a year",
                why: "a history of real links, whose rates before and after are not printed; a \
                    watch would show it",
            },
        ],
    })
}
