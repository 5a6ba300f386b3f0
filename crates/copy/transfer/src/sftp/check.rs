//! Reads a part of a file back from the far end, and compares it with what was sent.

use std::sync::Arc;

use copy_protocol::ProblemKind;
use copy_protocol::sftp::{Open, Reply, Request};
use files::store::Piece;
use files::{PieceHasher, problem, shown, with_hint};

use super::asks::{Asks, Step, Tag};
use super::failure::refused;
use super::item::Item;
use super::put::side;
use super::reading::{ReadEnd, Reading};
use super::shared::Shared;
use super::work::{Job, JobKind};

/// One piece.
pub(super) struct Check {
    item: Arc<Item>,
    piece: Piece,
    reading: Reading,
}

impl Check {
    pub fn new(item: Arc<Item>, piece: Piece) -> Self {
        let reading = Reading::new(piece.offset, piece.length as usize);
        Check {
            item,
            piece,
            reading,
        }
    }

    pub fn begin(&mut self, asks: &mut Asks<'_>) -> Step {
        if let Some(handle) = asks.share(self.item.id, &self.item.part, Open::Read) {
            self.reading.ask_all(&handle, asks);
        }
        Step::Goes
    }

    pub fn on_reply(
        &mut self,
        tag: Tag,
        reply: Reply,
        shared: &Shared,
        asks: &mut Asks<'_>,
    ) -> Step {
        if let (Tag::Open, Reply::Handle(handle)) = (tag, &reply) {
            self.reading.ask_all(handle, asks);
            return Step::Goes;
        }
        if tag == Tag::CleanUp {
            return Step::Done;
        }
        if tag == Tag::Open {
            shared.fail(&self.item, refused("read back", &self.item.path, &reply));
            return Step::Done;
        }
        match self.reading.on_reply(tag, &reply, asks) {
            ReadEnd::Goes => Step::Goes,
            ReadEnd::Failed(reply) => {
                shared.fail(&self.item, refused("read back", &self.item.path, &reply));
                Step::Done
            }
            ReadEnd::Whole | ReadEnd::Short => self.judge(shared, asks),
        }
    }

    fn judge(&self, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let Piece { offset, length, .. } = self.piece;
        let mut hasher = PieceHasher::new(self.item.size, offset, length.into());
        hasher.update(self.reading.bytes());
        if hasher.finish() == Some(self.piece.hash) {
            if self.item.checked() {
                let job = Job::new(Arc::clone(&self.item), JobKind::Finish);
                shared.work.add_first(job);
            }
            return Step::Done;
        }
        corrupt(&self.item, shared, asks)
    }
}

/// What is there is not what was sent.
pub(super) fn corrupt(item: &Item, shared: &Shared, asks: &mut Asks<'_>) -> Step {
    let what = format!(
        "`{}` reads back from the far end as something else",
        shown(&item.path)
    );
    let hint = "the disk or memory of that host may be failing; copy it again";
    shared.fail(item, with_hint(problem(ProblemKind::Corrupt, what), hint));
    // The next copy does not build on it.
    if let Some(put) = side(shared) {
        put.journal.void(&item.entry, item.size);
    }
    asks.send(Tag::CleanUp, &Request::Remove(&item.part));
    Step::Goes
}
