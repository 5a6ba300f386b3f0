//! Sends a part of a file, or all of a small one, to its part at the far end.
//!
//! The part is opened for it, which takes a round trip where no other task of the connection has
//! it open; all that follows goes out at once. A small file then gets its mode and time, is flushed
//! and named.

use std::ops::Range;
use std::sync::Arc;

use copy_protocol::sftp::{Open, Reply, Request, Space, Stat, StatusCode};
use copy_protocol::{HASH_LENGTH, Problem, ProblemKind};
use files::PieceHasher;
use files::store::Piece;

use super::asks::{Asks, Step, Tag};
use super::compare::CHECKED_MAX;
use super::failure::{full, odd, refused};
use super::far_name::seconds;
use super::item::Item;
use super::naming::{Named, Naming};
use super::shared::{Note, Put, Shared, Side};
use super::talk::{has_code, is_ok};
use super::work::{Job, JobKind};

/// Less room than this is none.
const NO_ROOM: u64 = 1 << 20;

/// The part of a file.
pub(super) struct PutPiece {
    item: Arc<Item>,
    range: Range<u64>,
    /// It is all of the file.
    is_only: bool,
    data: Vec<u8>,
    hash: [u8; HASH_LENGTH],
    /// Pieces that the flush on the way covers.
    covered: Vec<Piece>,
    owed: usize,
    trouble: Option<(Tag, Reply)>,
    naming: Option<Naming>,
    is_unlocked: bool,
}

impl PutPiece {
    /// * `range`: none for all of a file.
    pub fn new(item: Arc<Item>, range: Option<Range<u64>>) -> Self {
        PutPiece {
            is_only: range.is_none(),
            range: range.unwrap_or(0..item.size),
            item,
            data: Vec::new(),
            hash: [0; HASH_LENGTH],
            covered: Vec::new(),
            owed: 0,
            trouble: None,
            naming: None,
            is_unlocked: false,
        }
    }

    pub fn begin(&mut self, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let Some(put) = side(shared) else {
            return Step::Done;
        };
        if let Err(problem) = self.read(put) {
            shared.fail(&self.item, problem);
            return self.clean_up(asks);
        }
        self.open(put, asks)
    }

    fn open(&mut self, put: &Put, asks: &mut Asks<'_>) -> Step {
        let (part, first) = (&self.item.part, self.item.first());
        if self.is_only {
            return asks.open(part, Open::Make, first);
        }
        // It was made when the copy was planned.
        if !is_shared(asks) {
            return asks.open(part, Open::Write, first);
        }
        if let Some(handle) = asks.share(self.item.id, part, Open::Write) {
            self.write(&handle, put, asks);
        }
        Step::Goes
    }

    fn read(&mut self, put: &Put) -> Result<(), Problem> {
        let length = self.range.end - self.range.start;
        self.data.resize(usize::try_from(length).unwrap_or(0), 0);
        let Range { start, .. } = self.range;
        put.source.read(self.item.id, start, &mut self.data)?;
        let mut hasher = PieceHasher::new(self.item.size, start, length);
        hasher.update(&self.data);
        self.hash = match length {
            0 => *blake3::hash(b"").as_bytes(),
            _ => hasher
                .finish()
                .ok_or_else(|| odd("read", &self.item.path))?,
        };
        Ok(())
    }

    pub fn on_reply(
        &mut self,
        tag: Tag,
        reply: Reply,
        shared: &Shared,
        asks: &mut Asks<'_>,
    ) -> Step {
        let Some(put) = side(shared) else {
            return Step::Done;
        };
        match tag {
            Tag::Open => return self.opened(&reply, put, shared, asks),
            Tag::CleanUp => return Step::Done,
            Tag::Unlock => return Step::Goes,
            Tag::Space => return self.judge_space(&reply, shared, asks),
            Tag::Rename | Tag::Remove | Tag::Look => {
                return self.named(tag, &reply, put, shared, asks);
            }
            Tag::Write(bytes) if is_ok(&reply) => shared.on_moved(bytes.into()),
            Tag::Flush if is_ok(&reply) => {
                let pieces = std::mem::take(&mut self.covered);
                put.journal.note(&self.item.entry, self.item.size, &pieces);
            }
            _ => {}
        }
        if !is_ok(&reply) {
            self.trouble.get_or_insert((tag, reply));
        }
        self.owed = self.owed.saturating_sub(1);
        match self.owed {
            0 => self.settle(put, shared, asks),
            _ => Step::Goes,
        }
    }

    fn opened(&mut self, reply: &Reply, put: &Put, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        if let Reply::Handle(handle) = reply {
            self.write(handle, put, asks);
            return Step::Goes;
        }
        if self.is_only && !self.is_unlocked && has_code(reply, StatusCode::Denied) {
            self.is_unlocked = true;
            unlock(&self.item, asks);
            return self.open(put, asks);
        }
        let trying = if self.is_only { "make" } else { "write" };
        shared.fail(&self.item, refused(trying, &self.item.path, reply));
        Step::Done
    }

    fn write(&mut self, handle: &[u8], put: &Put, asks: &mut Asks<'_>) {
        let data = std::mem::take(&mut self.data);
        let most = asks.channel.server().write_max as usize;
        let mut offset = self.range.start;
        for chunk in data.chunks(most.max(1)) {
            let length = chunk.len() as u32;
            self.ask(
                Tag::Write(length),
                &Request::Write(handle, offset, chunk),
                asks,
            );
            offset += u64::from(length);
        }
        let can_flush = asks.channel.server().fsync;
        if self.is_only {
            let stat = attributes(&self.item, put);
            if stat != Stat::default() {
                self.ask(Tag::Attributes, &Request::FSetStat(handle, stat), asks);
            }
        } else if can_flush {
            self.covered = self.item.to_flush();
        }
        if can_flush && (self.is_only || !self.covered.is_empty()) {
            self.ask(Tag::Flush, &Request::FSync(handle), asks);
        }
        if self.is_only || !is_shared(asks) {
            self.ask(Tag::Close, &Request::Close(handle), asks);
        }
    }

