//! What of the far end's files is missing here. Folders and links are made at once.

use std::sync::Arc;

use copy_protocol::{Kind, Problem, ProblemKind};
use files::source::SourceSpec;
use files::store::{EntryPlan, Rest, Store};
use units::Bytes;

use super::item::Item;
use super::listing::{self, Found};
use super::talk::{Halt, Talk};
use crate::copy_stats::CopyStats;

/// What is to be fetched.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub items: Vec<Arc<Item>>,
}

/// Lists what the sources have, and looks at what is here.
pub(super) fn plan(
    talk: &mut Talk,
    spec: &SourceSpec,
    store: &Store,
    is_dry: bool,
    stats: &mut CopyStats<'_>,
) -> Result<Wanted, Halt> {
    let listing = listing::list(talk, spec)?;
    for problem in listing.left_out {
        stats.on_left_out(problem);
    }
    let mut wanted = Wanted::default();
    for found in listing.found {
        stats.on_entry(&found.entry);
        let (id, plan) = store.add(&found.entry);
        match plan {
            Ok(plan) => wanted.take(id, found, plan, store, is_dry, stats),
            Err(problem) if is_the_end(&problem) => {
                let file = None;
                return Err(Halt::Problem(Problem { file, ..problem }));
            }
            Err(problem) => stats.on_failed(Some(&found.entry), problem),
        }
    }
    stats.on_all_known(0);
    Ok(wanted)
}

fn is_the_end(problem: &Problem) -> bool {
    problem.file.is_none() || problem.kind == ProblemKind::DiskFull
}

impl Wanted {
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
        let size = match entry.kind {
            Kind::File(size) => size,
            _ => 0,
        };
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
