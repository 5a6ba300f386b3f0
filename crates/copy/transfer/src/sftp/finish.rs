//! The last steps of a file at the far end whose parts are all there: length, mode and time, the
//! flush, its name.

use std::sync::Arc;

use copy_protocol::sftp::{Open, Reply, Request, Stat, StatusCode};
use copy_protocol::{HASH_LENGTH, Problem, ProblemKind};
use files::{problem, shown, with_hint};

use super::asks::{Asks, Step, Tag};
use super::failure::refused;
use super::item::Item;
use super::naming::{Named, Naming, is_ours};
use super::put::{attributes, side, trying, unlock};
use super::shared::{Note, Put, Shared};
use super::talk::{has_code, is_missing, is_ok};

/// The end of one file.
pub(super) struct Finish {
    item: Arc<Item>,
    owed: usize,
    trouble: Option<(Tag, Reply)>,
    naming: Option<Naming>,
    is_unlocked: bool,
    /// The part has another length than the file.
    is_wrong: bool,
}

impl Finish {
    pub fn new(item: Arc<Item>) -> Self {
        Finish {
            item,
            owed: 0,
            trouble: None,
            naming: None,
            is_unlocked: false,
            is_wrong: false,
        }
    }

    pub fn begin(&mut self, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        if let (Some(put), Some(handle)) = (side(shared), asks.handles.take(self.item.id)) {
            self.opened(&handle, put, asks);
            return Step::Goes;
        }
        asks.open(&self.item.part, Open::Write, Stat::default())
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
        match (tag, &reply) {
            (Tag::Open, Reply::Handle(handle)) => {
                self.opened(handle, put, asks);
                return Step::Goes;
            }
            (Tag::Open, reply) => return self.not_opened(reply, shared, asks),
            (Tag::Unlock, _) => return Step::Goes,
            (Tag::CleanUp, _) => return Step::Done,
            (Tag::Look, reply) if self.naming.is_none() => {
                return match (is_ours(reply, &self.item, put), self.item.digest()) {
                    (true, Some(digest)) => self.publish(digest, shared),
                    _ => fail(&self.item, gone(&self.item), shared),
                };
            }
            (Tag::Rename | Tag::Remove | Tag::Look, _) => {
                return self.named(tag, &reply, shared, asks);
            }
            (Tag::Length, Reply::Stat(stat)) if stat.size == Some(self.item.size) => {
                return self.answered(shared, asks);
            }
            (Tag::Length, _) => self.is_wrong = true,
            _ => {}
        }
        if tag != Tag::Length && !is_ok(&reply) {
            self.trouble.get_or_insert((tag, reply));
        }
        self.answered(shared, asks)
    }

    /// One of the requests on the open part was answered.
    fn answered(&mut self, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let Some(put) = side(shared) else {
            return Step::Done;
        };
        self.owed = self.owed.saturating_sub(1);
        match (self.owed, &self.trouble) {
            (0, _) if self.is_wrong => {
                put.journal.void(&self.item.entry, self.item.size);
                shared.fail(&self.item, gone(&self.item));
                asks.send(Tag::CleanUp, &Request::Remove(&self.item.part));
                Step::Goes
            }
            (0, Some((tag, reply))) => {
                let problem = refused(trying(*tag), &self.item.path, reply);
                fail(&self.item, problem, shared)
            }
            (0, None) => {
                let (naming, step) = Naming::begin(&self.item, put, asks);
                self.naming = Some(naming);
                step
            }
            _ => Step::Goes,
        }
    }

    fn opened(&mut self, handle: &[u8], put: &Put, asks: &mut Asks<'_>) {
        let stat = attributes(&self.item, put);
        asks.send(Tag::Length, &Request::FStat(handle));
        self.owed = 2;
        if stat != Stat::default() {
            asks.send(Tag::Attributes, &Request::FSetStat(handle, stat));
            self.owed += 1;
        }
        if asks.channel.server().fsync {
            asks.send(Tag::Flush, &Request::FSync(handle));
            self.owed += 1;
        }
        asks.send(Tag::Close, &Request::Close(handle));
    }

    /// A connection that died may have given it its last mode, or even its name.
    fn not_opened(&mut self, reply: &Reply, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        if is_missing(reply) {
            asks.send(Tag::Look, &Request::LStat(&self.item.path));
            return Step::Goes;
        }
        if has_code(reply, StatusCode::Denied) && !self.is_unlocked {
            self.is_unlocked = true;
            unlock(&self.item, asks);
            return self.begin(shared, asks);
        }
        fail(&self.item, refused("open", &self.item.path, reply), shared)
    }

    fn publish(&self, digest: [u8; HASH_LENGTH], shared: &Shared) -> Step {
        if self.item.end() {
            shared.tell(Note::Published(self.item.id, digest));
        }
        Step::Done
    }

    fn named(&mut self, tag: Tag, reply: &Reply, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let (Some(put), Some(naming)) = (side(shared), &mut self.naming) else {
            return Step::Done;
        };
        match naming.on_reply(tag, reply, &self.item, put, asks) {
            Named::Goes => Step::Goes,
            Named::Failed(problem, _) => fail(&self.item, problem, shared),
            Named::Done => match self.item.digest() {
                Some(digest) => self.publish(digest, shared),
                None => fail(&self.item, gone(&self.item), shared),
            },
        }
    }
}

/// What was written is not there as a whole.
fn gone(item: &Item) -> Problem {
    let what = format!(
        "what was written of `{}` is not there any more as a whole",
        shown(&item.path)
    );
    let hint = "some other program may remove or change files in that folder; copy it again";
    with_hint(problem(ProblemKind::Disk, what), hint)
}

fn fail(item: &Item, problem: Problem, shared: &Shared) -> Step {
    shared.fail(item, problem);
    Step::Done
}