    fn ask(&mut self, tag: Tag, request: &Request<'_>, asks: &mut Asks<'_>) {
        self.owed += 1;
        asks.send(tag, request);
    }

    /// All that was asked is answered.
    fn settle(&mut self, put: &Put, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        match &self.trouble {
            Some((Tag::Write(_), reply))
                if asks.channel.server().statvfs && has_code(reply, StatusCode::Failure) =>
            {
                asks.send(Tag::Space, &Request::Space(folder_of(&self.item.part)));
                return Step::Goes;
            }
            Some((tag, reply)) => {
                let problem = refused(trying(*tag), &self.item.path, reply);
                return self.give_up(problem, shared, asks);
            }
            None => {}
        }
        let piece = Piece {
            offset: self.range.start,
            length: u32::try_from(self.range.end - self.range.start).unwrap_or(u32::MAX),
            hash: self.hash,
        };
        let digest = match (self.is_only, self.item.add(piece)) {
            // Where another connection died before it was named, it is there already.
            (true, _) => Some(self.hash),
            (false, Some(digest)) => digest,
            (false, None) => return self.give_up(odd("write", &self.item.path), shared, asks),
        };
        shared.tell(Note::Arrived(self.range.end - self.range.start));
        if digest.is_none() {
            return Step::Done;
        }
        if let Err(problem) = put.source.finished(self.item.id) {
            return self.give_up(problem, shared, asks);
        }
        if self.is_only {
            let (naming, step) = Naming::begin(&self.item, put, asks);
            self.naming = Some(naming);
            return step;
        }
        after_the_last(&self.item, shared);
        Step::Done
    }

    fn named(
        &mut self,
        tag: Tag,
        reply: &Reply,
        put: &Put,
        shared: &Shared,
        asks: &mut Asks<'_>,
    ) -> Step {
        let Some(naming) = &mut self.naming else {
            return Step::Done;
        };
        match naming.on_reply(tag, reply, &self.item, put, asks) {
            Named::Goes => Step::Goes,
            Named::Done => {
                if self.item.end() {
                    shared.tell(Note::Published(self.item.id, self.hash));
                }
                Step::Done
            }
            Named::Failed(problem, true) => {
                shared.fail(&self.item, problem);
                Step::Done
            }
            Named::Failed(problem, false) => self.give_up(problem, shared, asks),
        }
    }

    /// A server says of a full disk no more than that it failed.
    fn judge_space(&mut self, reply: &Reply, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let is_full = |space: &Space| space.free < NO_ROOM || space.files == Some(0);
        let problem = match (Space::decode(reply).filter(is_full), &self.trouble) {
            (Some(space), _) => full(&self.item.path, space.free),
            (None, Some((tag, reply))) => refused(trying(*tag), &self.item.path, reply),
            (None, None) => odd("write", &self.item.path),
        };
        self.give_up(problem, shared, asks)
    }

    fn give_up(&mut self, problem: Problem, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let is_kept = !self.is_only && problem.kind != ProblemKind::SourceChanged;
        shared.fail(&self.item, problem);
        match is_kept {
            true => Step::Done,
            false => self.clean_up(asks),
        }
    }

    fn clean_up(&mut self, asks: &mut Asks<'_>) -> Step {
        asks.send(Tag::CleanUp, &Request::Remove(&self.item.part));
        Step::Goes
    }
}

/// Whether the parts of a file on this connection have one handle. Without a flush it takes each
/// close to tell that what was written is there.
fn is_shared(asks: &Asks<'_>) -> bool {
    asks.channel.server().fsync
}

/// All parts of a file are there: they are read back where that is asked for, and then it is
/// named.
pub(super) fn after_the_last(item: &Arc<Item>, shared: &Shared) {
    let kind = match item.is_checked() {
        false => JobKind::Finish,
        true if shared.check_file && item.size <= CHECKED_MAX => JobKind::Digest,
        true => return read_back(item, shared),
    };
    shared.work.add_first(Job::new(Arc::clone(item), kind));
}

/// All parts of a file are read back.
pub(super) fn read_back(item: &Arc<Item>, shared: &Shared) {
    for piece in item.checks() {
        let job = Job::new(Arc::clone(item), JobKind::Check(piece));
        shared.work.add_first(job);
    }
}

/// What a file gets as its last.
pub(super) fn attributes(item: &Item, put: &Put) -> Stat {
    let modified = seconds(&item.entry);
    Stat {
        size: None,
        mode: item.mode,
        times: put.times.then_some((modified, modified)),
    }
}

pub(super) fn side(shared: &Shared) -> Option<&Put> {
    match &shared.side {
        Side::Put(put) => Some(put),
        Side::Get(_) => None,
    }
}

/// Where another connection died before it named a part, that may have its last mode.
pub(super) fn unlock(item: &Item, asks: &mut Asks<'_>) {
    let stat = Stat {
        mode: Some(0o600),
        ..Stat::default()
    };
    asks.send(Tag::Unlock, &Request::SetStat(&item.part, stat));
}

/// What was tried, for people.
pub(super) fn trying(tag: Tag) -> &'static str {
    match tag {
        Tag::Attributes => "set mode and time of",
        Tag::Flush => "flush",
        _ => "write",
    }
}

fn folder_of(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(at) => &path[..at],
        None => b".",
    }
}
