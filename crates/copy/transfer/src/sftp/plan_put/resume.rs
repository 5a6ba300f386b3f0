//! Takes up what an earlier try left at the far end.
//!
//! The journal has pieces that were on the far end's disk. They count where the part is there, is
//! long enough, and its first and last of them read back as they were sent.

use std::sync::Arc;

use copy_protocol::sftp::{FarKind, Open, Reply, Request, Stat};
use files::PieceHasher;
use files::store::Piece;

use super::super::failure::refused;
use super::super::item::{Item, SMALL};
use super::super::journal::Journal;
use super::super::talk::{Halt, Talk, open_max};
use super::Planner;

/// Files that are looked at together: of each up to two pieces are read.
const TOGETHER: usize = 8;

/// A file of which something is noted.
struct Noted<'a> {
    item: &'a Item,
    pieces: Vec<Piece>,
    /// The first and the last of them.
    ends: [Piece; 2],
}

/// Says where each file goes: what is there need not be sent.
pub(super) fn take_up(planner: &mut Planner<'_, '_>) -> Result<(), Halt> {
    let items = std::mem::take(&mut planner.new_items);
    let noted: Vec<_> = items
        .iter()
        .filter_map(|item| Noted::of(item, planner.journal))
        .collect();
    for some in noted.chunks(TOGETHER) {
        let right = look_back(planner.talk, some)?;
        for (one, is_right) in some.iter().zip(right) {
            one.settle(is_right, planner.journal);
        }
    }
    drop(noted);
    let small = if planner.options.verify { 0 } else { SMALL };
    for item in items {
        let present = item.present();
        planner.stats.on_part_present(present);
        match item.is_small(small) || present > 0 {
            true => planner.plan.items.push(Arc::new(item)),
            false => planner.to_begin.push(Arc::new(item)),
        }
    }
    Ok(())
}

impl<'a> Noted<'a> {
    fn of(item: &'a Item, journal: &Journal) -> Option<Self> {
        let pieces = journal.noted(&item.entry, item.size);
        let by_place = |piece: &&Piece| piece.offset;
        let ends = [
            *pieces.iter().min_by_key(by_place)?,
            *pieces.iter().max_by_key(by_place)?,
        ];
        Some(Noted { item, pieces, ends })
    }

    /// Whether the part that is there may have them.
    fn fits(&self, look: &Reply) -> bool {
        let [_, last] = self.ends;
        let end = last.offset + u64::from(last.length);
        matches!(look, Reply::Stat(stat) if stat.kind() == Some(FarKind::File)
            && stat.size.is_some_and(|size| size >= end))
    }

    fn settle(&self, is_right: bool, journal: &Journal) {
        if !is_right {
            // They were about another part, and would count for the next one.
            journal.void(&self.item.entry, self.item.size);
            return;
        }
        for piece in &self.pieces {
            // One that does not fit is sent again.
            let _ = self.item.add(*piece);
        }
    }
}

/// Which of them are there as far as their ends show: three round trips for all.
fn look_back(talk: &mut Talk, some: &[Noted<'_>]) -> Result<Vec<bool>, Halt> {
    let looks: Vec<_> = some
        .iter()
        .map(|one| Request::LStat(&one.item.part))
        .collect();
    let looks = talk.ask_all(&looks)?;
    let there = some.iter().zip(&looks).enumerate();
    let there = there.filter(|(_, (one, look))| one.fits(look));
    let there: Vec<_> = there.map(|(at, (one, _))| (at, one)).collect();
    let opens: Vec<_> = there
        .iter()
        .map(|(_, one)| Request::Open(&one.item.part, Open::Read, Stat::default()))
        .collect();
    let opened = talk.ask_all(&opens)?.into_iter().zip(there);
    let opened: Vec<_> = opened
        .filter_map(|(reply, it)| match reply {
            Reply::Handle(handle) => Some((handle, it)),
            _ => None,
        })
        .collect();
    let most = u64::from(talk.channel.server().read_max);
    let reads = opened.iter().flat_map(|(handle, (_, one))| {
        let ends = one.ends.iter();
        ends.flat_map(move |piece| reads(handle, piece, most))
    });
    let reads: Vec<_> = reads.collect();
    let mut replies = talk.ask_all(&reads)?.into_iter();
    let mut right = vec![false; some.len()];
    for (handle, (at, one)) in &opened {
        talk.channel.send_unheard(&Request::Close(handle));
        let mut count = 0;
        for piece in &one.ends {
            let length = reads_of(piece, most);
            let replies = replies.by_ref().take(length);
            count += usize::from(is_right(one.item, piece, replies));
        }
        right[*at] = count == one.ends.len();
    }
    Ok(right)
}

/// Makes the parts of large files, once: what opens them later does not, so that one that is gone
/// is noticed and never becomes a file of holes.
pub(super) fn begin_parts(planner: &mut Planner<'_, '_>) -> Result<(), Halt> {
    let items = std::mem::take(&mut planner.to_begin);
    // Each is open for a moment, and a server bounds that.
    for some in items.chunks(open_max(&planner.talk.channel)) {
        let opens: Vec<_> = some
            .iter()
            .map(|item| Request::Open(&item.part, Open::Make, item.first()))
            .collect();
        let replies = planner.talk.ask_all(&opens)?;
        for (item, reply) in some.iter().zip(replies) {
            let Reply::Handle(handle) = reply else {
                let problem = refused("make", &item.path, &reply);
                planner.stats.on_failed(Some(&item.entry), problem);
                continue;
            };
            match planner.plan.items.is_empty() {
                // Its first bytes need not wait for another one.
                true => planner.plan.opened = Some((item.id, handle)),
                false => planner.talk.channel.send_unheard(&Request::Close(&handle)),
            }
            planner.plan.items.push(Arc::clone(item));
        }
    }
    Ok(())
}

fn reads<'h>(handle: &'h [u8], piece: &Piece, most: u64) -> impl Iterator<Item = Request<'h>> {
    let end = piece.offset + u64::from(piece.length);
    let starts = (piece.offset..end).step_by(usize::try_from(most).unwrap_or(1));
    starts.map(move |at| Request::Read(handle, at, (end - at).min(most) as u32))
}

/// How many requests read it.
fn reads_of(piece: &Piece, most: u64) -> usize {
    usize::try_from(u64::from(piece.length).div_ceil(most)).unwrap_or(0)
}

fn is_right(item: &Item, piece: &Piece, replies: impl Iterator<Item = Reply>) -> bool {
    let mut hasher = PieceHasher::new(item.size, piece.offset, piece.length.into());
    for reply in replies {
        if let Reply::Data(bytes) = reply {
            hasher.update(&bytes);
        }
    }
    // A short read leaves bytes out, which makes another hash.
    hasher.finish() == Some(piece.hash)
}
