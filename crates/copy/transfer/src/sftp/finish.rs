//! The last steps of a file at the far end whose parts are all there: length, mode and time, the
//! flush, its name.

use std::sync::Arc;

use copy_protocol::sftp::{Open, Reply, Request, Stat};
use copy_protocol::{Problem, ProblemKind};

use super::failure::refused;
use super::item::Item;
use super::naming::{Named, Naming};
use super::put::{attributes, side, trying};
use super::shared::{Note, Shared};
use super::talk::is_ok;
use super::task::{Asks, Step, Tag};

/// The end of one file.
pub(super) struct Finish {
    item: Arc<Item>,
    owed: usize,
    trouble: Option<(Tag, Reply)>,
    naming: Option<Naming>,
}

impl Finish {
    pub fn new(item: Arc<Item>) -> Self {
        Finish {
            item,
            owed: 0,
            trouble: None,
            naming: None,
        }
    }

    pub fn begin(&mut self, asks: &mut Asks<'_>) -> Step {
        let open = Request::Open(&self.item.part, Open::Write, Stat::default());
        asks.send(Tag::Open, &open);
        Step::Goes
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
                let stat = attributes(&self.item, put);
                asks.send(Tag::Attributes, &Request::FSetStat(handle, stat));
                self.owed = 2;
                if asks.channel.server().fsync {
                    asks.send(Tag::Flush, &Request::FSync(handle));
                    self.owed = 3;
                }
                asks.send(Tag::Close, &Request::Close(handle));
                return Step::Goes;
            }
            (Tag::Open, _) => {
                return fail(&self.item, refused("open", &self.item.path, &reply), shared);
            }
            (Tag::Rename | Tag::Remove, _) => return self.named(tag, &reply, shared, asks),
            _ => {}
        }
        if !is_ok(&reply) {
            self.trouble.get_or_insert((tag, reply));
        }
        self.owed = self.owed.saturating_sub(1);
        match (self.owed, &self.trouble) {
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

    fn named(&mut self, tag: Tag, reply: &Reply, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        let (Some(put), Some(naming)) = (side(shared), &mut self.naming) else {
            return Step::Done;
        };
        match naming.on_reply(tag, reply, &self.item, put, asks) {
            Named::Goes => Step::Goes,
            Named::Failed(problem) => fail(&self.item, problem, shared),
            Named::Done => match self.item.digest() {
                Some(digest) if self.item.end() => {
                    shared.tell(Note::Published(self.item.id, digest));
                    Step::Done
                }
                Some(_) => Step::Done,
                None => {
                    let what = "a file was named that is not whole";
                    fail(
                        &self.item,
                        files::problem(ProblemKind::Corrupt, what),
                        shared,
                    )
                }
            },
        }
    }
}

fn fail(item: &Item, problem: Problem, shared: &Shared) -> Step {
    shared.fail(item, problem);
    Step::Done
}
