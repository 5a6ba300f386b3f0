//! What people write as values of options, with the bounds of each: `10s`, `auto`, `1..20`.
//!
//! The program and other front ends read them here, so that all take the same and refuse the same
//! with the same words. A refusal is a sentence that names the value and the bound.

pub mod copy;
pub mod predict;
pub mod simulate;
pub mod sweep;
pub mod tune;
pub mod verify;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use observe::Window;
use units::{Bytes, Rate, Span};

pub use simulate::List;

use crate::datagrams::DatagramRate;
use crate::login::Padding;

/// A time; a bare number means seconds, as for iperf3.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn duration(text: &str) -> Result<Span, String> {
    // iperf3 counts in whole seconds, and no figure means anything for less; a day is its bound.
    let bounds = Span::from_secs(1)..=Span::from_secs(86_400);
    let seconds = text.parse::<u32>().map(|seconds| format!("{seconds}s"));
    within(seconds.as_deref().unwrap_or(text), bounds)
}

/// A window from one page up to the largest that servers take.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn window(text: &str) -> Result<Window, String> {
    match text {
        "auto" => Ok(Window::Auto),
        size => within(size, Bytes::from_kib(4)..=measure_protocol::WINDOW_MAX).map(Window::Fixed),
    }
}

/// A number of bytes to send: something, and less than a day carries at 100 Gbit/s.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    within(text, Bytes::new(1)..=Bytes::new(1_000_000_000_000_000))
}

/// The size of a block of a foreign program. Less than a packet is no request of bulk data; no
/// program takes more than a gigabyte at once.
///
/// # Errors
/// The value with the bounds, or why it is none.
pub fn block(text: &str) -> Result<Bytes, String> {
    within(text, Bytes::from_kib(1)..=Bytes::from_mib(1024))
}

/// A rate that a packet can still be sent at within a few seconds, and that no host reaches.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn pacing(text: &str) -> Result<Rate, String> {
    let bounds = Rate::from_bits_per_second(10_000)..=Rate::from_bits_per_second(1_000_000_000_000);
    in_bits(text, within(text, bounds))
}

/// A rate of datagrams, with the bounds of [`pacing`], or `find`.
///
/// # Errors
/// A sentence when it is neither, or outside its bounds.
pub fn datagram_rate(text: &str) -> Result<DatagramRate, String> {
    match text {
        "find" => Ok(DatagramRate::Find),
        text => pacing(text).map(DatagramRate::At).map_err(|refusal| {
            format!("{refusal}; `find` looks for the highest rate that the path carries")
        }),
    }
}

/// The refusal of a rate, where it counts bytes with what to write instead.
fn in_bits(text: &str, rate: Result<Rate, String>) -> Result<Rate, String> {
    rate.map_err(|refusal| {
        let size = text.strip_suffix("/s").or(text.strip_suffix("ps"));
        let size = size.unwrap_or(text);
        let bytes = size.parse::<Bytes>().ok().filter(|_| size.ends_with('B'));
        let rate = bytes.map(|bytes| Rate::of(bytes, Span::from_secs(1)).to_string());
        match rate {
            None => refusal,
            Some(rate) => format!(
                "rates are bits per second: {size} a second is written `{}`",
                rate.trim_end_matches("bit/s")
            ),
        }
    })
}

/// How logins of iperf3 are padded.
///
/// # Errors
/// The text, and the names that there are.
pub fn padding(text: &str) -> Result<Padding, String> {
    text.parse()
        .map_err(|error: units::PaddingError| error.to_string())
}

fn within<T>(text: &str, bounds: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr<Err = units::ParseError> + PartialOrd + Display,
{
    let value: T = text.parse().map_err(|error: T::Err| error.to_string())?;
    match bounds.contains(&value) {
        true => Ok(value),
        false => Err(format!(
            "{value} is not between {} and {}",
            bounds.start(),
            bounds.end()
        )),
    }
}
