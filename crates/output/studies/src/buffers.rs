//! Buffer sizes against parallel streams, DADC 2009.

mod curves;
mod dumbbell;
mod fast;

use crate::part::SetUpError;
use crate::study::{Left, Study};

pub(crate) fn study() -> Result<Study, SetUpError> {
    Ok(Study {
        name: "buffers",
        title: "Balancing TCP buffer size vs parallel streams in application-level throughput \
            optimization",
        source: "Yildirim, Yin, Kosar, DADC 2009",
        parts: vec![curves::part()?, dumbbell::part()?, fast::part()?],
        left: &[Left {
            id: "F5",
            what: "combined optimisation",
            why: "the slide has only a title; F9 and F10 are what it announces",
        }],
    })
}
