//! What a copy did or does, in words for terminals and pages.

use record::Limit;
use record::copy::{Copy, CopyLimit, LimitShare, ProgressLine};
use record::copy::{FileFailure, Outage};

use crate::{format, text};

/// Failures that a text lists; the document has them all.
const FAILURES_MAX: usize = 10;

/// Names of what is left out that a line has.
const LEFT_OUT_MAX: usize = 3;

/// What went where.
pub fn title(copy: &Copy) -> String {
    let sources = match &copy.sources[..] {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first, others @ ..] => format!(
            "{first} and {}",
            text::count(others.len() as u64, "other source")
        ),
    };
    text::plain(&format!("{sources} -> {}", copy.destination))
}

/// Names and values, for the end of a copy.
pub fn facts(copy: &Copy) -> Vec<(&'static str, String)> {
    let facts = [
        Some(match copy.asked.dry_run {
            true => ("would copy", would_copy(copy)),
            false => ("copied", copied(copy)),
        }),
        there(copy).map(|text| ("there", text)),
        holes(copy).map(|text| ("holes", text)),
        hard_links(copy).map(|text| ("hard links", text)),
        removed(copy),
        left_out(copy).map(|text| ("left out", text)),
        network(copy).map(|text| ("network", text)),
        outages(copy).map(|text| ("outages", text)),
    ];
    facts.into_iter().flatten().collect()
}

fn copied(copy: &Copy) -> String {
    let is_nothing = copy.files + copy.folders + copy.links == 0;
    if is_nothing && copy.failed.is_empty() && copy.cut_because.is_none() && copy.sent_bytes == 0 {
        return "nothing: all of it was there".to_owned();
    }
    let mut parts = vec![text::count(copy.files, "file")];
    parts.extend((copy.folders > 0).then(|| text::count(copy.folders, "folder")));
    parts.extend((copy.links > 0).then(|| text::count(copy.links, "link")));
    let sent = format::size(copy.sent_bytes);
    let took = lasting(copy.elapsed_seconds);
    let rate = copy.goodput_bits_per_second.map(format::rate);
    let rate = rate.map(|rate| format!(": {rate}")).unwrap_or_default();
    format!("{}; {sent} in {took}{rate}", parts.join(", "))
}

/// A short time to a tenth, a long one as people say it.
fn lasting(seconds: f64) -> String {
    match seconds {
        short if short < 59.95 => format::time(short),
        long => format::lasting(long),
    }
}

fn would_copy(copy: &Copy) -> String {
    let Some(plan) = &copy.planned else {
        return "nobody knows: it ended before that was known".to_owned();
    };
    let files = plan.files.saturating_sub(copy.skipped_files);
    let bytes = plan.bytes.saturating_sub(plan.present_bytes);
    format!("{}, {}", text::count(files, "file"), format::size(bytes))
}

fn there(copy: &Copy) -> Option<String> {
    let present = copy.planned.map_or(0, |plan| plan.present_bytes);
    match (copy.skipped_files, present) {
        (0, 0) => None,
        (0, bytes) => Some(format!(
            "{} of unfinished files had arrived before",
            format::size(bytes)
        )),
        (files, bytes) => Some(format!(
            "{} there already, {} in all",
            text::count(files, "file"),
            format::size(bytes)
        )),
    }
}

fn holes(copy: &Copy) -> Option<String> {
    let holes = format::size(copy.hole_bytes);
    (copy.hole_bytes > 0).then(|| format!("{holes} of files; they stay holes and were not sent"))
}

fn hard_links(copy: &Copy) -> Option<String> {
    let names = text::count(copy.hard_linked_names.into(), "name");
    let text = format!("{names} shared files at the source; each became a file of its own");
    (copy.hard_linked_names > 0 && !copy.asked.dry_run).then_some(text)
}

/// What went at the destination, or would.
fn removed(copy: &Copy) -> Option<(&'static str, String)> {
    let count = copy.removed?;
    let label = match copy.asked.dry_run {
        true => "to remove",
        false => "removed",
    };
    let text = match (count, copy.failed.is_empty()) {
        (0, false) => "nothing, since not everything could be copied".to_owned(),
        (0, true) => "nothing".to_owned(),
        (count, _) => text::count(count, "name"),
    };
    Some((label, text))
}

