//! The traffic of others.

use std::ops::RangeInclusive;

use super::{BUFFER, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::Cross;

/// As many as one measurement may have.
const CROSS_STREAMS: RangeInclusive<i64> = 1..=128;

pub(super) fn cross(section: &Section) -> Result<Cross, PathError> {
    section.only(&["streams", "window"])?;
    let streams = section.integer("streams")?;
    let streams = streams.ok_or_else(|| section.missing("streams", "add `streams = 5`"))?;
    let window = section.required("window", "add `window = \"64KiB\"`")?;
    Ok(Cross {
        streams: within(
            streams,
            CROSS_STREAMS,
            "a stream count",
            "give fewer streams",
        )? as u16,
        window: within(window, BUFFER, "a window", "64KiB is a usual size")?,
    })
}
