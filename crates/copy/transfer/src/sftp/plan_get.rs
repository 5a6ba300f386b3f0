//! What of the far end's files is missing here. Folders and links are made at once.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use copy_protocol::{CopyOptions, Entry, Filter, Kind, Problem, ProblemKind};
use files::source::SourceSpec;
use files::store::{EntryPlan, Rest, Store};
use units::Bytes;

use super::compare;
use super::item::Item;
use super::listing::{self, Found};
use super::removal_here::Folders;
use super::talk::{Halt, Talk};
use crate::copy_stats::CopyStats;

/// Files that are compared together: each is open here.
const TOGETHER: usize = 256;

/// What is to be fetched.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub items: Vec<Arc<Item>>,
    /// Folders of the sources, where what they lack is removed.
    pub folders: Folders,
}

/// Lists what the sources have, and looks at what is here.
pub(super) fn plan(
    talk: &mut Talk,
    spec: &SourceSpec,
    store: &Store,
    options: &CopyOptions,
    stats: &mut CopyStats<'_>,
) -> Result<Wanted, Halt> {
    let listing = listing::list(talk, spec, options.delete)?;
    for problem in listing.left_out {
        stats.on_left_out(problem);
    }
    let mut wanted = Wanted::default();
    let compares = options.filter == Filter::Content && !store.is_fresh();
    let is_folder = |found: &Found| found.entry.kind == Kind::Folder;
    let mut rest = listing.found.into_iter().peekable();
    let mut equal = VecDeque::new();
    while let Some(first) = rest.next() {
        if options.delete && is_folder(&first) {
            let name = first.entry.name.as_bytes();
            wanted.folders.add(name, &first.path);
        }
        // Folders are made before what is in them is looked at.
        let mut some = vec![first];
        while some.len() < TOGETHER
            && let Some(next) = rest.next_if(|next| !is_folder(next) && !is_folder(&some[0]))
        {
            some.push(next);
        }
        if compares {
            equal = compared(talk, store, &some, stats)?;
        }
        wanted.take_some(some, &mut equal, store, options.dry_run, stats)?;
    }
    stats.on_all_known(0);
    Ok(wanted)
}

/// Whether the very content of each is here. What has its size here is read at the far end.
fn compared(
    talk: &mut Talk,
    store: &Store,
    some: &[Found],
    stats: &CopyStats<'_>,
) -> Result<VecDeque<bool>, Halt> {
    let here: Vec<_> = some
        .iter()
        .map(|it| store.open_of_size(&it.entry))
        .collect();
    let asked = some.iter().zip(&here).filter(|(_, file)| file.is_some());
    let asked = asked.map(|(found, _)| (found.path.clone(), size(&found.entry)));
    let mut digests = compare::digests(talk, &asked.collect::<Vec<_>>())?.into_iter();
    let is_stopped = || stats.is_stopped();
    let is_equal = |(found, file): (&Found, Option<File>)| {
        let Some((file, digest)) = file.and_then(|file| Some((file, digests.next()??))) else {
            return false;
        };
        let read = |at, into: &mut [u8]| file.read_exact_at(into, at).is_ok();
        digest.is_of(size(&found.entry), &read, &is_stopped)
    };
    Ok(some.iter().zip(here).map(is_equal).collect())
}

fn size(entry: &Entry) -> u64 {
    match entry.kind {
        Kind::File(size) => size,
        _ => 0,
    }
}

fn is_the_end(problem: &Problem) -> bool {
    problem.file.is_none() || problem.kind == ProblemKind::DiskFull
}

impl Wanted {
    /// * `equal`: whether the very content of each is here; none where that was not asked.
    fn take_some(
        &mut self,
        some: Vec<Found>,
        equal: &mut VecDeque<bool>,
        store: &Store,
        is_dry: bool,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        for found in some {
            stats.on_entry(&found.entry);
            let is_equal = equal.pop_front().unwrap_or(false);
            let (id, plan) = store.add_compared(&found.entry, is_equal);
            match plan {
                Ok(plan) => self.take(id, found, plan, store, is_dry, stats),
                Err(problem) if is_the_end(&problem) => {
                    let file = None;
                    return Err(Halt::Problem(Problem { file, ..problem }));
                }
                Err(problem) => stats.on_failed(Some(&found.entry), problem),
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        id: u32,
        found: Found,
        plan: EntryPlan,
        store: &Store,
        is_dry: bool,
        stats: &mut CopyStats<'_>,
    ) {
        let Found { entry, path } = found;
        let size = size(&entry);
        match plan {
            EntryPlan::Present => stats.on_present(&entry),
            EntryPlan::Made if is_dry => stats.on_would_copy(&entry, Bytes::ZERO),
            EntryPlan::Made => stats.on_published(&entry, None),
            EntryPlan::Whole | EntryPlan::Rest(_) if is_dry => {
                stats.on_would_copy(&entry, Bytes::new(size));
            }
            EntryPlan::Whole => self.items.push(Arc::new(Item::new(id, entry, size, path))),
            EntryPlan::Rest(rest) => {
                let item = Item::new(id, entry, size, path);
                stats.on_part_present(read_back(&item, &rest, store));
                self.items.push(Arc::new(item));
            }
        }
    }
}

/// What an earlier try noted counts once it was read again. Returns the bytes of that.
fn read_back(item: &Item, rest: &Rest, store: &Store) -> u64 {
    let mut buffer = Vec::new();
    let right = rest
        .noted
        .iter()
        .filter(|piece| store.reads_back(item.id, piece, &mut buffer));
    let counted = right.filter(|piece| item.add(**piece).is_some());
    counted.map(|piece| u64::from(piece.length)).sum()
}
