//! The page of a copy.

mod over_time;

use record::Limit;
use record::copy::{Copy, CopyLimit, LimitShare, Outage, Step};

use super::{Block, Column, Fact, List, Page, Row, Table};
use crate::text::copy::{failure, failures_title, limited_by};
use crate::{format, text};

/// Failures that a terminal lists; the document has them all.
const FAILURES_MAX: usize = 10;

/// Names of what is left out that a line has.
const LEFT_OUT_MAX: usize = 3;

pub fn page(copy: &Copy) -> Page {
    let mut blocks = vec![Block::Facts(facts(copy)), Block::Why(sentences(copy))];
    let caption = "Rate, streams and their mean round trip over time. Where the lines break, the far end was gone.";
    let chart = over_time::chart(copy);
    blocks.extend(chart.map(|chart| Block::figure("over-time", caption, chart)));
    blocks.push(Block::wide(
        steps(&copy.steps).into_iter().chain(gaps(&copy.outages)),
    ));
    blocks.extend(failures(copy));
    Page {
        is_compact: true,
        ..Page::new("copy", title(copy), blocks)
    }
}

/// What went where.
fn title(copy: &Copy) -> String {
    let sources = match &copy.sources[..] {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first, others @ ..] => format!(
            "{first} and {}",
            text::count(others.len() as u64, "other source")
        ),
    };
    format!("{sources} -> {}", copy.destination)
}

/// How the number of streams changed.
fn steps(steps: &[Step]) -> Vec<Block> {
    let columns = [
        Column::number("at [s]"),
        Column::number("streams"),
        Column::text("why"),
    ];
    let row = |step: &Step| {
        let (at, streams) = (format!("{:.1}", step.at_seconds), step.streams.to_string());
        Row::new([at, streams, text::sentence(&step.because)])
    };
    let table = Table::new(columns, steps.iter().map(row));
    titled("How the number of streams changed", table)
}

/// When the far end was gone.
fn gaps(outages: &[Outage]) -> Vec<Block> {
    let columns = [
        Column::number("from [s]"),
        Column::number("to [s]"),
        Column::text("what was seen"),
    ];
    let row = |outage: &Outage| {
        let until = format::or_absent(outage.until_seconds, |until| format!("{until:.1}"));
        let from = format!("{:.1}", outage.at_seconds);
        Row::new([from, until, text::sentence(&outage.because)])
    };
    let table = Table::new(columns, outages.iter().map(row));
    titled("When the far end was gone", table)
}

/// Nothing without rows.
fn titled(title: &str, table: Table) -> Vec<Block> {
    match table.rows.is_empty() {
        true => Vec::new(),
        false => vec![Block::heading(title), Block::Table(table)],
    }
}

fn failures(copy: &Copy) -> Vec<Block> {
    let Some(title) = failures_title(copy) else {
        return Vec::new();
    };
    let items = copy.failed.iter().map(failure).collect();
    let shown = FAILURES_MAX;
    vec![
        Block::heading(format!("{title}:")),
        Block::List(List { items, shown }),
    ]
}

/// The figures at the end of a copy.
fn facts(copy: &Copy) -> Vec<Fact> {
    let plain = |name: &'static str| move |phrase: String| Fact::plain(name, phrase);
    let facts = [
        Some(match copy.asked.dry_run {
            true => would_copy(copy),
            false => copied(copy),
        }),
        there(copy).map(plain("there")),
        holes(copy).map(plain("holes")),
        hard_links(copy).map(plain("hard links")),
        removed(copy).map(|(name, phrase)| Fact::plain(name, phrase)),
        left_out(copy).map(plain("left out")),
        network(copy).map(plain("network")),
        outages(copy).map(plain("outages")),
    ];
    facts.into_iter().flatten().collect()
}

fn copied(copy: &Copy) -> Fact {
    let is_nothing = copy.files + copy.folders + copy.links == 0;
    if is_nothing && copy.failed.is_empty() && copy.cut_because.is_none() && copy.sent_bytes == 0 {
        return Fact::plain("copied", "nothing: all of it was there");
    }
    let mut parts = vec![text::count(copy.files, "file")];
    parts.extend((copy.folders > 0).then(|| text::count(copy.folders, "folder")));
    parts.extend((copy.links > 0).then(|| text::count(copy.links, "link")));
    let parts = parts.join(", ");
    let sent = format::size(copy.sent_bytes);
    let took = lasting(copy.elapsed_seconds);
    match copy.goodput_bits_per_second.map(format::rate) {
        Some(rate) => Fact::new("copied", rate).before(format!("{parts}; {sent} in {took}: ")),
        None => Fact::plain("copied", format!("{parts}; {sent} in {took}")),
    }
}

/// A short time to a tenth, a long one as people say it.
fn lasting(seconds: f64) -> String {
    match seconds {
        short if short < 59.95 => format::time(short),
        long => format::lasting(long),
    }
}

fn would_copy(copy: &Copy) -> Fact {
    let Some(plan) = &copy.planned else {
        return Fact::plain(
            "would copy",
            "not known: it ended before all names were seen",
        );
    };
    let files = plan.files.saturating_sub(copy.skipped_files);
    let bytes = plan.bytes.saturating_sub(plan.present_bytes);
    Fact::new("would copy", text::count(files, "file")).after(format!(", {}", format::size(bytes)))
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
    let names: Vec<String> = names.map(|one| one.name.clone()).collect();
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
        again.map(|share| format!("{} given to a second stream", format::percent(share))),
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
fn sentences(copy: &Copy) -> Vec<String> {
    let cut = copy.cut_because.as_deref();
    let cut = cut.map(|why| text::sentence(&format!("it ended early: {why}")));
    // Where nothing was sent nothing limited it.
    let limit = copy.limit.as_ref().filter(|_| copy.sent_bytes > 0);
    let advice = limit.and_then(|limit| limit.advice.as_deref());
    let limit = limit.map(|limit| limit_sentence(limit, away_sentence(copy)));
    [cut, limit, advice.map(text::sentence)]
        .into_iter()
        .flatten()
        .collect()
}

/// How long the far end was gone, where that is a share of the copy worth a word: what limited it
/// is known only of the rest.
fn away_sentence(copy: &Copy) -> Option<String> {
    let gone: f64 = copy.outages.iter().map(|one| gone(one, copy)).sum();
    let share = gone / copy.elapsed_seconds;
    (share >= AWAY_MIN).then(|| {
        format!(
            "The far end was gone for {} of the time. Of the rest: ",
            format::percent(share)
        )
    })
}

fn limit_sentence(limit: &CopyLimit, away: Option<String>) -> String {
    let away = away.unwrap_or_default();
    if limit.by == Limit::Several {
        return format!("{away}{}", several(&limit.shares));
    }
    format!(
        "{away}Limited by {} for {} of the time: {}",
        limited_by(limit.by),
        format::percent(limit.share_ratio),
        text::full_stop(&limit.because)
    )
}

/// The parts that a sentence lists, and the share below which none is worth a word.
const PARTS_MAX: usize = 3;
const PART_MIN: f64 = 0.05;
/// Shorter outages stand among the facts alone.
const AWAY_MIN: f64 = 0.25;

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

#[cfg(test)]
mod tests;