/// Few of them are named.
fn left_out(copy: &Copy) -> Option<String> {
    let names = copy.left_out.iter().take(LEFT_OUT_MAX);
    let names: Vec<String> = names.map(|one| text::plain(&one.name)).collect();
    let count = copy.left_out.len() as u64;
    let more = if count > names.len() as u64 {
        ", ..."
    } else {
        ""
    };
    (count > 0).then(|| {
        format!(
            "{count} without content (pipes, sockets, devices): {}{more}",
            names.join(", ")
        )
    })
}

fn network(copy: &Copy) -> Option<String> {
    let again = share(copy.sent_again_bytes, copy.sent_bytes);
    let packed = copy.asked.compress && copy.wire_bytes < copy.sent_bytes;
    let parts = [
        (copy.streams > 0).then(|| streams(copy)),
        copy.rtt_mean_seconds
            .map(|rtt| format!("RTT {} ms", format::milliseconds(rtt))),
        packed.then(|| format!("compressed to {}", format::size(copy.wire_bytes))),
        again.map(|share| format!("{} sent twice", format::percent(share))),
        (copy.streams_replaced > 0).then(|| {
            format!(
                "{} replaced",
                text::count(copy.streams_replaced.into(), "stream")
            )
        }),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// Those that carried most of it, and those of its last moments where they were others.
fn streams(copy: &Copy) -> String {
    let mostly = format!("mostly {}", text::count(copy.streams.into(), "stream"));
    let moving = copy.readings.iter().rev().find(|one| one.streams > 0);
    match moving.filter(|last| last.streams != copy.streams) {
        Some(last) => format!("{mostly}, {} at the end", last.streams),
        None => mostly,
    }
}

/// `None` where it is nothing.
fn share(part: u64, whole: u64) -> Option<f64> {
    (part > 0 && whole > 0).then(|| part as f64 / whole as f64)
}

fn outages(copy: &Copy) -> Option<String> {
    let gone: f64 = copy.outages.iter().map(|one| gone(one, copy)).sum();
    match copy.outages.len() {
        0 => None,
        1 => Some(format!("the far end was gone for {}", lasting(gone))),
        times => Some(format!(
            "the far end was gone {times} times, {} in all",
            lasting(gone)
        )),
    }
}

fn gone(outage: &Outage, copy: &Copy) -> f64 {
    let until = outage.until_seconds.unwrap_or(copy.elapsed_seconds);
    (until - outage.at_seconds).max(0.0)
}

/// What limited it, what to do about it, and why it ended early.
pub fn sentences(copy: &Copy) -> Vec<String> {
    let cut = copy.cut_because.as_deref();
    let cut = cut.map(|why| text::sentence(&format!("it ended early: {why}")));
    // Where nothing was sent nothing limited it.
    let limit = copy.limit.as_ref().filter(|_| copy.sent_bytes > 0);
    let advice = limit.and_then(|limit| limit.advice.as_deref());
    [cut, limit.map(limit_sentence), advice.map(text::sentence)]
        .into_iter()
        .flatten()
        .collect()
}

fn limit_sentence(limit: &CopyLimit) -> String {
    if limit.by == Limit::Several {
        return several(&limit.shares);
    }
    format!(
        "Limited by {} for {} of the time: {}",
        limited_by(limit.by),
        format::percent(limit.share_ratio),
        full_stop(&text::plain(&limit.because))
    )
}

/// The parts that a sentence lists, and the share below which none is worth a word.
const PARTS_MAX: usize = 3;
const PART_MIN: f64 = 0.05;

fn several(shares: &[LimitShare]) -> String {
    let worth_a_word = shares.iter().filter(|part| part.share_ratio >= PART_MIN);
    let part = |part: &LimitShare| {
        let share = format::percent(part.share_ratio);
        format!("{} for {share} of the time", limited_by(part.by))
    };
    let parts: Vec<String> = worth_a_word.take(PARTS_MAX).map(part).collect();
    match parts.is_empty() {
        true => "No single part limited it.".to_owned(),
        false => format!("No single part limited it: {}.", parts.join(", ")),
    }
}

fn full_stop(text: &str) -> String {
    match text.trim_end().ends_with(['.', '!', '?']) {
        true => text.trim_end().to_owned(),
        false => format!("{}.", text.trim_end()),
    }
}

/// What limits a copy, behind "limited by".
pub fn limited_by(by: Limit) -> &'static str {
    match by {
        Limit::Link => "the full link",
        Limit::Host => "the processors of this host",
        Limit::Gentle => "its being gentle",
        Limit::RoundTrips => "round trips to the far end",
        other => text::limit(other),
    }
}

/// How many files and folders were not copied; `None` where all were.
pub fn failures_title(copy: &Copy) -> Option<String> {
    let is_folder = |failure: &&FileFailure| failure.name.ends_with('/');
    let all = copy.failed.len() as u64;
    let folders = copy.failed.iter().filter(is_folder).count() as u64;
    let what = match (all - folders, folders) {
        (0, 0) => return None,
        (files, 0) => text::count(files, "file"),
        (0, folders) => text::count(folders, "folder"),
        (files, folders) => format!(
            "{} and {}",
            text::count(files, "file"),
            text::count(folders, "folder")
        ),
    };
    let were = if all == 1 { "was" } else { "were" };
    Some(format!("{what} {were} not copied"))
}

/// A line for each failure of the first few, and how many more there are.
pub fn failures(copy: &Copy) -> Vec<String> {
    let shown = copy.failed.iter().take(FAILURES_MAX).map(failure);
    let more = copy.failed.len().saturating_sub(FAILURES_MAX);
    let more = (more > 0).then(|| format!("and {more} more; `--json` and `--save` have them all"));
    shown.chain(more).collect()
}

/// One file that was not copied, why, and the next step.
pub fn failure(failure: &FileFailure) -> String {
    let hint = failure.hint.as_deref();
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    let below = match failure.below {
        0 => String::new(),
        1 => ", and what is in it".to_owned(),
        count => format!(", and the {count} things in it"),
    };
    let name = match failure.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    text::plain(&format!("{name}{}{below}{hint}", failure.what))
}

/// How far a copy is, in two parts: what is done, and how it goes.
pub fn progress(line: &ProgressLine) -> (String, String) {
    let total = format::size(line.total_bytes);
    let so_far = if line.total_is_known {
        ""
    } else {
        " found so far"
    };
    let left = line.left_seconds.filter(|_| line.total_is_known);
    let left = left.map(|left| format!(", {} left", format::lasting(left)));
    let done = format!(
        "{} of {total}{so_far}, {} of {}{}",
        format::size(line.done_bytes),
        line.files_done,
        text::count(line.files_total, "file"),
        left.unwrap_or_default()
    );
    let how = [
        Some(format::rate(line.rate_bits_per_second)),
        Some(format!(
            "{} now",
            text::count(line.streams.into(), "stream")
        )),
        line.rtt_seconds
            .map(|rtt| format!("RTT {} ms", format::milliseconds(rtt))),
        line.limited_by
            .map(|by| format!("limited by {}", limited_by(by))),
    ];
    let how: Vec<String> = how.into_iter().flatten().collect();
    (done, how.join(", "))
}

/// Thousandths of the bytes that are done; zero while it is not known how many there are.
///
/// ```
/// use record::copy::ProgressLine;
/// let mut line = ProgressLine {
///     at_seconds: 1.0, done_bytes: 300, total_bytes: 1200, total_is_known: true, files_done: 0, files_total: 1,
///     rate_bits_per_second: 0, streams: 1, rtt_seconds: None, retransmitted_ratio: None, limited_by: None,
///     left_seconds: None,
/// };
/// assert_eq!(report::copied::thousandths(&line), 250);
/// line.total_is_known = false;
/// assert_eq!(report::copied::thousandths(&line), 0);
/// ```
pub fn thousandths(line: &ProgressLine) -> u64 {
    match (line.total_is_known, line.total_bytes) {
        (false, _) => 0,
        (true, 0) => 1000,
        (true, total) => (line.done_bytes.min(total) as f64 / total as f64 * 1000.0) as u64,
    }
}

#[cfg(test)]
mod tests;
