//! Something that one connection does in several requests, several of them at a time.

use copy_protocol::sftp::Reply;

use super::asks::{Asks, Step, Tag};
use super::check::Check;
use super::check_file::CheckFile;
use super::finish::Finish;
use super::get::GetPiece;
use super::put::PutPiece;
use super::shared::{Shared, Side};
use super::work::{Job, JobKind};

/// One of them.
pub(super) enum Task {
    Put(PutPiece),
    Get(GetPiece),
    Check(Check),
    CheckFile(CheckFile),
    Finish(Finish),
}

impl Task {
    /// What a job comes to.
    pub fn of(job: &Job, shared: &Shared) -> Self {
        let item = job.item.clone();
        match (&job.kind, &shared.side) {
            (JobKind::Whole, Side::Put(_)) => Task::Put(PutPiece::new(item, None)),
            (JobKind::Piece(range), Side::Put(_)) => {
                Task::Put(PutPiece::new(item, Some(range.clone())))
            }
            (JobKind::Check(piece), _) => Task::Check(Check::new(item, *piece)),
            (JobKind::Digest, _) => Task::CheckFile(CheckFile::new(item)),
            (JobKind::Finish, _) => Task::Finish(Finish::new(item)),
            (JobKind::Whole, Side::Get(_)) => {
                let range = 0..item.size;
                Task::Get(GetPiece::new(item, range))
            }
            (JobKind::Piece(range), Side::Get(_)) => Task::Get(GetPiece::new(item, range.clone())),
        }
    }

    /// The first requests.
    pub fn begin(&mut self, shared: &Shared, asks: &mut Asks<'_>) -> Step {
        match self {
            Task::Put(task) => task.begin(shared, asks),
            Task::Get(task) => task.begin(asks),
            Task::Check(task) => task.begin(asks),
            Task::CheckFile(task) => task.begin(asks),
            Task::Finish(task) => task.begin(shared, asks),
        }
    }

    /// A request of it was answered.
    pub fn on_reply(
        &mut self,
        tag: Tag,
        reply: Reply,
        shared: &Shared,
        asks: &mut Asks<'_>,
    ) -> Step {
        match self {
            Task::Put(task) => task.on_reply(tag, reply, shared, asks),
            Task::Get(task) => task.on_reply(tag, reply, shared, asks),
            Task::Check(task) => task.on_reply(tag, reply, shared, asks),
            Task::CheckFile(task) => task.on_reply(tag, &reply, shared, asks),
            Task::Finish(task) => task.on_reply(tag, reply, shared, asks),
        }
    }
}

/// Bytes that a job has on the way.
pub(super) fn weight(job: &Job) -> u64 {
    match &job.kind {
        JobKind::Whole => job.item.size,
        JobKind::Piece(range) => range.end - range.start,
        JobKind::Check(piece) => piece.length.into(),
        JobKind::Digest | JobKind::Finish => 0,
    }
}
