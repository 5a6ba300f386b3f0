//! Takes up what an earlier try left at the far end.
//!
//! The journal has pieces that were on the far end's disk. They count where the part is there, is
//! long enough, and its first and last of them read back as they were sent.

use std::sync::Arc;

use copy_protocol::sftp::{FarKind, Open, Reply, Request, Stat};
use files::PieceHasher;
use files::store::Piece;

use super::super::failure::refused;
use super::super::item::Item;
use super::super::journal::Journal;
use super::super::talk::{Halt, Talk};
use super::Planner;

/// Returns the bytes that need not be sent.
pub(super) fn take_up(talk: &mut Talk, journal: &Journal, item: &Item) -> Result<u64, Halt> {
    let noted = journal.noted(&item.entry, item.size);
    let by_place = |piece: &&Piece| piece.offset;
    let ends = (
        noted.iter().min_by_key(by_place).copied(),
        noted.iter().max_by_key(by_place).copied(),
    );
    let (Some(first), Some(last)) = ends else {
        return Ok(0);
    };
    let end = last.offset + u64::from(last.length);
    let is_there = match talk.ask(Request::LStat(&item.part))? {
        Reply::Stat(stat) => {
            stat.kind() == Some(FarKind::File) && stat.size.is_some_and(|size| size >= end)
        }
        _ => false,
    };
    if !is_there || !reads_back(talk, item, &first)? || !reads_back(talk, item, &last)? {
        // They were about another part, and would count for the next one.
        journal.void(&item.entry, item.size);
        return Ok(0);
    }
    let counted = noted.iter().filter(|piece| item.add(**piece).is_some());
    Ok(counted.map(|piece| u64::from(piece.length)).sum())
}

/// Makes the parts of large files, once: what opens them later does not, so that one that is gone
/// is noticed and never becomes a file of holes.
pub(super) fn begin_parts(planner: &mut Planner<'_, '_>) -> Result<(), Halt> {
    let items = std::mem::take(&mut planner.to_begin);
    let opens: Vec<_> = items
        .iter()
        .map(|item| Request::Open(&item.part, Open::Make, item.first()))
        .collect();
    let replies = planner.talk.ask_all(&opens)?;
    let mut handles = Vec::new();
    for (item, reply) in items.iter().zip(replies) {
        match reply {
            Reply::Handle(handle) => {
                handles.push(handle);
                planner.plan.items.push(Arc::clone(item));
            }
            reply => {
                let problem = refused("make", &item.path, &reply);
                planner.stats.on_failed(Some(&item.entry), problem);
            }
        }
    }
    let closes: Vec<_> = handles.iter().map(|it| Request::Close(it)).collect();
    planner.talk.ask_all(&closes)?;
    Ok(())
}

fn reads_back(talk: &mut Talk, item: &Item, piece: &Piece) -> Result<bool, Halt> {
    let open = Request::Open(&item.part, Open::Read, Stat::default());
    let Reply::Handle(handle) = talk.ask(open)? else {
        return Ok(false);
    };
    let most = u64::from(talk.channel.server().read_max);
    let end = piece.offset + u64::from(piece.length);
    let starts = (piece.offset..end).step_by(usize::try_from(most).unwrap_or(1));
    let reads = starts.map(|at| Request::Read(&handle, at, (end - at).min(most) as u32));
    let mut requests: Vec<_> = reads.collect();
    requests.push(Request::Close(&handle));
    let replies = talk.ask_all(&requests)?;
    let mut hasher = PieceHasher::new(item.size, piece.offset, piece.length.into());
    for reply in &replies {
        if let Reply::Data(bytes) = reply {
            hasher.update(bytes);
        }
    }
    // A short read leaves bytes out, which makes another hash.
    Ok(hasher.finish() == Some(piece.hash))
}
