//! Packets that are overtaken.

use units::Span;

use super::{DELAY_MAX, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::Reorder;

pub(super) fn reorder(section: &Section) -> Result<Reorder, PathError> {
    section.only(&["rate", "delay"])?;
    let rate = section.probability("rate")?;
    let rate = rate.ok_or_else(|| section.missing("rate", "write 1 % as `rate = 0.01`"))?;
    let delay = section.required("delay", "add how much later they arrive, `delay = \"5ms\"`")?;
    let shortest = Span::from_nanos(1);
    Ok(Reorder {
        rate: rate.value,
        delay: within(delay, shortest..=DELAY_MAX, "a delay", "check its unit")?,
    })
}
