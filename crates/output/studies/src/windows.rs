//! Bulk throughput: windows against streams, SLAC 2000 and 2001.

mod cycles;
mod duration;
mod grid;
mod products;
mod variability;

use crate::part::SetUpError;
use crate::study::{Left, Study};

/// A simulated host is never too slow: it has no processor to tell of.
const PROCESSOR: &str = "a simulated host has no processor; trunkline sweep HOST draws it of real \
    ones";

pub(crate) fn study() -> Result<Study, SetUpError> {
    Ok(Study {
        name: "windows",
        title: "Bulk thruput: windows vs. streams",
        source: "SLAC IEPM, 2000 and 2001",
        parts: vec![
            cycles::part()?,
            grid::part()?,
            products::part()?,
            variability::part()?,
            duration::part()?,
        ],
        left: &[
            Left {
                id: "F14",
                what: "user and kernel time against throughput",
                why: PROCESSOR,
            },
            Left {
                id: "F15",
                what: "share of a processor against throughput, both ends",
                why: PROCESSOR,
            },
            Left {
                id: "F16",
                what: "throughput against processor time for a fixed product, two durations",
                why: PROCESSOR,
            },
        ],
    })
}
