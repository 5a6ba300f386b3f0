//! Values of `copy`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use observe::{StreamCount, Window};
use units::{Rate, RateLimit, Span};

use super::{in_bits, window, within};
use crate::copy::ChecksumList;

/// Words of a command, split as a shell would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(
    /// The words.
    pub Vec<String>,
);

/// A host as ssh takes it: `[USER@]HOST`.
///
/// # Errors
/// A sentence when it is a place of files, or none.
pub fn ssh_host(text: &str) -> Result<String, String> {
    let is_host = !text.is_empty() && !text.starts_with('-') && !text.contains([':', '/', ' ']);
    match is_host {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "`{text}` is no host; write `HOST` or `USER@HOST`, or an alias of ssh's configuration"
        )),
    }
}

/// Below this a copy is not worth its connections; above, no host goes.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn rate_within(text: &str) -> Result<Rate, String> {
    let bounds = Rate::from_bits_per_second(64_000)..=Rate::from_bits_per_second(1_000_000_000_000);
    in_bits(text, within(text, bounds))
}

/// A bound on a rate that holds at all times.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn rate_max(text: &str) -> Result<Rate, String> {
    if text.contains('=') {
        return Err(format!(
            "`{text}` is a schedule, and the clock bounds copies alone; write one rate here"
        ));
    }
    or_else(rate_within(text), "leave it out to have no bound")
}

/// The bound on the rate of a copy, which may change with the time of day:
/// `08:00=50M,18:00=none`.
///
/// # Errors
/// A sentence when it is none, or a rate is outside its bounds.
pub fn rate_limit(text: &str) -> Result<RateLimit, String> {
    let limit = RateLimit::read(text, &rate_within);
    or_else(limit, "leave it out to have no bound")
}

/// A list of checksums to be written: `sha256=FILE`.
///
/// # Errors
/// A sentence when it is none.
pub fn checksum_list(text: &str) -> Result<ChecksumList, String> {
    let (name, file) = text.split_once('=').unwrap_or((text, ""));
    let algorithm = super::verify::algorithm(name)?;
    match file {
        "" => Err(format!(
            "`{text}` names no file for the list; write `{algorithm}=FILE`"
        )),
        file => Ok(ChecksumList {
            algorithm,
            file: file.into(),
        }),
    }
}

/// The number of streams of a copy: 1 to 128.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn streams(text: &str) -> Result<StreamCount, String> {
    let count = match text.parse::<u64>() {
        Err(_) => Err(format!("`{text}` is not a number of streams")),
        Ok(_) => text
            .parse()
            .map_err(|error: <StreamCount as FromStr>::Err| error.to_string()),
    };
    or_else(
        count,
        "leave `-P` out to have the number found while the copy runs; a port of ssh (scp's -P) is \
         `-e 'ssh -p PORT'`, \
         and rsync's -P is not needed: progress is shown and what has arrived is kept anyway",
    )
}

/// The socket buffers of a copy.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn buffers(text: &str) -> Result<Window, String> {
    or_else(window(text), "leave `-w` out to have the kernel size them")
}

/// The refusal with what else can be done.
fn or_else<T>(parsed: Result<T, String>, next: &str) -> Result<T, String> {
    parsed.map_err(|refusal| format!("{refusal}; {next}"))
}

/// Less than a millisecond is within the noise of any round trip.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn added_rtt(text: &str) -> Result<Span, String> {
    let asked = within(text, Span::from_millis(1)..=Span::from_secs(1));
    or_else(asked, "`--gentle` alone means 10ms")
}

/// A bare number means seconds, as elsewhere. A week is more than any outage that a user waits
/// for.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn patience(text: &str) -> Result<Span, String> {
    let seconds = text.parse::<u32>().map(|seconds| format!("{seconds}s"));
    let bounds = Span::from_secs(1)..=Span::from_secs(604_800);
    let asked = within(seconds.as_deref().unwrap_or(text), bounds);
    or_else(
        asked,
        "leave `--patience` out to go on trying for ten minutes once the far end was there",
    )
}

/// How long nothing has to change before a copy that goes on ends. Two looks at the sources are
/// 5 s apart, and a week is more than any pause of an instrument.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn idle(text: &str) -> Result<Span, String> {
    let seconds = text.parse::<u32>().map(|seconds| format!("{seconds}s"));
    let bounds = Span::from_secs(10)..=Span::from_secs(604_800);
    let asked = within(seconds.as_deref().unwrap_or(text), bounds);
    or_else(asked, "`--follow` alone goes on until Ctrl-C")
}

/// Ports to listen on: one, or `FIRST-LAST`.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = text.split_once(['-', ':']).unwrap_or((text, text));
    let port = |text: &str| {
        let number = text.trim().parse::<u16>().ok();
        number.filter(|port| *port > 0).ok_or_else(|| {
            format!("`{text}` is not a port from 1 to 65535; a range is written like `50000-50100`")
        })
    };
    let (first, last) = (port(first)?, port(last)?);
    match first <= last {
        true => Ok(first..=last),
        false => Err(format!(
            "the range ends at {last}, below its first port {first}"
        )),
    }
}

/// Words parted by spaces; quotes hold a word together.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn words(text: &str) -> Result<Words, String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for character in text.chars() {
        match quote {
            Some(end) if character == end => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if character == '\'' || character == '"' => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match (quote, words.is_empty()) {
        (Some(quote), _) => Err(format!("a {quote} is never closed in `{text}`")),
        (None, true) => Err("a command is wanted, like `ssh -p 2222`".to_owned()),
        (None, false) => Ok(Words(words)),
    }
}
