//! One direction of a path.

use units::Span;

use super::{DELAY_MAX, RATE_MAX, RATE_MIN, loss, queue, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::{LinkSpec, Loss};

pub(super) fn link(section: &Section, mtu: u16) -> Result<LinkSpec, PathError> {
    section.only(&["rate", "delay", "queue", "loss"])?;
    let rate = section.required("rate", "add `rate = \"45Mbit/s\"`")?;
    let delay = section.required("delay", "add the one-way delay, `delay = \"82.5ms\"`")?;
    let queue = section.required_section(
        "queue",
        "add `queue = { kind = \"drop-tail\", limit = \"128KiB\" }`",
    )?;
    let loss = match section.section("loss")? {
        Some(section) => loss::loss(&section)?,
        None => Loss::None,
    };
    Ok(LinkSpec {
        rate: within(rate, RATE_MIN..=RATE_MAX, "a rate", "check its unit")?,
        delay: within(delay, Span::ZERO..=DELAY_MAX, "a delay", "check its unit")?,
        queue: queue::queue(&queue, mtu)?,
        loss,
    })
}
