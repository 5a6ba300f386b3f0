//! The copies that a shard is made of: one for a shard that goes from here, some for one that
//! another host sends, since a far end takes only so many names at once.

use campaign_plan::{Gentle, Link};
use campaign_store::Entry;
use copy_protocol::LISTED_MAX;
use units::{Rate, RateLimit, Span};

use super::places::{Ends, Here};
use trunkline::Error;
use trunkline::copy::{CopyOptions, CopyRequest, Filter, KNEE, Objective, Selection};
use trunkline::measure::StreamCount;

/// The names of each copy.
pub(super) fn batches(entries: Vec<Entry>, here: &Here) -> Vec<Vec<Entry>> {
    if !here.sends_elsewhere() {
        return vec![entries];
    }
    let (count_max, bytes_max) = LISTED_MAX;
    let mut batches: Vec<Vec<Entry>> = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        bytes += entry.name.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < count_max && bytes <= bytes_max => batch.push(entry),
            _ => {
                bytes = entry.name.len();
                batches.push(vec![entry]);
            }
        }
    }
    batches
}

/// The copy of these entries.
///
/// * `filter`: which files at the destination are left alone.
pub(super) fn request(
    ends: &Ends,
    link: &Link,
    entries: &[Entry],
    filter: Filter,
    rate_max: Option<Rate>,
) -> Result<CopyRequest, Error> {
    let part = entries.first().and_then(|entry| entry.part);
    if part.is_some() && ends.here.folder().is_none() {
        return Err(Error::wrong_request(
            "a part of a file is copied at one of its two hosts, and this machine is neither",
            "run the shard there with `--host`, or plan without `parts`",
        ));
    }
    let options = CopyOptions {
        filter,
        part,
        rate_max: rate_max.map(RateLimit::from),
        ..options(link, entries)?
    };
    let places = [ends.source.clone(), ends.destination.clone()];
    CopyRequest::new(&places, options, ends.access.clone())
}

/// The same that compares what is in the files of both ends and writes nothing.
pub(super) fn comparison(
    ends: &Ends,
    link: &Link,
    entries: &[Entry],
) -> Result<CopyRequest, Error> {
    let options = CopyOptions {
        filter: Filter::Content,
        dry_run: true,
        ..options(link, entries)?
    };
    let places = [ends.source.clone(), ends.destination.clone()];
    CopyRequest::new(&places, options, ends.access.clone())
}

fn options(link: &Link, entries: &[Entry]) -> Result<CopyOptions, Error> {
    let streams = link.streams_each().map(u64::from);
    let streams = streams.map(|each| StreamCount::new(each.min(u64::from(StreamCount::MAX.get()))));
    let streams = streams.transpose().map_err(|error| {
        Error::wrong_request(
            error.to_string(),
            "write fewer `streams` for the link in the plan",
        )
    })?;
    let gentle = gentle(link);
    Ok(CopyOptions {
        selection: Selection {
            rules: Vec::new(),
            listed: Some(entries.iter().map(|entry| entry.name.clone()).collect()),
        },
        streams,
        gentle: gentle.map(|(added, _)| added),
        objective: gentle.map_or(KNEE, |(_, objective)| objective),
        ..CopyOptions::default()
    })
}

fn gentle(link: &Link) -> Option<(Span, Objective)> {
    match link.gentle {
        Gentle::No => None,
        Gentle::Adding(added_rtt_max) => Some((
            added_rtt_max,
            Objective::Gentle {
                added_rtt_max,
                loss_max: Objective::LOSS_MAX,
            },
        )),
    }
}
