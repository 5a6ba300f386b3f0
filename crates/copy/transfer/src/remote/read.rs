//! Bytes of a file, and whether it stayed the same meanwhile.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use copy_protocol::Name;
use copy_protocol::remote::{CHUNK_MAX, Failure, FailureKind, FileIdentity, Told};
use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};
use nix::sys::stat::{SFlag, fstat};

use super::failure::{failed, place};
use super::names::{check_free, identity, kind_of};
use super::outbox::{Gone, Outbox};
use files::Root;

/// Shorter ranges are read in one go.
const ADVICE_MIN: u64 = 128 << 10;

/// A range of a file.
pub(super) struct Range<'a> {
    pub path: &'a Name,
    pub offset: u64,
    pub length: u32,
    pub expected: Option<FileIdentity>,
}

/// Answers with the bytes of a range, as far as the file goes.
pub(super) fn read(
    root: &Root,
    range: &Range<'_>,
    buffer: &mut Vec<u8>,
    outbox: &mut Outbox<'_>,
) -> Result<Result<(), Failure>, Gone> {
    let opened = match open(root, range.path) {
        Ok(opened) => opened,
        Err(failure) => return Ok(Err(failure)),
    };
    let identity = match range.expected {
        Some(expected) if expected != opened.identity => return Ok(Err(changed(range.path))),
        _ => opened.identity,
    };
    let end = range.offset.saturating_add(range.length.into());
    let end = end.min(identity.size);
    opened.advise(range.offset, end);
    let mut at = range.offset;
    loop {
        let length = end.saturating_sub(at).min(CHUNK_MAX.into());
        buffer.resize(length as usize, 0);
        if let Err(failure) = opened.chunk(range.path, at, buffer) {
            return Ok(Err(failure));
        }
        at += length;
        let is_last = at >= end;
        let told = Told::Data {
            identity,
            mode: opened.mode,
            hash: *blake3::hash(buffer).as_bytes(),
            is_last,
        };
        outbox.data(&told, buffer)?;
        if is_last {
            return Ok(Ok(()));
        }
    }
}

struct Opened {
    file: File,
    identity: FileIdentity,
    mode: u32,
}

fn open(root: &Root, path: &Name) -> Result<Opened, Failure> {
    check_free(path)?;
    let wrong = |error: &io::Error| failed("read", path, error);
    // A pipe must not keep this thread waiting for its other end.
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = root.open(path.as_bytes(), flags);
    let file = File::from(opened.map_err(|error| wrong(&error))?);
    let stat = fstat(&file).map_err(|errno| wrong(&errno.into()))?;
    let not_a_file = |kind, is: &str| {
        let what = format!("cannot read `{}`: it is {is}", place(path));
        Err(Failure::new(kind, what))
    };
    match kind_of(&stat) {
        SFlag::S_IFREG => Ok(Opened {
            file,
            identity: identity(&stat),
            mode: stat.st_mode & 0o7777,
        }),
        SFlag::S_IFDIR => not_a_file(FailureKind::IsAFolder, "a folder"),
        _ => not_a_file(
            FailureKind::Request,
            "no file, but a pipe, a socket or a device",
        ),
    }
}

impl Opened {
    fn advise(&self, start: u64, end: u64) {
        let length = end.saturating_sub(start);
        let (Ok(start), Ok(bytes)) = (i64::try_from(start), i64::try_from(length)) else {
            return;
        };
        if length >= ADVICE_MIN {
            let advice = PosixFadviseAdvice::POSIX_FADV_WILLNEED;
            // Without it the same is read, later.
            let _ = posix_fadvise(&self.file, start, bytes, advice);
        }
    }

    /// Bytes of the version that was opened, or none.
    fn chunk(&self, path: &Name, at: u64, into: &mut [u8]) -> Result<(), Failure> {
        match self.file.read_exact_at(into, at) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(changed(path));
            }
            Err(error) => return Err(failed("read", path, &error)),
        }
        let stat = fstat(&self.file).map_err(|errno| failed("read", path, &errno.into()))?;
        match identity(&stat) == self.identity {
            true => Ok(()),
            false => Err(changed(path)),
        }
    }
}

fn changed(path: &Name) -> Failure {
    let what = format!("`{}` was written to or replaced meanwhile", place(path));
    Failure::new(FailureKind::Changed, what).with_hint("open it again")
}
