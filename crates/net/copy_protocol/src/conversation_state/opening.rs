//! What can be asked for at all.

use super::error::ProtocolRule;
use super::{COPY_STREAMS_MAX, require};
use crate::{CopyDirection, Opening, PAIRS_MAX, PATH_MAX};

/// Most names in an opening.
const PATHS_MAX: usize = 1024;
/// Most rules of a selection, and most bytes of their patterns together.
const RULES_MAX: (usize, usize) = (1024, 64 << 10);
/// Most names that a far end is told to copy, and most of their bytes together: an opening is one
/// message.
pub const LISTED_MAX: (usize, usize) = (8192, 160 << 10);
/// Longest name of an objective or a congestion control, in bytes; Linux's longest is 15.
const WORD_MAX: usize = 32;

/// Whether all parts are within their bounds; what they mean is for others to say.
///
/// # Errors
/// The first part that is not.
pub fn check(opening: &Opening) -> Result<(), ProtocolRule> {
    let count = opening.paths.len();
    let (range, bound) = match opening.direction {
        CopyDirection::Put => (1..=1, "a put has one destination"),
        CopyDirection::Get => (1..=PATHS_MAX, "a get has 1 to 1024 sources"),
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
    selection(opening)?;
    let words = [
        Some(&opening.objective),
        opening.congestion.as_ref().map(|one| &one.name),
    ];
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
    require(
        opening.pairs <= PAIRS_MAX,
        rule(
            "number of pairs of addresses",
            opening.pairs,
            "a copy has at most 16",
        ),
    )?;
    part(opening)?;
    let rates = [opening.rate_max_bits_per_second, opening.window_bytes];
    let fits = !rates.contains(&Some(0));
    require(fits, rule("rate or window", 0, "leave it out to have none"))
}

/// The rest of the file is another copy's, so that nothing is done with all of it.
fn part(opening: &Opening) -> Result<(), ProtocolRule> {
    let Some(part) = opening.part else {
        return Ok(());
    };
    let bound = "a part has 64 MiB to 1 PiB, a power of two";
    require(
        part.is_legal(),
        rule("length of a part", part.length, bound),
    )?;
    let is_alone = !opening.delete
        && !opening.dry_run
        && !opening.verify
        && !opening.delta
        && !opening.attributes.kept.any();
    let bound = "it goes with none of delete, dry run, verify, delta and kept attributes";
    require(is_alone, rule("part of a file", part.index, bound))
}

fn selection(opening: &Opening) -> Result<(), ProtocolRule> {
    let selection = &opening.selection;
    let patterns = selection.rules.iter().map(|rule| rule.pattern.as_bytes());
    let bound = "a copy has at most 1024 rules, of 64 KiB together";
    within(patterns, RULES_MAX, "number of rules", bound)?;
    let Some(listed) = &selection.listed else {
        return Ok(());
    };
    let names = listed.iter().map(Vec::as_slice);
    let bound = "a far end takes at most 8192 names of a list, of 160 KiB together";
    within(names, LISTED_MAX, "number of listed names", bound)?;
    let is_alone = opening.paths.len() == 1 && !opening.delete;
    let bound = "a list goes with one source, and without `--delete`";
    require(is_alone, rule("list of names", listed.len(), bound))
}

/// No more texts than that, of no more bytes together, each of them one that can be a name.
fn within<'a>(
    texts: impl Iterator<Item = &'a [u8]>,
    (count_max, bytes_max): (usize, usize),
    what: &'static str,
    bound: &'static str,
) -> Result<(), ProtocolRule> {
    let (mut count, mut bytes) = (0, 0);
    for text in texts {
        (count, bytes) = (count + 1, bytes + text.len());
        let fits = count <= count_max && bytes <= bytes_max;
        let is_name = (1..=PATH_MAX).contains(&text.len()) && !text.contains(&0);
        require(fits && is_name, rule(what, count, bound))?;
    }
    Ok(())
}

fn rule(what: &'static str, value: impl ToString, bound: &'static str) -> ProtocolRule {
    ProtocolRule::Opening {
        what,
        value: value.to_string(),
        bound,
    }
}
