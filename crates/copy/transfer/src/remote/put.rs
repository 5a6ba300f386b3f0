//! Stores a small file whole, through the store of copies: under a temporary name that is locked,
//! flushed, and then renamed to its own.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::remote::{Failure, FailureKind, FileAttributes, NewFile, RemoteViolation};
use copy_protocol::{
    Attributes, Entry, FileId, Filter, HASH_LENGTH, Kind, Name, Problem, ProblemKind,
};
use nix::errno::Errno;
use nix::sys::stat::SFlag;

use super::failure::failed;
use super::names::{At, check_free, kind_of, make_folder};
use super::outbox::{Content, Gone, Outbox};
use files::Root;
use files::store::{EntryPlan, Store, StoreSpec};

/// How long another one may be writing the same file: far longer than a small file takes.
const BUSY_MAX: Duration = Duration::from_secs(3);
/// Between two looks whether it is done.
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// What a program makes that says no mode; the mask of this process holds.
const MODE: u32 = 0o666;

/// Stores a file, or leaves what has its name as it is.
pub(super) fn put(
    root: &Root,
    file: &NewFile,
    content: &mut Content<'_, '_>,
    buffer: &mut Vec<u8>,
    outbox: &mut Outbox<'_>,
) -> Result<Result<(), Failure>, Gone> {
    let placed = match place(root, file) {
        Ok(placed) => placed,
        Err(failure) => return Ok(Err(failure)),
    };
    let mut hasher = blake3::Hasher::new();
    let mut offset = 0;
    while content.next(buffer, outbox)? {
        hasher.update(buffer);
        if let Err(problem) = placed.store.write(placed.id, offset, buffer) {
            return Ok(Err(told(problem)));
        }
        offset += buffer.len() as u64;
    }
    let digest = hasher.finalize().into();
    match digest == file.digest {
        true => Ok(placed.publish(&digest, file)),
        false => Err(outbox.refuse(RemoteViolation::Content(file.path.to_string()).to_string())),
    }
}

/// A file that has its temporary name. What was not published is removed with the store.
struct Placed {
    store: Store,
    id: FileId,
}

/// Waits while another one is writing it.
fn place(root: &Root, file: &NewFile) -> Result<Placed, Failure> {
    let until = Instant::now() + BUSY_MAX;
    let mut is_made = false;
    loop {
        match Placed::find(root, file) {
            Err(failure) if failure.kind == FailureKind::Busy && Instant::now() < until => {
                thread::sleep(BUSY_PAUSE);
            }
            Err(failure) if failure.kind == FailureKind::NotFound && !is_made => {
                make_folder(root, &above(&file.path), true)?;
                is_made = true;
            }
            placed => return placed,
        }
    }
}

impl Placed {
    fn find(root: &Root, file: &NewFile) -> Result<Self, Failure> {
        check_free(&file.path)?;
        check_name(root, file)?;
        let store = Store::open(root, spec(file)).map_err(told)?;
        let (id, plan) = store.add(&entry(file));
        match plan.map_err(told)? {
            EntryPlan::Present => Err(wrong(file, Errno::EEXIST)),
            EntryPlan::Made | EntryPlan::Whole | EntryPlan::Rest(_) => Ok(Placed { store, id }),
        }
    }

    fn publish(self, digest: &[u8; HASH_LENGTH], file: &NewFile) -> Result<(), Failure> {
        let finished = self.store.finish(self.id, digest);
        let published = finished.and_then(|()| {
            let mut named = self.store.publish().into_iter();
            named.try_for_each(|(_, outcome)| outcome)
        });
        published.map_err(|problem| match problem.kind {
            // It came there meanwhile.
            ProblemKind::Busy if !file.replaces => wrong(file, Errno::EEXIST),
            _ => told(problem),
        })
    }
}

/// Says what is wrong with the name in the words of the system. The store looks again, and is not
/// deceived where that changes meanwhile.
fn check_name(root: &Root, file: &NewFile) -> Result<(), Failure> {
    let at = At::find(root, &file.path, "write")?;
    match at.stat() {
        Ok(stat) if kind_of(&stat) == SFlag::S_IFDIR => Err(wrong(file, Errno::EISDIR)),
        Ok(_) if !file.replaces => Err(wrong(file, Errno::EEXIST)),
        Err(error) if error.raw_os_error() != Some(Errno::ENOENT as i32) => {
            Err(failed("write", &file.path, &error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn wrong(file: &NewFile, errno: Errno) -> Failure {
    failed("write", &file.path, &io::Error::from(errno))
}

/// The folder that a name is in.
fn above(path: &Name) -> Name {
    let bytes = path.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    Name::new(bytes[..end].to_vec()).unwrap_or_default()
}

fn spec(file: &NewFile) -> StoreSpec {
    let is_like_its_source = file.attributes.is_some();
    StoreSpec {
        destination: file.path.as_bytes().to_vec(),
        into_folder: false,
        attributes: Attributes {
            permissions: is_like_its_source,
            times: is_like_its_source,
            links: false,
            kept: copy_protocol::Kept::NOTHING,
        },
        filter: match file.replaces {
            true => Filter::All,
            false => Filter::Missing,
        },
        verify: false,
        dry_run: false,
        claim_timeout: Duration::ZERO,
    }
}

/// The one file that the destination is.
fn entry(file: &NewFile) -> Entry {
    let attributes = file.attributes.unwrap_or(FileAttributes {
        mode: MODE,
        modified_nanoseconds: 0,
    });
    Entry {
        name: Name::default(),
        kind: Kind::File(file.length.into()),
        mode: attributes.mode,
        modified_nanoseconds: attributes.modified_nanoseconds,
        version: 0,
        is_sparse: false,
        digest: None,
    }
}

/// What the store says, for the other end.
fn told(problem: Problem) -> Failure {
    let kind = match problem.kind {
        ProblemKind::NotFound => FailureKind::NotFound,
        ProblemKind::Permission => FailureKind::Permission,
        ProblemKind::DiskFull => FailureKind::DiskFull,
        ProblemKind::Busy => FailureKind::Busy,
        ProblemKind::Disk | ProblemKind::Corrupt => FailureKind::Disk,
        ProblemKind::Protocol => FailureKind::Protocol,
        ProblemKind::Request
        | ProblemKind::SourceChanged
        | ProblemKind::Cancelled
        | ProblemKind::NoContent
        | ProblemKind::Unfinished
        | ProblemKind::Follows => FailureKind::Request,
    };
    Failure {
        kind,
        what: problem.what,
        hint: problem.hint,
    }
}
