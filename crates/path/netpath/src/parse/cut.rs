//! Cuts of a link.

use std::ops::RangeInclusive;

use units::Span;

use super::within;
use crate::PathError;
use crate::section::Section;
use crate::spec::Cut;

/// Shorter than a packet takes on most links, a cut is loss; a day is longer than anybody waits for
/// a test.
const LENGTH: RangeInclusive<Span> = Span::from_millis(1)..=DAY;
const DAY: Span = Span::from_secs(24 * 3600);
/// More than one in a while is a link that flaps, which bursty loss describes.
const CUTS_MAX: usize = 100;

const EXAMPLE: &str = "write `cut = [{ at = \"5s\", for = \"60s\" }]`";

/// The cuts of a link, in order.
pub(super) fn cuts(section: &Section) -> Result<Vec<Cut>, PathError> {
    let sections = section.sections("cut")?;
    if sections.len() > CUTS_MAX {
        let problem = format!("{} cuts are more than {CUTS_MAX}", sections.len());
        return Err(section.refuse("cut", problem, "describe short ones as bursty loss"));
    }
    let mut cuts: Vec<Cut> = Vec::new();
    for section in &sections {
        let next = cut(section)?;
        if let Some(before) = cuts.last().filter(|before| before.end() > next.begin()) {
            let problem = format!(
                "a cut at {} begins before the one at {} is over",
                next.at, before.at
            );
            return Err(section.refuse("at", problem, "write them in order, or as one"));
        }
        cuts.push(next);
    }
    Ok(cuts)
}

fn cut(section: &Section) -> Result<Cut, PathError> {
    section.only(&["at", "for"])?;
    let at = section.required("at", EXAMPLE)?;
    let length = section.required("for", EXAMPLE)?;
    let hint = "times count from when the path comes up";
    Ok(Cut {
        at: within(at, Span::ZERO..=DAY, "a cut's beginning", hint)?,
        length: within(length, LENGTH, "a cut", "shorter ones are loss")?,
    })
}
