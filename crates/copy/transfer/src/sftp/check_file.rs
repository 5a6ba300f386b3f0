//! Compares what is at the far end with what was sent, by the digest that its server tells. Where
//! it tells none, the parts are read back.

use std::cell::OnceCell;
use std::sync::Arc;

use copy_protocol::sftp::{Reply, Request};

use super::asks::{Asks, Step, Tag};
use super::check::corrupt;
use super::compare::Digest;
use super::item::Item;
use super::put::{read_back, side};
use super::shared::Shared;
use super::work::{Job, JobKind};

/// One file.
pub(super) struct CheckFile {
    item: Arc<Item>,
}

impl CheckFile {
    pub fn new(item: Arc<Item>) -> Self {
        CheckFile { item }
    }

    pub fn begin(&mut self, asks: &mut Asks<'_>) -> Step {
        asks.send(Tag::Digest, &Request::CheckFile(&self.item.part));
        Step::Goes
    }

    pub fn on_reply(
        &mut self,
        tag: Tag,
        reply: &Reply,
        shared: &Shared,
        asks: &mut Asks<'_>,
    ) -> Step {
        let (Tag::Digest, Some(put)) = (tag, side(shared)) else {
            return Step::Done;
        };
        let Some(digest) = Digest::told(reply) else {
            read_back(&self.item, shared);
            return Step::Done;
        };
        let item = &self.item;
        let unread = OnceCell::new();
        let read = |at, into: &mut [u8]| match put.source.read(item.id, at, into) {
            Ok(()) => true,
            Err(problem) => {
                let _ = unread.set(problem);
                false
            }
        };
        let is_right = digest.is_of(item.size, &read, &|| shared.is_over());
        // What cannot be read here says nothing of the far end.
        let unread = unread.into_inner();
        if let Some(problem) = unread.or(put.source.finished(item.id).err()) {
            shared.fail(item, problem);
            return Step::Done;
        }
        match is_right {
            true => {
                let job = Job::new(Arc::clone(item), JobKind::Finish);
                shared.work.add_first(job);
                Step::Done
            }
            false if shared.is_over() => Step::Done,
            false => corrupt(item, shared, asks),
        }
    }
}
