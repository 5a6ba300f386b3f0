//! Gives a file at the far end its name.

use copy_protocol::sftp::{Reply, Request};
use copy_protocol::{Filter, Problem, ProblemKind};
use files::{problem, shown, with_hint};

use super::failure::refused;
use super::item::Item;
use super::shared::Put;
use super::talk::is_ok;
use super::task::{Asks, Step, Tag};

/// The steps of it: with `posix-rename@openssh.com` one; without it, what has the name is removed
/// first, and for a moment there is none.
#[derive(Debug)]
pub(super) struct Naming {
    has_removed: bool,
}

/// How it stands.
pub(super) enum Named {
    Goes,
    Done,
    Failed(Problem),
}

impl Naming {
    pub fn begin(item: &Item, put: &Put, asks: &mut Asks<'_>) -> (Self, Step) {
        rename(item, put, asks);
        let has_removed = false;
        (Naming { has_removed }, Step::Goes)
    }

    pub fn on_reply(
        &mut self,
        tag: Tag,
        reply: &Reply,
        item: &Item,
        put: &Put,
        asks: &mut Asks<'_>,
    ) -> Named {
        match (tag, is_ok(reply)) {
            (Tag::Rename, true) => Named::Done,
            (Tag::Remove, _) => {
                rename(item, put, asks);
                Named::Goes
            }
            (Tag::Rename, false) if put.filter == Filter::Missing => Named::Failed(taken(item)),
            (_, false) if !asks.channel.server().posix_rename && !self.has_removed => {
                self.has_removed = true;
                asks.send(Tag::Remove, &Request::Remove(&item.path));
                Named::Goes
            }
            _ => Named::Failed(refused("give its name to", &item.path, reply)),
        }
    }
}

fn rename(item: &Item, put: &Put, asks: &mut Asks<'_>) {
    let replaces = put.filter != Filter::Missing && asks.channel.server().posix_rename;
    let request = match replaces {
        true => Request::PosixRename(&item.part, &item.path),
        false => Request::Rename(&item.part, &item.path),
    };
    asks.send(Tag::Rename, &request);
}

/// What came to the name meanwhile stays, as it was asked for.
fn taken(item: &Item) -> Problem {
    let what = format!(
        "`{}` came there from elsewhere while it was copied, and stays as it is",
        shown(&item.path)
    );
    let hint = "with `--ignore-existing` the same command skips it; without, it is replaced";
    with_hint(problem(ProblemKind::Busy, what), hint)
}
