//! What can be asked for at all.

use super::error::Rule;
use super::{COPY_STREAMS_MAX, require};
use crate::copying::{Opening, PATH_MAX, Way};

/// Most names in an opening.
const PATHS_MAX: usize = 1024;
/// Longest name of an objective or a congestion control, in bytes; Linux's longest is 15.
const WORD_MAX: usize = 32;

/// Whether all parts are within their bounds; what they mean is for others to say.
pub(super) fn check(opening: &Opening) -> Result<(), Rule> {
    let count = opening.paths.len();
    let (range, bound) = match opening.way {
        Way::Put => (1..=1, "a put has one destination"),
        Way::Get => (1..=PATHS_MAX, "a get has 1 to 1024 sources"),
    };
    require(
        range.contains(&count),
        rule("number of names", count, bound),
    )?;
    for path in &opening.paths {
        let fits = path.len() <= PATH_MAX && !path.contains(&0);
        let bound = "a name has at most 4095 bytes, none of them zero";
        require(
            fits,
            rule("name", format!("{} bytes long", path.len()), bound),
        )?;
    }
    let words = [Some(&opening.objective), opening.congestion.as_ref()];
    for word in words.into_iter().flatten() {
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_. ".contains(&byte);
        let fits = word.len() <= WORD_MAX && word.bytes().all(is_fine);
        let bound = "such a name has at most 32 letters, digits, `-`, `_`, dots and spaces";
        let length = format!("{} bytes long", word.len());
        require(fits, rule("objective or congestion control", length, bound))?;
    }
    for streams in [opening.streams, opening.remembered].into_iter().flatten() {
        let fits = (1..=COPY_STREAMS_MAX).contains(&streams);
        require(
            fits,
            rule("number of streams", streams, "a copy has 1 to 1024"),
        )?;
    }
    let rates = [opening.rate_max_bits_per_second, opening.window_bytes];
    let fits = !rates.contains(&Some(0));
    require(fits, rule("rate or window", 0, "leave it out to have none"))
}

fn rule(what: &'static str, value: impl ToString, bound: &'static str) -> Rule {
    Rule::Opening {
        what,
        value: value.to_string(),
        bound,
    }
}
