//! Values of `simulate`.

use std::ops::RangeInclusive;

use observe::Window;
use units::{Bytes, Span};

use super::within;
use crate::simulate::{Class, DURATION_MAX, Variant};

/// Several values of one option, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(
    /// The values.
    pub Vec<T>,
);

/// Reads parts between commas, each of which may stand for several values.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub(super) fn parts<T>(
    text: &str,
    part: impl Fn(&str) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    let lists: Result<Vec<Vec<T>>, String> =
        text.split(',').map(|words| part(words.trim())).collect();
    Ok(lists?.into_iter().flatten().collect())
}

impl<T: PartialEq> List<T> {
    /// The values in the order in which they first came.
    pub fn of(values: Vec<T>) -> Self {
        let mut list = Vec::new();
        for value in values {
            if !list.contains(&value) {
                list.push(value);
            }
        }
        List(list)
    }
}

/// As many as the fluid model is asked for; `sim` takes a tenth. With a bound here, a range cannot
/// fill the memory.
const STREAMS_MAX: u32 = 1_000_000;

/// Numbers of streams to simulate: `8`, `1e6`, `1,2,4` or `1..40`.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn streams(text: &str) -> Result<List<u32>, String> {
    streams_up_to(STREAMS_MAX, text)
}

pub(super) fn streams_up_to(most: u32, text: &str) -> Result<List<u32>, String> {
    let mut counts = parts(text, |part| match part.split_once("..") {
        Some((first, last)) => counts(count(first, most)?, count(last, most)?),
        None => Ok(vec![count(part, most)?]),
    })?;
    counts.sort_unstable();
    counts.dedup();
    Ok(List(counts))
}

fn counts(first: u32, last: u32) -> Result<Vec<u32>, String> {
    match first <= last {
        true => Ok((first..=last).collect()),
        false => Err(format!(
            "the range {first}..{last} runs backwards; write {last}..{first}"
        )),
    }
}

/// More is a slip: the spread of ten thousand runs is known to a hundredth.
const SEEDS: RangeInclusive<u64> = 1..=10_000;

/// How many seeds each setting runs with.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn seeds(text: &str) -> Result<u64, String> {
    let number: u64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of seeds; 5 show how far runs lie apart"))?;
    match SEEDS.contains(&number) {
        true => Ok(number),
        false => Err(format!(
            "{number} seeds are not between {} and {}",
            SEEDS.start(),
            SEEDS.end()
        )),
    }
}

/// What it may be is for `sim` to say.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn segments(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number of segments; Linux has 10"))
}

fn count(text: &str, most: u32) -> Result<u32, String> {
    let text = text.trim();
    let number: Option<f64> = text.parse().ok();
    let whole = number.filter(|number| number.fract() == 0.0 && *number >= 0.0);
    let number = whole
        .ok_or_else(|| format!("`{text}` is not a number of streams; write 8, 1,2,4 or 1..40"))?;
    match (1.0..=f64::from(most)).contains(&number) {
        true => Ok(number as u32),
        false => Err(format!("{number} streams are not between 1 and {most}")),
    }
}

/// Windows of a simulation; a range doubles: `16k..512k`.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn windows(text: &str) -> Result<List<Window>, String> {
    let windows = parts(text, |part| match (part, part.split_once("..")) {
        ("auto", _) => Ok(vec![Window::Auto]),
        (_, Some((first, last))) => doubled(size(first)?, size(last)?),
        (_, None) => Ok(vec![Window::Fixed(size(part)?)]),
    })?;
    Ok(List::of(windows))
}

/// The largest is what Linux's types can hold.
fn size(text: &str) -> Result<Bytes, String> {
    within(text.trim(), Bytes::new(1)..=Bytes::from_mib(2047))
}

fn doubled(first: Bytes, last: Bytes) -> Result<Vec<Window>, String> {
    if first > last {
        return Err(format!(
            "the range {first}..{last} runs backwards; write {last}..{first}"
        ));
    }
    let sizes = std::iter::successors(Some(first), |size| Some(size.times(2)));
    Ok(sizes
        .take_while(|size| *size <= last)
        .map(Window::Fixed)
        .collect())
}

/// How streams find their rate, one or several.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn variants(text: &str) -> Result<List<Variant>, String> {
    let variants = parts(text, |name| {
        let variant: Result<Variant, sim::VariantError> = name.parse();
        variant
            .map(|variant| vec![variant])
            .map_err(|error| error.to_string())
    })?;
    Ok(List::of(variants))
}

/// The class of service of the streams.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn class(text: &str) -> Result<Class, String> {
    text.parse().map_err(|error: netpath::UnknownClass| {
        let known = Class::ALL.map(Class::name).join(", ");
        format!("{error}; known: {known}")
    })
}

/// Simulated time.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn duration(text: &str) -> Result<Span, String> {
    time(text, Span::from_millis(1)..=DURATION_MAX)
}

/// What does not count at the beginning of simulated time.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn warmup(text: &str) -> Result<Span, String> {
    time(text, Span::ZERO..=DURATION_MAX)
}

/// How often the state of a simulation is recorded.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn interval(text: &str) -> Result<Span, String> {
    time(text, Span::from_micros(10)..=DURATION_MAX)
}

/// A time; a bare number means seconds.
fn time(text: &str, bounds: RangeInclusive<Span>) -> Result<Span, String> {
    let seconds = text.parse::<u32>().map(|seconds| format!("{seconds}s"));
    within(seconds.as_deref().unwrap_or(text), bounds)
}

/// Something, and no more than takes days to simulate.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn data(text: &str) -> Result<Bytes, String> {
    within(text, Bytes::new(1)..=Bytes::new(1_000_000_000_000_000))
}
