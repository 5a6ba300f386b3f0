//! Throughput to Taiwan, 2006.

mod grid;
mod ways;

use crate::part::SetUpError;
use crate::study::Study;

pub(crate) fn study() -> Result<Study, SetUpError> {
    Ok(Study {
        name: "taiwan",
        title: "Throughput to Taiwan, May 2006",
        source: "Cottrell, SLAC, and Chen, TWAREN, 2006",
        parts: vec![ways::part()?, grid::part()?],
        left: &[],
    })
}
