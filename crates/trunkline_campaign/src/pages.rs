//! Campaigns as people and programs read them.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use campaign_store::{GroupSummary, PlanSummary};
use draw::format::size;
use draw::page::{Block, Column, Page, Row, Table};
use draw::words::count;
use serde::Serialize;
use units::{Rate, Span};

use super::{Campaign, Interval, LinkStatus, ShardLeft, ShardProgress, Status, Verified};
use trunkline::Error;

pub use watch_web::PageServer;

/// Failed shards and different files that are named.
const NAMED: usize = 10;

/// As other programs read it: one line of JSON with a line break at the end.
pub fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// What a plan found.
pub fn summary(summary: &PlanSummary, folder: &Path) -> Page {
    let columns = [
        Column::name("group"),
        Column::number("new"),
        Column::number("changed"),
        Column::number("same"),
        Column::number("gone"),
        Column::number("to copy"),
        Column::number("shards"),
        Column::number("left out"),
    ];
    let row = |group: &GroupSummary| {
        let counts = [group.new, group.changed, group.same, group.gone];
        let mut cells = vec![group.group.to_string()];
        cells.extend(counts.map(|count| count.to_string()));
        cells.push(size(group.bytes));
        cells.extend([group.shards, group.left_out].map(|count| count.to_string()));
        Row::new(cells)
    };
    let mut blocks = vec![Block::Table(Table::new(
        columns,
        summary.groups.iter().map(row),
    ))];
    let folder = folder.display();
    let mut sentences = vec![match summary.plan {
        Some(plan) => {
            format!("Plan {plan} is in {folder}; `trunkline campaign run {folder}` copies it.")
        }
        None => "Nothing is new: everything was planned before.".to_owned(),
    }];
    if let (Some(plan), true) = (summary.plan, any(summary, |group| group.left_out)) {
        let file = format!("{folder}/plans/{plan}/left_out.ndjson");
        sentences.push(format!("What was left out, and why, is in {file}."));
    }
    if any(summary, |group| group.gone) {
        sentences.push("What is gone stays at the destination.".to_owned());
    }
    if any(summary, |group| group.clashes) {
        sentences.push(format!(
            "Names that differ from another one only in case or in the form of their letters: {}. \
             Should the far file system take them for one, write `folds_names = true` for the \
             group.",
            sum(summary, |group| group.clashes)
        ));
    }
    if any(summary, |group| group.linked) {
        sentences.push(format!(
            "Names that share their file with another one: {}. Each becomes a file of its own.",
            sum(summary, |group| group.linked)
        ));
    }
    blocks.push(Block::Sentences(sentences));
    Page::new("campaign-plan", "Plan of a campaign", blocks)
}

fn sum(summary: &PlanSummary, count: impl Fn(&GroupSummary) -> u64) -> u64 {
    summary.groups.iter().map(count).sum()
}

fn any(summary: &PlanSummary, count: impl Fn(&GroupSummary) -> u64) -> bool {
    sum(summary, count) > 0
}

/// Where a campaign stands.
pub fn status(status: &Status, folder: &Path) -> Page {
    let columns = [
        Column::name("link"),
        Column::number("running"),
        Column::number("shards"),
        Column::number("names"),
        Column::number("bytes"),
        Column::number("rate"),
        Column::number("bound"),
        Column::words("limit"),
        Column::number("left"),
    ];
    let rows = status.links.iter().map(link_row);
    let mut blocks = vec![Block::Table(Table::new(columns, rows))];
    let mut sentences = Vec::new();
    if status.is_cancelled {
        sentences.push("It was cancelled: nothing starts any more.".to_owned());
    } else if status.is_paused {
        sentences.push("It is paused: `trunkline campaign resume` goes on.".to_owned());
    }
    for link in &status.links {
        if let Some(quiet) = &link.quiet {
            sentences.push(format!("Link `{}` is {quiet}.", link.link));
        }
    }
    for damage in status.damaged.iter().take(NAMED) {
        sentences.push(format!("{damage}: its shard is run again."));
    }
    if status.superseded > 0 {
        let names = count(status.superseded, "name");
        sentences.push(format!("Later plans have {names} otherwise, or no more."));
    }
    if !status.failed.is_empty() {
        sentences.push(failed(status, folder));
    }
    if status.is_done() {
        sentences.push("All is at its destination.".to_owned());
    }
    if !sentences.is_empty() {
        blocks.push(Block::Sentences(sentences));
    }
    if !status.running.is_empty() {
        blocks.push(Block::heading("Shards that run"));
        blocks.push(running(&status.running));
    }
    if !status.unfinished.is_empty() {
        blocks.push(Block::heading("Shards that are left, and why"));
        blocks.push(unfinished(&status.unfinished));
    }
    if !status.causes.is_empty() {
        let columns = [Column::name("cause"), Column::number("files")];
        let cause = |(kind, count): &(copy_protocol::ProblemKind, u64)| {
            let kind = serde_json::to_value(kind).unwrap_or_default();
            Row::new([
                kind.as_str().unwrap_or("other").to_owned(),
                count.to_string(),
            ])
        };
        blocks.push(Block::heading("Files that failed"));
        blocks.push(Block::Table(Table::new(
            columns,
            status.causes.iter().map(cause),
        )));
    }
    Page::new("campaign-status", "A campaign", blocks)
}

