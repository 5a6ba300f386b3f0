//! The rate of a link: constant, drawn anew, or recorded.

use units::{Rate, Span};

use super::{RATE_MAX, RATE_MIN, trace, within};
use crate::PathError;
use crate::section::{Field, Section};
use crate::spec::{DrawnRate, Variation};

const EXAMPLE: &str = "add `rate = \"45Mbit/s\"`";
const EVERY: std::ops::RangeInclusive<Span> = Span::from_millis(1)..=Span::from_secs(24 * 3600);

/// A rate, on average, and how it varies.
pub(super) struct LinkRate<'a> {
    pub mean: Field<'a, Rate>,
    pub variation: Option<Variation>,
}

/// The rate of a link: `"45Mbit/s"`, `{ low = ..., high = ..., every = ... }`, or
/// `{ trace = "FILE" }`.
pub(super) fn rate<'a>(section: &Section<'a>) -> Result<LinkRate<'a>, PathError> {
    if section.is_table("rate")
        && let Some(varying) = section.section("rate")?
    {
        return match varying.text("trace")? {
            Some(file) => recorded(&varying, &file),
            None => drawn(&varying),
        };
    }
    let mean = section.required("rate", EXAMPLE)?;
    check(&mean)?;
    Ok(LinkRate {
        mean,
        variation: None,
    })
}

fn recorded<'a>(section: &Section<'a>, file: &Field<'a, &str>) -> Result<LinkRate<'a>, PathError> {
    section.only(&["trace"])?;
    let trace = trace::trace(file, file.file())?;
    let mean = file.with(trace.mean());
    check(&mean)?;
    Ok(LinkRate {
        mean,
        variation: Some(Variation::Recorded(trace)),
    })
}

fn drawn<'a>(section: &Section<'a>) -> Result<LinkRate<'a>, PathError> {
    section.only(&["low", "high", "every", "trace"])?;
    let low = section.required("low", "add the lowest rate, `low = \"20Mbit/s\"`")?;
    let high = section.required("high", "add the highest rate, `high = \"80Mbit/s\"`")?;
    let every = section.required("every", "add how long a rate holds, `every = \"2s\"`")?;
    let (slowest, fastest) = (check(&low)?, check(&high)?);
    if slowest >= fastest {
        let problem = format!("`low` of {slowest} is not below `high` of {fastest}");
        let hint = "write a constant rate as `rate = \"45Mbit/s\"`";
        return Err(low.refuse(problem, hint.to_owned()));
    }
    let drawn = DrawnRate {
        low: slowest,
        high: fastest,
        every: within(every, EVERY, "a time between changes", "check its unit")?,
    };
    Ok(LinkRate {
        mean: high.with(drawn.mean()),
        variation: Some(Variation::Drawn(drawn)),
    })
}

fn check(rate: &Field<Rate>) -> Result<Rate, PathError> {
    let rate = rate.with(rate.value);
    within(rate, RATE_MIN..=RATE_MAX, "a rate", "check its unit")
}
