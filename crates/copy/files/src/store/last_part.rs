//! A part of a file that is whole, and the file once all its parts are.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use copy_protocol::{Attributes, FilePart, Filter, HASH_LENGTH, Problem};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{fstat, fstatat};
use nix::unistd::fsync;

use super::Piece;
use super::finalize::{moved, rename, set_attributes};
use super::journal::HEADER;
use super::part::Part;
use super::shared::{is_locked, read_small, remove_small, wait, write_small};
use super::temporary::{At, JOURNAL, PART, beside, new_file_of, of_parts, told_busy};
use crate::HashTree;

/// A part of a file is on the disk: says so, and gives the file its name where it was the last one.
///
/// * `part`: flushed.
pub(super) fn complete(
    part: &Part,
    attributes: &Attributes,
    filter: Filter,
) -> Result<(), Problem> {
    let at = &part.at;
    let (Some(own), Some(hash)) = (at.part, part.arrived.get()) else {
        return Err(at.failed("name", Errno::EINVAL));
    };
    if !part.is_there() {
        return Err(moved(part));
    }
    let failed = |error: io::Error| at.failed("write the journal of", error);
    let whole = seal(part, own, *hash);
    write_small(at, &ending(own.index), &whole).map_err(failed)?;
    // A change of the folder has NFS look for what other hosts made in it meanwhile.
    new_file_of(&at.folder);
    part.file.unlock().map_err(failed)?;
    if digest(part, own.length).is_none() {
        return Ok(());
    }
    // Copies of other parts let it go as soon as they are here, too.
    let locked = wait(|| Ok(is_locked(at, part.file.try_lock())?.then_some(())))?;
    locked.ok_or_else(|| told_busy(at, ""))?;
    if is_named(part) {
        return Ok(());
    }
    digest(part, own.length).ok_or_else(|| told_busy(at, ""))?;
    set_attributes(part, attributes)?;
    fsync(&part.file).map_err(|errno| at.failed("write", errno))?;
    rename(part, filter)?;
    remove_journals(at, own.length);
    Ok(())
}

/// Whether that part of a file is on the disk beside its place, and waits for the others.
///
/// * `path`: where the file will be.
pub fn has_part(path: &Path, size: u64, modified_nanoseconds: i64, part: FilePart) -> bool {
    let Some(last) = path.file_name() else {
        return false;
    };
    let ending = ending(part.index);
    let name = of_parts(
        last.as_bytes(),
        size,
        modified_nanoseconds,
        part.length,
        &ending,
    );
    let whole = path.with_file_name(OsStr::from_bytes(&beside(&name, JOURNAL)));
    whole.symlink_metadata().is_ok()
}

/// Whether the file has its final name: two that found themselves the last part may be here.
fn is_named(part: &Part) -> bool {
    let name = OsStr::from_bytes(&part.at.last);
    let there = fstatat(&part.at.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
    let (Ok(there), Ok(own)) = (there, fstat(&part.file)) else {
        return false;
    };
    (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)
}

fn ending(index: u32) -> String {
    format!("-{index}-whole")
}

/// What says that a part is on the disk: a journal's header and a note of its chaining value.
fn seal(part: &Part, own: FilePart, hash: [u8; HASH_LENGTH]) -> Vec<u8> {
    let piece = Piece {
        offset: own.within(part.at.size).start,
        length: 0,
        hash,
    };
    [&part.header.encode()[..], &part.header.note(&piece)].concat()
}

/// BLAKE3 of the file, once all its parts are on the disk.
fn digest(part: &Part, length: u64) -> Option<[u8; HASH_LENGTH]> {
    let size = part.at.size;
    let mut tree = HashTree::new(size);
    // From the end: copies begin at the front, so that what lacks is there.
    for index in indices(size, length).rev() {
        let one = FilePart { index, length };
        let said = read_small(&part.at, &ending(index))?;
        let hash = said.get(HEADER + 12..HEADER + 44)?.try_into().ok()?;
        if said != seal(part, one, hash) {
            return None;
        }
        let within = one.within(size);
        let inserted = tree.insert(within.start, within.end - within.start, hash);
        inserted.ok()?;
    }
    tree.digest()
}

fn indices(size: u64, length: u64) -> std::ops::Range<u32> {
    0..u32::try_from(size.div_ceil(length.max(1))).unwrap_or(u32::MAX)
}

/// A copy may have ended between the file's name and the end of its journals.
pub(super) fn sweep(at: &At) {
    let Some(own) = at.part else {
        return;
    };
    let name = at.beside(PART);
    let name = OsStr::from_bytes(&name);
    let there = fstatat(&at.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
    // The number goes last.
    if matches!(there, Err(Errno::ENOENT)) && read_small(at, "-id").is_some() {
        remove_journals(at, own.length);
    }
}

fn remove_journals(at: &At, length: u64) {
    for index in indices(at.size, length) {
        remove_small(at, &ending(index));
        remove_small(at, &format!("-{index}"));
    }
    remove_small(at, "-id");
}