fn running(running: &[ShardProgress]) -> Block {
    let columns = [
        Column::name("shard"),
        Column::number("names done"),
        Column::number("bytes done"),
        Column::number("rate"),
        Column::number("streams"),
        Column::words("limit"),
    ];
    let row = |shard: &ShardProgress| {
        Row::new([
            shard.shard.to_string(),
            shard.done.to_string(),
            size(shard.bytes),
            rate(shard.bits_per_second),
            shard.streams.to_string(),
            shard.limited_by.clone().unwrap_or("-".to_owned()),
        ])
    };
    Block::Table(Table::new(columns, running.iter().map(row)))
}

fn unfinished(left: &[ShardLeft]) -> Block {
    let columns = [
        Column::name("shard"),
        Column::words("since"),
        Column::words("why"),
    ];
    let row = |one: &ShardLeft| {
        let at = jiff::Timestamp::from_second(one.at).unwrap_or_default();
        Row::new([
            one.shard.to_string(),
            at.strftime("%F %H:%MZ").to_string(),
            one.what.clone(),
        ])
    };
    Block::Table(Table::new(columns, left.iter().take(NAMED).map(row)))
}

fn rate(bits: u64) -> String {
    Rate::from_bits_per_second(bits).human().to_string()
}

fn failed(status: &Status, folder: &Path) -> String {
    let shown: Vec<String> = status
        .failed
        .iter()
        .take(NAMED)
        .map(|id| id.to_string())
        .collect();
    let more = status.failed.len().saturating_sub(NAMED);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let folder = folder.display();
    format!(
        "Some files failed in {}{more}; {folder}/runs/SHARD/failed.ndjson lists them, and \
         `trunkline campaign retry {folder}` has them tried again.",
        shown.join(", ")
    )
}

fn link_row(link: &LinkStatus) -> Row {
    let over = link.shards_done + link.shards_failed;
    Row::new([
        link.link.to_string(),
        format!("{} of {}", link.running, link.copies),
        format!("{over} of {}", over + link.shards_left),
        format!("{} of {}", link.names_done, link.names),
        format!("{} of {}", size(link.bytes_done), size(link.bytes)),
        match link.bits_per_second {
            0 => "-".to_owned(),
            bits => rate(bits),
        },
        link.bound_bits_per_second.map_or("-".to_owned(), rate),
        link.limited_by.clone().unwrap_or("-".to_owned()),
        link.left.map_or("-".to_owned(), interval),
    ])
}

fn interval(left: Interval) -> String {
    let text = |seconds: f64| Span::from_secs_f64(seconds).human().to_string();
    let (min, max) = (text(left.seconds_min), text(left.seconds_max));
    match min == max {
        true => min,
        false => format!("{min} to {max}"),
    }
}

/// Serves the page of where a campaign stands, which renews itself while the campaign runs, by
/// whatever engine. It ends with the value.
///
/// # Errors
/// When the address cannot be used.
pub fn serve(campaign: &Campaign, listen: SocketAddr) -> Result<PageServer, Error> {
    let campaign = campaign.clone();
    let make = move || match campaign.status() {
        Ok(status) => Ok(Page {
            title: title(campaign.path()),
            ..self::status(&status, campaign.path())
        }),
        Err(error) => Err(error.what()),
    };
    Ok(PageServer::start(listen, Arc::new(make))?)
}

/// Browsers may show several campaigns.
fn title(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    format!("Campaign {}", name.to_string_lossy())
}

/// What a comparison of both ends found.
pub fn verified(verified: &Verified) -> Page {
    let mut lines = vec![format!(
        "The same content at both ends: {} of {}.",
        count(verified.equal, "file"),
        size(verified.bytes.get())
    )];
    for (names, what) in [
        (&verified.different, "differ, or are at one end alone"),
        (
            &verified.other_digest,
            "are not what was hashed while they were copied",
        ),
    ] {
        if !names.is_empty() {
            let shown = names
                .iter()
                .take(NAMED)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            lines.push(format!("{} {what}: {shown}", names.len()));
        }
    }
    if verified.not_copied > 0 {
        let names = count(verified.not_copied, "name");
        lines.push(format!("Not copied, and so not compared: {names}."));
    }
    if verified.without_content > 0 {
        lines.push(format!(
            "Links and empty folders, which have no content to compare: {}.",
            verified.without_content
        ));
    }
    for (list, digest) in verified.lists.iter().zip(&verified.list_digests) {
        let list = list.display();
        lines.push(format!(
            "`b3sum --check {list}` checks it at either end; its own BLAKE3: {digest}"
        ));
    }
    Page::new(
        "campaign-verified",
        "Both ends of a campaign",
        vec![Block::Sentences(lines)],
    )
}
