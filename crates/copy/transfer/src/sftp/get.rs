//! Fetches a part of a file, or all of a small one, from the far end.
//!
//! The far file is looked at before the first byte and after the last: one of another size or time
//! is not the one that was listed. The protocol tells times in whole seconds and nothing else by
//! which a file could be known.

use std::ops::Range;
use std::sync::Arc;

use copy_protocol::sftp::{Open, Reply, Request, StatusCode};
use copy_protocol::{Problem, ProblemKind};
use files::store::Piece;
use files::{PieceHasher, problem, shown, with_hint};

use super::asks::{Asks, Step, Tag};
use super::failure::{odd, refused};
use super::far_name::seconds;
use super::item::Item;
use super::reading::{ReadEnd, Reading};
use super::shared::{Get, Note, Shared, Side};
use super::talk::has_code;

/// The part of a file.
pub(super) struct GetPiece {
    item: Arc<Item>,
    range: Range<u64>,
    reading: Reading,
    handle: Vec<u8>,
    /// Looks at the file that are not answered, and whether the reading has ended.
    looks: usize,
    is_read: bool,
    trouble: Option<Problem>,
}

impl GetPiece {
    pub fn new(item: Arc<Item>, range: Range<u64>) -> Self {
        let length = usize::try_from(range.end - range.start).unwrap_or(0);
        GetPiece {
            reading: Reading::new(range.start, length),
            range,
            item,
            handle: Vec::new(),
            looks: 0,
            is_read: false,
            trouble: None,
        }
    }

    pub fn begin(&mut self, asks: &mut Asks<'_>) -> Step {
        if let Some(handle) = asks.share(self.item.id, &self.item.path, Open::Read) {
            self.opened(&handle, asks);
        }
        Step::Goes
    }

    /// A server that goes by its own position instead of offsets has bytes behind the end, and so
    /// has a file that grows.
    fn opened(&mut self, handle: &[u8], asks: &mut Asks<'_>) {
        self.handle = handle.to_vec();
        asks.send(Tag::Attributes, &Request::FStat(handle));
        self.looks += 1;
        if self.range.end == self.item.size {
            let beyond = Request::Read(handle, self.item.size, 1);
            asks.send(Tag::Beyond, &beyond);
            self.looks += 1;
        }
        self.reading.ask_all(handle, asks);
        self.is_read = self.range.is_empty();
    }

    pub fn on_reply(
        &mut self,
        tag: Tag,
        reply: Reply,
        shared: &Shared,
        asks: &mut Asks<'_>,
    ) -> Step {
        match (tag, &reply) {
            (Tag::Open, Reply::Handle(handle)) => {
                self.opened(handle, asks);
                return Step::Goes;
            }
            (Tag::Open, reply) => {
                shared.fail(&self.item, refused("read", &self.item.path, reply));
                return Step::Done;
            }
            (Tag::Attributes, reply) => {
                self.looks = self.looks.saturating_sub(1);
                self.look(reply);
            }
            (Tag::Beyond, reply) => {
                self.looks = self.looks.saturating_sub(1);
                self.look_beyond(reply);
            }
            (tag, reply) => {
                if let (Tag::Read(..), Reply::Data(bytes)) = (tag, reply) {
                    shared.on_moved(bytes.len() as u64);
                }
                self.read(tag, reply, asks);
            }
        }
        match (self.looks, self.is_read) {
            (0, true) => self.end(shared),
            _ => Step::Goes,
        }
    }

    fn read(&mut self, tag: Tag, reply: &Reply, asks: &mut Asks<'_>) {
        // The last look goes out when the last bytes are there.
        if self.reading.owes_one() {
            asks.send(Tag::Attributes, &Request::FStat(&self.handle));
            self.looks += 1;
        }
        let trouble = match self.reading.on_reply(tag, reply, asks) {
            ReadEnd::Goes => return,
            ReadEnd::Whole => None,
            ReadEnd::Short => Some(changed(&self.item, "became shorter")),
            ReadEnd::Failed(reply) => Some(refused("read", &self.item.path, &reply)),
        };
        self.is_read = true;
        self.trouble = self.trouble.take().or(trouble);
    }

    fn look(&mut self, reply: &Reply) {
        let trouble = match reply {
            Reply::Stat(stat) => {
                let is_same = stat.size == Some(self.item.size)
                    && stat
                        .modified()
                        .is_none_or(|it| it == seconds(&self.item.entry));
                (!is_same).then(|| changed(&self.item, "was written to or replaced"))
            }
            other => Some(refused("look at", &self.item.path, other)),
        };
        self.trouble = self.trouble.take().or(trouble);
    }

    fn look_beyond(&mut self, reply: &Reply) {
        let trouble = match reply {
            Reply::Data(_) => Some(changed(&self.item, "has bytes behind its end, or grew")),
            reply if has_code(reply, StatusCode::End) => None,
            other => Some(refused("read", &self.item.path, other)),
        };
        self.trouble = self.trouble.take().or(trouble);
    }

    fn end(&mut self, shared: &Shared) -> Step {
        let Side::Get(get) = &shared.side else {
            return Step::Done;
        };
        let stored = match self.trouble.take() {
            Some(problem) => Err(problem),
            None if self.item.is_over() => return Step::Done,
            None => self.store(get, shared),
        };
        if let Err(problem) = stored {
            match problem.kind {
                ProblemKind::SourceChanged => get.store.discard(self.item.id),
                _ => get.store.let_go(self.item.id),
            }
            shared.fail(&self.item, problem);
        }
        Step::Done
    }

    fn store(&mut self, get: &Get, shared: &Shared) -> Result<(), Problem> {
        let length = self.range.end - self.range.start;
        if self.item.size == 0 {
            get.publisher
                .take(self.item.id, *blake3::hash(b"").as_bytes());
            return Ok(());
        }
        let mut hasher = PieceHasher::new(self.item.size, self.range.start, length);
        hasher.update(self.reading.bytes());
        let wrong = || odd("read", &self.item.path);
        let piece = Piece {
            offset: self.range.start,
            length: u32::try_from(length).map_err(|_| wrong())?,
            hash: hasher.finish().ok_or_else(wrong)?,
        };
        let id = self.item.id;
        get.store.write(id, piece.offset, self.reading.bytes())?;
        if length < self.item.size {
            get.store.note(id, &piece)?;
        }
        let digest = self.item.add(piece).ok_or_else(wrong)?;
        shared.tell(Note::Arrived(length));
        if let Some(digest) = digest {
            get.publisher.take(id, digest);
        }
        Ok(())
    }
}

fn changed(item: &Item, how: &str) -> Problem {
    let what = format!("`{}` {how} while it was copied", shown(&item.path));
    with_hint(
        problem(ProblemKind::SourceChanged, what),
        "copy it again once nothing writes to it",
    )
}
