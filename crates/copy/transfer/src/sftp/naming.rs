//! Gives a file at the far end its name.

use copy_protocol::sftp::{Reply, Request, StatusCode};
use copy_protocol::{Filter, Problem, ProblemKind};
use files::{problem, shown, with_hint};

use super::asks::{Asks, Step, Tag};
use super::failure::refused;
use super::far_name::seconds;
use super::item::Item;
use super::shared::Put;
use super::talk::{has_code, is_ok};

/// What servers of later versions say of a name that is there (draft 13, section 9.1).
const EXISTS: StatusCode = StatusCode::Other(11);

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
    /// The part stays where this is so: what had the name is gone.
    Failed(Problem, bool),
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
        let is_refused = has_code(reply, StatusCode::Failure) || has_code(reply, EXISTS);
        match (tag, is_ok(reply)) {
            (Tag::Rename, true) => Named::Done,
            (Tag::Look, _) => match is_ours(reply, item, put) {
                true => Named::Done,
                false => Named::Failed(taken(item), false),
            },
            (Tag::Remove, _) => {
                rename(item, put, asks);
                Named::Goes
            }
            (_, false) if put.filter == Filter::Missing => {
                // A connection that died may have given it its name.
                asks.send(Tag::Look, &Request::LStat(&item.path));
                Named::Goes
            }
            (_, false) if !posix_rename(asks) && !self.has_removed && is_refused => {
                self.has_removed = true;
                asks.send(Tag::Remove, &Request::Remove(&item.path));
                Named::Goes
            }
            _ => {
                let problem = refused("give its name to", &item.path, reply);
                match self.has_removed {
                    true => Named::Failed(left_as(item, problem), true),
                    false => Named::Failed(problem, false),
                }
            }
        }
    }
}

fn posix_rename(asks: &Asks<'_>) -> bool {
    asks.channel.server().posix_rename
}

/// Whether what has the name is what this copy gives it.
pub(super) fn is_ours(reply: &Reply, item: &Item, put: &Put) -> bool {
    let Reply::Stat(stat) = reply else {
        return false;
    };
    put.times && stat.size == Some(item.size) && stat.modified() == Some(seconds(&item.entry))
}

fn left_as(item: &Item, problem: Problem) -> Problem {
    let hint = format!("its content is there as `{}`", shown(&item.part));
    with_hint(problem, hint)
}

fn rename(item: &Item, put: &Put, asks: &mut Asks<'_>) {
    let replaces = put.filter != Filter::Missing && posix_rename(asks);
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
