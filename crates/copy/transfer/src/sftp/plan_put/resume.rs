//! Takes up what an earlier try left at the far end.
//!
//! The journal has pieces that were on the far end's disk. They count where the part is there, is
//! long enough, and its first and last of them read back as they were sent.

use copy_protocol::sftp::{FarKind, Open, Reply, Request, Stat};
use files::PieceHasher;
use files::store::Piece;

use super::super::item::Item;
use super::super::journal::Journal;
use super::super::talk::{Halt, Talk};

/// Returns the bytes that need not be sent.
pub(super) fn take_up(talk: &mut Talk, journal: &Journal, item: &Item) -> Result<u64, Halt> {
    let noted = journal.noted(&item.entry, item.size);
    let by_place = |piece: &&Piece| piece.offset;
    let (Some(first), Some(last)) = (
        noted.iter().min_by_key(by_place),
        noted.iter().max_by_key(by_place),
    ) else {
        return Ok(0);
    };
    let end = last.offset + u64::from(last.length);
    let is_there = match talk.ask(Request::LStat(&item.part))? {
        Reply::Stat(stat) => {
            stat.kind() == Some(FarKind::File) && stat.size.is_some_and(|size| size >= end)
        }
        _ => false,
    };
    if !is_there || !reads_back(talk, item, first)? || !reads_back(talk, item, last)? {
        return Ok(0);
    }
    let counted = noted.iter().filter(|piece| item.add(**piece).is_some());
    Ok(counted.map(|piece| u64::from(piece.length)).sum())
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
