//! The page of a copy.

mod over_time;

use super::multipath;
use crate::text;
use crate::text::copy::{failure, failures_title, limited_by, phase, time_parts};
use draw::chart::palette::BLUE;
use draw::chart::{BarRow, Chart, Panel};
use draw::format;
use draw::page::{Block, Column, Fact, List, Page, Row, Table};
use record::Limit;
use record::copy::{Copy, CopyLimit, CopyPhase, Outage, PairShare, ProblemKind, Step, TimeShare};

/// Failures that a terminal lists; the document has them all.
const FAILURES_MAX: usize = 10;

/// Names of what is left out that a line has.
const LEFT_OUT_MAX: usize = 3;

const COURSE: &str = "Goodput, streams, files that have their names, and the streams' mean round \
                      trip over time. Where the lines break, the far end was gone.";
const TIME: &str = "What the copy's time went to, from its start to its end.";
const THREADS: &str = "What the threads that carry data spent their time on at each end: waiting \
                       for the disk, for the network, and computing or waiting for a \
                       processor. The rest they had nothing to do, or a rate held them.";

pub fn page(copy: &Copy) -> Page {
    let mut blocks = vec![Block::Facts(facts(copy)), Block::Why(sentences(copy))];
    let figures = [
        over_time::course(copy).map(|chart| Block::figure("over-time", COURSE, chart)),
        time_shares(copy).map(|chart| Block::figure("time", TIME, chart)),
        over_time::threads(copy).map(|chart| Block::figure("threads", THREADS, chart)),
    ];
    blocks.extend(figures.into_iter().flatten());
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

/// A bar for each part of its time.
fn time_shares(copy: &Copy) -> Option<Chart> {
    let row = |part: &TimeShare| BarRow {
        name: phase(part.to).to_owned(),
        bars: vec![(0.0, part.share_ratio, BLUE)],
        whisker: None,
        mark: None,
        value: format::percent(part.share_ratio),
    };
    let seen = copy.time.iter().filter(|part| part.share_ratio >= 0.005);
    let rows: Vec<BarRow> = seen.map(row).collect();
    (rows.len() > 1).then(|| Chart {
        legend: Vec::new(),
        panels: vec![Panel::Bars(rows)],
    })
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
        unchanged(copy).map(plain("delta")),
        hard_links(copy).map(plain("hard links")),
        removed(copy).map(|(name, phrase)| Fact::plain(name, phrase)),
        waiting(copy).map(plain("following")),
        left_out(copy).map(plain("left out")),
        unfinished(copy).map(plain("unfinished")),
        place(copy).map(plain("queue")),
        rate_schedule(copy).map(plain("bound")),
        network(copy).map(plain("network")),
        checksum_lists(copy).map(plain("checksums")),
        pairs(copy).map(plain("addresses")),
        copy.mptcp.as_ref().and_then(multipath::fact),
        outages(copy).map(plain("outages")),
        time(copy).map(plain("time")),
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
    let waits = queued(copy) + spent(copy, CopyPhase::Following);
    let took = lasting(copy.elapsed_seconds - waits);
    match copy.goodput_bits_per_second.map(format::rate) {
        Some(rate) => Fact::new("copied", rate).before(format!("{parts}; {sent} in {took}: ")),
        None => Fact::plain("copied", format!("{parts}; {sent} in {took}")),
    }
}

/// How long it waited for a place, or for another copy of the same files.
fn queued(copy: &Copy) -> f64 {
    spent(copy, CopyPhase::Queued)
}

/// Seconds.
fn spent(copy: &Copy, on: CopyPhase) -> f64 {
    let part = copy.time.iter().find(|part| part.to == on);
    part.map_or(0.0, |part| part.share_ratio * copy.elapsed_seconds)
}

/// What a copy that went on while its sources were written did not wait for.
fn waiting(copy: &Copy) -> Option<String> {
    Some(match copy.waiting_files? {
        0 => "no file was new or being written when it ended".to_owned(),
        1 => "1 file was new or being written when it ended, and is not copied".to_owned(),
        count => {
            format!("{count} files were new or being written when it ended, and are not copied")
        }
    })
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
    let size = format::size(present);
    match (copy.skipped_files, present) {
        (0, 0) => None,
        (0, _) => Some(format!("{size} of unfinished files had arrived before")),
        // They may be less than all: parts of unfinished files are there, too.
        (files, _) => Some(format!(
            "{size} there already, {} among them",
            text::count(files, "whole file")
        )),
    }
}

fn holes(copy: &Copy) -> Option<String> {
    let holes = format::size(copy.hole_bytes);
    (copy.hole_bytes > 0).then(|| format!("{holes} of files; they stay holes and were not sent"))
}

/// What need not be sent of files that were there in an older version.
fn unchanged(copy: &Copy) -> Option<String> {
    let unchanged = copy.unchanged_bytes?;
    let (sent, all) = (copy.sent_bytes, copy.sent_bytes.saturating_add(unchanged));
    Some(format!(
        "{} of {} sent; the rest was the same in older versions of the files",
        format::size(sent),
        format::size(all)
    ))
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

fn left_out(copy: &Copy) -> Option<String> {
    let (count, names) = left_out_as(copy, ProblemKind::NoContent)?;
    Some(format!(
        "{count} without content (pipes, sockets, devices): {names}"
    ))
}

fn unfinished(copy: &Copy) -> Option<String> {
    let (count, names) = left_out_as(copy, ProblemKind::Unfinished)?;
    Some(format!(
        "{count} of other copies, which go on when they are given again: {names}; `--delete` \
        removes those that are a day old at the destination, unless that is an SFTP server"
    ))
}

/// How many there are, and the names of a few.
fn left_out_as(copy: &Copy, kind: ProblemKind) -> Option<(usize, String)> {
    let all: Vec<&str> = (copy.left_out.iter())
        .filter(|one| one.kind == kind)
        .map(|one| one.name.as_str())
        .collect();
    let more = if all.len() > LEFT_OUT_MAX {
        ", ..."
    } else {
        ""
    };
    let named = all.iter().take(LEFT_OUT_MAX).copied().collect::<Vec<_>>();
    (!all.is_empty()).then(|| (all.len(), format!("{}{more}", named.join(", "))))
}

fn checksum_lists(copy: &Copy) -> Option<String> {
    let lists = &copy.checksum_lists;
    (!lists.is_empty()).then(|| format!("listed in {}", lists.join(", ")))
}

/// What bound its rate, where that changed with the time of day.
fn rate_schedule(copy: &Copy) -> Option<String> {
    let schedule = copy.asked.rate_schedule.as_ref()?;
    Some(format!(
        "{schedule}, by the clock of the host that began the copy"
    ))
}

fn network(copy: &Copy) -> Option<String> {
    let again = share(copy.sent_again_bytes, copy.sent_bytes);
    let packed = copy.asked.compress && copy.wire_bytes < copy.sent_bytes;
    let parts = [
        (copy.streams > 0 && copy.sent_bytes > 0).then(|| streams(copy)),
        copy.rtt_mean_seconds
            .map(|rtt| format!("RTT {} ms", format::milliseconds(rtt))),
        packed.then(|| format!("compressed to {}", format::size(copy.wire_bytes))),
        again.map(|share| format!("{} given to a second stream", format::percent(share))),
        marked(copy),
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

/// The mean share of segments that came back as marked; `None` where none did.
fn marked(copy: &Copy) -> Option<String> {
    let shares = copy.readings.iter().filter_map(|one| one.mark_echoed_ratio);
    let shares: Vec<f64> = shares.collect();
    let share = stats::mean(&shares).filter(|share| *share > 0.0)?;
    Some(format!(
        "{} of the segments marked (ECN)",
        format::percent(share)
    ))
}

/// What each pair of addresses carried, the one with the most first.
fn pairs(copy: &Copy) -> Option<String> {
    let mut pairs: Vec<&PairShare> = copy.pairs.iter().collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.wire_bytes));
    let shown = |pair: &&PairShare| {
        let share = pair.share_ratio.map(format::percent);
        let share = share.unwrap_or_else(|| "nothing".to_owned());
        let gone = pair.gone_from_seconds.map(|from| {
            let from = lasting(from);
            format!(", gone from {from} on")
        });
        let (pair, gone) = (&pair.addresses, gone.unwrap_or_default());
        format!("{pair} carried {share}{gone}")
    };
    let shown: Vec<String> = pairs.iter().map(shown).collect();
    (!shown.is_empty()).then(|| shown.join("; "))
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

/// Shorter waits are not worth a line.
const QUEUED_MIN: f64 = 1.0;

fn place(copy: &Copy) -> Option<String> {
    let queued = queued(copy);
    (queued >= QUEUED_MIN).then(|| format!("it waited {} for its turn", lasting(queued)))
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

/// What its time went to. Of a copy that was over before anything was seen it says nothing.
fn time(copy: &Copy) -> Option<String> {
    let waits = |part: &TimeShare| {
        let waited = [CopyPhase::Away, CopyPhase::Queued, CopyPhase::Following];
        waited.contains(&part.to)
    };
    let has_flowed = copy.limit.is_some() && copy.sent_bytes > 0;
    let is_told = has_flowed || copy.time.iter().any(waits);
    let parts = time_parts(&copy.time).into_iter();
    let parts = parts.map(|(percent, to)| format!("{percent} % {}", phase(to)));
    let parts: Vec<String> = parts.collect();
    (is_told && !parts.is_empty()).then(|| parts.join(", "))
}

/// What limited it, what to do about it, and why it ended early.
fn sentences(copy: &Copy) -> Vec<String> {
    let cut = copy.cut_because.as_deref();
    let cut = cut.map(|why| text::sentence(&format!("it ended early: {why}")));
    // Where nothing was sent nothing limited it.
    let limit = copy.limit.as_ref().filter(|_| copy.sent_bytes > 0);
    let advice = limit.and_then(|limit| limit.advice.as_deref());
    let limit = limit.map(limit_sentence);
    [cut, limit, advice.map(text::sentence)]
        .into_iter()
        .flatten()
        .collect()
}

/// Below half of its time the limit is that of the data alone.
const MOSTLY: f64 = 0.5;

fn limit_sentence(limit: &CopyLimit) -> String {
    let (by, why) = (limited_by(limit.by), text::full_stop(&limit.because));
    match limit.by {
        Limit::Several => format!("No single part limited it: {why}"),
        _ if limit.share_ratio >= MOSTLY => format!(
            "Limited by {by} for {} of the time: {why}",
            format::percent(limit.share_ratio)
        ),
        _ => format!("While data flowed, it was limited by {by}: {why}"),
    }
}

#[cfg(test)]
mod tests;
